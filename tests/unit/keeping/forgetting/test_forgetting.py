"""Forgetting many memories: what is meant, that nothing else goes, that nothing of it is left, and that it ends whoever dies."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import date as Date  # noqa: N812 - a wish has a date of its own
from typing import Any

import pytest

from shared.domain.errors import ConfirmationNeeded, IdempotencyKeySpent, Invalid
from shared.domain.memory import Category, Scope, Status
from shared.domain.task import TaskStatus
from shared.domain.times import day_bounds
from shared.keeping.forgetting.selection import Selection
from shared.keeping.idempotency import Asked, mark
from shared.ports import Delete
from shared.recall.days import ByDay
from shared.storage import names
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.storage.deeds import Summing
from tests.unit.storage.opening import everything_said, indexed_ids
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, rebuilt, settle

PEANUTS, OTHER = "我对花生过敏", "I drink my coffee black."


@dataclass(frozen=True)
class Wish:
    """A request to forget."""

    ids: list[str] | None = None
    date: Date | None = None
    last_days: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    scope: Scope | None = None
    project: str | None = None
    agent: str | None = None
    category: Category | None = None
    importance_below: int | None = None
    query: str | None = None
    all: bool = False


def selected(world: World, **wish: Any) -> Selection:
    return world.now.forgetting.selection(world.owner, Wish(**wish))


def forget(world: World, **wish: Any) -> str:
    """Ask for it; return the task's id."""
    world.clock.advance(1)
    return world.now.forgetting.ask(world.owner, selected(world, **wish), confirm=True).task_id


def forgotten(world: World) -> None:
    """Visit twice: what the first one clears leaves the journal in the second, which follows at once."""
    world.tidy()
    world.tidy()


def would_go(world: World, **wish: Any) -> list[str]:
    return sorted(
        memory.content for memory in world.now.forgetting.preview(world.owner, selected(world, **wish)).memories
    )


def status(world: World, task_id: str) -> tuple[TaskStatus, dict[str, int]]:
    task = world.now.tasks.get(world.owner, task_id)
    return task.status, {name: count for name, count in task.progress.items() if count}


def varied() -> World:
    """Return a world of memories that differ in every way a selection can ask for."""
    world = World()
    world.add(PEANUTS, category=Category.CONSTRAINT, importance=9)
    world.add("The deploy day is Monday.", scope=Scope.PROJECT, project="atlas", importance=3, tags=["#Ops"])
    world.clock.advance(3 * 86_400)
    world.add("ＦＵＬＬ width Peanut butter", importance=3)
    world.add("Tried pytest, it worked.", scope=Scope.AGENT, agent="coder", category=Category.EXPERIENCE)
    return world


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({"query": "花生"}, [PEANUTS]),
        ({"query": "peanut FULL"}, ["ＦＵＬＬ width Peanut butter"]),
        ({"query": "ops"}, ["The deploy day is Monday."]),
        ({"query": "peanut monday"}, []),
        ({"project": "atlas"}, ["The deploy day is Monday."]),
        ({"scope": Scope.AGENT, "agent": "coder"}, ["Tried pytest, it worked."]),
        ({"category": Category.CONSTRAINT}, [PEANUTS]),
        ({"importance_below": 4}, ["The deploy day is Monday.", "ＦＵＬＬ width Peanut butter"]),
        ({"importance_below": 4, "scope": Scope.USER}, ["ＦＵＬＬ width Peanut butter"]),
        ({"last_days": 1}, ["Tried pytest, it worked.", "ＦＵＬＬ width Peanut butter"]),
        (
            {"last_days": 4},
            ["The deploy day is Monday.", "Tried pytest, it worked.", "ＦＵＬＬ width Peanut butter", PEANUTS],
        ),
        ({"date": date(2026, 3, 1)}, ["The deploy day is Monday.", PEANUTS]),
        ({"until": datetime(2026, 3, 2, tzinfo=UTC)}, ["The deploy day is Monday.", PEANUTS]),
        ({"ids": ["0" * 26]}, []),
    ],
    ids=str,
)
def test_a_selection_means_what_all_its_parts_mean(wish: dict[str, Any], expected: list[str]) -> None:
    world = varied()
    assert would_go(world, **wish) == sorted(expected)
    everything = world.texts()
    task_id = forget(world, **wish)
    forgotten(world)
    assert world.texts() == sorted(set(everything) - set(expected))
    scenes = {"scenes": 1} if "project" in wish and len(wish) == 1 else {}
    assert status(world, task_id) == (TaskStatus.DONE, scenes | {"forgotten": len(expected)} if expected else {})


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({}, "body"),
        ({"all": True, "project": "atlas"}, "all"),
        ({"date": date(2026, 3, 1), "last_days": 2}, "last_days"),
        ({"date": date(2026, 3, 1), "since": datetime(2026, 3, 1, tzinfo=UTC)}, "date"),
        ({"query": "   "}, "query"),
    ],
    ids=str,
)
def test_a_request_that_means_nothing_or_two_things_is_refused(wish: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        selected(varied(), **wish)
    assert isinstance(refused.value.details, list)
    assert refused.value.details[0]["field"] == field


def test_days_are_the_owners_own_and_have_the_hours_they_have() -> None:
    assert day_bounds(date(2026, 3, 29), "Europe/Berlin")[1] - day_bounds(date(2026, 3, 29), "Europe/Berlin")[
        0
    ] == timedelta(hours=23)
    world = World()
    world.clock.advance(8 * 3600)
    world.add("Written late in the evening, UTC.")
    world.choose(time_zone="Asia/Shanghai")
    assert would_go(world, date=date(2026, 3, 1)) == []
    assert would_go(world, date=date(2026, 3, 2)) == ["Written late in the evening, UTC."]


@pytest.mark.parametrize("time_zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles"])
@pytest.mark.parametrize("day", [date.min, date.max], ids=str)
def test_the_first_and_the_last_day_of_the_calendar_are_days_too(day: date, time_zone: str) -> None:
    begins, ends = day_bounds(day, time_zone)
    assert begins < ends
    world = World()
    world.add(OTHER)
    world.choose(time_zone=time_zone)
    assert would_go(world, date=day) == []
    task_id = forget(world, date=day)
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {})
    assert ByDay(world.now.searcher).days(world.owner, date.min, date.max, None).days == [(date(2026, 3, 1), 1)]
    assert ByDay(world.now.searcher).days(world.owner, day, day, None).days == []


def test_without_confirmation_nothing_happens() -> None:
    world = varied()
    with pytest.raises(ConfirmationNeeded):
        world.now.forgetting.ask(world.owner, selected(world, all=True), confirm=False)
    world.tidy()
    assert len(world.texts()) == 4


def told_of_everywhere() -> World:
    """Return a world in which a fact stands in every kind of place: versions, folded journal, index, scene, tasks, a conversation."""
    world = World(extractor=Summing())
    memory = world.add("花生 was the first word.")
    world.edit(memory.id, content=PEANUTS)
    world.say("Remember: I prefer 花生 butter on bread.", project="atlas")
    world.work_off()
    world.add(OTHER)
    world.tidy(hours=2)
    world.edit(memory.id, importance=9)
    world.build()
    world.say("Please remember that 花生 is bad for me.")
    world.say("Please remember that I prefer tea.")
    return world


@pytest.mark.parametrize("wish", [{"query": "花生"}, {"all": True}], ids=str)
def test_nothing_of_it_is_left_anywhere_once_it_is_done(wish: dict[str, Any]) -> None:
    world = told_of_everywhere()
    assert "花生" in everything_said(world)
    gone = {memory.id for memory in world.memories() if "花生" in memory.content}
    assert gone <= indexed_ids(world)
    task_id = forget(world, **wish)
    forgotten(world)
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert "花生" not in everything_said(world)
    assert not indexed_ids(world) & gone
    world.work_off()
    assert world.texts() == ([OTHER, "I prefer tea."] if "query" in wish else [])
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert "花生" not in everything_said(world)


@pytest.mark.parametrize("minutes", [0, 20, 90])
def test_nothing_is_left_of_what_was_learned_a_moment_ago_in_a_project(minutes: int) -> None:
    world = World(extractor=Summing())
    world.say("Remember: I prefer 花生 butter on bread.", project="atlas")
    world.work_off()
    world.clock.advance(60 * minutes)
    task_id = forget(world, query="花生")
    forgotten(world)
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert "花生" not in everything_said(world)


def test_what_is_written_after_the_request_stays_the_same_text_too() -> None:
    world = varied()
    forget(world, query="花生")
    forgotten(world)
    world.add(PEANUTS)
    world.tidy(hours=3)
    assert PEANUTS in world.texts()
    forget(world, all=True)
    world.clock.advance(1)
    world.add("Written before it is done.")
    world.tidy()
    assert world.texts() == ["Written before it is done."]


def test_the_same_request_twice_is_one_task() -> None:
    world = varied()
    first, again = _asked_with_key(world), _asked_with_key(world)
    world.tidy()
    world.tidy()
    late = _asked_with_key(world)
    assert first == again == late
    assert [one.replayed for one in (first, again, late)] == [False, True, True]
    assert [one.status for one in (first, again, late)] == [TaskStatus.QUEUED, TaskStatus.QUEUED, TaskStatus.DONE]
    world.table.write(world.owner, [Delete(names.TASK + first.task_id)])
    with pytest.raises(IdempotencyKeySpent):
        _asked_with_key(world)


def _asked_with_key(world: World) -> Asked:
    once = mark("POST /v1/forget", "key", {"query": "花生"}, world.clock())
    return world.now.forgetting.ask(world.owner, selected(world, query="花生"), confirm=True, once=once)


def test_dismissed_and_archived_memories_go_as_well() -> None:
    world = varied()
    world.dismiss(next(memory.id for memory in world.memories() if memory.content == PEANUTS))
    forget(world, query="花生")
    world.tidy()
    assert world.memories(status=Status.DISMISSED) == []


@pytest.mark.case(57)
def test_a_visit_without_time_forgets_a_part_and_the_next_one_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    for number in range(60):
        world.add(f"Fact number {number} to forget.")
    task_id = forget(world, query="forget")
    slow = world.clock
    original = world.now.commits.commit_together

    def slower(*arguments: Any, **named: Any) -> Any:
        slow.advance(400)
        return original(*arguments, **named)

    monkeypatch.setattr(type(world.now.commits), "commit_together", lambda _self, *a, **n: slower(*a, **n))
    first = world.tidy()
    assert first is not None
    assert first["unfinished"] == 1
    state, progress = status(world, task_id)
    assert state is TaskStatus.PROCESSING
    assert 0 < progress["forgotten"] < 60
    for _ in range(5):
        world.tidy(hours=LEASE_AND_MORE)
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 60})
    assert world.texts() == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_it_is_done_later_and_counted_once(when: str) -> None:
    world = told_of_everywhere()
    forget(world, query="花生")
    steps = world.restart()
    world.tidy()
    for at in range(1, steps.count + 1, 3):
        world = told_of_everywhere()
        task_id = forget(world, query="花生")
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.tidy()
        world.restart()
        for _ in range(3):
            world.tidy(hours=LEASE_AND_MORE)
        assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 2, "conversations": 1, "texts": 1})
        assert "花生" not in everything_said(world)
