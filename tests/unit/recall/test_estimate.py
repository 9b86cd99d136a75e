"""Our estimate of tokens, held to what real tokenizers counted (benchmarks/token_estimate.py wrote it down)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.token_estimate import COUNTS, LOWEST, Text, estimate, read
from shared.recall.estimate import estimated_tokens

RECORDED = read(COUNTS)


def test_there_are_enough_texts_of_both_languages_and_of_everything_else() -> None:
    kinds = Counter(one.kind for one in RECORDED)
    assert len(RECORDED) >= 250
    assert min(kinds["zh"], kinds["en"]) >= 50
    assert {"mixed", "code", "emoji", "digits", "urls", "ja", "ko", "ar", "ru", "th", "hi", "context"} <= set(kinds)
    assert all(len(one.tokens) == 5 for one in RECORDED)


@pytest.mark.parametrize("kind", sorted({one.kind for one in RECORDED}))
def test_no_line_and_no_whole_context_takes_a_tenth_more_tokens_than_estimated(kind: str) -> None:
    for one in RECORDED:
        if one.kind == kind:
            assert estimate(one.told) >= LOWEST * max(one.tokens.values()), one.text


@pytest.mark.parametrize("kind", ["zh", "en", "context"])
def test_a_whole_text_is_never_estimated_lower_than_the_tokenizer_that_counts_most(kind: str) -> None:
    chosen = [one for one in RECORDED if one.kind == kind]
    ours, theirs = sum(estimate(one.told) for one in chosen), sum(max(one.tokens.values()) for one in chosen)
    assert theirs <= ours <= 1.5 * theirs


def test_rare_characters_numbers_and_strange_scripts_count_more_than_plain_words() -> None:
    assert estimated_tokens("饕餮魑魅") > estimated_tokens("数据库密") > estimated_tokens("data base word")
    assert estimated_tokens("20261130") > estimated_tokens("november")
    assert estimated_tokens("កាហ្វេ") >= len("កាហ្វេ".encode())


@given(st.text(), st.text())
def test_every_text_has_an_estimate_and_more_text_never_a_smaller_one(first: str, second: str) -> None:
    assert estimated_tokens(f"{first} {second}") >= estimated_tokens(first) >= estimated_tokens("") > 0


def test_a_text_of_a_kind_is_counted_as_it_stands_in_a_context() -> None:
    assert Text("en", "It rests.", {}).told == "- 2026-11-30 It rests.\n"
