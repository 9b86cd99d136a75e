"""Forgetting many memories over real HTTP: what would go, a task that does it, and nothing left."""

from typing import Any

import pytest

from tests.e2e.client import Person

FORGET = "/v1/forget"


@pytest.fixture
def full(ann: Person) -> Person:
    ann.add("我对花生过敏", category="constraint", importance=9)
    ann.add("Peanuts are served in the office", scope="project", project="kitchen", importance=2)
    ann.add("The deploy day is Monday", tags=["#ops"])
    ann.learn("请记住：我喜欢花生酱配面包当早餐")
    ann.maintain()
    return ann


def done(person: Person, wish: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = person.call("POST", FORGET, wish | {"confirm": True}, **more)
    assert answer.status == 202, answer.text
    assert answer.headers["location"] == f"/v1/tasks/{answer.json['task_id']}"
    person.maintain()
    task: dict[str, Any] = person.ok("GET", answer.headers["location"])
    return task


def test_a_dry_run_shows_what_would_go_and_changes_nothing(full: Person) -> None:
    shown = full.ok("POST", FORGET, {"query": "花生", "dry_run": True})
    assert (shown["status"], shown["count"], shown["complete"]) == ("dry_run", 2, True)
    assert all("花生" in memory["content"] for memory in shown["memories"])
    assert len(full.kept()) == 4


def test_words_are_forgotten_and_the_task_says_how_many(full: Person) -> None:
    task = done(full, {"query": "花生"})
    assert (task["kind"], task["status"], task["progress"]) == ("forget", "done", {"forgotten": 2})
    assert sorted(full.texts()) == ["Peanuts are served in the office", "The deploy day is Monday"]
    assert full.found("花生") == []
    full.add("我对花生过敏")
    assert full.found("花生") == ["我对花生过敏"]


@pytest.mark.parametrize(
    ("wish", "left"),
    [
        ({"project": "kitchen"}, 3),
        ({"importance_below": 3}, 3),
        ({"category": "constraint"}, 3),
        ({"last_days": 1}, 0),
        ({"date": "2001-01-01"}, 4),
        ({"from": "2001-01-01T00:00:00Z", "to": "2002-01-01T00:00:00Z"}, 4),
        ({"all": True}, 0),
    ],
    ids=str,
)
def test_every_way_of_meaning_memories_works(full: Person, wish: dict[str, Any], left: int) -> None:
    assert full.ok("POST", FORGET, wish | {"dry_run": True})["count"] == 4 - left
    task = done(full, wish)
    assert task["status"] == "done"
    assert len(full.kept()) == left


def test_nothing_is_forgotten_without_confirmation_or_by_a_request_that_means_nothing(full: Person) -> None:
    refused = full.call("POST", FORGET, {"all": True})
    assert (refused.status, refused.code) == (422, "confirmation_needed")
    for wish in ({}, {"all": True, "query": "x"}, {"date": "yesterday"}, {"ids": ["nothing"]}, {"importance_below": 0}):
        answer = full.call("POST", FORGET, {"confirm": True, **wish})
        assert (answer.status, answer.code) == (422, "invalid"), wish
    assert len(full.kept()) == 4


def test_ids_of_another_person_mean_nothing(full: Person, bob: Person) -> None:
    theirs = bob.add("Bob's own")["id"]
    task = done(full, {"ids": [theirs, full.kept()[0]["id"]]})
    bob.maintain()
    assert task["progress"] == {"forgotten": 1}
    assert bob.texts() == ["Bob's own"]


@pytest.mark.case(53)
def test_forgetting_everything_of_one_person_leaves_everybody_elses(full: Person, bob: Person) -> None:
    bob.add("我对花生过敏")
    task = done(full, {"all": True})
    bob.maintain()
    assert (full.texts(), task["progress"]) == ([], {"forgotten": 4, "scenes": 1})
    assert bob.texts() == ["我对花生过敏"]
    assert bob.found("花生") == ["我对花生过敏"]


def test_a_request_under_a_key_is_done_once(full: Person) -> None:
    first = done(full, {"query": "花生"}, headers={"idempotency-key": "once"})
    full.add("花生 again")
    again = full.call("POST", FORGET, {"query": "花生", "confirm": True}, headers={"idempotency-key": "once"})
    assert again.json["task_id"] == first["id"]
    full.maintain()
    assert full.found("花生") == ["花生 again"]


def test_a_full_memory_can_be_made_room_in(ann: Person) -> None:
    ann.ok("PATCH", "/v1/settings", {"enabled": False})
    ann.add("Not important", importance=1)
    assert done(ann, {"importance_below": 3})["progress"] == {"forgotten": 1}


def test_a_file_that_is_brought_along_right_after_everything_was_forgotten_stays(full: Person) -> None:
    file = full.ok("GET", "/v1/export")["data"]
    before = sorted(full.texts())
    assert full.call("POST", FORGET, {"all": True, "confirm": True}).status == 202
    begun = full.ok("POST", "/v1/import", {"data": file})
    for _ in range(3):
        full.maintain()
    assert full.task(begun["task_id"])["status"] == "done"
    assert sorted(full.texts()) == before


def test_the_last_day_of_the_calendar_is_a_day(full: Person) -> None:
    assert full.ok("POST", FORGET, {"date": "9999-12-31", "dry_run": True})["count"] == 0
    assert full.kept(date="9999-12-31") == []
    days = full.ok("GET", "/v1/days", query={"from": "0001-01-01", "to": "9999-12-31"})["days"]
    assert [day["count"] for day in days] == [4]


def test_words_are_forgotten_in_persona_and_scenes_too(ann: Person) -> None:
    made = ann.add("I am a Python developer who works with Django", category="preference")
    ann.task(ann.ok("POST", "/v1/persona/refresh")["task_id"])
    assert ann.ok("GET", "/v1/persona")["structured"]["frameworks"] == ["Django"]
    ann.ok("POST", "/v1/scenes/switch", {"project": "shop"})
    ann.ok("PATCH", "/v1/scenes/shop", {"summary": "The shop runs on Django.", "context": "It sells kilns."})
    shown = ann.ok("POST", FORGET, {"query": "django", "dry_run": True})
    assert [one["content"] for one in shown["memories"]] == [made["content"]]
    assert shown["text_count"] == len(shown["texts"]) == 3
    texts = {(one["kind"], one["project"], one["text"]) for one in shown["texts"]}
    assert texts >= {("summary", "shop", "The shop runs on Django."), ("persona", None, "Django")}
    ann.ok("PATCH", f"/v1/memories/{made['id']}", {"content": "I am a Go developer now"})
    hidden = ann.ok("POST", FORGET, {"query": "django", "dry_run": True})
    assert (hidden["count"], hidden["text_count"], len(hidden["texts"])) == (0, 3, 1)
    task = done(ann, {"query": "django"})
    assert (task["status"], task["progress"]) == ("done", {"texts": 3, "earlier": 1})
    scene = ann.ok("GET", "/v1/scenes/shop")
    assert (scene["summary"], scene["context"]) == (None, "It sells kilns.")
    assert "Django" not in ann.context("hello", new_session=True, project="shop")["text"]
