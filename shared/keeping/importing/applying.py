"""Applying imports, as a step of an owner's maintenance: record by record in the order of the file, each exactly once whoever dies.

The task's column `applied` moves on in the same transaction as the memories. A record's id is the same each time, so that one whose writer
died between is known again. What is written meanwhile by others stands in the way of nothing: what was read is then read anew.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from shared.domain import limits
from shared.domain.errors import (
    ActiveLimitReached,
    DamagedFile,
    Duplicate,
    NotFound,
    QuotaExceeded,
    Refused,
    SealBroken,
    Unavailable,
    VersionMismatch,
)
from shared.domain.ids import ulid_time
from shared.domain.task import TaskStatus
from shared.domain.times import moment, rfc3339
from shared.keeping.importing import course as courses
from shared.keeping.importing.course import APPLIED, KIND, Course, Mode, course_of, open_page, task_of
from shared.keeping.importing.deciding import Decided, Deciding, Draft, drafted, parts
from shared.keeping.importing.records import Record
from shared.keeping.visits import Visit
from shared.learning.waiting import DIED_AFTER
from shared.observability import alarm
from shared.ports import Check, Condition, Item, Update
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.transactions import Change, Stale, StepDone

INCOMPLETE = "incomplete"
"""The error of an import whose last page never came."""
TRIES = 20


@dataclass(frozen=True, slots=True)
class Import:
    """Takes in what was sent to be imported."""

    commits: Commits
    name: str = "import"

    def run(self, visit: Visit) -> Mapping[str, int]:
        """Go on with each import that is complete, as far as one visit may. Raises OutOfTime."""
        counts: Counter[str] = Counter()
        for task_id in _with_pages(visit):
            sk = names.TASK + task_id
            item = visit.vaults.table.get(visit.owner, [sk]).get(sk)
            if item is None or "finished_at" in item or item["kind"] != KIND:
                self._sweep(visit, task_id, item)
                continue
            try:
                course = course_of(visit.opened.keys, item)
            except SealBroken:
                end(visit, item, "damaged")
                continue
            if course.complete:
                counts += self._apply(visit, item, course, counts)
            else:
                _wait(visit, item)
        return counts

    def _sweep(self, visit: Visit, task_id: str, item: Item | None) -> None:
        """Remove the pages of an import that is over, or never came to be."""
        over = ulid_time(task_id) + DIED_AFTER
        if item is None and over > visit.now:
            visit.look_again(over)
            return
        remove_pages(visit, task_id)

    def _apply(self, visit: Visit, item: Item, course: Course, before: Mapping[str, int]) -> Counter[str]:
        """Apply what is left of an import, and end it. Returns what was done with its records."""
        work = _Work(visit, self.commits, item, course, Counter(before))
        try:
            done = work.records()
        except SealBroken:
            end(visit, item, DamagedFile.code)
            return work.counts
        except QuotaExceeded:
            end(visit, item, QuotaExceeded.code)
            return work.counts
        if not done:
            message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": visit.owner}
            with suppress(Unavailable):
                token = f"{visit.owner[:40]}-{task_of(item)}-{work.applied}"
                self.commits.maintenance.send(visit.owner, message, deduplication=token)
            visit.look_again(visit.now)
            return work.counts
        end(visit, item)
        return work.counts


class _Work:
    """The application of one import within one visit."""

    def __init__(self, visit: Visit, commits: Commits, item: Item, course: Course, counts: Counter[str]) -> None:
        self.visit, self.commits, self.item, self.course = visit, commits, item, course
        self.applied = int(item[APPLIED])
        self.counts: Counter[str] = Counter()
        self._before = counts
        self._until = self.applied + limits.IMPORT_AT_ONCE

    def records(self) -> bool:
        """Take records in, in the order of the file; tell whether all are. Raises OutOfTime, SealBroken, QuotaExceeded."""
        passed = 0
        for page, count in self.course.pages:
            if self.applied < passed + count:
                records = read_page(self.visit, task_of(self.item), page)
                while self.applied < passed + count:
                    if self.applied >= self._until:
                        return False
                    self.visit.check_time(self._before + self.counts)
                    at = self.applied - passed
                    self._some(records[at : at + limits.IMPORT_BATCH])
            passed += count
        return True

    def _some(self, records: Sequence[Record]) -> None:
        """Take in these or the first of them. Somebody else's write makes what was read old: then it is read anew."""
        keys = self.visit.opened.keys
        wanted = [drafted(keys, task_of(self.item), record) for record in records]
        for _ in range(TRIES):
            decided = self._deciding(wanted).decide(wanted)
            try:
                for part in parts(keys, decided):
                    self._commit(part)
                    wanted = wanted[len(part) :]
            except (Duplicate, VersionMismatch, NotFound, ActiveLimitReached):
                continue
            return
        raise Unavailable

    def _commit(self, part: Sequence[Decided]) -> None:
        keys, table = self.visit.opened.keys, self.visit.vaults.table
        changes = [one.change for one in part if one.change is not None]
        counts = sum((Counter(one.counts) for one in part), Counter[str]())
        step = self._step(len(part), counts)
        try:
            if changes:
                self.commits.commit_together(keys, changes, step=step)
            else:
                same_life = Condition(equals={"epoch": keys.epoch, "gen": keys.generation})
                table.write(keys.owner, [step, Check(names.HEAD, same_life)])
        except (Stale, StepDone, Refused):  # the owner's life ended, or the task's
            raise Unavailable from None
        self.applied += len(part)
        self.counts += Counter({name.removeprefix("did_"): count for name, count in counts.items()})

    def _step(self, records: int, counts: Mapping[str, int]) -> Update:
        now = rfc3339(self.visit.vaults.clock())
        return Update(
            str(self.item["sk"]),
            set={"updated_at": now, "status": TaskStatus.PROCESSING.value, APPLIED: self.applied + records},
            add=counts,
            condition=Condition(exists=True, equals={APPLIED: self.applied, "finished_at": None}),
        )

    def _deciding(self, wanted: Sequence[Draft]) -> Deciding:
        """Read what stands of what these records say. Two steps."""
        visit, vaults = self.visit, self.visit.vaults
        overwriting = self.course.wanted.mode is not Mode.MERGE
        ids = {draft.memory.id for draft in wanted}
        ids |= {draft.old_id for draft in wanted if draft.old_id is not None and overwriting}
        sks = {names.HEAD, *(names.DEDUP + draft.tag for draft in wanted), *(names.MEMORY + one for one in ids)}
        found = vaults.table.get(visit.owner, sorted(sks))
        led = {
            draft.tag: str(found[names.DEDUP + draft.tag]["memory"])
            for draft in wanted
            if names.DEDUP + draft.tag in found
        }
        others = sorted({names.MEMORY + one for one in led.values()} - found.keys())
        found |= vaults.table.get(visit.owner, others) if others else {}
        head, active = found.get(names.HEAD, {}), self.commits.bounds.active
        room = active - int(head.get("active", 0)) if active else None
        own = {draft.memory.id for draft in wanted}
        stand, damaged = self._standing(found, own)
        days = visit.preferences.retention_days
        return Deciding(visit.opened.keys, led, stand, damaged, room, overwriting, vaults.clock(), days)

    def _standing(self, found: Mapping[str, Item], own: Collection[str]) -> tuple[dict[str, Stored], set[str]]:
        """Open memories; return those that stand, and the ids of those that do not open. One whose time is over stands in nobody's way:
        it is deleted, unless it is of this import's `own`."""
        visit, days = self.visit, self.visit.preferences.retention_days
        stand: dict[str, Stored] = {}
        damaged: set[str] = set()
        for sk, item in found.items():
            memory_id = sk.removeprefix(names.MEMORY)
            if not sk.startswith(names.MEMORY):
                continue
            try:
                stored = items.from_item(visit.opened.keys, item)
            except SealBroken:
                alarm("damaged", memory=memory_id)
                damaged.add(memory_id)
                continue
            if memory_id not in own and stored.memory.expired(visit.vaults.clock(), days):
                with suppress(NotFound, VersionMismatch):
                    self.commits.commit(visit.owner, Change(stored, None))
                continue
            stand[memory_id] = stored
        return stand, damaged


def read_page(visit: Visit, task_id: str, page: str) -> list[Record]:
    """Return the records of a page. Raises SealBroken, also when it is gone."""
    keys = visit.opened.keys
    stored = visit.vaults.objects.get(names.imports(keys.owner, keys.epoch, task_id) + page)
    if stored is None:
        raise SealBroken
    return open_page(keys, task_id, page, stored.body)


def end(visit: Visit, item: Item, error: str | None = None) -> None:
    """End a task once, then remove its pages."""
    writes = courses.ended(item, visit.opened.keys.epoch, visit.vaults.clock(), error)
    with suppress(Refused):
        visit.vaults.table.write(visit.owner, writes)
        if error:
            alarm("task_failed", error=error)
    remove_pages(visit, task_of(item))


def remove_pages(visit: Visit, task_id: str) -> None:
    """Remove all pages of an import, with every version."""
    keys, objects = visit.opened.keys, visit.vaults.objects
    for name in list(objects.names(names.imports(keys.owner, keys.epoch, task_id))):
        objects.erase(name.key)


def _wait(visit: Visit, item: Item) -> None:
    """Give up an import whose next page has not come for a day."""
    until = moment(str(item["updated_at"])) + limits.IMPORT_WAITS
    if until <= visit.now:
        end(visit, item, INCOMPLETE)
    else:
        visit.look_again(until)


def _with_pages(visit: Visit) -> Iterator[str]:
    """Yield the tasks that have pages, the first begun first."""
    keys = visit.opened.keys
    prefix = names.imports(keys.owner, keys.epoch)
    found = (name.key.removeprefix(prefix).partition("/")[0] for name in visit.vaults.objects.names(prefix))
    yield from sorted(set(found))
