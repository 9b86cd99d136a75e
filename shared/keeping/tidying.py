"""Maintenance of one owner: repair, purge, fold, open tasks, index, counters. Any step can be killed and the whole run again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from shared.domain import limits
from shared.domain.errors import Refused, TableLost
from shared.domain.times import epoch_seconds, rfc3339
from shared.learning.waiting import Waiting
from shared.ports import Condition, Delete, Item, Put, Update
from shared.storage import names
from shared.storage.commit import Commits
from shared.storage.fold import Fold
from shared.storage.journal import Journal
from shared.storage.rebuild import Rebuild
from shared.storage.repair import Repair, Survey
from shared.storage.vaults import Opened


class Built(Protocol):
    """What a build of the index did."""

    @property
    def embedded(self) -> int:
        """Memories whose meaning it took in."""
        ...


class Builds(Protocol):
    """What maintenance needs of the search index."""

    def behind(self, head: Item) -> bool:
        """Tell whether the index of that head is of another kind than one built now."""
        ...

    def build(self, owner: str, *, keep_previous: bool = True) -> Built | None:
        """Build the owner's index; without `keep_previous` nothing of deleted texts is left. None when nothing came of it."""
        ...

    def sweep(self, owner: str) -> None:
        """Remove all index objects but the one in use."""
        ...


@dataclass(frozen=True, slots=True)
class Tidied:
    """Counts of one run, for the log."""

    rebuilt: int = 0
    replayed: int = 0
    removed: int = 0
    damaged: int = 0
    purged: int = 0
    folded: int = 0
    sent_again: int = 0
    built: bool = False
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class Tidying:
    """Tidies owners, one at a time per owner: a lease holds others off, should two messages ever run at once."""

    commits: Commits
    rebuild: Rebuild
    waiting: Waiting
    builds: Builds

    def tidy(self, owner: str) -> Tidied | None:
        """Tidy an owner; None when there is none, or another run holds the lease."""
        vaults = self.commits.vaults
        lost = False
        try:
            opened = vaults.open(owner, changes=True)
        except TableLost:
            opened, lost = None, True
        if not (opened or lost) or not self._lease(owner):
            return None
        try:
            rebuilt = self.rebuild.run(owner) if lost else None
            opened = vaults.open(owner, changes=True)
            return self._tidy(opened, rebuilt.memories if rebuilt else 0) if opened else None
        finally:
            vaults.table.write(owner, [Delete(names.LEASE)])

    def _tidy(self, opened: Opened, rebuilt: int) -> Tidied:
        owner, vaults = opened.keys.owner, self.commits.vaults
        now = vaults.clock()
        self._due(opened, now + limits.LEASE, {})
        journal = Journal(vaults.objects, opened.keys, vaults.random)
        survey = Repair(self.commits, opened.keys, journal, now).run()
        fold = Fold(journal, survey, now, vaults.table)
        purged, folded = fold.purge(), fold.fold()
        swept = self.waiting.sweep(opened)
        built = self._index(opened, survey)
        self._recount(owner, journal)
        embedded = built.embedded if built else 0
        self._due_again(
            owner, now, survey, swept.next_look, limits.MAINTENANCE_DELAY if embedded else limits.EMBED_AGAIN
        )
        sent = swept.sent + swept.failed
        found = (survey.replayed, survey.removed, survey.damaged, purged, folded, sent)
        return Tidied(rebuilt, *found, built is not None, embedded)

    def _lease(self, owner: str) -> bool:
        now = self.commits.vaults.clock()
        lease = Put(
            {"sk": names.LEASE, "ttl": epoch_seconds(now + limits.LEASE)},
            Condition(absent_or_expired=epoch_seconds(now)),
        )
        try:
            self.commits.vaults.table.write(owner, [lease])
        except Refused:
            return False
        return True

    def _index(self, opened: Opened, survey: Survey) -> Built | None:
        """Build the index where it is behind; else remove the one before, and what builds that died have left."""
        owner = opened.keys.owner
        fresh = self.commits.vaults.open(owner, changes=True)
        if fresh is not None:
            missing = fresh.head["memories"] and "index" not in fresh.head
            if fresh.changes or missing or self.builds.behind(fresh.head):
                return self.builds.build(owner, keep_previous=not survey.dead)
        self.builds.sweep(owner)
        return None

    def _recount(self, owner: str, journal: Journal) -> None:
        """Set the counted bytes of the journal to what is there; left for the next run when somebody writes meanwhile."""
        table = self.commits.vaults.table
        head = table.get(owner, [names.HEAD]).get(names.HEAD)
        if head is None:
            return
        size = sum(listed.size for listed in journal.listing())
        change = Update(
            names.HEAD,
            set={"journal_bytes": size},
            add={"bytes": size - int(head["journal_bytes"])},
            condition=Condition(equals={"commits": head["commits"], "journal_bytes": head["journal_bytes"]}),
        )
        _unless_refused(lambda: table.write(owner, [change]))

    def _due_again(
        self, owner: str, now: datetime, survey: Survey, look: datetime | None, vectors_in: timedelta
    ) -> None:
        """Say when this owner is to be looked at again, after `vectors_in` if only the index is not complete; not at all when nothing
        is left to do and nothing was written meanwhile."""
        opened = self.commits.vaults.open(owner, changes=True)
        if opened is None:
            return
        left = [small.at + limits.FOLD_AFTER for small in survey.smalls if small.at > now - limits.FOLD_AFTER]
        left += [now + limits.REPAIR_AFTER for small in survey.smalls if not small.settled]
        left += [look] if look else []
        left += [now + limits.MAINTENANCE_DELAY] if opened.changes else []
        left += [now + vectors_in] if self.builds.behind(opened.head) else []
        self._due(opened, min(left, default=None), {"commits": opened.head["commits"]})

    def _due(self, opened: Opened, at: datetime | None, unchanged: dict[str, str | int | bytes | None]) -> None:
        now = self.commits.vaults.clock()
        shard = names.due_shard(opened.keys.owner, limits.DUE_SHARDS)
        condition = Condition(equals={"epoch": opened.keys.epoch, **unchanged})
        change = Update(names.HEAD, remove=("due_at", "due_shard"), condition=condition)
        if at is not None:
            soonest = max(at, now + timedelta(minutes=1))
            change = Update(names.HEAD, set={"due_at": rfc3339(soonest), "due_shard": shard}, condition=condition)
        table = self.commits.vaults.table
        _unless_refused(lambda: table.write(opened.keys.owner, [change]))


def _unless_refused(write: Callable[[], None]) -> None:
    try:
        write()
    except Refused:
        return
