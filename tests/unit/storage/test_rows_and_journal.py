"""Rows that were lost, put back from an older copy, or changed by hand come back from the journal, and what was deleted does not."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared.domain.errors import NotFound, SealBroken
from shared.domain.memory import Category, Scope, Status
from shared.ports import Put
from shared.storage import names
from shared.storage.document_commits import DocumentCommits
from shared.storage.rows import read
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.storage.deeds import persona, unportray
from tests.unit.storage.soundness import assert_counted, assert_sound, opened, rebuilt, records, settle, visible
from tests.unit.storage.test_crash_and_leave import dying
from tests.unit.storage.test_lost_table import WORDS, lived_in

FIRST, SECOND, THIRD = "The deploy day is Monday.", "中文资料五月归档", "I prefer tea."
OLD, LATER = 0.4, 2


def lose(world: World, *prefixes: str) -> None:
    """Lose rows behind the service's back."""
    for sk in list(world.table.partition(world.owner)):
        if sk.startswith(prefixes):
            world.table._remove(world.owner, sk)


def flip(world: World, sk: str, column: str = "sealed") -> None:
    item = world.table.partition(world.owner)[sk]
    body = bytes(item[column])  # type: ignore[arg-type]
    world.table.write(world.owner, [Put(item | {column: body[:-1] + bytes([body[-1] ^ 1])})])


def compared(world: World, *, hours: float = 0.0) -> dict[str, int]:
    """Do the operator's comparison."""
    world.clock.advance(1 + hours * 3600)
    counts = world.now.tidying.tidy(world.owner, compare=True)
    assert counts is not None
    return {name.removeprefix("repair_compared_"): count for name, count in counts.items() if "compared" in name}


def copied(world: World) -> dict[str, Any]:
    """Return a copy of the owner's rows, as point-in-time recovery has one."""
    return world.table.partition(world.owner)


def put_back(world: World, copy: dict[str, Any]) -> None:
    world.table.wipe(world.owner)
    for item in copy.values():
        world.table.write(world.owner, [Put(item)])


def portray(world: World, **fields: Any) -> None:
    DocumentCommits(world.now.commits).write(world.owner, persona, lambda _opened, _standing: fields)


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


def test_a_quiet_owner_of_whom_nothing_is_missing_is_only_read() -> None:
    world = lived_in()
    settle(world)
    before = {sk: item for sk, item in copied(world).items() if sk != names.UPKEEP}
    assert compared(world) == {}
    after = {sk: item for sk, item in copied(world).items() if sk != names.UPKEEP}
    assert after.keys() == before.keys()
    assert all(after[sk] == item for sk, item in before.items() if sk != names.HEAD)


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
