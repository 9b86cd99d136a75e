"""Sessions and notes as they travel."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StrictStr

from shared.domain import limits
from shared.domain.times import rfc3339
from shared.keeping.sessions.sessions import Begun, Ended, Noted, Session
from shared.learning.notes import Note
from shared.models.forms import Given, Name, Project, Shown, Tag, meant
from shared.models.memories import MemoryOut

KeyPoint = Annotated[StrictStr, Field(min_length=1, max_length=2 * limits.CONTENT_FULL_WIDTH)]


class SessionIn(Given):
    """Where the session belongs."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"project": "shop-api"}, {}]})

    project: Project | None = Field(
        default=None, description="its memories go here; left out: the active project; null or default: to the person"
    )
    agent: Name | None = Field(default=None, description="the agent whose session it is")

    def meant(self) -> str | None:
        return meant(self)


class EndedOut(Shown):
    """A session that ended."""

    session_id: str
    notes: int = Field(description="how many it had")
    task_id: str | None = Field(
        description="the task that makes memories of them; null: there were none, or they were dropped"
    )

    @classmethod
    def of(cls, ended: Ended) -> Self:
        return cls(session_id=ended.session_id, notes=ended.notes, task_id=ended.task_id)


class SessionOut(Shown):
    """The open session, if there is one."""

    status: Literal["none", "open"]
    session_id: str | None = None
    project: str | None = None
    agent: str | None = None
    started_at: str | None = None
    last_at: str | None = Field(
        default=None, description="of the last note, kept or not; half an hour later it ends by itself"
    )
    notes: int = 0

    @classmethod
    def of(cls, session: Session | None) -> Self:
        if session is None:
            return cls(status="none")
        return cls(
            status="open",
            session_id=session.id,
            project=session.project,
            agent=session.agent,
            started_at=rfc3339(session.started_at),
            last_at=rfc3339(session.last_at),
            notes=session.notes,
        )


class BegunOut(Shown):
    """A session that begins."""

    session: SessionOut
    finalized: EndedOut | None = Field(description="the session that was still open, and ended now; null: none was")
    digest: list[MemoryOut] = Field(
        description="what was confirmed last of the person and the project, latest first; masked"
    )

    @classmethod
    def of(cls, begun: Begun) -> Self:
        ended = EndedOut.of(begun.ended) if begun.ended else None
        return cls(
            session=SessionOut.of(begun.session),
            finalized=ended,
            digest=[MemoryOut.of(memory) for memory in begun.digest],
        )


class NoteIn(Given):
    """What the person just said, and what a client found in it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "user_message": "我们决定用 PostgreSQL，别再用 MySQL 了",
                    "topic": "数据库",
                    "key_info": ["数据库用 PostgreSQL"],
                },
                {"user_message": "谢谢，拜拜"},
            ]
        }
    )

    user_message: Annotated[StrictStr, Field(min_length=1, max_length=limits.NOTE_CHARACTERS)]
    topic: Annotated[StrictStr, Field(min_length=1, max_length=limits.TAG_CHARACTERS - 1)] | None = Field(
        default=None, description="becomes a tag of what is remembered"
    )
    key_info: Annotated[list[KeyPoint], Field(max_length=limits.KEY_POINTS)] | KeyPoint = Field(
        default=[], description="key points, each a fact in a sentence of its own; none: the message speaks for itself"
    )
    tags: Annotated[list[Tag], Field(max_length=limits.TAGS)] = Field(default=[])

    def note(self, at: datetime) -> Note:
        points = (self.key_info,) if isinstance(self.key_info, str) else tuple(self.key_info)
        return Note(self.user_message, at, points, self.topic, tuple(self.tags))


class NotedOut(Shown):
    """What became of it."""

    saved: bool
    reason: str = Field(
        description="forced, key_points, custom_keyword, trigger: kept; suppressed, excluded, no_trigger, disabled: not; "
        "ended: it ended the session"
    )
    session_id: str | None
    finalized: EndedOut | None = Field(description="the session that it ended, if it did")

    @classmethod
    def of(cls, noted: Noted) -> Self:
        ended = EndedOut.of(noted.ended) if noted.ended else None
        return cls(saved=noted.saved, reason=noted.reason, session_id=noted.session_id, finalized=ended)


class FinalizeIn(Given):
    """How to end the session."""

    discard: StrictBool = Field(default=False, description="true: drop the notes, nothing is remembered of them")
