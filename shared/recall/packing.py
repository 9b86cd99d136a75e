"""The bytes of an index: numpy columns as byte planes under zlib, and a decoder that fails closed.

Layout: header (`_HEADER`, then one byte per column: how many byte planes it has), then one zlib stream with the planes of all
columns in the order of `_COLUMNS`, least significant plane first, then the scope table, the vectors and their model's mark. Sorted
columns are stored as differences; document numbers as differences within their term. Sealing is done outside: this is the plain
text of the seal.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from shared.recall.entries import CATEGORIES, STATUSES, Ids
from shared.text.tokens import ANALYSER

FORMAT: Final = 3
NO_MODEL: Final = bytes(16)
"""The mark of an index that no embedding model had a part in."""
DEFLATE_LIMIT: Final = 1_040
"""No zlib stream grows by more than this factor, so a longer claim is a lie and is refused before memory is asked for."""

_HEADER: Final = struct.Struct("<BBIIQIH")
_LEVEL: Final = 6

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]

_PER_MEMORY: Final = (
    "versions",
    "created",
    "updated",
    "importance",
    "categories",
    "scopes",
    "statuses",
    "accesses",
    "lengths",
    "ends",
)
_COLUMNS: Final = ("terms", "frequencies", "documents", "counts", *_PER_MEMORY)


class CorruptIndex(Exception):
    """The bytes are no index of this format and analyser: rebuild it. Says nothing about where or why."""


class OldFormat(CorruptIndex):
    """The bytes name another format or analyser than this code's."""


@dataclass(frozen=True, slots=True)
class Columns:
    """All arrays of an index: V terms, P postings, N memories (sorted by id), S distinct scopes.

    `terms` (V, sorted hashes), `starts` (V+1, into postings), `documents` and `counts` (P), `ids` (N), the rest (N) each,
    `ends` epoch seconds, 0 for what never ends, `scope_table` (S), `vectors` (N, dim) or None, `model` the 16-byte mark of the embedding
    model that they are of.
    """

    terms: U64
    starts: npt.NDArray[np.int64]
    documents: U32
    counts: U8
    ids: Ids
    versions: U32
    created: U32
    updated: U32
    importance: U8
    categories: U8
    scopes: U32
    statuses: U8
    accesses: U32
    lengths: U32
    ends: U32
    scope_table: Ids
    vectors: npt.NDArray[np.int8] | None
    model: bytes


def packed(columns: Columns) -> bytes:
    """The index as bytes, ready to be sealed."""
    flat: dict[str, npt.NDArray[Any]] = {name: getattr(columns, name) for name in _PER_MEMORY}
    flat["created"] = _zigzag(columns.created)
    flat["updated"] = (columns.updated - columns.created).astype(np.uint32)
    flat["terms"] = np.diff(columns.terms, prepend=np.uint64(0))
    flat["frequencies"] = np.diff(columns.starts)
    flat["documents"] = _gaps(columns)
    flat["counts"] = columns.counts
    dim = 0 if columns.vectors is None else columns.vectors.shape[1]
    sizes = (len(columns.ids), len(columns.terms), len(columns.documents), len(columns.scope_table))
    header = _HEADER.pack(FORMAT, ANALYSER, *sizes, dim)
    split = [_planes(flat[name]) for name in _COLUMNS]
    deflate = zlib.compressobj(_LEVEL)
    parts = [header, bytes(len(planes) for planes in split)]
    parts += [deflate.compress(plane.tobytes()) for planes in split for plane in planes]
    tail = (
        _id_planes(columns.ids),
        columns.scope_table.tobytes(),
        b"" if columns.vectors is None else columns.vectors.tobytes(),
        columns.model,
    )
    parts += [deflate.compress(piece) for piece in tail]
    return b"".join([*parts, deflate.flush()])


def unpacked(packed_index: bytes) -> Columns:
    """The columns of a packed index; CorruptIndex for anything else, before more memory is used than an honest one would need."""
    try:
        return _opened(packed_index)
    except (ValueError, IndexError, struct.error, zlib.error) as error:
        raise CorruptIndex from error


def _opened(packed_index: bytes) -> Columns:
    form, analyser, memories, terms, postings, scopes, dim = _HEADER.unpack_from(packed_index)
    if (form, analyser) != (FORMAT, ANALYSER):
        raise OldFormat
    start = _HEADER.size + len(_COLUMNS)
    widths = packed_index[_HEADER.size : start]
    _demand(len(widths) == len(_COLUMNS) and max(widths) <= 8)
    sizes = {"terms": terms, "frequencies": terms, "documents": postings, "counts": postings}
    rows = [sizes.get(name, memories) for name in _COLUMNS]
    fixed = 16 * (memories + scopes) + memories * dim + len(NO_MODEL)
    expected = sum(n * width for n, width in zip(rows, widths, strict=True)) + fixed
    body = memoryview(_inflated(memoryview(packed_index)[start:], expected))
    read: dict[str, U64] = {}
    place = 0
    for name, n, width in zip(_COLUMNS, rows, widths, strict=True):
        read[name] = _joined(body[place : place + n * width], n, width, name)
        place += n * width
    ids = _joined_ids(body[place : place + 16 * memories], memories)
    place += 16 * memories
    table = np.frombuffer(body, "S16", scopes, place)
    vectors = np.frombuffer(body, np.int8, memories * dim, place + 16 * scopes).reshape(memories, dim) if dim else None
    return _checked(read, ids, table, vectors, bytes(body[-16:]))


def _inflated(stream: memoryview, expected: int) -> bytes:
    _demand(expected <= DEFLATE_LIMIT * len(stream) + 64)
    inflate = zlib.decompressobj()
    body = inflate.decompress(stream, expected + 1)
    _demand(len(body) == expected and inflate.eof and not inflate.unused_data)
    return body


def _checked(read: dict[str, Any], ids: Ids, table: Ids, vectors: npt.NDArray[np.int8] | None, model: bytes) -> Columns:
    created = _unzigzag(read["created"])
    terms = np.cumsum(read["terms"], dtype=np.uint64)
    _demand(bool((terms[1:] > terms[:-1]).all() and (ids[1:] > ids[:-1]).all()))
    frequencies = read["frequencies"]
    _demand(bool((frequencies > 0).all()) and int(frequencies.sum(dtype=np.uint64)) == len(read["documents"]))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(frequencies, dtype=np.int64)])
    _demand(int(starts[-1]) == len(read["documents"]))
    documents = _documents(read["documents"], starts, len(ids))
    for name, end in (
        ("scopes", len(table)),
        ("categories", len(CATEGORIES)),
        ("statuses", len(STATUSES)),
        ("importance", 11),
    ):
        _demand(bool((read[name] < end).all()))
    return Columns(
        terms=terms,
        starts=starts,
        documents=documents,
        counts=read["counts"],
        ids=ids,
        versions=read["versions"],
        created=created,
        updated=created + read["updated"],
        importance=read["importance"],
        categories=read["categories"],
        scopes=read["scopes"],
        statuses=read["statuses"],
        accesses=read["accesses"],
        lengths=read["lengths"],
        ends=read["ends"],
        scope_table=table,
        vectors=vectors,
        model=model,
    )


def _demand(true: bool) -> None:
    if not true:
        raise ValueError("not an index")


_TYPES: Final[dict[str, Any]] = {"terms": np.uint64} | dict.fromkeys(
    ("counts", "importance", "categories", "statuses"), np.uint8
)


def _planes(column: npt.NDArray[Any]) -> list[U8]:
    """Byte planes of non-negative integers, least significant first, without empty ones at the top."""
    highest = int(column.max()) if len(column) else 0
    width = (highest.bit_length() + 7) // 8
    return [((column >> (8 * i)) & 0xFF).astype(np.uint8) for i in range(width)]


def _joined(planes: memoryview, rows: int, width: int, name: str) -> Any:
    kind = np.dtype(_TYPES.get(name, np.uint32))
    _demand(width <= kind.itemsize)
    column = np.zeros((rows, kind.itemsize), np.uint8)
    for i in range(width):
        column[:, i] = np.frombuffer(planes, np.uint8, rows, i * rows)
    return column.view(kind.newbyteorder("<")).ravel()


def _id_planes(ids: Ids) -> bytes:
    return np.ascontiguousarray(ids.view(np.uint8).reshape(-1, 16).T).tobytes()


def _joined_ids(planes: memoryview, rows: int) -> Ids:
    return np.ascontiguousarray(np.frombuffer(planes, np.uint8).reshape(16, rows).T).view("S16").ravel()


def _gaps(columns: Columns) -> U32:
    gaps = np.diff(columns.documents, prepend=np.uint32(0))
    firsts = columns.starts[:-1]
    gaps[firsts] = columns.documents[firsts]
    return gaps


def _documents(gaps: U32, starts: npt.NDArray[np.int64], memories: int) -> U32:
    """Document numbers from gaps; sums wrap at 2³² on purpose, since only differences within a term count."""
    sums = np.cumsum(gaps, dtype=np.uint32)
    firsts = starts[:-1]
    documents = sums - np.repeat(sums[firsts] - gaps[firsts], np.diff(starts))
    inner = np.ones(len(gaps), bool)
    inner[firsts] = False
    _demand(bool((documents < memories).all() and (documents[1:] > documents[:-1])[inner[1:]].all()))
    return documents


def _zigzag(times: U32) -> U32:
    steps = np.diff(times, prepend=np.uint32(0)).view(np.int32)
    return ((steps << 1) ^ (steps >> 31)).view(np.uint32)


def _unzigzag(coded: U32) -> U32:
    steps = (coded >> np.uint32(1)) ^ (np.uint32(0) - (coded & np.uint32(1)))
    return np.cumsum(steps, dtype=np.uint32)
