"""The step of maintenance that makes the persona anew: asked for by its owner, after enough new facts, or by the owner's schedule.

The persona and the moment up to which facts were read are written together, so a visit that ends anywhere is not repeated for nothing.
One that was asked for has a task from the beginning; of others there is one where a model was asked.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime

from shared.domain import limits
from shared.domain.asking import ModelRefused, ModelUnavailable
from shared.domain.errors import QuotaExceeded, Refused, SealBroken, Unavailable
from shared.domain.ids import first_ulid, ulid, ulid_time
from shared.domain.memory import Memory, Scope
from shared.domain.task import PROGRESS, TaskStatus
from shared.domain.times import moment, rfc3339
from shared.keeping.maintenance.visits import Visit
from shared.keeping.portrait import KIND, WAITING, new_item
from shared.learning import standing_facts, tasks
from shared.learning.extractor import Cost
from shared.learning.new_facts import SEEN
from shared.learning.persona.portraying import Portrayed, Portrayer, Unfit
from shared.observability import alarm, warn
from shared.ports import Check, Condition, Put, Update, Value, Write
from shared.storage import basis, lines, names
from shared.storage.basis import Basis
from shared.storage.commit import Commits
from shared.storage.document_commits import DocumentCommits
from shared.storage.documents import Document, from_item
from shared.storage.journaled import said_of
from shared.storage.persona import REFRESHED_AT, Persona, Statement, place
from shared.storage.scenes import LONG_AGO
from shared.storage.vaults import Opened

TRIED = "persona_tried"
"""Of maintenance's own memory: when a model was last asked in vain."""
OFF = "memory_off"
"""The error of a refresh whose owner has switched memory off since."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The persona as it stands, the facts, and when they were read."""

    document: Document
    facts: list[Memory]
    at: datetime

    def new(self, since: datetime) -> int:
        return sum(fact.id >= first_ulid(since) for fact in self.facts)


@dataclass(frozen=True, slots=True)
class PersonaRefresh:
    """Refreshes the persona of an owner."""

    commits: Commits
    portrayer: Portrayer
    name: str = "persona"

    def run(self, visit: Visit) -> Mapping[str, int]:
        task = _asked(visit)
        if not visit.preferences.enabled:
            self._end(visit, task, error=OFF)
            return {}
        if task is None and not _may_be_due(visit):
            return {}
        visit.check_time()
        read = self._read(visit)
        since = _last(visit, read.document)
        made = read.document.get(REFRESHED_AT)
        done = task is not None and made is not None and moment(made) > ulid_time(task)
        if done or (task is None and not _due(visit, read, since)):
            self._end(visit, task)
            visit.note(persona_seen=int(visit.opened.head["commits"]) - read.new(since))
            return {}
        return self._refresh(visit, task, read)

    def _read(self, visit: Visit) -> _Read:
        at = visit.vaults.clock()
        item = visit.vaults.table.get(visit.owner, [names.PERSONA]).get(names.PERSONA)
        try:
            document = from_item(visit.opened.keys, lines.PERSONA, lines.PERSONA, item)
        except SealBroken:  # whoever writes it replaces what does not open
            document = said_of(visit.journal, lines.PERSONA, lines.PERSONA)
        active = standing_facts.newest(visit, limits.PERSONA_FACTS)
        return _Read(document, [fact for fact in active if fact.scope is not Scope.AGENT], at)

    def _refresh(self, visit: Visit, task: str | None, read: _Read) -> Mapping[str, int]:
        if not self.commits.has_room(visit.opened.head, limits.DOCUMENT_ROOM):
            if task is not None:
                self._end(visit, task, error=QuotaExceeded.code)
            return {"no_room": 1}
        try:
            made = self._portrayed(visit, read)
        except Unfit as unfit:
            self._end(visit, task, error=unfit.code, cost=unfit.cost)
            _note_tried(visit, read)
            return {"refused": 1}
        except ModelRefused as refused:
            self._end(visit, task, error=refused.code, tell=True)
            _note_tried(visit, read)
            return {"refused": 1}
        except ModelUnavailable as problem:
            return self._again(visit, task, problem.code)
        persona = _persona(visit, made, read)
        try:
            written = self._write(visit, read.document, persona)
        except QuotaExceeded:
            self._end(visit, task, error=QuotaExceeded.code, cost=made.cost)
            _note_tried(visit, read)
            return {"no_room": 1}
        if not written:
            visit.look_again(visit.vaults.clock())
            return {"overtaken": 1}
        counts = {"statements": len(persona.statements), "refused": made.refused, "facts": len(read.facts)}
        self._end(visit, task, cost=made.cost, counts=counts)
        visit.note(persona_seen=int(visit.opened.head["commits"]), persona_tried=None)
        return {"refreshed": 1}

    def _portrayed(self, visit: Visit, read: _Read) -> Portrayed:
        if not read.facts:
            return Portrayed((), 0, "")
        return self.portrayer.portray(read.facts, _still_true(visit, read), visit.time_left())

    def _write(self, visit: Visit, standing: Document, persona: Persona) -> bool:
        """Put the persona in the place of the one that was read; False where its owner deleted that one meanwhile."""
        done = False

        def made(_opened: Opened, now_standing: Document) -> Mapping[str, object] | None:
            nonlocal done
            done = now_standing.latest == standing.latest
            return persona.fields() if done else None

        DocumentCommits(self.commits).write(visit.owner, place, made)
        return done

    def _again(self, visit: Visit, task: str | None, code: str) -> Mapping[str, int]:
        """Ask for another visit while the model cannot be reached; what was asked for fails after so many."""
        warn("persona_model_unavailable", error=code)
        visit.owing = True
        visit.look_again(visit.vaults.clock() + limits.STEP_AGAIN)
        if task is not None:
            item = visit.vaults.table.get(visit.owner, [names.TASK + task]).get(names.TASK + task, {})
            if int(item.get("attempts", 0)) + 1 >= limits.ATTEMPTS:
                self._end(visit, task, error=code, tell=True)
            else:
                tried = Condition(equals={"status": TaskStatus.QUEUED.value})
                with suppress(Refused):
                    visit.vaults.table.write(
                        visit.owner, [Update(names.TASK + task, add={"attempts": 1}, condition=tried)]
                    )
        return {"unavailable": 1}

    def _end(
        self,
        visit: Visit,
        task: str | None,
        *,
        error: str = "",
        cost: Cost = Cost(),  # noqa: B008 - frozen
        counts: Mapping[str, int] | None = None,
        tell: bool = False,
    ) -> None:
        """End the task, or make one that is over where a model was asked unasked; count what the model cost for the owner's day."""
        if task is None and not cost.calls and not tell:
            return
        now = visit.vaults.clock()
        spent = {name: count for name, count in asdict(cost).items() if count}
        status = TaskStatus.FAILED if error else TaskStatus.DONE
        told: dict[str, Value] = {"status": status.value, "updated_at": rfc3339(now), "finished_at": rfc3339(now)}
        told |= {"ttl": tasks.ttl(now)} | ({"error": error} if error else {})
        did = {f"{PROGRESS}{name}": count for name, count in (counts or {}).items() if count} | spent
        writes: list[Write] = [Check(names.HEAD, Condition(equals={"epoch": visit.opened.keys.epoch}))]
        if task is None:
            item = new_item(ulid(now, visit.vaults.random), status, rfc3339(now)) | told | did | {"attempts": 1}
            writes.append(Put(item, Condition(absent=True)))
        else:
            waits = Condition(exists=True, equals={"finished_at": None})
            writes.append(Update(names.TASK + task, set=told, add={"attempts": 1} | did, condition=waits))
            writes.append(Update(names.UPKEEP, remove=(WAITING,), condition=Condition(equals={WAITING: task})))
        if spent:
            writes.append(Update(names.usage(now), set={"ttl": tasks.ttl(now)}, add=spent))
        try:
            visit.vaults.table.write(visit.owner, writes)
        except Refused:
            raise Unavailable from None
        visit.state = {name: value for name, value in visit.state.items() if name != WAITING}
        if error and error != QuotaExceeded.code:  # only its owner can make room
            alarm("task_failed", kind=KIND, error=error)


def _asked(visit: Visit) -> str | None:
    """Return the task that waits; one that an operator deleted is not waited for."""
    task = visit.state.get(WAITING)
    if task is None:
        return None
    sk = f"{names.TASK}{task!s}"
    if sk in visit.vaults.table.get(visit.owner, [sk]):
        return str(task)
    with suppress(Refused):
        gone = Condition(equals={WAITING: task})
        visit.vaults.table.write(visit.owner, [Update(names.UPKEEP, remove=(WAITING,), condition=gone)])
    return None


def _may_be_due(visit: Visit) -> bool:
    """Tell whether facts are worth reading: each new one is at least one commit."""
    return visit.scheduled or int(visit.opened.head["commits"]) - int(visit.state.get(SEEN, 0)) >= limits.PERSONA_NEWS


def _due(visit: Visit, read: _Read, since: datetime) -> bool:
    new = read.new(since)
    return new >= limits.PERSONA_NEWS or (visit.scheduled and new > 0)


def _last(visit: Visit, document: Document) -> datetime:
    """Return since when facts are new: the persona was made, or deleted by its owner, or a model was asked for one in vain."""
    made = document.get(REFRESHED_AT)
    moments = [moment(made)] if made else []
    moments += [ulid_time(document.ended)] if document.ended else []
    return max([*moments, visit.moment(TRIED) or LONG_AGO])


def _note_tried(visit: Visit, read: _Read) -> None:
    visit.note(persona_tried=read.at, persona_seen=int(visit.opened.head["commits"]))


def _persona(visit: Visit, made: Portrayed, read: _Read) -> Persona:
    last = next((fact for fact in read.facts if fact.scope is Scope.PROJECT), None)
    said = {**Persona.of(read.document).said, **basis.basis_of(visit.opened.keys, read.facts, read.at).said}
    return Persona(
        made.statements,
        fact_count=len(read.facts),
        last_scene=last.project if last else None,
        last_scene_basis=(last.id,) if last else (),
        refreshed_at=rfc3339(read.at),
        model=made.model or None,
        said=said,
    )


def _still_true(visit: Visit, read: _Read) -> tuple[Statement, ...]:
    """Return the statements whose memories stand and are as they were when the persona was made: what was edited or confirmed since is
    among the facts. What was consolidated since stays in their basis until it is gone for good."""
    known = Persona.of(read.document)
    if not known.rests_on or known.refreshed_at is None:
        return ()
    ground, made = basis.read_to_keep(visit.vaults, visit.opened, known.bases), moment(known.refreshed_at)
    found = ((one, ground.ids(Basis(one.basis, known.said))) for one in known.statements)
    spoken = ((one, [ground.memory(memory_id) for memory_id in ids]) for one, ids in found if ids is not None)
    return tuple(one for one, memories in spoken if all(memory and memory.updated_at <= made for memory in memories))
