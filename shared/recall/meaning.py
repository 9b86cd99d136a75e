"""Meaning beside words: vectors of memories for the index, and of a query while its owner is being opened.

Nothing here may hold a search up or make it fail: without a vector it finds by words alone, and a log line counts it. The optional
model stands behind the port `Embedder`.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from shared.domain import limits
from shared.domain.asking import ModelUnavailable
from shared.observability import warn
from shared.ports import Embedder, Trust
from shared.recall.candidates import Candidates
from shared.recall.entries import Entry
from shared.recall.index import Index
from shared.recall.ranking import Preset

Vector = npt.NDArray[np.float32]
Monotonic = Callable[[], float]
"""Seconds since some fixed moment."""

BATCH: Final = 64
MOST: Final = 5_000
"""Memories embedded by one build at most; the owner is then due again."""
MOST_SECONDS: Final = 240.0
FAILED_BATCHES: Final = 2
"""After so many in a row a build goes on without vectors."""
FAILED_QUERIES: Final = 3
REST_SECONDS: Final = 30.0
"""After so many failures in a row queries do not ask for so long, so that a provider that hangs does not slow every search."""


@dataclass(frozen=True, slots=True)
class Filled:
    """Entries with their vectors: how many were embedded now, and how many still have none."""

    entries: Sequence[Entry]
    embedded: int = 0
    left: int = 0


class Meaning:
    """Asks the chosen model. A query has `seconds` from when it is asked."""

    def __init__(self, embedder: Embedder, seconds: float, clock: Monotonic) -> None:
        self.embedder, self.seconds, self.clock = embedder, seconds, clock
        self.mark = blake2b(embedder.name.encode(), digest_size=16).digest()
        """What an index is marked with whose vectors are this model's."""
        self._failures = 0
        self._rests_until = 0.0

    def ask(self, query: str) -> "Asked | None":
        """Begin to embed a query beside other work; None when the model does not serve it, or rests after it failed."""
        if self.clock() < self._rests_until or not self.embedder.serves(query):
            return None
        return Asked(self, _pool().submit(self.embedder.query, query), self.clock() + self.seconds)

    def answered(self, fault: str | None) -> None:
        """Note how a query ended."""
        if fault is None:
            self._failures = 0
            return
        warn("embedding_failed", of="query", reason=fault)
        self._failures += 1
        if self._failures >= FAILED_QUERIES:
            self._failures, self._rests_until = 0, self.clock() + REST_SECONDS

    def fill(self, entries: Sequence[Entry], previous: Index | None) -> Filled:
        """Give entries their vectors: from the previous index where it has the same version's, else new ones, latest memories first."""
        known = previous.vectors() if previous is not None and previous.columns.model == self.mark else {}
        found = {entry.id: known[entry.id][1] for entry in entries if known.get(entry.id, (0,))[0] == entry.version}
        missing = sorted((e for e in entries if e.id not in found), key=lambda e: (e.updated_at, e.id), reverse=True)
        fresh = self._embedded(missing[:MOST])
        found |= fresh
        return Filled([replace(e, vector=found.get(e.id)) for e in entries], len(fresh), len(entries) - len(found))

    def _embedded(self, entries: Sequence[Entry]) -> dict[str, bytes]:
        vectors: dict[str, bytes] = {}
        end, failed = self.clock() + MOST_SECONDS, 0
        for at in range(0, len(entries), BATCH):
            if failed == FAILED_BATCHES or self.clock() >= end:
                break
            batch = entries[at : at + BATCH]
            try:
                made = self.embedder.documents([entry.text for entry in batch])
                vectors |= {entry.id: quantised(vector) for entry, vector in zip(batch, made, strict=True)}
                failed = 0
            except Exception as fault:  # noqa: BLE001 - an index without vectors is better than none
                warn("embedding_failed", of="memories", reason=_named(fault))
                failed += 1
        return vectors


@dataclass(frozen=True, slots=True)
class Asked:
    """A query whose vector is on its way."""

    meaning: Meaning
    future: "Future[list[float]]"
    until: float

    def vector(self, index: Index) -> Vector | None:
        """Return the unit vector, shape (dim,); None when it does not come in time, or the index has none to compare it with."""
        if index.columns.vectors is None or index.columns.model != self.meaning.mark:
            self.future.cancel()
            return None
        try:
            found = unit(self.future.result(max(0.0, self.until - self.meaning.clock())))
        except Exception as fault:  # noqa: BLE001 - a search answers by words alone
            self.future.cancel()
            self.meaning.answered(_named(fault))
            return None
        self.meaning.answered(None)
        return found


def blended(preset: Preset, trust: Trust) -> Preset:
    """Return a preset that adds meaning with the model's weight, and lets what is near in meaning stand beside what shares words."""
    if preset.fusion != "sum":
        return preset
    return replace(preset, semantic=trust.weight, candidates=preset.candidates + limits.CANDIDATES)


def levelled(index: Index, found: Candidates, trust: Trust) -> Candidates:
    """Return candidates in which memories that say nearly the same have the same cosine, the highest of theirs.

    Else the outdated one of two versions of a fact would come first as often as not: what tells them apart has no meaning to the query,
    and moves cosines by more than their age may add. Words and age are left to decide.
    """
    inside = np.flatnonzero(found.rows >= 0)
    if index.columns.vectors is None or not len(inside):
        return found
    vectors = index.columns.vectors[found.rows[inside]].astype(np.float32) / 127
    near = vectors @ vectors.T >= trust.alike
    semantic = found.semantic.copy()
    semantic[inside] = np.maximum(semantic[inside], np.where(near, semantic[inside], 0.0).max(axis=1))
    return replace(found, semantic=semantic)


def unit(vector: Iterable[float]) -> Vector:
    """Return the vector at length 1, shape (dim,). Raises ValueError when it has none."""
    plain = np.array(vector, np.float64)
    length = float(np.linalg.norm(plain))
    if not np.isfinite(length) or length == 0.0:
        raise ValueError("A vector has a length.")
    scaled: Vector = (plain / length).astype(np.float32)
    return scaled


def quantised(vector: Iterable[float]) -> bytes:
    """Return the unit vector as signed bytes, x × 127 rounded: how entries and indexes hold it."""
    return np.rint(unit(vector) * 127).astype(np.int8).tobytes()


def _named(fault: Exception) -> str:
    return fault.code if isinstance(fault, ModelUnavailable) else type(fault).__name__


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4, thread_name_prefix="meaning")
