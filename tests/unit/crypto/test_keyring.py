"""The keyring as stored, and an owner's open keys."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.crypto.keyring import (
    KEYRING_BYTES,
    ErasedKeyring,
    Keyring,
    MissingGeneration,
    OwnerKeys,
    fresh_blob,
    read_keyring,
)
from shared.domain.errors import SealBroken
from tests.fakes import SeededRandom
from tests.unit.crypto import independent

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors/sealing.json").read_text())
OWNER = "a" * 52
ROOT, FIRST, SECOND = b"r" * 32, b"1" * 32, b"2" * 32
RANDOM = SeededRandom(9)


def owner_keys() -> OwnerKeys:
    return OwnerKeys.opened(OWNER, 1, 2, {1: ROOT + FIRST, 2: ROOT + SECOND})


def test_the_stored_form_of_a_keyring_is_the_specified_one() -> None:
    """SEAL-12."""
    stored = b'{"v":1,"epoch":3,"generation":2,"keys":{"1":"AA==","2":"/w=="}}'
    assert Keyring(3, 2, {2: b"\xff", 1: b"\x00"}).to_bytes() == stored
    assert read_keyring(stored) == Keyring(3, 2, {1: b"\x00", 2: b"\xff"})


def test_the_stored_form_of_an_erased_keyring_is_the_specified_one() -> None:
    """SEAL-12."""
    stored = b'{"v":1,"epoch":3,"erased":"2026-11-30T16:05:00.123Z"}'
    assert ErasedKeyring(3, "2026-11-30T16:05:00.123Z").to_bytes() == stored
    assert read_keyring(stored) == ErasedKeyring(3, "2026-11-30T16:05:00.123Z")


@given(st.integers(1, 2**63 - 1), st.dictionaries(st.integers(1, 10**6), st.binary(min_size=1), min_size=1))
def test_every_keyring_is_read_as_it_was_written(epoch: int, keys: dict[int, bytes]) -> None:
    """SEAL-12."""
    keyring = Keyring(epoch, max(keys), keys)
    assert read_keyring(keyring.to_bytes()) == keyring


MALFORMED = {
    "empty": "",
    "not JSON": "{",
    "not an object": "[]",
    "null": "null",
    "unknown version": '{"v":2,"epoch":1,"generation":1,"keys":{"1":"AA=="}}',
    "version as text": '{"v":"1","epoch":1,"generation":1,"keys":{"1":"AA=="}}',
    "version as truth": '{"v":true,"epoch":1,"generation":1,"keys":{"1":"AA=="}}',
    "version as fraction": '{"v":1.0,"epoch":1,"generation":1,"keys":{"1":"AA=="}}',
    "no version": '{"epoch":1,"generation":1,"keys":{"1":"AA=="}}',
    "no epoch": '{"v":1,"generation":1,"keys":{"1":"AA=="}}',
    "epoch 0": '{"v":1,"epoch":0,"generation":1,"keys":{"1":"AA=="}}',
    "epoch true": '{"v":1,"epoch":true,"generation":1,"keys":{"1":"AA=="}}',
    "epoch too large": '{"v":1,"epoch":9223372036854775808,"generation":1,"keys":{"1":"AA=="}}',
    "epoch of 5,000 digits": '{"v":1,"epoch":' + "9" * 5000 + ',"generation":1,"keys":{"1":"AA=="}}',
    "epoch not a number": '{"v":1,"epoch":NaN,"generation":1,"keys":{"1":"AA=="}}',
    "an additional name": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"AA=="},"more":1}',
    "a doubled name": '{"v":1,"epoch":1,"epoch":2,"generation":1,"keys":{"1":"AA=="}}',
    "a doubled generation": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"AA==","1":"AQ=="}}',
    "keys as a list": '{"v":1,"epoch":1,"generation":1,"keys":["AA=="]}',
    "no keys": '{"v":1,"epoch":1,"generation":1,"keys":{}}',
    "generation without a key": '{"v":1,"epoch":1,"generation":2,"keys":{"1":"AA=="}}',
    "generation not the largest": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"AA==","2":"AA=="}}',
    "generation written otherwise": '{"v":1,"epoch":1,"generation":1,"keys":{"01":"AA=="}}',
    "generation in other digits": '{"v":1,"epoch":1,"generation":1,"keys":{"\u0661":"AA=="}}',
    "a key not base64": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"A*=="}}',
    "a key cut": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"AA"}}',
    "a key with a line break": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"AA==\\n"}}',
    "a key in other characters": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"é"}}',
    "a key with bits to spare": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"AB=="}}',
    "an empty key": '{"v":1,"epoch":1,"generation":1,"keys":{"1":""}}',
    "a key as a number": '{"v":1,"epoch":1,"generation":1,"keys":{"1":1}}',
    "both forms": '{"v":1,"epoch":1,"generation":1,"keys":{"1":"AA=="},"erased":"2026-01-01T00:00:00Z"}',
    "erased at no time": '{"v":1,"epoch":1,"erased":"yesterday"}',
    "erased at a number": '{"v":1,"epoch":1,"erased":1}',
    "erased elsewhere": '{"v":1,"epoch":1,"erased":"2026-01-01T00:00:00+01:00"}',
    "deeply nested": "[" * 100_000,
}


@pytest.mark.parametrize("stored", MALFORMED.values(), ids=MALFORMED.keys())
def test_every_other_form_is_refused(stored: str) -> None:
    """SEAL-12, SEAL-4."""
    with pytest.raises(SealBroken) as caught:
        read_keyring(stored.encode())
    assert caught.value.__cause__ is None
    assert not str(caught.value)


def test_bytes_that_are_no_text_or_too_many_are_refused() -> None:
    """SEAL-12."""
    for stored in (b"\xff\xfe", Keyring(1, 1, {1: bytes(KEYRING_BYTES)}).to_bytes()):
        with pytest.raises(SealBroken):
            read_keyring(stored)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_arbitrary_bytes_are_refused_with_the_one_error(stored: bytes) -> None:
    """SEAL-12."""
    with pytest.raises(SealBroken):
        read_keyring(stored)


def test_rotation_adds_a_generation_and_keeps_the_root() -> None:
    """SEAL-6."""
    blob = fresh_blob(ROOT, RANDOM)
    assert blob[:32] == ROOT
    assert len(blob) == 64
    assert Keyring(1, 1, {1: b"a"}).rotated(b"b") == Keyring(1, 2, {1: b"a", 2: b"b"})
    before = OwnerKeys.opened(OWNER, 1, 1, {1: ROOT + FIRST})
    after = OwnerKeys.opened(OWNER, 1, 2, {2: blob}).holding(1, ROOT + FIRST)
    sealed = before.seal("memory", "m", 1, b"x", RANDOM)
    assert after.unseal("memory", "m", 1, 1, sealed) == b"x"
    assert before.tag("dedup", "花生") == after.tag("dedup", "花生")
    assert after.generation == 2


@pytest.mark.parametrize(
    "plain",
    [{}, {2: b""}, {2: ROOT + SECOND[:-1]}, {2: ROOT + SECOND + b"x"}, {1: b"q" * 32 + FIRST, 2: ROOT + SECOND}],
    ids=["none", "empty", "short", "long", "two roots"],
)
def test_blobs_of_another_form_or_root_are_broken(plain: dict[int, bytes]) -> None:
    """SEAL-6."""
    with pytest.raises(SealBroken):
        OwnerKeys.opened(OWNER, 1, 2, plain)


def test_a_generation_with_another_root_is_not_taken_in() -> None:
    """SEAL-6."""
    with pytest.raises(SealBroken):
        owner_keys().holding(3, b"q" * 32 + FIRST)
    with pytest.raises(SealBroken):
        owner_keys().holding(3, ROOT)


def test_a_generation_that_is_not_held_is_asked_for() -> None:
    with pytest.raises(MissingGeneration) as caught:
        owner_keys().unseal("memory", "m", 1, 3, b"")
    assert caught.value.generation == 3
    assert isinstance(caught.value, SealBroken)
    assert not str(caught.value)
    with pytest.raises(MissingGeneration):
        OwnerKeys.opened(OWNER, 1, 2, {1: ROOT + FIRST})


@pytest.mark.parametrize("vector", VECTORS["seals"])
def test_owner_keys_open_the_known_seals(vector: dict[str, Any]) -> None:
    """SEAL-8."""
    generation = vector["generation"]
    keys = OwnerKeys.opened(
        vector["owner"], vector["epoch"], generation, {generation: ROOT + bytes.fromhex(vector["data_key"])}
    )
    sealed = keys.seal(
        vector["kind"],
        vector["id"],
        vector["version"],
        bytes.fromhex(vector["plain"]),
        lambda _: bytes.fromhex(vector["nonce"]),
    )
    assert sealed.hex() == vector["sealed"]
    assert keys.unseal(vector["kind"], vector["id"], vector["version"], generation, sealed).hex() == vector["plain"]


@pytest.mark.parametrize("vector", VECTORS["tags"])
def test_tags_are_the_known_ones(vector: dict[str, Any]) -> None:
    """SEAL-8, SEAL-9."""
    blob = bytes.fromhex(vector["root"]) + FIRST
    keys = OwnerKeys.opened(vector["owner"], vector["epoch"], 1, {1: blob})
    assert keys.tag(vector["purpose"], *vector["parts"]) == vector["tag"]


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=4))
def test_two_implementations_make_the_same_tags(purpose: str, parts: list[str]) -> None:
    """SEAL-8, SEAL-9."""
    assert owner_keys().tag(purpose, *parts) == independent.tag(ROOT, OWNER, 1, purpose, parts)


def test_tags_differ_by_owner_life_purpose_and_parts() -> None:
    """SEAL-8."""
    keys = owner_keys()
    other = OwnerKeys.opened("b" * 52, 1, 2, {2: ROOT + SECOND})
    later = OwnerKeys.opened(OWNER, 2, 2, {2: ROOT + SECOND})
    tags = [keys.tag("dedup", "a", "bc"), keys.tag("dedup", "ab", "c"), keys.tag("scope", "a", "bc"), keys.tag("dedup")]
    tags += [other.tag("dedup", "a", "bc"), later.tag("dedup", "a", "bc"), keys.tag("dedup", "a", "bc", "")]
    assert len(set(tags)) == 7


def test_each_kind_and_generation_has_a_seal_key_of_its_own() -> None:
    """SEAL-5, SEAL-8: so no key's count of seals is shared, and a seal moved to another kind stays shut."""
    keys = owner_keys()
    sealed = keys.seal("memory", "m", 1, b"x", RANDOM)
    assert keys.unseal("memory", "m", 1, 2, sealed) == b"x"
    for kind, generation in (("scene", 2), ("memory", 1)):
        with pytest.raises(SealBroken):
            keys.unseal(kind, "m", 1, generation, sealed)
    derived = {
        independent.hkdf(secret, independent.joined("nacre seal key 1", OWNER, 1, kind, number))
        for secret, number in ((FIRST, 1), (SECOND, 2))
        for kind in ("memory", "scene")
    }
    assert len(derived) == 4


def test_an_owners_seal_does_not_open_with_another_owners_keys() -> None:
    sealed = owner_keys().seal("memory", "m", 1, b"x", RANDOM)
    stranger = OwnerKeys.opened("b" * 52, 1, 2, {2: b"q" * 32 + FIRST})
    same_keys_other_life = OwnerKeys.opened(OWNER, 2, 2, {2: ROOT + SECOND})
    for keys in (stranger, same_keys_other_life):
        with pytest.raises(SealBroken):
            keys.unseal("memory", "m", 1, 2, sealed)


def test_a_text_form_shows_no_key_and_no_owner() -> None:
    """SEAL-10."""
    keys = owner_keys()
    keys.tag("dedup", "a")
    shown = f"{keys!r} {keys}"
    assert shown == "OwnerKeys(epoch=1, generation=2) OwnerKeys(epoch=1, generation=2)"
    for secret in (ROOT, FIRST, SECOND):
        assert secret.decode() not in shown
        assert base64.b64encode(secret).decode() not in shown


def test_a_lone_surrogate_has_no_tag() -> None:
    """SEAL-3."""
    with pytest.raises(ValueError, match="surrogate"):
        owner_keys().tag("dedup", "\ud83d")
