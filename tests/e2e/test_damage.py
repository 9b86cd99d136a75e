"""Rows that an operator lost, changed by hand or put back from an older copy, over HTTP: an honest answer now, the truth after a visit."""

import os
from typing import Any

import pytest

from local.stack import Stack
from shared.bootstrap import maintenance
from shared.domain import limits
from tests.e2e.client import MEMORIES, SEARCH, Person
from tests.e2e.faults import tidied
from tests.e2e.storage import items_of, owner_of
from tests.e2e.test_hostile_operator import put

LEARN = {
    "messages": [{"role": "user", "content": "remember that I love blue paint on every wall"}],
    "trigger": "manual",
}


def lose(stack: Stack, person: Person, prefix: str = "") -> None:
    for item in items_of(stack, person.sub, prefix):
        key = {name: item[name] for name in ("pk", "sk")}
        stack.clients.dynamodb.delete_item(TableName=os.environ["TABLE_NAME"], Key=key)


def flip(stack: Stack, person: Person, sk: str, column: str = "sealed") -> None:
    (item,) = [one for one in items_of(stack, person.sub, sk) if one["sk"]["S"] == sk]
    body = bytes(item[column]["B"])
    put(stack, item | {column: {"B": body[:-3] + bytes([body[-3] ^ 1]) + body[-2:]}})


def rebuilt(stack: Stack, person: Person) -> None:
    """Lose everything and rebuild it."""
    lose(stack, person)
    assert tidied(stack, person.sub)


def asked(stack: Stack, person: Person) -> None:
    """Do what the runbook says."""
    assert maintenance.duties().ask({"kind": "rebuild", "owner": owner_of(stack, person.sub)}) == {"owners": 1}
    assert stack.wait_until_idle()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let a dead writer's line be old at once, instead of moving everybody's clock on."""

    def move() -> None:
        monkeypatch.setattr(limits, "REPAIR_AFTER", limits.REPAIR_AFTER * 0)

    return move


@pytest.mark.parametrize("row", ["memory", "z", "p"])
def test_a_row_that_was_lost_comes_back_and_outlives_the_table(stack: Stack, ann: Person, later: Any, row: str) -> None:
    texts = ["one thing", "two things", "I am a Python developer"]
    made = [ann.add(text) for text in texts]
    ann.ok("PATCH", "/v1/settings", {"max_results": 7, "auto_capture": False})
    ann.ok("POST", "/v1/persona/refresh")
    assert stack.wait_until_idle()
    lose(stack, ann, f"m#{made[1]['id']}" if row == "memory" else row)
    later()
    assert tidied(stack, ann.sub)
    for _ in range(2):
        assert sorted(ann.texts()) == sorted(texts)
        assert ann.ok("GET", "/v1/usage")["memories"] == 3
        settings = ann.ok("GET", "/v1/settings")
        assert (settings["max_results"], settings["auto_capture"]) == (7, False)
        assert ann.ok("GET", "/v1/persona")["structured"]["languages"] == ["Python"]
        rebuilt(stack, ann)


def test_an_older_copy_of_the_rows_costs_nothing_that_was_acknowledged(stack: Stack, ann: Person, later: Any) -> None:
    ann.add("one thing")
    gone = ann.add("a thing to delete")
    ann.ok("POST", "/v1/scenes/switch", {"project": "alpha"})
    assert tidied(stack, ann.sub)
    copy = items_of(stack, ann.sub)
    ann.ok("PATCH", "/v1/scenes/alpha", {"name": "Renamed", "summary": "hand written after the backup"})
    ann.add("two, after the backup")
    ann.ok("DELETE", f"{MEMORIES}/{gone['id']}")
    lose(stack, ann)
    for item in copy:
        put(stack, item)
    later()
    for _ in range(2):
        assert tidied(stack, ann.sub)
    for _ in range(2):
        assert sorted(ann.texts()) == ["one thing", "two, after the backup"]
        scene = ann.ok("GET", "/v1/scenes/alpha")
        assert (scene["name"], scene["summary"]) == ("Renamed", "hand written after the backup")
        rebuilt(stack, ann)


def test_a_memory_that_does_not_open_is_told_of_and_deleted_or_brought_back(stack: Stack, ann: Person) -> None:
    first, second = ann.add("I play chess on Sundays"), ann.add("I hate loud music")
    for made in (first, second):
        flip(stack, ann, f"m#{made['id']}")
    path = f"{MEMORIES}/{first['id']}"
    for answer in (ann.call("GET", path), ann.call("PATCH", path, {"importance": 3})):
        assert (answer.status, answer.code) == (503, "damaged")
    assert ann.call("POST", MEMORIES, {"content": "I play chess on Sundays"}).code == "duplicate"
    assert ann.call("DELETE", path).status == 204
    assert ann.call("GET", path).status == 404
    asked(stack, ann)
    assert ann.texts() == ["I hate loud music"]
    assert ann.call("GET", f"{MEMORIES}/{second['id']}").status == 200
    rebuilt(stack, ann)
    assert ann.texts() == ["I hate loud music"]


def test_forgetting_all_means_what_does_not_open(stack: Stack, ann: Person) -> None:
    made = [ann.add(text) for text in ("I like green tea a lot", "My secret lover is Kim", "I hate loud music")]
    assert tidied(stack, ann.sub)
    flip(stack, ann, f"m#{made[1]['id']}")
    task = ann.ok("POST", "/v1/forget", {"all": True, "confirm": True})["task_id"]
    assert stack.wait_until_idle()
    told = ann.ok("GET", f"/v1/tasks/{task}")
    assert (told["status"], told["progress"]["forgotten"]) == ("done", 3)
    rebuilt(stack, ann)
    assert ann.kept() == []


def test_settings_that_do_not_open_hide_nothing_and_close_what_learns(stack: Stack, ann: Person) -> None:
    ann.ok("PATCH", "/v1/settings", {"max_results": 7})
    ann.add("I like green tea a lot")
    assert tidied(stack, ann.sub)
    flip(stack, ann, "z")
    (broken,) = [one for one in items_of(stack, ann.sub, "z") if one["sk"]["S"] == "z"]

    assert ann.call("GET", "/v1/settings").status == 503
    assert stack.wait_until_idle()  # who met it has asked for it to be mended
    assert ann.ok("GET", "/v1/settings")["max_results"] == 7

    def once_more() -> None:
        assert stack.wait_until_idle()
        put(stack, broken)

    shown: list[tuple[str, str, Any]] = [
        ("GET", MEMORIES, None),
        ("POST", SEARCH, {"query": "tea"}),
        ("GET", "/v1/days", None),
        ("GET", "/v1/export", None),
    ]
    for method, path, body in shown:
        once_more()
        assert ann.call(method, path, body).status == 200, path
    once_more()
    context = ann.ok("POST", "/v1/context", {"message": "which tea do I like"})
    assert (context["recalled"], context["reason"]) == (False, "damaged")
    note = {"user_message": "remember this: I hate red"}
    closed: list[tuple[str, str, Any]] = [
        ("GET", "/v1/settings", None),
        ("POST", "/v1/conversations", LEARN),
        ("POST", "/v1/persona/refresh", None),
        ("POST", "/v1/sessions/current/notes", note),
    ]
    for method, path, body in closed:
        once_more()
        answer = ann.call(method, path, body)
        assert (answer.status, answer.code) == (503, "damaged"), (path, answer.text)
        assert int(answer.headers["retry-after"]) > 0
    once_more()
    assert ann.ok("PATCH", "/v1/settings", {"language": "zh"})["language"] == "zh"
    assert ann.ok("GET", "/v1/settings")["language"] == "zh"


def test_a_persona_and_an_active_project_that_do_not_open_are_replaced(stack: Stack, ann: Person) -> None:
    ann.add("I am a Python developer and use Docker")
    ann.ok("POST", "/v1/persona/refresh")
    assert stack.wait_until_idle()
    flip(stack, ann, "p", "document")
    answer = ann.call("GET", "/v1/persona")
    assert (answer.status, answer.code) == (503, "damaged")
    assert ann.call("DELETE", "/v1/persona").status == 204
    ann.ok("POST", "/v1/persona/refresh")
    assert stack.wait_until_idle()
    assert ann.ok("GET", "/v1/persona")["structured"]["languages"] == ["Python"]
    ann.ok("POST", "/v1/scenes/switch", {"project": "alpha"})
    flip(stack, ann, "v", "document")
    ann.ok("POST", "/v1/scenes/switch", {"project": "beta"})
    flip(stack, ann, "v", "document")
    assert ann.call("DELETE", "/v1/scene?project=beta&confirm=true").status == 200
