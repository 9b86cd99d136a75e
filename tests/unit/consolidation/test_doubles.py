"""The rules merge only texts that differ in nothing that says anything, and never lose a word or a number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.consolidation import LABELS, LANGUAGES, Pair, Verdict, judge, main, pairs, table
from shared.learning.consolidation.doubles import doubles, key
from shared.learning.consolidation.proposing import RulesProposer
from shared.learning.consolidation.wording import Words
from shared.text.normalise import language

TRAPS = {"negation", "other number", "other person", "other project", "other date", "other unit"}


def test_the_longest_of_equal_texts_stays_with_every_word() -> None:
    (merge,) = doubles(
        {"a": "I like tea", "b": "The user really likes the tea.", "c": "Likes tea", "d": "I like coffee"}
    )
    assert (merge.sources, merge.content) == (("a", "b", "c"), "The user really likes the tea.")


def test_at_most_half_goes_at_a_time() -> None:
    texts = {str(number): "I like tea" + "." * number for number in range(8)}
    merges = doubles(texts)
    assert sum(len(merge.sources) - 1 for merge in merges) == 4


def test_more_than_ten_equal_ones_become_one_by_tens() -> None:
    texts = {str(number): "I like tea" + "." * number for number in range(40)}
    assert [len(merge.sources) for merge in doubles(texts)] == [10]


def test_what_is_longer_than_a_fact_may_be_is_left_alone() -> None:
    assert doubles({"a": "茶" * 121, "b": "茶" * 121 + "。"}) == []


@given(st.lists(st.text(min_size=1), max_size=8))
def test_equal_texts_have_the_same_numbers_and_negations(texts: list[str]) -> None:
    for merge in doubles({str(at): text for at, text in enumerate(texts)}):
        sources = [texts[int(at)] for at in merge.sources]
        assert merge.content in sources
        assert len({key(source) for source in sources}) == 1


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: f"{pair['a']} | {pair['b']}")
def test_the_rules_merge_nothing_of_the_set_that_is_not_the_same(pair: Pair) -> None:
    verdict = judge(pair, RulesProposer())
    assert not verdict.false
    assert verdict.merged == (pair["about"] == "wording")
    if verdict.merged:
        for text in (pair["a"], pair["b"]):
            assert Words.of(text).numbers <= Words.of(*verdict.left).numbers


def test_the_set_has_every_trap_in_both_languages() -> None:
    found = pairs()
    assert len(found) >= 120
    assert {pair["label"] for pair in found} == set(LABELS)
    assert len({(pair["a"], pair["b"]) for pair in found}) == len(found)
    for tongue in LANGUAGES:
        some = [pair for pair in found if language(pair["a"]) == tongue]
        assert {pair["about"] for pair in some} >= TRAPS | {"newer", "wording", "other words"}


def test_a_merge_of_an_update_is_false_where_it_loses_what_is_new() -> None:
    pair: Pair = {"label": "updated", "about": "newer", "a": "I live in Berlin", "b": "I live in Munich since 2031"}
    assert Verdict(pair, (pair["a"],)).false
    assert not Verdict(pair, (pair["b"],)).false
    assert not Verdict(pair, (pair["a"], pair["b"])).false
    different: Pair = {**pair, "label": "different"}
    assert Verdict(different, (pair["b"],)).false
    same: Pair = {**pair, "label": "same"}
    assert Verdict(same, (pair["a"], pair["b"])).missed


def test_the_benchmark_prints_both_rates_and_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert "false merges 0/" in printed
    assert "missed merges 20/53 (37.7%)" in printed
    assert table([])[-1] == "missed merges 0/0 (0.0%)"
