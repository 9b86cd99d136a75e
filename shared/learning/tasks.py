"""Tasks as items of the table, and what their owner can see and do of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import NotFound, NotPossibleNow, Refused, SealBroken
from shared.domain.ids import is_ulid
from shared.domain.task import LEARNED, PROGRESS, SPENT, Consolidated, Merged, Task, TaskStatus
from shared.domain.times import epoch_seconds, moment, rfc3339
from shared.keeping.cursors import Cursors
from shared.observability import alarm
from shared.ports import Condition, Item, Queue, Update, Value
from shared.storage import bodies, names
from shared.storage.vaults import Vaults

KIND, CONSOLIDATION = "extraction", "consolidation"
LIST = "tasks"
RESULT = "task"
"""What the sealed result of a task is called in its seal."""


def new_item(task_id: str, trigger: str, size: int, now: datetime, *, dry_run: bool) -> Item:
    """Return the item of a task that waits; `size` is that of its sealed conversation in bytes."""
    item: Item = {"sk": names.TASK + task_id, "kind": KIND, "status": TaskStatus.QUEUED.value, "trigger": trigger}
    item |= {
        "created_at": rfc3339(now),
        "updated_at": rfc3339(now),
        "run": 1,
        "attempts": 0,
        "applied": 0,
        "size": size,
    }
    return item | {"dry_run": 1} if dry_run else item


def from_item(keys: OwnerKeys, item: Item) -> Task:
    """Read a task. Raises SealBroken when its result does not open."""
    result = result_of(keys, item)
    return Task(
        id=str(item["sk"]).removeprefix(names.TASK),
        kind=str(item["kind"]),
        status=TaskStatus(str(item["status"])),
        created_at=moment(str(item["created_at"])),
        updated_at=moment(str(item["updated_at"])),
        run=int(item["run"]),
        attempts=int(item["attempts"]),
        error=str(item["error"]) if "error" in item else None,
        plan=str(item["plan"]) if "plan" in item else None,
        applied=int(item["applied"]),
        learned={name: int(item.get(name, 0)) for name in LEARNED},
        memory_ids=tuple(result.get("memory_ids", ())),
        summary=result.get("summary"),
        dry_run="dry_run" in item,
        would_learn=result.get("would_learn"),
        quarantined=int(item.get("quarantined", 0)),
        usage={name: int(item.get(name, 0)) for name in SPENT},
        progress={n.removeprefix(PROGRESS): int(count) for n, count in item.items() if n.startswith(PROGRESS)},
        report=result.get("report"),
        consolidation=consolidated(item, result) if item["kind"] == CONSOLIDATION else None,
    )


def result_of(keys: OwnerKeys, item: Item) -> dict[str, Any]:
    """Open what is sealed of a task; nothing where nothing is. Raises SealBroken."""
    if "sealed" not in item:
        return {}
    task_id, run = str(item["sk"]).removeprefix(names.TASK), int(item["run"])
    result: dict[str, Any] = bodies.unpack(keys.unseal(RESULT, task_id, run, int(item["gen"]), _bytes(item["sealed"])))
    return result


def consolidated(item: Item, result: Mapping[str, Any]) -> Consolidated:
    """Read what a consolidation did, and what of it was undone."""
    counts = {name: int(item.get(name, 0)) for name in ("merged", "dropped", "skipped")}
    finished = item.get("finished_at")
    left, undone = ({int(place) for place in str(item.get(name, "")).split()} for name in ("left", "undone"))
    return Consolidated(
        scope=result.get("scope"),
        project=result.get("project"),
        **counts,
        undone=len(undone),
        stayed=counts["merged"] + counts["dropped"] - len(undone) if "undo_at" in item else 0,
        undo_until=moment(finished) + limits.UNDO_KEPT if isinstance(finished, str) else None,
        merges=tuple(
            Merged(one["product"], tuple(source for source, _ in one["sources"]), undone=place in undone)
            for place, one in enumerate(result.get("merges", ()))
            if place not in left
        ),
    )


def message(owner: str, epoch: int, task_id: str, run: int) -> dict[str, str | int]:
    """Return the body of the queue message of a task's run: ids and numbers only."""
    return {"v": 1, "owner": owner, "epoch": epoch, "task": task_id, "run": run}


def deduplication(task_id: str, run: int) -> str:
    """Return the deduplication id of a task's run: sent twice within five minutes, it arrives once."""
    return f"{task_id}-{run}"


@dataclass(frozen=True, slots=True)
class Tasks:
    """What an owner can see and do of tasks."""

    vaults: Vaults
    work: Queue
    cursors: Cursors

    def get(self, owner: str, task_id: str) -> Task:
        """Return one task. Raises NotFound."""
        sk = names.TASK + task_id
        opened = self.vaults.open(owner, [sk]) if is_ulid(task_id) else None
        if opened is None or sk not in opened.items:
            raise NotFound
        return from_item(opened.keys, opened.items[sk])

    def list(self, owner: str, *, limit: int, cursor: str | None = None) -> tuple[list[Task], str | None]:
        """Return tasks, newest first, and the cursor to go on from. What does not open is left out and told of. Raises InvalidCursor."""
        opened = self.vaults.open(owner)
        if opened is None:
            self.cursors.refuse(cursor)
            return [], None
        after = self.cursors.read(opened.keys, LIST, cursor)
        page = self.vaults.table.query(owner, names.TASK, after=after, limit=limit, descending=True)
        return list(_opened(opened.keys, page.items)), self.cursors.write(opened.keys, LIST, page.after)

    def retry(self, owner: str, task_id: str) -> Task:
        """Queue a failed task again. Raises NotFound; NotPossibleNow when it has not failed or its conversation is gone."""
        task = self.get(owner, task_id)
        opened = self.vaults.open(owner)
        if opened is None:
            raise NotFound
        if task.kind != KIND:
            raise NotPossibleNow("Maintenance tries this by itself; only learning from a conversation can be retried.")
        if task.status is not TaskStatus.FAILED:
            raise NotPossibleNow("Only a failed task can be retried.")
        key = names.conversation(owner, opened.keys.epoch, task_id)
        if next(self.vaults.objects.names(key), None) is None:
            raise NotPossibleNow("The conversation of this task has been deleted; send it again.")
        now = self.vaults.clock()
        change = Update(
            names.TASK + task_id,
            set={"status": TaskStatus.QUEUED.value, "updated_at": rfc3339(now), "attempts": 0, "run": task.run + 1},
            remove=("error", "ttl"),
            condition=Condition(equals={"status": TaskStatus.FAILED.value, "run": task.run}),
        )
        due = Update(
            names.HEAD,
            set_once={
                "due_shard": names.due_shard(owner, limits.DUE_SHARDS),
                "due_at": rfc3339(now + limits.RESEND_AFTER),
            },
            add={"commits": 1},
            condition=Condition(equals={"epoch": opened.keys.epoch}),
        )
        try:
            self.vaults.table.write(owner, [change, due])
        except Refused:
            raise NotPossibleNow from None
        run = task.run + 1
        self.work.send(
            owner, message(owner, opened.keys.epoch, task_id, run), deduplication=deduplication(task_id, run)
        )
        return self.get(owner, task_id)


def _opened(keys: OwnerKeys, found: Iterable[Item]) -> Iterator[Task]:
    for item in found:
        try:
            yield from_item(keys, item)
        except SealBroken:
            alarm("damaged", task=str(item["sk"]).removeprefix(names.TASK))


def _bytes(value: Value) -> bytes:
    return value if isinstance(value, bytes) else b""


def ttl(now: datetime) -> int:
    """Return when the table may forget a task that ended, in epoch seconds."""
    return epoch_seconds(now + limits.TASK_KEPT)
