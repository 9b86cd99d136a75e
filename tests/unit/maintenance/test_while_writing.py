"""Maintenance while people write: nothing acknowledged is lost, nothing deleted comes back, whoever is in between whom."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from threading import Lock
from typing import Any

import pytest

from shared.keeping.maintenance.duties import Duties
from tests.builders import World
from tests.fakes import Crash, FakeClock, Steps
from tests.unit.maintenance.writers import Writer
from tests.unit.storage.soundness import assert_sound, settle
from tests.unit.storage.stress import WallClock

OPERATIONS = 50
WRITERS = 5


def lived_in(random: Random) -> tuple[World, Writer]:
    """Return a world with folded and young lines, a dead writer's line, an index, and memories whose time is over."""
    world = World()
    writer = Writer(world.owner, world.process(), random, "ann")
    for _ in range(12):
        world.clock.advance(1)
        writer.write()
    world.add("The door code changes on Friday.", expires_at=world.clock() + timedelta(hours=1))
    world.tidy(hours=2)
    for _ in range(12):
        world.clock.advance(1)
        writer.write()
    world.restart(Steps(at=5))
    with pytest.raises(Crash):
        world.add("Coffee is brewed at nine.")
    world.restart()
    world.clock.advance(7200)
    return world, writer


class Writing(Steps):
    """Between any two calls of maintenance somebody writes."""

    def __init__(self, writer: Writer, clock: FakeClock, until: int) -> None:
        super().__init__()
        self.writer, self.clock, self.until = writer, clock, until
        self.one_at_a_time = Lock()

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        with self.one_at_a_time:
            if self.writer.done < self.until:
                self.clock.advance(0.001)
                self.writer.write()
        return super().run(name, call)


@pytest.mark.parametrize("seed", range(6))
def test_fifty_writes_between_the_calls_of_maintenance_lose_and_resurrect_nothing(seed: int) -> None:
    world, writer = lived_in(Random(seed))
    until = writer.done + OPERATIONS
    while writer.done < until:
        world.restart(Writing(writer, world.clock, until))
        world.tidy()
    world.restart()
    expected = sorted([*writer.kept.values(), "Coffee is brewed at nine."])
    assert world.texts() == expected, "not even for a while"
    settle(world)
    assert world.texts() == expected
    assert_sound(world)


def test_a_memory_that_is_deleted_while_repair_reads_the_table_is_not_replayed() -> None:
    world = World()
    memory = world.add("The deploy day is Monday.")
    world.tidy()
    other = world.process()

    class Deleting(Steps):
        def run(self, name: str, call: Callable[[], Any]) -> Any:
            if name == "MemoryTable.get" and "MemoryObjects.names" in self.log and not other_deleted:
                other.edits.delete(world.owner, memory.id, None)
                other_deleted.append(memory.id)
            return super().run(name, call)

    other_deleted: list[str] = []
    world.restart(Deleting())
    counts = world.tidy(hours=2) or {}
    assert other_deleted
    assert "repair_replayed" not in counts
    assert world.memories() == []
    world.restart()
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("seed", range(2))
def test_fifty_writes_at_once_with_maintenance_lose_and_resurrect_nothing(seed: int) -> None:
    world, first = lived_in(Random(seed))
    world.clock = WallClock()
    world.restart()
    writers = [Writer(world.owner, world.process(), Random(f"{seed} {n}"), f"writer{n}") for n in range(WRITERS)]
    writing = [True]
    visits: list[bool] = []

    def maintain() -> None:
        duties: Duties = world.process().duties
        while writing[0]:
            visits.append(duties.tidying.tidy(world.owner) is not None)

    def write(writer: Writer) -> None:
        for _ in range(OPERATIONS // WRITERS):
            writer.write()

    with ThreadPoolExecutor(WRITERS + 2) as pool:
        maintaining = [pool.submit(maintain) for _ in range(2)]
        list(pool.map(write, writers))
        writing[0] = False
        for one in maintaining:
            one.result()
    assert any(visits)
    world.clock = FakeClock(WallClock()())
    world.restart()
    kept = [text for writer in (first, *writers) for text in writer.kept.values()]
    expected = sorted([*kept, "Coffee is brewed at nine."])
    assert world.texts() == expected, "not even for a while"
    settle(world)
    assert world.texts() == expected
    assert_sound(world)
