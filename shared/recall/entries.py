"""What the index knows of one memory, and a small cache of analysed ones. Text arrives masked; nothing here opens a seal."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from shared.domain.memory import Category, Status
from shared.text import tokens

Ids = npt.NDArray[np.bytes_]

CATEGORIES: Final = tuple(Category)
"""An entry's `category` is a place in this list: append only."""
STATUSES: Final = tuple(Status)
"""An entry's `status` is a place in this list: append only."""

LETTERS_OF_ID: Final = 26
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LETTERS = np.frombuffer(_ALPHABET.encode(), np.uint8)
_VALUES = np.full(256, 255, np.uint8)
_VALUES[_LETTERS] = np.arange(32, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory as the index sees it.

    `text` is masked and holds label and tags too; times are whole epoch seconds (0 … 2³²−1); importance 1 … 10; `category` and `status` are
    places in CATEGORIES and STATUSES; `scope_tag` 16 bytes; `ends_at` 0 for never; `vector` is None or a unit embedding scaled to int8
    (x × 127); `zone` is where its owner's days begin.
    """

    id: str
    version: int
    text: str
    created_at: int
    updated_at: int
    importance: int
    category: int
    scope_tag: bytes
    status: int = 0
    access_count: int = 0
    ends_at: int = 0
    vector: bytes | None = None
    zone: tzinfo = UTC

    def terms(self) -> tokens.Terms:
        """Search terms of the text and of the day it was made, there where its owner is."""
        return tokens.terms(self.text, at=datetime.fromtimestamp(self.created_at, self.zone))


def packed_ids(ids: Sequence[str]) -> Ids:
    """ULIDs as sortable 16-byte strings, shape (n,); ValueError when one is not a ULID."""
    if not ids:
        return np.zeros(0, "S16")
    if any(len(text) != LETTERS_OF_ID for text in ids):
        raise ValueError("An id has 26 characters.")
    letters = np.frombuffer("".join(ids).encode("ascii", "replace"), np.uint8).reshape(-1, LETTERS_OF_ID)
    values = _VALUES[letters]
    if (values > 31).any() or (values[:, :1] > 7).any():
        raise ValueError("An id is a ULID.")
    bits = np.unpackbits(values[:, :, None], axis=2)[:, :, 3:].reshape(len(ids), -1)[:, 2:]
    return np.packbits(bits, axis=1).view("S16").ravel()


def unpacked_ids(ids: Ids) -> list[str]:
    """The ULID strings of 16-byte ids, shape (n,)."""
    if len(ids) == 0:
        return []
    bits = np.unpackbits(np.ascontiguousarray(ids).view(np.uint8).reshape(-1, 16), axis=1)
    spaced = np.zeros((len(ids), LETTERS_OF_ID, 8), np.uint8)
    spaced[:, 0, 5:] = bits[:, :3]
    spaced[:, 1:, 3:] = bits[:, 3:].reshape(len(ids), LETTERS_OF_ID - 1, 5)
    letters = _LETTERS[np.packbits(spaced, axis=2)[:, :, 0]]
    return [str(text, "ascii") for text in np.ascontiguousarray(letters).view("S26").ravel().tolist()]


class TermCache:
    """The terms of memories lately scored outside the index, by (owner, id, version, zone); the least recently used goes first."""

    def __init__(self, capacity: int = 2_000) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, str, int, tzinfo], tokens.Terms] = OrderedDict()
        self._lock = Lock()

    def terms(self, owner: str, entry: Entry) -> tokens.Terms:
        """Terms of that entry; `owner` is any opaque key that tells owners (and their lives) apart."""
        key = (owner, entry.id, entry.version, entry.zone)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        found = entry.terms()
        with self._lock:
            self._kept[key] = found
            if len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return found

    def forget(self, owner: str) -> None:
        """Drop everything of that owner."""
        for key in [key for key in self._kept if key[0] == owner]:
            del self._kept[key]

    def __len__(self) -> int:
        return len(self._kept)
