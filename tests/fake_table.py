"""A table in memory that keeps DynamoDB's rules. Import it from tests.fakes."""

import threading
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence

from shared.adapters.item_sizes import ITEM_BYTES, PAGE_BYTES, check_writes, item_bytes
from shared.domain.errors import Busy, Refused
from shared.ports import Check, Condition, Delete, Due, Item, Page, Put, Update, Value, Write

ROUNDS = 8
"""Times that unprocessed keys are asked for before Busy, as in the adapter."""


class MemoryTable:
    """The port `Table`. One lock, so that every call is atomic; strings are ordered as DynamoDB orders them.

    Faults a test can switch on: `lag()` freezes both indexes until `catch_up()`; `unprocessed = n` leaves half of the
    keys unread in the next n rounds of `get`; `contention = n` makes the next n writes raise Busy with nothing written.
    """

    def __init__(self) -> None:
        self.unprocessed = 0
        self.contention = 0
        self._lock = threading.RLock()
        self._items: dict[str, dict[str, Item]] = {}
        self._keys: dict[str, list[str]] = {}
        self._frozen: dict[str, dict[str, Item]] | None = None

    # What tests look at and break.

    def partition(self, owner: str) -> dict[str, Item]:
        """Return a copy of everything an owner has, by sort key."""
        with self._lock:
            return {sk: dict(self._items[owner][sk]) for sk in self._keys.get(owner, [])}

    def owners(self) -> list[str]:
        """Return the owners that have any item."""
        with self._lock:
            return sorted(owner for owner, keys in self._keys.items() if keys)

    def everything(self) -> bytes:
        """Return every name and value as bytes, to search for what must not be there."""
        with self._lock:
            parts: list[bytes] = []
            for owner, items in self._items.items():
                for item in items.values():
                    values = [value if isinstance(value, bytes) else str(value).encode() for value in item.values()]
                    parts += [owner.encode(), *(name.encode() for name in item), *values]
            return b"\n".join(parts)

    def wipe(self, owner: str | None = None) -> None:
        """Lose the whole table, or one owner's items, as an operator's accident would."""
        with self._lock:
            for name in [owner] if owner is not None else list(self._items):
                self._items.pop(name, None)
                self._keys.pop(name, None)

    def expire(self, moment: int) -> None:
        """Do what DynamoDB does some time after items' `ttl` (epoch seconds): delete them."""
        with self._lock:
            for owner, items in self._items.items():
                for sk in [sk for sk, item in items.items() if _number(item.get("ttl"), default=moment) < moment]:
                    self._remove(owner, sk)

    def lag(self) -> None:
        """From now on both indexes answer with what is stored at this moment."""
        with self._lock:
            self._frozen = {
                owner: {sk: dict(item) for sk, item in items.items()} for owner, items in self._items.items()
            }

    def catch_up(self) -> None:
        """Let the indexes see everything again."""
        with self._lock:
            self._frozen = None

    # The port.

    def get(self, owner: str, sks: Sequence[str]) -> dict[str, Item]:
        wanted = list(dict.fromkeys(sks))
        found: dict[str, Item] = {}
        with self._lock:
            stored = self._items.get(owner, {})
            for _ in range(ROUNDS):
                cut = len(wanted)
                if wanted and self.unprocessed:
                    self.unprocessed -= 1
                    cut //= 2
                found.update({sk: dict(stored[sk]) for sk in wanted[:cut] if sk in stored})
                wanted = wanted[cut:]
                if not wanted:
                    return found
        raise Busy

    def query(
        self,
        owner: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> Page:
        if limit is not None and limit < 1:
            raise ValueError("a page holds one item at least")
        with self._lock:
            keys = self._keys.get(owner, [])
            first = bisect_left(keys, prefix)
            last = bisect_left(keys, prefix + "\U0010ffff")
            if after is not None and descending:
                last = max(first, min(last, bisect_left(keys, after)))
            elif after is not None:
                first = min(last, max(first, bisect_right(keys, after)))
            chosen = keys[first:last]
            return self._page(owner, chosen[::-1] if descending else chosen, limit)

    def _page(self, owner: str, keys: Sequence[str], limit: int | None) -> Page:
        items: list[Item] = []
        size = 0
        for sk in keys:
            item = self._items[owner][sk]
            size += item_bytes(item)
            if items and size > PAGE_BYTES:
                return Page(items, str(items[-1]["sk"]))
            items.append(dict(item))
            if len(items) == limit:
                # DynamoDB stops here without looking whether more follow, so the next page may be empty.
                return Page(items, sk)
        return Page(items, None)

    def by_update(
        self, owner: str, status: str, *, before: str | None = None, after: str | None = None, limit: int
    ) -> list[str]:
        with self._lock:
            items = (self._items if self._frozen is None else self._frozen).get(owner, {})
            hash_key = f"{owner}#{status}"
            updated = [
                str(i["updated"]) for i in items.values() if i.get("owner_status") == hash_key and "updated" in i
            ]
        kept = [u for u in updated if (before is None or u < before) and (after is None or u >= after)]
        return sorted(kept, reverse=True)[:limit]

    def write(self, owner: str, writes: Sequence[Write]) -> None:
        check_writes(list(writes))
        with self._lock:
            self._contend()
            standing = {position: self._standing(owner, write.sk) for position, write in enumerate(writes)}
            refused = {p: item for p, item in standing.items() if not _holds(writes[p].condition, item)}
            if refused:
                raise Refused(refused)
            results = [(write, _result(write, standing[p])) for p, write in enumerate(writes)]
            for write, result in results:
                if isinstance(write, Delete):
                    self._remove(owner, write.sk)
                elif not isinstance(write, Check):
                    self._store(owner, result)

    def update(self, owner: str, change: Update) -> Item:
        with self._lock:
            self.write(owner, [change])
            return dict(self._items[owner][change.sk])

    def due(self, shard: int, *, before: str, limit: int) -> list[Due]:
        with self._lock:
            source = self._items if self._frozen is None else self._frozen
            found = [
                (str(item["due_at"]), owner, str(item["sk"]))
                for owner, items in source.items()
                for item in items.values()
                if item.get("due_shard") == f"due#{shard}" and "due_at" in item
            ]
        return [Due(owner, at, sk) for at, owner, sk in sorted(found) if at < before][:limit]

    # The rules.

    def _contend(self) -> None:
        if self.contention:
            self.contention -= 1
            raise Busy

    def _standing(self, owner: str, sk: str) -> Item | None:
        item = self._items.get(owner, {}).get(sk)
        return None if item is None else dict(item)

    def _store(self, owner: str, item: Item) -> None:
        sk = str(item["sk"])
        items = self._items.setdefault(owner, {})
        if sk not in items:
            insort(self._keys.setdefault(owner, []), sk)
        items[sk] = item

    def _remove(self, owner: str, sk: str) -> None:
        if self._items.get(owner, {}).pop(sk, None) is not None:
            keys = self._keys[owner]
            del keys[bisect_left(keys, sk)]


def _holds(condition: Condition | None, item: Mapping[str, Value] | None) -> bool:
    if condition is None:
        return True
    stored: Mapping[str, Value] = item or {}
    if (condition.absent and item is not None) or (condition.exists and item is None):
        return False
    if any(stored.get(name) != value for name, value in condition.equals.items()):
        return False
    if any(_number(stored.get(name), default=most + 1) > most for name, most in condition.at_most.items()):
        return False
    moment = condition.absent_or_expired
    return moment is None or item is None or _number(stored.get("ttl"), default=moment + 1) <= moment


def _number(value: Value | None, *, default: int) -> int:
    return value if isinstance(value, int) else default


def _result(write: Write, item: Item | None) -> Item:
    if isinstance(write, Put):
        return dict(write.item)
    result: Item = item or {"sk": write.sk}
    if isinstance(write, Update):
        result.update(write.set)
        result.update({name: value for name, value in write.set_once.items() if name not in result})
        for name, amount in write.add.items():
            standing = result.get(name, 0)
            if not isinstance(standing, int):
                raise TypeError("a number cannot be added to something else")
            result[name] = standing + amount
        for name in write.remove:
            result.pop(name, None)
        if item_bytes(result) > ITEM_BYTES:
            raise ValueError(f"the update would make an item of {item_bytes(result)} bytes")
    return result
