"""What does not open can be deleted and forgotten all the same, for good; and whoever asked is told of what is left."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared.domain.errors import Duplicate, NotFound, SealBroken, VersionMismatch
from shared.domain.memory import Scope
from shared.domain.task import TaskStatus
from shared.storage import names
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.keeping.forgetting.test_forgetting import forget
from tests.unit.storage.losing import FIRST, SECOND, THIRD, flip, lose
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_counted, assert_sound, rebuilt, settle


def broken(*, edited: bool = False, line_too: bool = False, folded: bool = False) -> tuple[World, str]:
    """Return a world in which one memory of a project does not open, with a line that does or does not either."""
    world = World()
    world.add(FIRST)
    memory = world.add(SECOND, scope=Scope.PROJECT, project="atlas")
    if edited:
        memory = world.edit(memory.id, importance=9)
    if folded:
        world.tidy(hours=2)
    flip(world, names.MEMORY + memory.id)
    if line_too:
        for name in world.stored("journal"):
            if memory.commit in name:
                world.objects.put(names.journal(world.owner, 1, name), b"no line\n")
    return world, memory.id


STATES: list[dict[str, bool]] = [{}, {"edited": True}, {"folded": True}, {"line_too": True}]


@pytest.mark.parametrize("state", STATES, ids=str)
def test_deleting_needs_no_seal_that_opens(state: dict[str, bool]) -> None:
    world, memory_id = broken(**state)
    with pytest.raises(SealBroken):
        world.get(memory_id)
    with pytest.raises(SealBroken):
        world.edit(memory_id, importance=3)
    with pytest.raises(Duplicate):
        world.add(SECOND, scope=Scope.PROJECT, project="atlas")
    world.delete(memory_id)
    with pytest.raises(NotFound):
        world.delete(memory_id)
    assert_counted(world)
    world.add(SECOND, scope=Scope.PROJECT, project="atlas")
    world.tidy(hours=LEASE_AND_MORE)
    with pytest.raises(NotFound):
        world.get(memory_id)
    if "line_too" not in state:
        settle(world)
        assert_sound(world)
    rebuilt(world)
    assert sorted(world.texts()) == sorted([FIRST, SECOND])
    with pytest.raises(NotFound):
        world.get(memory_id)


def test_deleting_what_does_not_open_asks_for_the_version_that_its_row_says() -> None:
    world, memory_id = broken(edited=True)
    with pytest.raises(VersionMismatch):
        world.now.edits.delete(world.owner, memory_id, frozenset({1}))
    world.now.edits.delete(world.owner, memory_id, frozenset({2}))
    assert world.texts() == [FIRST]


def test_dying_at_any_step_of_such_a_deletion_leaves_it_done_or_not_done() -> None:
    world, memory_id = broken(edited=True)
    steps = world.restart()
    world.delete(memory_id)
    for at in range(1, steps.count + 1):
        world, memory_id = broken(edited=True)
        world.restart(Steps(at=at, when="after"))
        with pytest.raises(Crash):
            world.delete(memory_id)
        world.restart()
        world.tidy(hours=LEASE_AND_MORE)
        settle(world)
        assert_sound(world)
        texts = world.texts()
        assert texts in ([FIRST], sorted([FIRST, SECOND])), f"died after step {at}"
        rebuilt(world)
        assert world.texts() == texts


WISHES: dict[str, Callable[[str], dict[str, Any]]] = {
    "all": lambda _id: {"all": True},
    "ids": lambda memory_id: {"ids": [memory_id]},
    "words": lambda _id: {"query": "五月"},
    "a project": lambda _id: {"project": "atlas"},
}


@pytest.mark.parametrize("how", ["flipped", "lost"])
@pytest.mark.parametrize("wish", WISHES)
def test_forgetting_means_what_does_not_open_or_was_lost_as_well(wish: str, how: str) -> None:
    world, memory_id = broken(folded=True)
    if how == "lost":
        lose(world, names.MEMORY + memory_id)
    task = forget(world, **WISHES[wish](memory_id))
    for _ in range(3):
        world.tidy()
    done = world.now.tasks.get(world.owner, task)
    assert (done.status, done.progress["forgotten"]) == (TaskStatus.DONE, 2 if wish == "all" else 1)
    with pytest.raises(NotFound):
        world.get(memory_id)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert world.texts() == ([] if wish == "all" else [FIRST])


@pytest.mark.parametrize("wish", WISHES)
def test_what_opens_nowhere_is_forgotten_by_its_id_and_else_told_of(wish: str) -> None:
    world, memory_id = broken(line_too=True)
    task = forget(world, **WISHES[wish](memory_id))
    for _ in range(3):
        world.tidy()
    ended = world.now.tasks.get(world.owner, task)
    if wish in ("all", "ids"):
        assert ended.status is TaskStatus.DONE
        assert world.sks(names.MEMORY) == [one.id for one in world.memories()]
        assert_counted(world)
    else:
        assert (ended.status, ended.progress.get("damaged")) == (TaskStatus.DONE, 2 if wish == "words" else 1)
        assert memory_id in world.sks(names.MEMORY)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_a_scene_is_deleted_with_what_does_not_open(state: dict[str, bool]) -> None:
    world, memory_id = broken(**state)
    deleted = world.now.scene_deletion.delete(world.owner, "atlas", confirm=True)
    assert (deleted.memories, deleted.remaining) == (1, 0)
    assert world.texts() == [FIRST]
    assert_counted(world)
    rebuilt(world)
    assert world.texts() == [FIRST]
    assert memory_id not in world.sks(names.MEMORY)


def test_a_scope_that_was_changed_by_hand_deletes_nothing_of_another_project() -> None:
    world, memory_id = broken()
    other = world.add(THIRD)
    item = world.table.partition(world.owner)[names.MEMORY + memory_id]
    world.table._items[world.owner][names.MEMORY + other.id]["scope"] = item["scope"]
    world.now.scene_deletion.delete(world.owner, "atlas", confirm=True)
    world.tidy()
    assert sorted(world.texts()) == sorted([FIRST, THIRD])


def test_a_text_that_is_held_by_a_row_that_was_lost_is_no_duplicate_of_nothing() -> None:
    world = World()
    memory = world.add(FIRST)
    settle(world)
    lose(world, names.MEMORY + memory.id)
    with pytest.raises(SealBroken):
        world.add(FIRST)
    (message,) = world.maintenance.receive()
    world.now.duties.do(json.dumps(message.body), message.receipt)
    with pytest.raises(Duplicate):
        world.add(FIRST)
    assert world.get(memory.id).content == FIRST
