"""What the service needs from outside, in its own words. Adapters implement these; tests/fakes.py does too.

Each call is one round trip unless it says otherwise. All reads are strongly consistent unless they say otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Value = str | int | bytes
Item = dict[str, Value]
"""A stored item without its partition key: always has `sk`; an absent attribute is an absent key."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of the stored item for a write to happen; every given part must hold.

    `equals` with None means: the attribute is absent. `at_most` fails where the attribute is absent.
    `absent_or_expired` holds when there is no item, or its `ttl` (epoch seconds) is not after that moment.
    """

    absent: bool = False
    exists: bool = False
    equals: Mapping[str, Value | None] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    absent_or_expired: int | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """Store the whole item."""

    item: Item
    condition: Condition | None = None

    @property
    def sk(self) -> str:
        return str(self.item["sk"])


@dataclass(frozen=True, slots=True)
class Update:
    """Change some attributes; without a condition the item is made when absent.

    `set_once` sets only where the attribute is absent. `add` adds to a number, 0 where absent.
    """

    sk: str
    set: Mapping[str, Value] = field(default_factory=dict)
    set_once: Mapping[str, Value] = field(default_factory=dict)
    add: Mapping[str, int] = field(default_factory=dict)
    remove: Sequence[str] = ()
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the item; absent is fine unless the condition says otherwise."""

    sk: str
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Change nothing; only the condition counts."""

    sk: str
    condition: Condition


Write = Put | Update | Delete | Check


@dataclass(frozen=True, slots=True)
class Page:
    """Items in key order and the sort key to go on after; None: there are no more."""

    items: list[Item]
    after: str | None


@dataclass(frozen=True, slots=True)
class Due:
    """An owner whom maintenance should look at, since `at` (RFC 3339), as an item of the owner's says that has this sort key."""

    owner: str
    at: str
    sk: str


class Table(Protocol):
    """The serving copy: one partition per owner, items by sort key."""

    def get(self, owner: str, sks: Sequence[str]) -> dict[str, Item]:
        """Return the items that exist, by sort key. Batches of 100 are read in parallel (one step); unprocessed keys are
        asked for again with back-off until all are read. Raises Busy when that does not end."""
        ...

    def query(
        self,
        owner: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> Page:
        """Return one page (≤ 1 MB, ≤ limit) of the items whose sort key begins with the prefix, after that key."""
        ...

    def by_update(
        self, owner: str, status: str, *, before: str | None = None, after: str | None = None, limit: int
    ) -> list[str]:
        """Return at most `limit` values of `updated` ("<RFC 3339>#<memory id>") of memories of that status, newest first, smaller
        than `before` and not smaller than `after`. Eventually consistent: may lag behind writes."""
        ...

    def write(self, owner: str, writes: Sequence[Write]) -> None:
        """Do all of the writes or none (≤ 100, ≤ 4 MB). One write alone is a plain conditional write.

        Raises Refused with the items that stood in the way. Contention is retried with jitter; Busy when it does not end.
        """
        ...

    def update(self, owner: str, change: Update) -> Item:
        """Do one update and return the whole new item. Raises Refused."""
        ...

    def due(self, shard: int, *, before: str, limit: int) -> list[Due]:
        """Return owners of that shard whose `due_at` is before that moment, oldest first; once for each of their items that says so.
        Eventually consistent."""
        ...


@dataclass(frozen=True, slots=True)
class StoredObject:
    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class ObjectName:
    key: str
    size: int


class Objects(Protocol):
    """Sealed objects by key, versioned."""

    def put(self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        """Store the object and return its ETag.

        Raises AlreadyThere (if_absent; never for this very call's own earlier attempt, whose answer was lost) or Changed (if_match).
        """
        ...

    def get(self, key: str) -> StoredObject | None:
        """Return the current object; None when there is none."""
        ...

    def names(self, prefix: str, *, after: str = "") -> Iterator[ObjectName]:
        """Yield current objects in key order, keys greater than `after`. One round trip per 1,000."""
        ...

    def erase(self, key: str, *, keep_current: bool = False) -> None:
        """Remove the object with every version and delete marker; with `keep_current` only what it superseded.
        Two round trips. Absent is fine."""
        ...

    def wipe(self, prefix: str) -> int:
        """Remove up to 1,000 versions and delete markers of objects whose keys begin so; return how many: 0 says that none is left.
        Two round trips."""
        ...


@dataclass(frozen=True, slots=True)
class FreshKey:
    plain: bytes
    wrapped: bytes


class KeyService(Protocol):
    """Wraps owners' keys. The context {service, owner, epoch} is bound to every wrapped key."""

    def create(self, owner: str, epoch: int) -> FreshKey:
        """Return 64 new random bytes, plain and wrapped."""
        ...

    def unwrap(self, owner: str, epoch: int, wrapped: bytes) -> bytes:
        """Return the plain bytes. Raises SealBroken when the context differs, the blob is altered or the key is disabled."""
        ...

    def wrap(self, owner: str, epoch: int, plain: bytes) -> bytes:
        """Wrap bytes that exist already (key rotation keeps the root)."""
        ...


class Queue(Protocol):
    """A FIFO queue. Bodies hold ids and numbers, never words."""

    def send(self, group: str, body: Mapping[str, str | int], *, deduplication: str) -> None:
        """Send one message; the same deduplication id within five minutes is sent once."""
        ...

    def release(self, receipt: str, *, seconds: int) -> None:
        """Make a message that is in flight visible again after that time."""
        ...


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a model's cosines are trusted: measured for each (docs/decisions/embeddings.md).

    `weight` is what meaning counts beside words, whose best counts 1. Above the cosine `floor` a memory is found that shares no word with
    the query; at 1 none is, and meaning only reorders. Memories whose cosine to each other is at least `alike` say nearly the same.
    """

    weight: float
    floor: float
    alike: float


class Embedder(Protocol):
    """Turns texts into vectors; the nearer two meanings are, the larger their cosine. Texts arrive masked.

    Vectors have one length, any scale, and at least one number that is not 0. Both calls raise ModelUnavailable and its kinds.
    """

    @property
    def name(self) -> str:
        """Provider, model and length: vectors of two names cannot be compared."""
        ...

    @property
    def trust(self) -> Trust:
        """How far its cosines are trusted."""
        ...

    def serves(self, query: str) -> bool:
        """Tell whether meaning helps to answer this query, by its script."""
        ...

    def documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vector of each text, in order. Any number of round trips, repeated in case of need."""
        ...

    def query(self, text: str) -> list[float]:
        """Return the vector of a query. One round trip, which gives up by itself within the time that searches wait for it."""
        ...
