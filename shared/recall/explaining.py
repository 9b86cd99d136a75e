"""Why a memory was found: everything a page needs to draw it. Knows no storage."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from shared.recall.ranking import Ranking
from shared.text import matched


@dataclass(frozen=True, slots=True)
class Why:
    """`ranks`: the place by each signal among all that were ranked; `weights`: those used, of each signal that the preset reads; `added`:
    what each added to the score, factors of category and source included, so that they sum to it (being the newer or the outdated version
    of another find counts as recency); `matched`: words as the query has them."""

    ranks: Mapping[str, int]
    weights: Mapping[str, float]
    added: Mapping[str, float]
    matched: tuple[str, ...]

    def plus(self, signal: str, score: float) -> "Why":
        """The same with so much more of the score from one signal."""
        return replace(self, added={**self.added, signal: self.added.get(signal, 0.0) + score})


class Explaining:
    """Explains the finds of one search."""

    def __init__(self, query: str, ranking: Ranking, now: datetime) -> None:
        self._query, self._ranking = query, ranking
        self._words = matched.asked(query, now=now)

    def why(self, place: int, terms: AbstractSet[str]) -> Why:
        """Explain the find at that place of the ranking; `terms` are those of the memory."""
        ranking = self._ranking
        words = matched.matched(self._query, self._words, terms)
        return Why(ranking.ranks(place), ranking.weights, ranking.added(place), words)
