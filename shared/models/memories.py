"""Memories as they travel: what is sent to make, change and list them, and what is answered."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StrictInt, StrictStr

from shared.domain import limits
from shared.domain.memory import Category, Memory, Scope, Source, Status
from shared.domain.times import rfc3339
from shared.keeping.filters import Filters, with_uri
from shared.keeping.listing import Listed
from shared.models.forms import Change, Cursor, Given, Limit, Moment, Name, Shown, Tag, shown

CONTENT_SIGNS = 2 * limits.CONTENT_FULL_WIDTH
"""More than any allowed content has: half-width signs count one half. The exact bound is in shared/keeping/fields.py."""


Content = Annotated[StrictStr, Field(min_length=1, max_length=CONTENT_SIGNS)]
Importance = Annotated[StrictInt, Field(ge=1, le=10)]
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
    tags: Tags = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    expires_at: Moment | None = None


class MemoryPatch(Change):
    """What to change; fields that are not sent stay as they are. `expires_at: null` takes the end away."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"content": "我对花生和腰果过敏"},
                {"content": "We release every Tuesday", "importance": 8},
                {"status": "dismissed"},
                {"category": "decision", "importance": 8, "tags": ["#release"]},
            ]
        }
    )

    content: Content = ""
    category: Category = Category.KNOWLEDGE
    importance: Importance = 5
    tags: Tags = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    expires_at: Moment | None = None
    status: Literal["active", "dismissed"] = "active"


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
            last_accessed_at=shown(memory.last_accessed_at),
            access_count=memory.access_count,
            expires_at=shown(memory.expires_at),
            origin=OriginOut(
                task_id=origin.task_id,
                session_id=origin.session_id,
                at=shown(origin.at),
                quote=origin.quote,
                model=origin.model,
            ),
            masked=bool(memory.secrets),
        )


class ListQuery(Given):
    """Filters of a list. `from` and `to` bound the time that the list is ordered by: from ≤ t < to."""

    scope: Scope | None = None
    project: Name | None = None
    agent: Name | None = None
    uri: Annotated[str, Field(max_length=400)] | None = Field(
        default=None, description="agent://{agent}/{type}/{category}, instead of scope, project, agent and category"
    )
    status: Literal["active", "dismissed", "archived", "all"] = "active"
    category: Category | None = None
    source: Source | None = None
    since: Moment | None = Field(default=None, alias="from")
    until: Moment | None = Field(default=None, alias="to")
    order: Literal["updated", "created"] = "updated"
    limit: Limit = limits.PAGE_DEFAULT
    cursor: Cursor | None = None

    def filters(self) -> Filters:
        """Return what the list is filtered by. Raises Invalid for filters that contradict each other."""
        filters = Filters(
            scope=self.scope,
            project=self.project,
            agent=self.agent,
            status=None if self.status == "all" else Status(self.status),
            category=self.category,
            source=self.source,
            since=self.since,
            until=self.until,
            order=self.order,
        )
        return filters if self.uri is None else with_uri(filters, self.uri)


class MemoriesOut(Shown):
    """A page of memories. A cursor may follow an empty page: filters on sealed fields are applied after opening."""

    memories: list[MemoryOut]
    next_cursor: str | None
    damaged: int = Field(description="memories of this page whose seal did not open; they are left out")

    @classmethod
    def of(cls, listed: Listed) -> Self:
        memories = [MemoryOut.of(memory) for memory in listed.memories]
        return cls(memories=memories, next_cursor=listed.next_cursor, damaged=listed.damaged)


class VersionOut(Shown):
    """A memory as it stood in one version."""

    version: int
    content: str
    category: Category
    importance: int
    status: Status
    source: Source
    tags: list[str]
    metadata: dict[str, Any]
    updated_at: str
    expires_at: str | None
    origin: OriginOut
    masked: bool

    @classmethod
    def of(cls, memory: Memory) -> Self:
        whole = MemoryOut.of(memory)
        return cls(**{name: getattr(whole, name) for name in cls.model_fields})


class HistoryOut(Shown):
    """The versions of a memory that are kept, newest first."""

    versions: list[VersionOut]

    @classmethod
    def of(cls, versions: list[Memory]) -> Self:
        return cls(versions=[VersionOut.of(version) for version in versions])


class RevertIn(Given):
    """Which version to bring back."""

    version: Annotated[StrictInt, Field(ge=1, le=2**31)]


class RevealOut(Shown):
    """A memory's whole text, with its secrets."""

    id: str
    content: str
