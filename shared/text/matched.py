"""Which words of a query a memory holds, as the person wrote them: for explaining a find, not for finding.

Words are judged one by one by the search's own terms, so `deploying` is named where the memory has `deployed`. A name with inner signs
or capitals (`shop-api`, `1.2.3`, `getUserName`) is named where the memory has all of it, else those of its words that it has. Scripts
without spaces and Korean are judged in the pieces that are searched, of up to three signs; pieces that overlap are named as one. A day is
no word: what is found because it was made on it (`yesterday`) does not hold it, unless its text has that name.
"""

import re
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import accumulate
from typing import Final

from shared.text import han, scripts
from shared.text.date_markers import MARK
from shared.text.pattern import Pattern
from shared.text.tokens import Query, query_terms

_SIZES: Final = {"han": (1, 2), "unspaced": (2, 3), "hangul": (2,)}
_UNITS: Final = f"{scripts.HAN}{scripts.KANA}{scripts.THAI_TO_KHMER}{scripts.HANGUL}"
_RUN: Final = Pattern(
    rf"(?P<han>[{scripts.HAN}]+)|(?P<unspaced>[{scripts.KANA}]+|[{scripts.THAI_TO_KHMER}]+)|(?P<hangul>[{scripts.HANGUL}]+)"
    rf"|[{scripts.EMOJI}]|[^\W_{_UNITS}]+(?:['’.@/_-]?[^\W_{_UNITS}]+)*[+#]*"
)
_INNER_WORD: Final = Pattern(r"[^\W_]+(?:['’][^\W_]+)*[+#]*")
_INNER_CAPITAL: Final = Pattern(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL_PART: Final = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_INNER_SIGN: Final = frozenset("-_.@/")


@dataclass(frozen=True, slots=True)
class Asked:
    """One word or piece of a query: where it stands, and the ways to hold it, each of them terms that are all needed."""

    start: int
    end: int
    ways: tuple[frozenset[str], ...]


def asked(query: str, *, now: datetime) -> list[Asked]:
    """Cut a query into words and pieces."""

    @cache
    def wanted(text: str) -> Query:
        return query_terms(text, now=now)

    found: dict[tuple[int, int], Asked] = {}
    for run in _RUN.finditer(query):
        if run.lastgroup:
            pieces = _pieces(run, wanted(run[0]))
        else:
            pieces = (
                Asked(start, end, _ways(query[start:end], wanted(query[start:end]))) for start, end in _words(run)
            )
        found.update({(one.start, one.end): one for one in pieces if one.ways})
    return list(found.values())


def _ways(text: str, wanted: Query) -> tuple[frozenset[str], ...]:
    if not _INNER_SIGN.isdisjoint(text):
        return tuple(frozenset({term}) for term in wanted.weights if not _INNER_SIGN.isdisjoint(term[1:]))
    words = wanted.whole or frozenset(
        term for term in wanted.weights if term[0] != MARK
    )  # the name of a day is no word proper
    return (words,) if words else ()


def matched(query: str, words: list[Asked], held: AbstractSet[str]) -> tuple[str, ...]:
    """Return the words that ask for what is held, in the query's order, each once; words and pieces that overlap are one."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((one.start, one.end) for one in words for way in one.ways if held >= way):
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    named = dict.fromkeys(query[start:end] for start, end in spans)
    return tuple(word for word in named if not _repeated(word, named))


def _repeated(word: str, named: Collection[str]) -> bool:
    """Whether a single sign of a script without spaces stands in another word that is named."""
    return len(word) == 1 and not word.isascii() and any(word != other and word in other for other in named)


def _pieces(run: re.Match[str], wanted: Query) -> Iterator[Asked]:
    """Cut a run into the pieces that the search cuts it into; where folding leaves another number of signs, it is one piece."""
    cut = scripts.clusters if run["unspaced"] else list
    units, plain = cut(run[0]), cut(han.simplified(scripts.folded(run[0])))
    sizes = _SIZES[run.lastgroup or ""] if len(units) == len(plain) else ()
    edges = list(accumulate((len(unit) for unit in units), initial=run.start()))
    for size in sizes:
        for at in range(len(units) - size + 1):
            term = "".join(plain[at : at + size])
            if term in wanted.weights:
                yield Asked(edges[at], edges[at + size], (frozenset({term}),))
    if wanted.whole and not (run["han"] and sizes):
        yield Asked(*run.span(), (wanted.whole,))


def _words(run: re.Match[str]) -> Iterator[tuple[int, int]]:
    yield run.span()
    for word in _INNER_WORD.finditer(run[0]):
        start = run.start() + word.start()
        yield start, start + len(word[0])
        if word[0].isascii() and word[0].isalnum() and _INNER_CAPITAL.search(word[0]):
            yield from ((start + part.start(), start + part.end()) for part in _CAMEL_PART.finditer(word[0]))
