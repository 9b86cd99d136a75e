"""Auditors and operators over HTTP, with tokens that carry groups: looks on record, notes that agents are told, secrets by reference."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from local.stack import Stack
from tests.e2e.client import MEMORIES, Answer, Person
from tests.e2e.storage import raw_bytes

ADMIN = "/v1/admin/memories"
WHY = "ticket 4711: a complaint"
NOTES = "先查工单，再动生产环境。"


@dataclass(frozen=True)
class Official(Person):
    """Somebody whose token carries groups."""

    groups: tuple[str, ...] = ()

    def call(self, method: str, path: str, body: Any = None, *, headers: Any = None, query: Any = None) -> Answer:
        token = self.stack.token(self.name, self.groups, sub=self.sub)
        sent = {"authorization": f"Bearer {token}", **(headers or {})}
        return super().call(method, path, body, headers=sent, query=query)


@pytest.fixture
def auditor(stack: Stack) -> Official:
    return Official(stack, "olga", groups=("staff", "memory:read"))


@pytest.fixture
def operator(stack: Stack) -> Official:
    return Official(stack, "oscar", groups=("agents:write",))


def look(auditor: Person, user_id: str, reason: str = WHY, **query: Any) -> Answer:
    return auditor.call("GET", ADMIN, query={"user_id": user_id, "reason": reason, **query})


def notes_of(agent: str) -> str:
    return f"/v1/admin/agents/{quote(agent, safe='')}/notes"


def audit(person: Person, **query: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = person.ok("GET", "/v1/audit", query=query or None)["entries"]
    return entries


def test_a_look_says_that_it_is_for_audit_masks_secrets_and_is_on_the_persons_list(
    ann: Person, auditor: Official
) -> None:
    ann.add("我对花生过敏")
    ann.add("数据库密码是 hunter2Xy!")
    ann.ok("PATCH", "/v1/settings", {"credentials_in_context": True})
    answer = look(auditor, ann.sub)
    assert answer.status == 200
    assert answer.json["read_only"] is True
    assert "audit" in answer.json["notice"]
    assert "只读" in answer.json["notice"]
    assert {memory["masked"] for memory in answer.json["memories"]} == {True, False}
    assert "花生" in answer.text
    assert "hunter2Xy" not in answer.text
    (entry,) = audit(ann, action="read")
    assert (entry["by"], entry["reason"]) == (f"auditor:{auditor.sub}", WHY)


def test_pages_are_entries_each_and_a_cursor_is_of_one_person(ann: Person, bob: Person, auditor: Official) -> None:
    for number in range(3):
        ann.add(f"fact {number}")
    bob.add("fact of bob")
    first = look(auditor, ann.sub, limit=2)
    second = look(auditor, ann.sub, limit=2, cursor=first.json["next_cursor"])
    texts = [memory["content"] for answer in (first, second) for memory in answer.json["memories"]]
    assert texts == ["fact 2", "fact 1", "fact 0"]
    assert len(audit(ann, action="read")) == 2
    assert look(auditor, bob.sub, cursor=first.json["next_cursor"]).code == "invalid_cursor"
    assert audit(bob) == []


def test_who_never_was_looks_like_who_has_nothing(ann: Person, auditor: Official) -> None:
    made = ann.add("I drink tea.")
    ann.ok("DELETE", f"{MEMORIES}/{made['id']}")
    answers = [look(auditor, sub) for sub in (ann.sub, "nobody at all", "无人")]
    assert {answer.status for answer in answers} == {200}
    assert answers[0].json == answers[1].json == answers[2].json


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"reason": WHY}, "user_id"),
        ({"user_id": "ann"}, "reason"),
        ({"user_id": "ann", "reason": "short"}, "reason"),
        ({"user_id": "ann", "reason": "  a        "}, "reason"),
        ({"user_id": "ann", "reason": "x" * 301}, "reason"),
        ({"user_id": "ann", "reason": "a ticket\x00 of hers"}, "reason"),
        ({"user_id": "ann", "reason": "a ticket\nApproved by you"}, "reason"),
        ({"user_id": "ann", "reason": "a ticket \u202eyb devorppA"}, "reason"),
        ({"user_id": "", "reason": WHY}, "user_id"),
        ({"user_id": "ann", "reason": WHY, "status": "retired"}, "status"),
        ({"user_id": "ann", "reason": WHY, "reveal": "true"}, "reveal"),
    ],
)
def test_a_look_without_whose_or_why_is_refused(auditor: Official, query: dict[str, str], field: str) -> None:
    answer = auditor.call("GET", ADMIN, query=query)
    assert (answer.status, answer.fields) == (422, [field])


def test_an_auditor_changes_nothing_and_reads_nothing_but_the_list(ann: Person, auditor: Official) -> None:
    made = ann.add("password: hunter2Xy!")
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert auditor.call(method, ADMIN, {"user_id": ann.sub, "reason": WHY}).status == 404
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/reveal"), ("GET", "/history")):
        assert auditor.call(method, f"{MEMORIES}/{made['id']}{path}").status == 404
    assert auditor.call("GET", notes_of("pilot")).code == "forbidden"
    assert ann.texts() == ["password: ***"]


def test_notes_are_written_read_and_told_first_for_any_name(ann: Person, bob: Person, operator: Official) -> None:
    for agent in ("客服助手", "team/α pilot", "100% %2F"):
        assert operator.ok("GET", notes_of(agent))["notes"] == ""
        written = operator.call("PUT", notes_of(agent), {"notes": NOTES})
        assert written.status == 200
        assert (written.json["agent"], written.json["notes"]) == (agent, NOTES)
        assert written.json["updated_by"] == f"auditor:{operator.sub}"
        again = operator.call("GET", notes_of(agent))
        assert (again.json, again.headers["etag"]) == (written.json, written.headers["etag"])
        for person in (ann, bob):
            assert NOTES in person.context("你好", agent=agent)["text"].split("\n")[3]
    assert NOTES not in ann.context("你好", agent="客服")["text"]
    assert NOTES.encode() not in raw_bytes(ann.stack)


def test_notes_have_300_characters_no_secret_and_one_writer_at_a_time(operator: Official) -> None:
    path = notes_of(f"agent of {operator.sub}")
    for sent in (
        {"notes": "字" * 301},
        {"notes": "password: hunter2Xy!"},
        {"notes": 7},
        {},
        {"notes": "x", "owner": "y"},
    ):
        assert operator.call("PUT", path, sent).status == 422, sent
    assert operator.ok("GET", path) == {
        "agent": f"agent of {operator.sub}", "notes": "", "updated_at": None, "updated_by": None, "changes": [],
    }  # fmt: skip
    first = operator.call("PUT", path, {"notes": "字" * 300}, headers={"If-Match": '"0"'})
    assert first.status == 200
    assert operator.call("PUT", path, {"notes": "b"}, headers={"If-Match": '"0"'}).code == "version_mismatch"
    assert operator.call("PUT", path, {"notes": ""}, headers={"If-Match": first.headers["etag"]}).status == 200
    assert operator.ok("GET", path)["notes"] == ""
    assert operator.call("PUT", notes_of("x" * 129), {"notes": "b"}).fields == ["agent"]


def test_an_agent_is_given_a_reference_and_resolves_it_on_record(ann: Person) -> None:
    made = ann.add("数据库密码是 hunter2Xy!")
    reference = f"credential:{made['id']}"
    (hit,) = ann.ok("POST", "/v1/search", {"query": "数据库密码"})["memories"]
    assert (hit["reference"], "hunter2" in hit["content"]) == (reference, False)
    text = ann.context("数据库密码是什么？", agent="pilot")["text"]
    assert reference in text
    assert "hunter2" not in text
    assert audit(ann) == []
    assert "hunter2Xy!" in ann.ok("POST", f"{MEMORIES}/{reference}/reveal")["content"]
    assert [(entry["action"], entry["memory_id"]) for entry in audit(ann)] == [("reveal", made["id"])]
    assert ann.call("POST", f"{MEMORIES}/credential:{reference}/reveal").status == 404


def test_the_switch_shows_secrets_in_ones_own_contexts_alone_and_is_on_record(ann: Person, bob: Person) -> None:
    ann.add("数据库密码是 hunter2Xy!")
    ann.ok("PATCH", "/v1/settings", {"credentials_in_context": True})
    text = ann.context("数据库密码是什么？")["text"]
    assert "hunter2Xy!" in text
    assert "credential:" not in text
    assert "hunter2" not in str(ann.ok("POST", "/v1/search", {"query": "数据库密码"}))
    assert "hunter2" not in bob.context("数据库密码是什么？")["text"]
    assert [entry["action"] for entry in audit(ann)] == ["credentials_in_context"]


def test_the_new_lifes_list_ends_with_the_erasure(stack: Stack, ann: Person, auditor: Official) -> None:
    ann.add("I drink tea.")
    look(auditor, ann.sub)
    ann.ok("POST", "/v1/account/erase", {"confirm": True})
    assert [entry["action"] for entry in audit(ann)] == ["erase"]
    assert look(auditor, ann.sub).json["memories"] == []
    assert stack.wait_until_idle()
    made = ann.add("password: hunter2Xy!")
    ann.ok("POST", f"{MEMORIES}/{made['id']}/reveal")
    entries = audit(ann)
    assert [entry["action"] for entry in entries] == ["reveal", "erase"]
    assert entries[1]["at"] == ann.ok("GET", "/v1/account/erase")["receipt"]["erased_at"]
    first = ann.ok("GET", "/v1/audit", query={"limit": 1})
    last = ann.ok("GET", "/v1/audit", query={"limit": 1, "cursor": first["next_cursor"]})
    assert ([entry["action"] for entry in last["entries"]], last["next_cursor"]) == (["erase"], None)
    assert [entry["action"] for entry in audit(ann, action="erase")] == ["erase"]
    assert ann.call("GET", "/v1/audit", query={"action": "delete"}).fields == ["action"]
