"""When a conversation is learned from, and what becomes of what was learned, over HTTP (B7 to B14)."""

import os
from typing import Any

import pytest

from local.stack import Stack
from tests.e2e.client import CONVERSATIONS, MEMORIES, Person, assistant
from tests.e2e.storage import owner_of

FACT = "I prefer tabs over spaces in every file"
DECIDED = "我们决定后端统一使用 FastAPI，接口前缀是 /api/v2。"
UNDERSTOOD = assistant("Understood, I will do that.")


def skipped(person: Person, *messages: Any, **more: Any) -> str:
    """Send a conversation that is not learned from; return why."""
    answer = person.hand_in(*messages, **more)
    assert (answer.status, answer.json["status"], answer.json["task_id"]) == (200, "skipped", None)
    reason: str = answer.json["reason"]
    return reason


@pytest.mark.parametrize("trigger", ["task_completed", "compaction", "session_end"])
def test_automatic_learning_is_off_until_it_is_switched_on(ann: Person, trigger: str) -> None:
    assert skipped(ann, FACT, UNDERSTOOD, trigger=trigger) == "auto_capture_off"
    assert ann.ok("GET", "/v1/usage")["used_bytes"] == 0
    ann.capture()
    assert ann.learn(FACT, UNDERSTOOD, trigger=trigger)["learned"]["inserted"] == 1
    assert ann.texts() == [FACT]


def test_a_person_may_always_ask_to_remember_unless_memory_is_off(ann: Person) -> None:
    assert ann.learn("记住这个：我住在二楼", session_type="subagent", outcome="failed")["learned"]["inserted"] == 1
    ann.ok("PATCH", "/v1/settings", {"enabled": False})
    assert skipped(ann, FACT) == "disabled"
    assert ann.texts() == ["我住在二楼"]


@pytest.mark.parametrize("trigger", ["task_completed", "compaction", "session_end"])
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"outcome": "failed"}, "not_completed"),
        ({"outcome": "cancelled"}, "not_completed"),
        ({"session_type": "subagent"}, "session_type"),
        ({"session_type": "side_task"}, "session_type"),
    ],
)
def test_what_failed_or_was_aside_is_not_learned_from(
    ann: Person, trigger: str, more: dict[str, str], reason: str
) -> None:
    ann.capture()
    assert skipped(ann, FACT, UNDERSTOOD, trigger=trigger, **more) == reason


@pytest.mark.parametrize(
    ("messages", "trigger", "reason"),
    [
        ([FACT], "task_completed", "message_missing"),
        ([UNDERSTOOD], "task_completed", "message_missing"),
        ([FACT, assistant("  ")], "task_completed", "message_missing"),
        ([FACT, {"role": "assistant", "content": None}], "task_completed", "message_missing"),
        (["   ok   thanks      a lot   ", UNDERSTOOD], "task_completed", "too_short"),
        ([FACT, UNDERSTOOD, "好的", UNDERSTOOD], "task_completed", "too_short"),
        (["ok thanks", "fine", UNDERSTOOD], "compaction", "too_short"),
        (["我用深色主题", UNDERSTOOD], "session_end", "too_short"),
        (["我们决定用深色主题了", UNDERSTOOD], "task_completed", None),
        ([FACT, *["ok"] * 20], "session_end", None),
        ([FACT, *[UNDERSTOOD] * 20], "session_end", "too_short"),
    ],
)
def test_a_conversation_with_too_little_in_it_is_skipped(
    ann: Person, messages: list[Any], trigger: str, reason: str | None
) -> None:
    ann.capture()
    answer = ann.hand_in(*messages, trigger=trigger)
    assert answer.json["reason"] == reason


def test_of_a_task_only_the_last_words_of_both_count(ann: Person) -> None:
    ann.capture()
    task = ann.learn("I prefer dark themes everywhere", UNDERSTOOD, FACT, UNDERSTOOD, trigger="task_completed")
    assert task["learned"]["inserted"] == 1
    assert ann.texts() == [FACT]


def test_of_a_session_only_the_last_twenty_messages_count(ann: Person) -> None:
    ann.capture()
    earlier = "I prefer dark themes everywhere"
    chatter = [assistant(f"Here is part {number}.") for number in range(19)]
    assert ann.learn(earlier, FACT, *chatter, trigger="session_end")["learned"]["inserted"] == 1
    assert ann.texts() == [FACT]


def test_a_compaction_reads_everything(ann: Person) -> None:
    ann.capture()
    chatter = [assistant(f"Here is part {number}.") for number in range(60)]
    ann.learn(FACT, *chatter, DECIDED, trigger="compaction")
    assert sorted(ann.texts()) == [FACT, DECIDED]


def test_the_same_conversation_within_half_a_minute_is_one_task(ann: Person) -> None:
    first = ann.hand_in(FACT, UNDERSTOOD).json["task_id"]
    again = ann.hand_in(FACT, UNDERSTOOD)
    assert (again.status, again.json["task_id"]) == (202, first)
    assert again.headers["idempotency-replayed"] == "true"
    elsewhere = ann.hand_in(FACT, UNDERSTOOD, project="shop").json["task_id"]
    assert elsewhere != first
    assert ann.task(first)["learned"]["inserted"] == 1
    assert [task["id"] for task in ann.ok("GET", "/v1/tasks")["tasks"]] == [elsewhere, first]


def test_the_same_key_is_one_task_and_another_conversation_under_it_is_refused(ann: Person) -> None:
    headers = {"Idempotency-Key": "run-7"}
    body = {"messages": [{"role": "user", "content": FACT}], "trigger": "manual"}
    first = ann.call("POST", CONVERSATIONS, body, headers=headers)
    assert ann.call("POST", CONVERSATIONS, body, headers=headers).json == first.json
    other = ann.call("POST", CONVERSATIONS, body | {"project": "shop"}, headers=headers)
    assert (other.status, other.code) == (422, "idempotency_key_reused")


def test_tasks_are_listed_newest_first_over_pages_and_belong_to_their_owner(ann: Person, bob: Person) -> None:
    made = [ann.learn(f"I prefer editor number {number} for my work")["id"] for number in range(5)]
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = ann.ok("GET", "/v1/tasks", query=query)
        seen += [task["id"] for task in page["tasks"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == made[::-1]
    for method, path in (("GET", f"/v1/tasks/{made[0]}"), ("POST", f"/v1/tasks/{made[0]}/retry")):
        assert bob.call(method, path).code == "not_found"
    bob.add("bob's own")
    assert bob.call("GET", "/v1/tasks", query={"cursor": query["cursor"]}).code == "invalid_cursor"


def test_a_memory_says_where_it_comes_from(ann: Person) -> None:
    at = "2026-03-04T05:06:07.000Z"
    said = {"role": "user", "content": f"Hello there. {FACT}. What next?", "at": at}
    task = ann.learn(said, session_id="会话-1", project="shop")
    (memory,) = ann.kept()
    assert task["memory_ids"] == [memory["id"]]
    assert (memory["source"], memory["scope"]) == ("auto", "user")
    origin = memory["origin"]
    assert (origin["task_id"], origin["session_id"], origin["at"]) == (task["id"], "会话-1", at)
    assert origin["quote"] in said["content"]
    assert origin["model"] == "rules/1"


def test_a_projects_fact_stays_in_the_project_and_default_is_no_project(ann: Person) -> None:
    ann.learn(DECIDED, project="商店")
    ann.learn("我们决定数据库使用 PostgreSQL 存储订单", project="default")
    by_text = {memory["content"]: memory for memory in ann.kept()}
    assert (by_text[DECIDED]["scope"], by_text[DECIDED]["project"]) == ("project", "商店")
    (other,) = [memory for text, memory in by_text.items() if text != DECIDED]
    assert (other["scope"], other["project"]) == ("user", None)


def test_the_sealed_conversation_is_gone_once_it_is_learned_from(stack: Stack, ann: Person) -> None:
    ann.learn(FACT)
    prefix = f"o/{owner_of(stack, ann.sub)}/"
    found = stack.clients.s3.list_object_versions(Bucket=os.environ["BUCKET_NAME"], Prefix=prefix)
    keys = [version["Key"] for version in (*found.get("Versions", []), *found.get("DeleteMarkers", []))]
    assert keys
    assert [key for key in keys if "/conversations/" in key] == []


@pytest.mark.parametrize(
    "said",
    [
        "I prefer dark themes everywhere. Don't save this conversation.",
        "不要保存。我喜欢深色主题的编辑器，所有项目都一样。",
        "Please don't save this: I prefer dark themes everywhere",
    ],
)
def test_what_must_not_be_saved_is_not(ann: Person, said: str) -> None:
    ann.capture()
    for trigger in ("manual", "compaction"):
        assert ann.learn(said, UNDERSTOOD, trigger=trigger)["learned"]["inserted"] == 0
    assert ann.texts() == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("记住这个：我的工位在三楼靠窗", "我的工位在三楼靠窗"),
        ("Save this: my desk is on the third floor", "my desk is on the third floor"),
    ],
)
def test_what_must_be_saved_is(ann: Person, said: str, kept: str) -> None:
    ann.capture()
    assert ann.learn(said, UNDERSTOOD, trigger="session_end")["learned"]["inserted"] == 1
    assert ann.texts() == [kept]


def test_an_owners_own_words_decide_what_is_kept_and_what_is_not(ann: Person) -> None:
    ann.capture()
    words = {
        "custom_keywords": {"zh": ["灰度"], "en": ["zebra"]},
        "excluded_keywords": {"zh": ["薪水"], "en": ["salary"]},
    }
    ann.ok("PATCH", "/v1/settings", words)
    ann.learn(
        "灰度先放百分之五的流量。The zebra job runs on node seven. 我喜欢现在的薪水。I prefer a higher salary.",
        UNDERSTOOD,
        trigger="task_completed",
    )
    assert sorted(ann.texts()) == ["The zebra job runs on node seven.", "灰度先放百分之五的流量。"]


def test_a_dismissed_fact_is_never_learned_again_and_a_deleted_one_is(ann: Person) -> None:
    ann.learn(FACT)
    (memory,) = ann.kept()
    path = f"{MEMORIES}/{memory['id']}"
    ann.ok("PATCH", path, {"status": "dismissed"})
    task = ann.learn("Hi there!", FACT)
    assert (task["learned"]["inserted"], task["learned"]["touched"], task["learned"]["discarded"]) == (0, 0, 1)
    assert [one["status"] for one in ann.kept(status="all")] == ["dismissed"]
    ann.ok("DELETE", path)
    assert ann.learn("Hi!", FACT)["learned"]["inserted"] == 1
    assert ann.texts() == [FACT]


def test_what_is_known_is_touched_and_one_by_hand_keeps_its_source(ann: Person) -> None:
    by_hand = ann.add(FACT)
    task = ann.learn(FACT)
    assert (task["learned"]["inserted"], task["learned"]["touched"]) == (0, 1)
    (memory,) = ann.kept()
    assert (memory["id"], memory["source"], memory["content"]) == (by_hand["id"], "manual", FACT)
    assert memory["updated_at"] > by_hand["updated_at"]
