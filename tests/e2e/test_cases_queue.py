"""Cases from the field on queues: whatever is delivered, twice, together, late or broken, each conversation is learned once."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from local.invocation import FunctionFailed
from local.stack import Stack
from tests.e2e.client import MEMORIES, Person
from tests.e2e.faults import (
    before_each,
    dead_bodies,
    deliver,
    held_messages,
    lost_answers,
    outlive_visibility,
    record,
    refused,
    send,
)
from tests.e2e.storage import items_of, owner_of


def queued(person: Person, *texts: str) -> list[dict[str, Any]]:
    """Hand conversations in whose messages stay with us; return the messages as they would be sent."""
    with held_messages() as held:
        for text in texts:
            assert person.hand_in(text).status == 202
    assert len(held) == len(texts)
    return held


@pytest.mark.case(40)
@pytest.mark.parametrize(
    "body",
    ['{"user":"","text":"x"}', "{}", "null", "[]", "not json", '{"v":1,"owner":"","epoch":1,"task":"","run":1}', "7"],
)
@pytest.mark.parametrize("folder", ["extraction", "maintenance"])
def test_case_40_a_record_that_names_no_owner_is_given_back_and_changes_nothing(
    stack: Stack, ann: Person, folder: str, body: str
) -> None:
    ann.add("ann's fact")
    assert deliver(stack, folder, record(body, "g", number=1)) == ["message-1"]
    assert ann.texts() == ["ann's fact"]
    assert Person(stack, "carl").found("fact") == []


@pytest.mark.case(83)
@pytest.mark.parametrize("sub", ["用户-83", "x" * 200, "a b/c#d%00", "jürgen 🙂", "'; DROP TABLE--"])
def test_case_83_messages_are_grouped_by_a_hash(stack: Stack, sub: str) -> None:
    person = Person(stack, "anyone", sub)
    (message,) = queued(person, "I prefer tabs over spaces")
    body = json.loads(message["MessageBody"])
    assert message["MessageGroupId"] == body["owner"] == owner_of(stack, sub)
    assert re.fullmatch("[a-z2-7]{52}", message["MessageGroupId"])
    assert re.fullmatch("[!-~]{1,128}", message["MessageDeduplicationId"])
    assert set(body) == {"v", "owner", "epoch", "task", "run"}


@pytest.mark.case(90)
def test_case_90_one_owners_failure_fails_no_other_owners_record(stack: Stack, ann: Person, bob: Person) -> None:
    (good,) = queued(ann, "I prefer tabs over spaces")
    (other,) = queued(bob, "I prefer spaces over tabs")
    batch = [
        record("{}", good["MessageGroupId"], number=1),
        record(good["MessageBody"], good["MessageGroupId"], number=2),
        record(other["MessageBody"], other["MessageGroupId"], number=3),
    ]
    assert deliver(stack, "extraction", *batch) == ["message-1", "message-2"]
    assert (ann.texts(), bob.texts()) == ([], ["I prefer spaces over tabs"])
    assert deliver(stack, "extraction", batch[1], batch[2]) == []
    assert (ann.texts(), bob.texts()) == (["I prefer tabs over spaces"], ["I prefer spaces over tabs"])


@pytest.mark.case(92)
def test_case_92_a_batch_that_dies_is_delivered_again_without_doing_anything_twice(stack: Stack, ann: Person) -> None:
    first, second = queued(ann, "I prefer tabs over spaces", "We decided to use PostgreSQL")
    group = first["MessageGroupId"]
    batch = [record(one["MessageBody"], group, number=number) for number, one in enumerate((first, second))]
    begun: list[int] = []

    def die() -> None:
        begun.append(1)
        if len(begun) == 2:
            raise SystemExit

    with before_each("s3", "PutObject", die), pytest.raises(FunctionFailed):
        deliver(stack, "extraction", *batch)
    assert ann.texts() == ["I prefer tabs over spaces"]
    again = [one | {"attributes": one["attributes"] | {"ApproximateReceiveCount": "2"}} for one in batch]
    assert deliver(stack, "extraction", *again) == []
    assert sorted(ann.texts()) == ["I prefer tabs over spaces", "We decided to use PostgreSQL"]
    tasks = ann.ok("GET", "/v1/tasks")["tasks"]
    assert [(task["status"], task["learned"]["inserted"]) for task in tasks] == [("done", 1), ("done", 1)]


@pytest.mark.case(92)
@pytest.mark.parametrize("folder", ["extraction", "maintenance"])
def test_case_92_an_empty_batch_is_no_failure(stack: Stack, folder: str) -> None:
    assert deliver(stack, folder) == []


@pytest.mark.case(93)
def test_case_93_a_record_delivered_twice_at_once_and_again_later_is_learned_once(stack: Stack, ann: Person) -> None:
    (message,) = queued(ann, "I prefer tabs over spaces. 我们决定用 PostgreSQL 存订单。记住：周五不发布。")
    one = record(message["MessageBody"], message["MessageGroupId"], number=1)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: deliver(stack, "extraction", one), range(4)))
    if any(answers):  # two that met may ask to come again, as the queue would let them
        assert deliver(stack, "extraction", one) == []
    outlive_visibility(stack)
    kept = ann.kept()
    assert deliver(stack, "extraction", one) == []
    assert len(kept) == 3
    assert ann.kept() == kept
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    assert (task["status"], task["learned"]["inserted"], task["learned"]["touched"]) == ("done", 3, 0)
    assert ann.ok("GET", "/v1/usage")["memories"] == 3


@pytest.mark.case(95)
@pytest.mark.parametrize(
    ("service", "call"),
    [("dynamodb", "TransactWriteItems"), ("dynamodb", "UpdateItem"), ("s3", "PutObject"), ("s3", "DeleteObject")],
)
@pytest.mark.parametrize("lost", [1, 3, 5])
def test_case_95_work_that_was_done_and_whose_answer_was_lost_is_not_done_again(
    stack: Stack, ann: Person, service: str, call: str, lost: int
) -> None:
    ann.add("I prefer tea")
    (message,) = queued(ann, "I prefer tabs over spaces. We decided to use PostgreSQL.")
    group = message["MessageGroupId"]
    with lost_answers(service, call, times=lost):
        failed = [
            deliver(stack, "extraction", record(message["MessageBody"], group, number=1, receives=receives))
            for receives in (1, 2)
        ]
    assert len(failed) == 2
    deliver(stack, "extraction", record(message["MessageBody"], group, number=1, receives=2))
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    assert (task["status"], task["learned"]["inserted"], task["learned"]["touched"]) == ("done", 2, 0)
    assert sorted(ann.texts()) == ["I prefer tabs over spaces.", "I prefer tea", "We decided to use PostgreSQL."]
    assert ann.ok("GET", "/v1/usage")["memories"] == 3


@pytest.mark.case(96)
def test_case_96_what_is_remembered_of_a_request_are_ids_only(stack: Stack, ann: Person) -> None:
    text, headers = "字" * 500, {"Idempotency-Key": "key-96"}
    first = ann.call("POST", MEMORIES, {"content": text}, headers=headers)
    messages = [{"role": "user", "content": f"记住：{text}"}]
    task = ann.call("POST", "/v1/conversations", {"messages": messages, "trigger": "manual"}, headers=headers)
    assert (first.status, task.status) == (201, 202)
    marks = items_of(stack, ann.sub, "i#")
    assert len(marks) == 3  # two keys and the window of one conversation
    assert all(len(repr(item)) < 1_000 for item in marks)
    assert ann.call("POST", MEMORIES, {"content": text}, headers=headers).json == first.json


@pytest.mark.case(99)
def test_case_99_poison_reaches_the_dead_letters_and_holds_nobody_for_good(stack: Stack, ann: Person) -> None:
    ann.add("a first fact")
    owner = owner_of(stack, ann.sub)
    send(stack, "WORK_QUEUE_URL", '{"poison":"99"}', owner, "poison-99")
    tasks = [ann.hand_in(text).json["task_id"] for text in ("I prefer tabs over spaces", "记住：周五不发布")]
    outlive_visibility(stack, 3, seconds=31)
    assert [body for body in dead_bodies(stack) if "99" in body] == ['{"poison":"99"}']
    assert [ann.task(task)["status"] for task in tasks] == ["done", "done"]
    assert sorted(ann.texts()) == ["I prefer tabs over spaces", "a first fact", "周五不发布"]


@pytest.mark.case(99)
def test_case_99_what_comes_back_from_the_dead_letters_changes_nothing_newer(stack: Stack, ann: Person) -> None:
    (message,) = queued(ann, "I prefer tabs over spaces")
    body, group = message["MessageBody"], message["MessageGroupId"]
    with refused("s3", "GetObject"):
        for receives in (1, 2, 3):
            assert deliver(stack, "extraction", record(body, group, number=1, receives=receives)) == ["message-1"]
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    assert (task["status"], task["error"]) == ("failed", "not_available")
    ann.ok("POST", f"/v1/tasks/{task['id']}/retry")
    assert ann.task(task["id"])["status"] == "done"
    (memory,) = ann.kept()
    ann.ok("PATCH", f"{MEMORIES}/{memory['id']}", {"content": "I prefer spaces, now"})
    assert deliver(stack, "extraction", record(body, group, number=1, receives=1)) == []
    assert ann.texts() == ["I prefer spaces, now"]


@pytest.mark.case(99)
def test_case_99_what_an_operator_sends_back_from_the_dead_letters_is_learned_once(
    stack: Stack, ann: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    (message,) = queued(ann, "I prefer tabs over spaces")
    body, group = message["MessageBody"], message["MessageGroupId"]
    with refused("s3", "GetObject"):
        for receives in (1, 2, 3):
            assert deliver(stack, "extraction", record(body, group, number=1, receives=receives)) == ["message-1"]
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    (failed,) = [line for line in capsys.readouterr().out.split("\n") if '"event":"task_failed"' in line]
    assert f'"owner":"{group}"' in failed
    assert f'"task":"{task["id"]}"' in failed
    assert deliver(stack, "extraction", record(body, group, number=1, receives=4)) == []
    assert ann.task(task["id"])["status"] == "failed"
    send(stack, "WORK_QUEUE_URL", body, group, "sent-back")
    assert stack.wait_until_idle()
    done = ann.task(task["id"])
    assert (done["status"], done["error"], done["learned"]["inserted"]) == ("done", None, 1)
    send(stack, "WORK_QUEUE_URL", body, group, "sent-back-twice")
    assert stack.wait_until_idle()
    assert ann.texts() == ["I prefer tabs over spaces"]


@pytest.mark.case(99)
def test_case_99_poison_of_one_owner_delays_no_other(stack: Stack, ann: Person, bob: Person) -> None:
    send(stack, "WORK_QUEUE_URL", '{"poison":"of ann"}', owner_of(stack, ann.sub), "poison-ann")
    assert bob.learn("I prefer tabs over spaces")["status"] == "done"
    outlive_visibility(stack, 3)
