"""Search and context as they travel."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from shared.domain import limits
from shared.domain.memory import REFERENCE, Category
from shared.models.forms import Given, Name, Shown, meant
from shared.models.memories import MemoryOut
from shared.recall import context
from shared.recall.context import Context, Moment
from shared.recall.search import Hit, Question, Reason
from shared.text import intent
from shared.text.intent_words import QueryClass

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

    query: Annotated[Text, Field(min_length=1)] = Field(description="any text; there is no query syntax")
    project: Name | None = Field(
        default=None,
        description="this project's memories too; left out: the active one's; null or default: of no project; \"*\": those of all",
    )
    agent: Name | None = Field(default=None, description="this agent's memories too; left out: none of any agent")
    categories: Annotated[list[Category], Field(max_length=8)] = Field(
        default=[], description="only these; none named: all"
    )
    limit: Annotated[StrictInt, Field(ge=1, le=limits.RESULTS_MAX)] | None = Field(
        default=None, description="left out: the setting max_results"
    )
    preset: Literal["default", "rrf", "skill", "blend"] = Field(
        default="default",
        description="how to rank. default: measured best; rrf: equal places of words, recency and popularity; "
        "skill: words × recency, the last 30 days, at most 3 unless limit says more; blend: words "
        "alone",
    )
    explain: StrictBool = Field(default=False, description="say of each hit why it was found")

    def question(self) -> Question:
        """Return what is asked."""
        return Question(
            query=self.query,
            project=meant(self),
            agent=self.agent,
            categories=frozenset(self.categories),
            limit=self.limit,
            preset=self.preset,
            explain=self.explain,
        )


class HitOut(MemoryOut):
    """A memory that was found. With `explain`, why: what `added` says sums to the score."""

    reference: str | None = Field(
        description="of what is masked: credential: and the id, which POST /v1/memories/{memory_id}/reveal takes for an id; null: "
        "nothing is masked"
    )
    score: float = Field(description="compares hits of one answer only; its range depends on the preset")
    signals: dict[str, float] | None = Field(
        default=None,
        description="text, coverage, semantic, recency, popularity: 0 to 1; category, source: factors. Null unless explained",
    )
    ranks: dict[str, int] | None = Field(
        default=None,
        description="place by each signal among all candidates, 1 the best; equal ones share it. Null unless explained",
    )
    weights: dict[str, float] | None = Field(
        default=None, description="of each signal that the preset reads; null unless explained"
    )
    added: dict[str, float] | None = Field(
        default=None,
        description="what each signal added to the score, factors included: their sum is the score; a preset that multiplies "
        "has all of it under coverage. Null unless explained",
    )
    matched: list[str] | None = Field(
        default=None, description="words of the query, as written, that it holds; null unless explained"
    )

    @classmethod
    def found(cls, hit: Hit) -> Self:
        whole = MemoryOut.of(hit.memory)
        why = hit.why
        return cls(
            **{name: getattr(whole, name) for name in MemoryOut.model_fields},
            reference=f"{REFERENCE}{hit.memory.id}" if hit.memory.secrets else None,
            score=round(hit.score, 6),
            signals=_rounded(hit.signals) if why else None,
            ranks=dict(why.ranks) if why else None,
            weights=dict(why.weights) if why else None,
            added=_rounded(why.added) if why else None,
            matched=list(why.matched) if why else None,
        )


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in values.items()}


class SearchOut(Shown):
    """Memories, best first. `reason` says why there are none where the owner switched recall off, or that old ones were not looked at."""

    memories: list[HitOut]
    took_ms: float = Field(description="inside the function")
    reason: Reason | None = Field(
        default=None, description="disabled; only_newest: there is no index just now; or null"
    )


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

    message: Annotated[StrictStr, Field(max_length=limits.MESSAGE_CHARACTERS)] | None = Field(
        default=None, description="what the person just wrote; left out: the beginning of a session"
    )
    project: Name | None = Field(
        default=None,
        description="the project at hand: its scene and memories too; left out: the active one; null or default: none",
    )
    agent: Name | None = Field(default=None, description="the agent that asks: its memories too")
    new_session: StrictBool = Field(
        default=True,
        description="true: also a message without any signal recalls; false: only one that asks for memory",
    )
    token_budget: Annotated[StrictInt, Field(ge=1, le=limits.TOKEN_BUDGET_MAX)] = Field(
        default=limits.TOKEN_BUDGET_DEFAULT, description="for the whole text, estimated; what does not fit is left out"
    )
    force: StrictBool = Field(
        default=False, description="recall whatever the message is and auto_retrieve says; enabled false still wins"
    )

    def moment(self) -> Moment:
        return Moment(self.message, meant(self), self.agent, self.new_session, self.token_budget, self.force)


class DecisionOut(Shown):
    """Why a message was taken for what it was taken for."""

    reason: intent.Reason = Field(description="the kind of signal, or why none counted")
    signals: list[str] = Field(
        description="the words that decided: of the service's tables, or of the owner's settings"
    )
    query_class: QueryClass = Field(description="the kind of question; steers category weights")


class ContextOut(Shown):
    """Text to put before the agent (empty: nothing), its estimated tokens, and why it is as it is."""

    text: str = Field(description="to put before the agent; empty: nothing")
    tokens: int = Field(description="estimated, of the whole text; never over token_budget")
    recalled: bool = Field(
        description="whether the text holds memories; the scene of the project may stand there without any"
    )
    intent: context.Intent = Field(description="what the message is taken for; session: there is none")
    decision: DecisionOut = Field(description="why the intent is what it is")
    memory_ids: list[str] = Field(description="of the memories in the text, in their order")
    reason: context.Reason | None = Field(description="why the text holds no memories; null when it does")

    @classmethod
    def of(cls, made: Context) -> Self:
        decision = made.decision
        return cls(
            text=made.text,
            tokens=made.tokens,
            recalled=made.recalled,
            intent=made.intent,
            decision=DecisionOut(
                reason=decision.reason, signals=list(decision.signals), query_class=decision.query_class
            ),
            memory_ids=list(made.memory_ids),
            reason=made.reason,
        )
