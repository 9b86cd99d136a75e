"""Erasing an account, over real HTTP: nothing opens from the answer on, then nothing is left, and the same person may start anew."""

import pytest

from tests.e2e.client import Person
from tests.e2e.storage import items_of, objects, raw_bytes, versions_of

TEXTS = ["我对花生过敏", "The deploy day is Monday", "password: hunter2Xy!"]
ERASE = "/v1/account/erase"


@pytest.fixture
def full(ann: Person) -> Person:
    """Somebody with memories, settings, something learned, an index and a look on record."""
    for text in TEXTS:
        ann.add(text)
    ann.ok("PATCH", "/v1/settings", {"language": "zh"})
    ann.learn("请记住：我喜欢用 TypeScript 写后端服务")
    ann.maintain()
    assert ann.found("花生") == ["我对花生过敏"]
    return ann


@pytest.mark.parametrize("body", [None, {}, {"confirm": False}])
def test_without_confirmation_nothing_is_erased_and_the_answer_says_what_to_send(
    full: Person, body: dict[str, bool] | None
) -> None:
    refused = full.call("POST", ERASE, body)
    assert (refused.status, refused.code) == (422, "confirmation_needed")
    assert '"confirm": true' in refused.json["error"]["message"]
    assert "我对花生过敏" in full.texts()
    assert full.ok("GET", ERASE) == {"status": "none", "receipt": None}


@pytest.mark.parametrize("confirm", ["true", 1, None])
def test_only_a_plain_true_confirms(full: Person, confirm: object) -> None:
    assert full.call("POST", ERASE, {"confirm": confirm}).status == 422
    assert full.texts()


@pytest.mark.case(70)
def test_an_account_is_erased_whole_and_nobody_elses(full: Person, bob: Person) -> None:
    stack = full.stack
    bob.add("Bob keeps this")
    memory_id = full.kept()[0]["id"]
    cursor = full.ok("GET", "/v1/memories", query={"limit": 1})["next_cursor"]
    answer = full.call("POST", ERASE, {"confirm": True})
    assert (answer.status, answer.json["status"]) in {(202, "erasing"), (200, "erased")}
    assert full.texts() == []
    assert full.found("花生") == []
    assert full.context("我对什么过敏")["text"] == ""
    assert full.call("GET", f"/v1/memories/{memory_id}").status == 404
    assert stack.run_maintenance()["idle"]
    erased = full.ok("GET", ERASE)
    assert erased["status"] == "erased"
    receipt = erased["receipt"]
    assert receipt["objects"] > 5
    assert receipt["items"] > 5
    assert full.ok("POST", "/v1/account/receipt", receipt) == {"genuine": True}
    assert full.ok("POST", "/v1/account/receipt", receipt | {"items": 0}) == {"genuine": False}
    assert bob.ok("POST", "/v1/account/receipt", receipt) == {"genuine": False}
    assert [item["sk"]["S"] for item in items_of(stack, full.sub)] == ["x"]
    ((key, _),) = versions_of(stack, full.sub)
    assert b'"erased"' in objects(stack, full.sub)[key]
    assert bob.texts() == ["Bob keeps this"]
    assert full.call("GET", "/v1/memories", query={"limit": 1, "cursor": cursor}).code == "invalid_cursor"
    assert full.ok("POST", ERASE, {"confirm": True}) == erased


def test_the_same_person_starts_anew_with_nothing_of_before(full: Person) -> None:
    full.call("POST", ERASE, {"confirm": True})
    full.maintain()
    full.add("我对虾过敏")
    assert full.texts() == ["我对虾过敏"]
    assert full.found("过敏") == ["我对虾过敏"]
    assert full.ok("GET", "/v1/settings")["language"] is None
    assert full.ok("GET", ERASE)["receipt"]["epoch"] == 1
    full.maintain()
    assert full.texts() == ["我对虾过敏"]


def test_work_that_waits_when_the_account_is_erased_brings_nothing_back(ann: Person) -> None:
    ann.add("Something to erase")
    for number in range(3):
        assert ann.hand_in(f"Remember this: I like the number {number} more than any other.").status == 202
    ann.call("POST", ERASE, {"confirm": True})
    ann.maintain()
    assert ann.texts() == []
    assert [item["sk"]["S"] for item in items_of(ann.stack, ann.sub)] == ["x"]
    assert len(versions_of(ann.stack, ann.sub)) == 1


def test_who_never_stored_anything_has_nothing_to_erase(bob: Person) -> None:
    assert bob.call("POST", ERASE, {"confirm": True}).json == {"status": "none", "receipt": None}
    assert bob.sub.encode() not in raw_bytes(bob.stack)
