"""The next moment of a schedule, in the owner's time zone, and the visit that keeps it."""

from datetime import UTC, datetime

import pytest

from shared.domain.settings import Preferences
from shared.keeping.scheduled import Scheduled
from shared.keeping.schedules import checked, next_run
from shared.keeping.visits import Visit, begun
from tests.builders import World


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("words", "zone", "after", "expected"),
    [
        ("每天凌晨3点", "Asia/Shanghai", at(2026, 3, 1, 10), at(2026, 3, 1, 19)),
        ("every Monday at 9", "America/New_York", at(2026, 3, 2, 14, 0), at(2026, 3, 9, 13)),
        ("每月最后一天", "UTC", at(2026, 2, 1), at(2026, 2, 28, 3)),
        ("every 6 hours", "UTC", at(2026, 2, 1, 6), at(2026, 2, 1, 12)),
        # Berlin skips 2:00 to 3:00 on 29 March 2026 and has it twice on 25 October.
        ("every day at 2:30", "Europe/Berlin", at(2026, 3, 28, 12), at(2026, 3, 29, 1)),
        ("every day at 2:30", "Europe/Berlin", at(2026, 10, 25, 0, 30), at(2026, 10, 26, 1, 30)),
        ("every day at 2:30", "Europe/Berlin", at(2026, 10, 24, 12), at(2026, 10, 25, 0, 30)),
    ],
)
def test_the_next_moment_is_of_the_owners_clock(words: str, zone: str, after: datetime, expected: datetime) -> None:
    assert next_run(words, zone, after) == expected


@pytest.mark.parametrize("words", ["sometimes", "*/30 * * * *", "0,30 3 * * *", "0 3 30 2 *", "61 * * * *"])
def test_a_schedule_that_means_nothing_or_too_much_is_refused_with_advice(words: str) -> None:
    with pytest.raises(ValueError, match=r"every Monday at 9|never comes|Once an hour"):
        checked(words)


@pytest.mark.parametrize("words", ["hourly", "每天", "0 3 29 2 *"])
def test_others_are_taken_as_they_are(words: str) -> None:
    assert checked(words) == words


def test_words_that_are_not_understood_any_more_name_no_moment() -> None:
    assert next_run("once upon a time", "UTC", at(2026, 1, 1)) is None


def visit(world: World) -> Visit:
    found = begun(world.now.vaults, world.owner, world.clock())
    assert found is not None
    return found


def test_a_visit_asks_for_the_next_one_and_tells_when_one_was_asked_for() -> None:
    world = World()
    world.choose(schedule="every day at 3am", time_zone="UTC")
    first = visit(world)
    assert Scheduled().run(first) == {"kept": 0}
    (upcoming,) = first.looks
    assert (upcoming.hour, first.scheduled) == (3, False)
    world.clock.advance((upcoming - world.clock()).total_seconds())
    second = visit(world)
    assert Scheduled().run(second) == {"kept": 1}
    assert second.scheduled
    assert second.looks == [next_run("every day at 3am", "UTC", upcoming)]
    third = visit(world)
    assert Scheduled().run(third) == {"kept": 0}
    assert not third.scheduled


def test_without_a_schedule_nothing_is_asked_for() -> None:
    world = World()
    world.add("Something to tidy.")
    found = visit(world)
    assert found.preferences == Preferences()
    assert Scheduled().run(found) == {}
    assert found.looks == []
