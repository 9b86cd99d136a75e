"""Without an index that can be read, the table is searched: rightly, within bounds, told of in the log, and until a new one is built."""

import json
from typing import Any

import pytest

from shared.recall import indexes, packing
from shared.recall.search import Found, Question
from shared.storage import names, objects
from tests.builders import World
from tests.fakes import Steps

FIRST, SECOND, THIRD = "The deploy day is Monday.", "部署日是星期五。", "The deploy key lies in the safe."


@pytest.fixture(autouse=True)
def named_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")


def told(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int, int]]:
    """Return reason, memories and wholeness of each fallback that the log tells of since the last look."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [(one["reason"], one["memories"], one["whole"]) for one in lines if one["event"] == "index_fallback"]


def asked(world: World) -> list[str]:
    return [str(message.body["kind"]) for message in world.maintenance.messages]


def key(world: World) -> str:
    return names.index(world.owner, 1, str(world.head()["index"]))


def indexed_world() -> World:
    world = World()
    for text in (FIRST, SECOND, THIRD):
        world.add(text)
    world.build()
    world.restart()
    return world


def search(world: World, query: str = "deploy 部署日") -> Found:
    return world.now.searcher.search(world.owner, Question(query))


def lose(world: World) -> None:
    world.objects.erase(key(world))


def damage(world: World) -> None:
    world.objects.put(key(world), bytes(300))


def point_elsewhere(world: World) -> None:
    """Let the object of the head's name be another index of the same owner, as a mixed-up operator would."""
    stored = world.objects.get(key(world))
    assert stored is not None
    world.add("It rains.")
    world.build()
    world.objects.put(key(world), stored.body)


def age(world: World) -> None:
    """Let the index be of a format that this code does not know."""
    opened = world.process().vaults.open(world.owner)
    assert opened is not None
    pointer = str(opened.head["index"])
    body = world.objects.get(key(world))
    assert body is not None
    plain = objects.unseal(opened.keys, indexes.INDEX, pointer, body.body)
    old = bytes([packing.FORMAT - 1]) + plain[1:]
    world.objects.put(key(world), objects.seal(opened.keys, indexes.INDEX, pointer, old, world.random))


CAUSES = {"missing": lose, "corrupt": damage, "another's": point_elsewhere, "format": age}


@pytest.mark.parametrize("cause", CAUSES)
def test_the_answer_is_that_of_an_index_and_the_log_says_why_there_was_none(
    cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world = indexed_world()
    expected = [hit.memory.id for hit in search(world).hits]
    assert told(capsys) == []
    CAUSES[cause](world)
    world.restart()
    found = search(world)
    assert [hit.memory.id for hit in found.hits] == expected
    assert found.reason is None
    reason = "corrupt" if cause == "another's" else cause
    assert told(capsys) == [(reason, 4 if cause == "another's" else 3, 1)]


@pytest.mark.parametrize("cause", CAUSES)
def test_one_build_is_asked_for_and_maintenance_mends_the_index_though_nothing_changed(
    cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world = indexed_world()
    CAUSES[cause](world)
    world.restart()
    for _ in range(3):
        search(world)
    assert asked(world) == ["tidy"]
    world.tidy()
    told(capsys)
    for _ in range(2):
        assert len(search(world).hits) == 3
        world.restart()
    assert told(capsys) == []


def test_maintenance_that_has_the_index_warm_mends_it_all_the_same() -> None:
    world = indexed_world()
    world.build()
    damage(world)
    world.tidy()
    world.restart()
    assert len(search(world).hits) == 3
    assert asked(world) == []


def test_the_table_is_read_once_and_what_is_written_later_is_found_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    world = indexed_world()
    lose(world)
    steps = world.restart()
    search(world)
    walks = steps.log.count("MemoryTable.query")
    added, gone = world.add("The deploy is green."), world.memories()[-1]
    world.delete(gone.id)
    steps.log.clear()
    found = [hit.memory.id for hit in search(world).hits]
    assert steps.log.count("MemoryTable.query") == walks - 1
    assert added.id in found
    assert gone.id not in found
    assert told(capsys) == [("missing", 3, 1), ("missing", 3, 1)]


def test_a_new_index_takes_the_place_of_what_was_read_from_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    world = indexed_world()
    lose(world)
    world.restart()
    search(world)
    world.process().builder.build(world.owner)
    told(capsys)
    assert len(search(world).hits) == 3
    assert told(capsys) == []


def test_a_large_table_is_read_for_so_long_newest_first_and_the_answer_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = indexed_world()
    lose(world)
    world.restart()
    ticks = iter((0.0, 1.0, 2.0, indexes.INSTEAD_SECONDS + 1))
    world.now.indexes.monotonic = lambda: next(ticks)
    found = search(world)
    assert sorted(hit.memory.content for hit in found.hits) == sorted([SECOND, THIRD])
    assert found.reason == "only_newest"
    assert told(capsys) == [("missing", 2, 0)]
    world.edit(world.memories()[-1].id, importance=9)
    assert FIRST in [hit.memory.content for hit in search(world).hits], "what changed since is read whatever its age"


def test_a_search_while_the_index_is_being_built_says_nothing_and_misses_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = indexed_world()
    world.add("The deploy is green.")
    other = world.process()
    seen: list[int] = []

    class Between(Steps):
        def run(self, name: str, made: Any) -> Any:
            seen.append(len(other.searcher.search(world.owner, Question("deploy 部署日")).hits))
            return super().run(name, made)

    world.restart(Between())
    world.build()
    assert set(seen) == {4}
    assert len(seen) > 5
    assert told(capsys) == []


def test_an_index_that_gave_way_after_the_head_was_read_is_read_and_not_missed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = indexed_world()
    search(world)
    opened = world.now.searcher.open(world.owner)
    assert opened is not None
    world.add("It rains.")
    world.build()
    assert opened.beside is None
    assert len(world.now.indexes.read(opened)) == 3
    assert told(capsys) == []


def test_warm_indexes_are_bounded_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    world = indexed_world()
    search(world)
    first = next(iter(world.now.indexes._warm.values()))
    assert first.nbytes > 0
    monkeypatch.setattr(indexes, "WARM_BYTES", 3 * first.nbytes)
    opened = world.now.vaults.open(world.owner)
    assert opened is not None
    for number in range(5):
        other = opened.keys.opened("b" * 51 + str(number), 1, 1, {1: bytes(64)})
        world.now.indexes.keep(other, "pointer", first)
    assert [owner[-1] for owner, _, _ in world.now.indexes._warm] == ["2", "3", "4"]
