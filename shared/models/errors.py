"""The one shape of errors, for the OpenAPI document."""

from typing import Any

from pydantic import Field

from shared.models.forms import Shown


class ErrorBody(Shown):
    """What went wrong."""

    code: str = Field(examples=["invalid"])
    message: str = Field(examples=["A field is not valid; details say which."])
    details: list[dict[str, str]] | dict[str, Any] | None = Field(
        default=None, examples=[[{"field": "limit", "problem": "This must be at most 200."}]]
    )


class ErrorOut(Shown):
    """Every error's body."""

    error: ErrorBody
