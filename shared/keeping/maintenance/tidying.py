"""Maintenance of one owner: a lease, a rebuild where the table is lost, then step by step, and when to come again.

Order: what the owner asked to be forgotten, repair, retention, the steps that learn (consolidation, evolution, persona, scenes), fold,
index, open tasks, counters. Any step can be killed and the whole visit done again. Steps that learn stop when the visit's time is over and
go on in the next one; the others are done in any case, since they bound themselves and what follows rests on them.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from shared.domain import limits
from shared.domain.errors import Refused, TableLost, Unavailable
from shared.domain.times import epoch_seconds, rfc3339
from shared.keeping.maintenance.chores import Builds, Counting, Folding, Indexing, OpenTasks
from shared.keeping.maintenance.repairing import Repairing
from shared.keeping.maintenance.retention import Ends, Retention
from shared.keeping.maintenance.visits import TROUBLES, OutOfTime, Step, Visit, begun
from shared.learning.waiting import Waiting
from shared.observability import alarm, note, warn
from shared.ports import Condition, Delete, Put, Update, Value, Write
from shared.storage import names
from shared.storage.commit import Commits
from shared.storage.rebuild import Rebuild
from shared.storage.vaults import Opened

AT_ONCE = 10
"""Visits in a row that may go on at once where the one before was not finished; what never comes to an end is not to run for ever."""
LONGEST = timedelta(days=1)
"""Until an owner is visited again for whom a step fails each time; whoever writes is visited sooner."""


@dataclass(slots=True)
class _Round:
    """What the steps of one visit have done so far."""

    visit: Visit
    counts: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    unfinished: bool = False

    def do(self, step: Step) -> bool:
        """Take one step; tell whether it came to its end. What it raises is counted and told of by its class; `<step>_ms` is how long
        it took."""
        began = self.visit.vaults.clock()
        try:
            counts, ended = step.run(self.visit), True
        except OutOfTime as out:
            counts, ended = out.counts, False
            self.unfinished = self.visit.troubled = True
            tell = note if self.visit.time_left() else warn  # a step that only wants one more visit is as it should be
            tell("step_unfinished", step=step.name)
        except Exception as error:  # noqa: BLE001 - one step's failure must not keep the others from an owner's memory
            counts, ended = {}, False
            self.failed += 1
            self.visit.troubled = True
            alarm("step_failed", step=step.name, kind=type(error).__name__)
        took = round((self.visit.vaults.clock() - began).total_seconds() * 1000)
        for name, count in {**counts, "ms": took}.items():
            self.counts[f"{step.name}_{name}"] = self.counts.get(f"{step.name}_{name}", 0) + count
        return ended

    def do_in_time(self, steps: Sequence[Step]) -> None:
        """Take these steps as long as there is time."""
        for step in steps:
            if not self.visit.time_left():
                self.unfinished = self.visit.troubled = True
                return
            self.do(step)


@dataclass(frozen=True, slots=True)
class Tidying:
    """Tidies owners, one at a time per owner: a lease holds others off, should two messages ever run at once.

    `steps` learn from what is there. `clearing` steps take out of documents what rests on memories that stand no more; they run when a
    new index is in use and before the change rows go that say so. `first` and `last` steps stand around all others.
    """

    commits: Commits
    rebuild: Rebuild
    waiting: Waiting
    builds: Builds
    steps: Sequence[Step] = ()
    clearing: Sequence[Step] = ()
    first: Sequence[Step] = ()
    last: Sequence[Step] = ()

    def tidy(self, owner: str, *, compare: bool = False, noticed: bool = False) -> dict[str, int] | None:
        """Tidy an owner and return counts for the log; None when there is none, or another run holds the lease. With `compare` the table
        is first held against the whole journal; with `noticed` too, unless that was done lately: somebody met what does not open."""
        vaults = self.commits.vaults
        lost = False
        try:
            opened = vaults.open(owner)
        except TableLost:
            opened, lost = None, True
        if not (opened or lost) or not self._lease(owner):
            return None
        try:
            now = vaults.clock()
            rebuilt = self.rebuild.run(owner) if lost else None
            visit = begun(vaults, owner, now)
            if visit is None:
                return None
            visit.rebuilt, visit.compare, visit.noticed = lost, compare and not lost, noticed
            counts = self._visit(visit)
            return ({f"rebuild_{name}": count for name, count in asdict(rebuilt).items()} if rebuilt else {}) | counts
        finally:
            vaults.table.write(owner, [Delete(names.LEASE)])

    def _visit(self, visit: Visit) -> dict[str, int]:
        beginning = visit.opened
        self._due(beginning, visit.now + limits.LEASE, None)
        done = _Round(visit)
        done.do_in_time(self.first)
        done.do(Repairing(self.commits))
        done.do_in_time([Retention(self.commits), *self.steps])
        done.do(Folding())
        clearing = (Ends(), *self.clearing)
        done.do(Indexing(self.builds, lambda: all([done.do(step) for step in clearing])))  # noqa: C419 - each is to be tried
        done.do(OpenTasks(self.waiting))
        done.do(Counting())
        done.do_in_time(self.last)
        self._come_again(done, beginning)
        ended = {"failed_steps": done.failed, "unfinished": int(done.unfinished)}
        return {name: count for name, count in (done.counts | ended).items() if count}

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

    def _come_again(self, done: _Round, beginning: Opened) -> None:
        """Say when this owner is to be visited again; not at all when nothing is left to do and nothing was written meanwhile.

        What was written since the visit began may have been indexed, but its lines were not looked at.
        """
        visit = done.visit
        opened = self.commits.vaults.open(visit.owner, changes=True)
        if opened is None or opened.keys.epoch != beginning.keys.epoch:
            return
        now, in_a_row = visit.now, self._troubles(visit)
        at_once = done.unfinished and in_a_row <= AT_ONCE
        looks = list(visit.looks)
        looks += [now + limits.MAINTENANCE_DELAY] if opened.changes else []
        looks += [now + limits.FOLD_AFTER] if opened.head["commits"] != beginning.head["commits"] else []
        looks += [now + min(limits.STEP_AGAIN * 2 ** min(in_a_row - 1, 8), LONGEST)] if visit.troubled else []
        looks += [now] if at_once else []
        self._due(opened, min(looks, default=None), opened.head["commits"])
        if at_once:
            body: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": visit.owner}
            self.commits.maintenance.send(visit.owner, body, deduplication=f"{visit.owner}-{rfc3339(now)}-on")

    def _troubles(self, visit: Visit) -> int:
        """Count the visits in a row, this one included, that were not whole: one may be bad luck, many are a fault that stays."""
        in_a_row = int(visit.state.get(TROUBLES, 0)) + 1 if visit.troubled else None
        with suppress(Unavailable):
            visit.note(**{TROUBLES: in_a_row})
        return in_a_row or 0

    def _due(self, opened: Opened, at: datetime | None, commits: Value | None) -> None:
        """Mark the owner due at that moment (None: not at all), unless the head has moved on from these `commits` (None: whatever).

        A moment far off is marked beside the head: a mark on the head would keep the next write from marking a nearer one.
        """
        vaults, owner = self.commits.vaults, opened.keys.owner
        known: dict[str, Value | None] = {} if commits is None else {"commits": commits}
        keys = opened.keys
        condition = Condition(equals={"epoch": keys.epoch, "gen": keys.generation, **known})
        shard = names.due_shard(owner, limits.DUE_SHARDS)
        soonest = max(at, vaults.clock() + timedelta(minutes=1)) if at else None
        mark: dict[str, Value] = {"due_at": rfc3339(soonest), "due_shard": shard} if soonest else {}
        unmarked = ("due_at", "due_shard")
        far = soonest is not None and soonest > vaults.clock() + limits.FOLD_AFTER
        head = Update(names.HEAD, set=mark, condition=condition)
        if far or not mark:
            head = Update(names.HEAD, remove=unmarked, condition=condition)
        writes: list[Write] = [head]
        if far:
            writes.append(Update(names.UPKEEP, set=mark))
        elif "due_at" in opened.items.get(names.UPKEEP, {}):
            writes.append(Update(names.UPKEEP, remove=unmarked))
        with suppress(Refused):
            vaults.table.write(owner, writes)
