"""When an owner wants to be tidied: words, checked and read as the next moment in the owner's time zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

from shared.text.schedules import FORMS, NotUnderstood, cron_of

SHORTEST = timedelta(hours=1)
_LOOKED_AT = 60
_FROM = datetime(2026, 1, 1, tzinfo=UTC)


def checked(words: str) -> str:
    """Return the words. Raises ValueError, for their owner to read, when they name no schedule, or one of more than once an hour."""
    try:
        runs = list(islice(_runs(cron_of(words), "UTC", _FROM), _LOOKED_AT))
    except NotUnderstood:
        raise ValueError(f"This schedule is not understood; write one {FORMS}.") from None
    if not runs:
        raise ValueError(f"This schedule names a day that never comes; write one {FORMS}.")
    if any(later - earlier < SHORTEST for earlier, later in pairwise(runs)):
        raise ValueError(f"Once an hour is the most; write a schedule {FORMS}.")
    return words


def next_run(words: str, time_zone: str, after: datetime) -> datetime | None:
    """Return the next moment (UTC) of a schedule after that one; None for words of before that name none any more.

    An hour that the clocks skip is made up for at the next one there is; one that comes twice counts once.
    """
    try:
        runs = _runs(cron_of(words), time_zone, after)
        return next((moment for moment in runs if moment > after), None)  # cronsim knows no second time of an hour
    except NotUnderstood:
        return None


def _runs(cron: str, time_zone: str, after: datetime) -> Iterator[datetime]:
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - most owners have no schedule: no cold start pays for it

    try:
        for moment in CronSim(cron, after.astimezone(ZoneInfo(time_zone))):
            yield moment.astimezone(UTC)
    except CronSimError:
        raise NotUnderstood from None
