"""What a reader needs besides the page itself, and how a row becomes a record. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, TypeVar

from shared.domain.errors import Invalid
from shared.keeping.importing.records import Reason, Record, Refusal, checked

Row = TypeVar("Row")
Sent = dict[str, Any]
"""Fields as `checked` knows them."""
RECORDS: Final = 10_000
"""Of one page: what the words of a text say takes 0.3 ms each, and a request is answered in half a minute."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """`zone` is where times without a zone were written; `after` counts the lines of the pages before; key and user are CmdCode's, and are
    forgotten with the request."""

    now: datetime
    zone: tzinfo = UTC
    after: int = 0
    master_key: str | None = field(default=None, repr=False)
    user_id: str | None = field(default=None, repr=False)


def taken(line: int, row: Row, sent: Callable[[Row, Occasion], Sent], occasion: Occasion) -> Record | Refusal:
    """Return the record that a row makes, or why it makes none. `sent` translates it, and raises Invalid where that cannot be."""
    try:
        return checked(line, sent(row, occasion), occasion.now)
    except Invalid as invalid:
        return Refusal(line, Reason.INVALID, _field(invalid))


def unlike(name: str) -> Invalid:
    """Return the error of a field that is not what its form says."""
    return Invalid.of(name, "It is not what this form says.")


def too_many() -> Invalid:
    """Return the error of a page with too many records."""
    return Invalid.of("data", f"A page has {RECORDS} records at most.")


def of(row: Mapping[str, Any], *names: str) -> Any:
    """Return the first of these fields that says something; None where none does."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _field(invalid: Invalid) -> str | None:
    details = invalid.details
    return details[0]["field"] if isinstance(details, list) and details else None
