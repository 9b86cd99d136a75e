"""What a search may find (`Where`) and what it found (`Candidates`)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from shared.recall.entries import Entry, packed_ids, unpacked_ids
from shared.recall.packing import Columns

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_COMPARED: Final = 8

Share = tuple[Collection[bytes], int]
"""Tags of scopes that belong together, and a number of their memories."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which memories may be found; None means any. Times are epoch seconds, `…_from` inclusive, `created_to` exclusive; what ends at
    `living_at` or before is over."""

    scopes: frozenset[bytes] | None = None
    statuses: frozenset[int] | None = None
    categories: frozenset[int] | None = None
    created_from: int | None = None
    created_to: int | None = None
    updated_from: int | None = None
    living_at: int | None = None

    def allows(self, entry: Entry) -> bool:
        """Whether a memory outside the index may be found."""
        return (
            (self.scopes is None or entry.scope_tag in self.scopes)
            and (self.statuses is None or entry.status in self.statuses)
            and (self.categories is None or entry.category in self.categories)
            and (self.created_from is None or entry.created_at >= self.created_from)
            and (self.created_to is None or entry.created_at < self.created_to)
            and (self.updated_from is None or entry.updated_at >= self.updated_from)
            and (self.living_at is None or not entry.ends_at or entry.ends_at > self.living_at)
        )

    def rows(self, columns: Columns) -> Flags:
        """Which rows of the index may be found, shape (N,)."""
        kept = np.ones(len(columns.ids), bool)
        if self.scopes is not None:
            kept &= tagged(columns, self.scopes)
        if self.statuses is not None:
            kept &= _among(columns.statuses, sorted(self.statuses))
        if self.categories is not None:
            kept &= _among(columns.categories, sorted(self.categories))
        if self.created_from is not None:
            kept &= columns.created >= self.created_from
        if self.created_to is not None:
            kept &= columns.created < self.created_to
        if self.updated_from is not None:
            kept &= columns.updated >= self.updated_from
        if self.living_at is not None:
            kept &= (columns.ends == 0) | (columns.ends > self.living_at)
        return kept


ANYWHERE: Final = Where()


def tagged(columns: Columns, tags: Collection[bytes]) -> Flags:
    """Which rows of the index live in one of these scopes, shape (N,)."""
    wanted = {tag.rstrip(b"\0") for tag in tags}  # numpy hands byte strings out without their last zero bytes
    return _among(columns.scopes, [n for n, tag in enumerate(columns.scope_table.tolist()) if tag in wanted])


def best(scores: npt.NDArray[np.floating[Any]], updated: npt.NDArray[np.uint32], rows: Rows, k: int) -> Rows:
    """The k of these rows with the highest score, shape of `scores` as of `rows`; of equal ones the later updated, then the higher row."""
    if k <= 0:
        return rows[:0]
    if len(rows) <= k:
        return rows
    high = scores >= np.partition(scores, len(rows) - k)[len(rows) - k]
    rows, scores = rows[high], scores[high]
    order = np.lexsort((-rows, -updated[rows].astype(np.int64), -scores))
    chosen: Rows = rows[order[:k]]
    return chosen


def best_of_each(
    scores: npt.NDArray[np.floating[Any]], columns: Columns, rows: Rows, k: int, shares: Sequence[Share]
) -> Rows:
    """The k best of these rows, as `best`; of each of the `shares` so many are among them, if they are there."""
    if len(rows) <= k or not shares:
        return best(scores, columns.updated, rows, k)
    kept = np.zeros(len(rows), bool)
    for tags, least in shares:
        here = np.flatnonzero(tagged(columns, tags)[rows])
        kept[np.searchsorted(rows, best(scores[here], columns.updated, rows[here], least))] = True
    others = np.flatnonzero(~kept)
    more = best(scores[others], columns.updated, rows[others], k - np.count_nonzero(kept))
    return np.concatenate([rows[kept], more])


@dataclass(frozen=True, slots=True)
class Candidates:
    """Found memories, best text first, as parallel sequences of length n.

    `text` is the BM25 score, `coverage` the share of the query's words that are present, `semantic` the cosine (0 without embeddings);
    `rows` is the place in the index, −1 for a memory that came from outside it. Times are epoch seconds.
    """

    ids: list[str]
    scope_tags: list[bytes]
    rows: Rows
    versions: Rows
    text: Floats
    coverage: Floats
    semantic: Floats
    created: Rows
    updated: Rows
    importance: Rows
    categories: Rows
    statuses: Rows
    accesses: Rows

    def __len__(self) -> int:
        return len(self.ids)

    def plus(self, text: Floats) -> "Candidates":
        """The same memories with so much more text score, shape (n,), in the order that it gives them."""
        more = replace(self, text=self.text + text)
        return more.taken(np.lexsort((-more.updated, -more.text)))

    def taken(self, places: Rows) -> "Candidates":
        """The memories at these places, in their order."""
        columns: dict[str, Any] = {column.name: getattr(self, column.name) for column in fields(self)}
        for name, held in columns.items():
            columns[name] = held[places] if isinstance(held, np.ndarray) else [held[place] for place in places.tolist()]
        return Candidates(**columns)


@dataclass(frozen=True, slots=True)
class Scores:
    """Signals of some memories, each of shape (n,)."""

    text: Floats
    coverage: Floats
    semantic: Floats


def gathered(
    columns: Columns, rows: Rows, scores: Scores, outside: Sequence[Entry], outside_scores: Scores
) -> Candidates:
    """Rows of the index and memories outside it as one list: best text first, then later updated, then the higher id."""
    ids = np.concatenate([columns.ids[rows], packed_ids([e.id for e in outside])])
    text = np.concatenate([scores.text, outside_scores.text])
    updated = _joined(columns.updated[rows], [e.updated_at for e in outside])
    order = np.lexsort((-_ranks(ids), -updated, -text))

    def ordered(inside: npt.NDArray[Any], more: Sequence[int]) -> Rows:
        column: Rows = _joined(inside[rows], more)[order]
        return column

    tags = [tag.ljust(16, b"\0") for tag in columns.scope_table.tolist()]
    all_tags = [tags[place] for place in columns.scopes[rows].tolist()] + [e.scope_tag for e in outside]
    return Candidates(
        ids=unpacked_ids(ids[order]),
        scope_tags=[all_tags[place] for place in order.tolist()],
        rows=_joined(rows, [-1] * len(outside))[order],
        versions=ordered(columns.versions, [e.version for e in outside]),
        text=text[order],
        coverage=np.concatenate([scores.coverage, outside_scores.coverage])[order],
        semantic=np.concatenate([scores.semantic, outside_scores.semantic])[order],
        created=ordered(columns.created, [e.created_at for e in outside]),
        updated=updated[order],
        importance=ordered(columns.importance, [e.importance for e in outside]),
        categories=ordered(columns.categories, [e.category for e in outside]),
        statuses=ordered(columns.statuses, [e.status for e in outside]),
        accesses=ordered(columns.accesses, [e.access_count for e in outside]),
    )


def first(found: Candidates, k: int, shares: Sequence[Share] = ()) -> Candidates:
    """The first k. Of each of the `shares` so many are among them, if they are there, before better ones of others."""
    if len(found) <= k:
        return found
    kept = np.zeros(len(found), bool)
    for tags, least in shares:
        kept[[place for place, tag in enumerate(found.scope_tags) if tag in tags][:least]] = True
    kept[np.flatnonzero(~kept)[: max(k - np.count_nonzero(kept), 0)]] = True
    return found.taken(np.flatnonzero(kept))


def _joined(inside: npt.NDArray[Any], more: Sequence[int]) -> Rows:
    joined: Rows = np.concatenate([inside.astype(np.int64), np.array(more, np.int64)])
    return joined


def _ranks(ids: npt.NDArray[np.bytes_]) -> Rows:
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def _among(column: npt.NDArray[Any], wanted: Sequence[int]) -> Flags:
    """Which numbers of a column are wanted; a few are compared with one by one, which is many times quicker than looking each up."""
    if len(wanted) > _COMPARED:
        return np.isin(column, wanted)
    kept = np.zeros(len(column), bool)
    for number in wanted:
        kept |= column == number
    return kept
