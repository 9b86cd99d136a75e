"""The best find's own words join a query."""

import pytest

from shared.recall.feedback import WORDS, fed
from shared.recall.index import Index
from shared.recall.search import Question
from shared.storage.preferences import preferences_of
from shared.text.tokens import query_terms, terms
from tests.builders import World
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


@pytest.mark.parametrize("query", ["kiwi orchard", "orchard", "kiwi harvest of the valley", "果园 猕猴桃"])
def test_scores_are_the_same_before_and_after_what_changed_is_indexed(query: str) -> None:
    world = World()
    first = world.add("The kiwi orchard lies in the northern valley beside the mill.")
    gone = world.add("The mill of the northern valley grinds kiwi seeds. 猕猴桃果园在北山谷")
    moved = world.add("Orchard ladders are kept at the station.")
    world.build()
    world.delete(gone.id)
    world.edit(moved.id, content="The kiwi harvest in the valley begins in May. 北山谷的果园")
    world.edit(first.id, importance=6)
    for n in range(4):
        world.add(f"Beside the mill, in the northern valley, an orchard of kind {n}: 果园")
    world.add("The kiwi came from an orchard in the south. 猕猴桃果园在南山谷")

    def scores() -> dict[str, float]:
        opened = world.now.searcher.open(world.owner)
        assert opened is not None
        found = world.now.searcher.find(opened, Question(query), preferences_of(opened))
        return {hit.memory.content: hit.score for hit in found}

    before = scores()
    at = world.clock()
    world.build()
    world.clock.advance((at - world.clock()).total_seconds())
    assert len(before) > 2
    assert scores() == pytest.approx(before, abs=1e-12)
