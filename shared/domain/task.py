"""A task: one piece of asynchronous work that its owner can see."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class TaskStatus(StrEnum):
    QUEUED = "queued"
    PROCESSING = "processing"
    DONE = "done"
    FAILED = "failed"


class Trigger(StrEnum):
    """What made a client send a conversation."""

    TASK_COMPLETED = "task_completed"
    COMPACTION = "compaction"
    SESSION_END = "session_end"
    MANUAL = "manual"


LEARNED = ("inserted", "touched", "updated", "archived", "discarded")
"""What a task counts of its work."""
PROGRESS = "did_"
"""How the columns begin that count a task's progress."""
SPENT = ("calls", "tokens_in", "tokens_out")
"""What a task counts of the model's."""


@dataclass(frozen=True, slots=True)
class Merged:
    """One merge of a consolidation: what replaced the sources; None where one was dropped that another memory says."""

    memory_id: str | None
    sources: tuple[str, ...]
    undone: bool


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a consolidation did to one scope. `skipped` counts merges whose sources had changed meanwhile; `undone` and `stayed` what became
    of the others when an undo was asked for."""

    scope: str | None
    project: str | None
    merged: int
    dropped: int
    skipped: int
    undone: int
    stayed: int
    undo_until: datetime | None
    merges: tuple[Merged, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One task as stored.

    `run` counts the owner's retries, `attempts` the deliveries of the present run. `plan` is the commit that its journal object has or
    will have, `applied` the number of the plan's steps that are in the table. `progress` counts what a task of another kind than
    learning did, by names of its own; `report` is what it tells its owner one by one.
    """

    id: str
    kind: str
    status: TaskStatus
    created_at: datetime
    updated_at: datetime
    run: int = 1
    attempts: int = 0
    error: str | None = None
    plan: str | None = None
    applied: int = 0
    learned: dict[str, int] = field(default_factory=dict)
    memory_ids: tuple[str, ...] = ()
    summary: str | None = None
    dry_run: bool = False
    would_learn: list[dict[str, Any]] | None = None
    quarantined: int = 0
    usage: dict[str, int] = field(default_factory=dict)
    consolidation: Consolidated | None = None
    progress: dict[str, int] = field(default_factory=dict)
    report: list[dict[str, Any]] | None = None
