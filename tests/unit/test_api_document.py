"""docs/api.md gives every error code with its status, and every value of a closed list, which the schema has, too."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from functions.memories import app as memories
from functions.recall import app as recall
from shared.domain.errors import InternalError, NacreError
from shared.http import routes_of
from shared.recall import context, search
from shared.text import intent
from shared.text.intent_words import QueryClass

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "api.md").read_text()
SCHEMA = json.loads((DOCS / "openapi.json").read_text())


def test_every_error_stands_with_its_status() -> None:
    for error in errors(NacreError):
        lines = [line for line in PAGE.splitlines() if f"`{error.code}`" in line and line.startswith("| ")]
        assert any(line.startswith(f"| {error.status} |") for line in lines), error.code


def errors(kind: type[NacreError]) -> Iterator[type[NacreError]]:
    yield InternalError if kind is NacreError else kind
    for below in kind.__subclasses__():
        if below.__module__ == NacreError.__module__:  # others, such as those of models, never answer a request
            yield from errors(below)


def test_every_body_that_is_shown_is_one() -> None:
    shown = re.findall(r"^\*\*Body of `POST (\S+)`\*\*.*?^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    forms: dict[str, Any] = {
        route.openapi_path: route.dependant.body_params[0].field_info.annotation
        for app in (memories.app, recall.app)
        for route in routes_of(app)
        if route.method == "POST" and route.dependant.body_params
    }
    for path, body in shown:
        forms[path].model_validate_json(body)
    assert {path for path, _ in shown} >= {"/v1/conversations", "/v1/search", "/v1/context"}


@pytest.mark.parametrize("values", [context.Intent, context.Reason, search.Reason, intent.Reason, QueryClass])
def test_every_value_of_a_closed_list_stands_in_it_and_in_the_schema(values: Any) -> None:
    listed = set(_values(values))
    assert {value for value in listed if f"`{value}`" not in PAGE} == set()
    enums = [set(found) for found in _enums(SCHEMA)]
    assert listed in enums


def _values(values: Any) -> Iterator[str]:
    for value in get_args(values):
        yield from [value] if isinstance(value, str) else _values(value)


def _enums(part: Any) -> Iterator[list[str]]:
    if isinstance(part, dict):
        if "enum" in part:
            yield part["enum"]
        yield from (found for value in part.values() for found in _enums(value))
    elif isinstance(part, list):
        yield from (found for value in part for found in _enums(value))
