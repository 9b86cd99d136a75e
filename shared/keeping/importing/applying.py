"""Applying imports, as steps of an owner's maintenance: the records, then what else is told, then what `replace` forgets, then the room
that this makes.

Each of these may be done again, from where it was or from its beginning. Pages stay until the import is over. One that replaces is over
when nothing is left of what it forgets, at the end of a visit in which every step came to its end; the others as soon as all is taken in.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from shared.domain import limits
from shared.domain.errors import QuotaExceeded, Refused, SealBroken, Unavailable
from shared.domain.ids import ulid_time
from shared.domain.times import moment
from shared.keeping.forgetting.steps import EMPTIED, Forget, open_tasks
from shared.keeping.importing import course as courses
from shared.keeping.importing.course import (
    DOCUMENTS,
    IMPORTED,
    KEPT,
    KIND,
    OVERWRITTEN,
    Course,
    Held,
    Mode,
    course_of,
    task_of,
)
from shared.keeping.importing.making_room import MakingRoom
from shared.keeping.importing.replacing import Unmeant, meant_by
from shared.keeping.importing.taking import Taking, read_page
from shared.keeping.importing.telling import Telling, led_to, rested_on, standing_here
from shared.keeping.maintenance.visits import OutOfTime, Visit
from shared.learning.waiting import DIED_AFTER
from shared.observability import alarm
from shared.ports import Condition, Item, Update
from shared.storage import names
from shared.storage.commit import Commits

INCOMPLETE, DAMAGED, NOTHING_TAKEN_IN = "incomplete", "damaged", "nothing_taken_in"
"""The errors of an import whose last page never came, of one whose pages do not open, and of one that would replace all by nothing."""
_NEVER = "~"
"""Sorts behind every id."""
REPLACED = "replaced"
"""Column of the task of an import that has nothing left to do but to see everything gone that it forgot."""


@dataclass(frozen=True, slots=True)
class Import:
    """Takes in what was sent to be imported."""

    commits: Commits
    name: str = "import"

    def run(self, visit: Visit) -> Mapping[str, int]:
        """Go on with each import that is complete, as far as one visit may, in the order they were begun in. Raises OutOfTime.

        One waits for what was asked to be forgotten before it, and for a file that replaces: what these take away may say the same.
        """
        counts: Counter[str] = Counter()
        until = min((task_of(task) for task in open_tasks(visit) if EMPTIED not in task), default=_NEVER)
        for task_id in _with_pages(visit):
            sk = names.TASK + task_id
            item = visit.vaults.table.get(visit.owner, [sk]).get(sk)
            if item is None or "finished_at" in item or item["kind"] != KIND:
                _sweep(visit, task_id, item)
                continue
            try:
                course = course_of(visit.opened.keys, item)
                if not course.complete:
                    _wait(visit, item)
                elif task_id < until:
                    done, whole = self._apply(visit, item, course)
                    counts += done
                    until = until if whole or course.wanted.mode is not Mode.REPLACE else task_id
            except SealBroken:
                alarm("damaged", task=task_id)
                _end(visit, item, DAMAGED)
            except QuotaExceeded:
                _end(visit, item, QuotaExceeded.code)
        return counts

    def _apply(self, visit: Visit, item: Item, course: Course) -> tuple[Counter[str], bool]:
        """Do what is left of an import; return what was done with its records, and whether that was all of them.

        Raises OutOfTime, SealBroken, QuotaExceeded.
        """
        taking = Taking(visit, self.commits, item, course)
        if not taking.records():
            self._go_on(visit, item, taking.applied)
            return taking.counts, False
        replaces = course.wanted.mode is Mode.REPLACE
        if replaces and not _took(visit, item):
            _end(visit, item, NOTHING_TAKEN_IN)
            return taking.counts, True
        told = self._tell(visit, item, course)
        if not replaces:
            _end(visit, item, add={DOCUMENTS: told})
            return taking.counts, True
        taking.counts["deleted"] += self._replace(visit, item, course)
        making_room = MakingRoom(visit, self.commits, item, course)
        if not making_room.used():
            self._go_on(visit, item, -making_room.left)
            return taking.counts, False
        noted = Update(str(item["sk"]), set={REPLACED: 1, DOCUMENTS: told}, condition=Condition(exists=True))
        visit.vaults.table.write(visit.owner, [noted])
        return taking.counts, True

    def _tell(self, visit: Visit, item: Item, course: Course) -> int:
        """Set down what else the file tells; return how many things that are."""
        told = [one for page, _, count in course.pages if count for one in read_page(visit, task_of(item), page).told]
        wanted = rested_on(told)
        leads = standing_here(visit, wanted)
        for held in _pages(visit, item, course) if wanted else ():
            leads |= led_to(visit, task_of(item), held.records, wanted)
        telling = Telling(visit, self.commits, item, leads, course.wanted.mode is not Mode.MERGE)
        for one in told:
            visit.check_time()
            telling.set_down(one)
        return len(told)

    def _replace(self, visit: Visit, item: Item, course: Course) -> int:
        spared: set[str] = set()
        texts: set[str] = set()
        for held in _pages(visit, item, course):
            spared |= {*meant_by(visit, task_of(item), held.records), *held.named}
            texts |= set(held.texts)
        unmeant = Unmeant(moment(str(item["created_at"])), spared=frozenset(spared), texts=frozenset(texts))
        return Forget(self.commits).forget(visit, item, unmeant, 0)

    def _go_on(self, visit: Visit, item: Item, at: int) -> None:
        """Ask for another visit: this one is to build an index of what is in already. `at` is another number each time."""
        message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": visit.owner}
        with suppress(Unavailable):
            token = f"{visit.owner[:40]}-{task_of(item)}-{at}"
            self.commits.maintenance.send(visit.owner, message, deduplication=token)
        visit.look_again(visit.now)


@dataclass(frozen=True, slots=True)
class Imported:
    """Ends the imports that replaced. A last step: a visit in which anything failed ends none."""

    name: str = "imported"

    def run(self, visit: Visit) -> Mapping[str, int]:
        done = 0
        for task_id in _with_pages(visit) if not visit.troubled else ():
            sk = names.TASK + task_id
            item = visit.vaults.table.get(visit.owner, [sk]).get(sk)
            if item is not None and REPLACED in item and "finished_at" not in item:
                if visit.forgot:
                    raise OutOfTime  # the next visit, at once, takes out of the journal what this one cleared
                _end(visit, item)
                done += 1
        return {"done": done}


def _pages(visit: Visit, item: Item, course: Course) -> Iterator[Held]:
    for page, _, _ in course.pages:
        visit.check_time()
        yield read_page(visit, task_of(item), page)


def _took(visit: Visit, item: Item) -> bool:
    """Tell whether anything of a file whose records are all looked at is a memory now."""
    sk = str(item["sk"])
    counts = visit.vaults.table.get(visit.owner, [sk]).get(sk, {})
    return any(int(counts.get(name, 0)) for name in (IMPORTED, KEPT, OVERWRITTEN))


def _sweep(visit: Visit, task_id: str, item: Item | None) -> None:
    """Remove the pages of an import that is over, or never came to be."""
    over = ulid_time(task_id) + DIED_AFTER
    if item is None and over > visit.now:
        visit.look_again(over)
    else:
        _remove_pages(visit, task_id)


def _end(visit: Visit, item: Item, error: str | None = None, add: Mapping[str, int] | None = None) -> None:
    """End a task once, then remove its pages."""
    writes = courses.ended(item, visit.opened.keys.epoch, visit.vaults.clock(), error, add)
    with suppress(Refused):
        visit.vaults.table.write(visit.owner, writes)
    _remove_pages(visit, task_of(item))


def _remove_pages(visit: Visit, task_id: str) -> None:
    """Remove all pages of an import, with every version."""
    keys, objects = visit.opened.keys, visit.vaults.objects
    for name in list(objects.names(names.imports(keys.owner, keys.epoch, task_id))):
        objects.erase(name.key)


def _wait(visit: Visit, item: Item) -> None:
    """Give up an import whose next page has not come for a day."""
    until = moment(str(item["updated_at"])) + limits.IMPORT_WAITS
    if until <= visit.now:
        _end(visit, item, INCOMPLETE)
    else:
        visit.look_again(until)


def _with_pages(visit: Visit) -> Iterator[str]:
    """Yield the tasks that have pages, the first begun first."""
    keys = visit.opened.keys
    prefix = names.imports(keys.owner, keys.epoch)
    found = (name.key.removeprefix(prefix).partition("/")[0] for name in visit.vaults.objects.names(prefix))
    yield from sorted(set(found))
