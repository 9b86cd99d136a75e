"""Mao's rows of `memory_item`: from its API (camel case), from its table as JSON, JSON lines or CSV. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared.domain.memory import DEFAULT_PROJECT, Scope, Status
from shared.keeping.foreign import terms
from shared.keeping.foreign.occasion import Occasion, Sent, of, taken, unlike
from shared.keeping.foreign.rows import Rows, looks_like_json, rows, table
from shared.keeping.foreign.times import when
from shared.keeping.importing.records import Reason, Record, Refusal

COLUMNS: Final = frozenset({"content", "scope"})
"""What a row has in any case."""
_SCOPES: Final = {"user": Scope.USER, "project": Scope.PROJECT}
_STATUSES: Final = {"active": Status.ACTIVE, "dismissed": Status.DISMISSED}


def is_row(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is one of these."""
    return row.keys() >= COLUMNS and str(row["scope"]).casefold() in _SCOPES


def read(text: str, occasion: Occasion) -> Iterator[Record | Refusal]:
    """Yield the memories of a page. Raises Invalid for a table without the names of its columns."""
    found: Rows = rows(text, occasion.after) if looks_like_json(text) else table(text, occasion.after)
    for row in found:
        if isinstance(row, Refusal):
            yield row
        elif not row[1].keys() >= COLUMNS:
            yield Refusal(row[0], Reason.UNKNOWN_KIND)
        else:
            yield taken(*row, _sent, occasion)


def _sent(row: Mapping[str, Any], occasion: Occasion) -> Sent:
    project = of(row, "project_key", "projectKey")
    scope = _meant(row, "scope", _SCOPES, None)
    if project in (None, DEFAULT_PROJECT):
        scope = Scope.USER  # as Mao keeps what belongs to no real project
    session = of(row, "origin_session_id", "originSessionId")
    return {
        "content": row["content"],
        "scope": scope,
        "project": project if scope is Scope.PROJECT else None,
        "status": _meant(row, "status", _STATUSES, Status.ACTIVE),
        "created_at": _time(row, occasion, "created_at", "createdAt"),
        "updated_at": _time(row, occasion, "updated_at", "updatedAt"),
        "origin": {"session_id": str(session)} if session is not None else None,
        **terms.judged(row["content"]),
    }


def _meant(row: Mapping[str, Any], name: str, meanings: Mapping[str, Any], default: Any) -> Any:
    said = of(row, name)
    meant = default if said is None else meanings.get(said.casefold() if isinstance(said, str) else "")
    if meant is None:
        raise unlike(name)
    return meant


def _time(row: Mapping[str, Any], occasion: Occasion, *names: str) -> Any:
    try:
        return when(of(row, *names), occasion.zone)
    except ValueError:
        raise unlike(names[0]) from None
