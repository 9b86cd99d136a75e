"""Undoing a consolidation: merge by merge the product goes and its sources are active again, as far as nothing came of it since.

Each merge is one transaction that also notes itself on the task, so that an undo that ended anywhere is gone on with, and asked for twice
does nothing more. A merge stays whose product was changed, deleted or merged again, or of whose sources one is gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Duplicate, NotFound, NotPossibleNow, Refused, SealBroken, Unavailable, VersionMismatch
from shared.domain.ids import is_ulid
from shared.domain.memory import Status
from shared.domain.task import Task, TaskStatus
from shared.domain.times import moment, rfc3339
from shared.learning import tasks
from shared.learning.consolidation import records
from shared.learning.consolidation.merging import unmerged, untouched
from shared.learning.consolidation.records import Planned
from shared.ports import Condition, Item, Update, Value
from shared.storage import items, names
from shared.storage.commit import Commits
from shared.storage.items import Stored
from shared.storage.journal import Journal
from shared.storage.transactions import Change, Stale, StepDone
from shared.storage.vaults import Opened

TRIES = 3


@dataclass(frozen=True, slots=True)
class Undoing:
    """The use case of `POST /v1/tasks/{id}/undo`."""

    commits: Commits

    def undo(self, owner: str, task_id: str) -> Task:
        """Take a consolidation back and return its task.

        Raises NotFound; NotPossibleNow for another kind of task, one that is not done, and after UNDO_KEPT; ActiveLimitReached and
        QuotaExceeded where there is no room: what was taken back by then stays so, and the rest can be asked for again.
        """
        opened, item = self._task(owner, task_id)
        self._check(item)
        plan = records.plan_of(opened.keys, item)
        for place, merge in enumerate(plan.merges):
            for _ in range(TRIES):
                if place in (*records.numbers(item, "left"), *records.numbers(item, "undone")):
                    break
                again = self._undo(opened, item, place, merge)
                opened, item = self._task(owner, task_id)
                if not again:
                    break
        return tasks.from_item(opened.keys, self._asked(owner, item))

    def _task(self, owner: str, task_id: str) -> tuple[Opened, Item]:
        sk = names.TASK + task_id
        opened = self.commits.vaults.open(owner, [sk]) if is_ulid(task_id) else None
        if opened is None or sk not in opened.items:
            raise NotFound
        return opened, opened.items[sk]

    def _check(self, item: Item) -> None:
        if item["kind"] != tasks.CONSOLIDATION:
            raise NotPossibleNow("Only a consolidation can be undone.")
        if item["status"] != TaskStatus.DONE.value:
            raise NotPossibleNow("This consolidation changed nothing, or is not done yet.")
        if moment(str(item["finished_at"])) + limits.UNDO_KEPT <= self.commits.vaults.clock():
            raise NotPossibleNow("A consolidation can be undone for seven days; this one is older.")

    def _undo(self, opened: Opened, item: Item, place: int, merge: Planned) -> bool:
        """Take one merge back where that is possible; tell whether something moved meanwhile, so that it is worth another look."""
        changes = self._changes(opened, merge)
        if changes is None:
            return False
        try:
            self.commits.commit_together(opened.keys, changes, whole=True, step=self._progress(item, place))
        except Stale:
            self.commits.vaults.forget(opened.keys.owner)
            return True
        except (NotFound, VersionMismatch, StepDone):
            return True
        except Duplicate:
            return False
        return False

    def _changes(self, opened: Opened, merge: Planned) -> list[Change] | None:
        """Return the changes that take a merge back; None where it stays."""
        wanted = [*merge.ids, *([merge.product] if merge.product else [])]
        found = self.commits.vaults.table.get(opened.keys.owner, [names.MEMORY + memory_id for memory_id in wanted])
        stored = {one.memory.id: one for one in _opened(opened.keys, found)}
        product = stored.get(merge.product or "")
        sources = [stored[source] for source in merge.ids if source in stored]
        retired = [
            one for one in sources if one.memory.status is Status.RETIRED and one.memory.replaced_by == merge.product
        ]
        if len(retired) < len(merge.sources) or (merge.product and not self._unchanged(opened, product)):
            return None
        return unmerged(product, retired)

    def _unchanged(self, opened: Opened, product: Stored | None) -> bool:
        if product is None:
            return False
        memory = product.memory
        if memory.version == 1:
            return untouched(memory, memory)
        if memory.version - len(memory.prior) > 1:
            return False
        vaults = self.commits.vaults
        made = Journal(vaults.objects, opened.keys, vaults.random).versions(memory.id, memory.prior[:1])
        return bool(made) and untouched(memory, made[0])

    def _progress(self, item: Item, place: int) -> Update:
        undone = records.listed(sorted([*records.numbers(item, "undone"), place]))
        changed: dict[str, Value] = {"undone": undone, "updated_at": rfc3339(self.commits.vaults.clock())}
        return Update(
            str(item["sk"]),
            set=changed,
            condition=Condition(equals={"undone": item.get("undone"), "finished_at": item["finished_at"]}),
        )

    def _asked(self, owner: str, item: Item) -> Item:
        """Note that an undo was asked for: what is not undone by now stays."""
        if "undo_at" in item:
            return item
        change = Update(
            str(item["sk"]),
            set_once={"undo_at": rfc3339(self.commits.vaults.clock())},
            condition=Condition(equals={"finished_at": item["finished_at"]}),
        )
        try:
            return self.commits.vaults.table.update(owner, change)
        except Refused:
            raise Unavailable from None


def _opened(keys: OwnerKeys, found: dict[str, Item]) -> Iterator[Stored]:
    for item in found.values():
        try:
            yield items.from_item(keys, item)
        except SealBroken:
            continue
