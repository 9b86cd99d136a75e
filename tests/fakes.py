"""Honest stand-ins for everything outside: the ports of shared/ports.py in memory, a clock, randomness and crashes.

They keep the conditions, page sizes, limits and versions of the real services; tests/contract runs one suite on both.
All are safe to use from many threads. Nothing here sleeps.

    clock, random = FakeClock(), SeededRandom(7)
    table, objects, keys, queue = MemoryTable(), MemoryObjects(), MemoryKeys(random), MemoryQueue(clock)
    steps = Steps(at=3, when="after")              # dies right after the 3rd call of all ports together
    table, objects = crashing(table, steps), crashing(objects, steps)
"""

import hashlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shared.domain.errors import AlreadyThere, Changed, SealBroken
from shared.domain.ids import Clock, Random
from shared.ports import FreshKey, ObjectName, StoredObject
from tests.fake_table import MemoryTable
from tests.fake_world import Crash, FakeClock, SeededRandom, Steps, crashing

__all__ = [
    "Crash",
    "FakeClock",
    "MemoryKeys",
    "MemoryObjects",
    "MemoryQueue",
    "MemoryTable",
    "QueuedMessage",
    "SeededRandom",
    "Steps",
    "crashing",
]

NAMES_PER_PAGE = 1_000
VALUE_CHARACTERS = 200
DEDUPLICATION = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class _Version:
    body: bytes | None
    """None: a delete marker."""

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body or b"").hexdigest()[:32]}"'


class MemoryObjects:
    """The port `Objects`: a versioned bucket. What was replaced or deleted stays until `erase`.

    The same bytes have the same ETag, as in S3. `delete_marker` and `versions` let tests play the operator.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._versions: dict[str, list[_Version]] = {}

    def keys(self) -> list[str]:
        """Return the names of current objects, in order."""
        with self._lock:
            return sorted(key for key, versions in self._versions.items() if versions[-1].body is not None)

    def everything_named(self) -> list[str]:
        """Return the names under which anything is kept, superseded versions and delete markers included."""
        with self._lock:
            return sorted(key for key, versions in self._versions.items() if versions)

    def versions(self, key: str) -> list[bytes | None]:
        """Return the bodies kept under a key, oldest first; None is a delete marker."""
        with self._lock:
            return [version.body for version in self._versions.get(key, [])]

    def everything(self) -> bytes:
        """Return every key and every version's bytes, to search for what must not be there."""
        with self._lock:
            bodies = [v.body or b"" for versions in self._versions.values() for v in versions]
            return b"\n".join([*(key.encode() for key in self._versions), *bodies])

    def delete_marker(self, key: str) -> None:
        """Delete as an operator would: the object is gone, its versions stay."""
        with self._lock:
            self._versions.setdefault(key, []).append(_Version(None))

    def put(self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        with self._lock:
            current = self._current(key)
            if if_absent and current is not None:
                raise AlreadyThere
            if if_match is not None and (current is None or current.etag != if_match):
                raise Changed
            version = _Version(bytes(body))
            self._versions.setdefault(key, []).append(version)
            return version.etag

    def get(self, key: str) -> StoredObject | None:
        with self._lock:
            current = self._current(key)
            return None if current is None else StoredObject(current.body or b"", current.etag)

    def names(self, prefix: str, *, after: str = "") -> Iterator[ObjectName]:
        while True:
            with self._lock:
                chosen = [key for key in self.keys() if key.startswith(prefix) and key > after][:NAMES_PER_PAGE]
                page = [ObjectName(key, len(self._versions[key][-1].body or b"")) for key in chosen]
            yield from page
            if len(page) < NAMES_PER_PAGE:
                return
            after = page[-1].key

    def erase(self, key: str, *, keep_current: bool = False) -> None:
        with self._lock:
            current = self._current(key) if keep_current else None
            if current is not None:
                self._versions[key] = [current]
            else:
                self._versions.pop(key, None)

    def wipe(self, prefix: str) -> int:
        with self._lock:
            keys = [key for key in sorted(self._versions) if key.startswith(prefix)][:NAMES_PER_PAGE]
            return sum(len(self._versions.pop(key)) for key in keys)

    def _current(self, key: str) -> _Version | None:
        versions = self._versions.get(key)
        return versions[-1] if versions and versions[-1].body is not None else None


class MemoryKeys:
    """The port `KeyService`: wraps with one key of its own, bound to the context. With `disabled` unwrap refuses."""

    def __init__(self, random: Random) -> None:
        self.disabled = False
        self.unwrapped = 0
        self._random = random
        self._cipher = AESGCM(random(32))

    def create(self, owner: str, epoch: int) -> FreshKey:
        plain = self._random(64)
        return FreshKey(plain, self.wrap(owner, epoch, plain))

    def unwrap(self, owner: str, epoch: int, wrapped: bytes) -> bytes:
        self.unwrapped += 1
        if self.disabled:
            raise SealBroken
        try:
            return self._cipher.decrypt(wrapped[:12], wrapped[12:], _context(owner, epoch))
        except (InvalidTag, ValueError):
            raise SealBroken from None

    def wrap(self, owner: str, epoch: int, plain: bytes) -> bytes:
        nonce = self._random(12)
        return nonce + self._cipher.encrypt(nonce, plain, _context(owner, epoch))


def _context(owner: str, epoch: int) -> bytes:
    return f"nacre\n{owner}\n{epoch}".encode()


@dataclass(slots=True)
class QueuedMessage:
    """A message as a worker receives it; `receipt` changes with every delivery."""

    group: str
    body: dict[str, str | int]
    deduplication: str
    visible_at: datetime
    receives: int = 0
    receipt: str = ""


@dataclass
class MemoryQueue:
    """The port `Queue` and its worker's side: first in, first out within a group.

    A group with a message in flight waits. A message not deleted comes back when `visibility` is over, and moves to
    `dead` after `attempts` deliveries.
    """

    clock: Clock
    visibility: timedelta = timedelta(minutes=30)
    attempts: int = 3
    messages: list[QueuedMessage] = field(default_factory=list)
    dead: list[QueuedMessage] = field(default_factory=list)
    _sent: dict[str, datetime] = field(default_factory=dict, repr=False)
    _deliveries: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def send(self, group: str, body: Mapping[str, str | int], *, deduplication: str) -> None:
        if any(len(str(value)) > VALUE_CHARACTERS for value in body.values()):
            raise ValueError("a message holds ids and numbers, never words")
        with self._lock:
            now = self.clock()
            sent = self._sent.get(deduplication)
            if sent is not None and now - sent < DEDUPLICATION:
                return
            self._sent[deduplication] = now
            self.messages.append(QueuedMessage(group, dict(body), deduplication, now))

    def release(self, receipt: str, *, seconds: int) -> None:
        with self._lock:
            for message in self.messages:
                if message.receipt == receipt and message.visible_at > self.clock():
                    message.visible_at = self.clock() + timedelta(seconds=seconds)

    def receive(self, limit: int = 1) -> list[QueuedMessage]:
        """Deliver up to that many messages that may be worked on now, at most one of each group."""
        with self._lock:
            now = self.clock()
            ready: list[QueuedMessage] = []
            groups: set[str] = set()
            for message in list(self.messages):
                if message.group in groups:
                    continue
                if message.visible_at <= now and message.receives >= self.attempts:
                    self.messages.remove(message)
                    self.dead.append(message)
                    continue
                groups.add(message.group)
                if message.visible_at <= now and len(ready) < limit:
                    ready.append(self._deliver(message, now))
            return ready

    def delete(self, receipt: str) -> None:
        """Acknowledge a delivery; a receipt of an earlier delivery does nothing."""
        with self._lock:
            self.messages = [message for message in self.messages if message.receipt != receipt]

    def _deliver(self, message: QueuedMessage, now: datetime) -> QueuedMessage:
        self._deliveries += 1
        message.receives += 1
        message.receipt = f"receipt-{self._deliveries}"
        message.visible_at = now + self.visibility
        return message
