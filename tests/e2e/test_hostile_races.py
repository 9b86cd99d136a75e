"""Races of careless clients for one memory, and secrets, tags and names in odd places."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.e2e.client import CONVERSATIONS, MEMORIES, Person


def together(*calls: Any) -> list[Any]:
    """Make all calls at once."""
    barrier = threading.Barrier(len(calls))

    def one(call: Any) -> Any:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [made.result() for made in [pool.submit(one, call) for call in calls]]


def test_edits_dismissals_and_a_delete_at_once_end_in_one_state(ann: Person) -> None:
    for round_number in range(3):
        made = ann.add(f"a fact of round {round_number}")
        path = f"{MEMORIES}/{made['id']}"
        bodies: list[dict[str, Any]] = [
            {"content": f"edited {round_number}"}, {"status": "dismissed"}, {"importance": 9}, {"tags": ["#a"]}
        ]  # fmt: skip
        edits = [lambda body=body, path=path: ann.call("PATCH", path, body).status for body in bodies]
        statuses = together(*edits, lambda path=path: ann.call("DELETE", path).status)
        assert set(statuses) <= {200, 204, 404, 503}
        if statuses[-1] == 204:
            assert ann.call("GET", path).status == 404
        else:
            ann.ok("DELETE", path)
        usage = ann.ok("GET", "/v1/usage")
        assert (usage["memories"], usage["active"]) == (0, 0)
        again = ann.add(f"a fact of round {round_number}")
        ann.ok("DELETE", f"{MEMORIES}/{again['id']}")


def test_edits_that_meet_each_keep_their_own_field(ann: Person) -> None:
    made = ann.add("a fact")
    path = f"{MEMORIES}/{made['id']}"
    bodies: list[dict[str, Any]] = [{"importance": 9}, {"tags": ["#kept"]}, {"metadata": {"a": 1}}]
    statuses = together(*[lambda body=body: ann.call("PATCH", path, body).status for body in bodies])
    after = ann.ok("GET", path)
    for status, body in zip(statuses, bodies, strict=True):
        assert status in {200, 503}
        if status == 200:
            (name,) = body
            assert after[name] == body[name]
    assert after["version"] == 1 + statuses.count(200)


def test_two_writers_of_one_text_make_one_memory(ann: Person) -> None:
    statuses = together(*[lambda: ann.call("POST", MEMORIES, {"content": "one fact"}).status for _ in range(6)])
    assert statuses.count(201) == 1
    assert set(statuses) <= {201, 409, 503}
    assert ann.texts() == ["one fact"]


def test_one_conversation_sent_by_many_at_once_is_learned_once(ann: Person) -> None:
    ann.add("somebody is known")
    answers = together(*[lambda: ann.hand_in("I prefer tabs over spaces in every file") for _ in range(6)])
    assert {answer.status for answer in answers} <= {202, 503}
    assert len({answer.json["task_id"] for answer in answers if answer.status == 202}) == 1
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    assert ann.task(task["id"])["learned"]["inserted"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {"content": "a fact", "tags": ["#sk-test-0a1B2c3D4e5F6g7H8i9J0kLmNoPq"]},
        {"content": "a fact", "metadata": {"password": "hunter2Xy!"}},
        {"content": "a fact", "metadata": {"deep": [{"note": "AKIAIOSFODNN7EXAMPLE"}]}},
    ],
)
def test_a_secret_where_none_belongs_is_refused_and_not_repeated(ann: Person, body: dict[str, Any]) -> None:
    answer = ann.call("POST", MEMORIES, body)
    assert (answer.status, answer.code) == (422, "invalid")
    for secret in ("0a1B2c3D", "hunter2", "AKIA"):
        assert secret not in answer.text


def test_many_tags_and_much_metadata_are_bounded(ann: Person) -> None:
    tags = [f"#tag{number}" for number in range(20)]
    assert ann.add("a fact", tags=tags)["tags"] == tags
    assert ann.call("POST", MEMORIES, {"content": "b", "tags": [*tags, "#one-more"]}).fields == ["tags"]
    assert ann.call("POST", MEMORIES, {"content": "c", "metadata": {"a": "字" * 1_400}}).fields == ["metadata"]
    assert ann.add("d", metadata={"a": "x" * 4_000})["metadata"] == {"a": "x" * 4_000}


def test_names_of_projects_agents_and_sessions_are_one_whatever_their_form(ann: Person) -> None:
    ann.add("release notes of the café", scope="project", project="caf\u00e9")
    assert ann.found("release notes", project="cafe\u0301") == ["release notes of the café"]
    for name in ("a\u200bb", "a\u202eb", " a", "a\n", "\x00", "", "x" * 129):
        for body in ({"project": name}, {"agent": name}, {"session_id": name}):
            messages = [{"role": "user", "content": "I prefer tabs"}]
            answer = ann.call("POST", CONVERSATIONS, {"messages": messages, "trigger": "manual", **body})
            assert (answer.status, answer.fields) == (422, list(body))
