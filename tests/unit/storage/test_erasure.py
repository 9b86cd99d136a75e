"""Erasing an owner: nothing opens from the first answer on, then nothing is left, whoever dies and whatever is under way."""

import json
from functools import partial

import pytest

from shared.domain import limits
from shared.domain.errors import NotFound, Unavailable
from shared.ports import Update
from shared.storage import names
from shared.storage.erasure import Erasure, Receipt
from tests.builders import World
from tests.fakes import Crash, Steps

TEXT, SUMMARY = "The deploy day is Monday.", "部署日是星期一"


def lived() -> World:
    """Return a world with everything in it: memories, versions, settings, an index, a conversation that waits, deleted things."""
    world = World()
    memory = world.add(TEXT)
    world.add(SUMMARY)
    world.edit(memory.id, content="The deploy day is Friday.")
    world.delete(world.add("Gone already.").id)
    world.choose(language="zh")
    world.tidy(hours=2)
    world.add("Added after the fold.")
    world.say("I prefer tea, always.")
    world.build()
    return world


def erasure(world: World) -> Erasure:
    return Erasure(world.now.vaults)


def begun(world: World) -> Receipt:
    receipt = erasure(world).begin(world.owner)
    assert receipt is not None
    return receipt


def gone_on(world: World) -> Receipt | None:
    return erasure(world).go_on(world.owner, lambda: True)


def _begun_and_gone_on(world: World) -> None:
    begun(world)
    gone_on(world)


def left(world: World) -> tuple[set[str], list[str]]:
    """Return what is left of the owner: sort keys and objects with their versions."""
    prefix = names.OWNERS + world.owner
    return set(world.table.partition(world.owner)), [key for key in world.objects.everything_named() if prefix in key]


def assert_gone(world: World) -> None:
    assert left(world) == ({names.ERASURE}, [names.keyring(world.owner)])
    assert len(world.objects.versions(names.keyring(world.owner))) == 1
    assert b"keys" not in (world.objects.versions(names.keyring(world.owner))[0] or b"")


def test_nothing_opens_once_it_is_begun_not_even_with_warm_keys_and_an_index() -> None:
    world = lived()
    world.warm()
    memory_id = world.memories()[0].id
    assert world.found("deploy")
    Erasure(world.process().vaults).begin(world.owner)
    assert world.memories() == []
    assert world.found("deploy") == []
    with pytest.raises(NotFound):
        world.get(memory_id)
    with pytest.raises(Unavailable, match="being erased"):
        world.add("Too early for a new life.")
    world.restart()
    assert (world.memories(), world.found("deploy")) == ([], [])


def test_then_nothing_is_left_and_the_receipt_counts_what_was() -> None:
    world = lived()
    items = len(world.table.partition(world.owner))
    first = begun(world)
    assert (first.cleared_at, first.objects, first.items, first.signature) == (None, 0, 0, None)
    versions = sum(len(world.objects.versions(key)) for key in world.objects.everything_named()) - 1
    receipt = gone_on(world)
    assert receipt is not None
    assert_gone(world)
    assert (receipt.objects, receipt.items) == (versions, items)
    assert erasure(world).genuine(world.owner, receipt)
    assert not erasure(world).genuine("another", receipt)
    forged = Receipt(receipt.epoch, receipt.erased_at, receipt.cleared_at, 0, 0, receipt.signature)
    assert not erasure(world).genuine(world.owner, forged)
    assert begun(world) == receipt
    assert gone_on(world) == receipt


def test_without_time_it_goes_on_later_and_counts_everything_once() -> None:
    whole, parts = lived(), lived()
    begun(whole)
    begun(parts)
    turns = 0
    while (receipt := erasure(parts).receipt(parts.owner)) is not None and receipt.cleared_at is None:
        granted = iter([True, True])
        erasure(parts).go_on(parts.owner, partial(next, granted, False))
        turns += 1
        assert turns < 50
    assert turns > 1
    expected = gone_on(whole)
    assert expected is not None
    assert receipt is not None
    assert (receipt.objects, receipt.items) == (expected.objects, expected.items)
    assert_gone(parts)


@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_and_done_again_it_ends_the_same(when: str) -> None:
    world = lived()
    steps = world.restart()
    begun(world)
    gone_on(world)
    for at in range(1, steps.count + 1):
        world = lived()
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with pytest.raises(Crash):
            _begun_and_gone_on(world)
        world.restart()
        if erasure(world).waits(world.owner):
            gone_on(world)  # maintenance comes by, though nobody asks again
            assert_gone(world)
        begun(world)
        receipt = gone_on(world)
        assert receipt is not None
        assert receipt.cleared_at is not None
        assert_gone(world)
        assert erasure(world).genuine(world.owner, receipt)


def test_what_a_worker_under_way_puts_down_is_found_at_the_last_look() -> None:
    world = lived()
    begun(world)
    gone_on(world)
    stray = names.journal(world.owner, 1, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    world.objects.put(stray, b"sealed with keys that are gone")
    world.table.write(world.owner, [Update(names.usage(world.clock()), add={"calls": 1})])
    assert erasure(world).waits(world.owner)
    world.clock.advance(limits.REPAIR_AFTER.total_seconds())
    gone_on(world)
    assert_gone(world)
    assert not erasure(world).waits(world.owner)
    assert "due_at" not in world.table.partition(world.owner)[names.ERASURE]


def test_a_new_life_begins_while_the_last_look_waits_and_is_not_touched_by_it() -> None:
    world = lived()
    begun(world)
    gone_on(world)
    world.add("It is of the new life.")
    world.clock.advance(limits.REPAIR_AFTER.total_seconds())
    gone_on(world)
    assert world.texts() == ["It is of the new life."]
    assert world.head()["epoch"] == 2
    second = begun(world)
    assert second.epoch == 2
    gone_on(world)
    assert_gone(world)


def test_learning_under_way_learns_nothing() -> None:
    world = lived()
    (message,) = world.work.receive()
    world.warm()
    begun(world)
    assert world.now.delivery.learn(json.dumps(message.body), message.receipt, 1) == {"over": 1}
    gone_on(world)
    assert_gone(world)


def test_an_owner_whose_table_is_lost_is_erased_too() -> None:
    world = lived()
    world.table.wipe()
    world.restart()
    begun(world)
    gone_on(world)
    assert_gone(world)


@pytest.mark.case(70)
def test_a_table_restored_from_a_backup_opens_nothing_and_can_be_erased_again() -> None:
    world = lived()
    backup = dict(world.table.partition(world.owner))
    begun(world)
    gone_on(world)
    for item in backup.values():
        world.table._store(world.owner, dict(item))
    world.restart()
    with pytest.raises(Unavailable):
        world.memories()
    begun(world)
    gone_on(world)
    assert_gone(world)


def test_nobody_who_never_stored_anything_has_anything_to_erase() -> None:
    world = World()
    assert erasure(world).begin(world.owner) is None
    assert erasure(world).receipt(world.owner) is None
    assert gone_on(world) is None
    assert world.table.partition(world.owner) == {}
