"""A memory: one atomic, self-contained fact, and the words that describe it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from shared.domain import limits
from shared.domain.times import moment, rfc3339


class Scope(StrEnum):
    """Where a memory counts: everywhere, in one project, or for one agent."""

    USER = "user"
    PROJECT = "project"
    AGENT = "agent"


class Status(StrEnum):
    ACTIVE = "active"
    DISMISSED = "dismissed"
    """Refused by the person: never recalled, never learned again."""
    ARCHIVED = "archived"
    """Made room for newer ones: still found by search, restorable."""
    RETIRED = "retired"
    """Replaced by a consolidated memory, or dropped as a double: nobody is shown it, and an undo brings it back for some days."""


class Source(StrEnum):
    MANUAL = "manual"
    AUTO = "auto"
    CONSOLIDATED = "consolidated"
    IMPORTED = "imported"


class Category(StrEnum):
    PREFERENCE = "preference"
    DECISION = "decision"
    CONSTRAINT = "constraint"
    CREDENTIAL = "credential"
    EVENT = "event"
    KNOWLEDGE = "knowledge"
    CONTACT = "contact"
    EXPERIENCE = "experience"


DEFAULT_PROJECT = "default"
"""The project that is none."""
REFERENCE = "credential:"
"""What agents are given instead of a secret: this and the memory's id. Its owner's token reveals it, which goes on record."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory comes from; each part is None when it does not apply."""

    task_id: str | None = None
    session_id: str | None = None
    at: datetime | None = None
    quote: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory in one version.

    `content` is masked: each detected secret is replaced by the mask, and `secrets` holds (offset of the mask in content, value).
    `metadata` is a JSON text. `prior` names the commits of earlier versions, oldest first.
    `sources` names the memories that a consolidated one was made of; `aliases` holds the dedup tags of texts that lead to it besides its
    own.
    Of a retired one `replaced_by` names the memory that says its fact now (None: dropped) and `retired_at` is when it was retired. One that
    is `kept_apart` was brought back by its owner: it is not merged again.
    `commit`, `access_count` and `last_accessed_at` belong to the table and are not sealed.
    """

    id: str
    version: int
    content: str
    scope: Scope
    category: Category
    importance: int
    source: Source
    status: Status
    created_at: datetime
    updated_at: datetime
    project: str | None = None
    agent: str | None = None
    secrets: tuple[tuple[int, str], ...] = ()
    tags: tuple[str, ...] = ()
    metadata: str = "{}"
    expires_at: datetime | None = None
    origin: Origin = Origin()
    sources: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    replaced_by: str | None = None
    retired_at: datetime | None = None
    kept_apart: bool = False
    prior: tuple[str, ...] = ()
    commit: str = ""
    access_count: int = 0
    last_accessed_at: datetime | None = None

    def ends(self, retention_days: int) -> datetime | None:
        """Return when its time is over: at its own end, that many days after its last update (−1: kept for ever), or, of a retired one,
        when that cannot be undone any more."""
        ends = [self.expires_at] if self.expires_at else []
        ends += [self.updated_at + timedelta(days=retention_days)] if retention_days >= 0 else []
        ends += [self.retired_at + limits.UNDO_KEPT] if self.retired_at else []
        return min(ends, default=None)

    def expired(self, now: datetime, retention_days: int) -> bool:
        """Tell whether its time is over: it is shown and found no more, and the next maintenance deletes it."""
        end = self.ends(retention_days)
        return end is not None and end <= now


def to_body(memory: Memory) -> dict[str, Any]:
    """Return what is sealed of a memory: everything but id, version and the table's own columns; empty parts are left out."""
    origin = memory.origin
    body: dict[str, Any] = {
        "content": memory.content,
        "scope": memory.scope.value,
        "project": memory.project,
        "agent": memory.agent,
        "category": memory.category.value,
        "importance": memory.importance,
        "source": memory.source.value,
        "status": memory.status.value,
        "tags": list(memory.tags),
        "metadata": memory.metadata if memory.metadata != "{}" else None,
        "created_at": rfc3339(memory.created_at),
        "updated_at": rfc3339(memory.updated_at),
        "expires_at": rfc3339(memory.expires_at) if memory.expires_at else None,
        "origin": {
            "task_id": origin.task_id,
            "session_id": origin.session_id,
            "at": rfc3339(origin.at) if origin.at else None,
            "quote": origin.quote,
            "model": origin.model,
        },
        "secrets": [list(secret) for secret in memory.secrets],
        "sources": list(memory.sources),
        "aliases": list(memory.aliases),
        "replaced_by": memory.replaced_by,
        "retired_at": rfc3339(memory.retired_at) if memory.retired_at else None,
        "kept_apart": memory.kept_apart or None,
        "prior": list(memory.prior),
    }
    body["origin"] = {name: value for name, value in body["origin"].items() if value is not None}
    return {name: value for name, value in body.items() if value not in (None, [], {})}


def from_body(memory_id: str, version: int, body: dict[str, Any]) -> Memory:
    """Read what `to_body` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    origin = body.get("origin", {})
    return Memory(
        id=memory_id,
        version=version,
        content=body["content"],
        scope=Scope(body["scope"]),
        project=body.get("project"),
        agent=body.get("agent"),
        category=Category(body["category"]),
        importance=body["importance"],
        source=Source(body["source"]),
        status=Status(body["status"]),
        tags=tuple(body.get("tags", ())),
        metadata=body.get("metadata", "{}"),
        created_at=moment(body["created_at"]),
        updated_at=moment(body["updated_at"]),
        expires_at=_maybe(body.get("expires_at")),
        origin=Origin(
            task_id=origin.get("task_id"),
            session_id=origin.get("session_id"),
            at=_maybe(origin.get("at")),
            quote=origin.get("quote"),
            model=origin.get("model"),
        ),
        secrets=tuple((int(offset), str(value)) for offset, value in body.get("secrets", ())),
        sources=tuple(body.get("sources", ())),
        aliases=tuple(body.get("aliases", ())),
        replaced_by=body.get("replaced_by"),
        retired_at=_maybe(body.get("retired_at")),
        kept_apart=bool(body.get("kept_apart", False)),
        prior=tuple(body.get("prior", ())),
    )


def without_access(memory: Memory) -> Memory:
    """The memory as the journal knows it: no access count, no commit."""
    return replace(memory, access_count=0, last_accessed_at=None, commit="")


def _maybe(text: str | None) -> datetime | None:
    return moment(text) if text else None
