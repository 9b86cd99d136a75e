"""Exports and imports as they travel."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from shared.domain import limits
from shared.domain.errors import Invalid
from shared.domain.ids import ULID
from shared.domain.memory import Scope
from shared.domain.task import TaskStatus
from shared.keeping.exporting.pages import Exported, Wish
from shared.keeping.importing.course import Mode
from shared.keeping.importing.receiving import Received
from shared.models.forms import Cursor, Given, Moment, Project, Shown
from shared.models.owners import SettingsPatch


def _yes_or_no(value: object) -> object:
    """Let a query's switch be true or false and nothing else."""
    if value not in {True, False, "true", "false"}:
        raise ValueError("Write true or false.")
    return value in {True, "true"}


Switch = Annotated[bool, BeforeValidator(_yes_or_no)]


class ExportQuery(Given):
    """What to export; the same on each page."""

    since: Moment | None = Field(default=None, alias="from", description="memories made then or later")
    until: Moment | None = Field(default=None, alias="to", description="memories made before")
    content: Switch = Field(default=True, description="false: no texts, only what surrounds them")
    history: Switch = Field(default=False, description="true: with the earlier versions of each memory")
    include_credentials: Switch = Field(
        default=False, description="true: secrets in plain; goes on your audit list before anything is answered"
    )
    cursor: Cursor | None = Field(
        default=None, description="the next_cursor of the page before; the rest must be the same"
    )

    def wish(self) -> Wish:
        """Return what is asked for. Raises Invalid for bounds that cannot be."""
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise Invalid.of("to", "It must be later than from.")
        return Wish(self.since, self.until, self.content, self.history, self.include_credentials)


class ExportOut(Shown):
    """One page: write `data` of all pages into one file, in their order, for an export that can be imported and checked."""

    format: Literal["nacre"] = "nacre"
    data: str = Field(description="JSON lines, each with its end; the last line of the last page is the manifest")
    lines: int = Field(description="in data")
    next_cursor: str | None = Field(description="null: this was the last page")

    @classmethod
    def of(cls, exported: Exported) -> Self:
        return cls(data=exported.data, lines=exported.lines, next_cursor=exported.next_cursor)


def settings_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a file tells, as PATCH /v1/settings takes them. Raises Invalid."""
    try:
        return SettingsPatch.model_validate(sent).sent()
    except ValidationError:
        raise Invalid.of("settings", "They are not what settings must be.") from None


class ImportIn(Given):
    """One page of a file that is imported: whole lines of it. What is asked for is the same with each page."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"format": "nacre", "data": '{"kind":"memory","content":"我对花生过敏","category":"constraint"}\n'},
                {"mode": "replace", "confirm": True, "data": "…", "last": False},
                {"import_id": "01KJM2Z3T4V5W6X7Y8Z9A0B1C2", "mode": "replace", "confirm": True, "data": "…"},
            ]
        }
    )

    import_id: Annotated[StrictStr, Field(pattern=rf"^{ULID}$")] | None = Field(
        default=None, description="the task_id that the first page was answered with; the first page has none"
    )
    mode: Mode = Field(
        default=Mode.MERGE,
        description="merge: what stands stays; overwrite: the file's fields win; replace: and what it does not hold is forgotten",
    )
    format: Literal["auto", "nacre", "cmdcode", "mao", "memory_skill", "mem0", "text"] = Field(
        default="auto",
        description="auto: told by what is in the first page; docs/portability-formats.md has the others",
    )
    data: Annotated[StrictStr, Field(max_length=limits.BODY_BYTES)] = Field(description="the next lines of the file")
    last: StrictBool = Field(
        default=True, description="false: more pages follow; nothing is taken in before the last one"
    )
    scope: Scope | None = Field(
        default=None, description="user or project: where everything is to go; null: where the file says"
    )
    project: Project | None = Field(default=None, description="with scope project: where everything is to go")
    master_key: Annotated[StrictStr, Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="what CmdCode's texts are opened with; used in this request and never kept"
    )
    user_id: Annotated[StrictStr, Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="CmdCode's own, with master_key; used in this request and never kept"
    )
    confirm: StrictBool = Field(default=False, description="replace needs true: it forgets what the file does not hold")

    def request(self) -> dict[str, str | bool | None]:
        """Return what is asked, so that another request under one Idempotency-Key can be told from a repeated one."""
        return self.model_dump(mode="json", exclude={"master_key"})


class ImportOut(Shown):
    """A page that was taken in. Once the last one came a task goes on; GET /v1/tasks/{task_id} tells what became of it."""

    task_id: str = Field(description="the import_id of further pages")
    status: TaskStatus
    pages: int = Field(description="that came")
    lines: int = Field(description="read so far; 0 when it is over")
    refused: int = Field(description="of these, lines that will not be taken in; the task's report tells why")
    complete: bool = Field(description="the last page came")

    @classmethod
    def of(cls, received: Received) -> Self:
        return cls(
            task_id=received.task_id,
            status=received.status,
            pages=received.pages,
            lines=received.lines,
            refused=received.refused,
            complete=received.complete,
        )
