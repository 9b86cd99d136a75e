"""A thousand owners due at once: bounded messages, nobody twice, who waited longest first, counts that add up."""

import json
from dataclasses import replace

import pytest

from shared.crypto.owners import owner_name
from shared.domain import limits
from shared.domain.errors import Unavailable
from shared.domain.times import rfc3339
from shared.keeping.maintenance import due_owners
from shared.keeping.maintenance.tidying import Tidying
from shared.ports import Put, Update
from shared.storage import names
from tests.builders import Draft, World
from tests.fakes import QueuedMessage, Steps

MANY = 1_000


def populated(count: int, *, seconds: float = 0.01) -> tuple[World, list[str]]:
    """Return a world in which so many owners wrote one memory each, one after the other."""
    world = World()
    owners = [owner_name("https://issuer.example", f"person {number}") for number in range(count)]
    for owner in owners:
        world.clock.advance(seconds)
        world.now.memories.add(owner, Draft("The deploy day is Monday."))
    world.clock.advance(limits.MAINTENANCE_DELAY.total_seconds() + 1)
    return world, owners


def asked(world: World) -> list[QueuedMessage]:
    return [message for message in world.maintenance.messages if message.body["kind"] == "tidy"]


def work_off(world: World) -> list[dict[str, int]]:
    """Deliver every message of the maintenance queue, those that come in meanwhile too; return the counts of each."""
    counts = []
    while received := world.maintenance.receive(10):
        for message in received:
            counts.append(world.now.duties.do(json.dumps(message.body), message.receipt))
            world.maintenance.delete(message.receipt)
    return counts


class Fast(Tidying):
    """Visits that build nothing: they say when to come again, and count."""

    def tidy(self, owner: str, *, compare: bool = False, noticed: bool = False) -> dict[str, int] | None:
        assert (compare, noticed) == (False, False)
        self.commits.vaults.table.write(owner, [Update(names.HEAD, remove=["due_at", "due_shard"])])
        return {"index_built": 1}


def test_a_thousand_owners_due_at_once_are_each_asked_for_and_visited_once() -> None:
    world = World()
    owners = [owner_name("https://issuer.example", f"person {number}") for number in range(MANY)]
    for owner in owners:
        due = {"due_at": rfc3339(world.clock()), "due_shard": names.due_shard(owner, limits.DUE_SHARDS)}
        world.table.write(owner, [Put({"sk": names.HEAD, "epoch": 1, "gen": 1, **due})])
    world.clock.advance(1)
    now = world.now
    fast = Fast(now.commits, now.rebuild, now.waiting, now.builder)
    now.duties = replace(now.duties, tidying=fast)
    waiting: list[int] = []
    counts = [now.duties.ask({"kind": "schedule"})]
    while received := world.maintenance.receive(10):
        waiting.append(len(world.maintenance.messages))
        for message in received:
            counts.append(now.duties.do(json.dumps(message.body), message.receipt))
            world.maintenance.delete(message.receipt)
    assert max(waiting) <= 2 * due_owners.OWNERS_A_MESSAGE + 1
    asked_for = [count["owners"] for count in counts if "owners" in count]
    assert (sum(asked_for), max(asked_for)) == (MANY, due_owners.OWNERS_A_MESSAGE)
    assert sum(count.get("index_built", 0) for count in counts) == MANY
    assert now.duties.ask({"kind": "schedule"}) == {"owners": 0}


def test_many_owners_due_at_once_are_each_tidied_once_and_counts_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_owners, "OWNERS_A_MESSAGE", 10)  # a page of 200 owners would say the same, slower
    world, owners = populated(35)
    counts = [world.now.duties.ask({"kind": "schedule"}), *work_off(world)]
    assert sum(count.get("owners", 0) for count in counts) == len(owners)
    assert sum(count.get("index_built", 0) for count in counts) == len(owners)
    assert all(world.process().vaults.open(owner, changes=True).changes == {} for owner in owners)  # type: ignore[union-attr]
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}
    assert world.maintenance.messages == []


def test_who_waited_longest_is_asked_for_first_whatever_the_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_owners, "OWNERS_A_MESSAGE", 10)  # a page of 200 owners would say the same, slower
    world, owners = populated(40, seconds=1)
    assert len({names.due_shard(owner, limits.DUE_SHARDS) for owner in owners[:10]}) > 2
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 10}
    assert {message.group for message in asked(world)} == set(owners[:10])
    work_off(world)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}


def test_two_schedules_at_once_and_an_index_that_lags_ask_for_nobody_twice() -> None:
    world, owners = populated(30)
    world.table.lag()
    other = world.process()
    assert [one.duties.ask({"kind": "schedule"})["owners"] for one in (world.now, other, world.now)] == [30, 0, 0]
    world.clock.advance(61)
    assert other.duties.ask({"kind": "schedule"}) == {"owners": 0}
    assert sorted(message.group for message in asked(world)) == sorted(owners)


def test_owners_whose_messages_wait_long_are_not_asked_for_again_at_every_tick() -> None:
    world, owners = populated(5)
    ticks = [world.now.duties.ask({"kind": "schedule"})["owners"]]
    for _ in range(5):
        world.clock.advance(300)
        ticks.append(world.now.duties.ask({"kind": "schedule"})["owners"])
    assert ticks == [5, 0, 0, 0, 0, 0]
    assert len(asked(world)) == len(owners)


def test_a_message_that_was_never_sent_is_made_up_for_half_an_hour_later() -> None:
    world, owners = populated(1)
    steps = world.restart()
    world.now.vaults.table.due(0, before="9", limit=1)
    calls = steps.count + limits.DUE_SHARDS  # the queries, then the mark, then the message
    world.restart(Steps(at=calls + 1, error=Unavailable))
    with pytest.raises(Unavailable):
        world.now.duties.ask({"kind": "schedule"})
    world.restart()
    assert (asked(world), world.now.duties.ask({"kind": "schedule"})) == ([], {"owners": 0})
    world.clock.advance(limits.STEP_AGAIN.total_seconds() + 1)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}
    assert [message.group for message in asked(world)] == owners


def test_an_owner_with_two_marks_is_asked_for_once() -> None:
    world, (owner,) = populated(1)
    mark = world.table.partition(owner)["head"]
    both = {name: mark[name] for name in ("due_at", "due_shard")}
    world.table.write(owner, [Update(names.UPKEEP, set=both)])
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}
    assert len(asked(world)) == 1


def test_one_owner_is_asked_for_by_name_and_a_stranger_is_not() -> None:
    world, (owner, _) = populated(2)
    world.table.wipe(owner)
    assert world.now.duties.ask({"kind": "rebuild", "owner": "z" * 52}) == {"owners": 0}
    assert world.now.duties.ask({"kind": "rebuild", "owner": owner}) == {"owners": 1}
    (counts,) = work_off(world)
    assert counts["rebuild_memories"] == 1


def test_a_rebuild_of_everyone_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_owners, "OWNERS_A_MESSAGE", 10)  # a page of 200 owners would say the same, slower
    world, owners = populated(45)
    world.table.wipe()
    world.restart()
    progress = [world.now.duties.ask({"kind": "rebuild"})]
    counts = work_off(world)
    progress += [count for count in counts if "percent" in count]
    assert [one["owners"] for one in progress] == [10, 10, 10, 10, 5]
    percents = [one["percent"] for one in progress]
    assert percents[-1] == 100
    assert percents == sorted(percents)
    assert 10 < percents[1] < 80
    assert sum(count.get("rebuild_memories", 0) for count in counts) == len(owners)
    assert {owner: len(world.now.vaults.table.query(owner, names.MEMORY).items) for owner in owners} == dict.fromkeys(
        owners, 1
    )
