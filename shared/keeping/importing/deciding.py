"""What a record of a file means among the memories that stand. Pure but for the keys' tags."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from shared.crypto.keyring import OwnerKeys
from shared.domain import drafts
from shared.domain.ids import ulid
from shared.domain.memory import Memory, Source, Status
from shared.keeping.importing.course import ARCHIVED, IMPORTED, KEPT, OVERWRITTEN, REFUSED
from shared.keeping.importing.records import Reason, Record, Refusal
from shared.storage import items
from shared.storage.items import Stored
from shared.storage.transactions import Change, batches

_ID: Final = "import"
_COMPARED: Final = ("content", "secrets", "category", "importance", "tags", "metadata", "status", "expires_at")


@dataclass(frozen=True, slots=True)
class Draft:
    """A record as the memory that it would be, with the tag of its text. `line` is its place in the file."""

    memory: Memory
    tag: str
    old_id: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of one record: a change or none, what is counted, and why it is refused if it is."""

    change: Change | None
    counts: Mapping[str, int]
    refused: Refusal | None = None


def drafted(keys: OwnerKeys, task_id: str, record: Record) -> Draft:
    """Return the memory that a record would be, secrets cut out anew. Its id begins with the time it was made and is else the same
    whenever this line of this import is looked at: never the file's own, which may have been deleted here."""
    bits = bits_of(keys, task_id, record.line)
    memory = Memory(
        id=ulid(record.created_at, lambda count: bits[:count]),
        version=1,
        content="",
        scope=record.scope,
        project=record.project,
        agent=record.agent,
        category=record.category,
        importance=record.importance,
        source=Source.IMPORTED,
        status=record.status,
        created_at=record.created_at,
        updated_at=record.updated_at,
        tags=record.tags,
        metadata=record.metadata,
        expires_at=record.expires_at,
        origin=replace(record.origin, task_id=task_id),
    )
    memory = drafts.with_content(memory, record.content)
    return Draft(memory, items.dedup_tag(keys, memory), record.old_id, record.line)


def bits_of(keys: OwnerKeys, task_id: str, line: int) -> bytes:
    """Return 32 bytes for the id of what a line of an import becomes: the same each time, and nobody else's."""
    return hashlib.sha256(keys.tag(_ID, task_id, str(line)).encode()).digest()


@dataclass(slots=True)
class Deciding:
    """Decides for records in the order of the file, as long as each can be decided by what was read before all of them.

    `led` maps tags to the ids that they lead to, `stand` ids to memories, but for `damaged` ones that do not open. `room` is how many
    more may be active (None: no limit). With `overwriting` the file's fields win; whether it `revives` what a person has dismissed only a
    file can say that knows of dismissing.
    """

    keys: OwnerKeys
    led: Mapping[str, str]
    stand: Mapping[str, Stored]
    damaged: Collection[str]
    room: int | None
    overwriting: bool
    revives: bool
    now: datetime
    retention_days: int

    def decide(self, wanted: Sequence[Draft]) -> list[Decided]:
        """Return what becomes of these, up to the first one that an earlier one of them has a bearing on."""
        decided: list[Decided] = []
        touched: set[str] = set()
        for draft in wanted:
            standing = self._standing(draft)
            if draft.tag in touched or (standing is not None and standing.memory.id in touched):
                break
            one = self._one(draft, standing)
            if one.change is not None:
                touched |= {draft.tag, *self._moved(one.change)}
            decided.append(one)
        return decided

    def _standing(self, draft: Draft) -> Stored | None:
        """Return the memory that the text leads to; to overwrite, else the one of the same id at the same place."""
        led = self.stand.get(self.led.get(draft.tag, ""))
        if led is not None or not self.overwriting or draft.old_id is None:
            return led
        same = self.stand.get(draft.old_id)
        return same if same is not None and _overwritable(same.memory, draft.memory) else None

    def _one(self, draft: Draft, standing: Stored | None) -> Decided:
        if draft.memory.id in self.stand:  # who took it in died before it was counted
            return Decided(None, {IMPORTED: 1})
        if draft.memory.expired(self.now, self.retention_days):
            return Decided(None, {REFUSED: 1}, Refusal(draft.line, Reason.EXPIRED))
        if self.led.get(draft.tag) in self.damaged:
            return Decided(None, {KEPT: 1})
        if standing is None:
            memory = self._within_room(draft.memory, None)
            return Decided(Change(None, memory), {IMPORTED: 1} | _archived(draft.memory, memory))
        in_other_words = draft.tag in self.led and items.dedup_tag(self.keys, standing.memory) != draft.tag
        wins = _overwritten(standing.memory, draft.memory, self.now)
        if standing.memory.status is Status.DISMISSED and wins.status is Status.ACTIVE and not self.revives:
            wins = replace(wins, status=Status.DISMISSED)
        nothing_new = all(getattr(wins, name) == getattr(standing.memory, name) for name in _COMPARED)
        if not self.overwriting or in_other_words or nothing_new:
            return Decided(None, {KEPT: 1})
        memory = self._within_room(wins, standing.memory)
        return Decided(Change(standing, memory), {OVERWRITTEN: 1} | _archived(wins, memory))

    def _within_room(self, memory: Memory, before: Memory | None) -> Memory:
        """Return the memory, archived where there is no room for one more that is active."""
        if self.room is None or memory.status is not Status.ACTIVE or (before and before.status is Status.ACTIVE):
            return memory
        if self.room <= 0:
            return replace(memory, status=Status.ARCHIVED)
        self.room -= 1
        return memory

    def _moved(self, change: Change) -> set[str]:
        """Return the ids and tags of which nothing more can be said before the change is made."""
        moved = {change.after.id} if change.after else set()
        return moved | (items.held_tags(self.keys, change.before.memory) if change.before else set())


def parts(keys: OwnerKeys, decided: Sequence[Decided]) -> Iterator[list[Decided]]:
    """Cut what is decided into parts that one transaction can hold each."""
    changes = [one.change for one in decided if one.change is not None]
    sizes = [len(batch) for batch in batches(keys, changes)]
    part: list[Decided] = []
    for one in decided:
        if one.change is not None and sizes[0] == 0:
            yield part
            part = []
            sizes.pop(0)
        if one.change is not None:
            sizes[0] -= 1
        part.append(one)
    if part:
        yield part


def _overwritable(standing: Memory, memory: Memory) -> bool:
    place = (memory.scope, memory.project, memory.agent)
    return standing.status is not Status.RETIRED and (standing.scope, standing.project, standing.agent) == place


def _overwritten(standing: Memory, memory: Memory, now: datetime) -> Memory:
    fields = {name: getattr(memory, name) for name in (*_COMPARED, "source", "origin")}
    return replace(standing, **fields, updated_at=now)


def _archived(before: Memory, after: Memory) -> dict[str, int]:
    return {ARCHIVED: 1} if before.status is Status.ACTIVE and after.status is Status.ARCHIVED else {}
