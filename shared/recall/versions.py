"""Of finds that say the same at different times the newer comes first. Figures: docs/decisions/ranking.md. Knows terms, no storage.

Whether one is a version of the other is told by the question (what it asks for, both have), by their words (function words included:
`is in` and `runs` are about different things), and by whether the newer one says itself that something changed.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Final

import numpy as np

from shared.recall import changes
from shared.recall.index import Index
from shared.text import han, scripts
from shared.text.dates import MARK
from shared.text.tokens import Query, stem, terms

BESIDE: Final = 3
"""Finds behind the last place that are looked at, so that an outdated one does not keep its newer version out."""
LATIN_WORDS: Final = 12
SIGNS: Final = 22
"""How long a short fact is at most, in words or signs of a script without spaces: longer ones that share a subject are seldom versions."""
FEW: Final = 200
"""How many memories the rarity of a term is counted in at least: among a handful it says little."""
CLOSE: Final = 0.7
"""The share of the older one's score that the newer one has at least, unless it says what it replaces."""
ASKED: Final = 0.85
"""The share of what the question finds in the older one that it finds in the newer one at least."""
FRAME: Final = 0.6
LONG_FRAME: Final = 0.8
"""The share of the words of the one that has more which both have, in short facts and in others."""
MARKED: Final = 0.5
"""The share of the content words of the one that has fewer which both have, where the newer one has a word of change."""
REPLACED_ASKED: Final = 0.6
REPLACED: Final = 0.6
"""The same two, asked for and content, where the newer one says what it replaces, whatever the scores."""

_UNSPACED: Final = f"{scripts.HAN}{scripts.KANA}{scripts.THAI_TO_KHMER}"
_SIGN: Final = re.compile(f"[{_UNSPACED}]")
_WORD: Final = re.compile(rf"\d+(?:[:.,/-]\d+)+|{scripts.LATIN.pattern}|[{_UNSPACED}]|[^\W_a-z0-9{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Find:
    """One find: its text, when it was updated (epoch seconds), its score."""

    text: str
    updated: float
    score: float


class Question:
    """What a question asks for, and how much each of its terms tells: its weight times its rarity, as BM25 has it."""

    def __init__(self, text: str, query: Query, index: Index) -> None:
        self.flat = _flat(text)
        spoken = [word for word in _WORD.findall(self.flat) if word.isascii()]
        foreign = _SIGN.search(self.flat)
        self.named = frozenset(stem(word) for word in spoken if foreign or any(map(str.isdigit, word)))
        """Numbers, and words in Latin letters among signs: one that only the older one has tells the two apart."""
        names = [term for term in query.weights if not term.startswith(MARK)]
        known = index.frequencies(names)
        rarity = np.log1p((max(len(index), FEW) - known + 0.5) / (known + 0.5))
        self._worth: dict[str, float] = {
            name: query.weights[name] * worth for name, worth in zip(names, rarity.tolist(), strict=True)
        }

    def finds(self, counts: Mapping[str, int]) -> float:
        """How much of what is asked for a text has."""
        return sum(worth for name, worth in self._worth.items() if name in counts)


class _Said:
    """What a text says beside its words of change."""

    def __init__(self, text: str) -> None:
        self.flat = _flat(text)
        self._rest = changes.without(self.flat)
        self.words = Counter(stem(word) for word in _WORD.findall(self._rest))
        signs = sum(count for word, count in self.words.items() if _SIGN.match(word))
        self.size = self.words.total()
        self.short = (self.size - signs) / LATIN_WORDS + signs / SIGNS <= 1

    @cached_property
    def counts(self) -> Mapping[str, int]:
        return terms(self._rest).counts

    @cached_property
    def content(self) -> frozenset[str]:
        """Words with a meaning of their own: those that are terms, and numbers with signs inside."""
        return frozenset(word for word in self.words if word in self.counts or word[0].isdigit())


def newer_first(question: Question, finds: Sequence[Find]) -> list[int]:
    """Places of finds, best first, where each has changed places with a later updated version of itself."""

    @cache
    def said(place: int) -> _Said:
        return _Said(finds[place].text)

    order = list(range(len(finds)))
    for first, then in combinations(range(len(order)), 2):
        one, other = order[first], order[then]
        if finds[other].updated > finds[one].updated:
            near = finds[other].score >= CLOSE * finds[one].score
            if _outdated(question, said(one), said(other), near=near):
                order[first], order[then] = other, one
    return order


def _outdated(question: Question, old: _Said, new: _Said, *, near: bool) -> bool:
    """Whether `new` is a newer version of `old`, for this question."""
    short = old.short and new.short
    both = (old.words & new.words).total()
    frame = both / max(old.size, new.size, 1)
    if not short:
        return near and frame >= LONG_FRAME and _asked(question, old, new) >= ASKED
    if changes.missing(question.flat, new.flat) and not changes.missing(question.flat, old.flat):
        return False
    asked = _asked(question, old, new)
    if near and asked >= ASKED and frame >= FRAME:
        return True
    content = len(old.content & new.content) / max(min(len(old.content), len(new.content)), 1)
    if near and asked >= ASKED and content >= MARKED and changes.speaks_of_change(new.flat):
        return True
    return asked >= REPLACED_ASKED and content >= REPLACED and changes.replaces(new.flat)


def _asked(question: Question, old: _Said, new: _Said) -> float:
    """What the question finds in the newer one as a share of what it finds in the older one; 1 where words find nothing in either."""
    if any(name in old.counts and name not in new.counts for name in question.named):
        return 0.0
    older = question.finds(old.counts)
    return question.finds(new.counts) / older if older else 1.0


def _flat(text: str) -> str:
    return han.simplified(scripts.folded(text))
