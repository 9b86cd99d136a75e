"""Forgetting over real HTTP, where it meets secrets, sessions, conversations, imports and scenes."""

from string import ascii_letters, digits
from typing import Any

import pytest

from tests.e2e.client import Person
from tests.e2e.test_forget import FORGET, done


def test_no_secret_is_found_out_by_asking_what_would_be_forgotten(ann: Person) -> None:
    secret = "Zq7!kd92Lm"
    ann.add(f"The database password is {secret}")
    ann.add("my dog is called rex", category="credential")
    told = "the database password is ***".casefold()
    for sign in [one for one in ascii_letters + digits + "!" if one.casefold() not in told]:
        assert ann.ok("POST", FORGET, {"query": sign, "dry_run": True})["count"] == 0, sign
    for part in (secret[:-1], secret[1:], "rex"):
        assert ann.ok("POST", FORGET, {"query": part, "dry_run": True})["count"] == 0, part
    assert done(ann, {"query": secret})["progress"] == {"forgotten": 1}
    assert done(ann, {"query": "my dog is called rex"})["progress"] == {"forgotten": 1}
    assert ann.kept() == []


def test_one_note_is_forgotten_and_the_others_of_its_session_are_learned(ann: Person) -> None:
    long = " ".join(f"I decided to use tool{number} for job{number}." for number in range(2_000))
    for number in range(2):  # its queue is busy
        ann.hand_in(f"{long} {number}")
    note(ann, "We decided to use Postgres for orders")
    note(ann, "I prefer the dark theme in every editor I own")
    ended = ann.ok("POST", "/v1/sessions/current/finalize", {})
    assert done(ann, {"query": "postgres"})["status"] == "done"
    assert ann.task(ended["task_id"])["status"] == "done"
    assert ann.found("dark theme")[:1] == ["I prefer the dark theme in every editor I own"]
    assert not any("Postgres" in text for text in ann.texts())


def note(person: Person, message: str) -> None:
    assert person.ok("POST", "/v1/sessions/current/notes", {"user_message": message})["saved"]


def test_an_import_whose_last_page_is_missing_holds_no_forget_up(ann: Person) -> None:
    ann.add("forget me please")
    begun = ann.ok("POST", "/v1/import", {"data": "- forget me as well\n- c d", "last": False})
    task = done(ann, {"query": "forget me"})
    assert (task["status"], task["progress"]) == ("done", {"forgotten": 1})
    ann.ok("POST", "/v1/import", {"data": "- e f\n- g h", "import_id": begun["task_id"]})
    for _ in range(2):
        ann.maintain()
    assert sorted(ann.texts()) == ["c d", "e f", "g h"]
    assert ann.ok("GET", f"/v1/tasks/{task['id']}")["progress"] == {"forgotten": 2}


@pytest.mark.parametrize("wish", [{"scope": "user"}, {"category": "preference"}, {"importance_below": 10}], ids=str)
def test_what_was_noted_before_is_forgotten_when_it_is_learned(ann: Person, wish: dict[str, Any]) -> None:
    note(ann, "I prefer green tea")
    task = done(ann, wish)
    assert (task["status"], task["progress"]) == ("done", {})
    ended = ann.ok("POST", "/v1/sessions/current/finalize", {})
    assert ann.task(ended["task_id"])["status"] == "done"
    assert ann.stack.wait_until_idle()
    assert ann.kept() == []
    assert ann.ok("GET", f"/v1/tasks/{task['id']}")["progress"] == {"forgotten": 1}


def test_a_dry_run_counts_the_notes_of_an_open_session(ann: Person) -> None:
    ann.ok("POST", "/v1/sessions", {"project": "Zed"})
    note(ann, "We decided to use Postgres for orders")
    for wish in ({"query": "postgres"}, {"project": "Zed"}, {"all": True}):
        shown = ann.ok("POST", FORGET, {**wish, "dry_run": True})
        assert (shown["count"], shown["notes"], shown["conversations"]) == (0, 1, 0)
    assert done(ann, {"project": "Zed"})["progress"] == {"notes": 1}


def test_a_scene_by_hand_goes_with_its_project_and_with_everything(ann: Person) -> None:
    for project in ("Zed", "Atlas"):
        ann.ok("POST", "/v1/scenes/switch", {"project": project})
        ann.ok("PATCH", f"/v1/scenes/{project}", {"summary": "Written by hand"})
    for wish, left in (({"project": "Zed"}, ["Atlas"]), ({"all": True}, [])):
        assert ann.ok("POST", FORGET, {**wish, "dry_run": True})["scenes"] == 1
        task = done(ann, wish)
        assert (task["status"], task["progress"]) == ("done", {"scenes": 1})
        assert [scene["project"] for scene in ann.ok("GET", "/v1/scenes")["scenes"]] == left
        assert ann.ok("GET", "/v1/export")["data"].count("Written by hand") == len(left)


def test_a_deleted_scene_is_not_made_again_by_notes_of_before(ann: Person) -> None:
    ann.ok("POST", "/v1/sessions", {"project": "Zed"})
    note(ann, "We decided to use Zedthing")
    ann.add("zed mem", scope="project", project="Zed")
    ann.ok("DELETE", "/v1/scenes/Zed", query={"confirm": "true"})
    assert ann.ok("POST", "/v1/sessions/current/finalize", {})["notes"] == 0
    assert ann.kept() == []


@pytest.mark.parametrize("query", ["後端的數據庫", "后端的数据库", "数据库 後端"])
def test_words_of_either_script_are_forgotten_wherever_they_were_said(ann: Person, query: str) -> None:
    ann.add("我負責後端的數據庫")
    ann.add("我负责后端的数据库")
    ann.learn("记住：我喜欢前端", dry_run=True)
    told = ann.learn("我们决定把后端的数据库搬到云上", dry_run=True, project="商店")
    assert told["would_learn"]
    assert ann.ok("POST", "/v1/forget", {"query": query, "dry_run": True})["count"] == 2
    ann.ok("POST", "/v1/forget", {"query": query, "confirm": True})
    assert ann.stack.run_maintenance()["idle"]
    assert (ann.texts(), ann.found("后端")) == ([], [])
    assert [task["would_learn"] is None for task in ann.ok("GET", "/v1/tasks")["tasks"] if task["dry_run"]] == [
        True,
        False,
    ]
