"""Erasing an owner's life: the keys first, so that nothing opens any more, then everything that was sealed with them.

Order, each step safe to end after and to do again:
1. A record of the erasure is stored and the head's key generation becomes 0, in one transaction: warm keys fit no more and every
   write is refused.
2. The keyring is replaced by one that says `erased`, and its versions with the wrapped keys are removed: nobody can open anything again.
3. Maintenance removes all objects of the life with all versions, then all items, the head last: a new life may begin.
4. Later than any function runs it looks once more, for what a function under way has put down and could not take back.
The record counts what was removed. It stays, without a word of the owner's, and is the receipt.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shared.crypto.keyring import ErasedKeyring, Keyring, read_keyring
from shared.domain import limits
from shared.domain.errors import Changed, Refused, SealBroken, Unavailable
from shared.domain.times import moment, rfc3339
from shared.ports import Check, Condition, Delete, Item, Update, Write
from shared.storage import names
from shared.storage.vaults import ERASING, Vaults

BATCH: Final = 50
TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an erasure removed: the life's number, when its keys were destroyed, when everything was gone (None: not yet), versions of
    objects and items. `signature` is the digest of these, encrypted by the deployment's key in the owner's name."""

    epoch: int
    erased_at: str
    cleared_at: str | None
    objects: int
    items: int
    signature: bytes | None = None

    def digest(self) -> bytes:
        """Return the SHA-256 of the receipt without its signature, as canonical JSON."""
        said = {"epoch": self.epoch, "erased_at": self.erased_at, "cleared_at": self.cleared_at}
        said |= {"objects": self.objects, "items": self.items}
        return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).digest()


@dataclass(frozen=True, slots=True)
class Erasure:
    """Erases owners."""

    vaults: Vaults

    def begin(self, owner: str) -> Receipt | None:
        """Destroy the owner's keys (steps 1 and 2); None when nothing was ever stored. Done again it returns the same life's receipt.

        Raises Unavailable; then it goes on by itself, or when it is asked for again.
        """
        for _ in range(TRIES):
            found = self.vaults.objects.get(names.keyring(owner))
            if found is None:
                return None
            ring = read_keyring(found.body)
            living = isinstance(ring, Keyring)
            if (living or self._came_back(owner, ring.epoch)) and not self._record(owner, ring.epoch):
                continue
            if living and not self._destroy(owner, ring.epoch, found.etag):
                continue
            self.vaults.objects.erase(names.keyring(owner), keep_current=True)
            self.vaults.forget(owner)
            return self.receipt(owner)
        raise Unavailable

    def receipt(self, owner: str) -> Receipt | None:
        """Return the receipt of the owner's last erasure; None when there was none."""
        item = self._item(owner)
        return _receipt(item) if item else None

    def waits(self, owner: str) -> bool:
        """Tell whether an erasure of this owner has something left to do."""
        item = self._item(owner)
        return item is not None and "swept_at" not in item

    def go_on(self, owner: str, time_left: Callable[[], bool]) -> Receipt | None:
        """Remove what is left (steps 2 to 4) as long as there is time; None when no erasure waits. Raises Unavailable."""
        item = self._item(owner)
        if item is None or "swept_at" in item:
            return None
        epoch = int(item["epoch"])
        found = self.vaults.objects.get(names.keyring(owner))
        ring = read_keyring(found.body) if found else None
        if isinstance(ring, Keyring) and ring.epoch == epoch:
            self.begin(owner)
        else:
            self.vaults.objects.erase(names.keyring(owner), keep_current=True)
        if not self._objects(owner, epoch, time_left) or not self._items(owner, epoch, time_left):
            return self.receipt(owner)
        self._finish(owner, self._item(owner) or item)
        return self.receipt(owner)

    def genuine(self, owner: str, receipt: Receipt) -> bool:
        """Tell whether this deployment signed that receipt for that owner."""
        try:
            return self.vaults.service.unwrap(owner, receipt.epoch, receipt.signature or b"") == receipt.digest()
        except SealBroken:
            return False

    def _item(self, owner: str) -> Item | None:
        return self.vaults.table.get(owner, [names.ERASURE]).get(names.ERASURE)

    def _came_back(self, owner: str, epoch: int) -> bool:
        """Tell whether a table restored from a backup holds the head of a life that was erased."""
        head = self.vaults.table.get(owner, [names.HEAD]).get(names.HEAD)
        return head is not None and int(head["epoch"]) == epoch and int(head["gen"]) != ERASING

    def _record(self, owner: str, epoch: int) -> bool:
        """Store the record and close the head, where there is one; a lost table has none. Tell whether that was done."""
        now = self.vaults.clock()
        found = self.vaults.table.get(owner, [names.ERASURE, names.HEAD])
        known, head = found.get(names.ERASURE), found.get(names.HEAD)
        begun = known is not None and int(known["epoch"]) == epoch
        if begun and (head is None or int(head["gen"]) == ERASING):
            return True
        fresh: Item = {"sk": names.ERASURE, "epoch": epoch, "at": rfc3339(now), "objects": 0, "items": 0}
        fresh |= {"due_at": rfc3339(now), "due_shard": names.due_shard(owner, limits.DUE_SHARDS)}
        columns = {name: value for name, value in fresh.items() if name != "sk"}
        same = Condition(equals={"epoch": known["epoch"] if known else None})
        record = Update(names.ERASURE, set=columns, remove=("cleared_at", "swept_at", "signature"), condition=same)
        writes: list[Write] = [record]
        if head is not None:
            closed = Condition(equals={"epoch": epoch})
            writes.append(Update(names.HEAD, set={"gen": ERASING}, remove=("due_at", "due_shard"), condition=closed))
        try:
            self.vaults.table.write(owner, writes)
        except Refused:
            return False
        return True

    def _destroy(self, owner: str, epoch: int, etag: str) -> bool:
        body = ErasedKeyring(epoch, rfc3339(self.vaults.clock())).to_bytes()
        try:
            self.vaults.objects.put(names.keyring(owner), body, if_match=etag)
        except Changed:
            return False
        return True

    def _objects(self, owner: str, epoch: int, time_left: Callable[[], bool]) -> bool:
        """Remove the life's objects; tell whether all are gone."""
        while time_left():
            removed = self.vaults.objects.wipe(names.life(owner, epoch))
            if not removed:
                return True
            self._count(owner, epoch, objects=removed)
        return False

    def _items(self, owner: str, epoch: int, time_left: Callable[[], bool]) -> bool:
        """Remove the life's items, the head last; tell whether all are gone. A new life's items are never touched: each write
        asks for this life's head, or for none."""
        table, kept = self.vaults.table, {names.HEAD, names.ERASURE}
        head = table.get(owner, [names.HEAD]).get(names.HEAD)
        if head is not None and int(head["epoch"]) != epoch:
            return True
        ours = Check(names.HEAD, Condition(equals={"epoch": epoch}) if head else Condition(absent=True))
        while time_left():
            page = table.query(owner, "", limit=BATCH)
            gone = [Delete(str(item["sk"])) for item in page.items if item["sk"] not in kept]
            if not gone:
                break
            try:
                table.write(owner, [ours, *gone])
            except Refused:
                return True
            self._count(owner, epoch, items=len(gone))
        else:
            return False
        if head is not None:
            try:
                table.write(owner, [Delete(names.HEAD, Condition(equals={"epoch": epoch}))])
            except Refused:
                return True
            self._count(owner, epoch, items=1)
        return True

    def _count(self, owner: str, epoch: int, **removed: int) -> None:
        same = Condition(equals={"epoch": epoch, "cleared_at": None})
        try:
            self.vaults.table.write(owner, [Update(names.ERASURE, add=removed, condition=same)])
        except Refused:
            return

    def _finish(self, owner: str, item: Item) -> None:
        """Close the receipt; or, when it was closed longer ago than any function runs, the whole erasure."""
        now, epoch = self.vaults.clock(), int(item["epoch"])
        if "cleared_at" not in item:
            closed: Item = {**item, "cleared_at": rfc3339(now)}
            signature = self.vaults.service.wrap(owner, epoch, _receipt(closed).digest())
            change = Update(
                names.ERASURE,
                set={
                    "cleared_at": rfc3339(now),
                    "signature": signature,
                    "due_at": rfc3339(now + limits.REPAIR_AFTER),
                    "due_shard": names.due_shard(owner, limits.DUE_SHARDS),
                },
                condition=Condition(
                    equals={"epoch": epoch, "objects": item["objects"], "items": item["items"], "cleared_at": None}
                ),
            )
        elif now >= moment(str(item["cleared_at"])) + limits.REPAIR_AFTER:
            change = Update(
                names.ERASURE,
                set={"swept_at": rfc3339(now)},
                remove=("due_at", "due_shard"),
                condition=Condition(equals={"epoch": epoch}),
            )
        else:
            return
        try:
            self.vaults.table.write(owner, [change])
        except Refused:
            return


def _receipt(item: Item) -> Receipt:
    cleared, signature = item.get("cleared_at"), item.get("signature")
    return Receipt(
        int(item["epoch"]),
        str(item["at"]),
        str(cleared) if cleared else None,
        int(item["objects"]),
        int(item["items"]),
        signature if isinstance(signature, bytes) else None,
    )
