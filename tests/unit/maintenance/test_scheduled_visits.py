"""The next moment of a schedule, in the owner's time zone, and the visit that keeps it."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from shared.domain.asking import ModelThrottled
from shared.domain.memory import Category
from shared.domain.settings import Preferences
from shared.keeping.maintenance.schedule_steps import NEXT, Scheduled, ScheduleKept
from shared.keeping.maintenance.schedules import checked, next_run
from shared.keeping.maintenance.visits import Visit, begun
from shared.text.schedules import FORMS
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.persona.portraying import says, with_model
from tests.unit.storage.soundness import LEASE_AND_MORE


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
        ("every day at 2:30", "Europe/Berlin", at(2026, 10, 25, 1, 1), at(2026, 10, 26, 1, 30)),
        ("every day at 1:30", "America/New_York", at(2027, 11, 7, 6, 1), at(2027, 11, 8, 6, 30)),
        ("hourly", "America/New_York", at(2027, 11, 7, 6, 1), at(2027, 11, 7, 7)),
        ("the last Friday of every month", "UTC", at(2026, 3, 1), at(2026, 3, 27, 3)),
    ],
)
def test_the_next_moment_is_of_the_owners_clock(words: str, zone: str, after: datetime, expected: datetime) -> None:
    assert next_run(words, zone, after) == expected


@pytest.mark.parametrize("words", ["sometimes", "*/30 * * * *", "0,30 3 * * *", "0 3 30 2 *", "61 * * * *"])
def test_a_schedule_that_means_nothing_or_too_much_is_refused_with_advice(words: str) -> None:
    with pytest.raises(ValueError, match=r"every Monday at 9.*last day of the month at noon.*每月最后一天中午"):
        checked(words)


@pytest.mark.parametrize("words", ["every 30 minutes", "every half hour", "every minute", "每半小时", "每隔20分钟"])
def test_what_is_too_often_in_words_is_told_so(words: str) -> None:
    with pytest.raises(ValueError, match=r"^Once an hour is the most; write a schedule such as"):
        checked(words)


@pytest.mark.parametrize("words", re.findall('"([^"]+)"', FORMS))
def test_every_form_of_the_advice_works(words: str) -> None:
    assert checked(words) == words


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
    for _ in range(2):  # whoever dies before the end of the visit leaves it to the next
        second = visit(world)
        assert Scheduled().run(second) == {"kept": 1}
        assert second.scheduled
        assert second.looks == [next_run("every day at 3am", "UTC", upcoming)]
    ScheduleKept().run(second)
    third = visit(world)
    assert Scheduled().run(third) == {"kept": 0}
    assert not third.scheduled


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_a_schedule_asked_for_is_done_wherever_the_visit_died(when: Literal["before", "after"]) -> None:
    def lived() -> World:
        world = World()
        world.choose(schedule="每天凌晨3点")
        world.add("I prefer Rust for tools.", category=Category.PREFERENCE)
        world.tidy()
        world.clock.advance(days=1)
        return world

    def languages(world: World) -> list[str]:
        shown = world.now.portrait.get(world.owner)[0]
        return [one.text for one in shown.statements if one.part == "languages"]

    world = lived()
    steps = world.restart()
    world.tidy()
    assert languages(world) == ["Rust"]
    for at in range(1, steps.count + 1, 2):
        world = lived()
        world.restart(Steps(at=at, when=when))
        with suppress(Crash):
            world.tidy()
        world.restart()
        world.tidy(hours=LEASE_AND_MORE)
        assert languages(world) == ["Rust"], at


def test_a_visit_in_which_something_failed_leaves_the_schedule_to_the_next() -> None:
    world = World()
    world.choose(schedule="every day at 3am")
    world.tidy()
    world.clock.advance(days=1)
    failed = visit(world)
    Scheduled().run(failed)
    failed.troubled = True
    ScheduleKept().run(failed)
    again = visit(world)
    Scheduled().run(again)
    assert again.scheduled


def test_a_model_that_cannot_be_reached_at_the_hour_is_asked_by_the_next_visit() -> None:
    world, model = with_model(
        ModelThrottled(), says(("traits", "The user prefers Rust.", ["I prefer Rust for tools."]))
    )
    world.choose(schedule="every day at 3am")
    world.add("I prefer Rust for tools.", category=Category.PREFERENCE)
    world.tidy()
    world.tidy(hours=24)
    assert len(model.asks) == 1
    for _ in range(2):
        world.tidy(hours=0.6)
    assert world.now.portrait.get(world.owner)[0].statements
    assert len(model.asks) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"schedule": "every day at 3am"}, {"schedule": None}),
        ({"schedule": "every day at 3am"}, {"schedule": "every Monday at 9"}),
        ({"schedule": "每天凌晨3点", "time_zone": "Asia/Shanghai"}, {"time_zone": "America/Los_Angeles"}),
    ],
)
def test_a_schedule_that_was_changed_counts_from_the_change_on(before: dict[str, Any], after: dict[str, Any]) -> None:
    world = World()
    world.choose(**before)
    world.tidy()
    world.choose(**after)
    world.tidy()
    found = visit(world)
    words, zone = found.preferences.schedule, found.preferences.time_zone
    upcoming = next_run(words, zone, world.clock()) if words else None
    assert found.moment(NEXT) == upcoming
    if upcoming is not None:
        world.clock.advance((upcoming - world.clock()).total_seconds() - 1)
        found = visit(world)
        Scheduled().run(found)
        assert not found.scheduled


def test_without_a_schedule_nothing_is_asked_for() -> None:
    world = World()
    world.add("Something to tidy.")
    found = visit(world)
    assert found.preferences == Preferences()
    assert Scheduled().run(found) == {}
    assert found.looks == []
