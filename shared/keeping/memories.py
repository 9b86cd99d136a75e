"""A person's own hand on single memories: add, read, edit, delete, reveal.

Knows the storage protocol by its promises only. Steps with warm keys: add 2, get 1, edit and delete 3, reveal 2.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from shared.crypto.keyring import OwnerKeys
from shared.domain import drafts, limits
from shared.domain.errors import IdempotencyKeySpent, NotFound
from shared.domain.ids import is_ulid, ulid
from shared.domain.memory import Category, Memory, Origin, Scope, Source, Status
from shared.domain.times import rfc3339
from shared.keeping import fields
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.transactions import Change, Once, Replayed
from shared.storage.vaults import Opened, Vaults


class NewMemory(Protocol):
    """What a request for a new memory says."""

    @property
    def content(self) -> str: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def project(self) -> str | None: ...
    @property
    def agent(self) -> str | None: ...
    @property
    def category(self) -> Category: ...
    @property
    def importance(self) -> int: ...
    @property
    def tags(self) -> list[str]: ...
    @property
    def metadata(self) -> dict[str, Any]: ...
    @property
    def expires_at(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class Added:
    """A memory and whether this very request had made it before."""

    memory: Memory
    replayed: bool


@dataclass(frozen=True, slots=True)
class Memories:
    """Single memories of owners."""

    commits: Commits

    @property
    def _vaults(self) -> Vaults:
        return self.commits.vaults

    def add(self, owner: str, new: NewMemory, idempotency_key: str | None = None) -> Added:
        """Make a memory by hand.

        Raises Invalid, Duplicate (details name the other), ActiveLimitReached, QuotaExceeded; with a key IdempotencyKeyReused
        (other request) and IdempotencyKeySpent (deleted since).
        """
        now = self._vaults.clock()
        memory = _drafted(new, ulid(now, self._vaults.random), now)
        once = _once(new, idempotency_key, memory.id, now) if idempotency_key is not None else None
        try:
            stored = self.commits.commit(owner, Change(None, memory), once)
        except Replayed as replayed:
            try:
                return Added(self.get(owner, replayed.made), replayed=True)
            except NotFound:
                raise IdempotencyKeySpent from None
        return Added(stored or memory, replayed=False)

    def get(self, owner: str, memory_id: str) -> Memory:
        """Return the memory. Raises NotFound: not there, expired, or somebody else's."""
        return self.read(owner, memory_id)[1].memory

    def read(self, owner: str, memory_id: str) -> tuple[Opened, Stored]:
        """Return the opened owner with the memory as it stands. Raises NotFound, SealBroken."""
        if not is_ulid(memory_id):
            raise NotFound
        sk = names.MEMORY + memory_id
        opened = self._vaults.open(owner, [sk])
        item = opened.items.get(sk) if opened else None
        if opened is None or item is None:
            raise NotFound
        stored = items.from_item(opened.keys, item)
        if stored.memory.expired(self._vaults.clock()):
            raise NotFound
        return opened, stored


def _drafted(new: NewMemory, memory_id: str, now: datetime) -> Memory:
    project, agent = fields.place(new.scope, new.project, new.agent)
    memory = Memory(
        id=memory_id,
        version=1,
        content="",
        scope=new.scope,
        project=project,
        agent=agent,
        category=new.category,
        importance=new.importance,
        source=Source.MANUAL,
        status=Status.ACTIVE,
        created_at=now,
        updated_at=now,
        tags=fields.tags(new.tags),
        metadata=fields.metadata(new.metadata),
        expires_at=fields.expires_at(new.expires_at, now),
        origin=Origin(at=now),
    )
    return drafts.with_content(memory, fields.content(new.content))


def _once(new: NewMemory, key: str, made: str, now: datetime) -> Callable[[OwnerKeys], Once]:
    """Mark the request by tags: neither its key nor its words can be read from the mark."""
    request = json.dumps(
        [
            new.content,
            new.scope,
            new.project,
            new.agent,
            new.category,
            new.importance,
            new.tags,
            new.metadata,
            new.expires_at and rfc3339(new.expires_at),
        ],
        sort_keys=True,
    )

    def mark(keys: OwnerKeys) -> Once:
        return Once(
            tag=keys.tag("idempotency", "POST /v1/memories", key),
            fingerprint=keys.tag("request", request),
            made=made,
            until=now + limits.IDEMPOTENCY_KEPT,
        )

    return mark
