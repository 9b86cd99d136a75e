"""The search terms of a day: what a memory made on it is indexed under. A marker begins with `@`, which no word of a text can."""

from datetime import date
from functools import lru_cache
from typing import Final

MARK: Final = "@"
"""What every marker begins with."""


def markers_of(at: date) -> tuple[str, str, str, str, str]:
    """The markers of one day: year, month, year and month, month and day, and the day of that year."""
    return markers(at.year, at.month, at.day)


@lru_cache(maxsize=4_000)
def markers(year: int, month: int, day: int) -> tuple[str, str, str, str, str]:
    """The same of a year, a month and a day."""
    month_of_year, day_of_month = f"@{year:04}-{month:02}", f"@d{month:02}-{day:02}"
    return (f"@y{year:04}", f"@m{month:02}", month_of_year, day_of_month, f"{month_of_year}-{day:02}")
