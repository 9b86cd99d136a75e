"""Retired memories whose product is gone go at once, and not only when the time for an undo is over.

Whoever deletes a consolidated memory means what it says, so what it was made of goes too.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from shared.domain.errors import NotFound, SealBroken, Unavailable, VersionMismatch
from shared.domain.memory import Status
from shared.keeping.maintenance.visits import Visit
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.partition import latest_updates
from shared.storage.transactions import Change, Stale, batches

LISTED: Final = 100


@dataclass(frozen=True, slots=True)
class Retirement:
    """Deletes what was retired for a memory that is not there any more."""

    commits: Commits
    name: str = "retirement"

    def run(self, visit: Visit) -> Mapping[str, int]:
        if not int(visit.opened.head.get("retired", 0)):
            return {}
        orphans = [Change(stored, None) for stored in self._orphans(visit)]
        deleted = 0
        for batch in batches(visit.opened.keys, orphans):
            visit.check_time({"deleted": deleted})
            deleted += self._delete(visit, batch)
        return {"deleted": deleted}

    def _orphans(self, visit: Visit) -> Iterator[Stored]:
        """Yield retired memories that name one which is gone."""
        for page in latest_updates(visit.vaults.table, visit.owner, Status.RETIRED.value, limit=LISTED):
            found = self._read(visit, [key.rpartition("#")[2] for key in page])
            products = {one.memory.replaced_by for one in found if one.memory.replaced_by}
            standing = visit.vaults.table.get(visit.owner, [names.MEMORY + product for product in sorted(products)])
            for one in found:
                product = one.memory.replaced_by
                if product is not None and names.MEMORY + product not in standing:
                    yield one

    def _read(self, visit: Visit, ids: list[str]) -> list[Stored]:
        found: list[Stored] = []
        for item in visit.vaults.table.get(visit.owner, [names.MEMORY + memory_id for memory_id in ids]).values():
            with suppress(SealBroken):
                stored = items.from_item(visit.opened.keys, item)
                if stored.memory.status is Status.RETIRED:
                    found.append(stored)
        return found

    def _delete(self, visit: Visit, batch: list[Change]) -> int:
        """Delete a batch; where one of it was brought back meanwhile, the next visit looks again."""
        try:
            self.commits.commit_together(visit.opened.keys, batch)
        except Stale:
            raise Unavailable from None
        except (NotFound, VersionMismatch):
            return 0
        return len(batch)
