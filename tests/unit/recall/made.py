"""Entries with defaults, and BM25 over plain dictionaries to compare the index with."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from shared.domain.ids import ulid
from shared.recall.index import Entry
from shared.text.tokens import Query

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
BEFORE = 1_770_000_000
HERE, THERE = b"\x01" * 15 + b"\x00", b"\x02" * 16


def name(place: int) -> str:
    """The id of the n-th memory."""
    return ulid(datetime.fromtimestamp(BEFORE + place // 4, UTC), lambda size: place.to_bytes(size, "big"))


def entry(place: int, text: str = "green tea", **changes: Any) -> Entry:
    """The n-th memory, made a day after the one before."""
    at = BEFORE + place * 86_400
    kept: dict[str, Any] = {
        "id": name(place), "version": 1, "text": text, "created_at": at, "updated_at": at,
        "importance": 5, "category": 5, "scope_tag": HERE,
    }  # fmt: skip
    return Entry(**{**kept, **changes})


def scored(query: Query, entries: Sequence[Entry], k1: float, b: float) -> dict[str, float]:
    """BM25 of every memory that matches, straight from the formula."""
    found = [(each, each.terms()) for each in entries]
    average = sum(terms.length for _, terms in found) / max(len(found), 1)
    scores: dict[str, float] = {}
    for each, terms in found:
        total = 0.0
        for term, weight in query.weights.items():
            count = terms.counts.get(term, 0)
            if count:
                df = sum(term in other.counts for _, other in found)
                idf = math.log(1 + (len(found) - df + 0.5) / (df + 0.5))
                bar = k1 * (1 - b + b * terms.length / max(average, 1e-9))
                total += weight * idf * count * (k1 + 1) / (count + bar)
        if total:
            scores[each.id] = total
    return scores


WORDS = (
    "tea",
    "coffee",
    "went",
    "go",
    "花生",
    "过敏",
    "我对花生",
    "Пароль",
    "ข้าว",
    "café",
    "2026-05-03",
    "🎉",
    "gen-itgc",
    "서울",
)
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
places = st.integers(0, 30)


@st.composite
def memories(draw: st.DrawFn, most: int = 12) -> list[Entry]:
    """Some memories with distinct ids, in any order."""
    chosen = draw(st.lists(places, unique=True, max_size=most))
    return [
        entry(
            place,
            draw(texts),
            updated_at=BEFORE + draw(st.integers(0, 3)),
            category=draw(st.integers(0, 7)),
            scope_tag=draw(st.sampled_from((HERE, THERE))),
            status=draw(st.integers(0, 2)),
            importance=draw(st.integers(1, 10)),
            access_count=draw(st.integers(0, 5)),
            ends_at=draw(st.sampled_from((0, 0, BEFORE, BEFORE + 2))),
        )
        for place in chosen
    ]
