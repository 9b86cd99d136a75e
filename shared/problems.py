"""What is wrong with the fields of a request, in our own words and without any value that was sent. Of pydantic's errors. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

NAME_SHOWN: Final = 64
"""Signs of a field's name that are said back."""
_MEMBER: Final = re.compile(r"<[^:>]+: ('[^']*')>")
_A_DAY: Final = "Write a day such as 2026-11-30."
_AN_OBJECT: Final = "A JSON object is needed."
_PROBLEMS: Final = {
    "extra_forbidden": "There is no such field.",
    "missing": "This is needed.",
    "greater_than_equal": "This must be at least {ge}.",
    "less_than_equal": "This must be at most {le}.",
    "date_type": _A_DAY,
    "date_parsing": _A_DAY,
    "date_from_datetime_parsing": _A_DAY,
    "date_from_datetime_inexact": _A_DAY,
    "string_pattern_mismatch": "This is not an id.",
    "model_type": _AN_OBJECT,
    "model_attributes_type": _AN_OBJECT,
    "dict_type": _AN_OBJECT,
    "int_type": "A whole number is needed.",
    "int_parsing": "A whole number is needed.",
    "int_from_float": "A whole number is needed.",
    "float_type": "A number is needed.",
    "float_parsing": "A number is needed.",
    "bool_type": "This is true or false.",
    "bool_parsing": "This is true or false.",
    "string_type": "A text is needed.",
    "list_type": "A list is needed.",
}


def told(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Name fields and what is wrong with them."""
    return [{"field": _field(error["loc"]), "problem": _problem(error)} for error in errors]


def _field(location: Sequence[str | int]) -> str:
    """Leave out where the field was sent, which comes first; a field may have the same name, such as `query`.

    A parameter that is a field of a model comes behind the name of the route's argument.
    """
    named = location[1:] if location and location[0] in ("body", "query", "path", "header") else location
    if len(location) > 2 and location[0] == "query":
        named = location[2:]
    parts = [str(part)[:NAME_SHOWN] for part in named]
    return ".".join(parts) or "body"


def _problem(error: Mapping[str, Any]) -> str:
    """Say what is wrong; of the error's context only bounds and the values of closed lists are named, never what was sent."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in ("string_too_short", "too_short") and context["min_length"] == 1:
        return "This must not be empty."
    if kind in ("literal_error", "enum"):  # of an enumeration's member pydantic shows how Python writes it
        return "This is one of " + _MEMBER.sub(r"\1", context["expected"]) + "."
    if kind in _PROBLEMS:
        return _PROBLEMS[kind].format_map(context)
    return str(error["msg"]).removeprefix("Value error, ")
