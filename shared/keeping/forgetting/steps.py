"""Forgetting, as steps of an owner's maintenance.

First, before repair, the memories are deleted in batches, each with its tombstones in one journal object; then what is meant of the
earlier versions of others is taken out of the journal, and out of documents what may be made of them. Then the visit's own steps do the
rest: the journal is purged, texts that rest on what is gone are cleared, the index is built without its predecessor. Last, when all of
them came to their end, the task is done: nothing of what was forgotten is left anywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from shared.domain import limits
from shared.domain.errors import ActiveLimitReached, NotFound, Refused, SealBroken, Unavailable, VersionMismatch
from shared.domain.memory import Status
from shared.domain.task import PROGRESS, TaskStatus
from shared.domain.times import epoch_seconds, rfc3339
from shared.keeping.forgetting import earlier, texts, traces
from shared.keeping.forgetting.asking import KIND, SELECTION, WAITING, Looked, selection_of
from shared.keeping.forgetting.earlier import Earlier
from shared.keeping.forgetting.families import Meant, archived, meant
from shared.keeping.forgetting.selection import Selection
from shared.keeping.maintenance.repairing import compare
from shared.keeping.maintenance.visits import OutOfTime, Step, Visit
from shared.observability import alarm
from shared.ports import Condition, Item, Update
from shared.storage import items, names, unreadable
from shared.storage.commit import Commits
from shared.storage.partition import each_item
from shared.storage.transactions import Change, Stale, StepDone, batches

FORGOTTEN = f"{PROGRESS}forgotten"
CONVERSATIONS = f"{PROGRESS}conversations"
TEXTS = f"{PROGRESS}texts"
EARLIER = f"{PROGRESS}earlier"
DAMAGED = f"{PROGRESS}damaged"
PLAN = "versions"
"""Column of a task: the earlier versions that are counted and being removed."""
EMPTIED = "emptied"
"""Column of a task whose memories are deleted: what is left to do is to see them gone from everywhere."""
TRIES = 3


@dataclass(frozen=True, slots=True)
class Forget:
    """Deletes what was asked to be forgotten. `clearing` steps take out of documents what may be made of it."""

    commits: Commits
    clearing: Sequence[Step] = ()
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
        return {"deleted": deleted}

    def _do(self, visit: Visit, task: Item, before: int) -> int:
        try:
            selection = selection_of(visit.opened.keys, task)
        except SealBroken:
            _end(visit, task, TaskStatus.FAILED, error="damaged")
            return 0
        traces.unnote(visit, selection)
        traces.unlearn(visit, selection, _counted(visit, task, {CONVERSATIONS: 1}))
        self._untell(visit, task, selection)
        deleted = self.forget(visit, task, selection, before)
        self._forget_earlier(visit, task, selection)
        if EMPTIED not in task:
            told = Update(
                str(task["sk"]), set={EMPTIED: 1}, condition=Condition(exists=True, equals={"finished_at": None})
            )
            with suppress(Refused):
                visit.vaults.table.write(visit.owner, [told])
        return deleted

    def _untell(self, visit: Visit, task: Item, selection: Selection) -> None:
        """Take out of documents the texts that are meant."""
        try:
            gone = texts.remove(
                self.commits, visit.opened.keys, selection, lambda count: _counted(visit, task, {TEXTS: count})
            )
        except StepDone:  # the task's life ended
            raise Unavailable from None
        visit.forgot = visit.forgot or gone > 0

    def forget(self, visit: Visit, task: Item, selection: Selection, before: int) -> int:
        """Delete what a selection means and count it on that task; return how many that were. Raises OutOfTime with `before` in it."""
        deleted = 0
        for _ in range(TRIES):
            found = _meant(visit, selection)
            traces.silence(visit, selection, found.tasks, _tasks(visit))
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
            if selection.wants_unread(memory_id):
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
            if _imports(visit, before=str(task["sk"]).removeprefix(names.TASK)):
                continue  # what they hold may be meant as well
            selection = selection_of(visit.opened.keys, task)
            if next(texts.found(visit.vaults, visit.opened.keys, selection), None) is not None:
                continue
            looked, past = Looked(visit.vaults, visit.opened.keys), Earlier(visit.vaults, visit.opened.keys, selection)
            if meant(selection, looked) or any(selection.wants_unread(one) for one, _ in unread(visit, selection)):
                continue
            left = sum(1 for _ in past)
            if past.unsettled:
                continue  # repair looks again at what a dead writer may have left
            if left:
                raise OutOfTime({"done": done})
            _end(visit, task, TaskStatus.DONE, damaged=looked.damaged + past.damaged)
            done += 1
        if done and _imports(visit):
            raise OutOfTime({"done": done})  # they waited for this
        return {"done": done}


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
    """Yield the memories that do not open and that the selection means, or may mean."""
    for item in each_item(visit.vaults.table, visit.owner, names.MEMORY):
        memory_id = str(item["sk"]).removeprefix(names.MEMORY)
        try:
            items.from_item(visit.opened.keys, item)
        except SealBroken:
            if selection.wants_unread(memory_id) is not False:
                yield memory_id, item


def open_tasks(visit: Visit) -> list[Item]:
    """Return the forget tasks that are not over; where none was asked for, nobody is looked through."""
    if int(visit.state.get(WAITING, 0)) <= 0:
        return []
    return [item for item in _tasks(visit) if item["kind"] == KIND and "finished_at" not in item]


def _imports(visit: Visit, before: str | None = None) -> bool:
    """Tell whether an import, one that was begun before that task, has pages still."""
    prefix = names.imports(visit.owner, visit.opened.keys.epoch)
    first = next(visit.vaults.objects.names(prefix), None)
    return first is not None and (before is None or first.key.removeprefix(prefix) < before)


def _tasks(visit: Visit) -> Iterator[Item]:
    return each_item(visit.vaults.table, visit.owner, names.TASK)


def _counted(visit: Visit, task: Item, counts: Mapping[str, int]) -> Update:
    now = rfc3339(visit.vaults.clock())
    return Update(
        str(task["sk"]),
        set={"updated_at": now, "status": TaskStatus.PROCESSING.value},
        add=counts,
        condition=Condition(exists=True, equals={"finished_at": None}),
    )


def _end(visit: Visit, task: Item, status: TaskStatus, *, error: str = "", damaged: int = 0) -> None:
    """End a task once; what it was to forget is not kept."""
    now = visit.vaults.clock()
    told = {"status": status.value, "updated_at": rfc3339(now), "finished_at": rfc3339(now)}
    ended = Update(
        str(task["sk"]),
        set=told
        | ({"error": error} if error else {})
        | ({DAMAGED: damaged} if damaged else {})
        | {"ttl": epoch_seconds(now + limits.TASK_KEPT)},
        remove=(SELECTION,),
        condition=Condition(exists=True, equals={"finished_at": None}),
    )
    with suppress(Refused):
        visit.vaults.table.write(visit.owner, [ended, Update(names.UPKEEP, add={WAITING: -1})])
        if error:
            alarm("task_failed", error=error)
