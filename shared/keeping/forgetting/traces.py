"""What else tells of memories that are forgotten: conversations that wait to be learned from, and the results of tasks."""

import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime

from shared.domain.errors import Refused, SealBroken
from shared.domain.ids import ulid_time
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.keeping.forgetting.selection import Selection
from shared.keeping.maintenance.visits import Visit
from shared.keeping.sessions.sessions import session_of
from shared.learning import tasks
from shared.learning.accepting import open_conversation
from shared.learning.conversation import Conversation, from_body
from shared.learning.notes import Note, note_of
from shared.ports import Condition, Delete, Item, Update, Write
from shared.storage import bodies, names
from shared.storage.partition import each_item

FORGOTTEN = "forgotten"
"""The error of a task whose conversation was forgotten before it was learned from."""


def unlearn(visit: Visit, selection: Selection, counted: Write) -> None:
    """Delete waiting conversations that are meant, and end their tasks, each with the write that counts one. A damaged one says
    nothing to anybody."""
    keys, objects = visit.opened.keys, visit.vaults.objects
    prefix = names.conversation(keys.owner, keys.epoch)
    for name in list(objects.names(prefix)):
        task_id = name.key.removeprefix(prefix)
        stored = objects.get(name.key)
        if stored is None:
            continue
        try:
            conversation, received_at = from_body(open_conversation(keys, task_id, stored.body))
        except SealBroken:
            continue
        if _wants(selection, conversation, received_at):
            _end(visit, task_id, counted)
            objects.erase(name.key)


def _wants(selection: Selection, conversation: Conversation, received_at: datetime) -> bool:
    """Tell whether a conversation is meant; one that was handed over as notes is where one of these is, which were made before."""
    project = conversation.real_project()
    if conversation.notes:
        return any(selection.wants_said(_said(note), project, note.at) for note in map(note_of, conversation.notes))
    return selection.wants_said("\n".join(one.text for one in conversation.messages), project, received_at)


def _said(note: Note) -> str:
    return "\n".join((note.message, *note.key_points, note.topic or "", *note.tags))


def unnote(visit: Visit, selection: Selection) -> None:
    """Delete notes of the open session that are meant: it counts them no more, so they become no memories."""
    table, keys = visit.vaults.table, visit.opened.keys
    session = table.get(visit.owner, [names.SESSION]).get(names.SESSION)
    if session is None:
        return
    project = session_of(keys, session).project
    for item in each_item(table, visit.owner, names.NOTE):
        place, sealed = str(item["sk"]).removeprefix(names.NOTE), item.get("sealed")
        try:
            note = note_of(bodies.unpack(keys.unseal("note", place, 1, int(item["gen"]), bytes(sealed))))  # type: ignore[arg-type]
        except SealBroken:
            continue
        if selection.wants_said(_said(note), project, note.at):
            fewer = Update(
                names.SESSION,
                add={"notes": -1, "size": -len(bytes(sealed))},  # type: ignore[arg-type]
                condition=Condition(equals={"id": place.partition("#")[0]}),
            )
            gone = Delete(str(item["sk"]), Condition(exists=True))
            bytes_gone = Update(names.HEAD, add={"bytes": -len(bytes(sealed))}, condition=Condition(exists=True))  # type: ignore[arg-type]
            with suppress(Refused):
                table.write(visit.owner, [gone, fewer, bytes_gone])


def silence(visit: Visit, selection: Selection, learned_by: Collection[str], items: Iterable[Item]) -> int:
    """Take the results out of tasks that learned what is meant, or that speak of it; return of how many."""
    count = 0
    for item in items:
        task_id = str(item["sk"]).removeprefix(names.TASK)
        sealed = item.get("sealed")
        learned = task_id in learned_by and item["kind"] == tasks.KIND  # of a consolidation only ids are left, for undo
        if not isinstance(sealed, bytes) or not (learned or _tells(visit, selection, task_id, item)):
            continue
        change = Update(str(item["sk"]), remove=("sealed",), condition=Condition(equals={"sealed": sealed}))
        with suppress(Refused):
            visit.vaults.table.write(visit.owner, [change])
            count += 1
    return count


def _tells(visit: Visit, selection: Selection, task_id: str, item: Item) -> bool:
    if not selection.words:  # a dry run learned nothing, and tells all the same what was said then
        return item["kind"] == tasks.KIND and selection.wants_said("", None, ulid_time(task_id))
    sealed = item["sealed"]
    try:
        run, generation = int(item["run"]), int(item["gen"])
        result = visit.opened.keys.unseal(tasks.RESULT, task_id, run, generation, bytes(sealed))  # type: ignore[arg-type]
    except SealBroken:
        return False
    return selection.finds(json.dumps(bodies.unpack(result), ensure_ascii=False))


def _end(visit: Visit, task_id: str, counted: Write) -> None:
    """Record why nothing is learned, and give the bytes of the conversation back."""
    sk, now = names.TASK + task_id, visit.vaults.clock()
    item = visit.vaults.table.get(visit.owner, [sk]).get(sk)
    if item is None or "finished_at" in item or "size" not in item:
        return
    told = {"status": TaskStatus.FAILED.value, "error": FORGOTTEN, "updated_at": rfc3339(now)}
    ended = Update(
        sk,
        set=told | {"finished_at": rfc3339(now), "ttl": tasks.ttl(now)},
        remove=("size",),
        condition=Condition(equals={"run": item["run"], "size": item["size"], "finished_at": None}),
    )
    smaller = Update(names.HEAD, add={"bytes": -int(item["size"])}, condition=Condition(exists=True))
    with suppress(Refused):
        visit.vaults.table.write(visit.owner, [ended, smaller, counted])
