"""What else tells of memories that are forgotten: notes of the open session, and the results of tasks."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import Refused, SealBroken
from shared.domain.ids import ulid_time
from shared.keeping.forgetting.families import Meant
from shared.keeping.forgetting.selection import Selection, strings
from shared.keeping.forgetting.unlearning import said_of
from shared.keeping.maintenance.visits import Visit
from shared.keeping.sessions.kept import session_of
from shared.learning import tasks
from shared.learning.notes import note_of
from shared.ports import Condition, Delete, Item, Update, Write
from shared.storage import bodies, names
from shared.storage.partition import each_item
from shared.storage.vaults import Vaults


def noted(vaults: Vaults, keys: OwnerKeys, selection: Selection) -> Iterator[Item]:
    """Yield the notes of the open session that are meant."""
    session = vaults.table.get(keys.owner, [names.SESSION]).get(names.SESSION)
    if session is None:
        return
    project = session_of(keys, session).project
    for item in each_item(vaults.table, keys.owner, f"{names.NOTE}{session['id']!s}#"):
        place, sealed = str(item["sk"]).removeprefix(names.NOTE), item.get("sealed")
        try:
            note = note_of(bodies.unpack(keys.unseal("note", place, 1, int(item["gen"]), bytes(sealed))))  # type: ignore[arg-type]
        except SealBroken:
            continue
        if selection.wants_said(said_of(note), project, note.at):
            yield item


def unnote(vaults: Vaults, keys: OwnerKeys, selection: Selection, counted: Write | None = None) -> None:
    """Delete notes of the open session that are meant, each with the write that counts one: it counts them no more, so they become no
    memories."""
    for item in noted(vaults, keys, selection):
        session_id, size = str(item["sk"]).removeprefix(names.NOTE).partition("#")[0], len(bytes(item["sealed"]))  # type: ignore[arg-type]
        same = Condition(equals={"id": session_id})
        fewer = Update(names.SESSION, add={"notes": -1, "size": -size}, condition=same)
        gone = Delete(str(item["sk"]), Condition(exists=True))
        bytes_gone = Update(names.HEAD, add={"bytes": -size}, condition=Condition(exists=True))
        with suppress(Refused):
            vaults.table.write(keys.owner, [gone, fewer, bytes_gone, *([counted] if counted else [])])


def silence(visit: Visit, selection: Selection, found: Meant, items: Iterable[Item]) -> int:
    """Take the results out of tasks that learned what is meant, or that speak of it; return of how many."""
    count = 0
    for item in items:
        task_id = str(item["sk"]).removeprefix(names.TASK)
        sealed = item.get("sealed")
        # of a consolidation only ids are left, for undo
        learned = task_id in found.tasks and item["kind"] == tasks.KIND
        if not isinstance(sealed, bytes) or not (learned or _tells(visit, selection, found, item)):
            continue
        change = Update(str(item["sk"]), remove=("sealed",), condition=Condition(equals={"sealed": sealed}))
        with suppress(Refused):
            visit.vaults.table.write(visit.owner, [change])
            count += 1
    return count


def _tells(visit: Visit, selection: Selection, found: Meant, item: Item) -> bool:
    """Tell whether a result says the words or, where none are sent, is of what was said then and there. What a dry run would have made
    is judged as the memory it did not become."""
    if item["kind"] != tasks.KIND and not selection.words:
        return False
    try:
        result = tasks.result_of(visit.opened.keys, item)
    except SealBroken:
        return False
    if selection.words:
        return selection.finds("\n".join(strings(result)))
    at = ulid_time(str(item["sk"]).removeprefix(names.TASK))
    planned = result.get("would_learn") or ()
    return selection.wants_said([], result.get("project"), at) or any(
        one["memory_id"] in found.memories or selection.wants_planned(one, at) for one in planned
    )
