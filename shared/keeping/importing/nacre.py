"""Reading a page of our own form: the lines of an export, docs/portability.md. Pure.

An editor may have been at it: a mark of byte order, other line ends and empty lines are no part of what a line says.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final

from shared.domain import limits
from shared.domain.errors import BadRequest, DamagedFile, Invalid
from shared.keeping.exporting import chain
from shared.keeping.importing.records import Reason, Record, Refusal, checked, old_id
from shared.keeping.importing.thread import Thread
from shared.keeping.importing.told import KINDS, Settings, Told, checked_told
from shared.strict_json import read_line

_BYTE_ORDER_MARK: Final = "\ufeff"
_BLANK: Final = " \t\r"
_LOOKED_AT: Final = 20
"""Lines that tell whether a file is ours."""
_OURS: Final = frozenset({"kind", "uri", "version", "masked", "source", "access_count", "last_accessed_at", "history"})
"""What an export tells of a memory and no import takes over."""
_KINDS: Final = frozenset({chain.HEADER, chain.MEMORY, chain.DAMAGED, chain.MANIFEST, *KINDS})


@dataclass(slots=True)
class Read:
    """A page as it was read: records to take in, what is refused, what else is told, and the thread after it."""

    records: list[Record] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    thread: Thread = field(default_factory=Thread)


def is_ours(data: str) -> bool:
    """Tell whether one of the first lines is one of an export, for the very first may be damaged."""
    lines = islice(_lines(data, first=True), _LOOKED_AT)
    return any(not isinstance(_said(line, 0), Refusal) for _, line in lines)


def read(data: str, before: Thread, now: datetime, settings: Settings) -> Read:
    """Read the next page of a file.

    Raises Invalid when it is of a newer form, has too many lines, or none of them is one of an export; DamagedFile when its manifest says
    something else than its lines, or something follows it.
    """
    found = Read(thread=before)
    count = data.count("\n") + (data[-1:] not in ("", "\n"))
    if count > limits.IMPORT_RECORDS:
        raise Invalid.of("data", f"A page has {limits.IMPORT_RECORDS} lines at most.")
    any_line = known = False
    for at, line in _lines(data, first=not before.lines):
        if found.thread.whole:
            raise DamagedFile
        number = before.lines + at
        said = _said(line, number)
        any_line, known = True, known or not isinstance(said, Refusal)
        found.thread = _take(found, said, number, line, now, settings)
    if not known and (any_line or not before.lines):
        raise Invalid.of("data", "None of its lines is one of an export.")
    found.thread = replace(found.thread, lines=before.lines + count)
    return found


def _lines(data: str, *, first: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, each with its number in the page."""
    for number, line in enumerate((data.removeprefix(_BYTE_ORDER_MARK) if first else data).split("\n"), 1):
        if line.strip(_BLANK):
            yield number, line.removesuffix("\r")


def _said(line: str, number: int) -> dict[str, Any] | Refusal:
    try:
        said = read_line(line)
    except BadRequest:
        return Refusal(number, Reason.NOT_JSON)
    except Invalid:
        return Refusal(number, Reason.INVALID)
    return Refusal(number, Reason.UNKNOWN_KIND) if _kind(said) is None else dict(said)


def _kind(said: object) -> str | None:
    kind = said.get("kind") if isinstance(said, dict) else None
    return kind if isinstance(kind, str) and kind in _KINDS else None


def _take(
    found: Read, said: dict[str, Any] | Refusal, number: int, line: str, now: datetime, settings: Settings
) -> Thread:
    """Take one line into what is found and return the thread after it."""
    if isinstance(said, Refusal):
        found.refused.append(said)
        return found.thread.past("", line)
    kind = str(said["kind"])
    if kind == chain.MANIFEST:
        return found.thread.held_against(said)
    if kind == chain.HEADER:
        _check_header(said, found.thread)
    elif kind == chain.DAMAGED:
        found.refused.append(Refusal(number, Reason.DAMAGED, old_id=old_id(said)))
    else:
        memory = kind == chain.MEMORY
        taken = checked(number, _memory(said), now) if memory else checked_told(number, kind, said, now, settings)
        if isinstance(taken, Refusal):
            found.refused.append(taken)
        elif isinstance(taken, Told):
            found.told.append(taken)
            found.refused += taken.withheld
        else:
            found.records.append(taken)
    return found.thread.past(kind, line)


def _memory(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name not in _OURS}


def _check_header(said: Mapping[str, Any], before: Thread) -> None:
    if before.chain:
        raise Invalid.of("data", "A header stands at the beginning of a file only.")
    if said.get("nacre") != chain.FORMAT:
        raise Invalid.of("data", "It is of a form that this version does not know.")
