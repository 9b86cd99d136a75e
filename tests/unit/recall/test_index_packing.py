"""The bytes of an index: they come back as they were, and anything else is refused in one way, without much memory."""

import struct
import tracemalloc
import zlib
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.recall.index import NO_MODEL, CorruptIndex, Entry, Index
from shared.recall.packing import Columns
from tests.unit.recall.made import entry, memories

HEADER = struct.Struct("<BBIIQIH")
COLUMNS = 14
SAMPLE = Index.build([entry(n, f"green tea {n} 花生过敏", vector=bytes([n, 1])) for n in range(20)]).pack()


def same(one: Columns, other: Columns) -> bool:
    return all(np.array_equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(Columns))


def resealed(header: tuple[int, ...], widths: bytes, body: bytes) -> bytes:
    return HEADER.pack(*header) + widths + zlib.compress(body)


def taken_apart(packed: bytes) -> tuple[list[int], bytes, bytes]:
    start = HEADER.size + COLUMNS
    return list(HEADER.unpack_from(packed)), packed[HEADER.size : start], zlib.decompress(packed[start:])


@given(memories())
def test_an_index_comes_back_from_its_bytes_as_it_was(entries: list[Entry]) -> None:
    index = Index.build(entries)
    opened = Index.open(index.pack())
    assert same(opened.columns, index.columns)
    assert opened.pack() == index.pack()
    assert opened.ids() == sorted(each.id for each in entries)


def test_every_number_survives_at_its_bounds() -> None:
    wide = entry(
        1,
        version=2**32 - 1,
        created_at=2**32 - 1,
        updated_at=0,
        importance=10,
        category=7,
        status=2,
        access_count=2**32 - 1,
        ends_at=2**32 - 1,
    )
    index = Index.build([wide, entry(2, "tea " * 1_000, created_at=0, scope_tag=bytes(16), vector=bytes([128, 127]))])
    opened = Index.open(index.pack())
    assert same(opened.columns, index.columns)
    assert opened.columns.counts.max() == 255


def test_embeddings_come_back_and_are_zero_where_there_was_none() -> None:
    index = Index.open(Index.build([entry(1, vector=bytes([128, 127])), entry(2)]).pack())
    assert index.columns.vectors is not None
    assert index.columns.vectors.tolist() == [[-128, 127], [0, 0]]


def test_the_mark_of_the_model_comes_back_with_its_embeddings_and_the_versions_they_are_of() -> None:
    packed = Index.build([entry(1, version=3, vector=b"\x01\x02"), entry(2)], model=b"m" * 16).pack()
    index = Index.open(packed)
    assert index.columns.model == b"m" * 16
    assert index.vectors() == {entry(1).id: (3, b"\x01\x02")}
    assert Index.build([entry(1)]).columns.model == NO_MODEL
    assert Index.build([entry(1)]).vectors() == {}


@pytest.mark.parametrize("end", range(0, len(SAMPLE), 7))
def test_truncated_bytes_are_refused(end: int) -> None:
    with pytest.raises(CorruptIndex):
        Index.open(SAMPLE[:end])


def test_bytes_after_the_end_are_refused() -> None:
    with pytest.raises(CorruptIndex):
        Index.open(SAMPLE + b"\0")


@given(st.integers(0, len(SAMPLE) - 1), st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_means_the_same(place: int, flip: int) -> None:
    flipped = bytearray(SAMPLE)
    flipped[place] ^= flip
    try:
        opened = Index.open(bytes(flipped))
    except CorruptIndex:
        return
    # zlib ignores some bits of its own header
    assert same(opened.columns, Index.open(SAMPLE).columns)


@given(st.binary(max_size=300))
@example(b"")
def test_any_bytes_are_refused(noise: bytes) -> None:
    for candidate in (noise, SAMPLE[:2] + noise, SAMPLE[: HEADER.size + COLUMNS] + zlib.compress(noise)):
        with pytest.raises(CorruptIndex):
            Index.open(candidate)


@given(st.data())
def test_a_changed_body_under_a_right_checksum_is_refused_or_safe_to_search(data: st.DataObject) -> None:
    header, widths, body = taken_apart(SAMPLE)
    changed = bytearray(body)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        opened = Index.open(resealed(tuple(header), widths, bytes(changed)))
    except CorruptIndex:
        return
    c = opened.columns
    assert (c.documents < len(opened)).all()
    assert (c.scopes < len(c.scope_table)).all()
    assert len(set(opened.ids())) == len(opened)
    assert c.starts[-1] == len(c.documents)


@given(st.integers(0, 6), st.integers(0, 2**31))
def test_a_header_that_lies_about_a_size_is_refused(place: int, lie: int) -> None:
    header, widths, body = taken_apart(SAMPLE)
    limit = (255, 255, 2**32 - 1, 2**32 - 1, 2**64 - 1, 2**32 - 1, 2**16 - 1)[place]
    lied = lie % limit
    if lied == header[place]:
        return
    header[place] = lied
    with pytest.raises(CorruptIndex):
        Index.open(resealed(tuple(header), widths, body))


@given(st.integers(0, COLUMNS - 1), st.integers(0, 255))
def test_a_column_that_lies_about_its_width_is_refused(place: int, width: int) -> None:
    header, widths, body = taken_apart(SAMPLE)
    if widths[place] == width:
        return
    lied = bytearray(widths)
    lied[place] = width
    with pytest.raises(CorruptIndex):
        Index.open(resealed(tuple(header), bytes(lied), body))


@pytest.mark.parametrize("claim", [10**6, 10**9, 2**63])
def test_a_claim_of_great_size_costs_no_memory(claim: int) -> None:
    header, widths, body = taken_apart(SAMPLE)
    header[4] = claim
    lying = resealed(tuple(header), widths, body)
    tracemalloc.start()
    with pytest.raises(CorruptIndex):
        Index.open(lying)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_a_stream_that_swells_is_stopped_at_the_size_it_should_have() -> None:
    bomb = SAMPLE[: HEADER.size + COLUMNS] + zlib.compress(bytes(50_000_000))
    tracemalloc.start()
    with pytest.raises(CorruptIndex):
        Index.open(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_an_index_of_another_format_or_analyser_is_refused() -> None:
    for place in (0, 1):
        header, widths, body = taken_apart(SAMPLE)
        header[place] += 1
        with pytest.raises(CorruptIndex):
            Index.open(resealed(tuple(header), widths, body))


def test_the_error_says_nothing_of_what_was_inside() -> None:
    with pytest.raises(CorruptIndex) as caught:
        Index.open(SAMPLE[:-3])
    assert str(caught.value) == ""
