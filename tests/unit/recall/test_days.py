"""Days that have memories, counted in the owner's zone from the index and what it does not know."""

from datetime import date, timedelta

from shared.domain.memory import Scope
from shared.recall.days import ByDay, Days
from tests.builders import World


def days(world: World, since: date | None = None, until: date | None = None, project: str | None = None) -> Days:
    return ByDay(world.process().searcher).days(world.owner, since, until, project)


def lived() -> World:
    """Return a world of three days: 1 March two memories, 2 March one of a project, 4 March one; the last is not indexed."""
    world = World()
    world.add("One.")
    world.add("Two.")
    world.clock.advance(86_400)
    world.add("Three.", scope=Scope.PROJECT, project="atlas")
    world.tidy(hours=2)
    world.clock.advance(2 * 86_400)
    world.add("Four.")
    return world


def test_days_are_counted_latest_first() -> None:
    found = days(lived())
    assert found == Days([(date(2026, 3, 4), 1), (date(2026, 3, 2), 1), (date(2026, 3, 1), 2)], "UTC")


def test_they_can_be_bounded_and_be_one_projects() -> None:
    world = lived()
    assert days(world, since=date(2026, 3, 2)).days == [(date(2026, 3, 4), 1), (date(2026, 3, 2), 1)]
    assert days(world, until=date(2026, 3, 2)).days == [(date(2026, 3, 2), 1), (date(2026, 3, 1), 2)]
    assert days(world, project="atlas").days == [(date(2026, 3, 2), 1)]
    assert days(world, project="none").days == []


def test_a_day_is_one_of_the_owners_zone() -> None:
    world = World()
    world.clock.advance(8 * 3600)  # 18:00 in UTC
    world.add("Late in Shanghai.")
    assert days(world).days == [(date(2026, 3, 1), 1)]
    world.choose(time_zone="Asia/Shanghai")
    assert days(world) == Days([(date(2026, 3, 2), 1)], "Asia/Shanghai")
    world.build()
    assert days(world).days == [(date(2026, 3, 2), 1)]
    assert days(world, since=date(2026, 3, 2)).days == [(date(2026, 3, 2), 1)]
    assert days(world, until=date(2026, 3, 1)).days == []


def test_deleted_dismissed_and_ended_memories_do_not_count_indexed_or_not() -> None:
    world = lived()
    for memory in world.memories():
        if memory.content in {"One.", "Four."}:
            world.delete(memory.id)
        elif memory.content == "Two.":
            world.dismiss(memory.id)
    assert days(world).days == [(date(2026, 3, 2), 1)]
    ends = world.clock() + timedelta(hours=1)
    world.add("Five.", expires_at=ends)
    world.build()
    assert days(world).days == [(date(2026, 3, 4), 1), (date(2026, 3, 2), 1)]
    world.clock.advance(3_600)
    assert days(world).days == [(date(2026, 3, 2), 1)]
    world.choose(retention_days=1)
    assert days(world).days == []


def test_who_has_nothing_has_no_days() -> None:
    assert days(World()) == Days([], "UTC")
