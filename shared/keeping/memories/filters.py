"""What a list of memories is asked for. Pure."""

import json
import urllib.parse
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain import naming
from shared.domain.errors import Invalid
from shared.domain.memory import Category, Memory, Scope, Source, Status
from shared.domain.times import days_bounds, rfc3339
from shared.ports import Item
from shared.storage import items

UPDATED, CREATED = "updated", "created"
_BEFORE_ANYTHING = datetime.fromtimestamp(0, UTC)
"""No id holds an earlier moment."""
_ANY = "*"
_SCHEME = "agent://"


@dataclass(frozen=True, slots=True)
class Filters:
    """Every part that is not None must hold. `since` ≤ t < `until` bound the time the list is ordered by, or `day` or `last_days` do,
    in the owner's time zone (`dated`)."""

    scope: Scope | None = None
    project: str | None = None
    agent: str | None = None
    status: Status | None = Status.ACTIVE
    category: Category | None = None
    source: Source | None = None
    since: datetime | None = None
    until: datetime | None = None
    order: str = UPDATED
    day: date | None = None
    last_days: int | None = None

    def __post_init__(self) -> None:
        """Raise Invalid for filters that no memory can pass together."""
        if self.project is not None and self.agent is not None:
            raise Invalid.of("agent", "A memory belongs to a project or to an agent; filter by one of them.")
        if self.project is not None and self.scope not in (None, Scope.PROJECT):
            raise Invalid.of("project", "Only memories of scope project have a project.")
        if self.agent is not None and self.scope not in (None, Scope.AGENT):
            raise Invalid.of("agent", "Only memories of scope agent have an agent.")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise Invalid.of("to", "It must be later than from.")
        given = [self.day is not None, self.last_days is not None, (self.since or self.until) is not None]
        if sum(given) > 1:
            raise Invalid.of("date", "Send one of date, last_days, and from with to.")

    @property
    def statuses(self) -> list[Status]:
        """The statuses that are looked through."""
        return [status for status in Status if status is not Status.RETIRED] if self.status is None else [self.status]

    def purpose(self) -> str:
        """Return what binds a cursor to this list."""
        parts = [self.scope, self.project, self.agent, self.status, self.category, self.source]
        times = [rfc3339(time) if time else None for time in (self.since, self.until)]
        days = [self.day.isoformat() if self.day else None, self.last_days]
        return json.dumps(["memories", *parts, *times, self.order, *days])

    @property
    def of_days(self) -> bool:
        """Whether days bound it, so that the owner's time zone is needed."""
        return self.day is not None or self.last_days is not None

    def dated(self, time_zone: str, now: datetime) -> "Filters":
        """Return the filters with days turned into moments. A day that never was there, as where the date line moved, bounds nothing."""
        since, until = days_bounds(self.day, self.last_days, time_zone, now)
        if since >= until:
            return replace(self, until=_BEFORE_ANYTHING, day=None, last_days=None)
        return replace(self, since=since, until=until, day=None, last_days=None)

    def scope_tag(self, keys: OwnerKeys) -> str | None:
        """Return the tag that memories of this very scope carry; None when the filters name no single one."""
        if self.project is not None:
            return items.scope_tag(keys, Scope.PROJECT, self.project, None)
        if self.agent is not None:
            return items.scope_tag(keys, Scope.AGENT, None, self.agent)
        return items.scope_tag(keys, Scope.USER, None, None) if self.scope is Scope.USER else None

    def may_hold(self, item: Item, scope_tag: str | None) -> bool:
        """Tell from an item's columns, before it is opened, whether its memory can pass."""
        status = item.get("status")
        return (
            (status != Status.RETIRED if self.status is None else status == self.status)
            and (self.source is None or item.get("source") == self.source)
            and (scope_tag is None or item.get("scope") == scope_tag)
        )

    def want(self, memory: Memory) -> bool:
        """Tell whether an opened memory passes."""
        wanted = (self.scope, self.project, self.agent, self.status, self.category, self.source)
        given = (memory.scope, memory.project, memory.agent, memory.status, memory.category, memory.source)
        return memory.status in self.statuses and all(
            one is None or one == other for one, other in zip(wanted, given, strict=True)
        )


def with_uri(filters: Filters, uri: str) -> Filters:
    """Return the filters with what `agent://{agent}/{type}/{category}` says; `*` or a missing part says nothing.

    `type` is a scope, `agent` when it is left out. What every agent sees (`user`, `project`) is not narrowed by the agent's name.
    Raises Invalid when it is no such URI or says again what another filter says.
    """
    if (filters.scope, filters.project, filters.agent, filters.category) != (None, None, None, None):
        raise Invalid.of("uri", "Send either uri or scope, project, agent and category.")
    parts = uri.removeprefix(_SCHEME).split("/")
    if not uri.startswith(_SCHEME) or not 1 <= len(parts) <= 3 or not parts[0]:
        raise Invalid.of("uri", "Write agent://{agent}/{type}/{category}; * stands for any.")
    agent, kind, category = (*parts, _ANY, _ANY)[:3]
    try:
        scope = Scope.AGENT if kind in ("", _ANY) else Scope(kind)
        named = None if agent == _ANY or scope is not Scope.AGENT else naming.name(urllib.parse.unquote(agent))
        wanted = None if category in ("", _ANY) else Category(category)
    except ValueError:
        raise Invalid.of("uri", "Its agent, type or category is not one.") from None
    return replace(filters, scope=scope, agent=named, category=wanted)
