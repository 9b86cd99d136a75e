"""What was begun before a request to forget and tells only later what it says: imports without their last page, and, where a selection
asks what only a memory has, the open session and conversations that wait.

A task that is done holds its selection as long as any of these is awaited (column AWAITED, ids only); what becomes of them is forgotten by
the next visit. Every one of them ends: a session in silence, an import after a day, a conversation a week after its task failed.
"""

from collections.abc import Mapping

from shared.domain.errors import SealBroken
from shared.domain.times import moment
from shared.keeping.forgetting.asking import AWAITED
from shared.keeping.forgetting.selection import Selection
from shared.keeping.importing import course
from shared.keeping.maintenance.visits import Visit
from shared.learning import tasks
from shared.ports import Item
from shared.storage import names
from shared.storage.partition import each_item

_SESSION = "session:"


def imports(visit: Visit, before: str, *, complete: bool) -> list[str]:
    """Return the imports begun before that task whose last page came, or has yet to come. One that does not open is complete."""
    every = each_item(visit.vaults.table, visit.owner, names.TASK)
    waiting = [item for item in every if item["kind"] == course.KIND and "finished_at" not in item]
    earlier = [item for item in waiting if course.task_of(item) < before]
    return [course.task_of(item) for item in earlier if _is_complete(visit, item) is complete]


def awaited(visit: Visit, selection: Selection, task_id: str) -> list[str]:
    """Return what may tell of what is meant when the task is done. The session is looked for first: if it ends now, its task is there."""
    found: list[str] = []
    if selection.asks_of_memories:
        session = _session(visit)
        if session is not None and int(session["notes"]) and moment(str(session["started_at"])) <= selection.asked_at:
            found.append(_SESSION + str(session["id"]))
        found += _conversations(visit)
    return found + imports(visit, task_id, complete=False)


def over(visit: Visit, task: Item) -> set[str]:
    """Return what of the awaited is over."""
    waits = str(task[AWAITED]).split()
    session = _session(visit)
    open_one = _SESSION + str(session["id"]) if session else ""
    sks = [names.TASK + one for one in waits if not one.startswith(_SESSION)]
    items: Mapping[str, Item] = visit.vaults.table.get(visit.owner, sks) if sks else {}
    return {one for one in waits if one != open_one and not _may_tell(items.get(names.TASK + one))}


def left(visit: Visit, task: Item, gone: set[str]) -> list[str]:
    """Return what is awaited still; of a session that ended, the conversations that it may have become."""
    stays = [one for one in str(task[AWAITED]).split() if one not in gone]
    ended = any(one.startswith(_SESSION) for one in gone)
    return list(dict.fromkeys([*stays, *(_conversations(visit) if ended else ())]))


def _session(visit: Visit) -> Item | None:
    return visit.vaults.table.get(visit.owner, [names.SESSION]).get(names.SESSION)


def _conversations(visit: Visit) -> list[str]:
    every = each_item(visit.vaults.table, visit.owner, names.TASK)
    return [course.task_of(item) for item in every if item["kind"] == tasks.KIND and _may_tell(item)]


def _may_tell(item: Item | None) -> bool:
    """Tell whether memories may come of a task yet: it holds a conversation, or an import's pages, and is not over."""
    return item is not None and "finished_at" not in item and "size" in item and "dry_run" not in item


def _is_complete(visit: Visit, item: Item) -> bool:
    try:
        return course.course_of(visit.opened.keys, item).complete
    except SealBroken:
        return True
