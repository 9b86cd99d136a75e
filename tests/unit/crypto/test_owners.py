"""Names of owners: opaque, distinct, and nobody without both parts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.crypto.owners import owner_name
from shared.domain.errors import Forbidden
from tests.unit.crypto import independent

ISSUER = "https://issuer.example"
VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "vectors/sealing.json").read_text())["owners"]


@pytest.mark.parametrize("vector", VECTORS)
def test_owner_names_are_the_known_ones(vector: dict[str, str]) -> None:
    """SEAL-11."""
    assert owner_name(vector["issuer"], vector["subject"]) == vector["name"]


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_implementations_name_the_same_owner_in_safe_characters(issuer: str, subject: str) -> None:
    """SEAL-11, cases 42 and 83."""
    name = owner_name(issuer, subject)
    assert name == independent.owner_name(issuer, subject)
    assert re.fullmatch("[a-z2-7]{52}", name)


def test_lookalikes_are_different_owners() -> None:
    """SEAL-11, cases 15 and 16: composed and decomposed, circled and plain, zero-width, spaces, case."""
    subjects = [
        "j\u00fcrgen",
        "ju\u0308rgen",
        "user\u2460",
        "user1",
        "user1\u200b",
        "\u202euser1",
        "user1 ",
        "User1",
        "..",
        ".",
    ]
    assert len({owner_name(ISSUER, subject) for subject in subjects}) == len(subjects)


def test_issuer_and_subject_cannot_trade_characters() -> None:
    """SEAL-11."""
    assert owner_name(ISSUER + "a", "nn") != owner_name(ISSUER, "ann")
    assert owner_name("ann", ISSUER) != owner_name(ISSUER, "ann")


@pytest.mark.parametrize(("issuer", "subject"), [("", "ann"), (ISSUER, ""), (ISSUER, "a\ud83d"), ("\udc00", "ann")])
def test_who_has_no_whole_name_is_nobody(issuer: str, subject: str) -> None:
    """SEAL-11."""
    with pytest.raises(Forbidden) as caught:
        owner_name(issuer, subject)
    assert caught.value.__cause__ is None
    assert str(caught.value) == "This token names nobody."
