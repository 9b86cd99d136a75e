"""Meaning beside words: what builds keep and make anew, and that a search never waits for it long and never fails for it."""

import json
from dataclasses import replace
from threading import Event

import pytest

from shared import observability
from shared.domain import limits
from shared.domain.asking import ModelDown
from shared.domain.times import rfc3339
from shared.recall import meaning as meanings
from shared.recall.context import Moment
from shared.recall.index import Index
from shared.recall.meaning import FAILED_QUERIES, MOST, MOST_SECONDS, REST_SECONDS, Meaning, quantised, unit
from shared.storage import names
from tests.builders import World
from tests.fake_embedder import FakeEmbedder
from tests.unit.recall.made import entry

COFFEE, HOME = "Ada cannot start a morning without espresso.", "Ada lives in Aarhus."
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


class Ticking:
    """Seconds that pass only when told to; `each` of them with every look."""

    def __init__(self, each: float = 0.0) -> None:
        self.now, self.each = 100.0, each

    def __call__(self) -> float:
        self.now += self.each
        return self.now


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def ticking() -> Ticking:
    return Ticking()


@pytest.fixture
def world(embedder: FakeEmbedder, ticking: Ticking) -> World:
    """Two memories in an index with vectors."""
    made = World(meaning=Meaning(embedder, 20.0, ticking))
    made.add(COFFEE)
    made.add(HOME)
    made.build()
    embedder.texts.clear()
    return made


def warned(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """What was logged of failures: of what, and why."""
    lines = [json.loads(line) for line in capsys.readouterr().out.split("\n") if line]
    return [(line["of"], line["reason"]) for line in lines if line["event"] == "embedding_failed"]


@pytest.fixture(autouse=True)
def _logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observability, "_settings", lambda: ("test", 0))


def test_a_memory_is_found_by_what_it_means(world: World) -> None:
    assert world.found("咖啡") == [COFFEE]
    assert world.found("Where is her apartment?") == [HOME]


def test_of_two_that_say_nearly_the_same_the_later_comes_first_whatever_the_cosines_say(
    world: World, embedder: FakeEmbedder
) -> None:
    outdated = world.add("The crew has espresso coffee from Brazil.")
    world.clock.advance(days=200)
    current = world.add("The crew has lovely coffee from Peru.")
    world.build()
    assert world.found("Which 提神 or 咖啡 does the crew order?")[0] == current.content
    embedder.trust = replace(embedder.trust, alike=1.1)
    assert world.found("Which 提神 or 咖啡 does the crew order?")[0] == outdated.content


def test_what_is_only_a_little_alike_and_shares_no_word_is_not_found(world: World, embedder: FakeEmbedder) -> None:
    assert world.found("Who plays the violin?") == []
    embedder.trust = replace(embedder.trust, floor=1.0)
    assert world.found("咖啡") == []
    assert world.found("Ada 咖啡")[0] == COFFEE


def test_a_context_is_found_by_what_it_means(world: World, embedder: FakeEmbedder) -> None:
    told = world.now.contexts.context(world.owner, Moment("How does she get her caffeine? 你还记得吗", force=True))
    assert COFFEE in told.text
    assert embedder.queries == ["How does she get her caffeine? 你还记得吗"]


def test_words_alone_find_where_the_model_does_not_serve_the_query(world: World, embedder: FakeEmbedder) -> None:
    assert world.found("lexical caffeine espresso") == [COFFEE]
    assert embedder.queries == []


def test_what_changed_since_the_build_is_found_by_its_words_and_ranks_before_what_it_replaces(world: World) -> None:
    later = world.add("Ada cannot start a morning without oolong.")
    assert world.found("start a morning without")[0] == later.content
    assert world.found("oolong") == [later.content]


def test_a_build_embeds_only_what_the_one_before_does_not_know(world: World, embedder: FakeEmbedder) -> None:
    coffee = next(memory for memory in world.memories() if memory.content == COFFEE)
    world.edit(coffee.id, content="Ada drinks tea now.")
    world.add("Releases happen on Friday.")
    world.restart()
    world.build()
    assert sorted(embedder.texts) == ["Ada drinks tea now.", "Releases happen on Friday."]
    assert world.found("普洱") == ["Ada drinks tea now."]
    assert world.found("apartment") == [HOME]


def test_a_memory_with_a_secret_is_embedded_without_it(world: World, embedder: FakeEmbedder) -> None:
    world.add(f"The deploy token is {TOKEN}.")
    world.build()
    assert len(embedder.texts) == 1
    assert "deploy token" in embedder.texts[0]
    assert TOKEN not in embedder.texts[0]


def test_vectors_of_another_model_are_not_used_and_a_search_asks_for_new_ones_once(world: World) -> None:
    other = FakeEmbedder(name="other")
    world.meaning = Meaning(other, 20.0, Ticking())
    world.restart()
    assert world.found("咖啡") == []
    assert world.found("espresso") == [COFFEE]
    assert [message.body["kind"] for message in world.maintenance.messages] == ["tidy"]
    world.tidy()
    assert len(other.texts) == 2
    assert world.found("咖啡") == [COFFEE]
    assert len(world.maintenance.messages) == 1


def test_maintenance_looks_again_soon_when_there_is_more_to_embed(
    world: World, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meanings, "MOST", 2)
    for number in range(3):
        world.add(f"Release {number} went well.")
    world.tidy()
    assert embedder.texts == ["Release 2 went well.", "Release 1 went well."]
    assert world.head()["due_at"] <= (world.clock() + limits.MAINTENANCE_DELAY).isoformat().replace("+00:00", "Z")
    world.tidy()
    assert embedder.texts[2:] == ["Release 0 went well."]
    tidied = world.tidy()
    assert tidied is not None
    assert "index_built" not in tidied


def test_a_model_that_does_not_answer_leaves_an_index_of_words_and_is_asked_again_hours_later(
    world: World, embedder: FakeEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    embedder.fault = ModelDown()
    world.add("Releases happen on Friday.")
    tidied = world.tidy(hours=2)
    assert tidied is not None
    assert (tidied["index_built"], tidied.get("index_embedded", 0)) == (1, 0)
    assert warned(capsys) == [("memories", "model_down")]
    assert world.found("Friday") == ["Releases happen on Friday."]
    pointer = world.head()["index"]
    tidied = world.tidy(hours=2)
    assert tidied is not None
    assert "index_built" not in tidied
    assert world.head()["index"] == pointer
    again = rfc3339(world.clock() + limits.EMBED_AGAIN)
    assert world.table.partition(world.owner)[names.UPKEEP]["due_at"] == again
    embedder.fault = None
    world.tidy(hours=6)
    assert world.found("rollout") == ["Releases happen on Friday."]


def test_an_index_of_an_older_kind_is_built_anew(world: World) -> None:
    head = world.table.get(world.owner, ["head"])["head"]
    assert not world.now.builder.behind(head)
    assert world.now.builder.behind({**head, "index_kind": "1.1."})
    assert world.now.builder.behind({name: value for name, value in head.items() if name != "index_kind"})
    assert not world.now.builder.behind({name: value for name, value in head.items() if not name.startswith("index")})


def test_switched_off_embeddings_leave_the_index_with_the_next_build(world: World) -> None:
    world.meaning = None
    world.restart()
    assert world.found("咖啡") == []
    tidied = world.tidy(hours=2)
    assert tidied is not None
    assert "index_built" in tidied
    assert world.head()["index_bytes"] > 0
    world.meaning = Meaning(FakeEmbedder(), 20.0, Ticking())
    world.restart()
    assert world.found("咖啡") == []


def test_a_slow_model_is_waited_for_no_longer_than_its_time(
    world: World, embedder: FakeEmbedder, ticking: Ticking, capsys: pytest.CaptureFixture[str]
) -> None:
    embedder.held = Event()
    ticking.each = 20.0
    try:
        assert world.found("espresso 咖啡") == [COFFEE]
        assert warned(capsys) == [("query", "TimeoutError")]
    finally:
        embedder.held.set()


@pytest.mark.parametrize("fault", [ModelDown(), ValueError("what Ada said")])
def test_a_failing_model_means_words_alone_and_a_line_without_any(
    world: World, embedder: FakeEmbedder, fault: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    embedder.fault = fault
    assert world.found("espresso 咖啡") == [COFFEE]
    out = capsys.readouterr().out
    assert out.count("embedding_failed") == 1
    assert "Ada" not in out
    assert "espresso" not in out


def test_after_failures_in_a_row_queries_leave_the_model_alone_for_a_while(
    world: World, embedder: FakeEmbedder, ticking: Ticking
) -> None:
    embedder.fault = ModelDown()
    for _ in range(FAILED_QUERIES + 2):
        assert world.found("espresso") == [COFFEE]
    assert len(embedder.queries) == FAILED_QUERIES
    embedder.fault = None
    ticking.now += REST_SECONDS
    assert world.found("咖啡") == [COFFEE]


def test_a_build_stops_embedding_when_its_time_is_over_or_the_model_keeps_failing(embedder: FakeEmbedder) -> None:
    entries = [entry(number, f"tea {number}") for number in range(300)]
    slow = Meaning(embedder, 1.0, Ticking(MOST_SECONDS / 2)).fill(entries, None)
    assert (slow.embedded, slow.left) == (64, 236)
    embedder.texts.clear()
    embedder.fault = ModelDown()
    failed = Meaning(embedder, 1.0, Ticking()).fill(entries, None)
    assert (failed.embedded, failed.left, len(embedder.texts)) == (0, 300, 128)
    assert all(one.vector is None for one in failed.entries)


def test_a_build_embeds_the_latest_memories_first_and_no_more_than_its_bound(embedder: FakeEmbedder) -> None:
    entries = [entry(number, f"tea {number}") for number in range(MOST + 1)]
    filled = Meaning(embedder, 1.0, Ticking()).fill(entries, None)
    assert (filled.embedded, filled.left) == (MOST, 1)
    assert filled.entries[0].vector is None
    previous = Index.build(filled.entries, model=Meaning(embedder, 1.0, Ticking()).mark)
    rest = Meaning(embedder, 1.0, Ticking()).fill(entries, previous)
    assert (rest.embedded, rest.left, embedder.texts[-1]) == (1, 0, "tea 0")


def test_a_vector_is_kept_as_signed_bytes_of_its_direction() -> None:
    assert quantised([0.0, -2.0]) == bytes([0, 129])
    assert unit([3.0, 4.0]).tolist() == pytest.approx([0.6, 0.8])
    for none in ([0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]):
        with pytest.raises(ValueError, match="length"):
            unit(none)
