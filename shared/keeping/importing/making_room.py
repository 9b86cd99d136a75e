"""What an import that replaces had no room for becomes active, once what it replaces is forgotten.

Its records are taken in first, so that whoever dies in between loses neither; where a person had as many active memories as there may be,
they came in archived. Nobody else archives a memory of this import, so each is known by its state, and doing this again does no harm.
"""

from collections.abc import Sequence
from dataclasses import replace

from shared.domain import limits
from shared.domain.errors import ActiveLimitReached, NotFound, SealBroken, Unavailable, VersionMismatch
from shared.domain.memory import Status
from shared.domain.times import rfc3339
from shared.keeping.importing.course import ARCHIVED, Course, task_of
from shared.keeping.importing.deciding import Draft, drafted
from shared.keeping.importing.taking import TRIES, read_page
from shared.keeping.maintenance.visits import Visit
from shared.observability import alarm
from shared.ports import Condition, Item, Update
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.transactions import Change, Stale, StepDone, batches


class MakingRoom:
    """Makes records of one import active, in the order of the file, within one visit."""

    def __init__(self, visit: Visit, commits: Commits, item: Item, course: Course) -> None:
        self.visit, self.commits, self.item, self.course = visit, commits, item, course
        sk = str(item["sk"])
        self.left = int(visit.vaults.table.get(visit.owner, [sk]).get(sk, {}).get(ARCHIVED, 0))
        """How many of them are archived still."""
        self._changed = 0

    def used(self) -> bool:
        """Fill the room there is; tell whether that is done. Raises OutOfTime, SealBroken, Unavailable."""
        task_id, keys = task_of(self.item), self.visit.opened.keys
        for page, count, _ in self.course.pages if self.left else ():
            records = read_page(self.visit, task_id, page).records if count else []
            for at in range(0, len(records), limits.IMPORT_BATCH):
                self.visit.check_time()
                if self._changed >= limits.IMPORT_AT_ONCE:
                    return False
                drafts = [drafted(keys, task_id, record) for record in records[at : at + limits.IMPORT_BATCH]]
                if not self._some([draft for draft in drafts if draft.memory.status is Status.ACTIVE]):
                    return True
        return True

    def _some(self, drafts: Sequence[Draft]) -> bool:
        """Make these active; tell whether there is room, and anything left, for more."""
        for _ in range(TRIES):
            changes, room = self._archived(drafts)
            try:
                for batch in batches(self.visit.opened.keys, changes[:room]):
                    self._commit(batch)
            except (VersionMismatch, NotFound, ActiveLimitReached):  # somebody else's write: look again
                continue
            return room > len(changes) and self.left > 0
        raise Unavailable

    def _archived(self, drafts: Sequence[Draft]) -> tuple[list[Change], int]:
        """Return the changes of those that this import archived, and how many more memories may be active."""
        visit, table = self.visit, self.visit.vaults.table
        tags = [names.DEDUP + draft.tag for draft in drafts]
        found = table.get(visit.owner, sorted({names.HEAD, *tags}))
        room = self.commits.bounds.active - int(found.get(names.HEAD, {}).get("active", 0))
        sks = list(dict.fromkeys(names.MEMORY + str(found[tag]["memory"]) for tag in tags if tag in found))
        stand = table.get(visit.owner, sorted(sks)) if sks and room > 0 else {}
        changes: list[Change] = []
        for sk in sks:
            try:
                stored = items.from_item(visit.opened.keys, stand[sk]) if sk in stand else None
            except SealBroken:
                alarm("damaged", memory=sk.removeprefix(names.MEMORY))
                continue
            memory = stored.memory if stored is not None else None
            if memory and memory.status is Status.ARCHIVED and memory.origin.task_id == task_of(self.item):
                changes.append(Change(stored, replace(memory, status=Status.ACTIVE)))
        return changes, max(0, room)

    def _commit(self, changes: list[Change]) -> None:
        step = Update(
            str(self.item["sk"]),
            set={"updated_at": rfc3339(self.visit.vaults.clock())},
            add={ARCHIVED: -len(changes)},
            condition=Condition(exists=True, equals={"finished_at": None}),
        )
        try:
            self.commits.commit_together(self.visit.opened.keys, changes, step=step)
        except (Stale, StepDone):  # the owner's life ended, or the task's
            raise Unavailable from None
        self.left -= len(changes)
        self._changed += len(changes)
