"""Reading a request's body as JSON, strictly: what this lets through, every later step can store, seal and export.

Refused before anything is built from it: other media types and charsets, invalid UTF-8, doubled names, NaN and infinities, integers
over 64 bits, lone surrogates, deep nesting. Messages never quote the body.
"""

import base64
import binascii
import json
import re
from typing import Any, Final, Never

from shared.domain import limits
from shared.domain.errors import BadRequest, Invalid, TooLarge, UnsupportedMediaType
from shared.text.normalise import is_well_formed

_LARGEST: Final = 2**63
_DIGITS: Final = 20
_MEDIA_TYPE: Final = re.compile(
    r"""\s*application/json\s*(;\s*charset\s*=\s*(?P<quote>"?)utf-?8(?P=quote)\s*)?;?\s*""", re.IGNORECASE
)


def read_object(body: str | None, *, is_base64: bool, content_type: str | None) -> dict[str, Any]:
    """Return the JSON object that a request carries.

    Raises UnsupportedMediaType, TooLarge, BadRequest (no UTF-8 or no JSON) and Invalid (JSON that no memory may hold).
    """
    if not body:
        raise invalid_body("A JSON object is needed.")
    if content_type is None or not _MEDIA_TYPE.fullmatch(content_type):
        raise UnsupportedMediaType
    value = _parsed(_text(body, is_base64=is_base64))
    if not isinstance(value, dict):
        raise invalid_body("A JSON object is needed.")
    _check(value)
    return value


def read_line(text: str) -> Any:
    """Return the JSON value of one line of a file. Raises BadRequest (no JSON) and Invalid (JSON that no memory may hold)."""
    value = _parsed(text)
    _check(value)
    return value


def invalid_body(problem: str) -> Invalid:
    """Return the error that says what is wrong with the body as a whole."""
    return Invalid.of("body", problem)


def _text(body: str, *, is_base64: bool) -> str:
    try:
        raw = base64.b64decode(body, validate=True) if is_base64 else body.encode()
        if len(raw) > limits.BODY_BYTES:
            raise TooLarge(details={"limit_bytes": limits.BODY_BYTES})
        return raw.decode()
    except (binascii.Error, UnicodeError):
        raise BadRequest from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except ValueError:
        raise BadRequest from None
    except RecursionError:
        raise _too_deep() from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise invalid_body("A name stands twice in one object.")
    return read


def _integer(digits: str) -> int:
    value = int(digits) if len(digits) <= _DIGITS else _LARGEST
    if not -_LARGEST <= value < _LARGEST:
        raise invalid_body("An integer has more than 64 bits.")
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise invalid_body("A number is too large.")
    return value


def _constant(name: str) -> Never:  # noqa: ARG001 - the hook's shape
    raise invalid_body("NaN and Infinity are not JSON.")


def _too_deep() -> Invalid:
    return invalid_body(f"The body is nested deeper than {limits.JSON_DEPTH} levels.")


def _check(value: Any) -> None:
    """Walk without recursion: depth and lone surrogates."""
    level = [value]
    for depth in range(limits.JSON_DEPTH + 1):
        below: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                below += [*one.keys(), *one.values()]
            elif isinstance(one, list):
                below += one
            elif isinstance(one, str) and not is_well_formed(one):
                raise invalid_body("A text holds half of a character (a lone surrogate).")
        if depth == limits.JSON_DEPTH and any(isinstance(one, dict | list) for one in level):
            raise _too_deep()
        level = below
