"""No query fails, whatever is in it: 10,000 strings of all scripts and signs, each asked of a real index in the steps of a search."""

import math
from datetime import UTC, datetime
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.recall.feedback import fed
from shared.recall.index import Index
from shared.recall.ranking import DEFAULT, rank, signals
from shared.text.tokens import query_terms
from tests.unit.recall.made import NOW, entry

AT_ONCE: Final = 50
ROUNDS: Final = 200
TEXTS: Final = (
    "I am allergic to peanuts, said Ada in May 2026",
    "我对花生过敏，去年夏天开始的",
    "Пароль меняем раз в квартал",
    "กินข้าวแล้ว",
    "서울에서 비가 온다",
    "كِتَابٌ جديد שלום עולם",
    "मुझे हिंदी पसंद है",
    "食べましたカレー 🎉",
    "deploy nacre-web v3.11 with getUserName()",
    "",
)
MEMORIES: Final = {each.id: each for each in (entry(place, text) for place, text in enumerate(TEXTS, 1))}
INDEX: Final = Index.build(MEMORIES.values())

signs = st.sampled_from([
    '"', "'", "*", "^", ":", "(", ")", "+", "-", "~", "{", "}", "\\", "%", "@", "#", "AND ", "OR ", "NOT ", "NEAR(", "/2)",
    "\0", "\x1b", "\x7f", "\u200b", "\u200d", "\u202e", "\u2066", "\u2028", "\ufeff", "\ufffd", "\ud83d", "\udc4d", "\U0010ffff",
    "👨‍👩‍👧", "🏳️‍🌈", "🇨🇳", "1️⃣", "é", "e\u0301", "ß", "ﷺ", "Ǆ", "İ", "ｶﾞ", "𝕬", "①", "½", "㋿", "二十", "三天前", "去年夏天", "9999年",
    "十" * 3_000, "99月99日", "last winter", "999 weeks ago", "0000-00-00", "Ada's", "c++", ".net", "aB", "v1.",
])  # fmt: skip
every_character = st.characters(exclude_categories=())
scripts = st.sampled_from([
    (0x20, 0x7F), (0xA0, 0x24F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF), (0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF),
    (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF), (0xD800, 0xDFFF), (0xFF00, 0xFFEF),
])  # fmt: skip
in_one_script = scripts.flatmap(
    lambda ends: st.text(
        st.characters(min_codepoint=ends[0], max_codepoint=ends[1], exclude_categories=()), max_size=12
    )
)
pieces = st.one_of(signs, in_one_script, st.text(every_character, max_size=8), st.sampled_from(TEXTS))
queries = st.lists(pieces, max_size=3).map("".join)


def ask(query: str, now: datetime = NOW) -> None:
    """The steps of a search over words; whatever is found has finite scores, best first."""
    asked = query_terms(query, now=now)
    found = INDEX.search(asked).candidates(5)
    if found.ids:
        more = fed(asked, MEMORIES[found.ids[0]].terms(), INDEX, DEFAULT.feedback)
        found = found.plus(INDEX.search(more).scores(found)) if more else found
    ranking = rank(signals(found, {}), now=now.timestamp())
    assert all(math.isfinite(score) for score in ranking.scores)
    assert ranking.scores == sorted(ranking.scores, reverse=True)


@pytest.mark.no_cover
@settings(max_examples=ROUNDS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(queries, min_size=AT_ONCE, max_size=AT_ONCE))
def test_ten_thousand_strings_of_any_characters_are_only_queries(asked: list[str]) -> None:
    for query in asked:
        ask(query)


@given(queries, st.datetimes(datetime(1971, 1, 1), datetime(2105, 1, 1)))  # noqa: DTZ001
def test_no_date_of_a_query_fails_at_any_time(query: str, now: datetime) -> None:
    ask(f"{query} last winter 去年冬天 999 months ago 999年前 上周五", now.replace(tzinfo=UTC))
