"""Owners' indexes: sealed objects in the bucket, opened once and kept warm in this process."""

import base64
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from threading import Lock
from typing import Final, Literal, TypeVar

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.memory import Memory, Status
from shared.domain.times import epoch_seconds
from shared.ports import Item
from shared.recall.entries import CATEGORIES, STATUSES, Entry, TermCache
from shared.recall.index import CorruptIndex, Index, OldFormat
from shared.storage import items, names, objects
from shared.storage.builds import pointer_of
from shared.storage.items import Stored
from shared.storage.partition import each_item
from shared.storage.preferences import time_zone
from shared.storage.vaults import Opened, Vaults

Held = TypeVar("Held")

INDEX = "index"
"""What an index is called in its seal."""
WARM_BYTES: Final = 400_000_000
"""Of the indexes kept open in one process; the least recently used goes first. Of 200,000 memories each there is room for five or more."""
LAST_SECOND: Final = 2**32 - 1
"""The latest time that an index can hold."""
INSTEADS: Final = 8
INSTEAD_SECONDS: Final = 4.0
"""How long memories are read from the table, the newest first, where there is no index: docs/decisions/index-builds.md."""


class NoIndex(Exception):
    """An owner's memories have no index that can be read; `reason` says why."""

    def __init__(self, reason: Literal["missing", "corrupt", "format"]) -> None:
        super().__init__("there is no index to search")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Instead:
    """An index made from the table where none can be read. Not `whole`: older memories are not in it."""

    index: Index
    whole: bool


class Indexes:
    """Opens the index that an owner's head points to. `monotonic` returns seconds."""

    def __init__(self, vaults: Vaults, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.vaults, self.monotonic = vaults, monotonic
        self.terms = TermCache()
        self._warm: OrderedDict[tuple[str, int, str], Index] = OrderedDict()
        self._instead: OrderedDict[tuple[str, int, str], Instead] = OrderedDict()
        self._lock = Lock()
        self._reading = Lock()
        """Held while a table is read: who comes meanwhile waits for that and does not read it as well."""

    def fetch(self, owner: str, head: Item) -> Callable[[], bytes | None] | None:
        """Return the call that reads the index object of this head; None when there is no index or it is warm."""
        pointer = pointer_of(head)
        if not pointer or (owner, int(head["epoch"]), pointer) in self._warm:
            return None
        key = names.index(owner, int(head["epoch"]), pointer)

        def read() -> bytes | None:
            stored = self.vaults.objects.get(key)
            return stored.body if stored else b""

        return read

    def open(self, opened: Opened) -> Index | None:
        """Return the owner's index; None when it is lost or damaged. An owner without one has an empty one."""
        try:
            return self.read(opened)
        except NoIndex:
            return None

    def read(self, opened: Opened) -> Index:
        """Return the owner's index. Raises NoIndex."""
        keys, pointer = opened.keys, pointer_of(opened.head)
        if not pointer:
            if int(opened.head["memories"]) > sum(1 for version in opened.changes.values() if version):
                raise NoIndex("missing")
            return Index.build(())
        name = (keys.owner, keys.epoch, pointer)
        with self._lock:
            known = self._warm.get(name)
            if known is not None:
                self._warm.move_to_end(name)
                return known
        body = self._stored(keys, pointer) if opened.beside is None else opened.beside
        index = opened_index(keys, pointer, body)
        self.keep(keys, pointer, index)
        return index

    def _stored(self, keys: OwnerKeys, pointer: str) -> bytes:
        """Read an index that was warm when the head was read, and gave way to another one since."""
        stored = self.vaults.objects.get(names.index(keys.owner, keys.epoch, pointer))
        return stored.body if stored else b""

    def instead(self, opened: Opened) -> Instead:
        """Return an index of what can be read from the table in time, the newest memories first; the same one until the head's pointer
        moves, for what is written meanwhile has a change row."""
        name = (opened.keys.owner, opened.keys.epoch, pointer_of(opened.head))
        with self._reading:
            known = self._instead.get(name)
            if known is None:
                known = self._from_the_table(opened)
                with self._lock:
                    _drop(self._instead, opened.keys.owner)
                    self._instead[name] = known
                    while len(self._instead) > INSTEADS:
                        self._instead.popitem(last=False)
        return known

    def partial(self, opened: Opened) -> bool:
        """Tell whether what is searched for this owner lacks older memories."""
        known = self._instead.get((opened.keys.owner, opened.keys.epoch, pointer_of(opened.head)))
        return known is not None and not known.whole

    def _from_the_table(self, opened: Opened) -> Instead:
        keys, zone, end = opened.keys, time_zone(opened), self.monotonic() + INSTEAD_SECONDS
        entries: list[Entry] = []
        for stored in all_memories(self.vaults, keys, newest_first=True):
            if self.monotonic() > end:
                return Instead(Index.build(entries), whole=False)
            if stored is not None and searchable(stored.memory):
                entries.append(entry_of(keys, stored.memory, zone))
        return Instead(Index.build(entries), whole=True)

    def keep(self, keys: OwnerKeys, pointer: str, index: Index) -> None:
        """Keep an opened index warm in place of the owner's earlier ones."""
        with self._lock:
            _drop(self._warm, keys.owner)
            _drop(self._instead, keys.owner)
            self._warm[keys.owner, keys.epoch, pointer] = index
            while len(self._warm) > 1 and sum(one.nbytes for one in self._warm.values()) > WARM_BYTES:
                self._warm.popitem(last=False)


def _drop(held: OrderedDict[tuple[str, int, str], Held], owner: str) -> None:
    for name in [name for name in held if name[0] == owner]:
        del held[name]


def opened_index(keys: OwnerKeys, pointer: str, body: bytes) -> Index:
    """Open the bytes of the index object of that name; none are a missing one. Raises NoIndex."""
    if not body:
        raise NoIndex("missing")
    try:
        return Index.open(objects.unseal(keys, INDEX, pointer, body))
    except OldFormat:
        raise NoIndex("format") from None
    except (SealBroken, CorruptIndex):
        raise NoIndex("corrupt") from None


def searchable(memory: Memory) -> bool:
    """Tell whether search may find a memory of that status at all."""
    return memory.status not in {Status.DISMISSED, Status.RETIRED}


def entry_of(keys: OwnerKeys, memory: Memory, zone: tzinfo = UTC) -> Entry:
    """Return what the index knows of a memory: masked text and tags, never a secret. `zone` is its owner's."""
    return Entry(
        id=memory.id,
        version=memory.version,
        text=" ".join((memory.content, *memory.tags)),
        created_at=epoch_seconds(memory.created_at),
        updated_at=epoch_seconds(memory.updated_at),
        importance=memory.importance,
        category=CATEGORIES.index(memory.category),
        scope_tag=tag_bytes(items.scope_tag(keys, memory.scope, memory.project, memory.agent)),
        status=STATUSES.index(memory.status),
        access_count=memory.access_count,
        ends_at=_end(memory),
        zone=zone,
    )


def _end(memory: Memory) -> int:
    """The whole second from which on a memory is over, at most one too late; 0 for one that has no end of its own."""
    end = memory.expires_at
    return min(math.ceil(end.timestamp()), LAST_SECOND) if end else 0


def tag_bytes(tag: str) -> bytes:
    """Return the 16 bytes of a tag of 26 characters."""
    return base64.b32decode(tag.upper() + "=" * (-len(tag) % 8))


def all_memories(vaults: Vaults, keys: OwnerKeys, *, newest_first: bool = False) -> Iterator[Stored | None]:
    """Yield every memory of the table by its creation; None stands for one that does not open."""
    for item in each_item(vaults.table, keys.owner, names.MEMORY, descending=newest_first):
        try:
            yield items.from_item(keys, item)
        except SealBroken:
            yield None
