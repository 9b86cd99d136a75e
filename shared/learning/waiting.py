"""Tasks that wait too long, and conversations that outlived their task. Part of an owner's maintenance."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain import limits
from shared.domain.errors import Refused
from shared.domain.ids import ulid_time
from shared.domain.task import TaskStatus
from shared.domain.times import moment, rfc3339
from shared.learning import tasks
from shared.learning.extraction import Failed
from shared.observability import alarm
from shared.ports import Condition, Item, Queue, Update
from shared.storage import names
from shared.storage.partition import each_item
from shared.storage.vaults import Opened, Vaults

DIED_AFTER = timedelta(hours=1)
"""A task that stood still that long, through all its deliveries, lost its worker or its message."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What was done: tasks sent again, tasks recorded as failed, conversations deleted; and when to look again (None: no need)."""

    sent: int
    failed: int
    deleted: int
    next_look: datetime | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Looks after the open tasks of one owner."""

    vaults: Vaults
    work: Queue

    def sweep(self, opened: Opened) -> Swept:
        """Send queued tasks again whose message may never have been sent, fail those whose worker died, delete what is over."""
        now = self.vaults.clock()
        found = self._tasks(opened.keys.owner)
        sent = failed = 0
        looks: list[datetime] = []
        for task_id, item in found.items():
            since = now - moment(str(item["updated_at"]))
            if item["status"] == TaskStatus.QUEUED.value:
                looks.append(now + limits.RESEND_AFTER)
                if since >= limits.RESEND_AFTER:
                    self._send(opened, task_id, item)
                    sent += 1
            elif item["status"] == TaskStatus.PROCESSING.value:
                looks.append(now + limits.RESEND_AFTER)
                if since >= DIED_AFTER:
                    failed += self._fail(opened.keys.owner, task_id, item)
        deleted, kept = self._conversations(opened, found, now)
        looks += kept
        return Swept(sent, failed, deleted, min(looks, default=None))

    def _tasks(self, owner: str) -> dict[str, Item]:
        every = each_item(self.vaults.table, owner, names.TASK)
        return {str(item["sk"]).removeprefix(names.TASK): item for item in every if item["kind"] == tasks.KIND}

    def _send(self, opened: Opened, task_id: str, item: Item) -> None:
        run = int(item["run"])
        body = tasks.message(opened.keys.owner, opened.keys.epoch, task_id, run)
        self.work.send(opened.keys.owner, body, deduplication=tasks.deduplication(task_id, run))

    def _fail(self, owner: str, task_id: str, item: Item) -> int:
        now = self.vaults.clock()
        change = Update(
            names.TASK + task_id,
            set={
                "status": TaskStatus.FAILED.value,
                "error": Failed.NOT_AVAILABLE.value,
                "updated_at": rfc3339(now),
                "ttl": tasks.ttl(now),
            },
            condition=Condition(equals={"status": TaskStatus.PROCESSING.value, "updated_at": item["updated_at"]}),
        )
        try:
            self.vaults.table.write(owner, [change])
        except Refused:
            return 0
        alarm("task_failed", error=Failed.NOT_AVAILABLE.value)
        return 1

    def _conversations(self, opened: Opened, found: dict[str, Item], now: datetime) -> tuple[int, list[datetime]]:
        """Delete conversations of tasks that are done, that failed a week ago, or that never came to be; return how many, and when
        the others will be over."""
        prefix = names.conversation(opened.keys.owner, opened.keys.epoch)
        deleted, looks = 0, []
        for name in list(self.vaults.objects.names(prefix)):
            task_id = name.key.removeprefix(prefix)
            over = self._over(found.get(task_id), task_id)
            if over is None:
                continue
            if over <= now:
                self._delete(opened, found.get(task_id), name.key)
                deleted += 1
            else:
                looks.append(over)
        return deleted, looks

    def _over(self, item: Item | None, task_id: str) -> datetime | None:
        if item is None:
            return ulid_time(task_id) + DIED_AFTER
        if item["status"] == TaskStatus.DONE.value:
            return moment(str(item["updated_at"]))
        if item["status"] == TaskStatus.FAILED.value:
            return moment(str(item["updated_at"])) + limits.FAILED_KEPT
        return None

    def _delete(self, opened: Opened, item: Item | None, key: str) -> None:
        """Delete a conversation; one of a failed task still counts for the owner's bytes, so they are given back first, once."""
        if item is not None and item["status"] == TaskStatus.FAILED.value and "size" in item:
            size = int(item["size"])
            change = Update(str(item["sk"]), remove=("size",), condition=Condition(equals={"size": size}))
            head = Update(names.HEAD, add={"bytes": -size}, condition=Condition(equals={"epoch": opened.keys.epoch}))
            try:
                self.vaults.table.write(opened.keys.owner, [change, head])
            except Refused:
                return
        self.vaults.objects.erase(key)
