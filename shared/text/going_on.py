"""What a message that goes on with something speaks of: `继续上次的后端重构` of 后端重构, `继续` of nothing.

A memory that holds 继续 or "continue" is not what such a message means. The words stand in `data/intent.json`; days are none of them, for
they say when it was.
"""

import re
from functools import cache

from shared.text.intent_words import tables
from shared.text.normalise import has_han
from shared.text.silence import folded


def topic(message: str) -> str:
    """Return the message without the words that only lean on what was before, and without those that say nothing around what is left.

    A piece of the message with blanks in it, or nothing.
    """
    left = message
    for found in _leaning().finditer(folded(message)):
        left = left[: found.start()] + " " * len(found.group()) + left[found.end() :]
    begin, end = 0, len(left)
    for found in _empty().finditer(folded(left)):
        if found.start() <= begin:
            begin = found.end()
        elif found.end() == len(left):
            end = found.start()
    return left[begin:end]


@cache
def _leaning() -> re.Pattern[str]:
    return re.compile(_either(tables().going_on), re.IGNORECASE)


@cache
def _empty() -> re.Pattern[str]:
    """Runs of words that say nothing, and of signs."""
    return re.compile(rf"(?:{_either(tables().empty)}|[\W_])+", re.IGNORECASE)


def _either(phrases: tuple[str, ...]) -> str:
    longest_first = sorted(phrases, key=len, reverse=True)
    return "|".join(phrase if has_han(phrase) else rf"\b{phrase}\b".replace(" ", r"\s+") for phrase in longest_first)
