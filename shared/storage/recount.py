"""Counting an owner's rows anew: the head's counters and those of the projects become what is there."""

from collections.abc import Iterator
from itertools import islice

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import Refused
from shared.domain.ids import ulid_time
from shared.ports import Check, Condition, Item, Update, Value, Write
from shared.storage import names, rows
from shared.storage.journal import Journal
from shared.storage.rows import Rows
from shared.storage.transactions import project_update
from shared.storage.vaults import Vaults

TRIES = 3
WRITES = 50


def recount(vaults: Vaults, keys: OwnerKeys, journal: Journal, known: Rows | None = None) -> bool | None:
    """Set every counter to what is there; return whether one was wrong, None where somebody wrote meanwhile each time.

    `known` are rows that were read just now.
    """
    for _ in range(TRIES):
        found, known = known or rows.read(vaults.table, keys), None
        if found is None:
            return None
        wrong = dict(_wrong(found, journal))
        projects = list(_projects(vaults, keys, found))
        if found.quiet and not wrong and not projects:
            return False
        if found.quiet and _write(vaults, keys, found, wrong, projects):
            return True
    return None


def _wrong(found: Rows, journal: Journal) -> Iterator[tuple[str, Value]]:
    size = sum(listed.size for listed in journal.listing())
    for name, count in found.counters(size).items():
        if int(found.head.get(name, 0)) != count:
            yield name, count


def _projects(vaults: Vaults, keys: OwnerKeys, found: Rows) -> Iterator[Update]:
    """Yield what makes each project count its memories; its name is sealed where it has none."""
    counted = found.projects(keys)
    for tag, memories in counted.items():
        item = found.documents.get(names.PROJECT + tag, {})
        by = len(memories) - _counted(item)
        if by or "sealed" not in item:
            at = ulid_time(rows.newest(memories))
            yield project_update(keys, tag, str(memories[0].project), by, at, vaults.random)
    for sk, item in found.documents.items():
        tag = sk.removeprefix(names.PROJECT)
        if sk.startswith(names.PROJECT) and tag not in counted and _counted(item):
            yield Update(sk, add={"memories": -_counted(item)}, condition=Condition(exists=True))


def _counted(item: Item) -> int:
    return int(item.get("memories", 0))


def _write(vaults: Vaults, keys: OwnerKeys, found: Rows, wrong: dict[str, Value], projects: list[Update]) -> bool:
    """Write it as of those rows; False when somebody wrote since. Projects that are too many for one transaction go first."""
    head = found.head
    unmoved = Condition(equals={name: head.get(name) for name in ("epoch", "gen", "commits", "bytes")})
    pending = iter(projects)
    try:
        while len(batch := list(islice(pending, WRITES))) == WRITES:
            vaults.table.write(keys.owner, [Check(names.HEAD, unmoved), *batch])
        last: Write = Update(names.HEAD, set=wrong, condition=unmoved) if wrong else Check(names.HEAD, unmoved)
        vaults.table.write(keys.owner, [last, *batch])
    except Refused:
        return False
    return True
