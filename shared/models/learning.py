"""Conversations and tasks as they travel."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from shared.domain import limits
from shared.domain.memory import Category, Scope
from shared.domain.task import Task, TaskStatus, Trigger
from shared.domain.times import rfc3339
from shared.learning.conversation import Conversation, Message, text_of
from shared.models.forms import Given, Moment, Name, Shown


class ToolCall(BaseModel):
    """A tool call as any client sends it; only its shape is bounded by the request's size."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Part(BaseModel):
    """A part of a message's content. Text parts are used; images, files and the like are passed over, and nothing is fetched."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: StrictStr = Field(max_length=64)
    text: StrictStr | None = None


class MessageIn(Given):
    """One message, in the shape that OpenAI and Anthropic clients keep: content is text, a list of parts, or null."""

    role: Literal["user", "assistant", "system", "developer", "tool", "function"]
    content: StrictStr | list[Part] | None = None
    at: Moment | None = None
    name: Annotated[StrictStr, Field(max_length=limits.KEY_CHARACTERS)] | None = None
    tool_calls: Annotated[list[ToolCall], Field(max_length=limits.TOOL_CALLS)] | None = None
    tool_call_id: Annotated[StrictStr, Field(max_length=limits.KEY_CHARACTERS)] | None = None

    def message(self) -> Message:
        parts = self.content if not isinstance(self.content, list) else [part.model_dump() for part in self.content]
        calls = tuple(call.model_dump() for call in self.tool_calls or ())
        return Message(self.role, text_of(parts), self.at, self.name, calls)


class ConversationIn(Given):
    """A conversation to learn from. Automatic triggers need the owner's setting `auto_capture`; `manual` does not."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "messages": [
                        {"role": "user", "content": "我们决定后端统一使用 FastAPI，接口前缀是 /api/v2。"},
                        {"role": "assistant", "content": "好的，我按这个来搭建。"},
                    ],
                    "project": "shop-api",
                    "trigger": "task_completed",
                },
                {
                    "messages": [{"role": "user", "content": "Remember this: I prefer tabs over spaces."}],
                    "trigger": "manual",
                },
            ]
        }
    )

    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=limits.MESSAGES)]
    trigger: Trigger
    project: Name | None = None
    agent: Name | None = None
    session_id: Name | None = None
    session_type: Literal["main", "subagent", "side_task"] = "main"
    outcome: Literal["completed", "failed", "cancelled"] = "completed"
    dry_run: StrictBool = Field(default=False, description="learn nothing, and list on the task what would be learned")

    def conversation(self) -> Conversation:
        return Conversation(
            messages=tuple(message.message() for message in self.messages),
            trigger=self.trigger,
            project=self.project,
            agent=self.agent,
            session_id=self.session_id,
            session_type=self.session_type,
            outcome=self.outcome,
            dry_run=self.dry_run,
        )


class AcceptedOut(Shown):
    """202: a task learns from it. 200: it is skipped, and why."""

    task_id: str | None = None
    status: Literal["queued", "skipped"]
    reason: str | None = None


class LearnedOut(Shown):
    """What a task did. `discarded`: candidates that were refused, unwanted, too long or too many."""

    inserted: int
    touched: int
    updated: int
    archived: int
    discarded: int


class SpentOut(Shown):
    """What a task asked of a language model; zeros for the rules extractor."""

    calls: int
    tokens_in: int
    tokens_out: int


class WouldLearnOut(Shown):
    """One thing that a dry run would have done; secrets are masked."""

    action: Literal["insert", "touch", "update", "archive"]
    memory_id: str | None
    content: str
    scope: Scope
    project: str | None
    agent: str | None
    category: Category
    importance: int


class TaskOut(Shown):
    """A piece of work. `error` says why it failed; a failed one can be retried for seven days.

    `quarantined` counts orders to the assistant that came in pasted or tool text and were kept out. `would_learn` is a dry run's result.
    """

    id: str
    kind: str
    status: TaskStatus
    attempts: int
    error: str | None
    learned: LearnedOut
    memory_ids: list[str]
    summary: str | None
    quarantined: int
    usage: SpentOut
    dry_run: bool
    would_learn: list[WouldLearnOut] | None
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, task: Task) -> Self:
        return cls(
            id=task.id,
            kind=task.kind,
            status=task.status,
            attempts=task.attempts,
            error=task.error,
            learned=LearnedOut(**task.learned),
            memory_ids=list(task.memory_ids),
            summary=task.summary,
            quarantined=task.quarantined,
            usage=SpentOut(**task.usage),
            dry_run=task.dry_run,
            would_learn=None if task.would_learn is None else [WouldLearnOut(**one) for one in task.would_learn],
            created_at=rfc3339(task.created_at),
            updated_at=rfc3339(task.updated_at),
        )


class TasksOut(Shown):
    """A page of tasks, newest first."""

    tasks: list[TaskOut]
    next_cursor: str | None

    @classmethod
    def of(cls, tasks: list[Task], next_cursor: str | None) -> Self:
        return cls(tasks=[TaskOut.of(task) for task in tasks], next_cursor=next_cursor)
