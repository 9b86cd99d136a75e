"""Whether lines that a task planned may still be applied, as the task's item tells."""

from datetime import datetime

from shared.domain import limits
from shared.domain.ids import ulid_time
from shared.domain.task import TaskStatus
from shared.ports import Item
from shared.storage import names

OPEN = {TaskStatus.QUEUED.value, TaskStatus.PROCESSING.value, TaskStatus.FAILED.value}


def is_open(task: Item | None, now: datetime) -> bool:
    """Tell whether a task may still apply its plan; a failed one may be retried until its conversation is deleted."""
    if task is None:
        return False
    if is_forgotten(task):
        return False
    if task["status"] == TaskStatus.FAILED.value:
        return now - ulid_time(str(task["sk"]).removeprefix(names.TASK)) < limits.FAILED_KEPT + limits.REPAIR_AFTER
    return task["status"] in OPEN


def is_forgotten(task: Item | None) -> bool:
    """Tell whether a task failed for good, as one does whose conversation was forgotten: no step of its plan can be applied any more."""
    return task is not None and task["status"] == TaskStatus.FAILED.value and "finished_at" in task


def is_done(task: Item | None) -> bool:
    """Tell whether a task came to its end: what its plan still says was applied."""
    return task is not None and task.get("status") == TaskStatus.DONE.value
