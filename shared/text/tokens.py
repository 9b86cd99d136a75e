"""Search terms of any text in any script: what a memory is indexed under, and what a query asks for.

A query is always just text; no character of it is an operator. Weights and rules are those measured in
docs/decisions/ranking.md. snowballstemmer is imported on first use, so only functions that search pay for it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from itertools import pairwise
from operator import add
from typing import Final

from shared.text import dates, han, names, scripts
from shared.text.english import ASKING_WORDS, IRREGULAR, STOP_WORDS

ANALYSER: Final = 5
"""Grows whenever terms change, so that an index built with other terms is refused and rebuilt."""

PAIR: Final = 0.2
SINGLE: Final = 1.0
PIECE: Final = 0.5
PART: Final = 0.3
SPLIT: Final = 0.3
DATE: Final = 1.0
WHEN: Final = 0.5
NAMED_DAY: Final = 0.3
NAME: Final = 2.0
ASKING: Final = 0.5
LONG_PIECE: Final = 0.1
LONG_QUERY: Final = 25
"""Distinct words that a query may have; with more it is pasted text."""
LONG_UNSPACED: Final = 60
"""The same for pairs and triples of signs, of scripts without spaces: every sign begins one."""
LONGEST_STEMMED: Final = 64

_FUNCTION_CHARACTERS: Final = frozenset("的了是在和与及或也都就而着过吗呢吧啊有被把从对以之其这那我你他她它们个为什么")
_FUNCTION_PAIRS: Final = frozenset(a + b for a in _FUNCTION_CHARACTERS for b in _FUNCTION_CHARACTERS)
_PARTICLES: Final = frozenset("up out off down over in on".split())  # noqa: SIM905  (as the lists of `english`)
_PLACES: Final = frozenset(("in", "on"))
_VERBS_OF_PLACES: Final = frozenset("log sign check plug add build opt clock walk buy drop stand fill turn".split())  # noqa: SIM905
_SHORTEST_SPLIT: Final = 5
_SHORTEST_HALF: Final = 2
_SHORTEST_STEM: Final = 3
"""Letters on both sides of an ending that may be gone: `planet` is no `plant`."""
_UNSPACED: Final = re.compile(f"[{scripts.HAN}{scripts.KANA}{scripts.THAI_TO_KHMER}]")
_NAME: Final = re.compile(r"(?<=[a-z,;:] )[A-Z]\w+")
_COMPOUND_SIGN: Final = re.compile(r"[-_.@/](?<=[a-z0-9].)|\.net")
_COMPOUND: Final = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[-_.@/][a-z0-9]++)+|\.net\b")
_VERSION: Final = re.compile(r"v\d")
_INNER_CAPITAL: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL_NAME: Final = re.compile(r"[A-Za-z0-9]+")
_CAMEL_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of one memory: how often each occurs, and the length BM25 divides by: its words, no pairs, parts or markers."""

    counts: dict[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Query:
    """Terms a query asks for with their weights; `whole` are its words proper; `long` means pasted text."""

    weights: dict[str, float]
    whole: frozenset[str]
    long: bool


@dataclass(slots=True)
class _Found:
    """Every occurrence of a term, by kind: the kind is what weighs in a query."""

    whole: list[str]
    pairs: list[str]
    singles: list[str]
    pieces: list[str]
    parts: list[str]


def terms(text: str, *, at: datetime | None = None) -> Terms:
    """Terms of a memory, with markers of the day it was made when `at` is given. Any string is accepted."""
    flat = _flat(text)
    found = _cut(flat, text)
    counts = Counter(found.whole + found.pairs + found.singles + found.pieces + found.parts)
    counts.update(names.like_stop_words(scripts.unfolded(text), told=True))
    if dates.speaks_of_time(flat, scripts.LATIN.findall(flat)):
        counts[dates.SPEAKS_OF_TIME] = 1
    if at is not None:
        counts.update(dates.markers_of(at))
    return Terms(counts, len(found.whole))


def query_terms(text: str, *, now: datetime) -> Query:
    """Terms of a query, each once, with its weight; dates it names become markers, relative ones counted from `now`."""
    flat = _flat(text)
    asked = dates.read(flat, now)
    found = _cut(asked.topic, text)
    runs = scripts.LATIN.findall(asked.topic)
    whole = frozenset(found.whole).union(names.like_stop_words(scripts.unfolded(text), told=False))
    long = _is_long(whole)
    weights = dict.fromkeys([*_cut(asked.names, "").whole, *asked.perhaps], NAMED_DAY)
    weights.update(dict.fromkeys(found.pairs, PAIR))
    weights.update(dict.fromkeys(found.singles, LONG_PIECE if long else SINGLE))
    weights.update(dict.fromkeys(found.pieces, LONG_PIECE if long else PIECE))
    weights.update(dict.fromkeys(_joined(runs), PAIR))
    weights.update(dict.fromkeys(found.parts, PART))
    weights.update(dict.fromkeys(_split(runs), SPLIT))
    weights.update(dict.fromkeys(whole, 1.0))
    weights.update(dict.fromkeys(whole & _asking(), ASKING))
    weights.update(dict.fromkeys(whole & _names(text), NAME))
    weights.update(dict.fromkeys(asked.markers, DATE))
    if not long and dates.asks_when(flat):
        weights[dates.SPEAKS_OF_TIME] = WHEN
    return Query(weights, whole, long)


def _is_long(whole: frozenset[str]) -> bool:
    unspaced = sum(1 for word in whole if _UNSPACED.match(word))
    return (len(whole) - unspaced) / LONG_QUERY + unspaced / LONG_UNSPACED > 1


def _flat(text: str) -> str:
    """Folded text, in simplified characters."""
    flat = scripts.folded(text)
    return flat if flat.isascii() else han.simplified(flat)


def _cut(flat: str, text: str) -> _Found:
    """Every term of folded text; capitals are those of the text as it stands."""
    runs = scripts.LATIN.findall(flat)
    words = [word for run in runs if (word := _latin(run))]
    found = _Found(words, list(map(_pair, words, words[1:])), [], [], [])
    if not _PARTICLES.isdisjoint(runs):
        found.parts += _phrasal(runs)
    if not flat.isascii():
        for match in scripts.RUN.finditer(flat):
            _CUTTERS[match.lastgroup or "other"](match.group(), found)
    if _COMPOUND_SIGN.search(flat):
        found.parts += _compounds(flat)
    if _INNER_CAPITAL.search(text):
        found.parts += _camel_parts(text)
    return found


def _pair(word: str, then: str) -> str:
    """Neighbours as one word, so that `road trip` and `roadtrip` find each other."""
    return word + then


def _phrasal(runs: list[str]) -> Iterator[str]:
    """`log in` and `signing up` as the nouns `login` and `signup`, for a particle is no word of its own."""
    for run, particle in pairwise(runs):
        if particle in _PARTICLES and (verb := _latin(run)) and (particle not in _PLACES or verb in _VERBS_OF_PLACES):
            yield _latin(verb + particle)


def _joined(runs: list[str]) -> Iterator[str]:
    """What a memory that writes two neighbours of a query as one word has: `dark mode` asks for the stem of `darkmode`."""
    for run, then in pairwise(runs):
        if _latin(run) and _latin(then):
            yield _latin(run.partition("'")[0] + then)


def _split(runs: list[str]) -> Iterator[str]:
    """What a memory that writes one word of a query as two has: stems of neighbours, as `_pair` joins them.

    Stems of all ways to cut a word would cost more than the search, so they are guessed: each half as it stands, or without the ending that
    stems lose most (`chang|log`, `citi|hall`), or its irregular form (`node|javascript`).
    """
    for run in runs:
        if _SHORTEST_SPLIT <= len(run) <= LONGEST_STEMMED and _latin(run):
            for form in {run, _latin(run)}:
                yield form
                for cut in range(_SHORTEST_STEM, len(form) - _SHORTEST_STEM):
                    if form[cut] == "e":
                        yield form[:cut] + form[cut + 1 :]
                    elif form[cut] == "y":
                        yield f"{form[:cut]}i{form[cut + 1 :]}"
            for cut in range(_SHORTEST_HALF, len(run) - _SHORTEST_HALF + 1):
                if run[:cut] in IRREGULAR or run[cut:] in IRREGULAR:
                    yield _latin(run[:cut]) + _latin(run[cut:])


@cache
def _asking() -> frozenset[str]:
    return frozenset(map(_latin, ASKING_WORDS))


def _names(text: str) -> frozenset[str]:
    """Stems of the words written with a capital inside a sentence."""
    return frozenset(_latin(name.casefold()) for name in _NAME.findall(scripts.unfolded(text)))


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import snowballstemmer  # noqa: PLC0415  (a function that never searches must not pay for it)

    return snowballstemmer.stemmer(language).stemWord  # type: ignore[no-any-return]


@lru_cache(maxsize=1 << 16)
def _latin(run: str) -> str:
    """Stem of a word, or nothing for a stop word."""
    word = run.partition("'")[0]
    if run in STOP_WORDS or word in STOP_WORDS:
        return ""
    word = IRREGULAR.get(word, word)
    if not word.isalpha() or len(word) > LONGEST_STEMMED:
        return word
    return _stemmer("english")(word)


def stem(word: str) -> str:
    """Stem of one folded word in Latin letters; a stop word, and a word of another script, as it stands."""
    return _latin(word) or word


@lru_cache(maxsize=1 << 14)
def _other_stem(language: str, run: str) -> str:
    return _stemmer(language)(run) if len(run) <= LONGEST_STEMMED else run


def _han(run: str, found: _Found) -> None:
    if len(run) == 1:
        found.singles.append(run)
        return
    plain = _FUNCTION_CHARACTERS.isdisjoint(run)
    found.singles += run if plain else [c for c in run if c not in _FUNCTION_CHARACTERS]
    pairs = map(add, run, run[1:])
    found.whole += pairs if plain else [pair for pair in pairs if pair not in _FUNCTION_PAIRS]


def _unspaced(run: str, found: _Found) -> None:
    units = scripts.clusters(run)
    if len(units) < 3:
        found.whole.append(run)
    found.pieces += [pair for pair in scripts.ngrams(units, 2) if pair != run]
    found.whole += scripts.ngrams(units, 3)


def _hangul(run: str, found: _Found) -> None:
    found.whole.append(run)
    if len(run) > 1:
        found.pieces.append(run[0])
    if len(run) > 2:
        found.pieces += scripts.ngrams(list(run), 2)


def _itself(run: str, found: _Found) -> None:
    found.whole.append(run)


def _stemmed(language: str) -> Callable[[str, _Found], None]:
    def cut(run: str, found: _Found) -> None:
        found.whole.append(_other_stem(language, run))

    return cut


_CUTTERS: Final[dict[str, Callable[[str, _Found], None]]] = {
    "han": _han,
    "unspaced": _unspaced,
    "hangul": _hangul,
    "emoji": _itself,
    "other": _itself,
    "cyrillic": _stemmed("russian"),
    "greek": _stemmed("greek"),
    "arabic": _stemmed("arabic"),
    "indic": _stemmed("hindi"),
}


def _compounds(flat: str) -> list[str]:
    """Names with inner signs as they stand, and a version without its v: `v3.11` is found as `3.11` too."""
    names: list[str] = _COMPOUND.findall(flat)
    return names + [name[1:] for name in names if _VERSION.match(name)]


def _camel_parts(text: str) -> list[str]:
    """Stems of the words inside names such as `getUserName`."""
    parts: list[str] = []
    for name in _CAMEL_NAME.findall(scripts.unfolded(text)):
        words = _CAMEL_PART.findall(name)
        if len(words) > 1:
            parts += [stem for word in words if (stem := _latin(word.casefold()))]
    return parts
