"""A new key generation: processes with the old keys open the owner again, old lines stay readable, tags stay what they were."""

import json
from typing import Any

import pytest

from shared.crypto.keyring import Keyring, fresh_blob, read_keyring
from shared.domain.errors import Busy, Duplicate, SealBroken, Unavailable
from shared.ports import Update
from shared.storage import names
from tests.builders import Process, World, conversation
from tests.fakes import Steps
from tests.unit.storage.soundness import assert_sound, opened, records, settle

FIRST, SECOND = "The deploy day is Monday.", "The deploy day is Friday."


def rotate(world: World) -> None:
    """Do what a rotation does: a further generation in the keyring, then the head. Routes for it come later."""
    key = names.keyring(world.owner)
    stored = world.objects.get(key)
    assert stored is not None
    ring = read_keyring(stored.body)
    assert isinstance(ring, Keyring)
    wrapped = world.keys.wrap(world.owner, ring.epoch, fresh_blob(opened(world).keys.root, world.random))
    world.objects.put(key, ring.rotated(wrapped).to_bytes(), if_match=stored.etag)
    world.table.write(world.owner, [Update(names.HEAD, set={"gen": ring.generation + 1})])


def warm_before_rotation(world: World) -> Process:
    """Return a process that holds the keys of the generation before."""
    world.warm()
    old = world.now
    rotate(world)
    return old


def test_a_process_with_old_keys_writes_with_the_new_ones() -> None:
    world = World()
    memory = world.add(FIRST)
    world.choose(language="en")
    old = warm_before_rotation(world)
    world.now = old
    world.edit(memory.id, content=SECOND)
    item = world.table.partition(world.owner)[names.MEMORY + memory.id]
    assert item["gen"] == 2
    assert len(world.stored("journal")) == 3
    world.now = warm_before_rotation(world)
    world.choose(language="zh")
    assert world.table.partition(world.owner)[names.SETTINGS]["gen"] == 3
    world.now = warm_before_rotation(world)
    world.say("I prefer tea.")
    world.now = warm_before_rotation(world)
    assert world.work_off() == [{"inserted": 1}]
    assert world.found("deploy") == [SECOND]
    assert [one.content for one in world.now.edits.history(world.owner, memory.id)] == [SECOND, FIRST]
    settle(world)
    assert_sound(world)


def test_the_same_text_is_a_duplicate_in_every_generation() -> None:
    world = World()
    world.add(FIRST)
    rotate(world)
    world.restart()
    with pytest.raises(Duplicate):
        world.add(FIRST)


def test_a_plan_of_the_generation_before_is_applied_after_the_rotation() -> None:
    world = World()
    world.say("I prefer tea.", "We decided to use PostgreSQL.")
    (message,) = world.work.receive()

    class Rotating(Steps):
        def run(self, name: str, call: Any) -> Any:
            if name == "MemoryTable.write" and name not in self.log:
                rotate(world)
            return super().run(name, call)

    world.restart(Rotating())
    with pytest.raises(Unavailable):
        world.deliver(message)
    world.restart()
    world.clock.advance(31)
    assert world.work_off() == [{"inserted": 2}]
    settle(world)
    assert_sound(world)
    world.table.wipe()
    world.restart()
    world.tidy()
    assert len(world.texts()) == 2


def test_a_rebuild_seals_with_the_newest_generation() -> None:
    world = World()
    world.add(FIRST)
    world.choose(language="zh")
    rotate(world)
    world.table.wipe()
    world.restart()
    world.tidy()
    partition = world.table.partition(world.owner)
    assert {item["gen"] for sk, item in partition.items() if sk.startswith(("m#", "z", "head")) and "gen" in item} == {
        2
    }
    assert world.texts() == [FIRST]


def test_a_head_that_names_a_generation_nobody_has_is_refused() -> None:
    world = World()
    world.add(FIRST)
    world.table.write(world.owner, [Update(names.HEAD, set={"gen": 9})])
    world.restart()
    with pytest.raises(SealBroken):
        world.add(SECOND)
    assert len(world.stored("journal")) == 1


def test_a_generation_that_never_stands_still_ends_in_an_error_and_leaves_no_line() -> None:
    world = World()
    world.add(FIRST)

    class Rotating(Steps):
        def run(self, name: str, call: Any) -> Any:
            if name == "MemoryTable.write":
                rotate(world)
            return super().run(name, call)

    for deed in (
        lambda: world.add(SECOND),
        lambda: world.choose(language="zh"),
        lambda: world.now.accepting.accept(world.owner, conversation("I prefer tea.")),
    ):
        world.restart(Rotating())
        with pytest.raises(Unavailable):
            deed()
        assert len(world.stored("journal")) == 1
        assert world.stored("conversations") == []


def test_contention_that_does_not_end_is_said_and_nothing_comes_of_it() -> None:
    world = World()
    world.add(FIRST)
    world.table.contention = 1
    with pytest.raises(Busy):
        world.add(SECOND)
    assert len(world.stored("journal")) == 1
    settle(world)
    assert_sound(world)
    assert world.texts() == [FIRST]


def test_a_disabled_key_opens_nothing_and_five_minutes_later_no_process_holds_it() -> None:
    world = World()
    world.add(FIRST)
    world.warm()
    world.keys.disabled = True
    assert world.texts() == [FIRST]
    world.clock.advance(301)
    with pytest.raises(SealBroken):
        world.memories()
    world.keys.disabled = False
    assert world.texts() == [FIRST]


def test_a_message_is_not_learned_twice_by_processes_of_two_generations() -> None:
    world = World()
    world.say("I prefer tea.")
    (message,) = world.work.receive()
    old = warm_before_rotation(world)
    body = json.dumps(message.body)
    assert world.process().delivery.learn(body, message.receipt, 1) == {"inserted": 1}
    assert old.delivery.learn(body, message.receipt, 2) == {"over": 1}
    assert len(records(world)) == 2
