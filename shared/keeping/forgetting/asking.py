"""Asking for many memories to be forgotten: what would go, or a task that maintenance does."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 - a wish has a date of its own
from datetime import datetime
from heapq import nlargest
from typing import Protocol

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import ConfirmationNeeded, Invalid, Refused, SealBroken, Unavailable
from shared.domain.ids import ulid
from shared.domain.memory import Category, Memory, Scope, Status
from shared.domain.task import TaskStatus
from shared.domain.times import days_bounds, rfc3339
from shared.keeping.forgetting import portrayals, texts
from shared.keeping.forgetting.earlier import Earlier
from shared.keeping.forgetting.families import meant
from shared.keeping.forgetting.selection import Selection, words_of
from shared.keeping.forgetting.texts import Text
from shared.keeping.forgetting.traces import noted
from shared.keeping.forgetting.unlearning import CONVERSATIONS, NOTES, heard
from shared.keeping.idempotency import Asked, Mark, standing
from shared.ports import Condition, Item, Put, Update
from shared.storage import bodies, items, names
from shared.storage.commit import TRIES, Commits
from shared.storage.items import Stored
from shared.storage.journal import Place
from shared.storage.partition import each_item
from shared.storage.preferences import preferences_or_default, retention_days
from shared.storage.transactions import Replayed, Stale
from shared.storage.vaults import Vaults

KIND = "forget"
SELECTION = "selection"
"""What a selection is called in its seal."""
WAITING = "forgets"
"""Column of maintenance's own item: forget tasks that are not done. Who has none is not looked through for them."""
AWAITED = "awaited"
"""Column of a task that is done: what was begun before it and may tell yet of what it means (`awaiting`); till then it keeps that."""


_PARTS = ("ids", "scope", "project", "agent", "category", "importance_below", "query")


class Wish(Protocol):
    """What a request to forget says; None: nothing about that."""

    @property
    def ids(self) -> list[str] | None: ...
    @property
    def date(self) -> Date | None: ...
    @property
    def last_days(self) -> int | None: ...
    @property
    def since(self) -> datetime | None: ...
    @property
    def until(self) -> datetime | None: ...
    @property
    def scope(self) -> Scope | None: ...
    @property
    def project(self) -> str | None: ...
    @property
    def agent(self) -> str | None: ...
    @property
    def category(self) -> Category | None: ...
    @property
    def importance_below(self) -> int | None: ...
    @property
    def query(self) -> str | None: ...
    @property
    def all(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be forgotten: how many memories, and the newest of them; how many earlier versions of others, and some of those; how
    many notes that are no memories yet, how many conversations of which a part would go, and how many scenes. What is over is not shown:
    it goes anyway.

    `damaged` counts memories and objects of the journal that do not open. `complete` False: there was no time to look through all.
    `told` counts the texts of documents that would go by their words; `texts` are some of those that may be shown.
    """

    count: int
    memories: list[Memory]
    earlier_count: int
    earlier: list[Memory]
    damaged: int
    complete: bool
    told: int = 0
    texts: Sequence[Text] = ()
    notes: int = 0
    conversations: int = 0
    scenes: int = 0


class Looked:
    """Every memory that opens, oldest first, retired ones too, while it is not later than `until`; then `complete` is False.

    `damaged` counts those that do not open: they cannot be meant by what they say.
    """

    def __init__(self, vaults: Vaults, keys: OwnerKeys, until: datetime | None = None) -> None:
        self.vaults, self.keys, self.until = vaults, keys, until
        self.complete, self.damaged = True, 0

    def __iter__(self) -> Iterator[Stored]:
        for item in each_item(self.vaults.table, self.keys.owner, names.MEMORY):
            if self.until is not None and self.vaults.clock() > self.until:
                self.complete = False
                return
            try:
                yield items.from_item(self.keys, item)
            except SealBroken:
                self.damaged += 1


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The use case of `POST /v1/forget`."""

    commits: Commits

    @property
    def _vaults(self) -> Vaults:
        return self.commits.vaults

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        return self._vaults.clock()

    def selection(self, owner: str, wish: Wish) -> Selection:
        """Return what a request means; days are the owner's own. Raises Invalid for one that means nothing, or two things at once."""
        days = [name for name in ("date", "last_days") if getattr(wish, name) is not None]
        times = [name for name in ("since", "until") if getattr(wish, name) is not None]
        others = [name for name in _PARTS if getattr(wish, name) is not None]
        if len(days) > 1 or (days and times):
            raise Invalid.of(days[-1], "Send one of date, last_days, and from with to.")
        if wish.all and (days or times or others):
            raise Invalid.of("all", "It stands alone: with another part, leave it out.")
        if not (wish.all or days or times or others):
            raise Invalid.of("body", 'Say what to forget; everything is {"all": true}.')
        words = words_of(wish.query) if wish.query is not None else ()
        if wish.query is not None and not words:
            raise Invalid.of("query", "There is no word in it.")
        now, since, until = self.now(), wish.since, wish.until
        if days:
            zone = preferences_or_default(self._vaults.open(owner, [names.SETTINGS])).time_zone
            since, until = days_bounds(wish.date, wish.last_days, zone, now)
        return Selection(
            asked_at=now,
            ids=frozenset(wish.ids) if wish.ids is not None else None,
            since=since,
            until=until,
            scope=wish.scope,
            project=wish.project,
            agent=wish.agent,
            category=wish.category,
            importance_below=wish.importance_below,
            words=words,
        )

    def preview(self, owner: str, selection: Selection) -> Preview:
        """Count what would be forgotten, and change nothing. Takes DELETING_TIME at most."""
        opened = self._vaults.open(owner, [names.SETTINGS])
        if opened is None:
            return Preview(0, [], 0, [], 0, complete=True)
        now, days, over = self._vaults.clock(), retention_days(opened), set[str]()
        until = now + limits.DELETING_TIME
        looked = Looked(self._vaults, opened.keys, until)

        def each() -> Iterator[Stored]:
            for stored in looked:
                over.update([stored.memory.id] if stored.memory.expired(now, days) else [])
                yield stored

        found = meant(selection, each())
        changes = [*found.alone, *(change for family in found.families for change in family)]
        gone = [change.before.memory for change in changes if change.before is not None and change.after is None]
        shown = [one for one in gone if one.status is not Status.RETIRED and one.id not in over]
        shown.sort(key=lambda one: one.id, reverse=True)
        past = Earlier(self._vaults, opened.keys, selection, {memory.id for memory in gone} | over, until)
        versions, earlier = _newest(past)
        waits, in_time = self._waiting(opened.keys, selection, until)
        damaged, complete = looked.damaged + past.damaged, looked.complete and past.complete and in_time
        told = list(texts.found(self._vaults, opened.keys, selection))
        return Preview(
            count=len(shown),
            memories=shown[: limits.FORGET_SHOWN],
            earlier_count=versions,
            earlier=earlier,
            damaged=damaged,
            complete=complete,
            told=len(told),
            texts=texts.shown(self._vaults, opened, told[: limits.FORGET_SHOWN]),
            notes=waits.get(NOTES, 0),
            conversations=waits.get(CONVERSATIONS, 0),
            scenes=portrayals.counted(self._vaults, opened.keys, selection),
        )

    def _waiting(self, keys: OwnerKeys, selection: Selection, until: datetime) -> tuple[Counter[str], bool]:
        """Count what is meant and no memory yet; tell whether there was time for all."""
        counts = Counter({NOTES: sum(1 for _ in noted(self._vaults, keys, selection))})
        for one in heard(self._vaults, keys, selection):
            counts.update(one.gone)
            if self._vaults.clock() > until:
                return counts, False
        return counts, True

    def ask(self, owner: str, selection: Selection, *, confirm: bool, once: Mark | None = None) -> Asked:
        """Make the task that forgets, ask maintenance to do it, and return it.

        Raises ConfirmationNeeded, IdempotencyKeyReused, IdempotencyKeySpent, TableLost, Unavailable.
        """
        if not confirm:
            raise ConfirmationNeeded
        for _ in range(TRIES):
            opened = self._vaults.open_or_create(owner)
            keys, now = opened.keys, self._vaults.clock()
            task_id = ulid(now, self._vaults.random)
            transaction = self.commits.transaction(keys)
            if once:
                transaction.add("once", once(keys, task_id).write(now))
            transaction.add("memory", Put(self._task(keys, task_id, selection, now), Condition(absent=True)))
            transaction.add("waiting", Update(names.UPKEEP, add={WAITING: 1}))
            transaction.head({}, deleting=True)
            try:
                self._vaults.table.write(owner, transaction.writes)
            except Refused as refused:
                reason = transaction.explain(refused)
                if isinstance(reason, Replayed):
                    return standing(self._vaults, owner, reason.made, replayed=True)
                if not isinstance(reason, Stale):
                    raise reason from None
                self._vaults.forget(owner)
                continue
            message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
            with suppress(Unavailable):  # the owner is due in any case
                self.commits.maintenance.send(owner, message, deduplication=f"{owner[:40]}-{task_id}")
            return Asked(task_id)
        raise Unavailable

    def _task(self, keys: OwnerKeys, task_id: str, selection: Selection, now: datetime) -> Item:
        sealed = keys.seal(SELECTION, task_id, 1, bodies.pack(selection.to_body()), self._vaults.random)
        item: Item = {"sk": names.TASK + task_id, "kind": KIND, "status": TaskStatus.QUEUED.value}
        item |= {"created_at": rfc3339(now), "updated_at": rfc3339(now), "run": 1, "attempts": 0, "applied": 0}
        return item | {SELECTION: sealed, "gen": keys.generation}


def selection_of(keys: OwnerKeys, item: Item) -> Selection:
    """Open a task's selection. Raises SealBroken."""
    sealed = item.get(SELECTION)
    if not isinstance(sealed, bytes):
        raise SealBroken
    task_id = str(item["sk"]).removeprefix(names.TASK)
    return Selection.from_body(bodies.unpack(keys.unseal(SELECTION, task_id, 1, int(item["gen"]), sealed)))


def _newest(past: Iterable[Memory]) -> tuple[int, list[Memory]]:
    """Count versions, each once, and return the newest of them."""
    places, newest = set[Place](), list[Memory]()
    for version in past:
        if (version.id, version.commit) not in places:
            places.add((version.id, version.commit))
            newest = nlargest(limits.FORGET_SHOWN, [*newest, version], key=lambda one: (one.id, one.version))
    return len(places), newest
