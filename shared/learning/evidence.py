"""The words that stand behind a fact: whose they are, and the sentence of the person that shares most with it, quoted beside the memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from shared.domain.limits import QUOTE_CHARACTERS
from shared.learning.answers.unwanted import Grounds
from shared.learning.conversation import Message
from shared.learning.placeholders import Placeholders
from shared.text.normalise import normalise
from shared.text.pattern import Pattern
from shared.text.sentences import split

_AGREES = Pattern(
    r"""(?ix)^\W*(?:(?:yes|yep|yeah|ok|okay|sure|agreed?|right|exactly|correct|fine|good|perfect|please\s+do|do\s+(?:it|that|so)|go\s+(?:with|for|ahead)
        |let['’]?s|(?:i|we)\s+(?:agree|take|choose|prefer|like|want)|(?:the\s+)?(?:first|second|third|last|former|latter)|(?:number|option)\s)\b
      |好|对|是的?|行|可以|同意|没错|嗯|就|选|要|用|采用|按|没问题|第[一二三四五])"""
)
_AGREES_NOT = Pattern(
    r"""(?ix)thank|\bthx\b|谢|[?？]|吗|^\W*(?:对不|对比|好像|好奇|行不|要不|要是|是不|用不|可以不|就是不|right\s+now)|\b(?:no|not|rather|instead)\b|n['’]t\b"""
)
"""Thanks, questions and objections that begin like a yes."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Finds quotes in what a person said; `spoken` holds placeholders for secrets, quotes the mask.

    `own` are the person's words, `others` those that only the assistant, a tool or a document used. What the assistant proposed and the
    person then agreed to counts as the person's.
    """

    spoken: Sequence[Message]
    own: frozenset[str]
    others: frozenset[str]
    received_at: datetime
    placeholders: Placeholders

    @classmethod
    def of(cls, messages: Sequence[Message], received_at: datetime, placeholders: Placeholders) -> Self:
        """Gather it from prepared messages."""
        spoken = [message for message in messages if message.role == "user"]
        own = _words([*spoken, *_agreed(messages)])
        others = _words([message for message in messages if message.role != "user"])
        return cls(spoken, own, others - own, received_at, placeholders)

    def is_persons(self, fact: str) -> bool:
        """Whether at most as many of the fact's words come from others alone as from the person."""
        words = Grounds.of(fact).words
        return len(words & self.others) <= len(words & self.own)

    def quote(self, fact: str) -> tuple[str, datetime]:
        """Return a quote of at most QUOTE_CHARACTERS and when it was said; nothing in common: no quote, the conversation's time."""
        wanted = _pairs(fact)
        best, quote, at = 0, "", self.received_at
        for message in self.spoken:
            for sentence in split(message.text):
                shared = len(wanted & _pairs(sentence))
                if shared > best:
                    best, quote, at = shared, sentence, message.at or self.received_at
        return self.placeholders.hidden(quote)[:QUOTE_CHARACTERS], at


def _agreed(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield what the assistant proposed last before each message in which the person agrees."""
    proposed: Message | None = None
    for message in messages:
        if message.role == "assistant":
            proposed = message
        elif message.role == "user":
            if proposed is not None and _AGREES.search(message.text) and not _AGREES_NOT.search(message.text):
                yield proposed
            proposed = None


def _words(messages: Sequence[Message]) -> frozenset[str]:
    return Grounds.of("\n".join(message.text for message in messages)).words


def _pairs(text: str) -> set[str]:
    """Return neighbouring characters: enough to compare sentences of any script."""
    flat = normalise(text).casefold()
    return {flat[place : place + 2] for place in range(len(flat) - 1)}
