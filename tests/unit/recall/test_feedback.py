"""The best find's own words join a query."""

import pytest

from shared.recall.feedback import WORDS, fed
from shared.recall.index import Index
from shared.text.tokens import query_terms, terms
from tests.unit.recall.made import NOW, entry


def added(query: str, *texts: str) -> set[str]:
    """Terms that the first text, the best find, adds to a query over an index of all texts."""
    index = Index.build(entry(place, text) for place, text in enumerate(texts, 1))
    more = fed(query_terms(query, now=NOW), terms(texts[0], at=NOW), index, 0.1)
    return set(more.weights) if more else set()


@pytest.mark.parametrize(
    ("query", "texts", "more"),
    [
        ("tea", ("tea with jasmine", "jasmine from Fuzhou"), {"jasmin"}),
        ("花茶", ("花茶来自福州", "福州很热"), {"福州", "福", "州"}),
    ],
)
def test_words_that_the_best_find_shares_with_another_memory_are_asked_for(
    query: str, texts: tuple[str, ...], more: set[str]
) -> None:
    assert added(query, *texts) == more


def test_words_that_only_the_best_find_has_and_markers_of_its_day_are_not_asked_for() -> None:
    assert added("tea", "tea with jasmine yesterday", "yes, last week") == set()


def test_only_the_rarest_words_are_asked_for() -> None:
    words = [f"word{number}x" for number in range(WORDS + 4)]
    others = [word for place, word in enumerate(words) for _ in range(place + 1)]
    assert added("tea", "tea " + " ".join(words), *others) == set(words[:WORDS])


def test_pasted_text_gets_no_more_words() -> None:
    pasted = " ".join(f"thing{number}x" for number in range(40))
    assert added(pasted, "tea with jasmine", "jasmine") == set()


def test_without_a_weight_nothing_is_added() -> None:
    index = Index.build([entry(1, "tea with jasmine"), entry(2, "jasmine")])
    assert fed(query_terms("tea", now=NOW), terms("tea with jasmine"), index, 0.0) is None


def test_what_the_best_find_says_decides_among_finds_and_finds_nothing_by_itself() -> None:
    best, like, other, apart = (
        entry(4, "tea with jasmine"),
        entry(3, "jasmine and tea of the shop"),
        entry(5, "milk and tea of the shop"),
        entry(6, "jasmine from Fuzhou"),
    )
    index = Index.build([best, like, other, apart])
    query = query_terms("tea", now=NOW)
    found = index.search(query).candidates()
    assert found.ids == [best.id, other.id, like.id]
    more = fed(query, best.terms(), index, 0.1)
    assert more is not None
    assert found.plus(index.search(more).scores(found)).ids == [best.id, like.id, other.id]
