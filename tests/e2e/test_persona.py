"""The persona and suggestions over HTTP and maintenance, by rules, in both languages (D24, D28)."""

from typing import Any

import pytest

from tests.e2e.client import Person

PERSONA, REFRESH, SUGGESTIONS = "/v1/persona", "/v1/persona/refresh", "/v1/suggestions"
SAID = {
    "en": {
        "role": "I work as a backend engineer",
        "experience": "I have 9 years of experience with compilers",
        "languages": "I prefer TypeScript for data code",
        "communication": "Keep answers short and without jokes",
        "code_style": "Indent with four spaces",
        "work_hours": "My working hours are nine to five",
    },
    "zh": {
        "role": "我是一名后端工程师",
        "experience": "我有九年编译器开发经验",
        "languages": "我喜欢用 TypeScript 写数据处理",
        "communication": "回答要简短，不要开玩笑",
        "code_style": "缩进用四个空格",
        "work_hours": "我的工作时间是早九晚五",
    },
}
FILLER = {"en": "Kiln {} stands in hall {}", "zh": "第 {} 号窑在 {} 号厂房"}
AGENTS = {
    "en": (
        "Staging deploy failed with a migration error → rolled back and reran the migrations by hand → deploy succeeded",
        "The deploy to staging failed on a migration → rollback, then migrations rerun by hand → the deploy went through",
        "A migration error broke the staging deploy → rolled the release back, reran migrations → worked",
    ),
    "zh": (
        "接口超时 → 先看慢查询日志，再加索引 → 响应恢复正常",
        "接口响应超时 → 查慢查询日志后给字段加索引 → 恢复正常",
        "订单接口超时 → 根据慢查询日志加了索引 → 响应正常",
    ),
}
TONGUES = pytest.mark.parametrize("tongue", ["en", "zh"])


def tidy(person: Person) -> None:
    person.maintain()


def told(person: Person, tongue: str, facts: int = 0) -> dict[str, str]:
    """Add what speaks of the person, and fill up to so many facts; return the ids by part."""
    ids = {part: person.add(text, category="preference")["id"] for part, text in SAID[tongue].items()}
    for number in range(facts - len(ids)):
        person.add(FILLER[tongue].format(number, number), scope="project", project="窑")
    return ids


def refreshed(person: Person) -> dict[str, Any]:
    """Ask for a new persona and return the task when it is over."""
    return person.task(person.ok("POST", REFRESH)["task_id"])


def suggested(person: Person, tongue: str, agent: str = "pilot") -> dict[str, Any]:
    """Let an agent experience the same three times; return the suggestion."""
    for text in AGENTS[tongue]:
        person.add(text, scope="agent", agent=agent, category="experience")
    tidy(person)
    (one,) = person.ok("GET", SUGGESTIONS)["suggestions"]
    made: dict[str, Any] = one
    return made


def test_none_yet_is_200_and_empty(ann: Person) -> None:
    answer = ann.call("GET", PERSONA)
    assert (answer.status, answer.json["traits"], answer.json["statements"]) == (200, "", [])
    assert (answer.json["fact_count"], answer.json["last_scene"], answer.json["refreshed_at"]) == (0, None, None)
    assert set(answer.json["structured"]) == {
        *("role", "experience", "languages", "frameworks", "databases", "tools", "code_style", "focus_areas"),
        *("work_hours", "active_projects", "communication", "constraints", "credential_habits"),
    }
    assert not any(answer.json["structured"].values())
    assert "etag" not in answer.headers
    assert ann.call("DELETE", PERSONA).status == 204
    assert ann.ok("GET", SUGGESTIONS) == {"suggestions": [], "next_cursor": None}


@TONGUES
def test_thirty_facts_make_it_and_rules_sort_them_and_invent_nothing(ann: Person, bob: Person, tongue: str) -> None:
    ids = told(ann, tongue, 30)
    ann.add("The staging password is hunter2hunter2")
    tidy(ann)
    answer = ann.call("GET", PERSONA)
    body, structured = answer.json, answer.json["structured"]
    for part, text in SAID[tongue].items():
        assert structured[part] == (["TypeScript"] if part == "languages" else [text])
    assert (structured["active_projects"], body["last_scene"], body["fact_count"]) == (["窑"], "窑", 30)
    assert (body["traits"], body["model"]) == ("", "rules persona/1")
    assert {"part": "role", "text": SAID[tongue]["role"], "memory_ids": [ids["role"]]} in body["statements"]
    assert answer.headers["etag"]
    assert not any(secret in answer.text for secret in ("hunter2", "password", "***"))
    assert bob.ok("GET", PERSONA)["statements"] == []
    text = ann.context("so be it", new_session=False, project=None)["text"]
    assert "TypeScript" in text
    assert SAID[tongue]["role"] in text


@TONGUES
def test_what_is_deleted_or_dismissed_goes_at_once_and_stays_away(ann: Person, tongue: str) -> None:
    ids = told(ann, tongue)
    refreshed(ann)
    ann.ok("DELETE", f"/v1/memories/{ids['role']}")
    ann.ok("PATCH", f"/v1/memories/{ids['work_hours']}", {"status": "dismissed"})
    for _ in range(2):
        structured = ann.ok("GET", PERSONA)["structured"]
        assert (structured["role"], structured["work_hours"]) == ([], [])
        assert structured["code_style"] == [SAID[tongue]["code_style"]]
        text = ann.context("so be it", new_session=False, project=None)["text"]
        assert not any(SAID[tongue][part] in text for part in ("role", "work_hours"))
        task = refreshed(ann)
        assert (task["kind"], task["status"], task["error"]) == ("persona", "done", None)


EDITED = {
    "en": ("I write Zig at work, every day", "I write Haskell at work now", "Zig"),
    "zh": ("我工作时喜欢用 TypeScript", "我工作时喜欢用 Haskell", "TypeScript"),
}


@TONGUES
def test_what_is_edited_takes_its_old_words_with_it_at_once_and_for_good(ann: Person, tongue: str) -> None:
    said, says_now, old = EDITED[tongue]
    path = f"/v1/memories/{ann.add(said, category='preference')['id']}"
    refreshed(ann)
    assert ann.ok("GET", PERSONA)["structured"]["languages"] == [old]
    ann.ok("PATCH", path, {"importance": 9, "tags": ["#work"]})
    assert old in ann.context("so be it", new_session=False)["text"]
    ann.ok("PATCH", path, {"content": says_now})
    for _ in range(2):
        assert ann.ok("GET", PERSONA)["statements"] == []
        assert old not in ann.context("so be it", new_session=False)["text"]
        tidy(ann)
    refreshed(ann)
    assert ann.ok("GET", PERSONA)["structured"]["languages"] == ["Haskell"]
    ann.ok("PATCH", path, {"content": "Haskell token ghp_0123456789abcdefghijABCDEFGHIJ012345"})
    assert ann.ok("GET", PERSONA)["statements"] == []


@TONGUES
def test_an_accepted_suggestion_goes_when_its_evidence_is_edited(ann: Person, tongue: str) -> None:
    one = suggested(ann, tongue)
    ann.ok("PATCH", f"{SUGGESTIONS}/{one['id']}", {"status": "accepted"})
    assert one["text"] in ann.context("so be it", new_session=False, agent="pilot")["text"]
    for number, memory_id in enumerate(one["memory_ids"]):
        ann.ok("PATCH", f"/v1/memories/{memory_id}", {"content": f"Kiln {number} → cold → lit it"})
    for _ in range(2):
        assert one["id"] not in [found["id"] for found in ann.ok("GET", SUGGESTIONS)["suggestions"]]
        assert one["text"] not in ann.context("so be it", new_session=False, agent="pilot")["text"]
        tidy(ann)


def test_a_refresh_is_asked_for_by_request_and_is_a_task(ann: Person) -> None:
    ann.add("I write Zig", category="preference")
    answer = ann.call("POST", REFRESH)
    assert (answer.status, answer.json["status"]) == (202, "queued")
    assert answer.headers["location"] == f"/v1/tasks/{answer.json['task_id']}"
    task = ann.task(answer.json["task_id"])
    assert (task["status"], task["progress"]) == ("done", {"facts": 1, "statements": 1})
    assert ann.ok("GET", PERSONA)["structured"]["languages"] == ["Zig"]
    assert ann.call("POST", f"/v1/tasks/{task['id']}/retry").status == 409
    ann.ok("PATCH", "/v1/settings", {"enabled": False})
    assert (ann.call("POST", REFRESH).status, ann.call("POST", REFRESH).code) == (409, "not_possible_now")


def test_a_deleted_persona_comes_back_at_the_next_refresh_only(ann: Person) -> None:
    told(ann, "en")
    refreshed(ann)
    etag = ann.call("GET", PERSONA).headers["etag"]
    assert ann.call("DELETE", PERSONA, headers={"if-match": '"another"'}).status == 412
    assert ann.call("DELETE", PERSONA, headers={"if-match": etag}).status == 204
    tidy(ann)
    assert ann.ok("GET", PERSONA)["statements"] == []
    refreshed(ann)
    assert ann.ok("GET", PERSONA)["structured"]["languages"] == ["TypeScript"]


@TONGUES
def test_what_repeats_is_suggested_and_an_accepted_one_is_told_to_its_own_agent(
    ann: Person, bob: Person, tongue: str
) -> None:
    one = suggested(ann, tongue)
    assert (one["kind"], one["status"], one["evidence"], one["agent"]) == ("workflow", "proposed", 3, "pilot")
    assert len(one["memory_ids"]) == 3
    assert len(one["text"]) <= 500
    path = f"{SUGGESTIONS}/{one['id']}"
    for wrong, status in (({"status": "proposed"}, 422), ({}, 422), ({"status": "accepted", "title": "x"}, 422)):
        assert ann.call("PATCH", path, wrong).status == status
    assert ann.call("PATCH", path, {"status": "accepted"}, headers={"if-match": '"another"'}).status == 412
    assert bob.call("PATCH", path, {"status": "accepted"}).status == 404
    assert bob.ok("GET", SUGGESTIONS)["suggestions"] == []
    answer = ann.call("PATCH", path, {"status": "accepted"})
    assert (answer.status, answer.json["status"]) == (200, "accepted")
    assert answer.headers["etag"]
    assert one["text"] in ann.context("so be it", new_session=False, agent="pilot")["text"]
    assert one["text"] not in ann.context("so be it", new_session=False, agent="copilot")["text"]
    assert one["text"] not in ann.context("so be it", new_session=False)["text"]
    assert [found["id"] for found in ann.ok("GET", SUGGESTIONS, query={"status": "accepted"})["suggestions"]] == [
        one["id"]
    ]
    assert ann.ok("GET", SUGGESTIONS, query={"status": "proposed"})["suggestions"] == []
    assert ann.call("GET", SUGGESTIONS, query={"status": "perhaps"}).status == 422


@TONGUES
def test_a_dismissed_one_never_comes_back(ann: Person, tongue: str) -> None:
    one = suggested(ann, tongue)
    ann.ok("PATCH", f"{SUGGESTIONS}/{one['id']}", {"status": "dismissed"})
    for text in AGENTS[tongue]:
        ann.add(f"{text}!", scope="agent", agent="pilot", category="experience")
    tidy(ann)
    found = ann.ok("GET", SUGGESTIONS)["suggestions"]
    assert [(other["id"], other["status"]) for other in found] == [(one["id"], "dismissed")]
    for memory_id in one["memory_ids"]:
        ann.ok("DELETE", f"/v1/memories/{memory_id}")
    assert ann.ok("GET", SUGGESTIONS)["suggestions"] == []
    tidy(ann)
    assert ann.ok("GET", SUGGESTIONS)["suggestions"] == []


def test_forgetting_everything_leaves_neither_persona_nor_suggestion(ann: Person) -> None:
    told(ann, "zh")
    suggested(ann, "zh")
    refreshed(ann)
    assert ann.ok("GET", PERSONA)["statements"]
    task = ann.task(ann.ok("POST", "/v1/forget", {"all": True, "confirm": True})["task_id"])
    assert task["status"] == "done"
    body = ann.ok("GET", PERSONA)
    assert (body["statements"], body["last_scene"]) == ([], None)
    assert ann.ok("GET", SUGGESTIONS)["suggestions"] == []
