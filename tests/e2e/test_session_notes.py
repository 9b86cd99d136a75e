"""Sessions over real HTTP: notes go in, memories come out, once."""

from typing import Any

import pytest

from tests.e2e.client import Person

SESSIONS, CURRENT = "/v1/sessions", "/v1/sessions/current"


def noted(person: Person, message: str, **more: object) -> dict[str, object]:
    answer: dict[str, object] = person.ok("POST", f"{CURRENT}/notes", {"user_message": message, **more})
    return answer


def test_a_session_from_its_beginning_to_its_memories(ann: Person) -> None:
    ann.add("我对花生过敏")
    begun = ann.ok("POST", SESSIONS, {"project": "商店"})
    assert begun["session"]["status"] == "open"
    assert begun["finalized"] is None
    assert [memory["content"] for memory in begun["digest"]] == ["我对花生过敏"]
    assert (
        noted(ann, "我们决定主库用 PostgreSQL", topic="数据库", key_info=["主库用 PostgreSQL", "端口是 5432"])["saved"]
        is True
    )
    assert noted(ann, "今天几点了？")["reason"] == "no_trigger"
    assert noted(ann, "I prefer tabs. Don't save this.")["reason"] == "suppressed"
    assert ann.ok("GET", CURRENT)["notes"] == 1
    ended = ann.ok("POST", f"{CURRENT}/finalize", {})
    task = ann.task(ended["task_id"])
    assert (task["status"], task["learned"]["inserted"]) == ("done", 2)
    learned = ann.kept(project="商店")
    assert sorted(memory["content"] for memory in learned) == ["主库用 PostgreSQL", "端口是 5432"]
    assert {memory["origin"]["session_id"] for memory in learned} == {ended["session_id"]}
    assert ann.ok("GET", CURRENT)["status"] == "none"
    assert ann.found("端口", project="商店")[0] == "端口是 5432"


@pytest.mark.parametrize("goodbye", ["谢谢，拜拜", "done, thanks!", "汇总记忆"])
def test_a_goodbye_ends_it(ann: Person, goodbye: str) -> None:
    ann.ok("POST", SESSIONS, {})
    noted(ann, "记住这个：我喜欢喝茶")
    ended = noted(ann, goodbye)["finalized"]
    assert isinstance(ended, dict)
    assert ann.task(ended["task_id"])["status"] == "done"
    assert ann.texts() == ["我喜欢喝茶"]


def test_the_next_session_ends_the_last_one(ann: Person) -> None:
    first = ann.ok("POST", SESSIONS, {})["session"]["session_id"]
    noted(ann, "Remember this: the port is 8443.")
    begun = ann.ok("POST", SESSIONS, {})
    assert begun["finalized"]["session_id"] == first
    ann.task(begun["finalized"]["task_id"])
    assert ann.texts() == ["the port is 8443."]


def test_a_session_without_a_project_is_of_the_active_one(ann: Person) -> None:
    ann.ok("POST", "/v1/scenes/switch", {"project": "atlas"})
    assert ann.ok("POST", SESSIONS, {})["session"]["project"] == "atlas"
    assert ann.ok("POST", SESSIONS, {"project": None})["session"]["project"] is None


def test_notes_of_one_person_are_nobody_elses(ann: Person, bob: Person) -> None:
    ann.ok("POST", SESSIONS, {})
    noted(ann, "Remember this: the port is 8443.")
    assert bob.ok("GET", CURRENT) == {"status": "none"} | dict.fromkeys(
        ("session_id", "project", "agent", "started_at", "last_at")
    ) | {"notes": 0}
    assert bob.call("POST", f"{CURRENT}/finalize", {}).status == 404
    assert ann.ok("GET", CURRENT)["notes"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"user_message": ""},
        {"user_message": "x", "key_info": [""]},
        {"user_message": "x", "tags": ["no sign"]},
        {"user_message": "x" * 5000},
    ],
)
def test_notes_that_cannot_be_are_refused(ann: Person, body: dict[str, object]) -> None:
    assert ann.call("POST", f"{CURRENT}/notes", body).status == 422


@pytest.mark.parametrize("secret", ["my password is hunter2Xy!9", "密码是hunter2Xy!9"])
def test_no_credential_comes_in_by_a_name_or_a_topic(ann: Person, secret: str) -> None:
    noted = {"user_message": "记住这个：我喜欢茶"}
    said = {"messages": [{"role": "user", "content": "记住：我喜欢茶"}], "trigger": "manual"}
    doors: list[tuple[str, dict[str, Any], str]] = [
        ("/v1/sessions", {}, "project"),
        ("/v1/sessions", {}, "agent"),
        ("/v1/sessions/current/notes", noted, "topic"),
        ("/v1/conversations", said, "project"),
        ("/v1/conversations", said, "agent"),
        ("/v1/conversations", said, "session_id"),
    ]
    for path, body, field in doors:
        refused = ann.call("POST", path, body | {field: secret})
        assert (refused.status, refused.code, refused.fields) == (422, "invalid", [field])
        assert "hunter2" not in refused.text
    assert ann.ok("GET", "/v1/sessions/current")["status"] == "none"
    assert ann.texts() == []
