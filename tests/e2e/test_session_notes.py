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


def test_what_needs_no_field_needs_no_body(ann: Person) -> None:
    begun = ann.ok("POST", "/v1/sessions")
    ended = ann.ok("POST", "/v1/sessions/current/finalize")
    assert ended == {"session_id": begun["session"]["session_id"], "notes": 0, "task_id": None}
    assert ann.ok("POST", "/v1/context")["intent"] == "session"
    refused = ann.call("POST", "/v1/forget")
    assert (refused.status, refused.fields) == (422, ["body"])
    assert '{"all": true}' in refused.text.replace("\\", "")
    for method, path in (("POST", "/v1/search"), ("POST", "/v1/sessions/current/notes"), ("PATCH", "/v1/settings")):
        lost = ann.call(method, path)
        assert lost.json["error"]["details"] == [{"field": "body", "problem": "A JSON object is needed."}]


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


@pytest.mark.parametrize("message", ["记住这个", "save this 🙏", "Remember this.", "note: "])
def test_a_request_that_says_nothing_is_answered_honestly_and_leaves_no_memory(ann: Person, message: str) -> None:
    ann.ok("POST", SESSIONS, {})
    answer = noted(ann, message)
    assert (answer["saved"], answer["reason"]) == (False, "nothing_said")
    assert ann.ok("POST", f"{CURRENT}/finalize", {})["task_id"] is None


@pytest.mark.parametrize(
    "message", ["No need to save this, my salary is 95000", "这条不用记，我决定离职", "別把這個記下來，我決定分手"]
)
def test_what_is_not_to_be_kept_is_neither_noted_nor_learned(ann: Person, message: str) -> None:
    assert noted(ann, message)["reason"] == "suppressed"
    assert noted(ann, "Here it is", key_info=[message])["reason"] == "suppressed"
    said = [{"role": "user", "content": message}]
    ann.task(ann.ok("POST", "/v1/conversations", {"messages": said, "trigger": "manual"})["task_id"])
    assert ann.texts() == []


def test_while_memory_is_off_notes_wait(ann: Person) -> None:
    first = ann.ok("POST", SESSIONS, {})["session"]["session_id"]
    noted(ann, "Remember this: the port is 8443.")
    ann.ok("PATCH", "/v1/settings", {"enabled": False})
    begun = ann.ok("POST", SESSIONS, {})
    assert (begun["session"]["session_id"], begun["digest"], begun["reason"]) == (first, [], "disabled")
    assert noted(ann, "Remember this: the host is atlas.")["reason"] == "disabled"
    assert ann.call("POST", f"{CURRENT}/finalize", {}).code == "not_possible_now"
    assert ann.texts() == []
    ann.ok("PATCH", "/v1/settings", {"enabled": True})
    ann.task(ann.ok("POST", f"{CURRENT}/finalize", {})["task_id"])
    assert ann.texts() == ["the port is 8443."]


def test_notes_about_different_things_are_both_kept(ann: Person) -> None:
    for service in ("订单", "支付"):
        noted(ann, f"我们决定{service}服务用 PostgreSQL 数据库")
    ann.task(ann.ok("POST", f"{CURRENT}/finalize", {})["task_id"])
    assert sorted(ann.texts()) == ["我们决定支付服务用 PostgreSQL 数据库", "我们决定订单服务用 PostgreSQL 数据库"]


def test_a_goodbye_with_key_points_keeps_them(ann: Person) -> None:
    ended = noted(ann, "谢谢，拜拜", key_info=["部署窗口是每周三晚上九点"])
    assert (ended["saved"], ended["reason"]) == (True, "key_points")
    finalized = ended["finalized"]
    assert isinstance(finalized, dict)
    ann.task(finalized["task_id"])
    assert ann.texts() == ["部署窗口是每周三晚上九点"]


def test_a_request_that_is_repeated_under_its_key_is_answered_again(ann: Person) -> None:
    bodies: list[tuple[str, dict[str, Any]]] = [
        (SESSIONS, {"project": "atlas"}),
        (f"{CURRENT}/notes", {"user_message": "Remember this: the port is 8443."}),
        (f"{CURRENT}/finalize", {}),
    ]
    for number, (path, body) in enumerate(bodies):
        key = {"Idempotency-Key": f"k{number}"}
        first, again = (ann.call("POST", path, body, headers=key) for _ in range(2))
        assert (first.status, first.headers.get("idempotency-replayed")) == (201 if path == SESSIONS else 200, None)
        assert (again.status, again.headers.get("idempotency-replayed")) == (first.status, "true")
        assert again.json == first.json
        other = ann.call(
            "POST",
            path,
            body | ({"discard": True} if not body else {"agent": "b"} if number == 0 else {"topic": "x"}),
            headers=key,
        )
        assert (other.status, other.code) == (422, "idempotency_key_reused")
    ann.task(first.json["task_id"])
    assert ann.texts() == ["the port is 8443."]
