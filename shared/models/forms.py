"""The small forms that bodies and parameters are made of. Only forms: what may be stored is decided by the use cases."""

import re
from datetime import date, datetime
from typing import Annotated, Any, Final, Protocol

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, StrictStr

from shared.domain import limits, naming
from shared.domain.times import moment, rfc3339
from shared.keeping.cursors import CURSOR_CHARACTERS

_A_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Given(BaseModel):
    """A request's body or its query."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Change(Given):
    """A request's body that changes only what it names: what is not sent has no default."""

    def sent(self) -> dict[str, Any]:
        """Return only what the request names."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        made = handler.resolve_ref_schema(handler(schema))
        for described in made.get("properties", {}).values():
            described.pop("default", None)
        return made


class Shown(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(frozen=True, defer_build=True)


def _moment(value: object) -> datetime:
    if isinstance(value, str):
        try:
            return moment(value.replace(" ", "+"))  # in a query, + is a space
        except (ValueError, OverflowError):
            pass
    raise ValueError("Write a time as RFC 3339 with its zone, such as 2026-11-30T16:05:00Z.")


def _day(value: object) -> object:
    if isinstance(value, str) and _A_DAY.fullmatch(value):
        return value
    raise ValueError("Write a day such as 2026-11-30.")


def whole(value: object) -> object:
    """Let a query's number be digits only: no spaces, underscores, fractions, and no sign but minus."""
    digits = str(value).removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise ValueError("This is a whole number.")
    return value


def shown(at: datetime | None) -> str | None:
    """Return a moment as it is answered."""
    return rfc3339(at) if at else None


Moment = Annotated[datetime, BeforeValidator(_moment)]
Day = Annotated[date, BeforeValidator(_day)]
"""A day and nothing else: no time at midnight, no seconds since 1970."""
Limit = Annotated[int, Field(ge=1, le=limits.PAGE_MAX, description="of one page"), BeforeValidator(whole)]
Cursor = Annotated[
    str, Field(min_length=1, max_length=CURSOR_CHARACTERS, description="the next_cursor of the page before")
]
Name = Annotated[StrictStr, Field(min_length=1, max_length=limits.KEY_CHARACTERS), AfterValidator(naming.name)]
Project = Annotated[StrictStr, Field(min_length=1, max_length=limits.KEY_CHARACTERS), AfterValidator(naming.project)]
Tag = Annotated[StrictStr, Field(min_length=2, max_length=limits.TAG_CHARACTERS), AfterValidator(naming.tag)]
IdempotencyKey = Annotated[str, AfterValidator(naming.idempotency_key)]


class Placed(Protocol):
    """A request that may name a project."""

    @property
    def project(self) -> str | None: ...
    @property
    def model_fields_set(self) -> set[str]: ...


def meant(sent: Placed) -> str | None:
    """Return the project that a request names; ACTIVE_PROJECT where it leaves the project out, which null does not."""
    return sent.project if "project" in sent.model_fields_set else naming.ACTIVE_PROJECT
