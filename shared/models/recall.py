"""Search and context as they travel."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from shared.domain import limits
from shared.domain.memory import Category
from shared.models.forms import Given, Name, Shown
from shared.models.memories import MemoryOut
from shared.recall.context import Context, Moment
from shared.recall.search import ALL_PROJECTS, Hit, Question

Text = Annotated[StrictStr, Field(max_length=limits.QUERY_CHARACTERS)]


class SearchIn(Given):
    """What to look for. Any text is just text: there is no query syntax. `project` "*" looks in all projects."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "我对什么过敏？", "limit": 3},
                {"query": "how do we deploy", "project": "shop-api", "explain": True},
            ]
        }
    )

    query: Annotated[Text, Field(min_length=1)]
    project: Name | None = None
    agent: Name | None = None
    categories: Annotated[list[Category], Field(max_length=8)] = Field(default=[])
    limit: Annotated[StrictInt, Field(ge=1, le=limits.RESULTS_MAX)] | None = None
    preset: Literal["default", "rrf", "skill", "blend"] = "default"
    explain: StrictBool = False

    def question(self) -> Question:
        """Return what is asked; `*` is a name of its own, not a project's."""
        return Question(
            query=self.query,
            project=ALL_PROJECTS if self.project == ALL_PROJECTS else self.project,
            agent=self.agent,
            categories=frozenset(self.categories),
            limit=self.limit,
            preset=self.preset,
        )


class HitOut(MemoryOut):
    """A memory that was found. With `explain`: every signal of the ranking, and the query's words that it holds."""

    score: float
    signals: dict[str, float] | None = None
    matched: list[str] | None = None

    @classmethod
    def found(cls, hit: Hit, *, explain: bool) -> Self:
        whole = MemoryOut.of(hit.memory)
        return cls(
            **{name: getattr(whole, name) for name in MemoryOut.model_fields},
            score=round(hit.score, 6),
            signals={name: round(value, 6) for name, value in hit.signals.items()} if explain else None,
            matched=list(hit.matched) if explain else None,
        )


class SearchOut(Shown):
    """Memories, best first. `reason` says why there are none where the owner switched recall off."""

    memories: list[HitOut]
    took_ms: float
    reason: str | None = None


class ContextIn(Given):
    """What the agent is about to answer; without a message, what to know at the beginning of a session."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"message": "继续上次的接口重构", "project": "shop-api"},
                {"message": "Write a data processing function", "token_budget": 800},
            ]
        }
    )

    message: Annotated[StrictStr, Field(max_length=limits.MESSAGE_CHARACTERS)] | None = None
    project: Name | None = None
    agent: Name | None = None
    new_session: StrictBool = True
    token_budget: Annotated[StrictInt, Field(ge=1, le=limits.TOKEN_BUDGET_MAX)] = limits.TOKEN_BUDGET_DEFAULT
    force: StrictBool = False

    def moment(self) -> Moment:
        return Moment(self.message, self.project, self.agent, self.new_session, self.token_budget, self.force)


class ContextOut(Shown):
    """Text to put before the agent (empty: nothing), its estimated tokens, and why it is as it is."""

    text: str
    tokens: int
    recalled: bool
    intent: str
    memory_ids: list[str]
    reason: str | None

    @classmethod
    def of(cls, context: Context) -> Self:
        return cls(
            text=context.text,
            tokens=context.tokens,
            recalled=context.recalled,
            intent=context.intent,
            memory_ids=list(context.memory_ids),
            reason=context.reason,
        )
