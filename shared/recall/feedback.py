"""What a search learns from what it has found: the best find's own words decide among the others. Figures: docs/decisions/ranking.md.
Knows terms and the index, no storage.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from shared.recall.index import Index
from shared.text.dates import MARK
from shared.text.tokens import Query, Terms

WORDS: Final = 8
"""Terms of the best find that are asked for: its rarest that another memory has, too."""


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
