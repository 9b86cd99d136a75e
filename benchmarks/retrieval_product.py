"""The product as labelled sets see it: its own tokens, index and ranking in the steps of `/v1/search`, and the figures of an order.

Scopes and categories are the same for all memories, so they decide nothing.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from benchmarks.retrieval_sets import SCOPES, Question, Store
from shared.domain import limits
from shared.recall.feedback import fed
from shared.recall.index import Candidates, Entry, Index
from shared.recall.ranking import DEFAULT, Preset, Ranking, rank, signals
from shared.recall.versions import BESIDE, Find, newer_first
from shared.recall.versions import Question as Asking
from shared.text.tokens import Query, Terms, query_terms

FIGURES: Final = ("recall@5", "recall@10", "ndcg@10", "mrr")
DEPTH: Final = 10

Figures = dict[str, float]
Ranked = Callable[[Question], list[str]]
"""Ids that answer a question, best first."""


class Owner:
    """One user's memories, indexed."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self._index = Index.build(self._entries.values())
        self._known: dict[str, Terms] = {}

    def ranked(self, question: Question, preset: Preset, limit: int = DEPTH) -> list[str]:
        """Ids in the order in which `Searcher.find` finds them (shared/recall/search.py), at most `limit`."""
        query = query_terms(question.text, now=question.now)
        found = self._index.search(query).candidates(limits.CANDIDATES)
        if preset.feedback and found.ids:
            more = fed(query, self._terms(found.ids[0]), self._index, preset.feedback)
            found = found.plus(self._index.search(more).scores(found)) if more else found
        ranking = rank(signals(found, SCOPES), preset, now=question.now.timestamp(), limit=limit + BESIDE)
        return self._ordered(question, query, found, ranking, preset)[:limit]

    def _ordered(
        self, question: Question, query: Query, found: Candidates, ranking: Ranking, preset: Preset
    ) -> list[str]:
        names = [found.ids[place] for place in ranking.order]
        if not preset.newer_first:
            return names
        updated = found.updated[ranking.order].tolist()
        finds = [
            Find(self._entries[name].text, *known) for name, *known in zip(names, updated, ranking.scores, strict=True)
        ]
        return [names[place] for place in newer_first(Asking(question.text, query, self._index), finds)]

    def _terms(self, name: str) -> Terms:
        if name not in self._known:
            self._known[name] = self._entries[name].terms()
        return self._known[name]


def product(stores: Store, preset: Preset = DEFAULT, limit: int = DEPTH) -> Ranked:
    """Index every user's memories; return what answers a question by a preset."""
    owners = {user: Owner(entries) for user, entries in stores.items()}
    return lambda question: owners[question.user].ranked(question, preset, limit)


def figures(questions: Sequence[Question], ranked: Ranked) -> Figures:
    """Recall@5, recall@10, nDCG@10 and MRR, averaged over the questions, and questions answered per second of processor time.

    Recall@k: the share of a question's answers among the first k. nDCG@10: Σ 1 ÷ log₂(place + 1) over the answers among the first ten,
    divided by the same for answers in the first min(answers, 10) places (binary gains: Järvelin and Kekäläinen, "Cumulated Gain-Based
    Evaluation of IR Techniques", 2002). MRR: 1 ÷ the place of the first answer among the first ten, else 0.
    """
    started = time.process_time()
    answers = [ranked(question) for question in questions]
    seconds = time.process_time() - started
    rows = [_row(question, found) for question, found in zip(questions, answers, strict=True)]
    means = np.mean(rows, axis=0).tolist()
    return {name: round(mean, 4) for name, mean in zip(FIGURES, means, strict=True)} | {
        "queries_per_second": round(len(questions) / max(seconds, 1e-6), 1)
    }


def _row(question: Question, found: Sequence[str]) -> tuple[float, ...]:
    hits = [name in question.relevant for name in found[:DEPTH]]
    gains = [1 / math.log2(place + 2) for place in range(DEPTH)]
    return (
        sum(hits[:5]) / len(question.relevant),
        sum(hits) / len(question.relevant),
        sum(gain for gain, hit in zip(gains, hits, strict=False) if hit) / sum(gains[: len(question.relevant)]),
        next((1 / (place + 1) for place, hit in enumerate(hits) if hit), 0.0),
    )
