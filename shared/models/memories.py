"""Memories as they travel: what is sent to make, change and list them, and what is answered."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, StrictInt, StrictStr

from shared.domain import limits
from shared.domain.memory import Category, Memory, Scope, Source, Status
from shared.domain.times import rfc3339
from shared.keeping.memories.filters import CREATED, UPDATED, Filters, with_uri
from shared.keeping.memories.listing import Listed
from shared.models.forms import Change, Cursor, Day, Given, Limit, Moment, Name, Project, Shown, Tag, shown, whole

CONTENT_SIGNS = 2 * limits.CONTENT_FULL_WIDTH
"""More than any allowed content has: half-width signs count one half. The exact bound is in shared/keeping/memories/fields.py."""


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

    content: Content = Field(
        description="one fact in a sentence of its own, at most 500 full-width characters; kept sign by sign"
    )
    scope: Scope = Field(
        default=Scope.USER, description="user: everywhere; project: in one project; agent: one agent's experience"
    )
    project: Project | None = Field(default=None, description="needed with scope project; other scopes take none")
    agent: Name | None = Field(default=None, description="needed with scope agent; other scopes take none")
    category: Category = Field(
        default=Category.KNOWLEDGE, description="weighs in the ranking; a detected secret makes it credential"
    )
    importance: Importance = Field(default=5, description="1 to 10; a detected secret makes it 10")
    tags: Tags = Field(default_factory=list, description="each with its #")
    metadata: dict[str, Any] = Field(
        default_factory=dict, description="any JSON object of at most 4 KB; kept, shown, not searched"
    )
    expires_at: Moment | None = Field(default=None, description="from then on it is neither shown nor found")


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

    content: Content = Field(default="", description="a new text; it is looked through for secrets again")
    category: Category = Field(default=Category.KNOWLEDGE, description="a credential with a detected secret stays one")
    importance: Importance = Field(default=5, description="1 to 10")
    tags: Tags = Field(default_factory=list, description="all of them: the list is replaced")
    metadata: dict[str, Any] = Field(default_factory=dict, description="the whole object: it is replaced")
    expires_at: Moment | None = Field(default=None, description="null: no end")
    status: Literal["active", "dismissed"] = Field(
        default="active", description="dismissed: never recalled, never learned again; active: restored"
    )


class OriginOut(Shown):
    """Where a memory comes from."""

    task_id: str | None = Field(description="the task that learned it; null when it was added by hand")
    session_id: str | None = Field(description="the session of that conversation")
    at: str | None = Field(description="when it was said; when added, where it was added by hand")
    quote: str | None = Field(description="the words it was learned from, at most 200 characters, secrets masked")
    model: str | None = Field(description="what read them: the model with its prompt's version, or the rules")


class MemoryOut(Shown):
    """A memory as its owner sees it. `masked`: the content shows `***` where a secret is."""

    id: str
    content: str = Field(description="the text; a secret in it shows as ***")
    scope: Scope
    project: str | None
    agent: str | None
    category: Category
    importance: int
    source: Source = Field(description="manual: added by hand; auto: learned; consolidated, imported: made so")
    status: Status = Field(
        description="active; dismissed: refused by the person; archived: made room, search still finds it; "
        "retired: replaced by another one, only in the history of one that came back"
    )
    version: int = Field(description="grows by one with each change; also the ETag")
    tags: list[str]
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    last_accessed_at: str | None = Field(description="when a search or a context last gave it out")
    access_count: int = Field(description="how often a search or a context gave it out")
    expires_at: str | None
    origin: OriginOut = Field(description="where it comes from")
    masked: bool = Field(description="whether something of the content is masked; POST …/reveal shows it")

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
    """Filters of a list. `from` and `to` bound the time that the list is ordered by: from ≤ t < to. So do days; they mean when a memory was
    made, unless another order is sent."""

    scope: Scope | None = Field(default=None, description="only this scope")
    project: Name | None = Field(default=None, description="only this project's")
    agent: Name | None = Field(default=None, description="only this agent's")
    uri: Annotated[str, Field(max_length=400)] | None = Field(
        default=None, description="agent://{agent}/{type}/{category}, instead of scope, project, agent and category"
    )
    status: Literal["active", "dismissed", "archived", "all"] = Field(
        default="active", description="all: whatever it is"
    )
    category: Category | None = Field(default=None, description="only this category")
    source: Source | None = Field(default=None, description="only this source")
    since: Moment | None = Field(default=None, alias="from", description="not before")
    until: Moment | None = Field(default=None, alias="to", description="before")
    day: Day | None = Field(
        default=None, alias="date", description="only made on that day in your time zone, such as 2026-11-30"
    )
    last_days: Annotated[int, Field(ge=1, le=limits.DAYS_MAX), BeforeValidator(whole)] | None = Field(
        default=None, description="only made on one of the last so many days, today included"
    )
    as_of: Moment | None = Field(
        default=None,
        description="what was true then: each memory as it stood, newest-made first; what was deleted since is gone",
    )
    order: Literal["updated", "created"] | None = Field(
        default=None,
        description="newest first, by the last change or by the creation; left out: created with date or last_days, else updated",
    )
    limit: Limit = Field(default=limits.PAGE_DEFAULT, description="of one page")
    cursor: Cursor | None = Field(
        default=None, description="the next_cursor of the page before; the filters must be the same"
    )

    def filters(self) -> Filters:
        """Return what the list is filtered by. Raises Invalid for filters that contradict each other."""
        of_days = self.day is not None or self.last_days is not None
        filters = Filters(
            scope=self.scope,
            project=self.project,
            agent=self.agent,
            status=None if self.status == "all" else Status(self.status),
            category=self.category,
            source=self.source,
            since=self.since,
            until=self.until,
            order=self.order or (CREATED if of_days else UPDATED),
            day=self.day,
            last_days=self.last_days,
        )
        return filters if self.uri is None else with_uri(filters, self.uri)


class MemoriesOut(Shown):
    """A page of memories. A cursor may follow an empty page: filters on sealed fields are applied after opening."""

    memories: list[MemoryOut]
    next_cursor: str | None = Field(description="null: this was the last page")
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
    masked: bool = Field(description="whether something of the content is masked")

    @classmethod
    def of(cls, memory: Memory) -> Self:
        whole = MemoryOut.of(memory)
        return cls(**{name: getattr(whole, name) for name in cls.model_fields})


class SourceOut(Shown):
    """A memory that a consolidated one replaced. It is shown nowhere else; undoing the consolidation brings it back."""

    id: str
    content: str
    category: Category
    importance: int
    source: Source
    updated_at: str
    origin: OriginOut

    @classmethod
    def of(cls, memory: Memory) -> Self:
        whole = MemoryOut.of(memory)
        return cls(**{name: getattr(whole, name) for name in cls.model_fields})


class HistoryOut(Shown):
    """The versions of a memory that are kept, newest first."""

    versions: list[VersionOut]
    sources: list[SourceOut] = Field(description="what a consolidated memory was made of, for seven days; else empty")

    @classmethod
    def of(cls, versions: list[Memory], sources: list[Memory]) -> Self:
        return cls(
            versions=[VersionOut.of(version) for version in versions],
            sources=[SourceOut.of(source) for source in sources],
        )


class RevertIn(Given):
    """Which version to bring back."""

    version: Annotated[StrictInt, Field(ge=1, le=2**31)] = Field(description="one that the memory's history lists")


class RevealOut(Shown):
    """A memory's whole text, with its secrets."""

    id: str
    content: str = Field(description="the text with its secrets")
