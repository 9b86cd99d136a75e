"""Who is due, who is asked, what maintenance does of what it is asked, and that one run at a time does it."""

import json

import pytest

from shared.domain import limits
from shared.domain.errors import Unavailable
from shared.keeping.maintenance import due_owners
from shared.keeping.maintenance.duties import UnknownDuty
from shared.ports import Put, Update
from shared.storage import names
from tests.builders import World
from tests.fakes import Crash, Steps

TEXT = "The deploy day is Monday."


def waiting(world: World) -> list[str]:
    return [message.group for message in world.maintenance.messages]


def test_an_owner_is_due_five_minutes_after_the_first_write_and_no_more_after_maintenance() -> None:
    world = World()
    world.add(TEXT)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}
    world.clock.advance(301)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}
    assert waiting(world) == [world.owner]
    (message,) = world.maintenance.receive()
    assert world.now.duties.do(json.dumps(message.body), message.receipt)["index_built"] == 1
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}


def test_an_owner_with_nothing_left_to_do_is_not_due_until_the_next_write() -> None:
    world = World()
    memory = world.add(TEXT)
    for _ in range(3):
        world.tidy(hours=2)
    assert "due_at" not in world.head()
    world.edit(memory.id, importance=9)
    assert "due_at" in world.head()


@pytest.mark.parametrize("at", [2, 3, 4, 5, 6, 7])
def test_a_write_during_maintenance_leaves_the_owner_due(at: int) -> None:
    world = World()
    memory = world.add(TEXT)
    world.tidy(hours=2)
    world.edit(memory.id, importance=8)
    other = world.process()

    class Writing(Steps):
        def run(self, name: str, call: object) -> object:
            if name == "MemoryTable.write" and self.log.count(name) == at:
                other.edits.edit(world.owner, memory.id, {"importance": 9}, None)
            return super().run(name, call)  # type: ignore[arg-type]

    world.restart(Writing())
    world.tidy(hours=2)
    world.restart()
    left = world.get(memory.id).importance == 9
    assert ("due_at" in world.head()) == left


def test_one_run_at_a_time_holds_the_lease_and_a_dead_ones_lease_ends() -> None:
    world = World()
    world.add(TEXT)
    world.restart(Steps(at=12))
    with pytest.raises(Crash):
        world.tidy(hours=2)
    world.restart()
    assert world.tidy() is None
    assert world.tidy(hours=0.3) is not None
    assert names.LEASE not in world.table.partition(world.owner)


def test_a_run_that_fails_gives_its_lease_back() -> None:
    world = World()
    world.add(TEXT)
    world.restart(Steps(at=7, error=ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        world.tidy(hours=2)
    world.restart()
    assert world.tidy() is not None


def test_everyone_is_found_in_the_bucket_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_owners, "OWNERS_A_MESSAGE", 3)  # a page of 200 owners would say the same, slower
    world = World()
    owners = [letter * 52 for letter in "abcdefg"]
    for owner in owners:
        one = World(owner=owner)
        one.objects, one.table, one.keys = world.objects, world.table, world.keys
        one.restart()
        one.add(TEXT)
    asked: list[str] = []
    assert world.now.duties.ask({"kind": "rebuild"}) == {"owners": 3, "percent": 25}
    while received := world.maintenance.receive():
        body = received[0].body
        if body["kind"] == "tidy":
            asked.append(str(body["owner"]))
        else:
            world.now.duties.do(json.dumps(body), "receipt")
        world.maintenance.delete(received[0].receipt)
    assert sorted(asked) == owners


@pytest.mark.parametrize("event", [{}, {"kind": "erase"}, {"kind": None}])
def test_an_unknown_event_is_refused(event: dict[str, str]) -> None:
    with pytest.raises(UnknownDuty):
        World().now.duties.ask(event)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        '{"v":1}',
        '{"v":2,"kind":"tidy","owner":"a"}',
        '{"v":1,"kind":"tidy"}',
        '{"v":1,"kind":"tidy","owner":""}',
        '{"v":1,"kind":"tidy","owner":7}',
        '{"v":1,"kind":"rebuild","after":7}',
        '{"v":1,"kind":"rebuild","owner":""}',
        '{"v":1,"kind":"other","owner":"a"}',
    ],
)
def test_an_unknown_message_is_refused(body: str) -> None:
    with pytest.raises(UnknownDuty):
        World().now.duties.do(body, "receipt")


def test_tidying_a_stranger_does_nothing_and_leaves_nothing() -> None:
    world = World()
    body = json.dumps({"v": 1, "kind": "tidy", "owner": world.owner})
    assert world.now.duties.do(body, "receipt") == {}
    assert world.table.partition(world.owner) == {}


def test_counters_of_bytes_that_drifted_are_set_right() -> None:
    world = World()
    world.add(TEXT)
    world.tidy(hours=2)
    exact = world.head()["bytes"]
    world.table.write(world.owner, [Update(names.HEAD, add={"bytes": 777, "journal_bytes": 777})])
    world.tidy()
    assert world.head()["bytes"] == exact


def test_a_foreign_item_in_the_partition_harms_nobody() -> None:
    world = World()
    world.add(TEXT)
    world.table.write(world.owner, [Put({"sk": "x#1", "what": "ever"})])
    assert world.tidy(hours=2) is not None
    assert world.texts() == [TEXT]


def test_a_failed_maintenance_comes_again_soon_and_not_after_hours() -> None:
    world = World()
    world.add(TEXT)
    world.now.duties.ask({"kind": "rebuild"})
    (message,) = world.maintenance.receive()
    world.warm(Steps(at=2, error=Unavailable))
    with pytest.raises(Unavailable):
        world.now.duties.do(json.dumps(message.body), message.receipt)
    world.clock.advance(limits.RETRY_VISIBILITY_SECONDS)
    assert [again.body for again in world.maintenance.receive()] == [message.body]
