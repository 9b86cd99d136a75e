"""What tests of answers share: an answer, and reading it."""

from typing import Any

from benchmarks.answers_fuzz import ALIASES
from shared.learning.answers.answers import Reading, read


def reading(text: str, *, limit: int = 20, said: str = "") -> Reading:
    return read(text, aliases=ALIASES, limit=limit, said=said)


def contents(text: str, **how: Any) -> list[str]:
    return [fact.content for fact in reading(text, **how).facts]
