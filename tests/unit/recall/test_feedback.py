"""The best find's own words join a query, and of finds that say nearly the same the newer comes first."""

import pytest

from shared.recall.feedback import WORDS, fed, newer_first
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


def order(*finds: tuple[str, float], scores: tuple[float, ...] = ()) -> list[int]:
    """Places of (text, time of update) in the order they come out in."""
    found = [terms(text, at=NOW).counts for text, _ in finds]
    return newer_first(found, [at for _, at in finds], scores or (1.0,) * len(finds))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging server of the shop listens on port 8080", "The staging server of the shop listens on port 9090"),
        ("Ada deploys the shop every Friday", "Ada deploys the shop every Friday evening"),
        ("测试环境的接口地址是八零八零端口", "测试环境的接口地址是九零九零端口"),
    ],
)
def test_the_newer_version_of_a_fact_comes_before_the_outdated_one(old: str, new: str) -> None:
    assert order((old, 1.0), (new, 2.0)) == [1, 0]
    assert order((new, 2.0), (old, 1.0)) == [0, 1]


def test_facts_that_say_other_things_keep_their_order() -> None:
    assert order(("Ada likes green tea", 1.0), ("Ada moved to Lyon in May", 2.0)) == [0, 1]


def test_a_question_that_tells_two_versions_apart_decides() -> None:
    versions = (("the shop runs on port 8080 today", 1.0), ("the shop runs on port 9090 today", 2.0))
    assert order(*versions, scores=(1.0, 0.8)) == [0, 1]
    assert order(*versions, scores=(1.0, 0.95)) == [1, 0]


def test_the_newest_of_several_versions_takes_the_best_place() -> None:
    text = "the shop of Ada runs on port {} since the move"
    finds = [(text.format(8080), 1.0), ("Ada likes tea", 9.0), (text.format(9090), 2.0), (text.format(7070), 3.0)]
    assert order(*finds)[0] == 3
    assert order(*finds)[1] == 1


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
