"""What was true at a moment: each memory in the version that stood then. What was deleted since, or is to be, is not shown."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain import drafts
from shared.domain.errors import Invalid, SealBroken
from shared.domain.ids import first_ulid, ulid_time
from shared.domain.memory import Memory
from shared.domain.times import MILLISECOND, rfc3339
from shared.keeping.cursors import Cursors
from shared.keeping.memories.filters import CREATED, Filters
from shared.keeping.memories.listing import Listed
from shared.observability import alarm
from shared.ports import Item
from shared.storage import items, names
from shared.storage.journal import Journal
from shared.storage.partition import each_item
from shared.storage.preferences import preferences_or_default, retention_days
from shared.storage.vaults import Opened, Vaults

_FOR_EVER = -1
"""The retention of today says nothing of what stood then."""
SCAN = 100
"""Memories opened for one page at most: each that changed since costs reading its earlier versions."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """Lists what stood at a moment, newest-made first."""

    vaults: Vaults
    cursors: Cursors

    def page(self, owner: str, filters: Filters, at: datetime, limit: int, cursor: str | None) -> Listed:
        """Return at most `limit` memories from the cursor on; a cursor may follow even an empty page. The filters are asked of each version
        as it stood. A memory whose version of then is not kept any more (HISTORY_VERSIONS are) is left out.

        Raises Invalid for a moment to come, InvalidCursor, TableLost.
        """
        if at > self.vaults.clock():
            raise Invalid.of("as_of", "It must not lie in the future.")
        opened = self.vaults.open(owner, [names.SETTINGS])
        if opened is None:
            self.cursors.refuse(cursor)
            return Listed([], None, 0)
        purpose = f"{filters.purpose()}@{rfc3339(at)}"
        if filters.of_days:
            filters = filters.dated(preferences_or_default(opened).time_zone, self.vaults.clock())
        after = self.cursors.read(opened.keys, purpose, cursor)
        found: list[Memory] = []
        damaged = scanned = 0
        for item in self._made(owner, at, after):
            if len(found) == limit or scanned == SCAN:
                break
            scanned, after = scanned + 1, str(item["sk"])
            try:
                present = items.from_item(opened.keys, item).memory
                over = present.expired(self.vaults.clock(), retention_days(opened))
                memory = None if over else self._then(opened, present, at)
            except SealBroken:
                damaged += 1
                alarm("damaged", memory=after.removeprefix(names.MEMORY))
                continue
            if (
                memory is not None
                and _within(memory, filters)
                and filters.want(memory)
                and not memory.expired(at, _FOR_EVER)
            ):
                found.append(memory)
        else:
            after = None
        return Listed(found, self.cursors.write(opened.keys, purpose, after), damaged)

    def _made(self, owner: str, at: datetime, after: str | None) -> Iterator[Item]:
        """Yield items of memories that were made until then, latest first."""
        after = after or names.MEMORY + first_ulid(at + MILLISECOND)
        return each_item(self.vaults.table, owner, names.MEMORY, after=after, limit=SCAN, descending=True)

    def _then(self, opened: Opened, memory: Memory, at: datetime) -> Memory | None:
        """Return the version that stood at that moment; None when there was none yet, or it is not kept."""
        now = replace(memory, access_count=0, last_accessed_at=None)
        if max(memory.updated_at, ulid_time(memory.commit)) <= at:
            return now
        journal = Journal(self.vaults.objects, opened.keys, self.vaults.random)
        versions = [*journal.versions(memory.id, memory.prior), now]
        stood = [version for version, since in zip(versions, _begins(versions), strict=True) if since <= at]
        # Of what stood next to a version that is not kept, nobody can say until when it did.
        known = {version.version for version in versions}
        if not stood or (stood[-1] is not now and stood[-1].version + 1 not in known):
            return None
        return drafts.as_past(stood[-1], memory)


def _begins(versions: list[Memory]) -> list[datetime]:
    """Return when each version began to stand. One that was archived or retired keeps the time of the change before: there its commit
    tells."""
    before = [None, *(version.updated_at for version in versions)]
    return [
        ulid_time(version.commit) if version.updated_at == earlier else version.updated_at
        for version, earlier in zip(versions, before, strict=False)
    ]


def _within(memory: Memory, filters: Filters) -> bool:
    """Tell whether a version lies within the bounds of the time that the filters order by."""
    at = memory.created_at if filters.order == CREATED else memory.updated_at
    return (filters.since is None or filters.since <= at) and (filters.until is None or at < filters.until)
