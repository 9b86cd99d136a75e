"""Deleting a memory whose row does not open: nothing that is sealed is needed for it, so a damage keeps nobody from deleting.

What the journal still tells of it says which tombstone ends it and what it counted for; where that opens no more either, its row's columns
do, and a comparison counts anew.
"""

from contextlib import suppress

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import NotFound, SealBroken
from shared.domain.ids import first_ulid, ulid, ulid_time
from shared.domain.memory import Status
from shared.ports import Condition, Delete, Item, Put, Update
from shared.storage import items, lines, names, sizes
from shared.storage.builds import ask_for_comparison
from shared.storage.commit import Commits
from shared.storage.fold import CLOCKS_APART
from shared.storage.journal import Journal, Record
from shared.storage.journaled import age
from shared.storage.partition import each_item
from shared.storage.vaults import GONE

_HIGHEST = 2**31


def told_of(journal: Journal, memory_id: str) -> list[Record]:
    """Return every line of a memory that opens, the latest version first."""
    oldest = first_ulid(ulid_time(memory_id) - CLOCKS_APART)
    found: list[Record] = []
    for listed in journal.listing():
        if listed.last >= oldest:
            with suppress(SealBroken):
                read = journal.read(listed)
                found += [one for one in (read[1] if read else ()) if one.id == memory_id and one.kind == lines.MEMORY]
    return sorted(found, key=age, reverse=True)


def delete(
    commits: Commits, keys: OwnerKeys, memory_id: str, item: Item, *, scope: str | None = None, retired: bool = False
) -> bool:
    """Delete the memory of that row, which does not open, and return whether that was done: not where `scope` names another place than
    its line does. Asks for a comparison, since what it counted for may be damaged as well.

    Raises NotFound for one that was merged away (not with `retired`), Stale, VersionMismatch when the row moved on, Busy.
    """
    vaults, table = commits.vaults, commits.vaults.table
    told = told_of(Journal(vaults.objects, keys, vaults.random), memory_id)
    memory = told[0].memory() if told else None
    status = memory.status if memory else _status(item)
    lives_in = items.scope_tag(keys, memory.scope, memory.project, memory.agent) if memory else str(item.get("scope"))
    if scope is not None and lives_in != scope:
        return False
    if status is Status.RETIRED and not retired:
        raise NotFound
    now, ended = vaults.clock(), max([_version(item), *(one.version for one in told)]) + 1
    tag = items.dedup_tag(keys, memory) if memory and memory.status is not Status.RETIRED else ""
    line = lines.Line(lines.TOMBSTONE, memory_id, ended, tag=tag, at=now)
    transaction = commits.transaction(keys)
    size = -sizes.item_bytes(keys.owner, item) - sizes.ACCESS_ALLOWANCE
    as_read = {name: item.get(name) for name in ("version", "commit", "sealed")}
    transaction.add("memory", Delete(str(item["sk"]), Condition(exists=True, equals=as_read)))
    for dedup in each_item(table, keys.owner, names.DEDUP):
        if dedup.get("memory") == memory_id:
            transaction.add("old dedup", Delete(str(dedup["sk"]), Condition(equals={"memory": memory_id})))
            size -= sizes.item_bytes(keys.owner, dedup)
    transaction.add("row", Put({"sk": names.CHANGE + memory_id, "version": GONE}))
    project = names.PROJECT + lives_in
    if status is not Status.RETIRED and project in table.get(keys.owner, [project]):
        transaction.add("project", Update(project, add={"memories": -1}, condition=Condition(exists=True)))
    counters = {"memories": -1, "rows": 1, "bytes": size + len(line.encode()), "journal_bytes": len(line.encode())}
    counters |= {status.value: -1} if status in (Status.ACTIVE, Status.RETIRED) else {}
    transaction.head(counters, deleting=True)
    commits.journal_then_write(keys, ulid(now, vaults.random), line, transaction)
    ask_for_comparison(commits.maintenance, keys.owner, now)
    return True


def _version(item: Item) -> int:
    version = item.get("version")
    return version if isinstance(version, int) and 0 < version < _HIGHEST else 0


def _status(item: Item) -> Status:
    try:
        return Status(str(item.get("status")))
    except ValueError:
        return Status.ARCHIVED  # which counts for nothing
