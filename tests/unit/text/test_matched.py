"""Words of a query that a memory holds, as they were written, in every kind of script."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.matched import asked, matched
from shared.text.tokens import terms

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DAY_BEFORE = datetime(2026, 3, 1, tzinfo=UTC)


def shared(query: str, memory: str) -> tuple[str, ...]:
    return matched(query, asked(query, now=NOW), terms(memory, at=DAY_BEFORE).counts.keys())


@pytest.mark.parametrize(
    ("query", "memory", "words"),
    [
        ("How are we Deploying the shop-api?", "We deployed shop-api on Monday", ("Deploying", "shop-api")),
        ("我对什么过敏？", "我对花生过敏", ("过敏",)),
        ("花生 过敏吗 PostgreSQL", "数据库用postgresql，花生过敏", ("花生", "过敏", "PostgreSQL")),
        ("数据处理函数", "写数据处理的代码", ("数据处理",)),
        ("C++ or v3.11", "C++ 3.11", ("C++", "v3.11")),
        ("where is getUserName", "the user's name", ("User", "Name")),
        ("where is getUserName", "getUserName is slow", ("getUserName",)),
        ("it's HTTP2Server, isn't it", "an http server of s and t", ("HTTP", "Server")),
        ("1.2.3", "HTTP/2 enabled", ("2",)),
        ("1.2.3 and shop-api", "shop-api is at 1.2.3", ("1.2.3", "shop-api")),
        ("the shop-api", "an api of the shop", ("shop", "api")),
        ("art and party", "Art party at the gallery", ("art", "party")),
        ("When did I visit the aquarium", "The report is due on Friday", ()),
        ("When did I visit the aquarium", "I visited it on Friday", ("visit",)),
        ("서울에서 만나요", "서울은 크다", ("서울",)),
        ("서울에서", "서점이 있다", ()),
        ("서울에서", "서울에서 산다", ("서울에서",)),
        ("привет-мир", "мир", ("мир",)),
        ("後端的接口", "后端", ("後端",)),
        ("函数 数据", "数据", ("数据",)),
        ("ｶﾞｲﾄﾞ", "ガイド", ("ｶﾞｲﾄﾞ",)),
        ("東京タワーへ", "東京タワーは高い", ("東京", "タワー")),
        ("เมืองไทย", "เมืองไทยน่าอยู่", ("เมืองไทย",)),
        ("🚀 go", "we went 🚀", ("🚀", "go")),
        ("what did I say yesterday", "the pier opened", ()),
        ("what did I say yesterday", "I said so yesterday", ("say", "yesterday")),
        ("昨天说了什么", "本周开会", ()),
        ("deploy, deploy!", "deploy", ("deploy",)),
        ("zebra", "the pier opened", ()),
        ("", "the pier opened", ()),
    ],
)
def test_words_are_named_as_they_were_written(query: str, memory: str, words: tuple[str, ...]) -> None:
    assert shared(query, memory) == words


def test_a_query_is_looked_at_to_its_end() -> None:
    assert shared("word " * 800 + "panda", "I keep a panda") == ("panda",)
    assert shared("写代码" * 800 + "熊猫", "我养熊猫") == ("熊猫",)


@pytest.mark.parametrize("days", [0, 1, 40])
def test_a_day_is_no_word_whenever_a_memory_was_made(days: int) -> None:
    held = terms("Ran the job", at=NOW - timedelta(days=days)).counts.keys()
    for query in ("yesterday", "in March", "昨天", "2026年3月", "when", "什么时候"):
        assert matched(query, asked(query, now=NOW), held) == ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_explained_and_every_word_named_stands_in_the_query(query: str, memory: str) -> None:
    assert all(word in query for word in shared(query, memory))


@given(st.text(alphabet="数据处理写代码 abc日", max_size=30))
def test_a_memory_that_is_the_query_holds_all_its_words(query: str) -> None:
    words = asked(query, now=NOW)
    held = set("".join(shared(query, query)))
    assert all(set(query[one.start : one.end]) <= held for one in words)


def test_the_name_of_a_day_is_named_where_the_text_has_it() -> None:
    now = datetime(2026, 5, 20, tzinfo=UTC)
    for query, text in (("yesterday", "Yesterday is her song"), ("昨天", "她最喜欢《昨天》")):
        words = asked(query, now=now)
        assert matched(query, words, terms(text).counts.keys()) == (query,)
        assert matched(query, words, terms("tea", at=datetime(2026, 5, 19, tzinfo=UTC)).counts.keys()) == ()
