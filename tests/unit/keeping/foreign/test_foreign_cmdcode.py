"""CmdCode's sealed facts, against lines that the openssl command line made and against a sealer of the test's own."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from shared.keeping.foreign.occasion import Occasion
from tests.unit.keeping.foreign.foreign_pages import NOW, contents, jsonl, one, page, refusals, wrong

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[3] / "vectors/cmdcode.json").read_text())
KEYS = {"master_key": VECTORS["master_key"], "user_id": VECTORS["user_id"]}
ROWS: list[dict[str, Any]] = VECTORS["rows"]


def sealed(text: str, master: bytes = VECTORS["master_key"].encode(), user: str = VECTORS["user_id"]) -> dict[str, str]:
    """Seal a fact as CmdCode's chapter 7.3 does, padding by hand."""
    encrypt, check = (hmac.new(master, (user + use).encode(), hashlib.sha256).digest() for use in USES)
    iv, plain = b"0123456789abcdef", text.encode()
    plain += bytes([16 - len(plain) % 16]) * (16 - len(plain) % 16)
    encryptor = Cipher(algorithms.AES(encrypt), modes.CBC(iv)).encryptor()
    data = encryptor.update(plain) + encryptor.finalize()
    mac = hmac.new(check, iv + data, hashlib.sha256).hexdigest()
    return {"iv": base64.b64encode(iv).decode(), "data": base64.b64encode(data).decode(), "mac": mac}


USES = (":memory:encrypt", ":memory:hmac")


def fact(text: str, **more: Any) -> dict[str, Any]:
    return {**ROWS[0], "encrypted": sealed(text), **more}


def test_facts_that_openssl_sealed_are_read_with_every_field() -> None:
    found = page("cmdcode", jsonl(*ROWS), **KEYS)

    assert found.refused == []
    assert contents(found) == VECTORS["facts"]
    first, second, third = found.records
    assert (first.category, first.importance, first.scope, first.project) == ("preference", 8, "user", None)
    assert (second.category, second.scope, second.project) == ("constraint", "project", "scene_1715936400")
    assert (third.category, third.importance) == ("credential", 10)
    assert first.created_at == datetime(2026, 5, 17, 6, 30, 22, tzinfo=UTC)
    assert [record.line for record in found.records] == [1, 2, 3]
    assert found.thread.lines == 3


def test_a_wrong_key_or_user_opens_nothing_and_is_one_error() -> None:
    for keys in ({**KEYS, "master_key": "another"}, {**KEYS, "user_id": "user_43"}):
        error = wrong("cmdcode", jsonl(*ROWS), **keys)

        assert error["field"] == "master_key"
        assert all(text not in str(error) for text in ("another", "user_43", *VECTORS["facts"]))


@pytest.mark.parametrize("missing", ["master_key", "user_id"])
def test_without_key_or_user_the_missing_one_is_named(missing: str) -> None:
    keys = {name: value for name, value in KEYS.items() if name != missing}

    assert wrong("cmdcode", jsonl(*ROWS), **keys)["field"] == missing


@pytest.mark.parametrize("write", [bytes.hex, lambda key: base64.b64encode(key).decode()])
def test_a_binary_master_key_is_given_as_hex_or_base64(write: Any) -> None:
    master = bytes(range(200, 232))

    record = one(
        "cmdcode", jsonl(fact("x", encrypted=sealed("喜欢茶", master))), **{**KEYS, "master_key": write(master)}
    )

    assert record.content == "喜欢茶"


def test_a_changed_fact_is_damaged_and_the_others_come_in() -> None:
    changed = json.loads(json.dumps(ROWS[1]))
    data = bytearray(base64.b64decode(changed["encrypted"]["data"]))
    data[0] ^= 1
    changed["encrypted"]["data"] = base64.b64encode(data).decode()

    found = page("cmdcode", jsonl(ROWS[0], changed, ROWS[2]), **KEYS)

    assert [record.line for record in found.records] == [1, 3]
    assert refusals(found) == [(2, "damaged", None)]


@pytest.mark.parametrize(
    ("part", "value", "reason", "field"),
    [
        ("iv", "AAAA", "damaged", None),
        ("iv", "no base 64", "invalid", "encrypted"),
        ("data", "", "damaged", None),
        ("data", 5, "invalid", "encrypted"),
        ("mac", "", "damaged", None),
        ("mac", "ÿ", "damaged", None),
        ("mac", None, "invalid", "encrypted"),
    ],
)
def test_a_part_that_is_not_what_it_must_be_costs_its_own_line(
    part: str, value: Any, reason: str, field: str | None
) -> None:
    broken = {**ROWS[1], "encrypted": {**ROWS[1]["encrypted"], part: value}}

    found = page("cmdcode", jsonl(ROWS[0], broken), **KEYS)

    assert refusals(found) == [(2, reason, field)]
    assert len(found.records) == 1


def test_sound_checks_over_what_is_no_text_or_no_padding_are_damaged() -> None:
    keys = [
        hmac.new(KEYS["master_key"].encode(), (KEYS["user_id"] + use).encode(), hashlib.sha256).digest() for use in USES
    ]
    rows = []
    for iv, plain in ((b"0" * 16, b"\xff" * 15 + b"\x01"), (b"0" * 16, b"\x00" * 16), (b"0" * 8, b"\x01" * 16)):
        encryptor = Cipher(algorithms.AES(keys[0]), modes.CBC(b"0" * 16)).encryptor()
        data = encryptor.update(plain) + encryptor.finalize()
        mac = hmac.new(keys[1], iv + data, hashlib.sha256).hexdigest()
        parts = {"iv": base64.b64encode(iv).decode(), "data": base64.b64encode(data).decode(), "mac": mac}
        rows.append({**ROWS[0], "encrypted": parts})

    assert {reason for _, reason, _ in refusals(page("cmdcode", jsonl(*rows), **KEYS))} == {"damaged"}


@pytest.mark.parametrize(
    ("said", "importance"),
    [
        (10, 10),
        ("8", 8),
        (7.6, 8),
        (0, 1),
        (99, 10),
        (10**30, 10),
        (-3, 1),
        ("high", 5),
        (None, 5),
        (True, 5),
        ([], 5),
        ("nan", 5),
    ],
)
def test_an_importance_is_brought_between_one_and_ten(said: Any, importance: int) -> None:
    if said == 10**30:
        said = 1e30

    assert one("cmdcode", jsonl(fact("喜欢茶", importance=said)), **KEYS).importance == importance


@pytest.mark.parametrize(
    ("said", "category"),
    [("event", "event"), ("Contact", "contact"), ("misc", "knowledge"), (None, "knowledge"), (5, "knowledge")],
)
def test_a_category_that_is_none_becomes_knowledge(said: Any, category: str) -> None:
    assert one("cmdcode", jsonl(fact("喜欢茶", category=said)), **KEYS).category == category


@pytest.mark.parametrize(
    ("more", "field"),
    [({"created_at": "yesterday"}, "created_at"), ({"l2_scene_id": 5}, "project"), ({"l2_scene_id": " x"}, "project")],
)
def test_a_field_that_cannot_be_read_refuses_its_line(more: dict[str, Any], field: str) -> None:
    found = page("cmdcode", jsonl(ROWS[0], fact("喜欢茶", **more)), **KEYS)

    assert refusals(found) == [(2, "invalid", field)]


def test_a_file_without_sealed_facts_is_none_of_these() -> None:
    assert wrong("cmdcode", jsonl({"fact": "plain"}), **KEYS)["field"] == "data"


def test_keys_do_not_show_where_an_occasion_is_printed() -> None:
    shown = repr(Occasion(NOW, master_key="hidden-master", user_id="hidden-user"))

    assert "hidden" not in shown


@given(text=st.text(min_size=1, max_size=200))
def test_whatever_is_sealed_comes_out_as_it_was_or_is_refused_by_the_rules_of_memories(text: str) -> None:
    try:
        row = fact(text)
    except UnicodeEncodeError:
        return
    found = page("cmdcode", jsonl(ROWS[0], row), **KEYS)

    if found.refused:
        assert {reason for _, reason, _ in refusals(found)} <= {"invalid", "masked_credential"}
    else:
        assert contents(found)[1] == text
