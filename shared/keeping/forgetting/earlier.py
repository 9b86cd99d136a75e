"""Earlier versions that a selection means by its words, of memories that say something else by now: found in the journal, and taken out.

The journal is read a few objects at a time, and so also tells of versions older than a history shows. What is to go is planned on the
task before it goes, so that whoever dies on the way leaves a plan that the next visit does, and each version is counted once.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain import drafts, limits
from shared.domain.errors import SealBroken
from shared.domain.memory import Memory
from shared.keeping.forgetting.selection import Selection
from shared.keeping.maintenance.visits import Step, Visit
from shared.ports import Item
from shared.storage import items, lines, names
from shared.storage.journal import Journal, JournalObject, Place, Record
from shared.storage.together import THREADS, each
from shared.storage.vaults import Vaults

AT_ONCE = 1_000
"""Versions of one plan: its names have to fit into the task's item."""


@dataclass(slots=True)
class Earlier:
    """Yields the versions that are meant, each with its commit; one that two objects hold is yielded twice. `besides` are memories that
    go whole. Without words none is meant: what a version was about is asked of the present one.

    Once all were yielded, `unsettled` tells whether a line says the words of which repair has yet to say whether it comes true,
    `damaged` counts objects that do not open, and `complete` is False if it became later than `until`.
    """

    vaults: Vaults
    keys: OwnerKeys
    selection: Selection
    besides: Collection[str] = ()
    until: datetime | None = None
    doubtful: set[str] = field(default_factory=set, init=False)
    buried: set[str] = field(default_factory=set, init=False)
    damaged: int = field(default=0, init=False)
    complete: bool = field(default=True, init=False)

    def __iter__(self) -> Iterator[Memory]:
        listing = self._journal.listing() if self.selection.words else []
        for lot in _lots(listing):
            if self.until is not None and self.vaults.clock() > self.until:
                self.complete = False
                return
            read = each(self._saying, lot)
            self.damaged += read.count(None)
            said = [one for found in read for one in found or () if one[0].kind == lines.MEMORY]
            self.buried |= {one.id for found in read for one, _ in found or () if one.kind == lines.TOMBSTONE}
            wanted = sorted({names.MEMORY + record.id for record, _ in said})
            standing = self.vaults.table.get(self.keys.owner, wanted) if wanted else {}
            for record, settled in said:
                version = self._superseded(record, standing.get(names.MEMORY + record.id), settled=settled)
                if version is not None:
                    yield version

    @property
    def unsettled(self) -> bool:
        return bool(self.doubtful - self.buried)

    @property
    def _journal(self) -> Journal:
        return Journal(self.vaults.objects, self.keys, self.vaults.random)

    def _saying(self, listed: JournalObject) -> list[tuple[Record, bool]] | None:
        """Return the records that are meant, each with whether repair has nothing to say to it, and fresh tombstones; None for a damaged
        object."""
        try:
            read = self._journal.read(listed)
            records = read[1] if read else []
            settled = listed.folded or any(record.kind == lines.PLAN for record in records)
            graves = [record for record in records if record.kind == lines.TOMBSTONE and not settled]
            memories = [record for record in records if record.kind == lines.MEMORY]
            meant = [record for record in memories if self.selection.wants(record.memory())]
            return [(record, settled) for record in (*graves, *meant)]
        except SealBroken:
            return None

    def _superseded(self, record: Record, item: Item | None, *, settled: bool) -> Memory | None:
        """Return the earlier version that a record is of a memory that stands, as it is shown; None when it is none that is meant. One that
        does not open stands in doubt: its are left."""
        if record.id in self.besides:
            return None
        try:
            present = items.from_item(self.keys, item).memory if item else None
        except SealBroken:
            return None
        prior = present.prior if present else ()
        behind = (present.version if present else 0) - record.version
        applied = behind > len(prior) or (behind > 0 and prior[-behind] == record.commit)
        if present is not None and applied and not self.selection.wants(present):
            version = drafts.as_past(record.memory(), present)
            return replace(version, commit=record.commit) if self.selection.wants(version) else None
        if not settled and behind >= -1:
            self.doubtful.add(record.id)
        return None


def planned(visit: Visit, selection: Selection) -> dict[Place, Memory]:
    """Return the versions that are to go next, by place. None before repair has settled the lines that say the same: what became of a
    text tells it what to do with a dead writer's."""
    looking = Earlier(visit.vaults, visit.opened.keys, selection)
    found: dict[Place, Memory] = {}
    for version in looking:
        visit.check_time()
        if len(found) < AT_ONCE:
            found[version.id, version.commit] = version
    return {} if looking.unsettled else found


def written(places: Collection[Place]) -> str:
    """Return a plan as its column holds it: names only."""
    return " ".join(f"{memory_id}@{commit}" for memory_id, commit in sorted(places))


def read(plan: str) -> frozenset[Place]:
    """Read what `written` wrote."""
    pairs = (one.partition("@") for one in plan.split())
    return frozenset((memory_id, commit) for memory_id, _, commit in pairs)


def remove(visit: Visit, places: Collection[Place]) -> None:
    """Take versions out of the objects that may hold them, with what those superseded. Raises OutOfTime, Changed."""
    commits = {commit for _, commit in places}
    for listed in visit.journal.listing():
        if any(listed.first <= commit <= listed.last for commit in commits):
            visit.check_time()
            with suppress(SealBroken):  # nobody reads it any more
                visit.journal.remove(listed, places, visit.vaults.clock())


def clear(visit: Visit, ids: Collection[str], clearing: Sequence[Step]) -> None:
    """Take out of documents what rests on these memories, for it may have been made of what they said; it is made anew of what they say."""
    found = set[str]()
    while ids := set(ids) - found:
        found |= ids
        stored = visit.vaults.table.get(visit.owner, [names.MEMORY + memory_id for memory_id in sorted(ids)])
        ids = set(filter(None, (_replaced_by(visit, item) for item in stored.values())))
    visit.unsaid = frozenset(found)
    for step in clearing:
        step.run(visit)
    visit.unsaid = frozenset()


def _replaced_by(visit: Visit, item: Item) -> str | None:
    try:
        return items.from_item(visit.opened.keys, item).memory.replaced_by
    except SealBroken:
        return None


def _lots(listing: Sequence[JournalObject]) -> Iterator[list[JournalObject]]:
    """Cut a listing into what is held in memory at once."""
    lot: list[JournalObject] = []
    for listed in listing:
        if lot and (len(lot) == THREADS or sum(one.size for one in lot) + listed.size > limits.FOLD_BYTES):
            yield lot
            lot = []
        lot.append(listed)
    if lot:
        yield lot
