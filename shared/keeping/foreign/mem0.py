"""mem0's memories: what `get_all` answers (open source and platform, camel case too), points of its vector store, OpenMemory's backup.

Of an answer `{"results": […], "relations": […]}` the results are read. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared.domain.memory import Scope, Status
from shared.keeping.foreign import terms
from shared.keeping.foreign.occasion import Occasion, Sent, of, taken, unlike
from shared.keeping.foreign.rows import rows
from shared.keeping.foreign.times import when
from shared.keeping.importing.records import Reason, Record, Refusal

_TEXTS: Final = ("memory", "data", "content")
_STATES: Final = {"active": Status.ACTIVE, "paused": Status.ARCHIVED, "archived": Status.ARCHIVED}


def is_row(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is one of these."""
    payload = row.get("payload")
    if isinstance(payload, dict):
        return isinstance(payload.get("data"), str)
    return isinstance(row.get("memory"), str) or (isinstance(row.get("content"), str) and "state" in row)


def read(text: str, occasion: Occasion) -> Iterator[Record | Refusal]:
    """Yield the memories of a page."""
    for row in rows(text, occasion.after):
        if isinstance(row, Refusal):
            yield row
        elif not is_row(row[1]):
            yield Refusal(row[0], Reason.UNKNOWN_KIND)
        else:
            yield taken(*row, _sent, occasion)


def _sent(row: Mapping[str, Any], occasion: Occasion) -> Sent:
    payload = row.get("payload")
    said = payload if isinstance(payload, dict) else row
    content, agent, session = of(said, *_TEXTS), of(said, "agent_id", "agentId"), of(said, "run_id", "runId")
    categories = _categories(said)
    return {
        "content": content,
        "scope": Scope.USER if agent is None else Scope.AGENT,
        "agent": agent,
        "status": _status(said),
        "tags": terms.tags(categories),
        "metadata": terms.metadata(said.get("metadata")),
        "created_at": _time(said, occasion, "created_at", "createdAt"),
        "updated_at": _time(said, occasion, "updated_at", "updatedAt"),
        "expires_at": _time(said, occasion, "expiration_date", "expirationDate"),
        "origin": {"session_id": session} if session is not None else None,
        **terms.judged(content, terms.category(categories)),
    }


def _categories(said: Mapping[str, Any]) -> list[object]:
    """Return the words that sort a memory in: its categories, or the one of its metadata."""
    metadata = said.get("metadata")
    given = of(said, "categories") or (of(metadata, "category") if isinstance(metadata, dict) else None) or []
    return given if isinstance(given, list) else [given]


def _status(said: Mapping[str, Any]) -> Status:
    state = of(said, "state")
    if state is None:
        return Status.ACTIVE
    if not isinstance(state, str) or state not in _STATES:
        raise unlike("state")
    return _STATES[state]


def _time(said: Mapping[str, Any], occasion: Occasion, *names: str) -> Any:
    try:
        return when(of(said, *names), occasion.zone)
    except ValueError:
        raise unlike("expires_at" if names[0] == "expiration_date" else names[0]) from None
