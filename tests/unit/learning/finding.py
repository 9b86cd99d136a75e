"""An extractor that finds what a test wrote down, and a model that answers so."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.domain.asking import Answer, Ask
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.learning.answers.answers import Action
from shared.learning.conversation import Conversation
from shared.learning.extractor import Candidate, Extracted, Known
from shared.text.secrets import Masked

Find = Callable[[Known], Sequence[Candidate]]


def finds(content: str, **more: Any) -> Candidate:
    """One candidate with defaults: a new fact of the person."""
    known: dict[str, Any] = {"scope": Scope.USER, "category": Category.KNOWLEDGE, "importance": 5, "quote": ""}
    return Candidate(Masked(content, []), **(known | more))


def matches(known: Known, old: str, new: str = "", *, action: Action = Action.UPDATE, **more: Any) -> Candidate:
    """A candidate for the offered memory with the old text."""
    target = next(memory_id for memory_id, text in known.offered if text == old)
    return finds(new, action=action, target=target, **more)


@dataclass
class Finder:
    """An Extractor that answers what it is given next, and notes what it was offered."""

    coming: list[Find] = field(default_factory=list)
    offered: list[Known] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    def extract(
        self, conversation: Conversation, received_at: datetime, preferences: Preferences, known: Callable[[], Known]
    ) -> Extracted:
        self.offered.append(known())
        return Extracted(tuple(self.coming.pop(0)(self.offered[-1])), 0, "finder/1", **self.more)


@dataclass
class Told:
    """A Model that answers what it was told to, or raises it; `spends` seconds pass with every question."""

    replies: list[str | Exception]
    spends: float = 0.0
    asks: list[Ask] = field(default_factory=list)
    now: float = 0.0

    def ask(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        self.now += self.spends
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Answer(reply, "end", 10, 2, "told")

    def monotonic(self) -> float:
        """The seconds that this model's questions took."""
        return self.now
