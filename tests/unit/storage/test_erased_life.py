"""After an erasure a new life begins empty, and nothing of the old one can write into it."""

import json
from dataclasses import replace

import pytest

from shared.crypto.keyring import ErasedKeyring
from shared.domain.errors import NotFound, Unavailable
from shared.storage import names
from shared.storage.erasure import Erasure
from shared.storage.transactions import Change
from tests.builders import Draft, Process, World
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import assert_sound, settle

OLD, NEW = "It was of the old life.", "It is of the new life."


def erase(world: World) -> None:
    """Erase the owner and let maintenance remove everything."""
    erasure = Erasure(world.process().vaults)
    assert erasure.begin(world.owner) is not None
    receipt = erasure.go_on(world.owner, lambda: True)
    assert receipt is not None
    assert receipt.cleared_at is not None


def erased() -> tuple[World, Process]:
    """Return a world whose owner was erased, and a process that still holds the old life's keys."""
    world = World()
    world.add(OLD)
    world.warm()
    old = world.now
    assert old.vaults.warm(world.owner) is not None
    erase(world)
    world.restart()
    return world, old


def test_an_erased_owner_has_nothing_and_maintenance_brings_nothing_back() -> None:
    world, old = erased()
    assert world.memories() == []
    assert world.found("life") == []
    assert world.tidy() is None
    assert old.tidying.tidy(world.owner) is None
    assert world.table.partition(world.owner).keys() == {names.ERASURE}


def test_a_new_life_starts_empty_with_the_next_epoch_and_keys_of_its_own() -> None:
    world, _ = erased()
    world.add(NEW)
    assert world.texts() == [NEW]
    assert world.found("life") == [NEW]
    assert world.head()["epoch"] == 2
    settle(world)
    assert_sound(world)
    assert all(not key.startswith(names.life(world.owner, 1)) for key in world.objects.keys())  # noqa: SIM118 - no mapping


def test_a_process_with_the_old_keys_writes_into_the_new_life_with_its_new_keys_only() -> None:
    world, old = erased()
    world.add(NEW)
    world.now = old
    world.add("It is of the new life as well.")
    assert world.stored("journal") == [memory.commit for memory in reversed(world.memories())]
    world.restart()
    assert len(world.texts()) == 2


def test_a_change_of_a_memory_of_the_old_life_is_not_there_to_be_made() -> None:
    world = World()
    memory = world.add(OLD)
    world.warm()
    old = world.now
    _, stored = old.memories.read(world.owner, memory.id)
    erase(world)
    world.restart()
    world.add(NEW)
    with pytest.raises(NotFound):
        old.commits.commit(world.owner, Change(stored, replace(memory, importance=9)))
    with pytest.raises(NotFound):
        old.commits.commit(world.owner, Change(stored, None))
    assert len(world.stored("journal")) == 1


def test_a_worker_of_the_old_life_learns_nothing_for_the_new_one() -> None:
    world = World()
    world.say("We decided to use PostgreSQL.", "I prefer tea.")
    (message,) = world.work.receive()
    world.warm()
    old = world.now
    erase(world)
    world.restart()
    world.add(NEW)
    assert old.delivery.learn(json.dumps(message.body), message.receipt, 1) == {"over": 1}
    assert world.texts() == [NEW]


def test_a_worker_whose_owner_is_erased_in_the_middle_stops() -> None:
    world = World()
    world.say("We decided to use PostgreSQL.", "I prefer tea.")
    (message,) = world.work.receive()

    class Erasing(Steps):
        def run(self, name: str, call: object) -> object:
            if self.count == 6:
                erase(world)
                world.process().memories.add(world.owner, Draft(NEW))
            return super().run(name, call)  # type: ignore[arg-type]

    world.restart(Erasing())
    answer = world.now.delivery.learn(json.dumps(message.body), message.receipt, 1)
    world.restart()
    assert answer == {"over": 1}
    assert world.texts() == [NEW]
    assert world.stored("conversations") == []


@pytest.mark.parametrize("at", range(1, 12))
def test_a_new_life_whose_maker_died_is_begun_by_the_next_writer(at: int) -> None:
    world, _ = erased()
    world.restart(Steps(at=at, when="after"))
    try:
        world.add(NEW)
    except Crash:
        world.restart()
        world.add("It is the next.")
    world.restart()
    assert "It is the next." in world.texts() or world.texts() == [NEW]
    assert world.head()["epoch"] == 2


def test_while_the_old_head_is_still_there_the_owner_is_being_erased() -> None:
    world = World()
    world.add(OLD)
    ring = ErasedKeyring(1, "2026-03-01T10:00:00.000Z").to_bytes()
    world.objects.put(names.keyring(world.owner), ring)
    world.restart()
    with pytest.raises(Unavailable, match="being erased"):
        world.add(NEW)
    with pytest.raises(Unavailable, match="being erased"):
        world.memories()
