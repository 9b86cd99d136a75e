"""BM25 over an index and the memories it does not know yet, with one set of statistics for both.

Score of memory d for query q: Σ over terms t of w(t) · ln(1 + (N − df + ½) / (df + ½)) · f (k1 + 1) / (f + k1 (1 − b + b · |d| / avg)),
Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with Lucene's non-negative idf; weights w come
from the query. k1 0.3, b 0.15 for questions and 1.2, 0.75 for pasted text: docs/decisions/ranking.md.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from shared.recall.candidates import Candidates, Floats, Rows, Scores, Share, Where, best_of_each, first, gathered
from shared.recall.entries import Entry, TermCache
from shared.recall.packing import Columns
from shared.text.tokens import Query, Terms

SHORT: Final = (0.3, 0.15)
LONG: Final = (1.2, 0.75)
_NO_CACHE_OWNER: Final = ""
_PIECE: Final = 4_096


class Search:
    """One query against one index, begun by `Index.search`; asking it twice does not look the words up twice."""

    def __init__(
        self,
        columns: Columns,
        total_length: int,
        query: Query,
        numbers: npt.NDArray[np.uint64],
        where: Where,
        masked: Rows,
    ) -> None:
        """`numbers` are the hashes of the query's terms in its order, `masked` the rows that count as absent.

        `frequencies` tells of each term how many memories of the index have it, shape (T,).
        """
        self._columns, self._query, self._where = columns, query, where
        self._weights = np.fromiter(query.weights.values(), np.float64, len(query.weights))
        self._k1, self._b = LONG if query.long else SHORT
        self._allowed = where.rows(columns)
        self._allowed[masked] = False
        places = np.searchsorted(columns.terms, numbers)
        known = places < len(columns.terms)
        known[known] = columns.terms[places[known]] == numbers[known]
        begins = np.where(known, columns.starts[np.where(known, places, 0)], 0).tolist()
        ends = np.where(known, columns.starts[np.where(known, places + 1, 0)], 0).tolist()
        self._slices = list(zip(begins, ends, strict=True))
        self._sizes = np.array([b - a for a, b in self._slices], np.int64)
        gone = masked.astype(np.uint32)
        within = [np.count_nonzero(self._held(term, gone)[0]) for term in range(len(self._slices))]
        self.frequencies = self._sizes - np.array(within, np.int64)
        self._memories = len(columns.ids) - len(masked)
        self._length = total_length - int(columns.lengths[masked].sum(dtype=np.int64))

    def candidates(
        self,
        k: int = 100,
        *,
        changed: Sequence[Entry] = (),
        cache: TermCache | None = None,
        owner: str = _NO_CACHE_OWNER,
        among: Candidates | None = None,
        vector: npt.NDArray[np.float32] | None = None,
        floor: float = 0.0,
        shares: Sequence[Share] = (),
    ) -> Candidates:
        """Exact top k of the memories that match, in the index and in `changed`, with statistics over both.

        Ids of `changed` must have been masked when the search began. With `among`, an earlier answer of this search, only its rows count
        besides `changed`: they are the ones already read. `vector` is the query's unit embedding (dim,): the k nearest join, if
        their cosine is above `floor`. Of each of the `shares`, so many that match are among the k whatever others score.
        """
        terms = [cache.terms(owner, entry) if cache else entry.terms() for entry in changed]
        factors, average = self._statistics(terms)
        cosines = _cosines(self._columns, vector)
        rows = self._rows(k, factors, average, cosines, floor, shares) if among is None else self._still_allowed(among)
        text, coverage = self._row_signals(rows, factors, average)
        near = np.zeros(len(rows)) if cosines is None else cosines[rows]
        kept = (text > 0) | (near > 0)
        rows = rows[kept]
        inside = Scores(text[kept], coverage[kept], near[kept])
        chosen = [(e, t) for e, t in zip(changed, terms, strict=True) if self._where.allows(e)]
        outside = self._outside_scores(
            [t for _, t in chosen], factors, average, [_cosine(e, vector) for e, _ in chosen]
        )
        hits = np.flatnonzero((outside.text > 0) | (outside.semantic > 0))
        entries = [chosen[i][0] for i in hits.tolist()]
        outside = Scores(outside.text[hits], outside.coverage[hits], outside.semantic[hits])
        return first(gathered(self._columns, rows, inside, entries, outside), k if vector is None else 2 * k, shares)

    def scores(
        self,
        found: Candidates,
        *,
        changed: Sequence[Entry] = (),
        cache: TermCache | None = None,
        owner: str = _NO_CACHE_OWNER,
    ) -> Floats:
        """BM25 of memories that another search with the same masked and `changed` ones has found, shape (n,); 0 where no term is in."""
        terms = [cache.terms(owner, entry) if cache else entry.terms() for entry in changed]
        factors, average = self._statistics(terms)
        known = {entry.id: held for entry, held in zip(changed, terms, strict=True)}
        inside, outside = np.flatnonzero(found.rows >= 0), np.flatnonzero(found.rows < 0)
        text = np.zeros(len(found))
        text[inside] = self._row_signals(found.rows[inside], factors, average)[0]
        held = [known[found.ids[place]] for place in outside.tolist()]
        text[outside] = self._outside_scores(held, factors, average, [0.0] * len(held)).text
        return text

    def _statistics(self, changed: Sequence[Terms]) -> tuple[Floats, float]:
        """Weight × idf × (k1 + 1) per query term, shape (T,), and the average length, over index and changed memories."""
        memories = self._memories + len(changed)
        more = [sum(term in found.counts for found in changed) for term in self._query.weights]
        df = self.frequencies + np.array(more, np.int64)
        idf = np.log1p((memories - df + 0.5) / (df + 0.5))
        length = self._length + sum(found.length for found in changed)
        return self._weights * idf * (self._k1 + 1), max(length / max(memories, 1), 1e-9)

    def _rows(
        self,
        k: int,
        factors: Floats,
        average: float,
        cosines: Floats | None,
        floor: float,
        shares: Sequence[Share],
    ) -> Rows:
        """The k best rows by text and the k nearest by meaning, ascending."""
        scores = self._all_scores(factors, average)
        matching = np.flatnonzero((scores > 0) & self._allowed)
        rows = best_of_each(scores[matching], self._columns, matching, k, shares)
        if cosines is not None:
            near = np.flatnonzero((cosines > floor) & self._allowed)
            rows = np.concatenate([rows, best_of_each(cosines[near], self._columns, near, k, shares)])
        return np.unique(rows)

    def _all_scores(self, factors: Floats, average: float) -> npt.NDArray[np.float32]:
        """The score of every row, shape (N,), in single precision: good enough to choose by, and half of the memory to walk through.

        Term by term, since each one's postings fit into the processor's cache and those of all terms together do not.
        """
        columns = self._columns
        bars = self._bars(columns.lengths, average).astype(np.float32)
        scores = np.zeros(len(bars), np.float32)
        for factor, (begin, end) in zip(factors.astype(np.float32), self._slices, strict=True):
            documents, counts = columns.documents[begin:end], columns.counts[begin:end].astype(np.float32)
            parts = bars.take(documents)
            parts += counts
            np.divide(counts, parts, out=parts)
            parts *= factor
            np.add.at(scores, documents, parts)
        return scores

    def _row_signals(self, rows: Rows, factors: Floats, average: float) -> tuple[Floats, Floats]:
        """Score and coverage of some rows, each of shape (n,)."""
        bars = self._bars(self._columns.lengths[rows], average)
        text, present, wanted = np.zeros(len(rows)), np.zeros(len(rows)), rows.astype(np.uint32)
        for place, (term, factor) in enumerate(zip(self._query.weights, factors.tolist(), strict=True)):
            if not self._sizes[place]:
                continue
            held, postings = self._held(place, wanted)
            counts = self._columns.counts[postings]
            text += np.where(held, factor * counts / (counts + bars), 0.0)
            present += held & (term in self._query.whole)
        return text, present / max(len(self._query.whole), 1)

    def _bars(self, lengths: npt.NDArray[np.uint32], average: float) -> Floats:
        return np.asarray(self._k1 * (1 - self._b + self._b * lengths / average), np.float64)

    def _held(self, term: int, wanted: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.bool_], Rows]:
        """Which of these rows a term is in, and the places of their postings (of any, where it is not)."""
        begin, end = self._slices[term]
        if begin == end:
            return np.zeros(len(wanted), bool), np.zeros(len(wanted), np.int64)
        places = begin + np.searchsorted(self._columns.documents[begin:end], wanted)
        places = np.minimum(places, end - 1)
        return self._columns.documents[places] == wanted, places

    def _outside_scores(
        self, found: Sequence[Terms], factors: Floats, average: float, cosines: Sequence[float]
    ) -> Scores:
        text, coverage = np.zeros(len(found)), np.zeros(len(found))
        for i, terms in enumerate(found):
            bar = self._k1 * (1 - self._b + self._b * terms.length / average)
            for term, factor in zip(self._query.weights, factors.tolist(), strict=True):
                count = min(terms.counts.get(term, 0), 255)
                if count:
                    text[i] += factor * count / (count + bar)
            coverage[i] = sum(term in terms.counts for term in self._query.whole) / max(len(self._query.whole), 1)
        return Scores(text, coverage, np.array(cosines, np.float64))

    def _still_allowed(self, among: Candidates) -> Rows:
        rows = np.sort(among.rows[among.rows >= 0])
        return rows[self._allowed[rows]]


def _cosines(columns: Columns, vector: npt.NDArray[np.float32] | None) -> Floats | None:
    if vector is None or columns.vectors is None or columns.vectors.shape[1] != len(vector):
        return None
    # piece by piece: a whole column as floats would take four times its room
    pieces = [
        columns.vectors[at : at + _PIECE].astype(np.float32) @ vector for at in range(0, len(columns.ids), _PIECE)
    ]
    cosines: Floats = np.concatenate([np.zeros(0), *pieces]) / 127
    return cosines


def _cosine(entry: Entry, vector: npt.NDArray[np.float32] | None) -> float:
    if vector is None or entry.vector is None or len(entry.vector) != len(vector):
        return 0.0
    return float(np.frombuffer(entry.vector, np.int8).astype(np.float32) @ vector) / 127
