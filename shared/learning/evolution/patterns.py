"""Patterns: memories of one place that say nearly the same, found by the words that they share, in both languages. Pure.

The words are cut here and not by the search's analyser: a pattern that its owner dismissed must be known again after any change of that.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import ceil
from typing import Final

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.memory import Category, Memory
from shared.learning.consolidation.wording import negated
from shared.storage import items
from shared.text.han import simplified
from shared.text.pattern import Pattern as Form

ALIKE: Final = 0.45
"""Share of the words of two memories that both have (Dice), from which on they are alike. Measured in docs/decisions/evolution.md."""
REPEATING: Final = frozenset({Category.EXPERIENCE, Category.PREFERENCE})
"""Categories that patterns are looked for in."""
_SHARED: Final = 2 / 3
_MARK: Final = 12
_STEM: Final = 5
_LATIN: Final = Form(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f0-9+#]{2,}")
_HAN: Final = Form(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_SAYING_NOTHING: Final = (
    "the and for with that this from into then than when while after before user use uses using used has have had are was were been being "
    "not but all any its his her their they them what which who will would can could should does did "
    "i a an my to of in on at is it be we do prefer prefers preferred like likes liked over"
)
_EMPTY: Final = frozenset(_SAYING_NOTHING.split())
_EMPTY_HAN: Final = frozenset("的了是在和与及或也都就而着过吗呢吧啊有被把从对以之其这那我你他她它们个为后前时再先")
_EMPTY_WORDS: Final = Form("喜欢|偏好|习惯|用户|使用")
_TOKEN: Final = Form(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f0-9+#]*|\d+(?:\.\d+)*|[\u3400-\u4dbf\u4e00-\u9fff]")
_NUMBER: Final = Form(r"(?<![A-Za-z\d.])\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Alike memories of one scope and category, the last confirmed first, and the words that most of them share."""

    memories: tuple[Memory, ...]
    words: frozenset[str]

    @property
    def agent(self) -> str | None:
        return self.memories[0].agent

    @property
    def project(self) -> str | None:
        return self.memories[0].project

    def marks(self, keys: OwnerKeys) -> frozenset[str]:
        """Return the tags by which it is known again, and which say nothing of its words."""
        place = items.scope_tag(keys, self.memories[0].scope, self.project, self.agent)
        return frozenset(keys.tag("pattern", place, word)[:_MARK] for word in self.words)


def patterns(memories: Iterable[Memory]) -> list[Pattern]:
    """Return what repeats among experiences and preferences, the most frequent first."""
    places: dict[tuple[str, str, str, str], list[Memory]] = {}
    for memory in memories:
        if memory.category in REPEATING:
            place = (memory.scope, memory.project or "", memory.agent or "", memory.category)
            places.setdefault(place, []).append(memory)
    found = [pattern for these in places.values() for pattern in _alike(these)]
    return sorted(found, key=lambda one: (-len(one.memories), one.memories[0].id))


def words_of(text: str) -> frozenset[str]:
    """Return the beginnings of Latin words and the pairs of Chinese characters that say something."""
    plain = simplified(text)
    latin = {word.casefold()[:_STEM] for word in _LATIN.findall(plain) if word.casefold() not in _EMPTY}
    runs = _HAN.findall(_EMPTY_WORDS.sub(" ", plain))
    pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return frozenset(latin | {pair for pair in pairs if _EMPTY_HAN.isdisjoint(pair)})


def of_one_thing(one: str, other: str) -> bool:
    """Whether two texts may tell of the same thing: the same numbers, both deny or neither does, and they are not the same sentence with
    another object in its place (apples, pears)."""
    if negated(one) != negated(other) or set(_NUMBER.findall(one)) != set(_NUMBER.findall(other)):
        return False
    first, second = _tokens(one), _tokens(other)
    turns = [turn for turn in SequenceMatcher(None, first, second, autojunk=False).get_opcodes() if turn[0] != "equal"]
    return not turns or any(kind != "replace" or not _one_slot(first[i:j], second[k:n]) for kind, i, j, k, n in turns)


def _one_slot(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one object may stand where the other does: as many words, or Chinese characters, of which a word has one or more."""
    return len(first) == len(second) or not any(token.isascii() for token in (*first, *second))


def _tokens(text: str) -> list[str]:
    found = (token.casefold() for token in _TOKEN.findall(_EMPTY_WORDS.sub(" ", simplified(text))))
    return [token[:_STEM] for token in found if token not in _EMPTY and token not in _EMPTY_HAN]


def _alike(memories: Sequence[Memory]) -> list[Pattern]:
    """Gather memories one by one, oldest first, each to those that it is most like on average."""
    groups: list[list[tuple[Memory, frozenset[str]]]] = []
    for memory in sorted(memories, key=lambda one: one.id):
        words = words_of(memory.content)
        fitting = [group for group in groups if all(of_one_thing(memory.content, one.content) for one, _ in group)]
        best = max(fitting, key=lambda group: _likeness(words, group), default=None)
        if best is not None and _likeness(words, best) >= ALIKE:
            best.append((memory, words))
        else:
            groups.append([(memory, words)])
    return [_pattern(group) for group in groups if len(group) >= limits.PATTERN_REPEATS]


def _likeness(words: frozenset[str], group: Sequence[tuple[Memory, frozenset[str]]]) -> float:
    return sum(2 * len(words & other) / max(1, len(words) + len(other)) for _, other in group) / len(group)


def _pattern(group: Sequence[tuple[Memory, frozenset[str]]]) -> Pattern:
    counted = Counter(word for _, words in group for word in words)
    shared = frozenset(word for word, count in counted.items() if count >= ceil(_SHARED * len(group)))
    newest = sorted((memory for memory, _ in group), key=lambda one: (one.updated_at, one.id), reverse=True)
    return Pattern(tuple(newest), shared)
