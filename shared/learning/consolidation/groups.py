"""Groups of memories that may be merged with each other, and when one is due.

A group is what one person's memories, or one project's, have in common: nothing is merged across groups. Offered are active memories that
were learned or consolidated, without secret, end or metadata: what a person wrote, imported, dismissed or
brought back by an undo is never touched.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from shared.domain import limits
from shared.domain.errors import SealBroken
from shared.domain.memory import Category, Memory, Scope, Status
from shared.keeping.maintenance.visits import Visit
from shared.learning.comparison import AUTOMATIC
from shared.storage import items, names
from shared.storage.partition import each_item

LAST = "consolidated_"
"""With the tag of a group: when maintenance last consolidated it."""
OWNER_LAST = "consolidated_at"
"""When maintenance last consolidated groups of the owner, all that were due."""
_TARGETS = {Scope.USER: limits.USER_TARGET, Scope.PROJECT: limits.PROJECT_TARGET}


@dataclass(frozen=True, slots=True)
class Group:
    """What may be merged of one scope: `members`, the longest unchanged first. `active` counts all of its active memories."""

    tag: str
    scope: Scope
    project: str | None
    active: int
    members: tuple[Memory, ...]

    def due(self, owner_active: int, last: datetime | None, now: datetime) -> bool:
        """Tell whether it is time: too many memories, something new since the last time, and that was a day ago."""
        if len(self.members) < 2 or (owner_active <= limits.CONSOLIDATE_ACTIVE and self.active <= _TARGETS[self.scope]):
            return False
        if last is None:
            return True
        return now - last >= limits.CONSOLIDATE_AFTER and any(member.updated_at > last for member in self.members)


def due(visit: Visit) -> list[Group]:
    """Return the owner's groups that are due now, the largest first. Reads all memories where any group can be: not when there are few,
    not while memory is switched off, and not within a day after the last time; then another visit is asked for when that day is over. The
    last time is lost with a table: after a rebuild that is now."""
    if visit.rebuilt:
        visit.note(**{OWNER_LAST: visit.now})
    active, last = int(visit.opened.head["active"]), visit.moment(OWNER_LAST)
    if active <= min(_TARGETS.values()) or not visit.preferences.enabled:
        return []
    if last is not None and visit.now - last < limits.CONSOLIDATE_AFTER:
        visit.look_again(last + limits.CONSOLIDATE_AFTER)
        return []
    found = [group for group in _groups(visit) if group.due(active, visit.moment(LAST + group.tag), visit.now)]
    return sorted(found, key=lambda group: (-group.active, group.tag))


def mergeable(memory: Memory, now: datetime, retention_days: int) -> bool:
    """Tell whether a memory may be offered."""
    return (
        memory.status is Status.ACTIVE
        and memory.source in AUTOMATIC
        and memory.scope in _TARGETS
        and memory.category is not Category.CREDENTIAL
        and not memory.secrets
        and memory.metadata == "{}"
        and memory.expires_at is None
        and not memory.kept_apart
        and not memory.expired(now, retention_days)
    )


def _groups(visit: Visit) -> Iterator[Group]:
    active: Counter[str] = Counter()
    members: dict[str, list[Memory]] = {}
    for item in each_item(visit.vaults.table, visit.owner, names.MEMORY):
        if item.get("status") != Status.ACTIVE:
            continue
        active[str(item["scope"])] += 1
        if item["source"] in AUTOMATIC:
            with suppress(SealBroken):
                memory = items.from_item(visit.opened.keys, item).memory
                if mergeable(memory, visit.now, visit.preferences.retention_days):
                    members.setdefault(str(item["scope"]), []).append(memory)
    for tag, found in members.items():
        found.sort(key=lambda memory: (memory.updated_at, memory.id))
        first = found[0]
        yield Group(tag, first.scope, first.project, active[tag], tuple(found[-limits.GROUP_LINES :]))
