"""Conversations and tasks as they travel."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from shared.domain import limits
from shared.domain.memory import Category, Scope
from shared.domain.task import Consolidated, Task, TaskStatus, Trigger
from shared.domain.times import rfc3339
from shared.learning.conversation import Conversation, Message, text_of
from shared.models.forms import Given, Moment, Name, Project, Shown, meant, shown


class ToolCall(BaseModel):
    """A tool call as any client sends it; only its shape is bounded by the request's size."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Part(BaseModel):
    """A part of a message's content. Text parts are used; images, files and the like are passed over, and nothing is fetched."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: StrictStr = Field(max_length=64, description="text, input_text and output_text are read")
    text: StrictStr | None = Field(default=None, description="the text of such a part")


class MessageIn(Given):
    """One message, in the shape that OpenAI and Anthropic clients keep: content is text, a list of parts, or null."""

    role: Literal["user", "assistant", "system", "developer", "tool", "function"] = Field(
        description="what the user says counts; the others give it context"
    )
    content: StrictStr | list[Part] | None = Field(default=None, description="text, a list of parts, or null")
    at: Moment | None = Field(
        default=None, description="when it was said; relative dates count from here. Left out: when it arrived"
    )
    name: Annotated[StrictStr, Field(max_length=limits.KEY_CHARACTERS)] | None = Field(
        default=None, description="who speaks, or which tool; taken, not read"
    )
    tool_calls: Annotated[list[ToolCall], Field(max_length=limits.TOOL_CALLS)] | None = Field(
        default=None, description="what the assistant called; a model sees them, the rules do not"
    )
    tool_call_id: Annotated[StrictStr, Field(max_length=limits.KEY_CHARACTERS)] | None = Field(
        default=None, description="taken, not read"
    )

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

    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=limits.MESSAGES)] = Field(
        description="in the order they were said"
    )
    trigger: Trigger = Field(
        description="task_completed: the last question and answer are read, for up to 3 facts; session_end: the "
        "last 20 messages; compaction: all; manual: all, whatever auto_capture, outcome and length "
        "are. The last three: up to 20 facts"
    )
    project: Project | None = Field(
        default=None,
        description="facts about the work go here; left out: to the active project; null or default: to the person",
    )
    agent: Name | None = Field(default=None, description="what it tried, and how that ended, becomes its experience")
    session_id: Name | None = Field(default=None, description="kept with each fact as its origin")
    session_type: Literal["main", "subagent", "side_task"] = Field(
        default="main", description="but for manual, only main is learned from"
    )
    outcome: Literal["completed", "failed", "cancelled"] = Field(
        default="completed", description="but for manual, only completed is learned from"
    )
    dry_run: StrictBool = Field(default=False, description="learn nothing, and list on the task what would be learned")

    def request(self) -> dict[str, Any]:
        """Return what is asked, so that another request under one Idempotency-Key can be told from a repeated one."""
        return self.model_dump(mode="json") | {"project": meant(self)}

    def conversation(self) -> Conversation:
        return Conversation(
            messages=tuple(message.message() for message in self.messages),
            trigger=self.trigger,
            project=meant(self),
            agent=self.agent,
            session_id=self.session_id,
            session_type=self.session_type,
            outcome=self.outcome,
            dry_run=self.dry_run,
        )


class AcceptedOut(Shown):
    """202: a task learns from it. 200: it is skipped, and why."""

    task_id: str | None = Field(
        default=None, description="ask GET /v1/tasks/{task_id} how far it is; null when skipped"
    )
    status: Literal["queued", "skipped"]
    reason: str | None = Field(default=None, description="why it is skipped; null when queued")


class LearnedOut(Shown):
    """What a task did. `discarded`: candidates that were refused, unwanted, too long or too many."""

    inserted: int = Field(description="new memories")
    touched: int = Field(description="known already, and confirmed")
    updated: int = Field(description="memories that got a newer text")
    archived: int = Field(description="older memories that made room")
    discarded: int = Field(description="candidates that were refused, unwanted, too long or too many")


class SpentOut(Shown):
    """What a task asked of a language model; zeros for the rules extractor."""

    calls: int = Field(description="answers of the model that were paid for")
    tokens_in: int = Field(description="as the model counts")
    tokens_out: int = Field(description="as the model counts")


class WouldLearnOut(Shown):
    """One thing that a dry run would have done; secrets are masked."""

    action: Literal["insert", "touch", "update", "archive"]
    memory_id: str | None = Field(description="the memory it would touch, update or archive; null for insert")
    content: str
    scope: Scope
    project: str | None
    agent: str | None
    category: Category
    importance: int


class MergedOut(Shown):
    """One merge: `memory_id` says what the sources said. Null: the source was dropped, since another memory says it."""

    memory_id: str | None
    sources: list[str] = Field(description="the memories that left; the history of the new one has their texts")
    undone: bool


class ConsolidationOut(Shown):
    """What a consolidation did to the memories of one scope, counted in merges."""

    scope: str | None
    project: str | None
    merged: int = Field(description="several memories became one")
    dropped: int = Field(description="memories that another one says")
    skipped: int = Field(description="left alone, since a memory had changed meanwhile")
    undone: int = Field(description="taken back by an undo")
    stayed: int = Field(description="not taken back by an undo, since something was changed or deleted since")
    undo_until: str | None = Field(
        description="POST …/undo is possible before; null while it is under way, or when refused"
    )
    merges: list[MergedOut]

    @classmethod
    def of(cls, told: Consolidated) -> Self:
        return cls(
            scope=told.scope,
            project=told.project,
            merged=told.merged,
            dropped=told.dropped,
            skipped=told.skipped,
            undone=told.undone,
            stayed=told.stayed,
            undo_until=shown(told.undo_until),
            merges=[
                MergedOut(memory_id=one.memory_id, sources=list(one.sources), undone=one.undone) for one in told.merges
            ],
        )


class TaskOut(Shown):
    """A piece of work. `error` says why it failed; a failed one can be retried for seven days.

    `quarantined` counts orders to the assistant that came in pasted or tool text and were kept out. `would_learn` is a dry run's result.
    """

    id: str
    kind: str = Field(description="extraction; or what else works in the background: consolidation, forget, import …")
    status: TaskStatus
    attempts: int = Field(description="deliveries of this run; after 3 it fails")
    error: str | None = Field(description="why it failed")
    learned: LearnedOut = Field(description="what it did, counted; zeros for a dry run")
    memory_ids: list[str] = Field(description="the memories it inserted, touched or updated")
    summary: str | None = Field(description="what the model says the conversation was about")
    quarantined: int = Field(description="orders in pasted or tool text that were kept out")
    usage: SpentOut = Field(description="what it asked of a language model")
    progress: dict[str, int] = Field(description="what a task of another kind than extraction did so far, counted")
    report: list[dict[str, Any]] | None = Field(description="what it tells one by one; null for most")
    consolidation: ConsolidationOut | None = Field(description="what a consolidation did; null for other kinds")
    dry_run: bool
    would_learn: list[WouldLearnOut] | None = Field(
        description="a dry run's result; null until it is done, and for others"
    )
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
            progress=task.progress,
            report=task.report,
            consolidation=None if task.consolidation is None else ConsolidationOut.of(task.consolidation),
            dry_run=task.dry_run,
            would_learn=None if task.would_learn is None else [WouldLearnOut(**one) for one in task.would_learn],
            created_at=rfc3339(task.created_at),
            updated_at=rfc3339(task.updated_at),
        )


class TasksOut(Shown):
    """A page of tasks, newest first."""

    tasks: list[TaskOut]
    next_cursor: str | None = Field(description="null: this was the last page")

    @classmethod
    def of(cls, tasks: list[Task], next_cursor: str | None) -> Self:
        return cls(tasks=[TaskOut.of(task) for task in tasks], next_cursor=next_cursor)
