"""An operator who flips bytes, moves things and loses things; and AWS on a bad day: no lie, no leak, no other owner touched."""

import copy
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.stack import Stack
from shared import bootstrap
from tests.e2e.client import MEMORIES, SEARCH, Answer, Person
from tests.e2e.faults import lost_answers, refused, tidied
from tests.e2e.storage import items_of, objects, owner_of

SECRET = "the vault code is password: hunter2Xy!"


def put(stack: Stack, item: dict[str, Any]) -> None:
    stack.clients.dynamodb.put_item(TableName=os.environ["TABLE_NAME"], Item=item)


def look(person: Person, memory_id: str) -> list[Answer]:
    """Everything that reads; each answer must be whole or an error of ours."""
    path = f"{MEMORIES}/{memory_id}"
    answers = [
        person.call("GET", MEMORIES),
        person.call("GET", MEMORIES, query={"order": "created", "status": "all"}),
        person.call("GET", path),
        person.call("GET", f"{path}/history"),
        person.call("POST", SEARCH, {"query": "vault code harbour"}),
        person.call("POST", "/v1/context", {"message": "what about the vault code"}),
        person.call("GET", "/v1/usage"),
        person.call("GET", "/v1/projects"),
        person.call("GET", "/v1/settings"),
        person.call("GET", "/v1/audit"),
        person.call("GET", "/v1/tasks"),
    ]
    for answer in answers:
        assert "hunter2" not in answer.text
        if answer.status != 200:
            assert answer.status in {404, 500, 503}
            assert answer.code in {"not_found", "internal", "unavailable", "busy", "rebuilding", "damaged"}
    return answers


FLIPS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a bit of the seal": lambda item: item["sealed"].update(
        B=bytes([item["sealed"]["B"][-1] ^ 1]) + item["sealed"]["B"][1:]
    ),
    "the seal cut": lambda item: item["sealed"].update(B=item["sealed"]["B"][:-1]),
    "the seal empty": lambda item: item["sealed"].update(B=b"\x00"),
    "the status": lambda item: item["status"].update(S="archived"),
    "an unknown status": lambda item: item["status"].update(S="CANARY"),
    "the source": lambda item: item["source"].update(S="consolidated"),
    "the version": lambda item: item["version"].update(N="7"),
    "a huge version": lambda item: item["version"].update(N="99999999999999999999"),
    "the generation": lambda item: item["gen"].update(N="2"),
    "no seal": lambda item: item.pop("sealed"),
    "no version": lambda item: item.pop("version"),
    "no status": lambda item: item.pop("status"),
    "the scope": lambda item: item["scope"].update(S="a" * 26),
    "the time of its list": lambda item: item["updated"].update(S="CANARY"),
}


@pytest.mark.parametrize("flip", FLIPS)
def test_a_flipped_column_unmasks_nothing_and_hides_nothing_else(stack: Stack, ann: Person, flip: str) -> None:
    made = ann.add(SECRET)
    ann.add("the harbour opens at nine")
    (item,) = items_of(stack, ann.sub, f"m#{made['id']}")
    changed = copy.deepcopy(item)
    FLIPS[flip](changed)
    put(stack, changed)
    answers = look(ann, made["id"])
    listed, found = answers[0], answers[4]
    assert (listed.status, found.status) == (200, 200), (listed.text, found.text)
    assert "the harbour opens at nine" in [one["content"] for one in listed.json["memories"]]
    assert "the harbour opens at nine" in [one["content"] for one in found.json["memories"]]
    assert tidied(stack, ann.sub)
    look(ann, made["id"])


@pytest.mark.parametrize("kind", ["head", "z", "d#", "s#", "t#"])
def test_a_damaged_item_of_any_kind_is_an_error_and_no_lie(stack: Stack, ann: Person, bob: Person, kind: str) -> None:
    made = ann.add("the harbour opens at nine", scope="project", project="shop")
    ann.ok("PATCH", "/v1/settings", {"max_results": 7})
    ann.learn("I prefer tabs over spaces")
    bob.add("bob's own")
    found = items_of(stack, ann.sub, kind)
    assert found
    for item in found:
        changed = copy.deepcopy(item)
        for name, value in changed.items():
            if "B" in value:
                value["B"] = value["B"][:-1] + bytes([value["B"][-1] ^ 1])
            elif name not in {"pk", "sk"} and "N" in value and kind == "head":
                value["N"] = "77"
        put(stack, changed)
    look(ann, made["id"])
    assert bob.texts() == ["bob's own"]
    assert ann.call("POST", MEMORIES, {"content": "one more"}).status in {201, 409, 500, 503}


def test_one_owners_item_under_another_owner_does_not_open(stack: Stack, ann: Person, bob: Person) -> None:
    made = ann.add(SECRET)
    bob.add("bob's own")
    (item,) = items_of(stack, ann.sub, f"m#{made['id']}")
    (settings, *_) = items_of(stack, bob.sub)
    put(stack, item | {"pk": settings["pk"]})
    for answer in look(bob, made["id"]):
        assert "vault" not in answer.text
    assert bob.call("POST", f"{MEMORIES}/{made['id']}/reveal").code == "damaged"


@pytest.mark.parametrize("what", ["keyring", "/journal/", "/index/"])
@pytest.mark.parametrize("how", ["flipped", "empty", "gone", "another's"])
def test_objects_that_were_broken_lie_to_nobody(stack: Stack, ann: Person, bob: Person, what: str, how: str) -> None:
    made = ann.add("the harbour opens at nine")
    ann.ok("PATCH", f"{MEMORIES}/{made['id']}", {"content": "the harbour opens at ten"})
    bob.add("bob's own")
    assert tidied(stack, ann.sub)
    assert tidied(stack, bob.sub)
    bucket, s3 = os.environ["BUCKET_NAME"], stack.clients.s3
    theirs = next(body for key, body in objects(stack, bob.sub).items() if what in key)
    for key, body in objects(stack, ann.sub).items():
        if what in key and how == "gone":
            s3.delete_object(Bucket=bucket, Key=key)
        elif what in key:
            broken = {"flipped": body[:-2] + bytes([body[-2] ^ 1]) + body[-1:], "empty": b"", "another's": theirs}[how]
            s3.put_object(Bucket=bucket, Key=key, Body=broken)
    for cold in (False, True):
        if cold:
            stack.functions.reload()
        for answer in look(ann, made["id"]):
            assert "bob" not in answer.text
    assert ann.call("POST", MEMORIES, {"content": "one more"}).status in {201, 500, 503}
    assert bob.texts() == ["bob's own"]
    tidied(stack, ann.sub)
    look(ann, made["id"])
    assert bob.texts() == ["bob's own"]


@pytest.mark.parametrize(("service", "call"), [("s3", "PutObject"), ("dynamodb", "TransactWriteItems")])
@pytest.mark.parametrize("lost", [1, 2])
def test_answers_that_were_lost_lose_no_write_and_double_none(
    stack: Stack, ann: Person, service: str, call: str, lost: int
) -> None:
    made = ann.add("the first")
    path, headers = f"{MEMORIES}/{made['id']}", {"Idempotency-Key": "k"}
    steps: list[tuple[str, str, Any, set[int]]] = [
        ("POST", MEMORIES, {"content": "the second"}, {201}),
        ("PATCH", path, {"content": "the first, edited"}, {200}),
        ("PATCH", "/v1/settings", {"max_results": 3}, {200}),
        ("DELETE", path, None, {204, 404}),
    ]
    for method, target, body, done in steps:
        with lost_answers(service, call, times=lost):
            answer = ann.call(method, target, body, headers=headers)
        assert answer.status in done | {503}
        if answer.status == 503:
            assert ann.call(method, target, body, headers=headers).status in done
    assert ann.texts() == ["the second"]
    usage = ann.ok("GET", "/v1/usage")
    assert (usage["memories"], usage["active"]) == (1, 1)
    assert ann.ok("GET", "/v1/settings")["max_results"] == 3


@pytest.mark.parametrize(
    ("service", "call", "code", "status"),
    [
        ("dynamodb", "Query", "AccessDeniedException", 400),
        ("dynamodb", "TransactWriteItems", "ThrottlingException", 400),
        ("s3", "PutObject", "ServiceUnavailable", 503),
        ("s3", "GetObject", "AccessDenied", 403),
        ("kms", "Decrypt", "AccessDeniedException", 400),
        ("kms", "Decrypt", "DisabledException", 400),
    ],
)
def test_no_fault_of_aws_is_quoted_and_all_is_well_afterwards(
    stack: Stack, ann: Person, service: str, call: str, code: str, status: int
) -> None:
    ann.add("the harbour opens at nine")
    stack.functions.reload()
    with refused(service, call, code, status=status):
        answers = [ann.call("GET", MEMORIES), ann.call("POST", MEMORIES, {"content": "the museum"})]
    for answer in answers:
        assert answer.status in {200, 201, 500, 503}, answer.text
        if answer.status >= 500:
            assert answer.code in {"internal", "unavailable", "busy"}
        for word in (
            "CANARY",
            code,
            "arn:",
            os.environ["TABLE_NAME"],
            os.environ["BUCKET_NAME"],
            owner_of(stack, ann.sub),
        ):
            assert word not in answer.text
    assert "the harbour opens at nine" in ann.texts()
    assert ann.call("POST", MEMORIES, {"content": "the museum"}).status in {201, 409}


@contextmanager
def zone(name: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


@pytest.mark.case(71)
@pytest.mark.parametrize("name", ["Asia/Tokyo", "America/Los_Angeles", "Pacific/Apia", "Asia/Kathmandu"])
def test_case_71_times_recall_and_learning_are_the_same_in_every_zone(stack: Stack, ann: Person, name: str) -> None:
    with zone(name):
        before = datetime.now(UTC)
        ann.learn("We decided to use PostgreSQL for orders")
        (memory,) = ann.kept()
        context = ann.context("which database was decided for orders")
    for field in ("created_at", "updated_at"):
        assert memory[field].endswith("Z")
        assert abs(datetime.fromisoformat(memory[field]) - before) < timedelta(minutes=2)
    assert f"- {before:%Y-%m-%d} " in context["text"] or f"- {datetime.now(UTC):%Y-%m-%d} " in context["text"]
    assert ann.texts(**{"from": (before - timedelta(minutes=1)).isoformat()}) == [memory["content"]]


def test_a_clock_that_goes_back_loses_and_hides_nothing(stack: Stack, ann: Person) -> None:
    made = ann.add("the harbour opens at nine")
    vaults, real = bootstrap.vaults(), bootstrap.vaults().clock
    object.__setattr__(vaults, "clock", lambda: real() - timedelta(days=2))
    try:
        ann.ok("PATCH", f"{MEMORIES}/{made['id']}", {"content": "the harbour opens at ten"})
        ann.add("the museum opens at noon")
        assert ann.learn("I prefer tabs over spaces")["status"] == "done"
        assert len(ann.texts()) == 3
        assert ann.found("harbour") == ["the harbour opens at ten"]
        assert ann.context("when does the harbour open")["recalled"]
    finally:
        object.__setattr__(vaults, "clock", real)
    assert len(ann.texts()) == len(ann.texts(order="created")) == 3
    assert tidied(stack, ann.sub)
    assert ann.found("harbour") == ["the harbour opens at ten"]
    ann.ok("PATCH", f"{MEMORIES}/{made['id']}", {"content": "the harbour opens at eleven"})
    ann.ok("DELETE", f"{MEMORIES}/{made['id']}")
    assert len(ann.texts()) == 2
