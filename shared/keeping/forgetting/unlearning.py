"""Conversations that wait to be learned from: what is meant is taken out of them, and one of which nothing is left is deleted.

One that is cut is learned from by a new run with a plan of its own: a learner that read it before finds its run over. Whoever dies on the
way leaves a mark on the task, and the next visit cuts again, without counting, or finishes what is cut already.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import Changed, Refused, SealBroken
from shared.domain.ids import ulid
from shared.domain.task import PROGRESS, TaskStatus, Trigger
from shared.domain.times import rfc3339
from shared.keeping.forgetting.selection import Selection, strings
from shared.learning import tasks
from shared.learning.accepting import CONVERSATION, open_conversation
from shared.learning.conversation import Conversation, Message, from_body, to_body
from shared.learning.notes import Note, note_of
from shared.ports import Condition, Item, Queue, StoredObject, Update, Write
from shared.storage import bodies, names, objects
from shared.storage.vaults import Vaults
from shared.text.normalise import visible

FORGOTTEN = "forgotten"
"""The error of a task whose conversation was forgotten before it was learned from."""
CONVERSATIONS, NOTES = f"{PROGRESS}conversations", f"{PROGRESS}notes"
CUT = "cut"
"""Column of a task whose conversation is being cut: the plan that it had; what was taken out of it is counted."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A conversation that waits and that a selection means: what is left of it (None: nothing), how many `notes` go, and what it is
    stored as."""

    task_id: str
    key: str
    stored: StoredObject
    received_at: datetime
    left: Conversation | None
    notes: int

    @property
    def gone(self) -> dict[str, int]:
        """What is counted of it on the task that forgets."""
        return {NOTES: self.notes} if self.notes else {CONVERSATIONS: 1}


def said_of(note: Note) -> list[str]:
    """Return what a note says."""
    return [note.message, *note.key_points, note.topic or "", *note.tags]


def said_in(message: Message) -> list[str]:
    """Return what a message says, with what its tool calls were given: arguments travel as JSON in a text, which may spell 茶 as
    \\u8336."""
    given = list(strings(message.tool_calls))
    return [message.text, message.name or "", *given, *(text for one in given for text in _read(one))]


def _read(arguments: str) -> list[str]:
    with suppress(ValueError, RecursionError):
        return list(strings(json.loads(arguments)))
    return []


def heard(vaults: Vaults, keys: OwnerKeys, selection: Selection) -> Iterator[Heard]:
    """Yield the waiting conversations that are meant. A damaged one says nothing to anybody."""
    prefix = names.conversation(keys.owner, keys.epoch)
    for name in list(vaults.objects.names(prefix)):
        task_id = name.key.removeprefix(prefix)
        stored = vaults.objects.get(name.key)
        if stored is None:
            continue
        try:
            conversation, received_at = from_body(open_conversation(keys, task_id, stored.body))
        except SealBroken:
            continue
        left = _left(selection, conversation, received_at)
        if left is not conversation:
            notes = len(conversation.notes) - (len(left.notes) if left else 0)
            yield Heard(task_id, name.key, stored, received_at, left, notes)


def _left(selection: Selection, conversation: Conversation, received_at: datetime) -> Conversation | None:
    """Return the conversation without what is meant: the same where nothing is, None where nothing is left to learn from. One that was
    handed over as notes is judged by these, which were made before."""
    project = conversation.real_project()
    if conversation.notes:
        notes = [note_of(body) for body in conversation.notes]
        kept = [at for at, one in enumerate(notes) if not selection.wants_said(said_of(one), project, one.at)]
        if len(kept) == len(notes):
            return conversation
        messages = tuple(conversation.messages[at] for at in kept)
        return (
            replace(conversation, messages=messages, notes=tuple(conversation.notes[at] for at in kept))
            if kept
            else None
        )

    def wanted(texts: Sequence[str]) -> bool:
        return selection.wants_said(texts, project, received_at)

    if not wanted([text for one in conversation.messages for text in said_in(one)]):
        return conversation
    told = conversation.learned_from()
    cut = replace(conversation, messages=tuple(one for one in told if not wanted(said_in(one))))
    spoken = any(one.role == "user" and visible(one.text) for one in cut.messages)
    answered = conversation.trigger is not Trigger.TASK_COMPLETED or len(cut.messages) == len(told)
    return cut if spoken and answered and not wanted([text for one in cut.messages for text in said_in(one)]) else None


def unlearn(
    vaults: Vaults,
    keys: OwnerKeys,
    selection: Selection,
    counted: Callable[[Mapping[str, int]], Write | None],
    work: Queue | None,
) -> bool:
    """Take what is meant out of waiting conversations, each with the write that counts it; tell whether all is out: what a learner has
    begun to apply is waited for. A task of which nothing is left ends as forgotten."""
    whole, begun = True, _begun(vaults, keys)
    for one in heard(vaults, keys, selection):
        begun.pop(one.task_id, None)
        sk = names.TASK + one.task_id
        item = vaults.table.get(keys.owner, [sk]).get(sk)
        told = counted(one.gone)
        if one.left is None or item is None or "finished_at" in item or "size" not in item:
            _end(vaults, keys, item, told)
            vaults.objects.erase(one.key)
        elif int(item["applied"]) and item["status"] != TaskStatus.FAILED.value:
            whole = False
        elif int(item["applied"]):
            _end(vaults, keys, item, told)
            vaults.objects.erase(one.key)
        else:
            _cut(vaults, keys, one, one.left, item, told, work)
    for item in begun.values():
        _finish(vaults, keys, item, work)
    return whole


def _begun(vaults: Vaults, keys: OwnerKeys) -> dict[str, Item]:
    """Return the tasks whose conversations somebody began to cut and died."""
    prefix = names.conversation(keys.owner, keys.epoch)
    ids = [name.key.removeprefix(prefix) for name in vaults.objects.names(prefix)]
    found = vaults.table.get(keys.owner, [names.TASK + one for one in ids]) if ids else {}
    return {sk.removeprefix(names.TASK): item for sk, item in found.items() if CUT in item}


def _cut(
    vaults: Vaults, keys: OwnerKeys, one: Heard, left: Conversation, item: Item, told: Write | None, work: Queue | None
) -> None:
    """Seal a conversation anew without what is meant, and let a new run learn from it."""
    plans = {str(item[name]) for name in (CUT, "plan") if item.get(name)}
    anew: Item = {"run": int(item["run"]) + 1, "updated_at": rfc3339(vaults.clock())}
    anew |= {"plan": ulid(vaults.clock(), vaults.random), CUT: str(item.get("plan", ""))}
    if item["status"] != TaskStatus.FAILED.value:
        anew |= {"status": TaskStatus.QUEUED.value, "attempts": 0}
    begun = Update(
        names.TASK + one.task_id,
        set=anew,
        condition=Condition(equals={"run": item["run"], "applied": 0, "plan": item.get("plan"), "finished_at": None}),
    )
    sealed = objects.seal(keys, CONVERSATION, one.task_id, bodies.pack(to_body(left, one.received_at)), vaults.random)
    try:
        vaults.table.write(keys.owner, [begun, *([told] if told and CUT not in item else [])])
        for plan in plans:
            vaults.objects.erase(names.journal(keys.owner, keys.epoch, plan))
        vaults.objects.put(one.key, sealed, if_match=one.stored.etag)
    except (Refused, Changed):  # a learner was quicker: the next visit looks again
        return
    _finish(vaults, keys, {**item, **begun.set}, work, len(sealed))


def _finish(vaults: Vaults, keys: OwnerKeys, item: Item, work: Queue | None, size: int | None = None) -> None:
    """Remove what a conversation was before it was cut, give back its bytes, and let it be learned from."""
    task_id, run = str(item["sk"]).removeprefix(names.TASK), int(item["run"])
    key = names.conversation(keys.owner, keys.epoch, task_id)
    vaults.objects.erase(key, keep_current=True)
    before = int(item.get("size", 0))
    size = size if size is not None else sum(name.size for name in vaults.objects.names(key))
    condition = Condition(equals={"run": run, "size": before, "finished_at": None})
    smaller = Update(str(item["sk"]), set={"size": size}, remove=(CUT,), condition=condition)
    given_back = Update(names.HEAD, add={"bytes": size - before}, condition=Condition(equals={"epoch": keys.epoch}))
    with suppress(Refused):
        vaults.table.write(keys.owner, [smaller, given_back])
    if work is not None and item["status"] == TaskStatus.QUEUED.value:
        work.send(
            keys.owner,
            tasks.message(keys.owner, keys.epoch, task_id, run),
            deduplication=tasks.deduplication(task_id, run),
        )


def _end(vaults: Vaults, keys: OwnerKeys, item: Item | None, counted: Write | None) -> None:
    """Record why nothing is learned, and give the bytes of the conversation back."""
    if item is None or "finished_at" in item or "size" not in item:
        return
    now = vaults.clock()
    told = {"status": TaskStatus.FAILED.value, "error": FORGOTTEN, "updated_at": rfc3339(now)}
    ended = Update(
        str(item["sk"]),
        set=told | {"finished_at": rfc3339(now), "ttl": tasks.ttl(now)},
        remove=("size", CUT),
        condition=Condition(equals={"run": item["run"], "size": item["size"], "finished_at": None}),
    )
    smaller = Update(names.HEAD, add={"bytes": -int(item["size"])}, condition=Condition(exists=True))
    with suppress(Refused):
        vaults.table.write(keys.owner, [ended, smaller, *([counted] if counted else [])])
