"""A date that a question names is a day of the owner's time zone: so is the day that a memory was made on."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from shared.recall.search import Question
from tests.builders import World

ZONES = ("Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati", "UTC")
FIRST, TODAY = 8, 16
"""Days of March 2026, one memory each."""


def at(world: World, zone: str, day: int, hour: int, month: int = 3) -> None:
    """Let it be that hour of that day there."""
    world.clock.now = datetime(2026, month, day, hour, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def lived(zone: str, hour: int) -> World:
    """Somebody in that zone who wrote one memory at that hour of each day."""
    world = World()
    world.choose(time_zone=zone)
    for day in range(FIRST, TODAY):
        at(world, zone, day, hour)
        world.add(f"Ran the weekly job number {day}")
    return world


@pytest.mark.parametrize("built", [True, False], ids=["indexed", "changed"])
@pytest.mark.parametrize("hour", [1, 7, 12, 23])
@pytest.mark.parametrize("zone", ZONES)
def test_yesterday_is_the_owners_whatever_the_hour(zone: str, hour: int, built: bool) -> None:
    world = lived(zone, hour)
    if built:
        world.build()
    for asked_at in (1, 7, 12, 23):
        at(world, zone, TODAY, asked_at)
        for question, day in (
            ("weekly job yesterday", 15),
            ("昨天 weekly job", 15),
            ("weekly job three days ago", 13),
            ("3月12号 weekly job", 12),
        ):
            assert world.found(question)[0] == f"Ran the weekly job number {day}", question


def test_yesterday_stays_yesterday_on_the_days_when_clocks_change() -> None:
    zone = "Europe/Berlin"
    for month, day in ((3, 29), (10, 25)):
        for hour in (0, 1, 23):
            world = World()
            world.choose(time_zone=zone)
            for one in range(day - 3, day + 1):
                at(world, zone, one, hour, month)
                world.add(f"Ran the weekly job number {one}")
            world.build()
            for asked_at in (0, 3, 23):
                at(world, zone, day + 1, asked_at, month)
                assert world.found("weekly job yesterday")[0] == f"Ran the weekly job number {day}"


def test_the_table_itself_is_searched_by_the_owners_days_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    world = lived("Asia/Shanghai", 1)
    world.build()
    world.objects.erase(next(key for key in world.objects.keys() if "/index/" in key))  # noqa: SIM118 - no mapping
    world.restart()
    at(world, "Asia/Shanghai", TODAY, 7)
    assert world.found("weekly job yesterday")[0] == "Ran the weekly job number 15"


def test_a_find_by_its_day_is_explained_by_the_words_that_it_holds() -> None:
    world = World()
    world.choose(time_zone="Asia/Shanghai")
    at(world, "Asia/Shanghai", 1, 1)
    world.add("Ran the weekly job")
    at(world, "Asia/Shanghai", 2, 7)
    (hit,) = world.now.searcher.search(world.owner, Question("job yesterday", explain=True)).hits
    assert hit.why is not None
    assert hit.why.matched == ("job",)
