"""Learning at its limits: few active memories, a full storage, conversations that break, days that are used up."""

import os
from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.e2e.client import MEMORIES, Person
from tests.e2e.faults import held_messages, outlive_visibility, refused
from tests.e2e.storage import objects


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    limits = {"ACTIVE_LIMIT": "3", "QUOTA_MEGABYTES": "1", "DAILY_CONVERSATION_LIMIT": "6"}
    with Stack.start(schedule=False, environment=limits) as running:
        yield running


def likes(*things: str) -> str:
    return " ".join(f"I prefer {thing} for my daily work." for thing in things)


def test_learning_beyond_the_limit_archives_the_oldest_learned_and_never_what_is_by_hand(ann: Person) -> None:
    ann.add("by hand")
    ann.learn(likes("Alpha"))
    ann.learn(likes("Beta"))
    task = ann.learn(likes("Gamma"))
    assert (task["learned"]["inserted"], task["learned"]["archived"]) == (1, 1)
    assert sorted(ann.texts()) == [*(f"I prefer {thing} for my daily work." for thing in ("Beta", "Gamma")), "by hand"]
    assert ann.texts(status="archived") == ["I prefer Alpha for my daily work."]


def test_what_was_archived_is_found_by_search_and_revived_by_being_said_again(ann: Person) -> None:
    ann.learn("上次我们决定用的解析库叫 Chevrotain，版本是 11")
    archived = ann.texts()
    for thing in ("Alpha", "Beta", "Gamma"):
        ann.learn(likes(thing))
    assert ann.texts(status="archived") == archived
    assert archived[0] in ann.found("上次提到的那个库叫什么")
    assert "Chevrotain" in ann.context("上次提到的那个解析库叫什么")["text"]
    assert archived[0] not in ann.context()["text"]
    task = ann.learn("上次我们决定用的解析库叫 Chevrotain，版本是 11", "Hi!")
    assert (task["learned"]["inserted"], task["learned"]["updated"]) == (0, 1)
    assert archived[0] in ann.texts()


def test_where_nothing_learned_is_left_a_new_fact_is_given_up(ann: Person) -> None:
    for number in range(3):
        ann.add(f"by hand {number}")
    task = ann.learn(likes("Alpha"))
    assert (task["status"], task["learned"]["inserted"], task["learned"]["discarded"]) == ("done", 0, 1)
    assert len(ann.texts()) == 3
    answer = ann.call("POST", MEMORIES, {"content": "one more by hand"})
    assert (answer.status, answer.code) == (409, "active_limit_reached")


def test_a_day_holds_so_many_conversations_and_says_when_it_ends(ann: Person) -> None:
    for number in range(6):
        assert ann.hand_in(likes(f"Thing{number}")).status == 202
    answer = ann.hand_in(likes("Thing7"))
    assert (answer.status, answer.code) == (429, "daily_limit_reached")
    assert answer.json["error"]["details"]["limit"] == 6
    assert 0 < int(answer.headers["retry-after"]) <= 86_400
    again = ann.hand_in(likes("Thing5"))
    assert again.status in {202, 429}
    assert len(ann.ok("GET", "/v1/tasks")["tasks"]) == 6


def test_a_full_storage_refuses_to_write_and_goes_on_reading_and_deleting(stack: Stack, ann: Person) -> None:
    made = ann.add("a first fact")
    noise = os.urandom(700_000).hex()
    answer = ann.hand_in("I prefer tabs over spaces", *(noise[at : at + 50_000] for at in range(0, len(noise), 50_000)))
    if answer.status == 202:  # it fitted: what comes on top does not
        assert stack.wait_until_idle()
    with held_messages():
        statuses = [ann.hand_in(os.urandom(300_000).hex()).status for _ in range(4)]
    assert 507 in statuses
    full = ann.hand_in(os.urandom(500_000).hex())
    assert (full.status, full.code) == (507, "quota_exceeded")
    details = full.json["error"]["details"]
    assert details["limit_bytes"] == 1_000_000 or details["limit_bytes"] == 1_048_576
    assert set(details) == {"used_bytes", "limit_bytes", "suggestion"}
    assert ann.found("first fact") == ["a first fact"]
    assert ann.call("DELETE", f"{MEMORIES}/{made['id']}").status == 204


def test_a_conversation_that_was_damaged_fails_its_task_and_nothing_else(stack: Stack, ann: Person) -> None:
    with held_messages() as held:
        task_id = ann.hand_in(likes("Alpha")).json["task_id"]
    (key,) = [key for key in objects(stack, ann.sub) if "/conversations/" in key]
    stack.clients.s3.put_object(Bucket=os.environ["BUCKET_NAME"], Key=key, Body=b"flipped")
    _send(stack, held[0])
    task = ann.task(task_id)
    assert (task["status"], task["error"]) == ("failed", "conversation_damaged")
    assert ann.texts() == []
    assert ann.learn(likes("Beta"))["status"] == "done"


def test_a_conversation_that_was_deleted_fails_its_task_which_cannot_be_retried(stack: Stack, ann: Person) -> None:
    with held_messages() as held:
        task_id = ann.hand_in(likes("Alpha")).json["task_id"]
    (key,) = [key for key in objects(stack, ann.sub) if "/conversations/" in key]
    stack.clients.s3.delete_object(Bucket=os.environ["BUCKET_NAME"], Key=key)
    _send(stack, held[0])
    task = ann.task(task_id)
    assert (task["status"], task["error"]) == ("failed", "conversation_lost")
    answer = ann.call("POST", f"/v1/tasks/{task_id}/retry")
    assert (answer.status, answer.code) == (409, "not_possible_now")


def test_a_task_that_failed_for_a_fault_of_ours_is_retried_by_its_owner(stack: Stack, ann: Person) -> None:
    ann.add("by hand")
    with refused("s3", "GetObject", "SlowDown", status=503):
        task_id = ann.hand_in(likes("Alpha")).json["task_id"]
        outlive_visibility(stack, 3, seconds=31)
    task = ann.task(task_id)
    assert (task["status"], task["attempts"], task["error"]) == ("failed", 3, "not_available")
    assert ann.texts() == ["by hand"]
    retried = ann.call("POST", f"/v1/tasks/{task_id}/retry")
    assert (retried.status, retried.headers["location"]) == (202, f"/v1/tasks/{task_id}")
    task = ann.task(task_id)
    assert (task["status"], task["error"], task["learned"]["inserted"]) == ("done", None, 1)
    assert ann.call("POST", f"/v1/tasks/{task_id}/retry").code == "not_possible_now"


def test_a_conversation_whose_message_was_not_sent_is_mended_by_sending_it_again(ann: Person) -> None:
    with refused("sqs", "SendMessage"):
        answer = ann.hand_in(likes("Alpha"))
    assert answer.status == 503
    assert answer.code == "unavailable"
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    assert task["status"] == "queued"
    assert ann.hand_in(likes("Alpha")).json["task_id"] == task["id"]
    assert ann.task(task["id"])["status"] == "done"


def _send(stack: Stack, held: dict[str, str]) -> None:
    stack.clients.sqs.send_message(
        QueueUrl=os.environ["WORK_QUEUE_URL"],
        MessageBody=held["MessageBody"],
        MessageGroupId=held["MessageGroupId"],
        MessageDeduplicationId=held["MessageDeduplicationId"],
    )
