"""Forgetting many memories, as it travels."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from shared.domain import limits
from shared.domain.ids import ULID
from shared.domain.memory import Category, Scope
from shared.domain.task import TaskStatus
from shared.keeping.forgetting.asking import Preview
from shared.keeping.forgetting.texts import Kind
from shared.models.forms import Day, Given, Moment, Name, Shown
from shared.models.memories import MemoryOut, VersionOut

Id = Annotated[StrictStr, Field(pattern=rf"^{ULID}$")]


class ForgetIn(Given):
    """What to forget: every part that is sent must hold. Days are days in your time zone, by when a memory was made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "花生", "dry_run": True},
                {"project": "shop-api", "confirm": True},
                {"last_days": 7, "importance_below": 4, "confirm": True},
                {"all": True, "confirm": True},
            ]
        }
    )

    ids: Annotated[list[Id], Field(min_length=1, max_length=limits.FORGET_IDS)] | None = Field(
        default=None, description="these memories; ids that are not yours mean nothing"
    )
    date: Day | None = Field(default=None, description="made on that day, such as 2026-11-30")
    last_days: Annotated[StrictInt, Field(ge=1, le=limits.DAYS_MAX)] | None = Field(
        default=None, description="made on one of the last so many days, today included"
    )
    since: Moment | None = Field(default=None, alias="from", description="made then or later")
    until: Moment | None = Field(default=None, alias="to", description="made before")
    scope: Scope | None = None
    project: Name | None = Field(default=None, description="of this project")
    agent: Name | None = Field(default=None, description="of this agent")
    category: Category | None = None
    importance_below: Annotated[StrictInt, Field(ge=2, le=10)] | None = Field(
        default=None, description="less important than this"
    )
    query: Annotated[StrictStr, Field(min_length=1, max_length=limits.QUERY_CHARACTERS)] | None = Field(
        default=None,
        description="each of these words stands, as a piece of text, in its text, its quote or its tags as shown, compared as search "
        "does (case, width, accents, traditional or simplified), or is all of a secret of it; of a memory that says "
        "something else by now the earlier versions that hold them",
    )
    all: StrictBool = Field(default=False, description="everything you have; stands alone")
    dry_run: StrictBool = Field(default=False, description="change nothing, and say what would go")
    confirm: StrictBool = Field(default=False, description="true: forget; needed unless dry_run")

    def request(self) -> dict[str, Any]:
        """Return what is asked, so that another request under one Idempotency-Key can be told from a repeated one."""
        return self.model_dump(mode="json")


class TextOut(Shown):
    """A text that would go by its words."""

    kind: Kind = Field(description="a statement of the persona, a scene's summary or context, a suggestion")
    text: str
    project: str | None = Field(description="of this project")
    suggestion_id: str | None


class EarlierOut(VersionOut):
    """What a memory said before."""

    id: str = Field(description="of the memory")


class ForgetOut(Shown):
    """202: a task forgets. 200: what would be forgotten."""

    status: TaskStatus | Literal["dry_run"] = Field(
        description="of the task as it is now: queued, but where an Idempotency-Key repeats a request"
    )
    task_id: str | None = Field(
        default=None,
        description="GET /v1/tasks/{task_id} says how many are forgotten, and done when nothing of them is left",
    )
    count: int | None = Field(default=None, description="of a dry run: how many would go")
    complete: bool | None = Field(default=None, description="of a dry run: false, if there was no time to count all")
    memories: list[MemoryOut] | None = Field(default=None, description="of a dry run: the newest hundred of them")
    text_count: int | None = Field(
        default=None,
        description="of a dry run: how many texts of persona, scenes and suggestions hold the words of `query`",
    )
    texts: list[TextOut] | None = Field(
        default=None, description="of a dry run: those texts, a hundred at most, without what is hidden already"
    )
    notes: int | None = Field(
        default=None, description="of a dry run: how many notes would go that are no memories yet"
    )
    conversations: int | None = Field(
        default=None,
        description="of a dry run: how many conversations that wait to be learned from would lose what is meant",
    )
    scenes: int | None = Field(
        default=None,
        description="of a dry run by a project alone, or of everything: how many scenes would go, whoever wrote them",
    )
    earlier_count: int | None = Field(
        default=None,
        description="of a dry run with a query: how many earlier versions would go of memories that say something else now, and stay",
    )
    earlier: list[EarlierOut] | None = Field(default=None, description="of a dry run: a hundred of those versions")
    damaged: int | None = Field(
        default=None,
        description="of a dry run: how many memories and objects of the journal do not open, so that nobody knows what they say",
    )

    @classmethod
    def of(cls, preview: Preview) -> Self:
        memories = [MemoryOut.of(memory) for memory in preview.memories]
        told = [
            TextOut(kind=one.kind, text=one.text, project=one.project, suggestion_id=one.suggestion_id)
            for one in preview.texts
        ]
        return cls(
            status="dry_run",
            count=preview.count,
            complete=preview.complete,
            memories=memories,
            text_count=preview.told,
            texts=told,
            notes=preview.notes,
            conversations=preview.conversations,
            scenes=preview.scenes,
            earlier_count=preview.earlier_count,
            earlier=[EarlierOut.of(version) for version in preview.earlier],
            damaged=preview.damaged,
        )
