"""The port that turns a conversation into candidates, and the extractor that needs no model."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.domain import limits
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.learning.conversation import Conversation
from shared.text import rules
from shared.text.keywords import Words

RULES = "rules/1"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that may become a memory. `text` still holds its secrets; `quote` does not; `at` is when it was said, if known."""

    text: str
    scope: Scope
    category: Category
    importance: int
    quote: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extractor found. `dropped` counts facts that were left out: too many, too long or unwanted."""

    candidates: tuple[Candidate, ...]
    dropped: int
    model: str
    summary: str | None = None


class Extractor(Protocol):
    """Finds lasting facts in a conversation.

    Answers at most FACTS_TASK_COMPLETED (trigger `task_completed`) or FACTS_OTHER candidates, in the words' own language, none over
    FACT_FULL_WIDTH, none of the assistant's own statements. Raises Unavailable when it may work later.
    """

    def extract(self, conversation: Conversation, preferences: Preferences) -> Extracted: ...


class RulesExtractor:
    """Keyword triggers over the user's own sentences: works offline and writes no summary."""

    def extract(self, conversation: Conversation, preferences: Preferences) -> Extracted:
        spoken = [message for message in conversation.learned_from() if message.role == "user" and message.text]
        found = rules.extract(
            [message.text for message in spoken],
            custom=_words(preferences.custom_keywords),
            excluded=_words(preferences.excluded_keywords),
            has_project=conversation.real_project() is not None,
            limit=facts(conversation.trigger),
            manual=conversation.trigger is Trigger.MANUAL,
        )
        candidates = tuple(
            Candidate(
                text=candidate.content,
                scope=Scope(candidate.type),
                category=Category(candidate.category),
                importance=candidate.importance,
                quote=candidate.quote,
                at=next((m.at for m in spoken if candidate.content in m.text), None),
            )
            for candidate in found.candidates
        )
        return Extracted(candidates, found.over_limit + found.too_long + found.suppressed, RULES)


def facts(trigger: Trigger) -> int:
    """Return how many facts a conversation of that trigger may leave."""
    return limits.FACTS_TASK_COMPLETED if trigger is Trigger.TASK_COMPLETED else limits.FACTS_OTHER


def _words(keywords: Mapping[str, list[str]]) -> Words:
    return Words(tuple(keywords.get("zh", ())), tuple(keywords.get("en", ())))
