"""Whole objects of the bucket, sealed: the generation of the key in four bytes, then the sealed bytes."""

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.ids import Random

_GENERATION = 4


def seal(keys: OwnerKeys, kind: str, object_id: str, plain: bytes, random: Random) -> bytes:
    """Return the bytes to store under that id."""
    return keys.generation.to_bytes(_GENERATION, "big") + keys.seal(kind, object_id, 1, plain, random)


def unseal(keys: OwnerKeys, kind: str, object_id: str, stored: bytes) -> bytes:
    """Return the plain bytes. Raises SealBroken."""
    generation = int.from_bytes(stored[:_GENERATION], "big")
    if generation not in keys.data_keys:
        raise SealBroken
    return keys.unseal(kind, object_id, 1, generation, stored[_GENERATION:])
