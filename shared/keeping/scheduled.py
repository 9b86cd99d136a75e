"""The step of maintenance that keeps an owner's schedule."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.keeping.schedules import next_run
from shared.keeping.visits import Visit

NEXT = "scheduled_at"
"""Where maintenance notes the moment that it waits for."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Tells the other steps whether this visit is one that the owner asked for, and asks for the next one."""

    name: str = "schedule"

    def run(self, visit: Visit) -> Mapping[str, int]:
        """Note the next moment; return whether one has come."""
        words = visit.preferences.schedule
        upcoming = next_run(words, visit.preferences.time_zone, visit.now) if words else None
        waited = visit.moment(NEXT)
        visit.scheduled = words is not None and waited is not None and waited <= visit.now
        visit.note(**{NEXT: upcoming})
        if upcoming is not None:
            visit.look_again(upcoming)
        return {"kept": int(visit.scheduled)} if words else {}
