"""Zones and days: an unknown zone is UTC, a day has the hours it has, and the calendar has two ends."""

from datetime import UTC, date, datetime, timedelta

import pytest

from shared.domain.times import day_bounds, days_bounds, moment, rfc3339, zone

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "hours"), [("Asia/Shanghai", 8), ("UTC", 0), ("Nowhere/Atlantis", 0), ("../etc", 0), ("", 0)]
)
def test_a_zone_that_nobody_knows_is_utc(name: str, hours: int) -> None:
    assert NOW.astimezone(zone(name)).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 1, 1), 24)])
def test_a_day_has_the_hours_it_has(day: date, hours: int) -> None:
    begins, ends = day_bounds(day, "Europe/Berlin")
    assert ends - begins == timedelta(hours=hours)


def test_the_last_days_end_with_the_owners_today() -> None:
    assert days_bounds(None, 2, "Asia/Shanghai", NOW) == (
        datetime(2026, 11, 29, 16, tzinfo=UTC),
        datetime(2026, 12, 1, 16, tzinfo=UTC),
    )
    assert days_bounds(date(2026, 11, 30), None, "UTC", NOW)[0] == datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize("name", ["Asia/Shanghai", "Pacific/Kiritimati", "America/Los_Angeles"])
@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_first_and_the_last_day_of_the_calendar_are_days(day: date, name: str) -> None:
    begins, ends = day_bounds(day, name)
    assert begins < ends


def test_a_moment_has_a_zone() -> None:
    with pytest.raises(ValueError, match="needs a time zone"):
        rfc3339(datetime(2026, 11, 30))  # noqa: DTZ001 - that is what is refused
    with pytest.raises(ValueError, match="needs a zone"):
        moment("2026-11-30T20:00:00")
    assert moment(rfc3339(NOW)) == NOW
