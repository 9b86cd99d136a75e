"""Words of a query that a memory holds, as they were written, in every kind of script."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.matched import LONGEST, asked, matched
from shared.text.tokens import terms

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DAY_BEFORE = datetime(2026, 3, 1, tzinfo=UTC)


def shared(query: str, memory: str) -> tuple[str, ...]:
    return matched(query, asked(query, now=NOW), terms(memory, at=DAY_BEFORE).counts)


@pytest.mark.parametrize(
    ("query", "memory", "words"),
    [
        ("How are we Deploying the shop-api?", "We deployed shop-api on Monday", ("Deploying", "shop-api")),
        ("我对什么过敏？", "我对花生过敏", ("过敏",)),
        ("花生 过敏吗 PostgreSQL", "数据库用postgresql，花生过敏", ("花生", "过敏", "PostgreSQL")),
        ("数据处理函数", "写数据处理的代码", ("数据处理",)),
        ("C++ or v3.11", "C++ 3.11", ("C++", "v3.11")),
        ("where is getUserName", "the user's name", ("getUserName",)),
        ("東京タワーへ", "東京タワーは高い", ("東京", "タワー")),
        ("เมืองไทย", "เมืองไทยน่าอยู่", ("เมืองไทย",)),
        ("🚀 go", "we went 🚀", ("🚀", "go")),
        ("what did I say yesterday", "the pier opened", ("yesterday",)),
        ("deploy, deploy!", "deploy", ("deploy",)),
        ("zebra", "the pier opened", ()),
        ("", "the pier opened", ()),
    ],
)
def test_words_are_named_as_they_were_written(query: str, memory: str, words: tuple[str, ...]) -> None:
    assert shared(query, memory) == words


def test_of_a_very_long_query_only_the_beginning_is_explained() -> None:
    query = "word " * (LONGEST // 5) + "zebra"
    assert shared(query, "a zebra and a word") == ("word",)


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_explained_and_every_word_named_stands_in_the_query(query: str, memory: str) -> None:
    assert all(word in query for word in shared(query, memory))


@given(st.text(alphabet="数据处理写代码 abc日", max_size=30))
def test_a_memory_that_is_the_query_holds_all_its_words(query: str) -> None:
    words = asked(query, now=NOW)
    held = set("".join(shared(query, query)))
    assert all(set(query[one.start : one.end]) <= held for one in words)
