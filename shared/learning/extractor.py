"""The port that turns a conversation into candidates, and the extractor that needs no model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from shared.domain import limits
from shared.domain.asking import ModelUnavailable
from shared.domain.errors import Unavailable
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.learning.answers.answers import Action
from shared.learning.conversation import Conversation
from shared.learning.quarantine import quarantine
from shared.text import rules
from shared.text.keywords import words_of
from shared.text.secrets import Masked

RULES = "rules/1"


@dataclass(frozen=True, slots=True)
class Known:
    """What an extractor may be shown of the memories: (id, masked text) that it may touch or update, and texts never to be learned."""

    offered: tuple[tuple[str, str], ...] = ()
    dismissed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that may become a memory, or confirm or rewrite the offered memory `target`.

    `masked` is the text with the values of its secrets apart; `quote` holds none; `at` is when it was said, if known.
    """

    masked: Masked
    scope: Scope
    category: Category
    importance: int
    quote: str
    at: datetime | None = None
    action: Action = Action.INSERT
    target: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What was asked of a model."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extractor found.

    `dropped` counts facts that were left out (too many, too long, unwanted, unsound); `quarantined` orders to the assistant that came
    in words which are not the person's. `experiences` are (masked) texts of what an agent tried and how it ended.
    """

    candidates: tuple[Candidate, ...]
    dropped: int
    model: str
    summary: str | None = None
    experiences: tuple[str, ...] = ()
    quarantined: int = 0
    cost: Cost = field(default_factory=Cost)


class Extractor(Protocol):
    """Finds lasting facts in a conversation.

    Answers at most FACTS_TASK_COMPLETED (trigger `task_completed`) or FACTS_OTHER candidates, in the words' own language, none over
    FACT_FULL_WIDTH, none of the assistant's own statements. `known` reads what may be compared with; an extractor that does not
    compare does not call it. Raises Unavailable when it may work later (Interrupted, where that cost something), and Unwilling when it
    never will.
    """

    def extract(
        self, conversation: Conversation, received_at: datetime, preferences: Preferences, known: Callable[[], Known]
    ) -> Extracted: ...


class Unwilling(Exception):
    """The extractor cannot do this conversation however often it is asked; `code` is for the task's owner.

    `answered`, for the operator's log, is the HTTP status of a model's provider that refused.
    """

    def __init__(self, code: str, cost: Cost, answered: int | None = None) -> None:
        super().__init__(code)
        self.code, self.cost, self.answered = code, cost, answered


class Interrupted(Unavailable):
    """A model that had answered before failed in a way that may pass; `cost` is what those answers cost."""

    def __init__(self, problem: ModelUnavailable, cost: Cost) -> None:
        super().__init__()
        self.problem, self.cost = problem, cost


class RulesExtractor:
    """Keyword triggers over the user's own sentences: works offline and writes no summary."""

    def extract(
        self,
        conversation: Conversation,
        received_at: datetime,  # noqa: ARG002 - rules read no dates
        preferences: Preferences,
        known: Callable[[], Known],  # noqa: ARG002 - rules compare nothing; equal texts are found by their tags
    ) -> Extracted:
        _, quarantined = quarantine(conversation.learned_from())
        spoken = [message for message in conversation.learned_from() if message.role == "user" and message.text]
        found = rules.extract(
            [message.text for message in spoken],
            custom=words_of(preferences.custom_keywords.items()),
            excluded=words_of(preferences.excluded_keywords.items()),
            has_project=conversation.real_project() is not None,
            limit=facts(conversation.trigger),
            manual=conversation.trigger is Trigger.MANUAL,
        )
        candidates = tuple(
            Candidate(
                masked=candidate.masked,
                scope=Scope(candidate.type),
                category=Category(candidate.category),
                importance=candidate.importance,
                quote=candidate.quote,
                at=next((m.at for m in spoken if candidate.content in m.text), None),
            )
            for candidate in found.candidates
        )
        dropped = found.over_limit + found.too_long + found.suppressed
        return Extracted(candidates, dropped, RULES, quarantined=quarantined)


def facts(trigger: Trigger) -> int:
    """Return how many facts a conversation of that trigger may leave."""
    return limits.FACTS_TASK_COMPLETED if trigger is Trigger.TASK_COMPLETED else limits.FACTS_OTHER
