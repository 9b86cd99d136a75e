"""Times in the forms that other tools and people write. One without a zone was written in the zone that is handed in. Pure.

Of an hour that a clock had twice the first is meant; an hour that it left out is read with the offset from before.
"""

import re
from datetime import UTC, datetime, tzinfo
from typing import Final

from shared.text.pattern import Pattern

_SECONDS: Final = 253_402_300_800
"""From 1970 to the end of the year 9999."""
_MILLISECONDS_FROM: Final = 100_000_000_000
"""A number from here on counts milliseconds: as seconds it would lie beyond the year 5138."""
_STAMP: Final = Pattern(r"\d{9,16}", re.ASCII)
_CLOCK: Final = r"(?:[ T]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?)?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_NAME: Final = r"(?P<name>[A-Za-z]{3,9})\.?"
_YEAR: Final = r"(?P<year>\d{4})"
_FORMS: Final = (
    Pattern(rf"{_YEAR}(?P<by>[-/.])(?P<month>\d{{1,2}})(?:(?P=by)(?P<day>\d{{1,2}}))?{_CLOCK}", re.ASCII),
    Pattern(rf"{_YEAR}\s?年\s?(?P<month>\d{{1,2}})\s?月(?:\s?(?P<day>\d{{1,2}})\s?[日号])?{_CLOCK}", re.ASCII),
    Pattern(rf"{_NAME} {{1,2}}(?:{_DAY},? {{1,2}})?{_YEAR}{_CLOCK}", re.ASCII),
    Pattern(rf"{_DAY} {{1,2}}(?:of )?{_NAME},? {{1,2}}{_YEAR}{_CLOCK}", re.ASCII),
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONGEST: Final = 64
_NONE: Final = "no time in a form that is known"


def when(said: object, zone: tzinfo) -> datetime | None:
    """Return a moment in UTC: of ISO 8601, of a day in words, or of a count of seconds or milliseconds since 1970; None for None and "".

    Raises ValueError for anything else.
    """
    if said is None or said == "":
        return None
    try:
        if isinstance(said, str) and len(said) <= _LONGEST:
            text = said.strip()
            return _counted(int(text)) if _STAMP.fullmatch(text) else _written(text, zone)
        if isinstance(said, int | float) and not isinstance(said, bool):
            return _counted(said)
    except (ValueError, OverflowError):
        raise ValueError(_NONE) from None
    raise ValueError(_NONE)


def _counted(count: float) -> datetime:
    seconds = count / 1000 if count >= _MILLISECONDS_FROM else count
    if not 0 <= seconds < _SECONDS:
        raise ValueError(_NONE)
    return datetime.fromtimestamp(seconds, UTC)


def _written(text: str, zone: tzinfo) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        read = _in_words(text)
    return (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)


def _in_words(text: str) -> datetime:
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            part = found.groupdict()
            month = _month(part["name"]) if "name" in part else int(part["month"])
            day, hour, minute, second = (
                int(part[name] or least) for name, least in (("day", 1), ("hour", 0), ("minute", 0), ("second", 0))
            )
            return datetime(int(part["year"]), month, day, hour, minute, second)  # noqa: DTZ001 - the caller gives the zone
    raise ValueError(_NONE)


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1
