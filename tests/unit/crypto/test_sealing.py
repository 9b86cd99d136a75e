"""Sealing against known answers, an independent implementation, and everything that must not open."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.crypto.sealing import OVERHEAD, Place, derived, joined, seal, tagged, unseal
from shared.domain.errors import SealBroken
from tests.fakes import SeededRandom
from tests.unit.crypto import independent

ROOT = Path(__file__).parents[3]
VECTORS: dict[str, Any] = json.loads((ROOT / "tests/vectors/sealing.json").read_text())
KEY = bytes(range(32))
PLACE = Place("a" * 52, 2, "memory", "01KBAZX3Y4QW5ERTY6JPASDFGH", 3, 4)
PLAIN = "我对花生过敏\u2028".encode()


def place_of(vector: dict[str, Any]) -> Place:
    return Place(**{name: vector[name] for name in ("owner", "epoch", "kind", "id", "version", "generation")})


@pytest.mark.parametrize("vector", VECTORS["seals"])
def test_known_answers_are_sealed_and_opened_byte_for_byte(vector: dict[str, Any]) -> None:
    """SEAL-1, SEAL-3."""
    key, plain, sealed = (bytes.fromhex(vector[name]) for name in ("seal_key", "plain", "sealed"))
    assert seal(key, place_of(vector), plain, lambda _: bytes.fromhex(vector["nonce"])) == sealed
    assert unseal(key, place_of(vector), sealed) == plain


@pytest.mark.parametrize("vector", VECTORS["tampered"], ids=lambda vector: vector["why"])
def test_known_tampering_does_not_open(vector: dict[str, Any]) -> None:
    """SEAL-4."""
    good = VECTORS["seals"][0]
    with pytest.raises(SealBroken):
        unseal(bytes.fromhex(good["seal_key"]), place_of(good), bytes.fromhex(vector["sealed"]))


@pytest.mark.parametrize("vector", VECTORS["hkdf"])
def test_derived_keys_are_the_known_ones(vector: dict[str, Any]) -> None:
    """SEAL-7."""
    assert joined(vector["label"], *vector["parts"]).hex() == vector["info"]
    assert derived(bytes.fromhex(vector["secret"]), vector["label"], *vector["parts"]).hex() == vector["key"]


def test_the_independent_derivation_gives_the_answer_of_rfc_5869() -> None:
    """SEAL-7: test case 3 of the RFC, its first 32 bytes."""
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert independent.hkdf(b"\x0b" * 22, b"").hex() == expected


texts = st.text(max_size=20)
numbers = st.integers(0, 2**64 - 1)
parts = st.lists(texts | numbers, max_size=6)


@given(st.binary(min_size=32, max_size=32), texts, parts)
def test_two_implementations_derive_the_same_keys(secret: bytes, label: str, given_parts: list[str | int]) -> None:
    """SEAL-3, SEAL-7."""
    info = independent.joined(label, *given_parts)
    assert derived(secret, label, *given_parts) == independent.hkdf(secret, info)


@given(st.binary(max_size=300), st.binary(min_size=32, max_size=32), texts, texts, texts, numbers, numbers, numbers)
def test_two_implementations_seal_the_same_bytes(
    plain: bytes, key: bytes, owner: str, kind: str, name: str, epoch: int, version: int, generation: int
) -> None:
    """SEAL-1, SEAL-3."""
    place = Place(owner, epoch, kind, name, version, generation)
    bound = independent.joined("nacre seal 1", owner, epoch, kind, name, version, generation)
    sealed = seal(key, place, plain, SeededRandom(5))
    assert sealed == independent.seal(key, SeededRandom(5)(12), bound, plain)
    assert unseal(key, place, sealed) == plain
    assert len(sealed) == len(plain) + OVERHEAD


@given(parts, parts)
def test_no_two_lists_of_texts_share_a_byte_string(one: list[str | int], other: list[str | int]) -> None:
    """SEAL-3."""
    shapes = [[type(part) for part in given_parts] for given_parts in (one, other)]
    if one != other and shapes[0] == shapes[1]:
        assert joined(*one) != joined(*other)


def test_moving_a_character_between_parts_gives_other_bytes() -> None:
    """SEAL-3."""
    assert len({joined("ab", "c"), joined("a", "bc"), joined("abc", ""), joined("abc"), joined("", "abc")}) == 5


def test_every_seal_has_a_nonce_of_its_own() -> None:
    """SEAL-2."""
    random = SeededRandom(1)
    nonces = {seal(KEY, PLACE, PLAIN, random)[1:13] for _ in range(50)}
    assert len(nonces) == 50


SWAPS: dict[str, list[Any]] = {
    "owner": ["b" * 52, "", "a" * 51],
    "epoch": [1, 3, 0, -1, 2**64],
    "kind": ["memor", "scene", "", "memory\u0000"],
    "id": ["01KBAZX3Y4QW5ERTY6JPASDFGJ", "", "\ud83d"],
    "version": [2, 4, -1, 2**64],
    "generation": [1, 5, -1, 2**64],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in SWAPS.items() for value in values])
def test_what_was_sealed_for_one_place_opens_at_no_other(field: str, value: str | int) -> None:
    """SEAL-3, SEAL-4."""
    sealed = seal(KEY, PLACE, PLAIN, SeededRandom(1))
    with pytest.raises(SealBroken):
        unseal(KEY, replace(PLACE, **{field: value}), sealed)  # type: ignore[arg-type]


def test_neighbouring_fields_cannot_trade_characters() -> None:
    """SEAL-3."""
    sealed = seal(KEY, replace(PLACE, kind="a", id="bc"), PLAIN, SeededRandom(1))
    with pytest.raises(SealBroken):
        unseal(KEY, replace(PLACE, kind="ab", id="c"), sealed)


def test_no_flipped_bit_and_no_cut_opens() -> None:
    """SEAL-4."""
    sealed = seal(KEY, PLACE, PLAIN, SeededRandom(1))
    flipped = [
        sealed[:position] + bytes([sealed[position] ^ (1 << bit)]) + sealed[position + 1 :]
        for position in range(len(sealed))
        for bit in range(8)
    ]
    cut = [sealed[:length] for length in range(len(sealed))] + [sealed[start:] for start in range(1, len(sealed))]
    for altered in [*flipped, *cut, sealed + b"\x00", b"\x00" * len(sealed)]:
        with pytest.raises(SealBroken):
            unseal(KEY, PLACE, altered)
    assert unseal(KEY, PLACE, sealed) == PLAIN


@given(st.binary(max_size=100))
def test_arbitrary_bytes_fail_with_the_one_error(sealed: bytes) -> None:
    """SEAL-4."""
    with pytest.raises(SealBroken):
        unseal(KEY, PLACE, sealed)


def test_a_broken_seal_tells_nothing() -> None:
    """SEAL-4."""
    with pytest.raises(SealBroken) as caught:
        unseal(bytes(32), PLACE, seal(KEY, PLACE, PLAIN, SeededRandom(1)))
    assert str(caught.value) == ""
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_lone_surrogate_is_refused_without_being_shown() -> None:
    """SEAL-3."""
    with pytest.raises(ValueError, match="surrogate") as caught:
        joined("CANARY\ud83d")
    assert type(caught.value) is ValueError
    assert caught.value.__suppress_context__
    assert "CANARY" not in repr(caught.value)
    with pytest.raises(OverflowError):
        joined(-1)


def test_a_tag_is_26_small_letters_and_digits() -> None:
    """SEAL-9."""
    assert re.fullmatch("[a-z2-7]{26}", tagged(KEY, "我对花生过敏"))


def ids_in(*paths: Path) -> set[str]:
    return {found for path in paths for found in re.findall(r"SEAL-\d+", path.read_text())}


def test_every_rule_of_the_specification_is_cited_in_code_and_in_tests() -> None:
    rules = re.findall(r"^- \*\*(SEAL-\d+)\*\*", (ROOT / "docs/spec/sealing.md").read_text(), re.MULTILINE)
    assert len(rules) == len(set(rules)) >= 12
    tests = (ROOT / "tests/unit/crypto").glob("test_*.py")
    assert ids_in(*(ROOT / "shared/crypto").glob("*.py")) == set(rules)
    assert ids_in(*tests) == set(rules)
