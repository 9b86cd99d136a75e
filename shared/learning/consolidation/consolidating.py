"""The step of maintenance that consolidates: group by group a plan is made, kept on its task, and carried out merge by merge.

The plan is written together with the mark that the group's day is over; each merge counts itself on the task in its own transaction. So a
visit that ends anywhere goes on with the same plan, and no model is asked twice. What was learned meanwhile is not in the plan and stays.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from shared.domain.errors import Duplicate, NotFound, QuotaExceeded, Refused, SealBroken, Unavailable, VersionMismatch
from shared.domain.ids import ulid
from shared.domain.memory import Origin
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.keeping.maintenance.visits import Visit
from shared.learning import tasks
from shared.learning.consolidation import groups, records
from shared.learning.consolidation.groups import Group
from shared.learning.consolidation.judging import Merge, Refusal
from shared.learning.consolidation.merging import merged
from shared.learning.consolidation.proposing import Proposed, Proposer, Unfit
from shared.learning.consolidation.records import Plan, Planned
from shared.learning.extractor import Cost
from shared.observability import alarm
from shared.ports import Check, Condition, Item, Put, Update, Value, Write
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.transactions import Stale, StepDone

OPEN = "consolidating"
"""Of maintenance's own memory: the task whose plan is being carried out."""
DAMAGED = "damaged"
"""The error of a task whose plan does not open."""


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Consolidates the groups of an owner that are due."""

    commits: Commits
    proposer: Proposer
    name: str = "consolidation"

    def run(self, visit: Visit) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        if OPEN in visit.state:
            self._carry_out(visit, str(visit.state[OPEN]), counts)
        for group in groups.due(visit):
            visit.check_time(counts)
            counts["groups"] += 1
            try:
                proposed = self.proposer.propose(group, visit.time_left())
                plan = self._plan(visit, group, proposed)
            except Unfit as unfit:
                self._refuse(visit, group, unfit)
                counts["refused"] += 1
                continue
            if not plan.merges and not proposed.cost.calls:
                visit.note(**{groups.LAST + group.tag: visit.vaults.clock()})
                continue
            self._carry_out(visit, self._begin(visit, group, plan, proposed.cost), counts)
        if counts["groups"]:
            visit.note(**{groups.OWNER_LAST: visit.vaults.clock()})
        return counts

    def _plan(self, visit: Visit, group: Group, proposed: Proposed) -> Plan:
        """Return the plan of sound merges. Raises Unfit where a new text is one of the owner's already, dismissed ones among them."""
        members = {member.id: member for member in group.members}
        keys, vaults = visit.opened.keys, visit.vaults
        now = vaults.clock()
        tags: dict[str, Merge] = {}
        for merge in proposed.merges:
            if merge.content is not None:
                tags[items.dedup_tag(keys, replace(members[merge.sources[0]], content=merge.content))] = merge
        found = vaults.table.get(visit.owner, [names.DEDUP + tag for tag in tags]) if tags else {}
        for sk, item in found.items():
            if item["memory"] not in tags[sk.removeprefix(names.DEDUP)].sources:
                raise Unfit(Refusal.KNOWN, proposed.cost)
        merges = tuple(
            Planned(
                tuple((source, members[source].version) for source in merge.sources),
                ulid(now, vaults.random) if merge.content is not None else None,
                merge.content,
            )
            for merge in proposed.merges
        )
        return Plan(group.scope.value, group.project, proposed.model, merges)

    def _begin(self, visit: Visit, group: Group, plan: Plan, cost: Cost) -> str:
        """Store the task with its plan and return its id."""
        now, random = visit.vaults.clock(), visit.vaults.random
        task_id = ulid(now, random)
        item = records.new_item(task_id, now, TaskStatus.PROCESSING, asdict(cost))
        item |= records.sealed(visit.opened.keys, task_id, plan, random, texts=True)
        self._store(visit, group, item, cost, {OPEN: task_id})
        return task_id

    def _refuse(self, visit: Visit, group: Group, unfit: Unfit) -> None:
        """Store a task that says why nothing of the group was changed, and tell the operator."""
        now, random = visit.vaults.clock(), visit.vaults.random
        task_id = ulid(now, random)
        item = records.new_item(task_id, now, TaskStatus.FAILED, asdict(unfit.cost))
        nothing = Plan(group.scope.value, group.project, "", ())
        item |= records.sealed(visit.opened.keys, task_id, nothing, random, texts=False)
        item |= {"error": unfit.code, "ttl": tasks.ttl(now)}
        self._store(visit, group, item, unfit.cost, {})
        alarm("task_failed", kind=tasks.CONSOLIDATION, error=unfit.code, provider_status=unfit.answered)

    def _store(self, visit: Visit, group: Group, item: Item, cost: Cost, noted: dict[str, Value]) -> None:
        now = visit.vaults.clock()
        noted = {groups.LAST + group.tag: rfc3339(now), **noted}
        spent = {name: count for name, count in asdict(cost).items() if count}
        writes: list[Write] = [
            Put(item, Condition(absent=True)),
            Update(names.UPKEEP, set=noted),
            Check(names.HEAD, Condition(equals={"epoch": visit.opened.keys.epoch})),
        ]
        if spent:
            writes.append(Update(names.usage(now), set={"ttl": tasks.ttl(now)}, add=spent))
        try:
            visit.vaults.table.write(visit.owner, writes)
        except Refused:
            raise Unavailable from None
        visit.state |= noted

    def _carry_out(self, visit: Visit, task_id: str, counts: Counter[str]) -> None:
        """Do what of the plan is not done yet. A merge whose sources are not as they were judged is skipped."""
        table, sk, keys = visit.vaults.table, names.TASK + task_id, visit.opened.keys
        item = table.get(visit.owner, [sk]).get(sk)
        if item is None or item["status"] != TaskStatus.PROCESSING.value:
            self._close(visit, [])
            return
        try:
            plan = records.plan_of(keys, item)
        except SealBroken:
            self._give_up(visit, task_id)
            return
        while int(item["applied"]) < len(plan.merges):
            visit.check_time(counts)
            with suppress(StepDone):
                counts[self._merge(visit, task_id, item, plan)] += 1
            item = table.get(visit.owner, [sk]).get(sk, {})
            if item.get("status") != TaskStatus.PROCESSING.value:
                raise Unavailable
        self._finish(visit, item, plan)

    def _merge(self, visit: Visit, task_id: str, item: Item, plan: Plan) -> str:
        """Carry out the next merge of the plan; return as what it counts. Raises StepDone where another run did it."""
        keys = visit.opened.keys
        merge = plan.merges[int(item["applied"])]
        kind = "merged" if merge.product else "dropped"
        sources = self._sources(visit, merge)
        origin = Origin(task_id=task_id, at=visit.vaults.clock(), model=plan.model)
        changes = merged(keys, merge, sources, visit.vaults.clock(), origin) if sources else None
        if changes is not None:
            try:
                self.commits.commit_together(keys, changes, whole=True, step=self._progress(item, kind))
            except Stale:
                raise Unavailable from None
            except (Duplicate, NotFound, VersionMismatch, QuotaExceeded):
                pass  # somebody was there first, or there is no room for one more line: this merge is not to be
            else:
                return kind
        try:
            visit.vaults.table.write(visit.owner, [self._progress(item, "skipped")])
        except Refused:
            raise StepDone from None
        return "skipped"

    def _sources(self, visit: Visit, merge: Planned) -> Sequence[Stored] | None:
        """Return the sources as they stand; None where one is not what was judged."""
        found = visit.vaults.table.get(visit.owner, [names.MEMORY + memory_id for memory_id in merge.ids])
        sources: list[Stored] = []
        for memory_id, version in merge.sources:
            item = found.get(names.MEMORY + memory_id)
            if item is None or item["version"] != version:
                return None
            with suppress(SealBroken):
                sources.append(items.from_item(visit.opened.keys, item))
        days = visit.preferences.retention_days
        sound = len(sources) == len(merge.sources)
        return sources if sound and all(groups.mergeable(one.memory, visit.now, days) for one in sources) else None

    def _progress(self, item: Item, counts: str) -> Update:
        """Return the write that counts a merge on its task, on the condition that it was not counted yet."""
        changed: dict[str, Value] = {"updated_at": rfc3339(self.commits.vaults.clock())}
        if counts == "skipped":
            changed["left"] = records.listed([*records.numbers(item, "left"), int(item["applied"])])
        condition = Condition(equals={"applied": item["applied"], "status": TaskStatus.PROCESSING.value})
        return Update(str(item["sk"]), set=changed, add={"applied": 1, counts: 1}, condition=condition)

    def _finish(self, visit: Visit, item: Item, plan: Plan) -> None:
        """Mark the task done and take its texts away: ids are enough for undo."""
        now, task_id = self.commits.vaults.clock(), str(item["sk"]).removeprefix(names.TASK)
        done: dict[str, Value] = {
            "status": TaskStatus.DONE.value,
            "updated_at": rfc3339(now),
            "finished_at": rfc3339(now),
        }
        told = records.sealed(visit.opened.keys, task_id, plan, visit.vaults.random, texts=False)
        condition = Condition(equals={"status": TaskStatus.PROCESSING.value})
        self._close(visit, [Update(str(item["sk"]), set=done | told | {"ttl": tasks.ttl(now)}, condition=condition)])

    def _give_up(self, visit: Visit, task_id: str) -> None:
        """Fail a task whose plan does not open: what of it was done stays done, and the group's next day comes."""
        now = visit.vaults.clock()
        failed: dict[str, Value] = {"status": TaskStatus.FAILED.value, "error": DAMAGED, "ttl": tasks.ttl(now)}
        failed |= {"updated_at": rfc3339(now), "finished_at": rfc3339(now)}
        condition = Condition(equals={"status": TaskStatus.PROCESSING.value})
        self._close(visit, [Update(names.TASK + task_id, set=failed, remove=("sealed",), condition=condition)])
        alarm("task_failed", kind=tasks.CONSOLIDATION, error=DAMAGED)

    def _close(self, visit: Visit, writes: list[Update]) -> None:
        with suppress(Refused):
            visit.vaults.table.write(visit.owner, [*writes, Update(names.UPKEEP, remove=(OPEN,))])
        visit.state.pop(OPEN, None)
