"""Lists of memories: newest-updated first, or by creation, with filters, in pages.

The index by update may lag behind; change rows name every memory that may be elsewhere than it says, and those are read fresh.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from shared.domain import limits
from shared.domain.errors import SealBroken
from shared.domain.ids import first_ulid
from shared.domain.memory import Memory, Status
from shared.domain.times import rfc3339
from shared.keeping.cursors import Cursors
from shared.keeping.memories.filters import CREATED, Filters
from shared.observability import alarm
from shared.ports import Item
from shared.storage import items, names
from shared.storage.partition import each_item
from shared.storage.preferences import preferences_or_default, retention_days
from shared.storage.together import together
from shared.storage.vaults import GONE, Opened, Vaults

BATCH = 100
"""Memories read at once: what DynamoDB gives in one call."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A page. `damaged` memories of it did not open; the others are served."""

    memories: list[Memory]
    next_cursor: str | None
    damaged: int


@dataclass(frozen=True, slots=True)
class _Found:
    """An item at its place in the order; None: it is not there any more."""

    place: str
    item: Item | None


class _Page:
    """What one page has so far."""

    def __init__(self, opened: Opened, filters: Filters, limit: int, now: datetime) -> None:
        self.opened, self.filters, self.limit, self.now = opened, filters, limit, now
        self.memories: list[Memory] = []
        self.damaged = self.scanned = 0
        self.scope = filters.scope_tag(opened.keys)
        self.days = retention_days(opened)

    @property
    def full(self) -> bool:
        return len(self.memories) >= self.limit or self.scanned >= limits.PAGE_SCAN

    def take(self, item: Item | None) -> None:
        """Open an item that its columns do not rule out, and keep its memory when the filters want it."""
        self.scanned += 1
        if item is None or not self.filters.may_hold(item, self.scope):
            return
        try:
            memory = items.from_item(self.opened.keys, item).memory
        except SealBroken:
            self.damaged += 1
            alarm("damaged", memory=str(item["sk"]).removeprefix(names.MEMORY))
            return
        if self.filters.want(memory) and not memory.expired(self.now, self.days):
            self.memories.append(memory)


@dataclass(frozen=True, slots=True)
class Listing:
    """Lists an owner's memories."""

    vaults: Vaults
    cursors: Cursors

    def page(self, owner: str, filters: Filters, limit: int, cursor: str | None) -> Listed:
        """Return at most `limit` memories from the cursor on; a cursor may follow even an empty page.

        Raises InvalidCursor, TableLost.
        """
        by_creation = filters.order == CREATED
        opened = self.vaults.open(owner, [names.SETTINGS], changes=not by_creation)
        if opened is None:
            self.cursors.refuse(cursor)
            return Listed([], None, 0)
        purpose = filters.purpose()
        if filters.of_days:
            filters = filters.dated(preferences_or_default(opened).time_zone, self.vaults.clock())
        after = self.cursors.read(opened.keys, purpose, cursor)
        page = _Page(opened, filters, limit, self.vaults.clock())
        found = self._created(owner, filters, after) if by_creation else self._updated(opened, filters, after)
        reached = None
        for one in found:
            if page.full:
                break
            page.take(one.item)
            reached = one.place
        else:
            reached = None
        return Listed(page.memories, self.cursors.write(opened.keys, purpose, reached), page.damaged)

    def _created(self, owner: str, filters: Filters, after: str | None) -> Iterator[_Found]:
        """Yield items by id, latest first. Ids hold the moment of creation."""
        if after is None and filters.until is not None:
            after = names.MEMORY + first_ulid(filters.until)
        least = names.MEMORY + first_ulid(filters.since) if filters.since else ""
        for item in each_item(self.vaults.table, owner, names.MEMORY, after=after, limit=BATCH, descending=True):
            if str(item["sk"]) < least:
                return
            yield _Found(str(item["sk"]), item)

    def _updated(self, opened: Opened, filters: Filters, before: str | None) -> Iterator[_Found]:
        """Yield items by their last change, latest first."""
        owner = opened.keys.owner
        before = before or (rfc3339(filters.until) if filters.until else None)
        since = rfc3339(filters.since) if filters.since else None
        fresh: dict[str, Item] | None = None
        while True:
            asks = [partial(self._batch, owner, status, before, since) for status in filters.statuses]
            if fresh is None:
                fresh, *batches = together(partial(self._changed, opened, before, since), *asks)
            else:
                batches = together(*asks)
            full = [batch[-1] for batch in batches if len(batch) == BATCH]
            complete_to = max(full, default="")
            indexed = {
                key for batch in batches for key in batch if key >= complete_to and _id(key) not in opened.changes
            }
            current = {key: item for key, item in fresh.items() if key >= complete_to}
            fresh = {key: item for key, item in fresh.items() if key < complete_to}
            yield from self._in_order(owner, indexed, current)
            if not full:
                return
            before = complete_to

    def _batch(self, owner: str, status: Status, before: str | None, since: str | None) -> list[str]:
        return self.vaults.table.by_update(owner, status.value, before=before, after=since, limit=BATCH)

    def _in_order(self, owner: str, indexed: Iterable[str], fresh: dict[str, Item]) -> Iterator[_Found]:
        """Yield both kinds in one order; what only the index names is read now, for the index may say what was."""
        waiting = sorted({*indexed, *fresh}, reverse=True)
        for start in range(0, len(waiting), BATCH):
            keys = waiting[start : start + BATCH]
            wanted = [names.MEMORY + _id(key) for key in keys if key not in fresh]
            read = self.vaults.table.get(owner, wanted) if wanted else {}
            for key in keys:
                yield _Found(key, fresh.get(key) or read.get(names.MEMORY + _id(key)))

    def _changed(self, opened: Opened, before: str | None, since: str | None) -> dict[str, Item]:
        """Return the items that the index may place wrongly, by their place within the bounds."""
        wanted = [names.MEMORY + memory_id for memory_id, version in opened.changes.items() if version != GONE]
        read = self.vaults.table.get(opened.keys.owner, wanted) if wanted else {}
        placed = {_place(item): item for item in read.values()}
        return {
            key: item
            for key, item in placed.items()
            if (before is None or key < before) and (since is None or key >= since)
        }


def _place(item: Item) -> str:
    """Return the item's place in the order, under its own id: a column that was tampered with hides no other memory."""
    moment = str(item.get("updated", "")).partition("#")[0]
    return f"{moment}#{str(item['sk']).removeprefix(names.MEMORY)}"


def _id(key: str) -> str:
    return key.rpartition("#")[2]
