"""Retention: memories whose time is over are deleted, each with its tombstone and exact counters.

They are shown nowhere from the moment their time is over (`Memory.expired`); here they go from table and journal. Every memory follows the
same rule, also one written by hand, a credential and a dismissed one. Maintenance remembers when the next one ends, so that all memories
are looked through only when one has ended, or when the owner chose another retention.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.errors import NotFound, SealBroken, VersionMismatch
from shared.keeping.maintenance.visits import Visit
from shared.ports import Item
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.partition import each_item
from shared.storage.transactions import Change, batches
from shared.storage.vaults import GONE

NEXT, DAYS = "next_expiry", "retention_days"
AT_ONCE = 50
"""Memories that are read and then deleted together; between two lots the time is looked at."""
APART = timedelta(hours=1)
"""Between two visits that are only for memories that ended: whoever wrote is visited sooner."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Deletes what has ended."""

    commits: Commits
    name: str = "retention"

    def run(self, visit: Visit) -> Mapping[str, int]:
        days, due = visit.preferences.retention_days, visit.moment(NEXT)
        if visit.state.get(DAYS) == days and (due is None or due > visit.now):
            deleted, _ = self._delete(visit, _changed(visit))
        else:
            every = each_item(visit.vaults.table, visit.owner, names.MEMORY)
            deleted, upcoming = self._delete(visit, every)
            visit.note(**{DAYS: days, NEXT: upcoming})
        _look_again(visit)
        return {"deleted": deleted}

    def _delete(self, visit: Visit, found: Iterator[Item]) -> tuple[int, datetime | None]:
        """Delete what has ended among these memories; return how many that were, and when the next one ends. Raises OutOfTime."""
        upcoming: datetime | None = None
        ended: list[Stored] = []
        deleted = 0
        for stored in _opened(visit, found):
            end = stored.memory.ends(visit.preferences.retention_days)
            if end is None:
                continue
            if end > visit.now:
                upcoming = end if upcoming is None else min(upcoming, end)
                continue
            ended.append(stored)
            if len(ended) == AT_ONCE:
                deleted += self._end(visit, ended)
                ended = []
                visit.check_time({"deleted": deleted})
        return deleted + self._end(visit, ended), upcoming

    def _end(self, visit: Visit, ended: Sequence[Stored]) -> int:
        """Delete these memories, many at once; one that was changed meanwhile is left to the next visit, for it may have a new end."""
        deleted = 0
        for batch in batches(visit.opened.keys, [Change(stored, None) for stored in ended]):
            try:
                deleted += len(self.commits.commit_together(visit.opened.keys, batch))
            except (NotFound, VersionMismatch):
                for change in batch:
                    with suppress(NotFound, VersionMismatch):
                        self.commits.commit(visit.owner, change)
                        deleted += 1
        return deleted


@dataclass(frozen=True, slots=True)
class Ends:
    """Remembers the end of what was written, before the change rows go that name it."""

    name: str = "ends"

    def run(self, visit: Visit) -> Mapping[str, int]:
        days = visit.preferences.retention_days
        ends = [end for stored in _opened(visit, _changed(visit)) if (end := stored.memory.ends(days)) is not None]
        known = visit.moment(NEXT)
        visit.note(**{NEXT: min([*ends, *([known] if known else [])], default=None)})
        _look_again(visit)
        return {}


def _look_again(visit: Visit) -> None:
    due = visit.moment(NEXT)
    if due is not None:
        visit.look_again(max(due, visit.now + APART))


def _opened(visit: Visit, found: Iterator[Item]) -> Iterator[Stored]:
    """Open memories; one that does not open has no end that anybody can read."""
    for item in found:
        with suppress(SealBroken):
            yield items.from_item(visit.opened.keys, item)


def _changed(visit: Visit) -> Iterator[Item]:
    wanted = [names.MEMORY + memory_id for memory_id, version in visit.opened.changes.items() if version != GONE]
    if wanted:
        yield from visit.vaults.table.get(visit.owner, wanted).values()
