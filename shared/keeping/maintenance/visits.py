"""A visit: one run of an owner's maintenance, as its steps see it. Knows no step.

A step can be killed anywhere and run again, and where nothing is left to do it changes nothing. What it raises is counted and told of by
its class only, and the owner is visited again; later steps run all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from shared.domain import limits
from shared.domain.errors import Refused, Unavailable
from shared.domain.settings import Preferences
from shared.domain.times import moment, rfc3339
from shared.ports import Check, Condition, Item, Update, Value
from shared.storage import names
from shared.storage.journal import Journal
from shared.storage.preferences import preferences_or_default
from shared.storage.survey import Survey
from shared.storage.vaults import Opened, Vaults

TROUBLES = "troubled_visits"
"""Of maintenance's own memory: visits in a row, the last one among them, in which a step failed or was not finished."""


class OutOfTime(Exception):
    """The visit's time is over: the step goes on in the next visit, which follows at once. `counts` tells what it did so far."""

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        super().__init__("the time of this visit is over")
        self.counts = counts or {}


@dataclass(slots=True)
class Visit:
    """One owner's run.

    `opened` has the head, the settings and the change rows as they were when the visit began, or was refreshed last. `survey` is what
    repair found (empty where repair failed). `state` is maintenance's own memory of the owner: times and counts, nothing sealed; it may be
    lost with the table without harm. `now` is the beginning of the visit.
    """

    vaults: Vaults
    opened: Opened
    now: datetime
    preferences: Preferences = field(default_factory=Preferences)
    survey: Survey = field(default_factory=Survey)
    state: Item = field(default_factory=dict)
    looks: list[datetime] = field(default_factory=list)
    troubled: bool = False
    """Whether a step of this visit failed or did not come to its end."""
    compare: bool = False
    """Whether a comparison of the table with the whole journal was asked for."""
    noticed: bool = False
    """Whether somebody met something of the owner's that does not open, or is gone."""
    rebuilt: bool = False
    """Whether the table was lost and this visit made it anew: then what stands is to be what stood before, and nothing else."""
    forgot: bool = False
    """Whether memories were forgotten in this visit: what was said of them may stand in lines that repair read before it was cleared."""
    unsaid: frozenset[str] = frozenset()
    """Memories of which earlier versions are being forgotten: what rests on them is to be cleared."""
    scheduled: bool = False
    """Whether the owner's schedule asked for this visit: what else waits for a rule of its own is done now, if anything is new."""
    owing: bool = False
    """Whether something could not be done now that the schedule asked for: then the next visit is a scheduled one too."""

    @property
    def owner(self) -> str:
        return self.opened.keys.owner

    @property
    def journal(self) -> Journal:
        return Journal(self.vaults.objects, self.opened.keys, self.vaults.random)

    @property
    def resumed(self) -> bool:
        """Whether the visit before was not whole: a step may have missed what changed then."""
        return TROUBLES in self.state

    def time_left(self) -> float:
        """Return how many seconds are left for the steps; 0.0 when the time is over."""
        return max(0.0, (self.now + limits.VISIT - self.vaults.clock()).total_seconds())

    def check_time(self, counts: Mapping[str, int] | None = None) -> None:
        """Raise OutOfTime, with what was done so far, when the time is over."""
        if not self.time_left():
            raise OutOfTime(counts)

    def look_again(self, at: datetime) -> None:
        """Ask for another visit at that moment, if none comes earlier. To be asked for anew in every visit."""
        self.looks.append(at)

    def moment(self, name: str) -> datetime | None:
        """Return a moment of the state; None when it was never noted."""
        noted = self.state.get(name)
        return moment(noted) if isinstance(noted, str) else None

    def note(self, **values: Value | datetime | None) -> None:
        """Keep times and counts for later visits (None: no more); what is noted already is not written again.

        Raises Unavailable when the life ended.
        """
        told = {name: rfc3339(value) if isinstance(value, datetime) else value for name, value in values.items()}
        news = {name: value for name, value in told.items() if value is not None and self.state.get(name) != value}
        gone = [name for name, value in told.items() if value is None and name in self.state]
        if not news and not gone:
            return
        keys = self.opened.keys
        same_life = Condition(equals={"epoch": keys.epoch, "gen": keys.generation})
        noted = Update(names.UPKEEP, set=news, remove=gone)
        try:
            self.vaults.table.write(self.owner, [noted, Check(names.HEAD, same_life)])
        except Refused:
            raise Unavailable from None
        self.state = {name: value for name, value in (self.state | news).items() if name not in gone}

    def refresh(self) -> None:
        """Read head, settings, change rows and state again. Raises Unavailable when the life ended."""
        opened = self.vaults.open(self.owner, [names.SETTINGS, names.UPKEEP], changes=True)
        if opened is None or opened.keys.epoch != self.opened.keys.epoch:
            raise Unavailable
        self.opened, self.preferences = opened, preferences_or_default(opened)
        self.state = dict(opened.items.get(names.UPKEEP, {}))


class Step(Protocol):
    """One part of maintenance."""

    @property
    def name(self) -> str:
        """What log lines and metrics call it."""
        ...

    def run(self, visit: Visit) -> Mapping[str, int]:
        """Do what is to be done now and return counts, each of which is logged as `<name>_<count>`. Raises OutOfTime."""
        ...


def begun(vaults: Vaults, owner: str, now: datetime) -> Visit | None:
    """Open an owner for a visit; None when there is none. Raises TableLost, SealBroken."""
    opened = vaults.open(owner, [names.SETTINGS, names.UPKEEP], changes=True)
    if opened is None:
        return None
    return Visit(vaults, opened, now, preferences_or_default(opened), state=dict(opened.items.get(names.UPKEEP, {})))
