"""Times are UTC, to the millisecond, written as RFC 3339 with `Z`: text of fixed length that sorts as it passes."""

from datetime import UTC, datetime, timedelta

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
