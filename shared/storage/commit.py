"""Commit: the journal first, then one transaction, then the answer.

A writer that is refused removes its line before it answers. A writer that dies in between, or cannot know whether its write was done,
leaves a line that repair settles.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import Busy, NotFound, Refused, Unavailable, VersionMismatch
from shared.domain.ids import Random, ulid
from shared.domain.memory import Memory
from shared.ports import Condition, Item, Put, Queue, Write
from shared.storage import bodies, items, lines, names
from shared.storage.builds import ask_for_build
from shared.storage.items import Sealed, Stored
from shared.storage.journal import Record
from shared.storage.transactions import Change, Limits, ManyChanges, Once, Stale, Transaction, Turn, tombstone
from shared.storage.vaults import Vaults

TRIES = 3


@dataclass(frozen=True, slots=True)
class Commits:
    """Writes memories and settings of owners, and asks maintenance for a build of the index once in so many changes."""

    vaults: Vaults
    bounds: Limits
    maintenance: Queue

    def has_room(self, head: Item, size: int) -> bool:
        """Tell whether an owner with that head may keep so many bytes more; who else writes may be there first."""
        return int(head["bytes"]) + size <= self.bounds.quota_bytes

    def commit(self, owner: str, change: Change, once: Callable[[OwnerKeys], Once] | None = None) -> Memory | None:
        """Make the change and return the memory as it now stands (None: deleted). Two steps with warm keys.

        Raises Duplicate, NotFound, VersionMismatch, ActiveLimitReached, QuotaExceeded, TableLost, Busy; Replayed,
        IdempotencyKeyReused with `once`, which makes the request's mark from the owner's keys.
        """
        after = change.next()
        for keys in self._keys(owner):
            if change.before is not None and not _same_life(keys, change):
                raise NotFound
            now = self.vaults.clock()
            commit = ulid(now, self.vaults.random)
            sealed = items.seal(keys, after, self.vaults.random) if after else None
            line = sealed.line if sealed else tombstone(keys, change.before, now) if change.before else None
            if line is None:
                return None
            transaction = self.transaction(keys)
            if once:
                transaction.add("once", once(keys).write(now))
            transaction.change(change.before, sealed, commit, len(line.encode()))
            try:
                self.journal_then_write(keys, commit, line, transaction)
            except Stale:
                continue
            return replace(after, commit=commit) if after else None
        raise Unavailable

    def commit_together(
        self, keys: OwnerKeys, changes: Sequence[Change], *, whole: bool = False, step: Write | None = None
    ) -> list[Memory | None]:
        """Make several changes of different memories in one transaction, with one journal object; return them as `commit` does.

        Cut with `batches` what may be too much for one transaction. Independent changes (a forget, an import) may come true one by one
        if the writer dies: repair replays each line for itself. Of changes that are `whole` (a merge) none ever comes true without the
        others: a first line says so to repair and rebuild, and what a dead writer left is taken back. `step` is one more write, such as
        the progress of a task. Raises what `commit` and `apply` do; Stale when the keys are not the owner's present ones: open it again.
        """
        now, random = self.vaults.clock(), self.vaults.random
        commit = ulid(now, random)
        told: list[lines.Line] = []
        turns: list[Turn] = []
        if whole:
            sealed_count = keys.seal(lines.WHOLE, commit, 1, bodies.pack({"changes": len(changes)}), random)
            told.append(lines.Line(lines.WHOLE, commit, 1, keys.generation, sealed_count))
        for change in changes:
            after = change.next()
            sealed = items.seal(keys, after, random) if after else None
            turns.append(Turn(change.before, sealed))
            if sealed is not None:
                told.append(sealed.line)
            elif change.before is not None:
                told.append(tombstone(keys, change.before, now))
        body = lines.encode(told)
        transaction = self.transaction(keys)
        if step:
            transaction.add("step", step)
        transaction.changes(turns, commit, len(body))
        self._journal_then_write(keys, commit, body, transaction)
        return [replace(turn.will, commit=commit) if turn.will else None for turn in turns]

    def apply(
        self,
        keys: OwnerKeys,
        before: Stored | None,
        sealed: Sealed | None,
        commit: str,
        line_bytes: int,
        step: Write | None = None,
    ) -> None:
        """Put a change whose line is in the journal already into the table (a task's plan, or repair).

        Raises what `commit` does, and StepDone when the `step` (the task's progress) was made before.
        """
        transaction = self.transaction(keys)
        if step:
            transaction.add("step", step)
        transaction.change(before, sealed, commit, line_bytes)
        reason = self._write(keys, transaction)
        if reason is not None:
            raise reason

    def commit_settings(
        self,
        owner: str,
        version: int,
        body: dict[str, Any],
        life: OwnerKeys | None = None,
        broken: Item | None = None,
    ) -> int:
        """Store an owner's settings over that version (0: the first) and return the new version; with `life` only in that one. `broken` is
        an item that does not open, to be replaced as it was read (with nothing but its `sk`: there is none).

        Raises VersionMismatch, Unavailable.
        """
        for keys in [life] if life else self._keys(owner):
            sealed = keys.seal(lines.SETTINGS, lines.SETTINGS, version + 1, bodies.pack(body), self.vaults.random)
            line = lines.Line(lines.SETTINGS, lines.SETTINGS, version + 1, keys.generation, sealed)
            commit = ulid(self.vaults.clock(), self.vaults.random)
            transaction = self._settings(keys, line, commit, broken)
            try:
                self.journal_then_write(keys, commit, line, transaction)
            except Stale:
                continue
            except NotFound:
                raise VersionMismatch from None
            return version + 1
        raise Unavailable

    def apply_settings(self, keys: OwnerKeys, line: lines.Line, commit: str) -> Item:
        """Put settings whose line is in the journal already into the table and return their item. Raises what `commit` does."""
        transaction = self._settings(keys, line, commit)
        try:
            self.vaults.table.write(keys.owner, transaction.writes)
        except Refused as refused:
            raise transaction.explain(refused) from None
        return settings_item(line, commit)

    def _settings(self, keys: OwnerKeys, line: lines.Line, commit: str, broken: Item | None = None) -> Transaction:
        transaction = self.transaction(keys)
        before = line.version - 1
        condition = Condition(equals={"version": before}) if before else Condition(absent=True)
        if broken is not None:
            condition = Condition(equals={name: broken.get(name) for name in ("version", "commit", "sealed")})
        transaction.add("memory", Put(settings_item(line, commit), condition))
        size = len(line.encode())
        counted = {"bytes": size, "journal_bytes": size}
        transaction.head(counted, deleting=True, set_={"settings": line.version})
        return transaction

    def journal_then_write(self, keys: OwnerKeys, commit: str, line: lines.Line, transaction: Transaction) -> None:
        self._journal_then_write(keys, commit, line.encode(), transaction)

    def _journal_then_write(self, keys: OwnerKeys, commit: str, body: bytes, transaction: Transaction) -> None:
        key = names.journal(keys.owner, keys.epoch, commit)
        self.vaults.objects.put(key, body, if_absent=True)
        reason = self._write(keys, transaction)
        if reason is None:
            return
        self.vaults.objects.erase(key)
        if isinstance(reason, Stale):
            self.vaults.forget(keys.owner)
        raise reason

    def _write(self, keys: OwnerKeys, transaction: Transaction) -> Exception | None:
        """Do the transaction; where it surely was not done and nothing may come of it later, return why.

        Where the change rows are many, a build is asked for and the transaction done all the same.
        """
        for _ in range(TRIES):
            try:
                self.vaults.table.write(keys.owner, transaction.writes)
            except Refused as refused:
                reason = transaction.explain(refused)
            except Busy as busy:
                return busy
            else:
                return None
            if not isinstance(reason, ManyChanges):
                return reason
            if transaction.count_row(reason.head):
                ask_for_build(self.maintenance, keys.owner, reason.head)
        return Busy()

    def _keys(self, owner: str) -> Iterator[OwnerKeys]:
        for _ in range(TRIES):
            yield self.vaults.warm(owner) or self.vaults.open_or_create(owner).keys

    def transaction(self, keys: OwnerKeys) -> Transaction:
        return Transaction(keys, self.bounds, self.vaults.clock(), self.vaults.random)


def settings_item(line: lines.Line, commit: str) -> Item:
    """Return the item of settings."""
    item: Item = {"sk": names.SETTINGS, "version": line.version, "gen": line.generation, "commit": commit}
    return item | {"sealed": line.sealed}


def settings_again(keys: OwnerKeys, record: Record, random: Random) -> Item:
    """Return the item of settings as a record of the journal says them, sealed with the owner's current key."""
    sealed = keys.seal(lines.SETTINGS, lines.SETTINGS, record.version, bodies.pack(record.body), random)
    line = lines.Line(lines.SETTINGS, lines.SETTINGS, record.version, keys.generation, sealed)
    return settings_item(line, record.commit)


def _same_life(keys: OwnerKeys, change: Change) -> bool:
    return change.before is None or change.before.epoch == keys.epoch
