"""What was true at a moment: every memory as it stood then."""

from datetime import datetime, timedelta

import pytest

from shared.domain.errors import Invalid, InvalidCursor
from shared.domain.memory import Status
from shared.keeping.cursors import Cursors
from shared.keeping.memories.as_of import AsOf
from shared.keeping.memories.filters import Filters
from tests.builders import World

FIRST, SECOND, THIRD = "The deploy day is Monday.", "The deploy day is Tuesday.", "部署日是星期三"


def then(world: World, at: datetime, **filters: object) -> list[str]:
    """Return the texts that stood at that moment, over pages of two."""
    found: list[str] = []
    cursor = None
    asked = Filters(**{"status": None, **filters})  # type: ignore[arg-type]
    while True:
        page = AsOf(world.now.vaults, Cursors(world.random)).page(world.owner, asked, at, 2, cursor)
        found += [memory.content for memory in page.memories]
        cursor = page.next_cursor
        if cursor is None:
            return sorted(found)


def moments(world: World) -> datetime:
    world.clock.advance(10)
    return world.clock()


def test_each_memory_is_shown_as_it_stood_then() -> None:
    world = World()
    before = moments(world)
    memory = world.add(FIRST)
    other = world.add("I drink tea.")
    first = moments(world)
    world.edit(memory.id, content=SECOND)
    second = moments(world)
    world.tidy(hours=2)
    world.edit(memory.id, content=THIRD)
    world.dismiss(other.id)
    third = moments(world)
    assert then(world, before) == []
    assert then(world, first) == sorted([FIRST, "I drink tea."])
    assert then(world, second) == sorted([SECOND, "I drink tea."])
    assert then(world, third) == sorted([THIRD, "I drink tea."])
    assert then(world, third, status=Status.ACTIVE) == [THIRD]
    assert then(world, second, status=Status.ACTIVE) == sorted([SECOND, "I drink tea."])


def test_what_made_room_since_was_active_then() -> None:
    world = World(active=1)
    world.say("Remember this: I prefer tea over coffee.")
    world.work_off()
    at = moments(world)
    world.say("Remember this: I prefer trains over planes.")
    world.work_off()
    assert then(world, at, status=Status.ACTIVE) == then(world, at)
    assert len(then(world, at)) == 1
    assert len(then(world, moments(world), status=Status.ARCHIVED)) == 1


def test_what_is_deleted_is_gone_and_what_had_ended_then_is_not_shown() -> None:
    world = World()
    gone = world.add(FIRST)
    world.add(SECOND, expires_at=world.clock() + timedelta(seconds=30))
    at = moments(world)
    assert then(world, at) == sorted([FIRST, SECOND])
    world.delete(gone.id)
    assert then(world, at) == [SECOND]
    world.clock.advance(60)
    assert then(world, at) == [], "what is over is shown by no read, also before it is deleted"
    assert then(world, world.clock()) == []


def test_a_version_that_is_not_kept_any_more_is_left_out_and_not_replaced_by_another() -> None:
    world = World()
    memory = world.add("Version 0.")
    at = moments(world)
    for number in range(1, 24):
        world.edit(memory.id, content=f"Version {number}.")
    late = moments(world)
    assert then(world, at) == []
    assert then(world, late) == ["Version 23."]


def test_a_moment_to_come_and_a_cursor_of_another_moment_are_refused() -> None:
    world = World()
    for number in range(4):
        world.add(f"Fact number {number}.")
    at = moments(world)
    with pytest.raises(Invalid):
        then(world, at + timedelta(seconds=1))
    pages = AsOf(world.now.vaults, Cursors(world.random))
    cursor = pages.page(world.owner, Filters(status=None), at, 2, None).next_cursor
    assert cursor is not None
    with pytest.raises(InvalidCursor):
        pages.page(world.owner, Filters(status=None), at - timedelta(seconds=1), 2, cursor)


def test_who_never_stored_anything_had_nothing() -> None:
    world = World()
    assert then(world, world.clock()) == []
