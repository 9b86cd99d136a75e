"""An owner's keyring as it is stored, and its keys once they are open. docs/spec/sealing.md is the contract.

Pure: the key service unwraps, the caller stores and caches; this module derives, seals and tags.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shared.crypto.sealing import KEY_BYTES, Place, derived, seal, tagged, unseal
from shared.domain.errors import KeysBroken, SealBroken
from shared.domain.ids import Random

KEYRING_BYTES: Final = 1_000_000
WRAPPED_PLAIN_BYTES: Final = 2 * KEY_BYTES
_LARGEST: Final = 2**63 - 1
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
_GENERATION: Final = re.compile(r"[1-9]\d{0,18}", re.ASCII)


class MissingGeneration(SealBroken):
    """These keys do not hold that generation. Read the keyring again; if it is not there either, the seal is broken,
    which is what a caller who does not look sees at once [SEAL-4]."""

    def __init__(self, generation: int) -> None:
        super().__init__()
        self.generation = generation


@dataclass(frozen=True, slots=True)
class Keyring:
    """A living owner's wrapped keys: each wraps root ‖ data key of its generation [SEAL-6]."""

    epoch: int
    generation: int
    keys: Mapping[int, bytes]

    def to_bytes(self) -> bytes:
        """Return the stored form, JSON in UTF-8 [SEAL-12]."""
        keys = {str(number): base64.b64encode(blob).decode() for number, blob in sorted(self.keys.items())}
        return _json({"v": 1, "epoch": self.epoch, "generation": self.generation, "keys": keys})

    def rotated(self, wrapped: bytes) -> "Keyring":
        """Return the keyring with one more generation, now the current one; `wrapped` is a wrapped `fresh_blob`."""
        return Keyring(self.epoch, self.generation + 1, {**self.keys, self.generation + 1: wrapped})


@dataclass(frozen=True, slots=True)
class ErasedKeyring:
    """What stands in place of the keys after an owner was erased: nothing sealed in that life can be opened again."""

    epoch: int
    erased: str
    """RFC 3339 in UTC."""

    def to_bytes(self) -> bytes:
        """Return the stored form, JSON in UTF-8 [SEAL-12]."""
        return _json({"v": 1, "epoch": self.epoch, "erased": self.erased})


def read_keyring(stored: bytes) -> Keyring | ErasedKeyring:
    """Return the keyring that these bytes are. Raises SealBroken for any other form: none is guessed [SEAL-12]."""
    if len(stored) > KEYRING_BYTES:
        raise KeysBroken
    try:
        form = json.loads(stored.decode(), object_pairs_hook=_without_doubles, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise KeysBroken from None
    return _keyring(form)


def _keyring(form: Any) -> Keyring | ErasedKeyring:
    if not isinstance(form, dict) or type(form.get("v")) is not int or form["v"] != 1:
        raise KeysBroken
    epoch = _counted(form.get("epoch"))
    if form.keys() == {"v", "epoch", "erased"}:
        return ErasedKeyring(epoch, _moment(form["erased"]))
    if form.keys() != {"v", "epoch", "generation", "keys"} or not isinstance(form["keys"], dict):
        raise KeysBroken
    generation = _counted(form["generation"])
    keys = {_generation(number): _wrapped(blob) for number, blob in form["keys"].items()}
    if generation not in keys or max(keys) != generation:
        raise KeysBroken
    return Keyring(epoch, generation, keys)


def _counted(value: object) -> int:
    if type(value) is not int or not 1 <= value <= _LARGEST:
        raise KeysBroken
    return value


def _generation(name: str) -> int:
    if not _GENERATION.fullmatch(name):
        raise KeysBroken
    return _counted(int(name))


def _moment(value: object) -> str:
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        raise KeysBroken
    return value


def _wrapped(value: object) -> bytes:
    if not isinstance(value, str) or not value:
        raise KeysBroken
    try:
        blob = base64.b64decode(value, validate=True)
    except ValueError:
        raise KeysBroken from None
    if base64.b64encode(blob).decode() != value:
        raise KeysBroken
    return blob


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    form = dict(pairs)
    if len(form) < len(pairs):
        raise KeysBroken
    return form


def _refused(_: str) -> None:
    raise KeysBroken


def _json(form: Mapping[str, object]) -> bytes:
    return json.dumps(form, separators=(",", ":")).encode()


def fresh_blob(root: bytes, random: Random) -> bytes:
    """Return what the key service wraps for a new generation: the root that stays ‖ a new data key [SEAL-6]."""
    return root + random(KEY_BYTES)


@dataclass(frozen=True, slots=True, repr=False)
class OwnerKeys:
    """The open keys of one owner's life: in process memory only, dropped when epoch or generation moves."""

    owner: str
    epoch: int
    generation: int
    root: bytes
    data_keys: Mapping[int, bytes]
    _derived: dict[tuple[str, ...], bytes] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def opened(cls, owner: str, epoch: int, generation: int, plain: Mapping[int, bytes]) -> "OwnerKeys":
        """Return the keys of unwrapped blobs by generation; `generation` is the keyring's current one, and among them.

        Others may be added with `holding`. Raises SealBroken when a blob is not 64 bytes or roots differ [SEAL-6].
        """
        roots = {blob[:KEY_BYTES] for blob in plain.values()}
        if len(roots) != 1 or any(len(blob) != WRAPPED_PLAIN_BYTES for blob in plain.values()):
            raise KeysBroken
        if generation not in plain:
            raise MissingGeneration(generation)
        data_keys = {number: blob[KEY_BYTES:] for number, blob in plain.items()}
        return cls(owner, epoch, generation, roots.pop(), data_keys)

    def holding(self, generation: int, plain: bytes) -> "OwnerKeys":
        """Return these keys with one more generation, opened from its blob. Raises SealBroken as `opened` does."""
        one = OwnerKeys.opened(self.owner, self.epoch, generation, {generation: plain})
        if one.root != self.root:
            raise KeysBroken
        return OwnerKeys(self.owner, self.epoch, self.generation, self.root, {**self.data_keys, **one.data_keys})

    def seal(self, kind: str, id: str, version: int, plain: bytes, random: Random) -> bytes:  # noqa: A002 - the word of Place
        """Return the bytes sealed for that place under the current generation."""
        place = Place(self.owner, self.epoch, kind, id, version, self.generation)
        return seal(self._seal_key(kind, self.generation), place, plain, random)

    def unseal(self, kind: str, id: str, version: int, generation: int, sealed: bytes) -> bytes:  # noqa: A002 - same
        """Return the plain bytes. Raises SealBroken, or MissingGeneration when that generation is not held."""
        place = Place(self.owner, self.epoch, kind, id, version, generation)
        return unseal(self._seal_key(kind, generation), place, sealed)

    def tag(self, purpose: str, *parts: str) -> str:
        """Return the tag of these texts for one purpose, the same in every generation: 26 characters a-z2-7 [SEAL-9].

        Raises ValueError for a lone surrogate.
        """
        return tagged(self._tag_key(purpose), *parts)

    def _seal_key(self, kind: str, generation: int) -> bytes:
        """One key per generation and kind [SEAL-8]."""
        if generation not in self.data_keys:
            raise MissingGeneration(generation)
        held = self._derived.get(("seal", kind, str(generation)))
        if held is None:
            held = derived(self.data_keys[generation], "nacre seal key 1", self.owner, self.epoch, kind, generation)
            self._derived["seal", kind, str(generation)] = held
        return held

    def _tag_key(self, purpose: str) -> bytes:
        """One key per purpose, from the root only, so that rotation changes no tag [SEAL-8]."""
        held = self._derived.get(("tag", purpose))
        if held is None:
            held = derived(self.root, "nacre tag key 1", self.owner, self.epoch, purpose)
            self._derived["tag", purpose] = held
        return held

    def __repr__(self) -> str:
        """Show no key and no owner [SEAL-10]."""
        return f"OwnerKeys(epoch={self.epoch}, generation={self.generation})"
