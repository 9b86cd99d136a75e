"""Days that have memories, counted in the owner's time zone: from the index, and the memories that it does not know yet."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from shared.domain.memory import Scope, Status
from shared.domain.times import day_bounds, epoch_seconds
from shared.recall.entries import STATUSES
from shared.recall.index import Where
from shared.recall.indexes import entry_of, searchable, tag_bytes
from shared.recall.search import Searcher
from shared.storage import items
from shared.storage.preferences import preferences_or_default

QUARTER = 900
"""Seconds: no time zone of today is off by less than a quarter of an hour, so all of one fall on one day."""


@dataclass(frozen=True, slots=True)
class Days:
    """Days, latest first, with how many memories were made on each; `whole` False: only the newest memories were counted."""

    days: list[tuple[date, int]]
    time_zone: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class ByDay:
    """The use case of `GET /v1/days`. Two steps with warm keys and index, three when cold."""

    searcher: Searcher

    def days(self, owner: str, since: date | None, until: date | None, project: str | None) -> Days:
        """Count active and archived memories by the day they were made on, from `since` to `until`, both included."""
        opened = self.searcher.open(owner)
        if opened is None:
            return Days([], "UTC")
        preferences = preferences_or_default(opened)
        zone, kept, now = preferences.time_zone, preferences.retention_days, self.searcher.vaults.clock()
        tag = tag_bytes(items.scope_tag(opened.keys, Scope.PROJECT, project, None)) if project is not None else None
        where = Where(
            scopes=None if tag is None else frozenset({tag}),
            statuses=frozenset({STATUSES.index(Status.ACTIVE), STATUSES.index(Status.ARCHIVED)}),
            created_from=epoch_seconds(day_bounds(since, zone)[0]) if since else None,
            created_to=epoch_seconds(day_bounds(until, zone)[1]) if until else None,
            updated_from=max(0, epoch_seconds(now - timedelta(days=kept))) if kept >= 0 else None,
            living_at=epoch_seconds(now),
        )
        index = self.searcher.index(opened)
        rows = where.rows(index.columns)
        rows[index.rows(list(opened.changes))] = False
        changed = [m for m in self.searcher.changed(opened) if searchable(m) and not m.expired(now, kept)]
        entries = [entry_of(opened.keys, memory) for memory in changed]
        made = [*index.columns.created[rows].tolist(), *(entry.created_at for entry in entries if where.allows(entry))]
        counted = sorted(_counted(made, ZoneInfo(zone)).items(), reverse=True)
        return Days(counted, zone, whole=not self.searcher.indexes.partial(opened))


def _counted(moments: Iterable[int], zone: ZoneInfo) -> Counter[date]:
    """Count epoch seconds by their day in a zone."""
    quarters, sizes = np.unique(np.array(list(moments), np.int64) // QUARTER, return_counts=True)
    counted: Counter[date] = Counter()
    for quarter, size in zip(quarters.tolist(), sizes.tolist(), strict=True):
        counted[datetime.fromtimestamp(quarter * QUARTER, UTC).astimezone(zone).date()] += size
    return counted
