"""A person's own hand on single memories: adding and reading them. Changes of them stand in edits.py.

Knows the storage protocol by its promises only. Steps with warm keys: add 2, get 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from shared.domain import drafts
from shared.domain.errors import Duplicate, IdempotencyKeySpent, NotFound, SealBroken, VersionMismatch
from shared.domain.ids import is_ulid, ulid
from shared.domain.memory import Category, Memory, Origin, Scope, Source, Status, to_body
from shared.keeping.idempotency import mark
from shared.keeping.memories import fields
from shared.storage import items, names
from shared.storage.builds import ask_for_comparison
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.preferences import retention_days
from shared.storage.transactions import Change, Replayed
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

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        return self._vaults.clock()

    def add(self, owner: str, new: NewMemory, idempotency_key: str | None = None) -> Added:
        """Make a memory by hand.

        Raises Invalid, Duplicate (details name the other), ActiveLimitReached, QuotaExceeded; with a key IdempotencyKeyReused
        (other request) and IdempotencyKeySpent (deleted since).
        """
        now = self._vaults.clock()
        memory = _drafted(new, ulid(now, self._vaults.random), now)
        once = mark("POST /v1/memories", idempotency_key, _request(memory, new), now)
        keyed = (lambda keys: once(keys, memory.id)) if once else None
        try:
            stored = self.making_way(owner, lambda: self.commits.commit(owner, Change(None, memory), keyed))
        except Replayed as replayed:
            try:
                return Added(self.get(owner, replayed.made), replayed=True)
            except NotFound:
                raise IdempotencyKeySpent from None
        return Added(stored or memory, replayed=False)

    def making_way(self, owner: str, write: Callable[[], Memory | None]) -> Memory | None:
        """Return what the write returns. A memory whose time is over keeps no other one out: it is deleted, and the write done again."""
        try:
            return write()
        except Duplicate as duplicate:
            details = duplicate.details
            if not isinstance(details, Mapping) or not self._expired_deleted(owner, str(details["id"])):
                raise
        try:
            return write()
        except Duplicate as duplicate:
            self._check_stands(owner, duplicate)
            raise

    def get(self, owner: str, memory_id: str) -> Memory:
        """Return the memory. Raises NotFound: not there, expired, or somebody else's; of a retired one details name what replaced it."""
        return self.read(owner, memory_id)[1].memory

    def read(self, owner: str, memory_id: str) -> tuple[Opened, Stored]:
        """Return the opened owner with the memory as it stands. Raises NotFound, SealBroken."""
        opened, stored = self._stored(owner, memory_id)
        if stored.memory.expired(self._vaults.clock(), retention_days(opened)):
            raise NotFound
        if stored.memory.status is Status.RETIRED:
            raise NotFound(details={"replaced_by": stored.memory.replaced_by})
        return opened, stored

    def _stored(self, owner: str, memory_id: str) -> tuple[Opened, Stored]:
        if not is_ulid(memory_id):
            raise NotFound
        sk = names.MEMORY + memory_id
        opened = self._vaults.open(owner, [sk, names.SETTINGS])
        item = opened.items.get(sk) if opened else None
        if opened is None or item is None:
            raise NotFound
        try:
            return opened, items.from_item(opened.keys, item)
        except SealBroken:
            ask_for_comparison(self.commits.maintenance, owner, self._vaults.clock())
            raise

    def _check_stands(self, owner: str, duplicate: Duplicate) -> None:
        """Raise SealBroken where the memory that is said to hold the text is not there: its row was lost, and comes back."""
        details = duplicate.details
        sk = names.MEMORY + str(details["id"]) if isinstance(details, Mapping) else names.HEAD
        if sk not in self._vaults.table.get(owner, [sk]):
            ask_for_comparison(self.commits.maintenance, owner, self._vaults.clock())
            raise SealBroken

    def _expired_deleted(self, owner: str, memory_id: str) -> bool:
        """Delete the memory if its time is over; tell whether to write again."""
        try:
            opened, stored = self._stored(owner, memory_id)
            if not stored.memory.expired(self._vaults.clock(), retention_days(opened)):
                return False
            self.commits.commit(owner, Change(stored, None))
        except SealBroken:
            return False
        except (NotFound, VersionMismatch):
            return True  # somebody else was there first; the write done again will tell
        return True


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


def _request(memory: Memory, new: NewMemory) -> dict[str, Any]:
    """Return what the request asked for, so that another request under its key can be told from a repeated one."""
    body = to_body(replace(memory, content=new.content, secrets=(), category=new.category, importance=new.importance))
    return {name: value for name, value in body.items() if name not in {"created_at", "updated_at", "origin"}}
