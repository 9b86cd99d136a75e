"""Opening an owner: the head item says which life and which key generation hold, the keyring holds the wrapped keys.

A process keeps plain keys for at most five minutes and drops them when the head has moved on. A keyring without a head is a
lost table: nothing may be written then, else the next write would look like a new owner's first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Lock
from typing import Any

from shared.crypto.keyring import ErasedKeyring, Keyring, OwnerKeys, read_keyring
from shared.domain import limits
from shared.domain.errors import AlreadyThere, Changed, KeysBroken, Refused, TableLost, Unavailable
from shared.domain.ids import Clock, Random
from shared.ports import Condition, Item, KeyService, Objects, Put, StoredObject, Table
from shared.storage import names
from shared.storage.partition import each_item
from shared.storage.together import together

GONE = 0
"""What a change row says of a memory that was deleted."""
ERASING = 0
"""The key generation of a head whose life is being erased: no keys fit it, so nothing is read or written."""
_ERASING = "What was kept here is being erased. Once that is done, usually in minutes, you may start anew."


@dataclass(frozen=True, slots=True)
class Opened:
    """An owner as read in one step: keys, head, the items asked for and (when asked for) the change rows by memory id."""

    keys: OwnerKeys
    head: Item
    items: dict[str, Item] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    beside: Any = None


class Vaults:
    """Opens owners and keeps their keys warm in this process."""

    def __init__(self, table: Table, objects: Objects, service: KeyService, clock: Clock, random: Random) -> None:
        self.table, self.objects, self.service = table, objects, service
        self.clock, self.random = clock, random
        self._warm: dict[str, tuple[OwnerKeys, datetime]] = {}
        self._lock = Lock()

    def warm(self, owner: str) -> OwnerKeys | None:
        """Return the keys this process still may hold. The caller's write condition must name their epoch and generation."""
        oldest = self.clock() - limits.KEY_CACHED
        with self._lock:
            for name in [name for name, (_, since) in self._warm.items() if since <= oldest]:
                del self._warm[name]
            held = self._warm.get(owner)
        return held[0] if held else None

    def forget(self, owner: str) -> None:
        """Drop the owner's plain keys from this process."""
        with self._lock:
            self._warm.pop(owner, None)

    def open(
        self,
        owner: str,
        sks: Sequence[str] = (),
        *,
        changes: bool = False,
        beside: Callable[[Item], Callable[[], Any] | None] | None = None,
    ) -> Opened | None:
        """Read the owner; None when nothing was ever stored. One step warm, two cold.

        `beside` gets the head and may return a call to run in the second step, together with the unwrapping of the key (an index
        to fetch); its result is `Opened.beside`. Raises TableLost, SealBroken.
        """
        held = self.warm(owner)
        head, items, rows, ring = self._read(owner, sks, changes=changes, ring=held is None)
        if head is None:
            self.forget(owner)
            ring = ring or self.objects.get(names.keyring(owner))
            if ring is None or not isinstance(read_keyring(ring.body), Keyring):
                return None
            # Head comes first: who reads none before it is made may see the keyring that is made after it.
            if names.HEAD not in self.table.get(owner, [names.HEAD]):
                raise TableLost
            return self.open(owner, sks, changes=changes, beside=beside)
        if int(head["gen"]) == ERASING:
            self.forget(owner)
            return None
        if held is not None and not _fits(held, head):
            self.forget(owner)
            held, ring = None, self.objects.get(names.keyring(owner))
        extra = beside(head) if beside else None
        if held is None:
            standing = read_keyring(ring.body) if ring else None
            if standing is None or _begins(standing, head):
                return None
            result, held = self._unwrapped(owner, head, standing, extra)
        else:
            result = extra() if extra else None
        return Opened(held, head, items, rows, result)

    def open_or_create(self, owner: str, sks: Sequence[str] = ()) -> Opened:
        """Like `open`; an owner who is new (or begins a new life after an erasure) gets head and keyring."""
        for _ in range(limits.ATTEMPTS):
            opened = self.open(owner, sks)
            if opened is not None:
                return opened
            self._create(owner)
        raise Unavailable

    def _read(
        self, owner: str, sks: Sequence[str], *, changes: bool, ring: bool
    ) -> tuple[Item | None, dict[str, Item], dict[str, int], StoredObject | None]:
        calls: list[Callable[[], Any]] = []
        if ring:
            calls.append(lambda: self.objects.get(names.keyring(owner)))
        wanted = list(sks) if changes else [names.HEAD, *sks]
        if wanted:
            calls.append(lambda: self.table.get(owner, wanted))
        if changes:
            calls.append(lambda: self._head_and_changes(owner))
        results = together(*calls)
        found = results.pop(0) if ring else None
        items = results.pop(0) if wanted else {}
        if changes:
            head, rows = results.pop(0)
            return head, items, rows, found
        return items.pop(names.HEAD, None), items, {}, found

    def _head_and_changes(self, owner: str) -> tuple[Item | None, dict[str, int]]:
        """Change rows first, then the head: a build that ends in between then hides nothing."""
        head: Item | None = None
        rows: dict[str, int] = {}
        for item in each_item(self.table, owner, names.HEAD, descending=True):
            if item["sk"] == names.HEAD:
                head = item
            else:
                rows[str(item["sk"]).removeprefix(names.CHANGE)] = int(item["version"])
        return head, rows

    def _unwrapped(
        self, owner: str, head: Item, ring: Keyring | ErasedKeyring, extra: Callable[[], Any] | None
    ) -> tuple[Any, OwnerKeys]:
        epoch, generation = int(head["epoch"]), int(head["gen"])
        if isinstance(ring, ErasedKeyring) or ring.epoch != epoch:
            raise Unavailable(_ERASING)
        if generation not in ring.keys:
            raise KeysBroken
        numbers = sorted(ring.keys)
        unwraps = [partial(self.service.unwrap, owner, epoch, ring.keys[number]) for number in numbers]
        results = together(*unwraps, *([extra] if extra else []))
        result = results.pop() if extra else None
        keys = OwnerKeys.opened(owner, epoch, generation, dict(zip(numbers, results, strict=True)))
        with self._lock:
            self._warm[owner] = (keys, self.clock())
        return result, keys

    def _create(self, owner: str) -> None:
        """Make head, then keyring. In this order a keyring without a head can only mean a lost table."""
        found = self.objects.get(names.keyring(owner))
        ring = read_keyring(found.body) if found else None
        if isinstance(ring, Keyring):
            return
        epoch = ring.epoch + 1 if ring else 1
        fresh: Item = {"sk": names.HEAD, "epoch": epoch, "gen": 1, "memories": 0, "active": 0, "bytes": 0}
        fresh |= {"journal_bytes": 0, "index_bytes": 0, "commits": 0, "rows": 0}
        try:
            self.table.write(owner, [Put(fresh, Condition(absent=True))])
        except Refused as refused:
            head = refused.items[0]
            if head is not None and int(head["epoch"]) < epoch:
                raise Unavailable(_ERASING) from None
            if head is None or int(head["epoch"]) != epoch or int(head["commits"]) != 0:
                return
        key = self.service.create(owner, epoch)
        body = Keyring(epoch, 1, {1: key.wrapped}).to_bytes()
        try:
            if found:
                self.objects.put(names.keyring(owner), body, if_match=found.etag)
            else:
                self.objects.put(names.keyring(owner), body, if_absent=True)
        except (AlreadyThere, Changed):
            return


def _begins(ring: Keyring | ErasedKeyring, head: Item) -> bool:
    """Tell whether a new life has its head and not yet its keyring: whoever writes next gives it one."""
    return isinstance(ring, ErasedKeyring) and int(head["epoch"]) == ring.epoch + 1


def _fits(keys: OwnerKeys, head: Item) -> bool:
    return (keys.epoch, keys.generation) == (head["epoch"], head["gen"])
