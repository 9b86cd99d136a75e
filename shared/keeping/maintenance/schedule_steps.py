"""The steps of maintenance that keep an owner's schedule: one at the beginning of a visit, one at its end."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.keeping.maintenance.schedules import next_run
from shared.keeping.maintenance.visits import Visit

NEXT = "scheduled_at"
"""Where maintenance notes the moment that it waits for."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Tells the other steps whether this visit is one that the owner asked for, and asks for the next one."""

    name: str = "schedule"

    def run(self, visit: Visit) -> Mapping[str, int]:
        """Note the next moment, unless one has come: that is noted at the end of the visit. Return whether one has come."""
        upcoming, waited = _upcoming(visit), visit.moment(NEXT)
        visit.scheduled = upcoming is not None and waited is not None and waited <= visit.now
        if upcoming is not None:
            visit.look_again(upcoming)
        if not visit.scheduled:
            visit.note(**{NEXT: upcoming})
        return {"kept": int(visit.scheduled)} if upcoming is not None else {}


@dataclass(frozen=True, slots=True)
class ScheduleKept:
    """Notes that what the schedule asked for was done.

    A visit that dies, ends early, has a step that failed or a model that could not be reached leaves it to the next.
    """

    name: str = "schedule"

    def run(self, visit: Visit) -> Mapping[str, int]:
        if visit.scheduled and not (visit.troubled or visit.owing):
            visit.note(**{NEXT: _upcoming(visit)})
        return {}


def _upcoming(visit: Visit) -> datetime | None:
    words = visit.preferences.schedule
    return next_run(words, visit.preferences.time_zone, visit.now) if words else None
