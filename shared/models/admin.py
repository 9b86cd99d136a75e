"""What auditors and operators send and get."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, StrictStr

from shared.domain import limits, naming
from shared.domain.memory import Status
from shared.keeping.audit.agent_notes import Notes
from shared.keeping.audit.auditing import Look
from shared.keeping.memories.filters import Filters
from shared.keeping.memories.listing import Listed
from shared.models.forms import Cursor, Given, Limit, Shown, shown
from shared.models.memories import MemoryOut
from shared.text.normalise import visible

NOTICE = (
    "For audit only, read-only. This look and its reason are on the person's own audit list. "
    "仅供审计，只读；本次查看及其理由已记入本人的审计清单。"
)


def _reason(text: str) -> str:
    if len(text.strip()) < limits.REASON_MIN or not visible(text):
        raise ValueError(f"Say in at least {limits.REASON_MIN} signs why; the person will read it.")
    return naming.seen(text.strip())


class LookQuery(Given):
    """Whose memories, and why."""

    user_id: Annotated[str, Field(min_length=1, max_length=limits.SUBJECT_CHARACTERS)] = Field(
        description="the subject (sub) of that person's tokens, of the same issuer as yours"
    )
    reason: Annotated[str, Field(max_length=limits.REASON_CHARACTERS), AfterValidator(_reason)] = Field(
        description="8 to 300 signs, none of them invisible, a line end or a change of direction; the person reads it in the audit list"
    )
    status: Literal["active", "dismissed", "archived", "all"] = Field(default="all", description="all: whatever it is")
    limit: Limit = Field(default=limits.PAGE_DEFAULT, description="of one page")
    cursor: Cursor | None = Field(default=None, description="the next_cursor of the page before")

    def filters(self) -> Filters:
        return Filters(status=None if self.status == "all" else Status(self.status))


class LookedAtOut(Shown):
    """A page of another person's memories, last changed first. Whoever has none, was erased or never was has the same empty page."""

    notice: str = Field(description="that it is for audit and read-only, and on record")
    read_only: Literal[True]
    memories: list[MemoryOut] = Field(description="secrets stay masked, whatever the person's settings say")
    next_cursor: str | None = Field(description="null: this was the last page")
    damaged: int = Field(description="memories of this page whose seal did not open; they are left out")

    @classmethod
    def of(cls, listed: Listed) -> Self:
        return cls(
            notice=NOTICE,
            read_only=True,
            memories=[MemoryOut.of(memory) for memory in listed.memories],
            next_cursor=listed.next_cursor,
            damaged=listed.damaged,
        )


class NotesIn(Given):
    """What an agent is to be told first in every context."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"notes": "Answer in Chinese; deploys need a ticket."}, {"notes": "先查工单，再动生产环境。"}]
        }
    )

    notes: Annotated[StrictStr, Field(max_length=limits.AGENT_NOTES_CHARACTERS)] = Field(
        description="at most 300 characters, no secrets; empty takes the notes away"
    )


class ChangeOut(Shown):
    """One change of an agent's notes that was asked for."""

    at: str
    by: str = Field(description="auditor: and the subject of the token")

    @classmethod
    def of(cls, look: Look) -> Self:
        return cls(at=shown(look.at) or "", by=look.by)


class NotesOut(Shown):
    """An agent's notes, and who changed them lately."""

    agent: str
    notes: str = Field(description="empty: there are none")
    updated_at: str | None = Field(description="null: nobody ever wrote any")
    updated_by: str | None = Field(description="null: there are none")
    changes: list[ChangeOut] = Field(description="the last 20 among the last 200 of all agents, newest first")

    @classmethod
    def of(cls, notes: Notes) -> Self:
        changes = [ChangeOut.of(look) for look in notes.changes]
        return cls(
            agent=notes.agent, notes=notes.text, updated_at=shown(notes.at), updated_by=notes.by, changes=changes
        )
