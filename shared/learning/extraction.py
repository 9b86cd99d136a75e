"""Learning from one conversation: delivered at least once, learned exactly once.

The task's journal object is its plan. Whoever writes it first decides what is learned; every later delivery applies that plan, step by
step, and each step's transaction counts itself on the task, so that no step happens twice and nothing deleted meanwhile comes back.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.drafts import refuse_silence
from shared.domain.errors import ActiveLimitReached as LimitReached
from shared.domain.errors import (
    AlreadyThere,
    Changed,
    Duplicate,
    Invalid,
    NotFound,
    QuotaExceeded,
    Refused,
    SealBroken,
    Unavailable,
    VersionMismatch,
)
from shared.domain.ids import ulid
from shared.domain.task import LEARNED, TaskStatus
from shared.domain.times import rfc3339
from shared.learning import tasks
from shared.learning.accepting import open_conversation
from shared.learning.comparison import Comparison
from shared.learning.conversation import from_body
from shared.learning.extractor import Cost, Extractor, Interrupted, Unwilling
from shared.learning.new_facts import ask_for_persona, ask_to_forget
from shared.learning.planning import Plan, Planner, Step, would_learn
from shared.observability import alarm
from shared.ports import Condition, Item, Update, Write
from shared.storage import bodies, documents, items, lines, names
from shared.storage.commit import Commits
from shared.storage.items import Sealed
from shared.storage.preferences import preferences_of
from shared.storage.transactions import Stale, StepDone
from shared.storage.vaults import Opened

PLAN = lines.PLAN


class Failed(StrEnum):
    """Why a task failed, as its owner sees it."""

    CONVERSATION_LOST = "conversation_lost"
    CONVERSATION_DAMAGED = "conversation_damaged"
    QUOTA_EXCEEDED = "quota_exceeded"
    NOT_AVAILABLE = "not_available"
    INTERNAL = "internal"


class GivesUp(Exception):
    """The task cannot be done however often it is tried; `reason` is for its owner: one of Failed, or the extractor's own.

    `answered` is the status that a model's provider refused with.
    """

    def __init__(self, reason: str, answered: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.answered = reason, answered


class Over(Exception):
    """Nothing is left to do: another delivery did it, or the owner's life that it belonged to ended."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The use case of the extraction function."""

    commits: Commits
    planner: Planner
    extractor: Extractor
    comparison: Comparison

    def learn(self, owner: str, epoch: int, task_id: str, run: int, *, afresh: bool = False) -> dict[str, int]:
        """Do one delivery of a task. Returns its counts when it is done or has failed for good; raises when it should be tried again.

        `afresh`: the queue delivers the message for the first time. Of a task that has failed, this is how one looks that an operator
        sent back from the dead letters, and the task is tried again.
        """
        try:
            return self._learn(owner, epoch, task_id, run, afresh)
        except Over:
            return {"over": 1}
        except GivesUp as given_up:
            self.fail(owner, task_id, run, given_up.reason, given_up.answered)
            return {"failed": 1}
        except Stale:
            self.commits.vaults.forget(owner)
            raise Unavailable from None

    def fail(self, owner: str, task_id: str, run: int, reason: str, answered: int | None = None) -> None:
        """Record that a run failed, and tell the operator; its conversation stays for the owner's retry. A task that ended otherwise
        stays as it is. `answered` is the HTTP status of a model's provider, by which a wrong key is told from a wrong address.
        """
        now = self.commits.vaults.clock()
        change = Update(
            names.TASK + task_id,
            set={
                "status": TaskStatus.FAILED.value,
                "error": reason,
                "updated_at": rfc3339(now),
                "ttl": tasks.ttl(now),
            },
            condition=Condition(equals={"run": run, "finished_at": None}),
        )
        try:
            self.commits.vaults.table.write(owner, [change])
        except Refused:
            return
        alarm("task_failed", error=reason, provider_status=answered)

    def _learn(self, owner: str, epoch: int, task_id: str, run: int, afresh: bool) -> dict[str, int]:
        sk = names.TASK + task_id
        opened = self.commits.vaults.open(owner, [sk, names.SETTINGS, names.UPKEEP])
        if opened is None or opened.keys.epoch != epoch or sk not in opened.items:
            raise Over
        task = opened.items[sk]
        if task["status"] == TaskStatus.DONE.value:
            self._forget_conversation(opened.keys, task_id)
            raise Over
        if task["run"] != run or (task["status"] == TaskStatus.FAILED.value and not afresh):
            raise Over
        task = self._begin(owner, sk, run)
        if "dry_run" in task:
            plan = self._decide(opened, task_id, str(task["plan"]), task)
            result = {"summary": plan.summary, "would_learn": would_learn(plan), "project": plan.project}
            self._finish(opened.keys, task, result, plan)
            return {"dry_run": 1}
        plan, commit = self._plan(opened, task_id, task)
        try:
            task = self._apply(opened.keys, task, plan, commit)
            learned = self._refuse(opened.keys, task, plan, commit)
            told = {"memory_ids": learned, "summary": plan.summary, "project": plan.project}
            self._finish(opened.keys, task, told, plan, self._scene(opened.keys, plan))
        except Over:
            self._take_back(opened.keys, sk, commit)
            raise
        ask_for_persona(self.commits.maintenance, opened, int(task.get("inserted", 0)))
        ask_to_forget(self.commits.maintenance, opened, task_id)
        return {name: int(task[name]) for name in LEARNED if name in task}

    def _begin(self, owner: str, sk: str, run: int) -> Item:
        """Count the attempt and fix the commit that the plan has or will have."""
        vaults = self.commits.vaults
        now = vaults.clock()
        change = Update(
            sk,
            set={"status": TaskStatus.PROCESSING.value, "updated_at": rfc3339(now)},
            set_once={"plan": ulid(now, vaults.random)},
            add={"attempts": 1},
            condition=Condition(equals={"run": run, "finished_at": None}),
        )
        try:
            return vaults.table.update(owner, change)
        except Refused:
            raise Over from None

    def _plan(self, opened: Opened, task_id: str, task: Item) -> tuple[Plan, str]:
        """Return the plan: the stored one, or a new one that is stored first."""
        keys, commit = opened.keys, str(task["plan"])
        key = names.journal(keys.owner, keys.epoch, commit)
        stored = self.commits.vaults.objects.get(key)
        if stored is None and task["applied"]:
            raise GivesUp(Failed.CONVERSATION_LOST)
        if stored is None:
            plan = self._decide(opened, task_id, commit, task)
            beside = [self._header(keys, task_id, plan)] + ([plan.scene] if plan.scene else [])
            plan.beside = len(lines.encode(beside))
            body = lines.encode([*beside, *(step.sealed.line for step in plan.steps if step.sealed)])
            try:
                self.commits.vaults.objects.put(key, body, if_absent=True)
            except AlreadyThere:
                stored = self.commits.vaults.objects.get(key)
            else:
                return plan, commit
        if stored is None:
            raise Unavailable
        return self._read(keys, stored.body), commit

    def _decide(self, opened: Opened, task_id: str, commit: str, task: Item) -> Plan:
        keys, vaults = opened.keys, self.commits.vaults
        stored = vaults.objects.get(names.conversation(keys.owner, keys.epoch, task_id))
        if stored is None:
            raise GivesUp(Failed.CONVERSATION_LOST)
        try:
            conversation, received_at = from_body(open_conversation(keys, task_id, stored.body))
        except SealBroken:
            raise GivesUp(Failed.CONVERSATION_DAMAGED) from None
        known = partial(self.comparison.known, opened, conversation)
        try:
            extracted = self.extractor.extract(conversation, received_at, preferences_of(opened), known)
        except Unwilling as unwilling:
            self._spent(keys, task, unwilling.cost)
            raise GivesUp(unwilling.code, unwilling.answered) from None
        except Interrupted as interrupted:
            self._spent(keys, task, interrupted.cost)
            raise interrupted.problem from None
        self._spent(keys, task, extracted.cost, extracted.quarantined)
        present = self._present(opened) if extracted.cost.calls else opened
        return self.planner.plan(present, task_id, commit, conversation, received_at, extracted)

    def _present(self, opened: Opened) -> Opened:
        """Return the owner as of now: while a model was asked, memories came and went."""
        present = self.commits.vaults.open(opened.keys.owner)
        if present is None or present.keys.epoch != opened.keys.epoch:
            raise Over
        return present

    def _spent(self, keys: OwnerKeys, task: Item, cost: Cost, quarantined: int = 0) -> None:
        """Count what a model cost, on the task and for the owner's day; and the orders that were kept out."""
        counts = {"calls": cost.calls, "tokens_in": cost.tokens_in, "tokens_out": cost.tokens_out}
        spent = {name: count for name, count in counts.items() if count}
        noted: dict[str, int | str | bytes] = {"quarantined": quarantined} if quarantined else {}
        if not spent and not noted:
            return
        now = self.commits.vaults.clock()
        condition = Condition(equals={"run": task["run"], "finished_at": None})
        writes: list[Write] = [Update(str(task["sk"]), set=noted, add=spent, condition=condition)]
        if spent:
            writes.append(Update(names.usage(now), set={"ttl": tasks.ttl(now)}, add=spent))
        try:
            self.commits.vaults.table.write(keys.owner, writes)
        except Refused:
            raise Over from None

    def _header(self, keys: OwnerKeys, task_id: str, plan: Plan) -> lines.Line:
        body = {
            "steps": [[step.memory_id, step.counts] for step in plan.steps],
            "discarded": plan.discarded,
            "summary": plan.summary,
            "project": plan.project,
            "model": plan.model,
        }
        sealed = keys.seal(PLAN, task_id, 1, bodies.pack(body), self.commits.vaults.random)
        return lines.Line(PLAN, task_id, 1, keys.generation, sealed)

    def _read(self, keys: OwnerKeys, stored: bytes) -> Plan:
        """Read a stored plan; the header keeps every step in its place."""
        header, *rest = lines.decode(stored)
        if header.kind != PLAN:  # its task is done: repair has taken it out
            raise Over
        body = bodies.unpack(keys.unseal(PLAN, header.id, header.version, header.generation, header.sealed))
        sealed: dict[str, Sealed] = {}
        scene = next((line for line in rest if line.kind == lines.SCENE), None)
        for line in rest:
            if line is scene:
                continue
            memory = items.from_line(keys, line)
            scope = items.scope_tag(keys, memory.scope, memory.project, memory.agent)
            sealed[memory.id] = Sealed(memory, line, scope, items.dedup_tag(keys, memory))
        steps = [Step(counts, memory_id, sealed.get(memory_id)) for memory_id, counts in body["steps"]]
        beside = len(lines.encode([header, scene] if scene else [header]))
        return Plan(steps, body["discarded"], body["summary"], body["model"], scene, body.get("project"), beside)

    def _apply(self, keys: OwnerKeys, task: Item, plan: Plan, commit: str) -> Item:
        """Apply the steps that are not applied yet; return the task as it then stands."""
        sk, run = str(task["sk"]), task["run"]
        while int(task["applied"]) < len(plan.steps):
            with suppress(StepDone):
                self._step(keys, task, plan.steps[int(task["applied"])], commit)
            task = self.commits.vaults.table.get(keys.owner, [sk]).get(sk, {})
            if task.get("run") != run or "finished_at" in task:
                raise Over
        return task

    def _step(self, keys: OwnerKeys, task: Item, step: Step, commit: str) -> None:
        """Apply one step, or count it as discarded where the memory has moved on, is damaged or says nothing.

        Raises StepDone when another delivery did it.
        """
        sealed = step.sealed
        if sealed is None:
            return self._discard(keys, task, step)
        version = sealed.memory.version
        try:
            refuse_silence(sealed.memory)
            before = self._standing(keys, step.memory_id, version - 1) if version > 1 else None
            progress = self._progress(task, step.counts)
            self.commits.apply(keys, before, sealed, commit, len(sealed.line.encode()), progress)
        except QuotaExceeded:
            raise GivesUp(Failed.QUOTA_EXCEEDED) from None
        except (Duplicate, Invalid, NotFound, VersionMismatch, LimitReached, SealBroken):
            self._discard(keys, task, step)

    def _discard(self, keys: OwnerKeys, task: Item, step: Step) -> None:
        refused = f"{task.get('refused', '')!s}{step.memory_id} "
        try:
            self.commits.vaults.table.write(keys.owner, [self._progress(task, "discarded", refused)])
        except Refused:
            raise StepDone from None

    def _standing(self, keys: OwnerKeys, memory_id: str, version: int) -> items.Stored:
        sk = names.MEMORY + memory_id
        item = self.commits.vaults.table.get(keys.owner, [sk]).get(sk)
        if item is None:
            raise NotFound
        if item["version"] != version:
            raise VersionMismatch
        return items.from_item(keys, item)

    def _progress(self, task: Item, counts: str, refused: str = "") -> Update:
        """Make the write that counts a step, on the condition that it was not counted yet."""
        changed: Item = {"updated_at": rfc3339(self.commits.vaults.clock())}
        if refused:
            changed["refused"] = refused
        condition = Condition(equals={"applied": task["applied"], "run": task["run"], "finished_at": None})
        return Update(str(task["sk"]), set=changed, add={"applied": 1, counts: 1}, condition=condition)

    def _refuse(self, keys: OwnerKeys, task: Item, plan: Plan, commit: str) -> list[str]:
        """Take refused lines out of the plan and return the memories that were learned."""
        refused = set(str(task.get("refused", "")).split())
        if refused:
            self._drop(keys, commit, refused)
        made = [step.memory_id for step in plan.steps if step.counts != "archived"]
        return [memory_id for memory_id in made if memory_id not in refused]

    def _scene(self, keys: OwnerKeys, plan: Plan) -> Update | None:
        """Return the write that makes the plan's summary the project's; None where a later one is there."""
        if plan.scene is None:
            return None
        tag, vaults = plan.scene.id, self.commits.vaults
        sk = documents.sk_of(lines.SCENE, tag)
        item = vaults.table.get(keys.owner, [sk]).get(sk)
        standing = documents.from_item(keys, lines.SCENE, tag, item)
        after = standing.joined(documents.from_line(keys, plan.scene))
        if after == standing:
            return None
        return documents.stored(keys, lines.SCENE, tag, standing, after, vaults.clock(), vaults.random)

    def _finish(
        self,
        keys: OwnerKeys,
        task: Item,
        result: Mapping[str, Any],
        plan: Plan,
        scene: Update | None = None,
    ) -> None:
        """Mark the task done and store its project's summary, then delete the conversation."""
        vaults, now = self.commits.vaults, self.commits.vaults.clock()
        task_id, run = str(task["sk"]).removeprefix(names.TASK), int(task["run"])
        done = Update(
            str(task["sk"]),
            set={
                "status": TaskStatus.DONE.value,
                "updated_at": rfc3339(now),
                "finished_at": rfc3339(now),
                "gen": keys.generation,
                "sealed": keys.seal(tasks.RESULT, task_id, run, bodies.pack(result), vaults.random),
                "ttl": tasks.ttl(now),
            },
            add={"discarded": plan.discarded} if plan.discarded else {},
            remove=("error",),
            condition=Condition(equals={"run": run, "finished_at": None}),
        )
        head = Update(
            names.HEAD,
            add={"bytes": plan.beside - int(task.get("size", 0)), "journal_bytes": plan.beside, "commits": 1},
            condition=Condition(equals={"epoch": keys.epoch}),
        )
        try:
            vaults.table.write(keys.owner, [done, head, *([scene] if scene else [])])
        except Refused as refusal:
            if 0 in refusal.items:
                raise Over from None
            raise Stale from None
        self._forget_conversation(keys, task_id)

    def _drop(self, keys: OwnerKeys, commit: str, ids: set[str]) -> None:
        """Remove the lines of refused steps, so that a rebuild does not take them for memories."""
        objects, key = self.commits.vaults.objects, names.journal(keys.owner, keys.epoch, commit)
        stored = objects.get(key)
        if stored is None:
            return
        kept = lines.encode(line for line in lines.decode(stored.body) if line.kind == PLAN or line.id not in ids)
        if kept != stored.body:
            with suppress(Changed):
                objects.put(key, kept, if_match=stored.etag)
        objects.erase(key, keep_current=True)

    def _take_back(self, keys: OwnerKeys, sk: str, commit: str) -> None:
        """Remove a plan that was written while its conversation was forgotten, or cut. One that was begun to be applied is repair's."""
        task = self.commits.vaults.table.get(keys.owner, [sk]).get(sk, {})
        ended = task.get("status") == TaskStatus.FAILED.value and "finished_at" in task and not task["applied"]
        if ended or task.get("plan", commit) != commit:
            self.commits.vaults.objects.erase(names.journal(keys.owner, keys.epoch, commit))

    def _forget_conversation(self, keys: OwnerKeys, task_id: str) -> None:
        self.commits.vaults.objects.erase(names.conversation(keys.owner, keys.epoch, task_id))
