"""A process dies and nobody asks again: hours later maintenance has either finished what it began or taken it back, whole."""

from dataclasses import replace
from typing import Any

import pytest

from shared.domain.errors import Duplicate, NotFound, VersionMismatch
from shared.domain.memory import Memory, Status
from shared.storage.transactions import Change
from tests.builders import Draft, World
from tests.fakes import Crash, Steps
from tests.unit.storage.deeds import DEEDS, FIRST, OTHER, SECOND, Deed, end, prepared
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_counted, assert_sound, rebuilt, records, settle


def _done_and_not(deed: Deed) -> tuple[int, list[dict[str, Any]]]:
    untouched, _ = prepared(deed)
    world, memory_id = prepared(deed)
    steps = world.restart()
    deed.do(world, memory_id)
    return steps.count, [end(untouched), end(world)]


@pytest.mark.no_cover
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name)
def test_dying_at_any_step_without_a_retry_leaves_it_done_or_not_done(deed: Deed) -> None:
    count, either = _done_and_not(deed)
    for at in range(1, count + 1):
        world, memory_id = prepared(deed)
        world.restart(Steps(at=at, when="after"))
        with pytest.raises(Crash):
            deed.do(world, memory_id)
        assert end(world) in either, f"{deed.name}: died after step {at} of {count}"


def dying(world: World, call: str) -> None:
    """Let the present process die right before its next call of that name: "MemoryTable.write"."""

    class At(Steps):
        def run(self, name: str, made: Any) -> Any:
            if name == call:
                self.at = len(self.log) + 1
            return super().run(name, made)

    world.warm(At())


def add_and_die(world: World, text: str, before: str = "MemoryTable.write") -> None:
    """Add a memory and die: its line is in the journal, nothing of it in the table."""
    dying(world, before)
    with pytest.raises(Crash):
        world.add(text)
    world.restart()


def begun() -> World:
    """Return a world whose owner exists already."""
    world = World()
    world.add(OTHER)
    return world


def test_what_a_dead_writer_left_is_finished_by_maintenance() -> None:
    world = begun()
    add_and_die(world, FIRST)
    assert world.texts() == [OTHER]
    world.tidy(hours=LEASE_AND_MORE)
    assert world.texts() == [OTHER, FIRST]
    settle(world)
    assert_sound(world)


def test_a_line_that_is_young_may_still_be_on_its_way_and_is_left_alone() -> None:
    world = begun()
    add_and_die(world, FIRST)
    world.tidy()
    assert world.texts() == [OTHER]
    assert len(world.stored("journal")) == 2


def test_a_text_added_again_after_a_crash_and_deleted_is_not_resurrected() -> None:
    world = begun()
    add_and_die(world, FIRST)
    world.delete(world.add(FIRST).id)
    settle(world)
    assert world.texts() == [OTHER]
    assert_sound(world)


@pytest.mark.parametrize("first_look", [0.0, LEASE_AND_MORE])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_text_added_again_after_a_crash_and_edited_is_not_resurrected(*, first_look: float, deleted: bool) -> None:
    world = begun()
    add_and_die(world, FIRST)
    again = world.add(FIRST)
    world.edit(again.id, content=SECOND)
    if deleted:
        world.delete(again.id)
    world.tidy(hours=first_look)
    settle(world)
    assert world.texts() == [OTHER] + ([] if deleted else [SECOND])
    assert_sound(world)


def test_a_text_added_again_after_a_crash_and_edited_is_not_resurrected_by_a_rebuild() -> None:
    world = begun()
    add_and_die(world, FIRST)
    world.edit(world.add(FIRST).id, content=SECOND)
    rebuilt(world)
    assert world.texts() == [OTHER, SECOND]
    settle(world)
    assert_sound(world)


def test_a_deletion_that_died_after_its_tombstone_is_finished() -> None:
    world = begun()
    memory = world.add(FIRST)
    dying(world, "MemoryTable.write")
    with pytest.raises(Crash):
        world.delete(memory.id)
    world.restart()
    assert world.get(memory.id).content == FIRST
    world.tidy(hours=LEASE_AND_MORE)
    with pytest.raises(NotFound):
        world.get(memory.id)
    settle(world)
    assert_sound(world)


def test_a_deletion_that_died_is_taken_back_by_a_later_change() -> None:
    world = begun()
    memory = world.add(FIRST)
    dying(world, "MemoryTable.write")
    with pytest.raises(Crash):
        world.delete(memory.id)
    world.restart()
    world.edit(memory.id, content=SECOND)
    settle(world)
    assert world.texts() == [OTHER, SECOND]
    assert_sound(world)


def test_the_line_of_a_refused_writer_who_died_before_removing_it_is_removed() -> None:
    world = begun()
    add_and_die(world, OTHER, before="MemoryObjects.erase")
    assert len(world.stored("journal")) == 2
    world.tidy(hours=LEASE_AND_MORE)
    assert len(world.stored("journal")) == 1
    settle(world)
    assert_sound(world)


def test_a_refused_writer_removes_its_line_before_it_answers() -> None:
    world = begun()
    with pytest.raises(Duplicate):
        world.add(OTHER)
    assert len(world.stored("journal")) == 1


def test_the_line_of_a_refused_edit_does_not_stand_for_the_edit_that_won() -> None:
    world = begun()
    memory = world.add(FIRST)
    opened, stale = world.now.memories.read(world.owner, memory.id)
    world.edit(memory.id, content=SECOND)
    dying(world, "MemoryObjects.erase")
    with pytest.raises(Crash):
        world.now.commits.commit(world.owner, Change(stale, _changed(stale.memory, "It was never applied.")))
    world.restart()
    assert opened.keys.epoch == 1
    settle(world)
    assert world.texts() == [OTHER, SECOND]
    assert_sound(world)


def _changed(memory: Memory, content: str) -> Memory:
    return replace(memory, content=content)


def test_an_edit_that_lost_against_a_deletion_and_died_does_not_keep_the_text() -> None:
    """Even where its line is younger than the tombstone."""
    world = begun()
    memory = world.add(FIRST)
    _, stale = world.now.memories.read(world.owner, memory.id)
    world.delete(memory.id)
    dying(world, "MemoryObjects.erase")
    world.clock.advance(1)
    with pytest.raises(Crash):
        world.now.commits.commit(world.owner, Change(stale, _changed(stale.memory, SECOND)))
    world.restart()
    settle(world)
    assert world.texts() == [OTHER]
    assert_sound(world)


def test_an_edit_without_if_match_is_made_again_on_the_version_that_won() -> None:
    world = begun()
    memory = world.add(FIRST)
    world.edit(memory.id, importance=9)
    _, stale = world.now.memories.read(world.owner, memory.id)
    world.edit(memory.id, importance=8)
    with pytest.raises(VersionMismatch):
        world.now.commits.commit(world.owner, Change(stale, _changed(stale.memory, SECOND)))
    assert len(world.stored("journal")) == 4


@pytest.mark.parametrize("later", [False, True])
def test_settings_whose_writer_died_are_finished_unless_others_came_after(*, later: bool) -> None:
    world = begun()
    world.choose(language="en")
    dying(world, "MemoryTable.write")
    with pytest.raises(Crash):
        world.choose(language="zh")
    world.restart()
    assert world.now.choices.read(world.owner).language == "en"
    if later:
        world.choose(max_results=7)
    settle(world)
    chosen = world.now.choices.read(world.owner)
    assert (chosen.version, chosen.language, chosen.max_results) == ((2, "en", 7) if later else (2, "zh", 10))
    assert [record.version for record in records(world) if record.kind == "settings"] == [2]
    assert_sound(world)


def test_an_accepted_conversation_whose_message_was_never_sent_is_sent_by_maintenance() -> None:
    world = begun()
    dying(world, "MemoryQueue.send")
    with pytest.raises(Crash):
        world.say("We decided to use PostgreSQL.")
    world.restart()
    assert world.work.messages == []
    assert "tasks_sent" not in (world.tidy() or {})
    assert (world.tidy(hours=0.1) or {})["tasks_sent"] == 1
    assert world.work_off() == [{"inserted": 1}]


def test_the_next_identical_request_sends_what_its_dead_predecessor_did_not() -> None:
    world = begun()
    dying(world, "MemoryQueue.send")
    with pytest.raises(Crash):
        world.say("We decided to use PostgreSQL.")
    world.restart()
    world.say("We decided to use PostgreSQL.")
    assert world.work_off() == [{"inserted": 1}]
    assert world.tidy(hours=2) is not None
    settle(world)
    assert_sound(world)


def test_a_dead_writers_memory_is_not_made_beyond_the_active_limit() -> None:
    world = World(active=2)
    world.add(OTHER)
    add_and_die(world, FIRST)
    world.add(SECOND)
    settle(world)
    assert world.texts(status=Status.ACTIVE) == [OTHER, SECOND]
    assert_sound(world)


def test_the_counters_are_exact_even_while_a_dead_writers_line_waits() -> None:
    world = begun()
    add_and_die(world, FIRST)
    assert_counted(world)
    world.now.memories.add(world.owner, Draft(FIRST))
    world.tidy(hours=LEASE_AND_MORE)
    assert_counted(world)
    settle(world)
    assert_sound(world)
