"""ULIDs: 48 bits of milliseconds and 80 random bits, Crockford base32, 26 characters, sorted by time."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Now, in UTC."""
Random = Callable[[int], bytes]
"""That many unpredictable bytes."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ULID = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"
_ULID = re.compile(ULID)


def ulid(at: datetime, random: Random) -> str:
    """Return a new id for that moment; two of the same millisecond differ in their 80 random bits."""
    value = (int(at.timestamp() * 1000) << 80) | int.from_bytes(random(10), "big")
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))


def is_ulid(text: str) -> bool:
    """Tell whether the text has the form of an id; anything else names nothing we ever made."""
    return _ULID.fullmatch(text) is not None


def ulid_bytes(value: str) -> bytes:
    """Return the 16 bytes of an id."""
    number = 0
    for character in value:
        number = (number << 5) | _ALPHABET.index(character)
    return number.to_bytes(16, "big")


def ulid_time(value: str) -> datetime:
    """Return the moment an id was made, to the millisecond, in UTC."""
    return datetime.fromtimestamp(int.from_bytes(ulid_bytes(value)[:6], "big") / 1000, UTC)


def first_ulid(at: datetime) -> str:
    """Return the smallest id of that moment: a bound for ranges, never a name."""
    return ulid(at, bytes)
