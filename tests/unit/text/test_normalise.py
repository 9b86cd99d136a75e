"""Normal form, length, visibility and language of strings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.normalise import full_width_length, has_han, has_words, is_well_formed, language, normalise, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  I like   tea \n", "I like tea"),
        ("我　喜欢\u2028茶\t", "我 喜欢 茶"),
        ("FastAPI", "FastAPI"),
        ("ＦａｓｔＡＰＩ", "ＦａｓｔＡＰＩ"),
        ("\u00a0a\u00a0\u00a0b", "a b"),
    ],
)
def test_normalising_trims_and_collapses_white_space_and_nothing_else(text: str, expected: str) -> None:
    assert normalise(text) == expected


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("我对花生过敏", 6), ("abcd", 2), ("我用 vim", 4), ("", 0), ("全角，ＡＢ", 5), ("한국어", 3), ("é", 0.5)],
)
def test_a_full_width_sign_counts_one_and_any_other_a_half(text: str, expected: float) -> None:
    assert full_width_length(text) == expected


@pytest.mark.parametrize(
    "text", ["", " ", "\u200b ", "\u3000\u2060", "\ufeff", "\u202e\u202c", "\u3164", "\u2800", "\u0301", "\x00"]
)
def test_text_that_shows_nothing_is_not_visible(text: str) -> None:
    assert not visible(text)


@pytest.mark.parametrize("text", ["a", "？", "雨", "\u200bx", "😀", "ก", "©"])
def test_text_that_shows_something_is_visible(text: str) -> None:
    assert visible(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("？", False), ("   ", False), ("", False), ("😀", False), ("雨", True), ("7", True), ("ข้าว", True)],
)
def test_only_letters_and_digits_are_words(text: str, expected: bool) -> None:
    assert has_words(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我们决定使用 FastAPI", "zh"),
        ("用 FastAPI 和 PostgreSQL", "zh"),
        ("My name is 林小雨", "en"),
        ("My name is 林小雨 and I work at 蓝屏咖啡", "en"),
        ("I prefer tabs", "en"),
        ("12345", "en"),
        ("", "en"),
        ("缓存用 Redis，队列用 SQS，数据库用 DynamoDB", "zh"),
    ],
)
def test_the_language_is_what_the_words_speak_not_the_names(text: str, expected: str) -> None:
    assert language(text) == expected


def test_han_is_found_anywhere() -> None:
    assert has_han("abc雨")
    assert not has_han("abc ひらがな")


def test_a_lone_surrogate_is_not_well_formed() -> None:
    assert not is_well_formed("hi \ud83d")
    assert is_well_formed("hi 😀")
