"""Forgetting, as steps of an owner's maintenance.

First, before repair, the memories are deleted in batches, each with its tombstones in one journal object; then what is meant of the
earlier versions of others is taken out of the journal, and out of documents what may be made of them. Then the visit's own steps do the
rest: the journal is purged, texts that rest on what is gone are cleared, the index is built without its predecessor. Last, when all of
them came to their end, the task is done: nothing of what was forgotten is left anywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from shared.domain import limits
from shared.domain.errors import ActiveLimitReached, NotFound, Refused, SealBroken, Unavailable, VersionMismatch
from shared.domain.memory import Status
from shared.domain.task import PROGRESS, TaskStatus
from shared.domain.times import epoch_seconds, rfc3339
from shared.keeping.forgetting import awaiting, earlier, portrayals, texts, traces
from shared.keeping.forgetting.asking import AWAITED, KIND, SELECTION, WAITING, Looked, selection_of
from shared.keeping.forgetting.earlier import Earlier
from shared.keeping.forgetting.families import Meant, archived, meant
from shared.keeping.forgetting.selection import Selection
from shared.keeping.forgetting.unlearning import NOTES, heard, unlearn
from shared.keeping.maintenance.repairing import compare
from shared.keeping.maintenance.visits import OutOfTime, Step, Visit
from shared.observability import alarm
from shared.ports import Condition, Item, Queue, Update
from shared.storage import items, names, unreadable
from shared.storage.commit import Commits
from shared.storage.partition import each_item
from shared.storage.transactions import Change, Stale, StepDone, batches

FORGOTTEN = f"{PROGRESS}forgotten"
TEXTS = f"{PROGRESS}texts"
EARLIER = f"{PROGRESS}earlier"
DAMAGED = f"{PROGRESS}damaged"
SCENES = f"{PROGRESS}scenes"
PLAN = "versions"
"""Column of a task: the earlier versions that are counted and being removed."""
EMPTIED = "emptied"
"""Column of a task whose memories are deleted: what is left to do is to see them gone from everywhere."""
TRIES = 3
_NEVER = "~"
"""Sorts behind every id."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Deletes what was asked to be forgotten. `clearing` steps take out of documents what may be made of it; `work` is told of
    conversations that are to be learned from anew."""

    commits: Commits
    clearing: Sequence[Step] = ()
    work: Queue | None = None
    name: str = "forget"

    def run(self, visit: Visit) -> Mapping[str, int]:
        """Do every task that waits. Raises OutOfTime; what was deleted until then is counted on the task."""
        deleted = 0
        tasks = open_tasks(visit)
        begun = [task for task in tasks if task["status"] == TaskStatus.QUEUED.value]
        if begun and not visit.rebuilt:
            compare(self.commits, visit)  # what the table has lost is meant as well, and is not to come back later
        for task in begun:  # a comparison later on would do what a run that died was to count
            with suppress(Refused):
                visit.vaults.table.write(visit.owner, [_counted(visit, task, {})])
        for task in tasks:
            deleted += self._do(visit, task, deleted)
        for task in _awaiting(visit):
            deleted += self._go_on(visit, task, deleted)
        return {"deleted": deleted}

    def _go_on(self, visit: Visit, task: Item, before: int) -> int:
        """Delete what became of what a done task awaited; where nothing is left of it, await that no more."""
        gone = awaiting.over(visit, task)
        if not gone:
            return 0
        try:
            selection = selection_of(visit.opened.keys, task)
        except SealBroken:
            _await(visit, task, [])
            return 0
        deleted = self.forget(visit, task, selection, before)
        self._forget_earlier(visit, task, selection)
        if visit.forgot:
            visit.look_again(visit.now)  # to see nothing left of it
        else:
            _await(visit, task, awaiting.left(visit, task, gone))
        return deleted

    def _do(self, visit: Visit, task: Item, before: int) -> int:
        try:
            selection = selection_of(visit.opened.keys, task)
        except SealBroken:
            _end(visit, task, TaskStatus.FAILED, error="damaged")
            return 0
        place = visit.vaults, visit.opened.keys, selection
        counts = {SCENES: portrayals.counted(*place), TEXTS: sum(1 for _ in texts.found(*place))}
        found = {name: count for name, count in counts.items() if count}
        if found:  # counted before anything of them goes, for repair may finish what a dead visit began
            _write(visit, replace(_counted(visit, task, {}), set_once=found))
        traces.unnote(visit.vaults, visit.opened.keys, selection, _counted(visit, task, {NOTES: 1}))
        unlearn(visit.vaults, visit.opened.keys, selection, partial(_counted, visit, task), self.work)
        visit.forgot = texts.remove(self.commits, *place[1:]) or visit.forgot
        deleted = self.forget(visit, task, selection, before)
        self._forget_earlier(visit, task, selection)
        visit.forgot = portrayals.take(self.commits, visit.opened, selection) or visit.forgot
        if EMPTIED not in task:
            told = Update(
                str(task["sk"]), set={EMPTIED: 1}, condition=Condition(exists=True, equals={"finished_at": None})
            )
            with suppress(Refused):
                visit.vaults.table.write(visit.owner, [told])
        return deleted

    def forget(self, visit: Visit, task: Item, selection: Selection, before: int) -> int:
        """Delete what a selection means and count it on that task; return how many that were. Raises OutOfTime with `before` in it."""
        deleted = 0
        for _ in range(TRIES):
            found = _meant(visit, selection)
            traces.silence(visit, selection, found, _tasks(visit))
            for changes in (*batches(visit.opened.keys, found.alone), *found.families):
                visit.check_time({"deleted": before + deleted})
                deleted += self._delete(visit, task, changes, whole=changes in found.families)
            visit.forgot = visit.forgot or bool(found)
            if not found:
                break
        return deleted + self._unread(visit, task, selection)

    def _unread(self, visit: Visit, task: Item, selection: Selection) -> int:
        """Delete what is meant by its id alone and does not open, and of which no line opens either; return how many that were."""
        deleted = 0
        for memory_id, item in unread(visit, selection):
            try:
                unreadable.delete(self.commits, visit.opened.keys, memory_id, item, retired=True)
            except (NotFound, VersionMismatch, Stale):
                continue
            with suppress(Refused):
                visit.vaults.table.write(visit.owner, [_counted(visit, task, {FORGOTTEN: 1})])
            visit.forgot = True
            deleted += 1
        return deleted

    def _forget_earlier(self, visit: Visit, task: Item, selection: Selection) -> None:
        """Remove the earlier versions that are meant of memories that stay: planned and counted, then removed, so that each counts once."""
        plan = str(task.get(PLAN, ""))
        while True:
            if not plan:
                found = earlier.planned(visit, selection)
                if not found:
                    return
                plan = earlier.written(found)
                counted = _counted(visit, task, {EARLIER: len(found)})
                _write(visit, replace(counted, set={**counted.set, PLAN: plan}))
            visit.forgot = True
            places = earlier.read(plan)
            earlier.remove(visit, places)
            earlier.clear(visit, {memory_id for memory_id, _ in places}, self.clearing)
            _write(visit, replace(_counted(visit, task, {}), remove=(PLAN,)))
            plan = ""

    def _delete(self, visit: Visit, task: Item, changes: list[Change], *, whole: bool) -> int:
        """Make some changes; where one of them was changed meanwhile, the others of a batch one by one. The next round looks again."""
        gone = sum(1 for change in changes if change.after is None and _shown(change))
        step = _counted(visit, task, {FORGOTTEN: gone})
        try:
            self.commits.commit_together(visit.opened.keys, changes, whole=whole, step=step)
        except (Stale, StepDone):  # the owner's life ended, or the task's
            raise Unavailable from None
        except ActiveLimitReached:
            return self._delete(visit, task, list(archived(changes)), whole=whole)
        except (NotFound, VersionMismatch):
            if whole or len(changes) == 1:
                return 0
            return sum(self._delete(visit, task, [change], whole=False) for change in changes)
        return gone


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Ends the tasks whose memories are gone for good. The last step: a visit in which anything failed, or anything was still deleted,
    ends none."""

    name: str = "forgotten"

    def run(self, visit: Visit) -> Mapping[str, int]:
        if visit.troubled:
            return {}
        done = 0
        waiting = open_tasks(visit)
        if visit.forgot and waiting:
            raise OutOfTime  # the next visit, at once, takes out of the journal what this one cleared
        for task in waiting:
            task_id = str(task["sk"]).removeprefix(names.TASK)
            if awaiting.imports(visit, task_id, complete=True):
                continue  # what they hold may be meant as well
            selection = selection_of(visit.opened.keys, task)
            looked, past = Looked(visit.vaults, visit.opened.keys), Earlier(visit.vaults, visit.opened.keys, selection)
            if meant(selection, looked) or _stays(visit, selection):
                continue
            left = sum(1 for _ in past)
            if past.unsettled:
                continue  # repair looks again at what a dead writer may have left
            if left:
                raise OutOfTime({"done": done})
            waits = awaiting.awaited(visit, selection, task_id)
            _end(visit, task, TaskStatus.DONE, damaged=looked.damaged + past.damaged, waits=waits)
            done += 1
        if done and awaiting.imports(visit, _NEVER, complete=True):
            raise OutOfTime({"done": done})  # they waited for this
        return {"done": done}


def _stays(visit: Visit, selection: Selection) -> bool:
    """Whether anything besides memories that open is still there."""
    place = visit.vaults, visit.opened.keys, selection
    return (
        any(True for _ in texts.found(*place))
        or any(True for _ in unread(visit, selection))
        or any(heard(*place))
        or bool(portrayals.left(*place))
    )


def _shown(change: Change) -> bool:
    return change.before is not None and change.before.memory.status is not Status.RETIRED


def _meant(visit: Visit, selection: Selection) -> Meant:
    return meant(selection, Looked(visit.vaults, visit.opened.keys))


def _write(visit: Visit, change: Update) -> None:
    """Write to a task that is not over. Raises Unavailable where it is."""
    try:
        visit.vaults.table.write(visit.owner, [change])
    except Refused:
        raise Unavailable from None


def unread(visit: Visit, selection: Selection) -> Iterator[tuple[str, Item]]:
    """Yield the memories that do not open and that the selection means by their ids alone."""
    for item in each_item(visit.vaults.table, visit.owner, names.MEMORY):
        memory_id = str(item["sk"]).removeprefix(names.MEMORY)
        try:
            items.from_item(visit.opened.keys, item)
        except SealBroken:
            if selection.wants_unread(memory_id):
                yield memory_id, item


def open_tasks(visit: Visit) -> list[Item]:
    """Return the forget tasks that are not over; where none was asked for, nobody is looked through."""
    if int(visit.state.get(WAITING, 0)) <= 0:
        return []
    return [item for item in _tasks(visit) if item["kind"] == KIND and "finished_at" not in item]


def _awaiting(visit: Visit) -> list[Item]:
    """Return the tasks that are done but for what they await."""
    if int(visit.state.get(WAITING, 0)) <= 0:
        return []
    return [item for item in _tasks(visit) if item["kind"] == KIND and AWAITED in item]


def _tasks(visit: Visit) -> Iterator[Item]:
    return each_item(visit.vaults.table, visit.owner, names.TASK)


def _counted(visit: Visit, task: Item, counts: Mapping[str, int]) -> Update:
    told = {"updated_at": rfc3339(visit.vaults.clock())}
    if AWAITED in task:
        return Update(str(task["sk"]), set=told, add=counts, condition=Condition(equals={AWAITED: task[AWAITED]}))
    return Update(
        str(task["sk"]),
        set=told | {"status": TaskStatus.PROCESSING.value},
        add=counts,
        condition=Condition(exists=True, equals={"finished_at": None}),
    )


def _await(visit: Visit, task: Item, waits: Sequence[str]) -> None:
    """Let a done task await these; where there are none, what it was to forget is not kept."""
    same = Condition(equals={AWAITED: task[AWAITED]})
    change = Update(str(task["sk"]), set={AWAITED: " ".join(waits)}, condition=same)
    over = [
        Update(str(task["sk"]), remove=(AWAITED, SELECTION), condition=same),
        Update(names.UPKEEP, add={WAITING: -1}),
    ]
    with suppress(Refused):
        visit.vaults.table.write(visit.owner, [change] if waits else over)


def _end(
    visit: Visit, task: Item, status: TaskStatus, *, error: str = "", damaged: int = 0, waits: Sequence[str] = ()
) -> None:
    """End a task once; what it was to forget is not kept, but for what it awaits."""
    now = visit.vaults.clock()
    told: dict[str, str | int] = {"status": status.value, "updated_at": rfc3339(now), "finished_at": rfc3339(now)}
    told |= {"error": error} if error else {}
    told |= {DAMAGED: damaged} if damaged else {}
    told |= {AWAITED: " ".join(waits)} if waits else {}
    ended = Update(
        str(task["sk"]),
        set=told | {"ttl": epoch_seconds(now + limits.TASK_KEPT)},
        remove=() if waits else (SELECTION,),
        condition=Condition(exists=True, equals={"finished_at": None}),
    )
    over = [] if waits else [Update(names.UPKEEP, add={WAITING: -1})]
    with suppress(Refused):
        visit.vaults.table.write(visit.owner, [ended, *over])
        if error:
            alarm("task_failed", error=error)
