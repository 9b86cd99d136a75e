"""Sealing of bytes to the place they are stored at, and what is derived for it: docs/spec/sealing.md is the contract.

Pure: knows no owner's keyring, no store and no clock; randomness is handed in.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from shared.domain.errors import SealBroken
from shared.domain.ids import Random

FORMAT: Final = 1
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16
OVERHEAD: Final = 1 + NONCE_BYTES + TAG_BYTES
"""Bytes that sealing adds."""
_SEAL_LABEL: Final = "nacre seal 1"


@dataclass(frozen=True, slots=True)
class Place:
    """Where sealed bytes belong: what is sealed for one place opens nowhere else. Numbers are 0 ≤ n < 2⁶⁴."""

    owner: str
    epoch: int
    kind: str
    id: str
    version: int
    generation: int


def joined(*parts: str | int) -> bytes:
    """Return the one canonical byte string of these parts [SEAL-3]: no two lists share one.

    Each part is its length in 4 bytes, big endian, then text as UTF-8 bytes or a number as 8 bytes, big endian.
    Raises ValueError (never naming the text) for a lone surrogate, OverflowError for a number outside 0 ≤ n < 2⁶⁴.
    """
    out = bytearray()
    for part in parts:
        piece = part.to_bytes(8, "big") if isinstance(part, int) else _utf8(part)
        out += len(piece).to_bytes(4, "big") + piece
    return bytes(out)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # The codec's error carries the text itself.
        raise ValueError("text with a lone surrogate has no bytes") from None


def derived(secret: bytes, label: str, *parts: str | int) -> bytes:
    """Return 32 bytes for one purpose: HKDF-SHA256 (RFC 5869) without salt, info = joined(label, parts) [SEAL-7]."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=joined(label, *parts)).derive(secret)


def tagged(key: bytes, *parts: str) -> str:
    """Return the tag of these texts: 26 characters a-z2-7 of the first 128 bits of HMAC-SHA256 [SEAL-9]."""
    return base32(hmac.digest(key, joined(*parts), hashlib.sha256)[:16])


def base32(raw: bytes) -> str:
    """Return RFC 4648 base32 in lower case without padding."""
    return base64.b32encode(raw).decode().rstrip("=").lower()


def seal(key: bytes, place: Place, plain: bytes, random: Random) -> bytes:
    """Return the plain bytes sealed for that place: format, nonce, AES-256-GCM ciphertext and tag [SEAL-1].

    The nonce is fresh and random for every seal [SEAL-2]; a key seals at most 2³² times [SEAL-5].
    """
    nonce = random(NONCE_BYTES)
    return bytes((FORMAT,)) + nonce + AESGCM(key).encrypt(nonce, plain, _bound(place))


def unseal(key: bytes, place: Place, sealed: bytes) -> bytes:
    """Return the plain bytes of what was sealed for that place; anything else raises SealBroken [SEAL-4]."""
    if len(sealed) < OVERHEAD or sealed[0] != FORMAT:
        raise SealBroken
    try:
        return AESGCM(key).decrypt(sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :], _bound(place))
    except (InvalidTag, ValueError, OverflowError):
        raise SealBroken from None


def _bound(place: Place) -> bytes:
    """Return the additional data: every field of the place, canonically [SEAL-3]."""
    return joined(_SEAL_LABEL, place.owner, place.epoch, place.kind, place.id, place.version, place.generation)
