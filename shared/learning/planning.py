"""The plan of a task: which memories it will insert, touch, update and archive. Written once, then applied however often it takes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain import limits
from shared.domain.drafts import with_content
from shared.domain.errors import SealBroken
from shared.domain.ids import ulid, ulid_time
from shared.domain.memory import Memory, Origin, Scope, Source, Status
from shared.learning.conversation import Conversation
from shared.learning.extractor import Candidate, Extracted
from shared.storage import items, names
from shared.storage.items import Sealed, Stored
from shared.storage.transactions import Change
from shared.storage.vaults import Opened, Vaults

AUTOMATIC = frozenset({Source.AUTO, Source.CONSOLIDATED})
LISTED = 500


@dataclass(frozen=True, slots=True)
class Step:
    """One memory of a plan: what is counted when it is applied, and the sealed memory.

    None: the line was removed from the stored plan, since the memory was deleted or refused. Then the step is over.
    """

    counts: str
    memory_id: str
    sealed: Sealed | None


@dataclass(slots=True)
class Plan:
    """All steps of a task, and how many candidates were discarded before it was written."""

    steps: list[Step] = field(default_factory=list)
    discarded: int = 0
    summary: str | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Planner:
    """Decides what becomes of candidates. Reads the present state; changes nothing."""

    vaults: Vaults
    active_limit: int

    def plan(
        self,
        opened: Opened,
        task_id: str,
        commit: str,
        conversation: Conversation,
        received_at: datetime,
        extracted: Extracted,
    ) -> Plan:
        """Return the plan of a task (B10, B12). Its new memories have ids of the moment of its commit: none is younger than the
        journal's object that holds it, by whose name deleted memories are looked for.

        A candidate whose text exists in its scope: active → touched, archived → active again, dismissed → left alone. What would be active
        beyond the limit archives as many of the least recently updated automatic memories of the same scopes; where there are none left,
        the least important is given up.
        """
        plan = Plan(discarded=extracted.dropped, summary=extracted.summary, model=extracted.model)
        drafts = [
            self._draft(task_id, commit, conversation, received_at, extracted.model, c) for c in extracted.candidates
        ]
        tags = {items.dedup_tag(opened.keys, draft): draft for draft in drafts}
        plan.discarded += len(drafts) - len(tags)
        standing = self._standing(opened, list(tags))
        inserts: list[Memory] = []
        revived: list[Stored] = []
        for tag, draft in tags.items():
            known = standing.get(tag)
            if known is None:
                inserts.append(draft)
            elif known.memory.status is Status.DISMISSED:
                plan.discarded += 1
            elif known.memory.status is Status.ARCHIVED:
                revived.append(known)
            else:
                self._step(opened, plan, "touched", known, known.memory)
        self._insert(opened, plan, inserts, revived)
        return plan

    def _draft(
        self,
        task_id: str,
        commit: str,
        conversation: Conversation,
        received_at: datetime,
        model: str,
        candidate: Candidate,
    ) -> Memory:
        now, project = self.vaults.clock(), conversation.real_project()
        scope = candidate.scope
        if scope is Scope.PROJECT and project is None:
            scope = Scope.USER
        memory = Memory(
            id=ulid(ulid_time(commit), self.vaults.random),
            version=1,
            content="",
            scope=scope,
            project=project if scope is Scope.PROJECT else None,
            agent=conversation.agent if scope is Scope.AGENT else None,
            category=candidate.category,
            importance=candidate.importance,
            source=Source.AUTO,
            status=Status.ACTIVE,
            created_at=now,
            updated_at=now,
            origin=Origin(
                task_id=task_id,
                session_id=conversation.session_id,
                at=candidate.at or received_at,
                quote=candidate.quote[: limits.QUOTE_CHARACTERS],
                model=model,
            ),
        )
        return with_content(memory, candidate.text)

    def _standing(self, opened: Opened, tags: Sequence[str]) -> dict[str, Stored]:
        """Return the memories that have these tags already; a damaged one will refuse its double when that is applied."""
        table, owner = self.vaults.table, opened.keys.owner
        found = table.get(owner, [names.DEDUP + tag for tag in tags])
        ids = {str(item["memory"]): sk.removeprefix(names.DEDUP) for sk, item in found.items()}
        standing: dict[str, Stored] = {}
        for item in table.get(owner, [names.MEMORY + memory_id for memory_id in ids]).values():
            try:
                stored = items.from_item(opened.keys, item)
            except SealBroken:
                continue
            standing[ids[stored.memory.id]] = stored
        return standing

    def _insert(self, opened: Opened, plan: Plan, inserts: list[Memory], revived: list[Stored]) -> None:
        """Make room, then let in what there is room for, the most important first; the rest is discarded."""
        wanted = [*(stored.memory for stored in revived), *inserts]
        ranked = sorted(wanted, key=lambda memory: -memory.importance)
        kept = {memory.id for memory in ranked[: self._make_room(opened, plan, wanted)]}
        plan.discarded += len(wanted) - len(kept)
        for stored in revived:
            if stored.memory.id in kept:
                self._step(opened, plan, "updated", stored, replace(stored.memory, status=Status.ACTIVE))
        for memory in inserts:
            if memory.id in kept:
                plan.steps.append(Step("inserted", memory.id, items.seal(opened.keys, memory, self.vaults.random)))

    def _make_room(self, opened: Opened, plan: Plan, wanted: Sequence[Memory]) -> int:
        """Archive what has to make room and return how many memories there is room for: less than none where the limit was lowered."""
        room = self.active_limit - int(opened.head["active"]) if self.active_limit else len(wanted)
        if room >= len(wanted):
            return len(wanted)
        victims = self._oldest(opened, plan, wanted, len(wanted) - room)
        fitting = min(len(wanted), room + len(victims))
        if fitting <= 0:
            return 0
        for victim in victims[: max(0, fitting - room)]:
            self._step(opened, plan, "archived", victim, replace(victim.memory, status=Status.ARCHIVED), touch=False)
        return fitting

    def _oldest(self, opened: Opened, plan: Plan, wanted: Iterable[Memory], count: int) -> list[Stored]:
        """Return the least recently updated automatic memories of the scopes that want room."""
        table, owner = self.vaults.table, opened.keys.owner
        groups = {(memory.scope, memory.project, memory.agent) for memory in wanted}
        taken = {step.memory_id for step in plan.steps}
        ids: list[str] = []
        before = None
        while page := table.by_update(owner, f"{Status.ACTIVE.value}", before=before, limit=LISTED):
            ids += [key.partition("#")[2] for key in page]
            before = page[-1]
        found: list[Stored] = []
        for item in table.get(owner, [names.MEMORY + memory_id for memory_id in ids]).values():
            try:
                found.append(items.from_item(opened.keys, item))
            except SealBroken:
                continue
        eligible = [
            stored
            for stored in found
            if stored.memory.source in AUTOMATIC
            and stored.memory.status is Status.ACTIVE
            and stored.memory.id not in taken
            and (stored.memory.scope, stored.memory.project, stored.memory.agent) in groups
        ]
        eligible.sort(key=lambda stored: (stored.memory.updated_at, stored.memory.id))
        return eligible[:count]

    def _step(
        self, opened: Opened, plan: Plan, counts: str, before: Stored, after: Memory, *, touch: bool = True
    ) -> None:
        if touch:
            now = max(self.vaults.clock(), before.memory.updated_at + timedelta(milliseconds=1))
            after = replace(after, updated_at=now)
        changed = Change(before, after).next()
        if changed is not None:
            plan.steps.append(Step(counts, changed.id, items.seal(opened.keys, changed, self.vaults.random)))
