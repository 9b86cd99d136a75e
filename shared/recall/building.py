"""Building an owner's index and moving the head to it.

The object is stored under a name nobody else uses, then the pointer moves on the condition that nobody moved it meanwhile, then the
change rows go whose version is still the one that was read. A search in between masks what has a change row and reads it fresh.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from shared.domain.errors import Refused
from shared.domain.ids import ulid
from shared.ports import Condition, Delete, Item, Update
from shared.recall.entries import Entry
from shared.recall.index import NO_MODEL, Index
from shared.recall.indexes import INDEX, Indexes, NoIndex, all_memories, entry_of, opened_index, searchable
from shared.recall.meaning import Filled, Meaning
from shared.recall.packing import FORMAT
from shared.storage import names, objects
from shared.storage.builds import pointer_of
from shared.storage.preferences import time_zone
from shared.storage.together import each
from shared.storage.vaults import Opened
from shared.text.tokens import ANALYSER

ROWS = 50
TRIES = 3
AFTER_ALL = "~"


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did: memories and bytes of the new index, change rows it took in, memories that do not open, memories whose
    meaning it took in and those it left for later; `lost`: there were damaged ones, or fewer or more than the head counts."""

    memories: int
    size: int
    rows: int
    damaged: int
    embedded: int = 0
    left: int = 0
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds indexes; with `meaning`, vectors too."""

    indexes: Indexes
    meaning: Meaning | None = None

    def behind(self, head: Item) -> bool:
        """Tell whether the index that a head points to is of another kind than one built now: of an older format, or without all
        vectors of the model that is chosen now."""
        return bool(pointer_of(head)) and head.get("index_kind") != self._kind(left=0)

    def unreadable(self, opened: Opened) -> bool:
        """Tell whether the index object that the head points to is lost or damaged. Reads it, whatever is warm."""
        keys, pointer = opened.keys, pointer_of(opened.head)
        if not pointer:
            return False
        stored = self.indexes.vaults.objects.get(names.index(keys.owner, keys.epoch, pointer))
        try:
            opened_index(keys, pointer, stored.body if stored else b"")
        except NoIndex:
            return True
        return False

    def build(
        self, owner: str, *, keep_previous: bool = True, before_rows_go: Callable[[Opened], None] | None = None
    ) -> Built | None:
        """Build the owner's index; None when there is nothing to index, nothing new to put into it, or another build was first.

        The previous index stays for searches under way, unless `keep_previous` is False: then nothing of deleted texts is left.
        `before_rows_go` is called when the new index is in use and its change rows are still there, with the owner as
        the build read it; what it raises keeps them.
        """
        vaults = self.indexes.vaults
        fetch = partial(self.indexes.fetch, owner) if self.meaning else None
        opened = vaults.open(owner, [names.SETTINGS], changes=True, beside=fetch)
        if opened is None:
            return None
        keys = opened.keys
        entries, damaged, lost = self._entries(opened)
        previous = self.indexes.open(opened) if self.meaning else None
        filled = self.meaning.fill(entries, previous) if self.meaning else Filled(entries)
        if filled.left and previous is not None and not (filled.embedded or opened.changes):
            return None  # the model does not answer, and nothing else is new
        index = Index.build(filled.entries, model=self.meaning.mark if self.meaning else NO_MODEL)
        pointer = ulid(vaults.clock(), vaults.random)
        body = objects.seal(keys, INDEX, pointer, index.pack(), vaults.random)
        vaults.objects.put(names.index(owner, keys.epoch, pointer), body, if_absent=True)
        if not self._point(opened, pointer, len(body), self._kind(filled.left)):
            vaults.objects.erase(names.index(owner, keys.epoch, pointer))
            return None
        self.indexes.keep(keys, pointer, index)
        if before_rows_go is not None:
            before_rows_go(opened)
        self._take_in(opened)
        self._count_rows(opened, pointer)
        self._sweep(opened, pointer, keep_previous=keep_previous)
        return Built(len(entries), len(body), len(opened.changes), damaged, filled.embedded, filled.left, lost)

    def _entries(self, opened: Opened) -> tuple[list[Entry], int, bool]:
        """Return what the index will know, the number of memories that do not open, and whether the head counts others than there are."""
        entries, damaged, seen, zone = [], 0, 0, time_zone(opened)
        for stored in all_memories(self.indexes.vaults, opened.keys):
            seen += 1
            if stored is None:
                damaged += 1
            elif searchable(stored.memory):
                entries.append(entry_of(opened.keys, stored.memory, zone))
        lost = damaged > 0
        if seen != opened.head["memories"]:  # or somebody wrote meanwhile
            head = self.indexes.vaults.table.get(opened.keys.owner, [names.HEAD]).get(names.HEAD, {})
            lost = lost or head.get("commits") == opened.head["commits"]
        return entries, damaged, lost

    def _kind(self, left: int) -> str:
        model = self.meaning.mark.hex() if self.meaning and not left else ""
        return f"{FORMAT}.{ANALYSER}.{model}"

    def sweep(self, owner: str) -> None:
        """Remove all index objects older than the one in use; all of them when none is, after a rebuild."""
        opened = self.indexes.vaults.open(owner)
        if opened is not None:
            self._sweep(opened, pointer_of(opened.head) or AFTER_ALL, keep_previous=False)

    def _point(self, opened: Opened, pointer: str, size: int, kind: str) -> bool:
        head, keys = opened.head, opened.keys
        change = Update(
            names.HEAD,
            set={"index": pointer, "index_bytes": size, "index_kind": kind},
            add={"bytes": size - int(head["index_bytes"])},
            condition=Condition(equals={"index": head.get("index"), "epoch": keys.epoch, "gen": keys.generation}),
        )
        try:
            self.indexes.vaults.table.write(keys.owner, [change])
        except Refused:
            return False
        return True

    def _take_in(self, opened: Opened) -> None:
        """Delete the change rows that this build read, unless they have moved on."""
        rows = [
            Delete(names.CHANGE + memory_id, Condition(equals={"version": version}))
            for memory_id, version in opened.changes.items()
        ]
        each(partial(self._delete, opened.keys.owner), [rows[at : at + ROWS] for at in range(0, len(rows), ROWS)])

    def _delete(self, owner: str, rows: list[Delete]) -> None:
        while rows:
            try:
                self.indexes.vaults.table.write(owner, rows)
            except Refused as refused:
                rows = [row for position, row in enumerate(rows) if position not in refused.items]
            else:
                return

    def _count_rows(self, opened: Opened, pointer: str) -> None:
        """Set the head's count of change rows to what was written since this build read them; a few tries, for it may stay too high."""
        table, owner = self.indexes.vaults.table, opened.keys.owner
        for _ in range(TRIES):
            head = table.get(owner, [names.HEAD]).get(names.HEAD)
            if head is None or (head["epoch"], head.get("index")) != (opened.keys.epoch, pointer):
                return
            since = int(head["commits"]) - int(opened.head["commits"])
            unchanged = Condition(equals={"epoch": opened.keys.epoch, "commits": head["commits"]})
            with suppress(Refused):
                table.write(owner, [Update(names.HEAD, set={"rows": since}, condition=unchanged)])
                return

    def _sweep(self, opened: Opened, pointer: str, *, keep_previous: bool) -> None:
        """Remove index objects older than the previous one; a younger one may be another build's, not pointed to yet.

        Without `keep_previous` all that are older than the one in use go: a build that made one of them has lost or died. The one in use
        stays, though a process whose clock is slow may have named it as if it were older.
        """
        objects_, owner, epoch = self.indexes.vaults.objects, opened.keys.owner, opened.keys.epoch
        previous = pointer_of(opened.head)
        prefix = names.index(owner, epoch)
        for name in list(objects_.names(prefix)):
            old = name.key.removeprefix(prefix)
            if old != pointer and (old < previous or (old < pointer and not keep_previous)):
                objects_.erase(name.key)
