"""Days that have memories, as they travel."""

from datetime import date as Date  # noqa: N812 - a field has that name
from typing import Literal, Self

from pydantic import Field

from shared.domain.errors import Invalid
from shared.models.forms import Day, Given, Name, Shown
from shared.recall.days import Days


class DaysQuery(Given):
    """Which days to list."""

    since: Day | None = Field(default=None, alias="from", description="from that day on, such as 2026-11-01")
    until: Day | None = Field(default=None, alias="to", description="to that day, included")
    project: Name | None = Field(default=None, description="only this project's memories; left out: all")

    def checked(self) -> Self:
        """Return the query. Raises Invalid for days that cannot be."""
        if self.since is not None and self.until is not None and self.since > self.until:
            raise Invalid.of("to", "It must not be before from.")
        return self


class DayOut(Shown):
    """One day."""

    date: Date = Field(description="in your time zone")
    count: int = Field(description="active and archived memories that were made on it")


class DaysOut(Shown):
    """Days that have memories, latest first."""

    days: list[DayOut]
    time_zone: str = Field(description="your setting time_zone")
    reason: Literal["only_newest"] | None = Field(
        description="only_newest: there is no index at the moment, older memories are not counted; else null"
    )

    @classmethod
    def of(cls, found: Days) -> Self:
        days = [DayOut(date=day, count=count) for day, count in found.days]
        return cls(days=days, time_zone=found.time_zone, reason=None if found.whole else "only_newest")
