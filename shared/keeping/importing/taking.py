"""Taking records in: each exactly once whoever dies, in the order of the file.

The task's column `applied` moves on in the same transaction as the memories. A record's id is the same each time, so that one whose writer
died between is known again. What is written meanwhile by others stands in the way of nothing: what was read is then read anew.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from shared.domain import limits
from shared.domain.errors import (
    ActiveLimitReached,
    Duplicate,
    NotFound,
    Refused,
    SealBroken,
    Unavailable,
    VersionMismatch,
)
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.keeping.importing.course import APPLIED, NACRE, Course, Held, Mode, open_page, task_of
from shared.keeping.importing.deciding import Decided, Deciding, Draft, drafted, parts
from shared.keeping.maintenance.visits import Visit
from shared.observability import alarm
from shared.ports import Check, Condition, Item, Update
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.transactions import Change, Stale, StepDone

TRIES = 20


class Taking:
    """Takes the records of one import in, within one visit."""

    def __init__(self, visit: Visit, commits: Commits, item: Item, course: Course) -> None:
        self.visit, self.commits, self.item, self.course = visit, commits, item, course
        self.applied = int(item[APPLIED])
        self.counts: Counter[str] = Counter()
        self._changed = 0

    def records(self) -> bool:
        """Take records in, in the order of the file; tell whether all are. Raises OutOfTime, SealBroken, QuotaExceeded."""
        passed = 0
        for page, count, _ in self.course.pages:
            if self.applied < passed + count and not self._page(page, self.applied - passed):
                return False
            passed += count
        return True

    def _page(self, page: str, at: int) -> bool:
        """Take the records of a page in, from that one on; tell whether all are. No other page is held in memory."""
        keys, task_id = self.visit.opened.keys, task_of(self.item)
        records = read_page(self.visit, task_id, page).records
        wanted: list[Draft] = []
        while wanted or at < len(records):
            if self._changed >= limits.IMPORT_AT_ONCE:
                return False
            self.visit.check_time(self.counts)
            some = records[at : at + limits.IMPORT_BATCH - len(wanted)]
            at += len(some)
            wanted += [drafted(keys, task_id, record) for record in some]
            wanted = self._some(wanted)
        return True

    def _some(self, wanted: list[Draft]) -> list[Draft]:
        """Take in the first of these, and return the rest. Somebody else's write makes what was read old: then it is read anew."""
        keys = self.visit.opened.keys
        for _ in range(TRIES):
            decided = self._deciding(wanted).decide(wanted)
            try:
                for part in parts(keys, decided):
                    self._commit(part)
                    wanted = wanted[len(part) :]
            except (Duplicate, VersionMismatch, NotFound, ActiveLimitReached):
                continue
            return wanted
        raise Unavailable

    def _commit(self, part: Sequence[Decided]) -> None:
        keys, table = self.visit.opened.keys, self.visit.vaults.table
        changes = [one.change for one in part if one.change is not None]
        counts = sum((Counter(one.counts) for one in part), Counter[str]())
        course = self.course.telling([one.refused for one in part if one.refused is not None])
        step = self._step(len(part), counts, course)
        try:
            if changes:
                self.commits.commit_together(keys, changes, step=step)
            else:
                same_life = Condition(equals={"epoch": keys.epoch, "gen": keys.generation})
                table.write(keys.owner, [step, Check(names.HEAD, same_life)])
        except (Stale, StepDone, Refused):  # the owner's life ended, or the task's
            raise Unavailable from None
        self.applied, self.course = self.applied + len(part), course
        self._changed += len(changes)
        self.counts += Counter({name.removeprefix("did_"): count for name, count in counts.items()})

    def _step(self, records: int, counts: Mapping[str, int], course: Course) -> Update:
        vaults, keys = self.visit.vaults, self.visit.opened.keys
        news = course.columns(keys, task_of(self.item), vaults.random) if course != self.course else {}
        now = rfc3339(vaults.clock())
        return Update(
            str(self.item["sk"]),
            set=news | {"updated_at": now, "status": TaskStatus.PROCESSING.value, APPLIED: self.applied + records},
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
        revives = self.course.wanted.format == NACRE
        return Deciding(visit.opened.keys, led, stand, damaged, room, overwriting, revives, vaults.clock(), days)

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


def read_page(visit: Visit, task_id: str, page: str) -> Held:
    """Return what a page holds. Raises SealBroken, also when it is gone."""
    keys = visit.opened.keys
    stored = visit.vaults.objects.get(names.imports(keys.owner, keys.epoch, task_id) + page)
    if stored is None:
        raise SealBroken
    return open_page(keys, task_id, page, stored.body)
