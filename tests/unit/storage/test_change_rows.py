"""Change rows stay few: every writer counts one in the head, and who finds the count at its bound asks for a build and writes."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from shared.domain import limits
from shared.domain.errors import Duplicate, Unavailable
from shared.ports import Update
from shared.storage import names
from tests.builders import Draft, World
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import assert_sound, opened, settle

FIRST, SECOND = "The deploy day is Monday.", "部署日是星期五。"


def set_rows(world: World, rows: int | None) -> None:
    """Let the head say that there are so many change rows; None: as a head of old, that does not count them."""
    change = Update(names.HEAD, remove=("rows",)) if rows is None else Update(names.HEAD, set={"rows": rows})
    world.table.write(world.owner, [change])


def asked(world: World) -> list[str]:
    return [str(message.body["kind"]) for message in world.maintenance.messages]


def full(rows: int | None = limits.CHANGE_ROWS) -> tuple[World, str]:
    """Return a world whose head is at the bound, with the id of its one memory; keys are warm."""
    world = World()
    memory = world.add(FIRST)
    set_rows(world, rows)
    world.warm()
    return world, memory.id


def learned(world: World, _: str) -> None:
    world.say("We decided to use PostgreSQL.")
    world.work_off()


WRITES: dict[str, Callable[[World, str], Any]] = {
    "added": lambda world, _: world.add(SECOND),
    "edited": lambda world, memory_id: world.edit(memory_id, content=SECOND),
    "dismissed": lambda world, memory_id: world.dismiss(memory_id),
    "deleted": lambda world, memory_id: world.delete(memory_id),
    "learned": learned,
}


@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
def test_every_write_counts_its_change_row(write: Callable[[World, str], Any]) -> None:
    world = World()
    memory = world.add(FIRST)
    assert world.head()["rows"] == 1
    write(world, memory.id)
    assert world.head()["rows"] == 2
    assert asked(world) == []


@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
def test_the_writer_at_the_bound_asks_for_a_build_and_writes_and_the_count_begins_anew(
    write: Callable[[World, str], Any],
) -> None:
    world, memory_id = full()
    write(world, memory_id)
    assert asked(world) == ["tidy"]
    assert world.head()["rows"] == 1
    settle(world)
    assert_sound(world)


def test_one_writer_in_so_many_sends_and_the_others_make_two_calls_as_ever() -> None:
    world, _ = full(limits.CHANGE_ROWS - 1)
    steps = world.warm()
    world.add(SECOND)
    assert steps.log == ["MemoryObjects.put", "MemoryTable.write"]
    steps = world.warm()
    world.add("It rains.")
    assert steps.log == ["MemoryObjects.put", "MemoryTable.write", "MemoryQueue.send", "MemoryTable.write"]
    steps = world.warm()
    world.add("It snows.")
    assert steps.log == ["MemoryObjects.put", "MemoryTable.write"]


def test_a_head_of_old_that_counts_no_rows_asks_once_and_counts_from_then_on() -> None:
    world, memory_id = full(None)
    world.add(SECOND)
    world.delete(memory_id)
    assert asked(world) == ["tidy"]
    assert world.head()["rows"] == 2


def test_a_text_that_is_known_is_refused_at_the_bound_too_and_asks_for_nothing() -> None:
    world, _ = full()
    journal = world.stored("journal")
    with pytest.raises(Duplicate):
        world.add(FIRST)
    assert asked(world) == []
    assert world.head()["rows"] == limits.CHANGE_ROWS
    assert world.stored("journal") == journal


@pytest.mark.parametrize("error", [Unavailable, RuntimeError])
def test_a_write_at_the_bound_needs_no_queue(error: type[Exception], capsys: pytest.CaptureFixture[str]) -> None:
    world, _ = full()
    world.warm(Steps(at=3, error=error))
    world.add(SECOND)
    assert sorted(world.texts()) == sorted([FIRST, SECOND])
    assert asked(world) == []
    assert f'"event":"build_not_asked_for","kind":"{error.__name__}"' in capsys.readouterr().out


def test_two_writers_at_the_bound_ask_once_and_count_both() -> None:
    world, _ = full()
    other = world.process()

    class Between(Steps):
        def run(self, name: str, made: Any) -> Any:
            if name == "MemoryQueue.send":
                other.memories.add(world.owner, Draft("It rains."), None)
            return super().run(name, made)

    world.warm(Between())
    world.add(SECOND)
    assert asked(world) == ["tidy"]
    assert world.head()["rows"] == 2
    assert len(world.texts()) == 3


@pytest.mark.parametrize(
    ("at", "when"),
    [(1, "before"), (1, "after"), (2, "before"), (3, "before"), (3, "after"), (4, "before"), (4, "after")],
)
def test_a_writer_that_dies_at_the_bound_leaves_what_maintenance_settles(
    at: int, when: Literal["before", "after"]
) -> None:
    world, _ = full()
    world.warm(Steps(at=at, when=when))
    with pytest.raises(Crash):
        world.add(SECOND)
    settle(world)
    assert_sound(world)
    assert world.texts() == sorted([FIRST, SECOND] if (at, when) != (1, "before") else [FIRST])


def test_a_build_leaves_the_count_of_what_was_written_while_it_ran() -> None:
    world, memory_id = full(250)
    other = world.process()

    class Between(Steps):
        def run(self, name: str, made: Any) -> Any:
            if name == "MemoryObjects.put":
                other.memories.add(world.owner, Draft("It rains."), None)
                other.edits.edit(world.owner, memory_id, {"content": SECOND}, None)
            return super().run(name, made)

    world.warm(Between())
    world.build()
    assert world.head()["rows"] == 2
    assert set(opened(world).changes.values()) == {1, 2}


def test_a_count_that_writers_keep_moving_stays_too_high_and_never_too_low() -> None:
    world, _ = full(250)
    other, numbers = world.process(), iter(range(100))

    class Between(Steps):
        def run(self, name: str, made: Any) -> Any:
            if name == "MemoryTable.write":
                other.memories.add(world.owner, Draft(f"Number {next(numbers)} rains."), None)
            return super().run(name, made)

    world.warm(Between())
    world.build()
    assert world.head()["rows"] >= len(opened(world).changes)


def test_an_owner_who_only_writes_has_no_more_change_rows_than_the_bound_and_the_one_that_asks() -> None:
    world = World()
    most = 0
    for number in range(2 * limits.CHANGE_ROWS + 50):
        world.add(f"Fact {number} 第{number}条")
        most = max(most, len(world.sks(names.CHANGE)))
        if received := world.maintenance.receive():
            world.now.tidying.tidy(world.owner)
            world.maintenance.delete(received[0].receipt)
    assert most == limits.CHANGE_ROWS + 1
