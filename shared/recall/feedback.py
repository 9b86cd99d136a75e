"""What a search learns from what it has found: the best find's own words decide among the others, and of finds that say nearly the same
the newer comes first. Figures: docs/decisions/ranking.md. Knows terms and the index, no storage.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np

from shared.recall.index import Index
from shared.text.dates import MARK
from shared.text.tokens import Query, Terms

WORDS: Final = 8
"""Terms of the best find that are asked for: its rarest that another memory has, too."""
ALIKE: Final = 0.5
"""The share of the terms of two memories that both have, from which on one is taken for a new version of the other."""
CLOSE: Final = 0.9
"""The share of the better score from which on the question itself does not decide between two versions."""
BESIDE: Final = 3
"""Finds behind the last place that are looked at, so that an outdated one does not keep its newer version out."""


def fed(
    query: Query,
    best: Terms,
    index: Index,
    weight: float,
    masked: Collection[str] = (),
    changed: Sequence[Terms] = (),
) -> Query | None:
    """The strongest terms of a query's best find, at that weight (pseudo-relevance feedback with one document: Rocchio, "Relevance
    Feedback in Information Retrieval", 1971). None where the query is pasted text, or nothing is to be asked for.

    They tell apart what the query has found and find nothing by themselves: a memory without a word of the query is no answer to it.
    How rare a term is, is counted as for scores: without the `masked` ids of the index, with the `changed` memories.
    """
    if query.long or not weight:
        return None
    others = [term for term in best.counts if term not in query.weights and not term.startswith(MARK)]
    wanted = frozenset(others)
    more = Counter(term for held in changed for term in wanted & held.counts.keys())
    frequencies = index.frequencies(others, masked) + np.array([more[term] for term in others], np.int64)
    shared = np.flatnonzero(frequencies > 1)
    rarest = shared[np.argsort(frequencies[shared], kind="stable")[:WORDS]]
    asked = {others[place]: weight for place in rarest.tolist()}
    return Query(asked, frozenset(), long=False) if asked else None


def newer_first(finds: Sequence[Collection[str]], updated: Sequence[float], scores: Sequence[float]) -> list[int]:
    """Places of finds, best first, where each has changed places with a later updated one that says nearly the same.

    `finds` are the terms of each; markers of its day aside, two are alike from a Jaccard index of `ALIKE` on. A question that tells
    them apart, by more than a tenth of the `scores`, is left to decide.
    """

    @cache
    def words(place: int) -> frozenset[str]:
        return frozenset(term for term in finds[place] if not term.startswith(MARK))

    order = list(range(len(finds)))
    for first, then in combinations(range(len(order)), 2):
        one, other = order[first], order[then]
        newer = updated[other] > updated[one] and scores[other] >= CLOSE * scores[one]
        if newer and _alike(words(one), words(other)):
            order[first], order[then] = other, one
    return order


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shorter, longer = sorted((len(one), len(other)))
    if shorter < ALIKE * longer:
        return False
    both = len(one & other)
    return both >= ALIKE * (shorter + longer - both)
