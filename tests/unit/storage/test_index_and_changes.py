"""Index and change rows: whatever becomes of the index object, search says what the table says."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import Unavailable
from shared.domain.memory import Status
from shared.ports import Put
from shared.storage import names
from tests.builders import World
from tests.fakes import Steps
from tests.unit.storage.soundness import indexed, opened

FIRST, SECOND = "The deploy day is Monday.", "The deploy day is Friday."


def pointer(world: World) -> str:
    return str(world.head()["index"])


def asked(world: World) -> list[str]:
    """Return the kinds of what maintenance was asked for."""
    return [str(message.body["kind"]) for message in world.maintenance.messages]


def between(world: World, call: str, deed: Callable[[], Any], *, count: int = 1) -> None:
    """Let something happen right before the present process makes its n-th call of that name."""

    class Between(Steps):
        def run(self, name: str, made: Any) -> Any:
            if name == call and [*self.log, name].count(call) == count:
                deed()
            return super().run(name, made)

    world.warm(Between())


def test_a_first_memory_is_found_before_there_is_any_index() -> None:
    world = World()
    world.add(FIRST)
    assert world.found("deploy") == [FIRST]
    assert asked(world) == []


def test_change_rows_hide_what_the_index_says_of_their_memories() -> None:
    world = World()
    edited, dismissed, deleted = world.add(FIRST), world.add("Deploys are reviewed."), world.add("Deploy at night.")
    world.build()
    assert opened(world).changes == {}
    world.edit(edited.id, content="It happens on Friday.")
    world.dismiss(dismissed.id)
    world.delete(deleted.id)
    assert opened(world).changes == {edited.id: 2, dismissed.id: 2, deleted.id: 0}
    assert world.found("deploy") == []
    assert world.found("Friday") == ["It happens on Friday."]
    world.restore(dismissed.id)
    assert world.found("deploy") == ["Deploys are reviewed."]


@pytest.mark.parametrize("how", ["lost", "empty", "damaged", "another's", "cut"])
def test_a_lost_or_damaged_index_costs_a_walk_and_asks_for_a_new_one(how: str) -> None:
    world = World()
    world.add(FIRST)
    gone = world.add("The deploy is dismissed.")
    world.dismiss(gone.id)
    world.build()
    key = names.index(world.owner, 1, pointer(world))
    body = world.objects.get(key)
    assert body is not None
    world.objects.erase(key)
    wrong = {"empty": b"", "damaged": bytes(300), "another's": b"\0\0\0\7" + body.body[4:], "cut": body.body[:-1]}
    if how in wrong:
        world.objects.put(key, wrong[how])
    world.restart()
    assert world.found("deploy") == [FIRST]
    assert world.found("deploy") == [FIRST]
    assert asked(world) == ["tidy"]
    world.build()
    world.restart()
    assert world.found("deploy") == [FIRST]


def test_a_search_needs_no_queue() -> None:
    world = World()
    world.add(FIRST)
    world.build()
    world.objects.erase(names.index(world.owner, 1, pointer(world)))
    steps = world.restart()
    world.found("deploy")
    at = steps.log.index("MemoryQueue.send") + 1
    world.maintenance.messages.clear()
    world.restart(Steps(at=at, error=Unavailable))
    assert world.found("deploy") == [FIRST]
    assert asked(world) == []


def test_many_change_rows_ask_for_one_build() -> None:
    world = World()
    memory = world.add(FIRST)
    world.build()
    rows = [Put({"sk": f"{names.CHANGE}{memory.id[:-3]}{n:03}", "version": 0}) for n in range(limits.CHANGE_ROWS - 1)]
    for at in range(0, len(rows), 50):
        world.table.write(world.owner, rows[at : at + 50])
    assert world.found("deploy") == [FIRST]
    assert asked(world) == []
    world.edit(memory.id, content=SECOND)
    for _ in range(3):
        assert world.found("deploy") == [SECOND]
    assert asked(world) == ["tidy"]
    assert world.tidy() is not None
    assert opened(world).changes == {}
    assert world.found("deploy") == [SECOND]
    assert asked(world) == ["tidy"]


def test_the_pointer_moves_only_from_where_the_build_began_and_the_loser_leaves_no_object() -> None:
    world = World()
    world.add(FIRST)
    other = world.process()
    between(world, "MemoryTable.write", lambda: other.builder.build(world.owner))
    world.clock.advance(1)
    assert world.now.builder.build(world.owner) is None
    assert world.stored("index") == [pointer(world)]
    world.restart()
    assert world.found("deploy") == [FIRST]


def test_the_change_row_of_a_write_during_a_build_survives_it() -> None:
    world = World()
    memory = world.add(FIRST)
    other = world.process()

    def edit() -> None:
        other.edits.edit(world.owner, memory.id, {"content": SECOND}, None)

    between(world, "MemoryObjects.put", edit)
    world.now.builder.build(world.owner)
    assert opened(world).changes == {memory.id: 2}
    assert indexed(world) == {(memory.id, 1)}
    assert world.found("deploy") == [SECOND]
    world.build()
    assert opened(world).changes == {}
    assert indexed(world) == {(memory.id, 2)}


def test_a_memory_made_during_a_build_is_found() -> None:
    world = World()
    world.add(FIRST)
    between(world, "MemoryObjects.put", lambda: world.process().memories.add(world.owner, _draft(SECOND)))
    world.now.builder.build(world.owner)
    assert sorted(world.found("deploy")) == sorted([FIRST, SECOND])


def _draft(text: str) -> Any:
    from tests.builders import Draft

    return Draft(text)


def test_the_search_of_an_index_that_was_replaced_meanwhile_falls_back_and_is_right() -> None:
    world = World()
    memory = world.add(FIRST)
    world.build()

    def replaced() -> None:
        world.process().edits.edit(world.owner, memory.id, {"content": SECOND}, None)
        for _ in range(3):
            world.clock.advance(1)
            world.process().builder.build(world.owner)

    class Between(Steps):
        def run(self, name: str, made: Any) -> Any:
            if name == "MemoryObjects.get" and self.log.count(name) == 1:
                replaced()
            return super().run(name, made)

    world.restart(Between())
    assert world.found("deploy") == [SECOND]


@pytest.mark.parametrize("status", [Status.DISMISSED, None])
def test_what_is_dismissed_or_deleted_between_the_two_steps_of_a_search_is_not_found(status: Status | None) -> None:
    world = World()
    memory = world.add(FIRST)
    world.build()
    other = world.process()

    def meanwhile() -> None:
        if status is None:
            other.edits.delete(world.owner, memory.id, None)
        else:
            other.edits.edit(world.owner, memory.id, {"status": status}, None)

    between(world, "MemoryTable.get", meanwhile, count=2)
    assert world.found("deploy") == []


def test_an_edit_between_the_two_steps_of_a_search_is_scored_by_its_new_text() -> None:
    world = World()
    memory = world.add(FIRST)
    world.build()
    other = world.process()

    def meanwhile() -> None:
        other.edits.edit(world.owner, memory.id, {"content": "It rains."}, None)

    between(world, "MemoryTable.get", meanwhile, count=2)
    assert world.found("deploy") == []
    assert world.found("rains") == ["It rains."]


def test_one_predecessor_is_kept_for_searches_under_way_and_none_after_a_deletion() -> None:
    world = World()
    memory = world.add(FIRST)
    for text in (SECOND, FIRST, SECOND):
        world.edit(memory.id, content=text)
        world.build()
    assert len(world.stored("index")) == 2
    world.delete(memory.id)
    world.tidy()
    assert world.stored("index") == [pointer(world)]


def test_what_a_dead_build_left_goes_with_the_next_maintenance() -> None:
    world = World()
    world.add(FIRST)
    world.build()
    between(world, "MemoryTable.write", _die)
    with pytest.raises(BaseException, match="died"):
        world.build()
    world.restart()
    assert len(world.stored("index")) == 2
    world.delete(world.memories()[0].id)
    world.tidy()
    assert world.stored("index") == [pointer(world)]


def _die() -> None:
    raise KeyboardInterrupt("died")


def test_building_for_a_stranger_makes_nothing() -> None:
    world = World()
    assert world.now.builder.build(world.owner) is None
    world.now.builder.sweep(world.owner)
    assert world.objects.keys() == []


def test_the_bytes_of_the_index_are_counted_once() -> None:
    world = World()
    world.add(FIRST)
    before = int(world.head()["bytes"])
    for _ in range(3):
        world.build()
    body = world.objects.get(names.index(world.owner, 1, pointer(world)))
    assert body is not None
    assert world.head()["bytes"] == before + len(body.body)
    assert world.head()["index_bytes"] == len(body.body)


def test_a_search_counts_what_it_found_and_never_brings_back_what_was_deleted() -> None:
    world = World()
    memory = world.add(FIRST)
    other = world.process()
    world.found("deploy")
    assert world.get(memory.id).access_count == 1
    between(world, "MemoryTable.write", lambda: other.edits.delete(world.owner, memory.id, None))
    assert world.found("deploy") == [FIRST]
    assert names.MEMORY + memory.id not in world.table.partition(world.owner)
    assert world.found("deploy") == []


def test_a_search_whose_counting_fails_answers_all_the_same() -> None:
    world = World()
    world.add(FIRST)
    steps = world.restart()
    world.found("deploy")
    at = steps.log.index("MemoryTable.write") + 1
    world.restart(Steps(at=at, error=Unavailable))
    assert world.found("deploy") == [FIRST]
