"""Rows that were put back from an older copy, changed by hand or do not open are brought up to the journal."""

import pytest

from shared.domain.errors import NotFound, SealBroken
from shared.domain.memory import Scope
from shared.ports import Put
from shared.storage import names
from tests.builders import World
from tests.unit.storage.losing import FIRST, LATER, OLD, SECOND, THIRD, compared, copied, flip, lose, portray, put_back
from tests.unit.storage.soundness import assert_sound, rebuilt, settle, visible
from tests.unit.storage.test_lost_table import WORDS


def test_a_row_that_does_not_open_comes_back_in_its_own_version_though_that_is_young() -> None:
    world = World()
    memory = world.add(FIRST)
    world.tidy(hours=LATER)
    world.edit(memory.id, content=SECOND)
    flip(world, names.MEMORY + memory.id)
    with pytest.raises(SealBroken):
        world.get(memory.id)
    assert compared(world) == {"restored": 1}
    assert (world.get(memory.id).content, world.get(memory.id).version) == (SECOND, 2)
    settle(world)
    assert_sound(world)


def test_a_row_that_does_not_open_and_was_folded_is_met_by_the_next_build_and_comes_back() -> None:
    world = World()
    memory = world.add(FIRST)
    settle(world)
    flip(world, names.MEMORY + memory.id)
    world.add(SECOND)
    world.tidy()
    world.tidy(hours=0.1)
    assert world.get(memory.id).content == FIRST
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("folded", [False, True], ids=["fresh", "folded"])
def test_an_older_copy_of_all_rows_is_brought_up_to_the_journal(*, folded: bool) -> None:
    world = World()
    kept, edited, gone = (world.add(text) for text in (FIRST, SECOND, THIRD))
    world.choose(enabled=False)
    portray(world, traits="likes coffee", role="nurse")
    world.tidy(hours=LATER)
    copy = copied(world)
    for importance in (7, 8, 9):
        world.edit(edited.id, importance=importance)
    world.edit(gone.id, importance=3)
    world.delete(gone.id)
    world.add("Written after the copy.", scope=Scope.PROJECT, project="atlas")
    world.choose(max_results=7)
    portray(world, traits="likes milk")
    if folded:
        settle(world)
    before = visible(world, WORDS)
    put_back(world, copy)
    world.restart()
    for _ in range(3):
        world.tidy(hours=OLD)
    assert visible(world, WORDS) == before
    assert world.get(kept.id).content == FIRST
    with pytest.raises(NotFound):
        world.get(gone.id)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert visible(world, WORDS) == before


def test_one_row_of_an_older_copy_is_brought_up_to_the_journal() -> None:
    world = World()
    edited, gone = world.add(FIRST), world.add(SECOND)
    copy = copied(world)
    world.edit(edited.id, content=THIRD)
    world.edit(edited.id, importance=9)
    world.delete(gone.id)
    settle(world)
    for memory in (edited, gone):
        world.table.write(world.owner, [Put(copy[names.MEMORY + memory.id])])
    assert compared(world) == {"restored": 1, "ended": 1}
    assert [(one.content, one.importance) for one in world.memories()] == [(THIRD, 9)]
    settle(world)
    assert_sound(world)


def test_a_commit_that_was_changed_by_hand_costs_no_line() -> None:
    world = World()
    memory = world.add(FIRST)
    item = world.table.partition(world.owner)[names.MEMORY + memory.id]
    world.table.write(world.owner, [Put(item | {"commit": "01ARZ3NDEKTSV4RRFFQ69G5FAV"})])
    world.tidy(hours=OLD)
    assert world.get(memory.id).commit == memory.commit
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert world.texts() == [FIRST]


def test_what_opens_nowhere_is_left_told_of_and_tried_again_once_a_day(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    memory = world.add(FIRST)
    world.add(SECOND)
    world.objects.put(names.journal(world.owner, 1, memory.commit), b"no line\n")
    flip(world, names.MEMORY + memory.id)

    def comparisons() -> int:
        return sum('"event":"compared"' in line for line in capsys.readouterr().out.splitlines())

    world.tidy()
    world.tidy(hours=0.1)
    assert comparisons() == 1
    for _ in range(4):
        world.add(f"Another {world.clock()}")
        world.tidy(hours=OLD)
    assert comparisons() == 0
    assert compared(world)["left"] == 1
    world.add("One more.")
    world.tidy(hours=25)
    world.tidy(hours=0.1)
    assert comparisons() == 2
    assert len(world.memories()) == 6


def test_settings_that_were_lost_switch_nothing_on() -> None:
    world = World()
    world.choose(enabled=False)
    settle(world)
    for version in (1, 2):
        row = world.table.partition(world.owner)[names.SETTINGS]
        lose(world, names.SETTINGS)
        for _ in range(2):
            with pytest.raises(SealBroken):
                world.say("We decided to use PostgreSQL.")
            if version == 2:
                world.table.write(world.owner, [Put(row | {"version": 1})])
        world.tidy()
        assert world.now.choices.read(world.owner).enabled is False
        world.choose(max_results=7)
    settle(world)
    assert_sound(world)
