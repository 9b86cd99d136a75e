"""Which words of a query a memory holds, as the person wrote them: for explaining a find, not for finding.

Words are judged one by one by the search's own terms, so `deploying` is named where the memory has `deployed`. Scripts without spaces are
judged in the pieces that are searched, of up to three signs; pieces that overlap are named as one.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final

from shared.text import scripts
from shared.text.pattern import Pattern
from shared.text.tokens import query_terms

LONGEST: Final = 400
"""Signs of a query that are looked at."""
_HAN_SIZES: Final = (1, 2)
_UNSPACED_SIZES: Final = (2, 3)
_RUN: Final = Pattern(
    rf"(?P<han>[{scripts.HAN}]+)|(?P<unspaced>[{scripts.KANA}]+|[{scripts.THAI_TO_KHMER}]+)|[{scripts.EMOJI}]"
    rf"|[^\W_{scripts.HAN}{scripts.KANA}{scripts.THAI_TO_KHMER}]+(?:['’.@/_-]?[^\W_{scripts.HAN}{scripts.KANA}{scripts.THAI_TO_KHMER}]+)*[+#]*"
)
_INNER_WORD: Final = Pattern(r"[^\W_]+(?:['’][^\W_]+)*[+#]*")


@dataclass(frozen=True, slots=True)
class Asked:
    """One word or piece of a query: where it stands, and the terms that it asks for."""

    start: int
    end: int
    terms: frozenset[str]


def asked(query: str, *, now: datetime) -> list[Asked]:
    """Cut a query into words and pieces; dates are counted from `now`."""
    found: dict[tuple[int, int], Asked] = {}
    for run in _RUN.finditer(query[:LONGEST]):
        pieces = run["han"] or run["unspaced"]
        for start, end in _pieces(run) if pieces else _words(run):
            wanted = query_terms(query[start:end], now=now)
            if wanted.weights:
                terms = wanted.whole if pieces and wanted.whole else frozenset(wanted.weights)
                found[start, end] = Asked(start, end, terms)
    return list(found.values())


def matched(query: str, words: list[Asked], held: Container[str]) -> tuple[str, ...]:
    """Return the words that ask for a term that is held, in the query's order, each once and none that is part of another."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((one.start, one.end) for one in words if any(term in held for term in one.terms)):
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    named = dict.fromkeys(query[start:end] for start, end in spans)
    return tuple(word for word in named if not any(word != other and word in other for other in named))


def _pieces(run: re.Match[str]) -> Iterator[tuple[int, int]]:
    units = scripts.clusters(run[0])
    edges = list(accumulate((len(unit) for unit in units), initial=run.start()))
    for size in _HAN_SIZES if run["han"] else _UNSPACED_SIZES:
        yield from zip(edges, edges[size:], strict=False)


def _words(run: re.Match[str]) -> Iterator[tuple[int, int]]:
    yield run.span()
    yield from ((run.start() + word.start(), run.start() + word.end()) for word in _INNER_WORD.finditer(run[0]))
