"""Rows that were lost come back from the journal, and what was deleted does not."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared.domain.errors import NotFound
from shared.domain.memory import Category, Scope, Status
from shared.storage import names
from shared.storage.rows import read
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.storage.deeds import unportray
from tests.unit.storage.losing import FIRST, LATER, OLD, SECOND, THIRD, compared, copied, flip, lose, portray
from tests.unit.storage.soundness import assert_counted, assert_sound, opened, rebuilt, records, settle, visible
from tests.unit.storage.test_crash_and_leave import dying
from tests.unit.storage.test_lost_table import WORDS, lived_in

LOSSES: dict[str, Callable[[World, str], tuple[str, ...]]] = {
    "its row": lambda _world, memory_id: (names.MEMORY + memory_id,),
    "its row and its text's": lambda _world, memory_id: (names.MEMORY + memory_id, names.DEDUP),
    "every row of memories": lambda _world, _id: (names.MEMORY,),
    "everything but the head": lambda world, _id: tuple(
        sk for sk in world.table.partition(world.owner) if sk != names.HEAD
    ),
}
"""What shows in the visits that follow: a memory is missing, or a line's."""
UNSEEN: dict[str, Callable[[World, str], tuple[str, ...]]] = {
    "rows of texts": lambda _world, _id: (names.DEDUP,),
    "projects": lambda _world, _id: (names.PROJECT,),
}


@pytest.mark.parametrize("folded", [False, True], ids=["fresh", "folded"])
@pytest.mark.parametrize("lost", LOSSES)
def test_what_the_table_lost_comes_back_in_the_visits_that_follow_a_write(lost: str, *, folded: bool) -> None:
    world = World()
    memory = world.add(FIRST)
    world.edit(world.add(SECOND, scope=Scope.PROJECT, project="atlas").id, importance=9)
    world.choose(enabled=False, max_results=7)
    world.tidy(hours=LATER if folded else 0)
    before = visible(world, WORDS)
    lose(world, *LOSSES[lost](world, memory.id))
    if folded:
        world.dismiss(world.add(THIRD).id)
    world.tidy(hours=OLD)
    world.tidy(hours=OLD)
    if folded:
        world.delete(next(one.id for one in world.memories() if one.content == THIRD))
    after = visible(world, WORDS)
    assert after == before
    assert_counted(world)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert visible(world, WORDS) | {"tasks": before["tasks"]} == before


@pytest.mark.parametrize("lost", [*LOSSES, *UNSEEN])
def test_an_operator_who_asks_gets_back_what_a_quiet_owner_lost(lost: str) -> None:
    world = lived_in()
    portray(world, traits="likes coffee", role="nurse")
    settle(world)
    before, memory = visible(world, WORDS), world.memories()[0]
    lose(world, *(LOSSES | UNSEEN)[lost](world, memory.id))
    assert world.now.duties.ask({"kind": "rebuild", "owner": world.owner}) == {"owners": 1}
    (message,) = world.maintenance.receive()
    counts = world.now.duties.do(json.dumps(message.body), message.receipt)
    assert any(name.startswith("repair_compared_") for name in counts)
    assert visible(world, WORDS) | {"tasks": before["tasks"]} == before
    settle(world)
    assert_sound(world)
    assert compared(world) == {}


def test_a_text_whose_memory_was_lost_is_never_taken_out_of_the_journal() -> None:
    world = World()
    lost = [world.add(text) for text in (FIRST, SECOND, THIRD)][1]
    world.tidy()
    lose(world, names.MEMORY + lost.id)
    world.tidy(hours=OLD)
    assert world.get(lost.id).content == SECOND
    assert lost.id in {record.id for record in records(world)}


@pytest.mark.parametrize("where", ["plan", "whole"])
def test_a_memory_that_was_learned_or_merged_comes_back_as_well(where: str) -> None:
    world = World()
    if where == "plan":
        world.say("We decided to use PostgreSQL.", project="atlas")
        world.work_off()
    else:
        world.say("I prefer tea in the morning.", "I prefer tea in the morning!!")
        world.work_off()
    (memory, *_) = world.memories()
    lose(world, names.MEMORY + memory.id)
    world.tidy(hours=OLD)
    assert world.get(memory.id).content == memory.content
    settle(world)
    assert_sound(world)


def test_what_was_deleted_is_not_brought_back_whatever_else_was_lost() -> None:
    world = lived_in()
    portray(world, traits="likes coffee")
    unportray(world, "")
    gone = world.add("Never again.")
    settle(world)
    world.delete(gone.id)
    before = visible(world, WORDS)
    for hours in (0.0, OLD, LATER, LATER):
        lose(world, names.MEMORY, names.DEDUP, names.PERSONA, names.CHANGE)
        compared(world, hours=hours)
        assert visible(world, WORDS) | {"found": before["found"]} == before
        with pytest.raises(NotFound):
            world.get(gone.id)


def test_a_line_of_a_writer_who_was_refused_and_died_does_not_come_true() -> None:
    world = World()
    kept, edited = world.add(FIRST), world.add(SECOND)
    dying(world, "MemoryObjects.erase")
    with pytest.raises(Crash):
        world.edit(edited.id, content=FIRST)
    dying(world, "MemoryObjects.erase")
    with pytest.raises(Crash):
        world.add(FIRST, category=Category.KNOWLEDGE)
    world.restart()
    compared(world, hours=OLD)
    assert {one.id: one.content for one in world.memories()} == {kept.id: FIRST, edited.id: SECOND}
    settle(world)
    assert_sound(world)


def test_a_lost_row_comes_back_beyond_the_limit_of_active_memories() -> None:
    world = World(active=2)
    lost = world.add(FIRST)
    world.add(SECOND)
    lose(world, names.MEMORY + lost.id, names.DEDUP)
    world.tidy(hours=OLD)
    assert sorted(world.texts()) == sorted([FIRST, SECOND])
    settle(world)
    assert_sound(world)


def test_a_quiet_owner_of_whom_nothing_is_missing_is_only_read() -> None:
    world = lived_in()
    settle(world)
    before = {sk: item for sk, item in copied(world).items() if sk != names.UPKEEP}
    assert compared(world) == {}
    after = {sk: item for sk, item in copied(world).items() if sk != names.UPKEEP}
    assert after.keys() == before.keys()
    assert all(after[sk] == item for sk, item in before.items() if sk != names.HEAD)


@pytest.mark.no_cover
@pytest.mark.parametrize("sk", [names.MEMORY, names.SETTINGS, names.PERSONA])
@pytest.mark.parametrize("how", ["lost", "flipped"])
def test_dying_at_any_step_of_a_comparison_leaves_a_state_that_the_next_one_finishes(sk: str, how: str) -> None:
    def damaged() -> World:
        world = World()
        world.add(FIRST)
        world.add(SECOND, scope=Scope.PROJECT, project="atlas")
        world.choose(enabled=False)
        portray(world, traits="likes coffee")
        world.tidy(hours=LATER)
        found = [one for one in world.table.partition(world.owner) if one.startswith(sk)]
        for one in found if how == "flipped" else []:
            flip(world, one, "document" if sk == names.PERSONA else "sealed")
        if how == "lost":
            lose(world, sk)
        return world

    world = damaged()
    counted = world.restart()
    compared(world)
    settle(world)
    wanted = visible(world, WORDS)
    assert_sound(world)
    for at in range(1, counted.count + 1):
        world = damaged()
        world.restart(Steps(at=at, when="after"))
        with pytest.raises(Crash):
            compared(world)
        world.restart()
        compared(world, hours=0.3)
        settle(world)
        assert visible(world, WORDS) == wanted, f"died after step {at}"
        assert_sound(world)


def test_a_writer_between_reading_and_writing_keeps_what_he_wrote() -> None:
    world = World()
    first, second = world.add(FIRST), world.add(SECOND)
    world.tidy(hours=LATER)
    lose(world, names.MEMORY + first.id)
    other = world.process()
    seen: list[int] = []
    query = world.table.query

    def meanwhile(owner: str, prefix: str, **more: Any) -> Any:
        page = query(owner, prefix, **more)
        if prefix == names.MEMORY and not seen:
            seen.append(1)
            other.edits.delete(world.owner, second.id, None)
        return page

    world.table.query = meanwhile  # type: ignore[method-assign]
    compared(world)
    world.table.query = query  # type: ignore[method-assign]
    assert seen
    with pytest.raises(NotFound):
        world.get(second.id)
    settle(world)
    assert world.texts() == [FIRST]
    assert_sound(world)


def test_rows_say_what_the_head_must_count() -> None:
    world = lived_in()
    world.edit(world.add("It made room too.").id, status=Status.ARCHIVED)
    found = read(world.table, opened(world).keys)
    assert found is not None
    assert (found.quiet, found.lacking) == (True, 0)
    head = world.head()
    assert found.counters(head["journal_bytes"]) == {
        name: head.get(name, 0) for name in ("memories", "active", "retired", "journal_bytes", "bytes")
    }
