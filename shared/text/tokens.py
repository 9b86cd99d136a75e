"""Search terms of any text in any script: what a memory is indexed under, and what a query asks for.

A query is always just text; no character of it is an operator. Weights and rules are those measured in
docs/decisions/ranking.md. snowballstemmer is imported on first use, so only functions that search pay for it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from shared.text import dates, scripts
from shared.text.english import IRREGULAR, STOP_WORDS

ANALYSER: Final = 1
"""Grows whenever terms change, so that an index built with other terms is refused and rebuilt."""

PAIR: Final = 0.2
SINGLE: Final = 0.3
PART: Final = 0.3
DATE: Final = 1.0
WHEN: Final = 0.5
LONG_SINGLE: Final = 0.1
LONG_QUERY: Final = 25

_FUNCTION_CHARACTERS: Final = frozenset("的了是在和与及或也都就而着过吗呢吧啊有被把从对以之其这那我你他她它们个为什么")
_STEMMED: Final = {"latin": "english", "cyrillic": "russian", "greek": "greek", "arabic": "arabic", "indic": "hindi"}
_COMPOUND: Final = re.compile(r"[a-z0-9]+(?:[-_.@/][a-z0-9]+)+|c\+\+|\b[cf]#|\.net\b")
_INNER_CAPITAL: Final = re.compile(r"\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|\b[A-Z]+[A-Z][a-z][A-Za-z0-9]*")
_CAMEL_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of one memory: how often each occurs, and the length BM25 divides by (markers and pairs are not length)."""

    counts: dict[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Query:
    """Terms a query asks for with their weights; `whole` are its words proper; `long` means pasted text."""

    weights: dict[str, float]
    whole: frozenset[str]
    long: bool


def terms(text: str, *, at: datetime | None = None) -> Terms:
    """Terms of a memory, with markers of the day it was made when `at` is given. Any string is accepted."""
    flat, found = _scan(text)
    counts: dict[str, int] = {}
    length = 0
    for term, weight in found:
        counts[term] = counts.get(term, 0) + 1
        length += weight == 1.0
    if dates.speaks_of_time(flat):
        counts[dates.SPEAKS_OF_TIME] = 1
    if at is not None:
        counts.update(dict.fromkeys(dates.markers_of(at), 1))
    return Terms(counts, length)


def query_terms(text: str, *, now: datetime) -> Query:
    """Terms of a query, each once, with its weight; dates it names become markers, relative ones counted from `now`."""
    flat, found = _scan(text)
    weights: dict[str, float] = {}
    for term, weight in found:
        weights[term] = max(weight, weights.get(term, 0.0))
    whole = frozenset(term for term, weight in weights.items() if weight == 1.0)
    long = len(whole) > LONG_QUERY
    if long:
        weights = {term: LONG_SINGLE if weight == SINGLE else weight for term, weight in weights.items()}
    else:
        weights.update(dict.fromkeys(dates.asked(flat, now), DATE))
        if dates.asks_when(flat):
            weights[dates.SPEAKS_OF_TIME] = WHEN
    return Query(weights, whole, long)


def _scan(text: str) -> tuple[str, list[tuple[str, float]]]:
    """Folded text, and every term in it with its weight in a query."""
    flat = scripts.folded(text)
    found: list[tuple[str, float]] = []
    words: list[str] = []
    for match in scripts.RUN.finditer(flat):
        script = match.lastgroup or "other"
        run = match.group()
        if script == "latin":
            word = _latin(run)
            if word:
                found.append((word, 1.0))
                words.append(word)
        else:
            found.extend(_CUTTERS[script](run))
    found.extend((f"{a} {b}", PAIR) for a, b in pairwise(words))
    found.extend((compound, PART) for compound in _compounds(flat))
    found.extend((part, PART) for part in _camel_parts(text))
    return flat, found


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import snowballstemmer  # noqa: PLC0415  (a function that never searches must not pay for it)

    return snowballstemmer.stemmer(language).stemWord  # type: ignore[no-any-return]


@lru_cache(maxsize=1 << 16)
def _latin(run: str) -> str:
    """Stem of a word, or nothing for a stop word."""
    if run in STOP_WORDS:
        return ""
    word = run.partition("'")[0]
    if word in STOP_WORDS or len(run) > 64:
        return "" if word in STOP_WORDS else run
    return _stemmer("english")(IRREGULAR.get(word, word))


def _han(run: str) -> Iterable[tuple[str, float]]:
    for character in run:
        if character not in _FUNCTION_CHARACTERS or len(run) == 1:
            yield character, SINGLE
    for first, second in pairwise(run):
        if first not in _FUNCTION_CHARACTERS or second not in _FUNCTION_CHARACTERS:
            yield first + second, 1.0


def _unspaced(run: str) -> Iterable[tuple[str, float]]:
    units = scripts.clusters(run)
    if len(units) < 3:
        yield run, 1.0
    for pair in scripts.ngrams(units, 2):
        if pair != run:
            yield pair, SINGLE
    for triple in scripts.ngrams(units, 3):
        yield triple, 1.0


def _hangul(run: str) -> Iterable[tuple[str, float]]:
    yield run, 1.0
    if len(run) > 1:
        yield run[0], SINGLE
    if len(run) > 2:
        for pair in scripts.ngrams(list(run), 2):
            yield pair, SINGLE


def _word_of(script: str) -> Callable[[str], Iterable[tuple[str, float]]]:
    @lru_cache(maxsize=1 << 14)
    def stem(run: str) -> tuple[tuple[str, float], ...]:
        return ((_stemmer(_STEMMED[script])(run) if len(run) <= 64 else run, 1.0),)

    return stem


def _itself(run: str) -> Iterable[tuple[str, float]]:
    return ((run, 1.0),)


_CUTTERS: Final[dict[str, Callable[[str], Iterable[tuple[str, float]]]]] = {
    "han": _han,
    "unspaced": _unspaced,
    "hangul": _hangul,
    "emoji": _itself,
    "other": _itself,
    **{script: _word_of(script) for script in ("cyrillic", "greek", "arabic", "indic")},
}


def _compounds(flat: str) -> Iterable[str]:
    return _COMPOUND.findall(flat)


def _camel_parts(text: str) -> Iterable[str]:
    for name in _INNER_CAPITAL.findall(scripts.unfolded(text)):
        parts = _CAMEL_PART.findall(name)
        if len(parts) > 1:
            yield from (stem for part in parts if (stem := _latin(part.casefold())))
