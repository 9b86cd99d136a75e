"""CmdCode's `L1_facts.jsonl`: facts sealed with keys that come from a master key and the user's id, both given with the request. Pure.

Its plan, chapter 7: keys are HMAC-SHA256(master, user ‖ ":memory:encrypt") and HMAC-SHA256(master, user ‖ ":memory:hmac"); a fact is
AES-256-CBC with PKCS #7, checked by HMAC-SHA256 over iv ‖ ciphertext (hex) before it is opened; iv and data are Base64.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7

from shared.domain.errors import Invalid
from shared.domain.memory import Category, Scope
from shared.keeping.foreign import terms
from shared.keeping.foreign.occasion import RECORDS, Occasion, Sent, of, taken, unlike
from shared.keeping.foreign.rows import rows
from shared.keeping.foreign.times import when
from shared.keeping.importing.records import Reason, Record, Refusal

_DEFAULT_SCENE: Final = "scene_default"
_IV_BYTES: Final = 16
_KEY_BYTES: Final = 32


class _Sealed(NamedTuple):
    iv: bytes
    data: bytes
    mac: bytes


@dataclass(frozen=True, slots=True)
class _Keys:
    """What one user's facts are checked and opened with."""

    encrypt: bytes
    check: bytes

    @classmethod
    def derived(cls, master: bytes, user_id: str) -> "_Keys":
        return cls(*(hmac.digest(master, f"{user_id}:memory:{use}".encode(), "sha256") for use in ("encrypt", "hmac")))

    def fits(self, sealed: _Sealed) -> bool:
        """Tell, in a time that says nothing of the answer, whether a fact was sealed with these keys."""
        expected = hmac.new(self.check, sealed.iv + sealed.data, hashlib.sha256).hexdigest()
        return hmac.compare_digest(expected.encode(), sealed.mac)

    def opened(self, sealed: _Sealed) -> str:
        """Return the text of a fact that fits. Raises ValueError."""
        decryptor = Cipher(AES256(self.encrypt), CBC(sealed.iv)).decryptor()
        padded = decryptor.update(sealed.data) + decryptor.finalize()
        unpadder = PKCS7(AES256.block_size).unpadder()
        return (unpadder.update(padded) + unpadder.finalize()).decode()


def is_row(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is one of these."""
    sealed = row.get("encrypted")
    return isinstance(sealed, dict) and sealed.keys() >= {"iv", "data", "mac"}


def read(text: str, occasion: Occasion) -> Iterator[Record | Refusal]:
    """Yield the facts of a page. Raises Invalid where key or user is missing, or opens none of them."""
    found = list(islice(rows(text, occasion.after), RECORDS + 1))
    sealed = {row[0]: _sealed(row[1]) for row in found if not isinstance(row, Refusal)}
    keys = _keys(occasion, [one for one in sealed.values() if one is not None])
    for row in found:
        yield row if isinstance(row, Refusal) else _record(*row, sealed[row[0]], keys, occasion)


def _keys(occasion: Occasion, sealed: list[_Sealed]) -> _Keys:
    if not occasion.master_key or not occasion.user_id:
        missing = "master_key" if not occasion.master_key else "user_id"
        raise Invalid.of(missing, "CmdCode's facts are sealed: send master_key and user_id with each page.")
    for master in _masters(occasion.master_key):
        keys = _Keys.derived(master, occasion.user_id)
        if any(keys.fits(one) for one in sealed) or not sealed:
            return keys
    raise Invalid.of("master_key", "With this master_key and user_id nothing of it opens.")


def _masters(written: str) -> Iterator[bytes]:
    """Yield the keys that a text may mean: itself, and 32 bytes written as hex or Base64. The checks of the facts tell which."""
    yield written.encode()
    for meaning in (bytes.fromhex, lambda text: base64.b64decode(text, validate=True)):
        try:
            master = meaning(written.strip())
        except ValueError:
            continue
        if len(master) == _KEY_BYTES:
            yield master


def _sealed(row: Mapping[str, Any]) -> _Sealed | None:
    """Return the sealed fact of a row; None where there is none."""
    parts = row.get("encrypted")
    if not isinstance(parts, dict):
        return None
    iv, data, mac = (parts.get(name) for name in ("iv", "data", "mac"))
    if not isinstance(iv, str) or not isinstance(data, str) or not isinstance(mac, str):
        return None
    try:
        return _Sealed(base64.b64decode(iv, validate=True), base64.b64decode(data, validate=True), mac.lower().encode())
    except (binascii.Error, ValueError):
        return None


def _record(
    line: int, row: Mapping[str, Any], sealed: _Sealed | None, keys: _Keys, occasion: Occasion
) -> Record | Refusal:
    if not is_row(row):
        return Refusal(line, Reason.UNKNOWN_KIND)
    if sealed is None:
        return Refusal(line, Reason.INVALID, "encrypted")
    try:
        content = keys.opened(sealed) if keys.fits(sealed) and len(sealed.iv) == _IV_BYTES else None
    except ValueError:
        content = None
    if content is None:
        return Refusal(line, Reason.DAMAGED)
    return taken(line, {**row, "content": content}, _sent, occasion)


def _sent(row: Mapping[str, Any], occasion: Occasion) -> Sent:
    try:
        created_at = when(row.get("created_at"), occasion.zone)
    except ValueError:
        raise unlike("created_at") from None
    scene = of(row, "l2_scene_id")
    placed = scene not in (None, _DEFAULT_SCENE)
    return {
        "content": row["content"],
        "category": terms.category([row.get("category")]) or Category.KNOWLEDGE,
        "importance": terms.importance(row.get("importance")),
        "scope": Scope.PROJECT if placed else Scope.USER,
        "project": scene if placed else None,
        "created_at": created_at,
    }
