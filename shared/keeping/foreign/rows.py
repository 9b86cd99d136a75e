"""The rows of a file: of a JSON document, of JSON lines, or of a table (CSV). What is wrong with a row is its own refusal. Pure.

A document is read whole, so each object in it that no memory may hold (a name twice, NaN, an integer over 64 bits) becomes UNSOUND where it
stands, and costs its own row only.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared.domain import limits
from shared.domain.errors import BadRequest, Invalid
from shared.keeping.importing.records import Reason, Refusal
from shared.strict_json import read_line
from shared.text.normalise import is_well_formed

Rows = Iterator[tuple[int, Mapping[str, Any]] | Refusal]

UNSOUND: Final = object()
"""Stands in a document for what no memory may hold."""
LISTS: Final = ("results", "memories", "items", "list", "rows", "records", "data")
"""Names under which tools put their rows into a document."""
_WRAPPINGS: Final = 3
_CONTAINERS: Final = 500_000
_LARGEST: Final = 2**63
_DIGITS: Final = 20
_COLUMNS: Final = 200
_DELIMITERS: Final = ",;\t"
_NULLS: Final = frozenset({"", "NULL", "\\N"})


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, ends left out. Raises Invalid where there are too many."""
    if text.count("\n") > limits.IMPORT_RECORDS:
        raise Invalid.of("data", f"A page has {limits.IMPORT_RECORDS} lines at most.")
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        yield number, line.removesuffix("\n").removesuffix("\r")


def looks_like_json(text: str) -> bool:
    """Tell whether a text begins as a JSON object or a list of objects does; `[2026-01-29] …` does not."""
    first, after = (text.lstrip()[:1], text.lstrip()[1:100].lstrip()[:1])
    return (first == "{" and after in {'"', "}"}) or (first == "[" and after in {"{", "]", "["})


def document(text: str) -> Any:
    """Return the value of a JSON document; UNSOUND where it is none. Raises Invalid where it holds too much to be read."""
    if text.count("{") + text.count("[") > _CONTAINERS:
        raise Invalid.of("data", f"A document has {_CONTAINERS} objects and lists at most.")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=lambda _: UNSOUND
        )
    except (ValueError, RecursionError):
        return UNSOUND


def sound(value: Any) -> bool:
    """Tell whether a value of a document is one that a memory may hold: not too deep, nothing UNSOUND, whole characters."""
    level = [value]
    for _ in range(limits.JSON_DEPTH + 1):
        below: list[Any] = []
        for one in level:
            if one is UNSOUND or (isinstance(one, str) and not is_well_formed(one)):
                return False
            if isinstance(one, dict):
                below += [*one.keys(), *one.values()]
            elif isinstance(one, list):
                below += one
        if not below:
            return True
        level = below
    return False


def rows(text: str, after: int) -> Rows:
    """Yield the objects of a document, numbered in their order, or of JSON lines, numbered as these are; `after` is added."""
    found = document(text)
    if found is UNSOUND:
        yield from _of_lines(text, after)
        return
    for number, row in enumerate(_unwrapped(found), after + 1):
        if not isinstance(row, dict) or not sound(row):
            yield Refusal(number, Reason.UNKNOWN_KIND if sound(row) else Reason.INVALID)
        else:
            yield number, row


def table(text: str, after: int) -> Rows:
    """Yield the rows of a table by the names in its first line; a cell that says nothing is None. Empty cells at the end of a line, as
    spreadsheets write them, are none. Raises Invalid for a first line that has a name twice or too many of them."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text))
    names = _named(next((cells for cells in iter(lambda: _cells(reader), None) if cells), []))
    if not names or len(names) > _COLUMNS or len(set(names)) < len(names):
        raise Invalid.of("data", "The first line of a table names its columns, each once.")
    while (cells := _cells(reader)) is not None:
        number = after + reader.line_num
        if not any(cells):
            continue
        if not any(cells[len(names) :]):
            cells = cells[: len(names)]
        if len(cells) == len(names):
            yield number, {name: None if cell in _NULLS else cell for name, cell in zip(names, cells, strict=True)}
        else:
            yield Refusal(number, Reason.INVALID)


def columns(text: str) -> list[str]:
    """Return the names that the first line of a text gives to columns, if it is a table."""
    reader = csv.reader([first_line(text)], delimiter=delimiter(text))
    return _named(_cells(reader) or [])


def delimiter(text: str) -> str:
    """Return what parts the cells of a table: the one of comma, semicolon and tab that its first line has most of."""
    return max(_DELIMITERS, key=first_line(text).count)


def first_line(text: str) -> str:
    """Return the first line that is not blank, without its end."""
    found = next((line for line in io.StringIO(text, newline="\n") if line.strip()), "")
    return found.removesuffix("\n").removesuffix("\r")


def _named(cells: list[str]) -> list[str]:
    names = [name.strip() for name in cells]
    while names and not names[-1]:
        names.pop()
    return names


_WRONG: Final = ["wrong"] * (_COLUMNS + 1)
"""Stands for a row that cannot be read: no table has so many columns."""


def _cells(reader: Any) -> list[str] | None:
    """Return the cells of the next row; None at the end."""
    try:
        cells: list[str] | None = next(reader, None)
    except csv.Error:
        return _WRONG
    return cells


def _of_lines(text: str, after: int) -> Rows:
    for number, line in lines(text):
        if not line.strip():
            continue
        try:
            row = read_line(line)
        except BadRequest:
            yield Refusal(after + number, Reason.NOT_JSON)
        except Invalid:
            yield Refusal(after + number, Reason.INVALID)
        else:
            yield (after + number, row) if isinstance(row, dict) else Refusal(after + number, Reason.UNKNOWN_KIND)


def _unwrapped(found: Any) -> list[Any]:
    """Return the list of rows that stands in a document, or the one row that it is."""
    for _ in range(_WRAPPINGS):
        if isinstance(found, list):
            return found
        if not isinstance(found, dict):
            break
        named = [found[name] for name in LISTS if isinstance(found.get(name), list | dict)]
        only = [value for value in found.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if not named and len(only) != 1:
            break
        found = named[0] if named else only[0]
    return found if isinstance(found, list) else [found]


def _object(pairs: list[tuple[str, Any]]) -> Any:
    read = dict(pairs)
    return read if len(read) == len(pairs) else UNSOUND


def _integer(digits: str) -> Any:
    value = int(digits) if len(digits) <= _DIGITS else _LARGEST
    return value if -_LARGEST <= value < _LARGEST else UNSOUND


def _float(digits: str) -> Any:
    value = float(digits)
    return value if value not in (float("inf"), float("-inf")) else UNSOUND
