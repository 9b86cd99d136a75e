"""The one transaction that puts a change of a memory into the table, and what its refusal means."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.drafts import refuse_silence
from shared.domain.errors import (
    ActiveLimitReached,
    Duplicate,
    IdempotencyKeyReused,
    NotFound,
    QuotaExceeded,
    Refused,
    VersionMismatch,
)
from shared.domain.ids import Random, ulid_time
from shared.domain.memory import Memory, Scope, Status
from shared.domain.times import epoch_seconds, rfc3339
from shared.ports import Condition, Delete, Item, Put, Update, Value, Write
from shared.storage import bodies, items, lines, names, sizes
from shared.storage.items import Sealed, Stored
from shared.storage.vaults import GONE

_WRITES_OF_ONE = 3
"""Memory, change row and project."""
_WRITES_BESIDE = 5
"""Head and what a caller adds."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a deployer may change: bytes per owner and active memories per owner (0: no limit)."""

    quota_bytes: int
    active: int


@dataclass(frozen=True, slots=True)
class Once:
    """Makes a request happen once: its key's tag, the request's own tag, the id it makes, and until when it is known."""

    tag: str
    fingerprint: str
    made: str
    until: datetime

    def write(self, now: datetime) -> Put:
        item: Item = {"sk": names.ONCE + self.tag, "fingerprint": self.fingerprint, "made": self.made}
        return Put(item | {"ttl": epoch_seconds(self.until)}, Condition(absent_or_expired=epoch_seconds(now)))


class Stale(Exception):
    """The keys that this process held are not the owner's present ones: open the owner again."""


class Replayed(Exception):
    """The same request was done before; `made` is the id of what it made."""

    def __init__(self, made: str) -> None:
        super().__init__("the same request was done before")
        self.made = made


class Limited(Exception):
    """The day's limit is reached."""


class StepDone(Exception):
    """This step of the task's plan is in the table already."""


class ManyChanges(Exception):
    """The count of change rows is at its bound, or moved since it was read: `head` says which."""

    def __init__(self, head: Item) -> None:
        super().__init__("a build of the index is wanted")
        self.head = head


@dataclass(frozen=True, slots=True)
class Change:
    """One memory from one state to the next: `before` None makes it, `after` None deletes it."""

    before: Stored | None
    after: Memory | None

    def next(self) -> Memory | None:
        """Return `after` with the version and the history that follow from `before`. Raises Invalid where it says nothing anew."""
        if self.after is None:
            return None
        if self.before is None or self.before.memory.content != self.after.content:
            refuse_silence(self.after)
        if self.before is None:
            return self.after
        old = self.before.memory
        prior = (*old.prior, old.commit)[-limits.HISTORY_VERSIONS :]
        same_text = items.full_text(old) == items.full_text(self.after)
        aliases = self.after.aliases if same_text or old.aliases != self.after.aliases else ()
        return replace(self.after, version=old.version + 1, prior=prior, aliases=aliases)


@dataclass(frozen=True, slots=True)
class Turn:
    """A change whose next state is sealed: `before` None makes the memory, `sealed` None deletes it."""

    before: Stored | None
    sealed: Sealed | None

    @property
    def was(self) -> Memory | None:
        return self.before.memory if self.before else None

    @property
    def will(self) -> Memory | None:
        return self.sealed.memory if self.sealed else None


def batches(keys: OwnerKeys, changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Cut changes into lists whose transactions are within the table's bound of writes."""
    batch: list[Change] = []
    size = _WRITES_BESIDE
    for change in changes:
        states = [change.before.memory if change.before else None, change.next()]
        tags = {tag for memory in states if memory is not None for tag in items.held_tags(keys, memory)}
        writes = len(tags) + _WRITES_OF_ONE
        if batch and size + writes > limits.TRANSACTION_WRITES:
            yield batch
            batch, size = [], _WRITES_BESIDE
        batch.append(change)
        size += writes
    if batch:
        yield batch


def tombstone(keys: OwnerKeys, before: Stored, now: datetime) -> lines.Line:
    """Return the line that says a memory is deleted. A retired one lost its text before: its tag says nothing."""
    memory = before.memory
    tag = "" if memory.status is Status.RETIRED else items.dedup_tag(keys, memory)
    return lines.Line(lines.TOMBSTONE, memory.id, memory.version + 1, tag=tag, at=now)


class Transaction:
    """Writes with a name each, so that a refusal can be explained."""

    def __init__(self, keys: OwnerKeys, bounds: Limits, now: datetime, random: Random) -> None:
        self.keys, self.bounds, self.now, self.random = keys, bounds, now, random
        self.writes: list[Write] = []
        self.roles: list[str] = []

    def add(self, role: str, write: Write) -> None:
        self.writes.append(write)
        self.roles.append(role)

    def change(self, before: Stored | None, sealed: Sealed | None, commit: str, journal_bytes: int) -> None:
        """Add all writes of one memory: item, dedup, change row, project, head."""
        self.changes([Turn(before, sealed)], commit, journal_bytes)

    def changes(self, turns: Sequence[Turn], commit: str, journal_bytes: int) -> None:
        """Add all writes of several memories; projects and the head are counted once. `journal_bytes` are those of all lines."""
        grown = self._dedups(turns)
        counters: Counter[str] = Counter()
        projects: Counter[tuple[str, str]] = Counter()
        added: dict[str, str] = {}
        for turn in turns:
            memory = turn.will or turn.was
            if memory is None:
                continue
            item = items.to_item(self.keys, turn.sealed, commit) if turn.sealed else None
            grown += self._memory(turn.before, item, memory.id)
            self.add("row", Put({"sk": names.CHANGE + memory.id, "version": memory.version if turn.will else GONE}))
            counters["memories"] += (turn.will is not None) - (turn.was is not None)
            for status in (Status.ACTIVE, Status.RETIRED):
                counters[status.value] += _is(turn.will, status) - _is(turn.was, status)
            if memory.scope is Scope.PROJECT and memory.project is not None:
                tag = items.scope_tag(self.keys, memory.scope, memory.project, memory.agent)
                projects[tag, memory.project] += _shown(turn.will) - _shown(turn.was)
                if turn.was is None:
                    added[tag] = max(added.get(tag, memory.id), memory.id)
        for (tag, project), count in projects.items():
            at = ulid_time(added[tag]) if tag in added else None
            if count:
                self.add("project", project_update(self.keys, tag, project, count, at, self.random))
        bytes_ = {"bytes": grown + journal_bytes, "journal_bytes": journal_bytes}
        self.head(counters | bytes_, deleting=all(turn.sealed is None for turn in turns), commits=len(turns))
        self._count_row()

    def head(
        self,
        add: Mapping[str, int],
        *,
        deleting: bool = False,
        commits: int = 1,
        set_: Mapping[str, Value] | None = None,
    ) -> None:
        """Add the head's counters under the condition that life, key generation, quota and active limit allow it.

        `commits` counts one for each memory, so that nobody who compares two counts thinks that there are fewer change rows.
        """
        at_most: dict[str, int] = {}
        if not deleting and add.get("bytes", 0) > 0:
            at_most["bytes"] = self.bounds.quota_bytes - add["bytes"]
        if add.get("active", 0) > 0 and self.bounds.active:
            at_most["active"] = self.bounds.active - add["active"]
        condition = Condition(equals={"epoch": self.keys.epoch, "gen": self.keys.generation}, at_most=at_most)
        counters = {name: by for name, by in add.items() if by} | {"commits": commits}
        head = Update(names.HEAD, set=set_ or {}, add=counters, set_once=_due(self.keys, self.now), condition=condition)
        self._uncounted = head, condition, commits
        self.add("head", head)

    def count_row(self, head: Item) -> bool:
        """Make the transaction fit a head whose count of change rows refused it; return whether a build is to be asked for.

        At the bound the count begins anew, on the condition that nobody else began it. A head of old has no count.
        """
        rows = head.get("rows")
        many = rows is None or int(rows) + self._uncounted[2] > limits.CHANGE_ROWS
        self._count_row(anew=many, seen=rows)
        return many

    def explain(self, refused: Refused) -> Exception:
        """Return what the refusal means, the most telling reason first."""
        standing = {self.roles[position]: (item, self.writes[position]) for position, item in refused.items.items()}
        for role in ("once", "window", "daily", "step", "head", "memory", "dedup"):
            if role in standing:
                item, write = standing[role]
                reason: Exception | None = getattr(self, f"_explain_{role}")(item, write)
                if reason is not None:
                    return reason
        head = standing["head"][0] if "head" in standing else None
        return ManyChanges(dict(head)) if head else VersionMismatch()

    def _count_row(self, *, anew: bool = False, seen: Value | None = None) -> None:
        """Count the change rows in the head: below the bound, or `anew` where the count still is as `seen`."""
        head, condition, rows = self._uncounted
        if anew:
            known = replace(condition, equals={**condition.equals, "rows": seen})
            counting = replace(head, set={"rows": rows}, condition=known)
        else:
            below = replace(condition, at_most={**condition.at_most, "rows": limits.CHANGE_ROWS - rows})
            counting = replace(head, add={**head.add, "rows": rows}, condition=below)
        self.writes[self.roles.index("head")] = counting

    def _memory(self, before: Stored | None, item: Item | None, memory_id: str) -> int:
        if before is None and item is not None:
            self.add("memory", Put(item, Condition(absent=True)))
            return sizes.item_bytes(self.keys.owner, item) + sizes.ACCESS_ALLOWANCE
        if before is None:
            return 0
        same = Condition(equals={"version": before.memory.version})
        sk = names.MEMORY + memory_id
        if item is None:
            self.add("memory", Delete(sk, same))
            return -before.size - sizes.ACCESS_ALLOWANCE
        columns: dict[str, Value] = {name: value for name, value in item.items() if name != "sk"}
        self.add("memory", Update(sk, set=columns, condition=same))
        return sizes.item_bytes(self.keys.owner, item) - before.size

    def _dedups(self, turns: Sequence[Turn]) -> int:
        """Let every text lead where it leads after all of the turns, each by one write; return the bytes that are more by it."""
        left: dict[str, str] = {}
        taken: dict[str, str] = {}
        for turn in turns:
            if turn.was is not None:
                left |= dict.fromkeys(items.held_tags(self.keys, turn.was), turn.was.id)
            if turn.sealed is not None:
                taken |= dict.fromkeys(turn.sealed.tags, turn.sealed.memory.id)
        grown = 0
        for tag in sorted(left.keys() | taken.keys()):
            was, will = left.get(tag), taken.get(tag)
            item = items.dedup_item(tag, will or was or "")
            size = sizes.item_bytes(self.keys.owner, item)
            if will is None:
                self.add("old dedup", Delete(str(item["sk"]), Condition(equals={"memory": was})))
                grown -= size
            elif was is None:
                self.add("dedup", Put(item, Condition(absent=True)))
                grown += size
            elif was != will:
                self.add("old dedup", Put(item, Condition(equals={"memory": was})))
        return grown

    def _explain_once(self, item: Mapping[str, Value] | None, write: Write) -> Exception | None:
        if item is None or not isinstance(write, Put):
            return None
        if item.get("fingerprint") != write.item["fingerprint"]:
            return IdempotencyKeyReused()
        return Replayed(str(item["made"]))

    _explain_window = _explain_once

    def _explain_daily(self, item: Mapping[str, Value] | None, write: Write) -> Exception:
        """Another request may have been the day's first between reading and writing: then this one is tried again."""
        first = isinstance(write, Update) and write.condition is not None and bool(write.condition.equals)
        return Stale() if first or item is None else Limited()

    def _explain_step(self, item: Mapping[str, Value] | None, write: Write) -> Exception:  # noqa: ARG002
        return StepDone()

    def _explain_head(self, item: Mapping[str, Value] | None, write: Write) -> Exception | None:
        if item is None or (item["epoch"], item["gen"]) != (self.keys.epoch, self.keys.generation):
            return Stale()
        at_most = write.condition.at_most if isinstance(write, Update) and write.condition else {}
        if "active" in at_most and int(item["active"]) > at_most["active"]:
            return ActiveLimitReached(details={"limit": self.bounds.active})
        used = int(item["bytes"])
        if used <= at_most.get("bytes", used):
            return None
        advice = "Delete memories of low importance or of projects you no longer work on."
        details = {"used_bytes": used, "limit_bytes": self.bounds.quota_bytes, "suggestion": advice}
        return QuotaExceeded(details=details)

    def _explain_memory(self, item: Mapping[str, Value] | None, write: Write) -> Exception:
        if item is None and not isinstance(write, Put):
            return NotFound()
        return VersionMismatch()

    def _explain_dedup(self, item: Mapping[str, Value] | None, write: Write) -> Exception:  # noqa: ARG002
        return Duplicate(details={"id": str(item["memory"])} if item else None)


def project_update(
    keys: OwnerKeys, tag: str, project: str, count: int, added_at: datetime | None, random: Random
) -> Update:
    """Return the write that counts a project's memories; its name is sealed the first time. `added_at` is when the newest of those
    that came in was made; None: none did."""
    sealed = keys.seal("project", tag, 1, bodies.pack({"name": project}), random)
    return Update(
        names.PROJECT + tag,
        set={"last_at": rfc3339(added_at)} if added_at else {},
        set_once={"sealed": sealed, "gen": keys.generation},
        add={"memories": count},
    )


def mark(keys: OwnerKeys, now: datetime, *, rows: int = 1) -> Update:
    """Return the write on the head that every change makes, in this life and with these keys, without counting anything but itself: who
    puts right what was counted before. `rows` are the change rows that it brings."""
    return Update(
        names.HEAD,
        set_once=_due(keys, now),
        add={"commits": 1} | ({"rows": rows} if rows else {}),
        condition=Condition(equals={"epoch": keys.epoch, "gen": keys.generation}),
    )


def _due(keys: OwnerKeys, now: datetime) -> Item:
    shard = names.due_shard(keys.owner, limits.DUE_SHARDS)
    return {"due_shard": shard, "due_at": rfc3339(now + limits.MAINTENANCE_DELAY)}


def _is(memory: Memory | None, status: Status) -> int:
    return 1 if memory is not None and memory.status is status else 0


def _shown(memory: Memory | None) -> int:
    return 1 if memory is not None and memory.status is not Status.RETIRED else 0
