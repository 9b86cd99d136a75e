"""Memories whose time is over: unseen from that moment on, deleted by the next maintenance, and nothing else with them."""

from datetime import timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import Duplicate, NotFound
from shared.domain.memory import Category, Memory, Scope
from shared.domain.times import rfc3339
from shared.keeping.maintenance import retention
from shared.keeping.memories.filters import CREATED
from shared.ports import Update
from shared.recall.building import Builder
from shared.recall.context import Moment
from shared.storage import names
from tests.builders import Draft, World
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import assert_sound, records, settle

SHORT, LONG = "The door code changes on Friday.", "The deploy day is Monday."
CHINESE = "门禁密码周五更换"


def passing(world: World, content: str = SHORT, *, days: float = 1, **more: Any) -> Memory:
    """Add a memory whose time will be over in so many days."""
    return world.add(content, expires_at=world.clock() + timedelta(days=days), **more)


def everywhere(world: World, memory_id: str) -> set[str]:
    """Return by which reads the memory can be seen."""
    now = world.now
    reads = {
        "list": memory_id in {memory.id for memory in world.memories()},
        "list by creation": memory_id in {memory.id for memory in world.memories(order=CREATED)},
        "search": memory_id in {memory.id for memory in world.hits("door code deploy day 门禁 密码")},
        "context": memory_id in now.contexts.context(world.owner, Moment(force=True, token_budget=4000)).memory_ids,
    }
    seen = {name for name, found in reads.items() if found}
    for name, read in (("get", now.memories.get), ("history", now.edits.history)):
        try:
            read(world.owner, memory_id)
            seen.add(name)
        except NotFound:
            continue
    return seen


ALL = {"list", "list by creation", "search", "context", "get", "history"}


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("text", [SHORT, CHINESE])
def test_a_memory_past_its_own_end_is_seen_by_no_read_from_that_moment_on(text: str, *, indexed: bool) -> None:
    world = World()
    memory = passing(world, text)
    if indexed:
        world.build()
    assert everywhere(world, memory.id) == ALL
    world.clock.advance(days=1)
    assert everywhere(world, memory.id) == set()


@pytest.mark.parametrize("indexed", [True, False])
def test_a_memory_past_its_owners_retention_is_seen_by_no_read_from_that_moment_on(*, indexed: bool) -> None:
    world = World()
    world.choose(retention_days=30)
    memory, later = world.add(SHORT), world.add(LONG)
    if indexed:
        world.build()
    world.clock.advance(days=29)
    world.edit(later.id, importance=9)
    assert everywhere(world, memory.id) == ALL
    world.clock.advance(days=1)
    assert everywhere(world, memory.id) == set()
    assert everywhere(world, later.id) == ALL


def test_the_memories_of_a_long_history_do_not_crowd_out_what_is_kept() -> None:
    world = World()
    for number in range(limits.CANDIDATES + 20):
        world.add(f"{LONG} Number {number}.")
    world.clock.advance(days=40)
    kept = world.add(f"{LONG} It is kept.")
    world.build()
    world.choose(retention_days=30)
    assert [memory.id for memory in world.hits("deploy day")] == [kept.id]


def test_retention_of_no_days_keeps_nothing_and_minus_one_keeps_everything() -> None:
    world = World()
    memory = world.add(SHORT)
    world.clock.advance(days=36_000)
    assert everywhere(world, memory.id) == ALL
    world.choose(retention_days=0)
    assert everywhere(world, memory.id) == set()
    world.choose(retention_days=-1)
    assert everywhere(world, memory.id) == ALL, "what was not deleted yet comes back"


def test_what_is_over_is_deleted_by_the_next_maintenance_with_tombstone_and_exact_counters() -> None:
    world = World()
    world.add(LONG)
    gone = [passing(world), passing(world, CHINESE), passing(world, "The password is swordfish1.")]
    secret = passing(world, "My wifi password is rosebud77.", category=Category.CREDENTIAL)
    bound = passing(world, "Atlas ships in May.", scope=Scope.PROJECT, project="atlas")
    world.tidy()
    world.clock.advance(days=1)
    assert (world.tidy() or {})["retention_deleted"] == 5
    assert world.sks(names.MEMORY) == [memory.id for memory in world.memories()]
    assert {record.id for record in records(world) if record.kind == "tombstone"} == {
        *(memory.id for memory in gone),
        secret.id,
        bound.id,
    }
    settle(world)
    assert_sound(world)
    assert world.texts() == [LONG]


def test_old_memories_are_deleted_once_their_owner_chooses_a_retention() -> None:
    world = World()
    world.add(SHORT)
    dismissed = world.add(CHINESE)
    world.dismiss(dismissed.id)
    world.tidy(hours=2)
    world.clock.advance(days=31)
    world.add(LONG)
    assert "retention_deleted" not in (world.tidy() or {})
    world.choose(retention_days=30)
    assert (world.tidy() or {})["retention_deleted"] == 2
    settle(world)
    assert_sound(world)
    assert world.texts() == [LONG]


def test_an_owner_is_visited_when_the_next_memory_ends_and_not_before() -> None:
    world = World()
    passing(world, days=10)
    world.add(LONG)
    for _ in range(3):
        world.tidy(hours=2)
    assert "due_at" not in world.head()
    world.clock.advance(days=9)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}
    world.clock.advance(days=1)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}
    assert (world.tidy() or {})["retention_deleted"] == 1
    settle(world)
    world.clock.advance(days=40)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}


def test_a_write_before_the_next_end_makes_its_owner_due_at_once() -> None:
    world = World()
    passing(world, days=10)
    for _ in range(3):
        world.tidy(hours=2)
    world.add(LONG)
    world.clock.advance(limits.MAINTENANCE_DELAY.total_seconds() + 1)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}


def test_memories_that_end_minute_by_minute_wake_their_owner_once_an_hour() -> None:
    world = World()
    for minute in range(5):
        passing(world, f"{SHORT} {minute}", days=1 + minute / 1440)
    world.tidy(hours=3)
    settle(world)
    world.clock.advance(days=1)
    visits = 0
    for _ in range(24 * 12):
        world.clock.advance(300)
        if world.now.duties.ask({"kind": "schedule"})["owners"]:
            visits += 1
            world.tidy()
    assert world.sks(names.MEMORY) == []
    assert visits <= 4


def test_an_end_that_came_in_during_a_visit_is_remembered_too() -> None:
    world = World()
    world.add(LONG)
    world.tidy(hours=2)
    world.edit(world.add(SHORT).id, importance=9)
    other = world.process()
    late: list[Memory] = []

    class Adding(Steps):
        def run(self, name: str, call: object) -> object:
            if name == "MemoryObjects.put" and "MemoryTable.query" in self.log and not late:
                world.now, mine = other, world.now
                late.append(passing(world, CHINESE))
                world.now = mine
            return super().run(name, call)  # type: ignore[arg-type]

    world.restart(Adding())
    world.tidy()
    assert late
    world.restart()
    settle(world)
    world.clock.advance(days=1)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}
    assert (world.tidy() or {})["retention_deleted"] == 1


def test_a_memory_that_was_renewed_while_it_was_about_to_be_deleted_stays() -> None:
    world = World()
    world.choose(retention_days=30)
    kept, gone = world.add(LONG), world.add(SHORT)
    world.tidy(hours=2)
    world.clock.advance(days=30, seconds=-3600)
    other = world.process()
    renewed: list[Memory] = []

    class Renewing(Steps):
        def run(self, name: str, call: object) -> object:
            if name == "MemoryObjects.put" and world.clock() >= gone.updated_at + timedelta(days=30) and not renewed:
                before = world.clock.now
                world.clock.now = kept.updated_at + timedelta(days=29)
                renewed.append(other.edits.edit(world.owner, kept.id, {"importance": 9}, None))
                world.clock.now = before
            return super().run(name, call)  # type: ignore[arg-type]

    world.restart(Renewing())
    assert (world.tidy(hours=2) or {})["retention_deleted"] == 1
    assert renewed
    world.restart()
    settle(world)
    assert_sound(world)
    assert world.texts() == [LONG]


def test_what_is_learned_again_is_renewed_though_its_time_was_over() -> None:
    world = World()
    said = "We decided to use PostgreSQL for the backend."
    world.say(said)
    world.work_off()
    (memory,) = world.memories()
    world.edit(memory.id, expires_at=world.clock() + timedelta(days=1))
    world.choose(retention_days=2)
    world.clock.advance(days=3)
    assert world.memories() == []
    world.say(said)
    world.work_off()
    (again,) = world.memories()
    assert (again.id, again.expires_at) == (memory.id, None)
    assert "retention_deleted" not in (world.tidy() or {})


def test_a_text_may_be_added_again_when_its_predecessors_time_is_over() -> None:
    world = World()
    world.choose(retention_days=1)
    old = world.add(SHORT)
    with pytest.raises(Duplicate):
        world.add(SHORT)
    world.clock.advance(days=2)
    assert world.add(SHORT).id != old.id


def test_deletion_stops_when_the_time_of_the_visit_is_over_and_goes_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 2)  # so few memories make many lots
    world = World()
    for number in range(9):
        passing(world, f"{SHORT} {number}")
    world.tidy(hours=2)
    world.clock.advance(days=1)

    class Slow(Steps):
        def run(self, name: str, call: object) -> object:
            if name == "MemoryObjects.put":
                world.clock.advance(limits.VISIT.total_seconds() / 2)
            return super().run(name, call)  # type: ignore[arg-type]

    world.restart(Slow())
    first = world.tidy() or {}
    assert (first["retention_deleted"], first["unfinished"], first["index_built"]) == (4, 1, 1)
    assert world.memories() == []
    world.restart()
    world.clock.advance(limits.LEASE.total_seconds())
    (message,) = world.maintenance.receive()
    assert message.body == {"v": 1, "kind": "tidy", "owner": world.owner}
    assert world.head()["due_at"] <= rfc3339(world.clock())
    assert (world.tidy() or {})["retention_deleted"] == 5
    settle(world)
    assert_sound(world)


def test_settings_that_do_not_open_delete_and_hide_nothing() -> None:
    world = World()
    world.choose(retention_days=1)
    memory = world.add(SHORT)
    world.clock.advance(days=5)
    stored = world.table.partition(world.owner)[names.SETTINGS]
    broken = bytes([bytes(stored["sealed"])[0] ^ 1]) + bytes(stored["sealed"])[1:]  # type: ignore[arg-type]
    world.table.write(world.owner, [Update(names.SETTINGS, set={"sealed": broken})])
    assert world.get(memory.id).content == SHORT
    commit = str(stored["commit"])
    world.objects.put(names.journal(world.owner, 1, commit), b"their line does not open either\n")
    assert "retention_deleted" not in (world.tidy() or {})
    assert world.sks(names.MEMORY) == [memory.id]


def test_dying_at_any_step_of_the_deletion_leaves_a_state_that_the_next_visit_finishes() -> None:
    def over() -> World:
        world = World()
        world.add(LONG)
        passing(world)
        passing(world, CHINESE, scope=Scope.PROJECT, project="atlas")
        world.tidy(hours=2)
        world.clock.advance(days=1)
        return world

    world = over()
    count = world.restart()
    world.tidy()
    steps = count.count
    for at in range(1, steps + 1):
        world = over()
        world.restart(Steps(at=at, when="after"))
        with pytest.raises(Crash):
            world.tidy()
        world.restart()
        settle(world)
        assert world.texts() == [LONG]
        assert_sound(world)


def test_what_is_written_between_the_visits_reading_and_the_builds_is_deleted_when_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The build opens the owner anew and takes in its row: its end is to be known before that goes."""
    world = World()
    world.add(LONG)
    build, other = Builder.build, world.process()

    def late(self: Builder, owner: str, **more: Any) -> Any:
        monkeypatch.setattr(Builder, "build", build)
        draft = Draft(SHORT, expires_at=world.clock() + timedelta(hours=2))
        other.memories.add(owner, draft)
        return build(self, owner, **more)

    monkeypatch.setattr(Builder, "build", late)  # the moment between two reads of one visit
    world.tidy()
    assert sorted(world.texts()) == sorted([LONG, SHORT])
    assert world.sks(names.CHANGE) == []
    world.tidy(hours=2.1)
    assert [one.content for one in map(world.get, world.sks(names.MEMORY))] == [LONG]
