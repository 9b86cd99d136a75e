"""The plan of a task: which memories it will insert, touch, update and archive. Written once, then applied however often it takes."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from shared.domain import limits
from shared.domain.drafts import with_masked
from shared.domain.errors import SealBroken
from shared.domain.ids import ulid, ulid_time
from shared.domain.memory import Category, Memory, Origin, Scope, Source, Status
from shared.learning.answers.answers import Action
from shared.learning.comparison import AUTOMATIC
from shared.learning.conversation import Conversation
from shared.learning.extractor import Candidate, Extracted
from shared.storage import documents, items, lines, names, scenes
from shared.storage.basis import basis_of
from shared.storage.items import Sealed, Stored
from shared.storage.transactions import Change
from shared.storage.vaults import Opened, Vaults
from shared.text.normalise import full_width_length, visible
from shared.text.secrets import Masked

EXPERIENCE_IMPORTANCE = 5
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
    """All steps of a task, how many candidates were discarded before it was written, its project, and the line of that one's summary.

    `beside`: the bytes of its lines in the journal that no step counts.
    """

    steps: list[Step] = field(default_factory=list)
    discarded: int = 0
    summary: str | None = None
    model: str = ""
    scene: lines.Line | None = None
    project: str | None = None
    beside: int = 0


@dataclass(frozen=True, slots=True)
class _Making:
    """What all memories of one plan have in common."""

    task_id: str
    commit: str
    conversation: Conversation
    received_at: datetime
    model: str

    def origin(self, candidate: Candidate) -> Origin:
        return Origin(
            task_id=self.task_id,
            session_id=self.conversation.session_id,
            at=candidate.at or self.received_at,
            quote=candidate.quote[: limits.QUOTE_CHARACTERS] or None,
            model=self.model,
        )


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
        """Return the plan of a task. Its new memories have ids of the moment of its commit: none is younger than the
        journal's object that holds it, by whose name deleted memories are looked for.

        A candidate whose text exists in its scope: active → touched, archived → active again, dismissed → left alone. A candidate for an
        offered memory touches or rewrites that one; where its new text is another memory's, it is touched only. What would be active
        beyond the limit archives as many of the least recently updated automatic memories of the same scopes; where there are none left,
        the least important is given up.
        """
        project = conversation.real_project()
        plan = Plan(discarded=extracted.dropped, summary=extracted.summary, model=extracted.model, project=project)
        made = _Making(task_id, commit, conversation, received_at, extracted.model)
        matched = [candidate for candidate in extracted.candidates if candidate.action is not Action.INSERT]
        self._match(opened, plan, made, matched)
        inserts = [candidate for candidate in extracted.candidates if candidate.action is Action.INSERT]
        fresh = [candidate for candidate in inserts if visible(candidate.masked.text)]
        plan.discarded += len(inserts) - len(fresh)
        drafts = [self._draft(made, candidate) for candidate in fresh] + self._experiences(plan, made, extracted)
        self._add(opened, plan, drafts)
        if extracted.summary and project is not None:
            learned = [step.sealed.memory for step in plan.steps if step.sealed and step.counts != "archived"]
            rests = basis_of(opened.keys, learned, self.vaults.clock())
            told = scenes.summarised(project, extracted.summary, rests, received_at, commit)
            tag = scenes.tag_of(opened.keys, project)
            plan.scene = documents.line_of(opened.keys, lines.SCENE, tag, told, self.vaults.random)
        return plan

    def _add(self, opened: Opened, plan: Plan, drafts: Sequence[Memory]) -> None:
        """Insert what is new, touch what is known, revive what made room before, leave alone what is dismissed."""
        tags = {items.dedup_tag(opened.keys, draft): draft for draft in drafts}
        plan.discarded += len(drafts) - len(tags)
        standing = self._standing(opened, list(tags))
        taken = {step.memory_id for step in plan.steps}
        inserts: list[Memory] = []
        revived: list[Stored] = []
        for tag, draft in tags.items():
            known = standing.get(tag)
            if known is None:
                inserts.append(draft)
            elif known.memory.status is Status.DISMISSED or known.memory.id in taken:
                plan.discarded += 1
            elif known.memory.status is Status.ARCHIVED:
                revived.append(known)
            else:
                self._step(opened, plan, "touched", known, known.memory)
        self._insert(opened, plan, inserts, revived)

    def _match(self, opened: Opened, plan: Plan, made: _Making, candidates: Sequence[Candidate]) -> None:
        """Touch or rewrite offered memories: each once, and only what is automatic and active still."""
        if not candidates:
            return
        targets = [candidate.target or "" for candidate in candidates]
        found = self._read(opened, targets)
        rewritten = [
            (candidate, stored, self._rewritten(made, stored.memory, candidate))
            for candidate in candidates
            if (stored := found.get(candidate.target or "")) is not None
            and stored.memory.source in AUTOMATIC
            and stored.memory.status is Status.ACTIVE
        ]
        plan.discarded += len(candidates) - len(rewritten)
        tags = {items.dedup_tag(opened.keys, after): stored.memory.id for _, stored, after in rewritten}
        others = self._standing(opened, list(tags))
        taken: set[str] = set()
        for _, stored, after in rewritten:
            tag = items.dedup_tag(opened.keys, after)
            if stored.memory.id in taken:
                plan.discarded += 1
                continue
            taken.add(stored.memory.id)
            own = tag not in others and tags[tag] == stored.memory.id
            if after.content == stored.memory.content or not own:
                self._step(opened, plan, "touched", stored, stored.memory)
            else:
                self._step(opened, plan, "updated", stored, after)

    def _rewritten(self, made: _Making, memory: Memory, candidate: Candidate) -> Memory:
        """Return the memory as an update wants it; a touch wants it as it is."""
        if candidate.action is Action.TOUCH or not visible(candidate.masked.text):
            return memory
        after = replace(
            memory, category=candidate.category, importance=candidate.importance, origin=made.origin(candidate)
        )
        return with_masked(after, candidate.masked)

    def _experiences(self, plan: Plan, made: _Making, extracted: Extracted) -> list[Memory]:
        """Return what the agent experienced, as memories of its own; without a named agent there is nobody to keep them for."""
        agent = made.conversation.agent
        texts = [text for text in extracted.experiences if full_width_length(text) <= limits.CONTENT_FULL_WIDTH]
        kept = texts if agent is not None else []
        plan.discarded += len(extracted.experiences) - len(kept)
        return [
            self._draft(
                made, Candidate(Masked(text, []), Scope.AGENT, Category.EXPERIENCE, EXPERIENCE_IMPORTANCE, quote="")
            )
            for text in kept
        ]

    def _draft(self, made: _Making, candidate: Candidate) -> Memory:
        now, project = self.vaults.clock(), made.conversation.real_project()
        scope = candidate.scope
        if scope is Scope.PROJECT and project is None:
            scope = Scope.USER
        memory = Memory(
            id=ulid(ulid_time(made.commit), self.vaults.random),
            version=1,
            content="",
            scope=scope,
            project=project if scope is Scope.PROJECT else None,
            agent=made.conversation.agent if scope is Scope.AGENT else None,
            category=candidate.category,
            importance=candidate.importance,
            source=Source.AUTO,
            status=Status.ACTIVE,
            created_at=now,
            updated_at=now,
            tags=candidate.tags,
            origin=made.origin(candidate),
        )
        return with_masked(memory, candidate.masked)

    def _standing(self, opened: Opened, tags: Sequence[str]) -> dict[str, Stored]:
        """Return the memories that have these tags already; a damaged one will refuse its double when that is applied."""
        found = self.vaults.table.get(opened.keys.owner, [names.DEDUP + tag for tag in tags])
        ids = {str(item["memory"]): sk.removeprefix(names.DEDUP) for sk, item in found.items()}
        return {ids[memory_id]: stored for memory_id, stored in self._read(opened, ids).items()}

    def _read(self, opened: Opened, ids: Iterable[str]) -> dict[str, Stored]:
        """Return the memories that exist and open, by id."""
        wanted = [names.MEMORY + memory_id for memory_id in dict.fromkeys(ids)]
        found: dict[str, Stored] = {}
        if not wanted:
            return found
        for item in self.vaults.table.get(opened.keys.owner, wanted).values():
            with suppress(SealBroken):
                stored = items.from_item(opened.keys, item)
                found[stored.memory.id] = stored
        return found

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
        eligible = [
            stored
            for stored in self._read(opened, ids).values()
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
            over = after.expires_at is not None and after.expires_at <= now  # said again, it is true again
            after = replace(after, updated_at=now, expires_at=None if over else after.expires_at)
        changed = Change(before, after).next()
        if changed is not None:
            plan.steps.append(Step(counts, changed.id, items.seal(opened.keys, changed, self.vaults.random)))


def would_learn(plan: Plan) -> list[dict[str, Any]]:
    """Return what a plan would do, for its owner to read: secrets are masked."""
    actions = {"inserted": "insert", "touched": "touch", "updated": "update", "archived": "archive"}
    return [
        {
            "action": actions[step.counts],
            "memory_id": None if step.counts == "inserted" else step.memory_id,
            "content": step.sealed.memory.content,
            "scope": step.sealed.memory.scope.value,
            "project": step.sealed.memory.project,
            "agent": step.sealed.memory.agent,
            "category": step.sealed.memory.category.value,
            "importance": step.sealed.memory.importance,
        }
        for step in plan.steps
        if step.sealed is not None
    ]
