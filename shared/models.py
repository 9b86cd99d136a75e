"""The bodies of requests and answers about memories, as they travel. Outside input is bounded and forbids unknown fields.

Only forms are checked here; what a memory may be is decided in shared/keeping.
"""

import json
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr

from shared.domain import limits, naming
from shared.domain.memory import Category, Memory, Scope, Source, Status
from shared.domain.times import moment, rfc3339

CONTENT_SIGNS = 2 * limits.CONTENT_FULL_WIDTH
"""More than any allowed content has: half-width signs count one half. The exact bound is in shared/keeping/fields.py."""


class Given(BaseModel):
    """A request's body."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Shown(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(frozen=True)


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("Write a time as RFC 3339, such as 2026-11-30T16:05:00Z.")  # noqa: TRY004 - pydantic wants it
    try:
        return moment(value)
    except (ValueError, OverflowError):
        raise ValueError("Write a time as RFC 3339 with its zone, such as 2026-11-30T16:05:00Z.") from None


def _whole(value: object) -> object:
    """Numbers of a query are digits: no spaces, underscores, signs other than minus, fractions."""
    if isinstance(value, str):
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
            raise ValueError("This is a whole number.")
    return value


Moment = Annotated[datetime, BeforeValidator(_moment)]
Whole = Annotated[int, BeforeValidator(_whole)]
Name = Annotated[StrictStr, Field(min_length=1, max_length=limits.KEY_CHARACTERS), AfterValidator(naming.name)]
Tag = Annotated[StrictStr, Field(min_length=2, max_length=limits.TAG_CHARACTERS), AfterValidator(naming.tag)]
Content = Annotated[StrictStr, Field(min_length=1, max_length=CONTENT_SIGNS)]
Importance = Annotated[StrictInt, Field(ge=1, le=10)]
IdempotencyKey = Annotated[str, AfterValidator(naming.idempotency_key)]
Tags = Annotated[list[Tag], Field(max_length=limits.TAGS)]


class MemoryIn(Given):
    """A memory to add. Secrets in the content are cut out, sealed apart and shown as `***`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"content": "我对花生过敏", "category": "constraint", "importance": 9, "tags": ["#健康"]},
                {
                    "content": "We deploy with blue-green releases",
                    "scope": "project",
                    "project": "shop-api",
                    "category": "decision",
                },
            ]
        }
    )

    content: Content
    scope: Scope = Scope.USER
    project: Name | None = None
    agent: Name | None = None
    category: Category = Category.KNOWLEDGE
    importance: Importance = 5
    tags: Tags = []
    metadata: dict[str, Any] = {}
    expires_at: Moment | None = None


class MemoryPatch(Given):
    """What to change; fields that are not sent stay as they are. `expires_at: null` takes the end away."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"content": "我对花生和腰果过敏"},
                {"status": "dismissed"},
                {"category": "decision", "importance": 8, "tags": ["#release"]},
            ]
        }
    )

    content: Content = Field(default="", validate_default=False)
    category: Category = Category.KNOWLEDGE
    importance: Importance = 5
    tags: Tags = []
    metadata: dict[str, Any] = {}
    expires_at: Moment | None = None
    status: Literal["active", "dismissed"] = "active"

    def sent(self) -> dict[str, Any]:
        """Return only what the request names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class OriginOut(Shown):
    """Where a memory comes from."""

    task_id: str | None
    session_id: str | None
    at: str | None
    quote: str | None
    model: str | None


class MemoryOut(Shown):
    """A memory as its owner sees it. `masked`: the content shows `***` where a secret is."""

    id: str
    content: str
    scope: Scope
    project: str | None
    agent: str | None
    category: Category
    importance: int
    source: Source
    status: Status
    version: int
    tags: list[str]
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    last_accessed_at: str | None
    access_count: int
    expires_at: str | None
    origin: OriginOut
    masked: bool

    @classmethod
    def of(cls, memory: Memory) -> Self:
        origin = memory.origin
        return cls(
            id=memory.id,
            content=memory.content,
            scope=memory.scope,
            project=memory.project,
            agent=memory.agent,
            category=memory.category,
            importance=memory.importance,
            source=memory.source,
            status=memory.status,
            version=memory.version,
            tags=list(memory.tags),
            metadata=json.loads(memory.metadata),
            created_at=rfc3339(memory.created_at),
            updated_at=rfc3339(memory.updated_at),
            last_accessed_at=_maybe(memory.last_accessed_at),
            access_count=memory.access_count,
            expires_at=_maybe(memory.expires_at),
            origin=OriginOut(
                task_id=origin.task_id,
                session_id=origin.session_id,
                at=_maybe(origin.at),
                quote=origin.quote,
                model=origin.model,
            ),
            masked=bool(memory.secrets),
        )


def _maybe(at: datetime | None) -> str | None:
    return rfc3339(at) if at else None
