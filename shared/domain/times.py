"""Times are UTC, to the millisecond, written as RFC 3339 with `Z`: text of fixed length that sorts as it passes."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MILLISECOND = timedelta(milliseconds=1)


def rfc3339(moment: datetime) -> str:
    """Write a moment, e.g. `2026-11-30T16:05:00.123Z`. Raises ValueError for one without a zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    """Read what `rfc3339` wrote; any other RFC 3339 time with a zone is read too. Raises ValueError."""
    read = datetime.fromisoformat(text)
    if read.tzinfo is None:
        raise ValueError("a time needs a zone, such as Z")
    return read.astimezone(UTC)


def epoch_seconds(value: datetime) -> int:
    """Whole seconds since 1970, as the table's TTL wants them."""
    return int(value.timestamp())


def zone(name: str) -> tzinfo:
    """Return the zone of that name; UTC for one that the data base of this machine does not know."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def days_bounds(day: date | None, last_days: int | None, time_zone: str, now: datetime) -> tuple[datetime, datetime]:
    """Return when a day begins and ends in a zone (None: today there); with `last_days` the days before it count too, so many in all."""
    last = day or now.astimezone(ZoneInfo(time_zone)).date()
    first = last - timedelta(days=(last_days or 1) - 1)
    return day_bounds(first, time_zone)[0], day_bounds(last, time_zone)[1]


def day_bounds(day: date, time_zone: str) -> tuple[datetime, datetime]:
    """Return when a day begins and ends (the next one's beginning), in UTC. A day may have 23 or 25 hours."""
    there = ZoneInfo(time_zone)
    try:
        return _begin(day, there), _begin(day + timedelta(days=1), there)
    except OverflowError:  # the last day of the calendar
        return _begin(day, there), datetime.max.replace(tzinfo=UTC)


def _begin(day: date, there: tzinfo) -> datetime:
    try:
        return datetime.combine(day, time(), there).astimezone(UTC)
    except OverflowError:  # east or west of where the calendar begins or ends
        return datetime.min.replace(tzinfo=UTC) if day.year == 1 else datetime.max.replace(tzinfo=UTC)
