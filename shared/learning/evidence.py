"""The words that stand behind a fact: the sentence of the person that shares most with it, quoted beside the memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.limits import QUOTE_CHARACTERS
from shared.learning.conversation import Message
from shared.learning.placeholders import Placeholders
from shared.text.normalise import normalise
from shared.text.sentences import split


@dataclass(frozen=True, slots=True)
class Evidence:
    """Finds quotes in what a person said; `messages` hold placeholders for secrets, quotes the mask."""

    messages: Sequence[Message]
    received_at: datetime
    placeholders: Placeholders

    def of(self, fact: str) -> tuple[str, datetime]:
        """Return a quote of at most QUOTE_CHARACTERS and when it was said; nothing in common: no quote, the conversation's time."""
        wanted = _pairs(fact)
        best, quote, at = 0, "", self.received_at
        for message in self.messages:
            for sentence in split(message.text):
                shared = len(wanted & _pairs(sentence))
                if shared > best:
                    best, quote, at = shared, sentence, message.at or self.received_at
        return self.placeholders.hidden(quote)[:QUOTE_CHARACTERS], at


def _pairs(text: str) -> set[str]:
    """Return neighbouring characters: enough to compare sentences of any script."""
    flat = normalise(text).casefold()
    return {flat[place : place + 2] for place in range(len(flat) - 1)}
