"""Owners' indexes: sealed objects in the bucket, opened once and kept warm in this process."""

import base64
from collections import OrderedDict
from collections.abc import Callable, Iterator
from threading import Lock

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.memory import Memory, Status
from shared.domain.times import epoch_seconds
from shared.ports import Item
from shared.recall.entries import CATEGORIES, STATUSES, Entry, TermCache
from shared.recall.index import CorruptIndex, Index
from shared.storage import items, names, objects
from shared.storage.builds import pointer_of
from shared.storage.items import Stored
from shared.storage.vaults import Opened, Vaults

INDEX = "index"
"""What an index is called in its seal."""
WARM = 32
"""Indexes kept open in one process; the least recently used goes first."""


class Indexes:
    """Opens the index that an owner's head points to."""

    def __init__(self, vaults: Vaults) -> None:
        self.vaults = vaults
        self.terms = TermCache()
        self._warm: OrderedDict[tuple[str, int, str], Index] = OrderedDict()
        self._lock = Lock()

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
        keys, pointer = opened.keys, pointer_of(opened.head)
        if not pointer:
            unknown = int(opened.head["memories"]) > sum(1 for version in opened.changes.values() if version)
            return None if unknown else Index.build(())
        name = (keys.owner, keys.epoch, pointer)
        with self._lock:
            known = self._warm.get(name)
            if known is not None:
                self._warm.move_to_end(name)
                return known
        try:
            index = Index.open(objects.unseal(keys, INDEX, pointer, opened.beside or b""))
        except (SealBroken, CorruptIndex):
            return None
        self.keep(keys, pointer, index)
        return index

    def keep(self, keys: OwnerKeys, pointer: str, index: Index) -> None:
        """Keep an opened index warm in place of the owner's earlier ones."""
        with self._lock:
            for name in [name for name in self._warm if name[0] == keys.owner]:
                del self._warm[name]
            self._warm[keys.owner, keys.epoch, pointer] = index
            while len(self._warm) > WARM:
                self._warm.popitem(last=False)


def searchable(memory: Memory) -> bool:
    """Tell whether search may find a memory of that status at all."""
    return memory.status is not Status.DISMISSED


def entry_of(keys: OwnerKeys, memory: Memory) -> Entry:
    """Return what the index knows of a memory: masked text and tags, never a secret."""
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
    )


def tag_bytes(tag: str) -> bytes:
    """Return the 16 bytes of a tag of 26 characters."""
    return base64.b32decode(tag.upper() + "=" * (-len(tag) % 8))


def all_memories(vaults: Vaults, keys: OwnerKeys) -> Iterator[Stored | None]:
    """Yield every memory of the table; None stands for one that does not open."""
    after = None
    while True:
        page = vaults.table.query(keys.owner, names.MEMORY, after=after)
        for item in page.items:
            try:
                yield items.from_item(keys, item)
            except SealBroken:
                yield None
        after = page.after
        if after is None:
            return
