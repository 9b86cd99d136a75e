"""The search index of one owner: build it from memories, pack it, open it, search it. No I/O, no seals, no owners.

`search` and everything scored lives in `scoring.py`, the bytes in `packing.py`; import all names from here.
"""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from shared.domain.ids import is_ulid
from shared.recall.candidates import ANYWHERE, Candidates, Where
from shared.recall.entries import CATEGORIES, STATUSES, Entry, TermCache, packed_ids, unpacked_ids
from shared.recall.packing import NO_MODEL, Columns, CorruptIndex, OldFormat, packed, unpacked
from shared.recall.scoring import Search
from shared.text.tokens import Query

__all__ = [
    "ANYWHERE",
    "CATEGORIES",
    "NO_MODEL",
    "STATUSES",
    "Candidates",
    "CorruptIndex",
    "Entry",
    "Index",
    "OldFormat",
    "Search",
    "TermCache",
    "Where",
    "hashed",
]

U32 = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]

OUT_OF_RANGE: Final = "A number of a memory is out of range."
HASH_BYTES: Final = 6
"""48 bits: a query word that is in no memory meets a wrong one once in 10⁹ queries at 280,000 terms, and costs 2 bytes less a term."""


def hashed(term: str) -> int:
    """The number a term has in the index; lone surrogates are accepted."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest(), "little")


class Index:
    """An immutable index over N memories."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.total_length = int(columns.lengths.sum(dtype=np.int64))

    def __len__(self) -> int:
        return len(self.columns.ids)

    @property
    def nbytes(self) -> int:
        """What its arrays take in memory."""
        arrays = (getattr(self.columns, column.name) for column in fields(self.columns))
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    @classmethod
    def build(cls, entries: Iterable[Entry], *, model: bytes = NO_MODEL) -> "Index":
        """Index these memories; of two with one id the higher version stays. `model` is the 16-byte mark of the model that made
        their vectors. ValueError for ids, times or tags of a wrong form."""
        newest: dict[str, Entry] = {}
        for entry in entries:
            known = newest.get(entry.id)
            if known is None or known.version < entry.version:
                newest[entry.id] = entry
        ordered = [newest[key] for key in sorted(newest)]
        return cls(_columns(ordered, model))

    def pack(self) -> bytes:
        """Bytes to be sealed; compressed, self-describing, deterministic."""
        return packed(self.columns)

    @classmethod
    def open(cls, packed_index: bytes) -> "Index":
        """The index in those bytes; CorruptIndex for any others."""
        return cls(unpacked(packed_index))

    def ids(self) -> list[str]:
        """All ids, ascending."""
        return unpacked_ids(self.columns.ids)

    def versions(self) -> dict[str, int]:
        """The version of each memory that is indexed."""
        return dict(zip(self.ids(), self.columns.versions.tolist(), strict=True))

    def vectors(self) -> dict[str, tuple[int, bytes]]:
        """Version and embedding of each memory that has one."""
        columns = self.columns
        if columns.vectors is None:
            return {}
        having = np.flatnonzero(columns.vectors.any(axis=1))
        found = zip(columns.versions[having].tolist(), map(bytes, columns.vectors[having]), strict=True)
        return dict(zip(unpacked_ids(columns.ids[having]), found, strict=True))

    def rows(self, ids: Collection[str]) -> Numbers:
        """Ascending row numbers of those ids that are indexed; strings that are no ids are passed over."""
        wanted = np.unique(packed_ids([text for text in ids if is_ulid(text)]))
        places = np.searchsorted(self.columns.ids, wanted)
        inside = places < len(self)
        places = places[inside]
        found: Numbers = places[self.columns.ids[places] == wanted[inside]]
        return found

    def frequencies(self, terms: Sequence[str], masked: Collection[str] = ()) -> Numbers:
        """How many memories have each term, shape (T,); ids in `masked` are treated as if they had never been indexed."""
        return self.search(Query(dict.fromkeys(terms, 1.0), frozenset(), long=False), masked=masked).frequencies

    def search(self, query: Query, *, where: Where = ANYWHERE, masked: Collection[str] = ()) -> Search:
        """Begin a search; ids in `masked` are treated as if they had never been indexed, in results and in statistics."""
        numbers = np.array([hashed(term) for term in query.weights], np.uint64)
        return Search(self.columns, self.total_length, query, numbers, where, self.rows(masked))

    def candidates(
        self,
        query: Query,
        *,
        where: Where = ANYWHERE,
        masked: Collection[str] = (),
        changed: Sequence[Entry] = (),
        k: int = 100,
    ) -> Candidates:
        """Exact top k over index and changed memories; the latter replace indexed ones of the same id."""
        return self.search(query, where=where, masked={*masked, *(e.id for e in changed)}).candidates(
            k, changed=changed
        )


def _columns(entries: Sequence[Entry], model: bytes) -> Columns:
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    places, counts, sizes, lengths = array("I"), array("I"), array("I"), array("I")
    for entry in entries:
        found = entry.terms()
        places.extend(map(numbers.__getitem__, found.counts))
        counts.extend(found.counts.values())
        sizes.append(len(found.counts))
        lengths.append(found.length)
    terms, starts, documents, clipped = _postings(
        list(numbers), *(np.frombuffer(column, np.uint32) for column in (places, counts, sizes))
    )
    tags = [entry.scope_tag for entry in entries]
    table = sorted(set(tags))
    place = {tag: i for i, tag in enumerate(table)}
    if any(len(tag) != 16 for tag in table):
        raise ValueError("A scope tag has 16 bytes.")
    return Columns(
        terms=terms,
        starts=starts,
        documents=documents,
        counts=clipped,
        ids=packed_ids([e.id for e in entries]),
        versions=_u32([e.version for e in entries]),
        created=_u32([e.created_at for e in entries]),
        updated=_u32([e.updated_at for e in entries]),
        importance=_u8([e.importance for e in entries], 10),
        categories=_u8([e.category for e in entries], len(CATEGORIES) - 1),
        scopes=_u32([place[t] for t in tags]),
        statuses=_u8([e.status for e in entries], len(STATUSES) - 1),
        accesses=_u32([e.access_count for e in entries]),
        lengths=_u32(lengths),
        ends=_u32([e.ends_at for e in entries]),
        scope_table=np.frombuffer(b"".join(table), "S16"),
        vectors=_vectors(entries),
        model=model,
    )


def _postings(
    words: list[str], places: U32, counts: U32, sizes: U32
) -> tuple[npt.NDArray[np.uint64], Numbers, U32, npt.NDArray[np.uint8]]:
    """Postings sorted by hash, then memory; terms whose hashes collide become one, their counts added."""
    numbers = np.array([hashed(word) for word in words], np.uint64)
    terms, ranks = np.unique(numbers, return_inverse=True)
    memories = max(len(sizes), 1)
    keys = ranks.astype(np.uint64)[places]
    keys *= np.uint64(memories)
    keys += np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    # the count rides in the low byte: one sort in place instead of an order and two gathers
    keys <<= np.uint64(8)
    keys |= np.minimum(counts, 255).astype(np.uint64)
    keys.sort()
    total, keys = (keys & np.uint64(255)).astype(np.uint8), keys >> np.uint64(8)
    first = np.flatnonzero(np.diff(keys, prepend=np.uint64(2**64 - 1)))
    if len(first) < len(keys):
        keys, total = keys[first], np.minimum(np.add.reduceat(total, first, dtype=np.int64), 255).astype(np.uint8)
    rank, documents = np.divmod(keys, np.uint64(memories))
    starts = np.concatenate(
        [np.zeros(1, np.int64), np.cumsum(np.bincount(rank.astype(np.int64), minlength=len(terms)))]
    )
    return terms, starts, documents.astype(np.uint32), total


def _u32(values: Sequence[int]) -> U32:
    return _bounded(values, 2**32 - 1).astype(np.uint32)


def _u8(values: Sequence[int], highest: int) -> npt.NDArray[np.uint8]:
    return _bounded(values, highest).astype(np.uint8)


def _bounded(values: Sequence[int], highest: int) -> Numbers:
    try:
        numbers = np.array(values, np.int64)
    except OverflowError as error:
        raise ValueError(OUT_OF_RANGE) from error
    if len(numbers) and (numbers.min() < 0 or numbers.max() > highest):
        raise ValueError(OUT_OF_RANGE)
    return numbers


def _vectors(entries: Sequence[Entry]) -> npt.NDArray[np.int8] | None:
    """Embeddings, shape (N, dim), zero where a memory has none; None when none has one."""
    dims = {len(e.vector) for e in entries if e.vector is not None}
    if not dims:
        return None
    if len(dims) > 1 or max(dims) > 0xFFFF:
        raise ValueError("Embeddings have one length.")
    (dim,) = dims
    return np.frombuffer(b"".join(e.vector or bytes(dim) for e in entries), np.int8).reshape(-1, dim)
