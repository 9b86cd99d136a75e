"""Comparison: hold an owner's rows against the whole journal, folded objects too, and bring back what is missing or does not open.

Repair asks line by line and only of what is not folded; a row that was lost, put back from an older copy or changed by hand shows only
here. The journal is read before the rows and listed once more after them: a row that is not there then either was never there, or its
end was told of. Every write asks for the row as it was read, so a writer who was faster keeps what he wrote. What was deleted stays so:
a tombstone ends a row that came back. Ended anywhere and run again, it goes on.

Nothing comes back that was never applied: a line says so itself where it is folded or a later version names it; else a dedup row that
names the memory does, or a head that counts more memories than there are rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Refused
from shared.domain.ids import ulid_time
from shared.observability import alarm
from shared.ports import Check, Condition, Delete, Item, Put, Write
from shared.storage import items, lines, names, rows
from shared.storage.commit import Commits
from shared.storage.compared_documents import Documents
from shared.storage.items import Stored
from shared.storage.journal import Journal, JournalObject, Record
from shared.storage.journaled import Journaled, age, possible, read
from shared.storage.plans import is_done, is_forgotten, is_open
from shared.storage.recount import recount
from shared.storage.rows import Rows
from shared.storage.transactions import mark
from shared.storage.vaults import GONE


@dataclass(slots=True)
class Compared:
    """What a comparison found and did.

    `restored` memories came back, `ended` rows of deleted ones went, `documents` (settings among them) and `tags` of texts were put
    right, `counted` says that counters were. `left`: what does not open and of which no line does either; `waiting`: what is decided once
    its line is old; `missed`: what somebody was faster with; `unjournaled` memories have a row and no line.
    """

    restored: int = 0
    ended: int = 0
    documents: int = 0
    tags: int = 0
    counted: int = 0
    left: int = 0
    waiting: int = 0
    missed: int = 0
    unjournaled: int = 0

    @property
    def certain(self) -> bool:
        """Whether every line was judged: what is not in the table now was never applied."""
        return not (self.waiting or self.missed)


class Comparison:
    """Compares one owner, once."""

    def __init__(self, commits: Commits, keys: OwnerKeys, journal: Journal, now: datetime) -> None:
        self.commits, self.keys, self.journal, self.now = commits, keys, journal, now
        self.vaults, self.table = commits.vaults, commits.vaults.table
        self.result = Compared()
        self.late: set[str] = set()
        """Memories that lines of after the first listing speak of: somebody is at work on them."""

    def run(self) -> Compared:
        """Compare and mend. Raises Unavailable, Busy."""
        listing = self.journal.listing()
        journaled = read(self.journal, listing)
        found = rows.read(self.table, self.keys)
        if found is None:
            self.result.missed += 1
            return self.result
        self._catch_up(listing)
        wanted = self._wanted(journaled, found)
        for memory_id, record in wanted.items():
            self._restore(memory_id, record, found)
        self.result.documents = Documents(self.vaults, self.keys, self._said, self.result).mend(journaled, found)
        touched = self.result.restored + self.result.ended + self.result.documents + self.result.missed
        present = found if not touched else rows.read(self.table, self.keys)
        if present is not None:
            self._tags(present, ended=self.result.certain and not journaled.damaged)
        counted = recount(self.vaults, self.keys, self.journal, None if touched or self.result.tags else present)
        self.result.counted, self.result.missed = int(counted is True), self.result.missed + (counted is None)
        return self.result

    def _catch_up(self, listing: list[JournalObject]) -> None:
        known = {listed.key for listed in listing}
        new = read(self.journal, [one for one in self.journal.listing() if one.key not in known])
        self.late = {*new.lives, *new.graves}

    def _wanted(self, journaled: Journaled, found: Rows) -> dict[str, Record]:
        """Return the line of each memory whose row is to be written, and end the rows of those that were deleted."""
        wanted: dict[str, Record] = {}
        perhaps: list[Record] = []
        judged = {*journaled.lives, *journaled.graves, *found.memories, *found.broken} - self.late
        self.result.waiting += len(self.late)
        for memory_id in sorted(judged):
            record = self._judge(memory_id, journaled, found, perhaps)
            if record is not None:
                wanted[memory_id] = record
        missing = sum(1 for memory_id in wanted if memory_id not in found.memories and memory_id not in found.broken)
        if perhaps and not found.quiet:
            self.result.waiting += len(perhaps)
        elif found.lacking > missing:
            wanted |= {record.id: record for record in perhaps}
        return wanted

    def _judge(self, memory_id: str, journaled: Journaled, found: Rows, perhaps: list[Record]) -> Record | None:
        """Return the line that this memory's row is to be of; None where the row is right, or nothing can be known yet."""
        records, graves = journaled.lives.get(memory_id, []), journaled.graves.get(memory_id, [])
        row, broken = found.memories.get(memory_id), found.broken.get(memory_id)
        grave = max((one for one in graves if self._applied(one, journaled, found)), key=age, default=None)
        own = [one for one in records if broken is not None and one.commit == broken.get("commit")]
        version = row.memory.version if row is not None else max((one.version for one in own), default=0)
        if grave is not None and (row is not None or broken is not None) and grave.version > version:
            self._end(memory_id, found)
            return None
        candidates = possible(self.keys, records, journaled) if records else []
        if row is not None:
            return self._behind(row, records, candidates, journaled, found)
        for one in sorted([*own, *(one for one in candidates if one not in own)], key=age, reverse=True):
            if one in own or self._sure(one, journaled, found):
                return one
            if not self._settled(one.commit, journaled, found):
                self.result.waiting += 1
                return None
            if one.version == 1 and broken is None:
                if not is_forgotten(self._task(one.commit, journaled, found)):
                    perhaps.append(one)
                return None
            if one.commit not in journaled.plans and one.commit not in journaled.whole:
                return one
        if broken is not None and not graves:
            self.result.left += 1
            alarm("damaged", memory=memory_id)
        return None

    def _behind(
        self, row: Stored, records: list[Record], candidates: list[Record], journaled: Journaled, found: Rows
    ) -> Record | None:
        """Return the line of a later version that surely stood, or of the same one under its right commit."""
        memory = row.memory
        later = [one for one in candidates if one.version > memory.version]
        sure = next((one for one in later if self._sure(one, journaled, found)), None)
        if sure is not None:
            return sure
        same = [one for one in records if one.version == memory.version]
        if not same:
            self.result.unjournaled += not later
            return None
        if any(one.commit == memory.commit for one in same):
            return None
        plain = replace(memory, commit="", access_count=0, last_accessed_at=None)
        return next((one for one in same if replace(one.memory(), commit="") == plain), None)

    def _sure(self, record: Record, journaled: Journaled, found: Rows) -> bool:
        """Tell whether a line surely was applied."""
        if (record.id, record.commit) in journaled.applied:
            return True
        if not self._settled(record.commit, journaled, found):
            return False
        if record.commit in journaled.whole:
            return self._whole(record.commit, journaled, found)
        if is_done(self._task(record.commit, journaled, found)):  # what was refused of it was taken out before
            return True
        row = found.memories.get(record.id)
        known = items.held_tags(self.keys, row.memory) if row is not None else frozenset()
        tags = items.held_tags(self.keys, record.memory()) - known
        return any(found.dedups.get(tag) == record.id for tag in tags)

    def _whole(self, commit: str, journaled: Journaled, found: Rows) -> bool:
        """Tell whether lines that are whole together were applied: one of them shows."""
        for one in journaled.whole[commit]:
            row = found.memories.get(one.id)
            if (one.id, commit) in journaled.applied:
                return True
            if one.kind == lines.MEMORY and row is not None and commit in (row.memory.commit, *row.memory.prior):
                return True
            if one.kind == lines.MEMORY and row is None:
                tags = items.held_tags(self.keys, one.memory())
                if any(found.dedups.get(tag) == one.id for tag in tags):
                    return True
        return False

    def _applied(self, grave: Record, journaled: Journaled, found: Rows) -> bool:
        """Tell whether a tombstone ends its memory: its writer is at work no more, and nothing else says that it came to nothing."""
        if grave.commit in journaled.whole and not self._whole(grave.commit, journaled, found):
            return False
        return self._settled(grave.commit, journaled, found)

    def _settled(self, commit: str, journaled: Journaled, found: Rows) -> bool:
        """Tell whether nobody is at work on these lines any more."""
        task = self._task(commit, journaled, found)
        if is_forgotten(task) or is_open(task, self.now):
            return is_forgotten(task)
        return ulid_time(commit) <= self.now - limits.REPAIR_AFTER

    def _task(self, commit: str, journaled: Journaled, found: Rows) -> Item | None:
        """Return the task whose plan these lines are; None where they are none, or its item is gone."""
        task_id = journaled.plans.get(commit)
        return found.tasks.get(names.TASK + task_id) if task_id is not None else None

    def _said(self, commit: str, journaled: Journaled, found: Rows) -> bool:
        """Tell whether what these lines say of documents was said: what a plan says of its project is so when its task is done."""
        task = self._task(commit, journaled, found)
        return self._settled(commit, journaled, found) and (task is None or is_done(task))

    def _restore(self, memory_id: str, record: Record, found: Rows) -> None:
        """Write the row of that line with the tags of its texts, where it still is as it was read. A text that another memory holds by
        now is that one's; a memory whose own text is, does not come back."""
        memory = record.memory()
        sealed = items.seal(self.keys, memory, self.vaults.random)
        item = items.to_item(self.keys, sealed, record.commit)
        taken = {tag for tag in sealed.tags if self._holder(found, tag) not in (None, memory_id)}
        if sealed.tag in taken:
            return
        writes: list[Write] = [Put(item, self._as_read(memory_id, found))]
        for tag in sorted(sealed.tags - taken):
            held = Condition(equals={"memory": found.dedups.get(tag)})
            writes.append(Put(items.dedup_item(tag, memory_id), held))
        if self._write(memory_id, memory.version, writes):
            self.result.restored += 1

    def _end(self, memory_id: str, found: Rows) -> None:
        """Remove the row of a memory that was deleted, with every tag that leads to it."""
        condition = self._as_read(memory_id, found)
        tags = sorted(tag for tag, holder in found.dedups.items() if holder == memory_id)
        writes: list[Write] = [Delete(names.MEMORY + memory_id, condition)]
        writes += [Delete(names.DEDUP + tag, Condition(equals={"memory": memory_id})) for tag in tags]
        if self._write(memory_id, GONE, writes):
            self.result.ended += 1

    def _as_read(self, memory_id: str, found: Rows) -> Condition:
        row, broken = found.memories.get(memory_id), found.broken.get(memory_id)
        if row is not None:
            return Condition(equals={"version": row.memory.version, "commit": row.memory.commit})
        if broken is not None:
            return Condition(exists=True, equals={name: broken.get(name) for name in ("version", "commit", "sealed")})
        return Condition(absent=True)

    def _holder(self, found: Rows, tag: str) -> str | None:
        """Return the memory that holds a text; None where the one that its dedup row names does not."""
        holder = found.dedups.get(tag)
        row = found.memories.get(holder) if holder is not None else None
        if holder in found.broken:
            return holder
        return holder if row is not None and tag in items.held_tags(self.keys, row.memory) else None

    def _write(self, memory_id: str, version: int, writes: Iterable[Write]) -> bool:
        told = Put({"sk": names.CHANGE + memory_id, "version": version})
        try:
            self.table.write(self.keys.owner, [*writes, told, mark(self.keys, self.vaults.clock())])
        except Refused:
            self.result.missed += 1
            return False
        return True

    def _tags(self, present: Rows, *, ended: bool) -> None:
        """Let every text lead to the memory that holds it; where all that is not there has `ended`, none to one that is not there."""
        wanted: dict[str, Stored] = {}
        for stored in present.memories.values():
            wanted |= dict.fromkeys(items.held_tags(self.keys, stored.memory), stored)
        for tag in sorted(wanted.keys() | present.dedups.keys()):
            holder, row = present.dedups.get(tag), wanted.get(tag)
            if row is not None and holder != row.memory.id and self._holder(present, tag) is None:
                unmoved = Check(names.MEMORY + row.memory.id, Condition(equals={"version": row.memory.version}))
                self._tag(tag, row.memory.id, holder, unmoved)
            elif ended and row is None and holder is not None and holder not in present.broken:
                standing = present.memories.get(holder)
                same = Condition(equals={"version": standing.memory.version}) if standing else Condition(absent=True)
                self._tag(tag, None, holder, Check(names.MEMORY + holder, same))

    def _tag(self, tag: str, leads_to: str | None, was: str | None, unmoved: Check) -> None:
        condition = Condition(equals={"memory": was})
        write = Put(items.dedup_item(tag, leads_to), condition) if leads_to else Delete(names.DEDUP + tag, condition)
        try:
            self.table.write(self.keys.owner, [write, unmoved, mark(self.keys, self.vaults.clock(), rows=0)])
        except Refused:
            self.result.missed += 1
        else:
            self.result.tags += 1
