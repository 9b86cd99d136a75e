"""The same message three times, twice at once, out of order, after a poison one: a conversation is learned exactly once."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from shared.config import MissingSetting
from shared.domain.errors import NotFound, NotPossibleNow, SealBroken, Unavailable
from shared.domain.settings import Preferences
from shared.domain.task import TaskStatus
from shared.learning.conversation import Conversation
from shared.learning.delivery import UnknownMessage
from shared.learning.extractor import Extracted, Extractor, Known, RulesExtractor
from shared.ports import Update
from shared.queues import deliver
from shared.storage import names
from shared.storage.transactions import Limits
from tests.builders import OWNER, World
from tests.fakes import QueuedMessage, Steps
from tests.unit.storage.soundness import assert_counted, assert_sound, settle

SAID = ("We decided to use PostgreSQL for the backend.", "我喜欢用 TypeScript", "My wifi password is swordfish1.")
OTHER_OWNER = "b" * 52
KNOWN = {"v": 1, "owner": OWNER, "epoch": 1, "task": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "run": 1}


class Flaky:
    """An extractor that fails so often, then works."""

    def __init__(self, failures: int, error: type[Exception] = Unavailable) -> None:
        self.failures, self.error = failures, error
        self.rules: Extractor = RulesExtractor()

    def extract(
        self, conversation: Conversation, received_at: datetime, preferences: Preferences, known: Callable[[], Known]
    ) -> Extracted:
        if self.failures:
            self.failures -= 1
            raise self.error
        return self.rules.extract(conversation, received_at, preferences, known)


def heard(world: World) -> QueuedMessage:
    """Send a conversation and return its message, in flight."""
    world.say(*SAID, project="atlas")
    (message,) = world.work.receive()
    return message


def learned(world: World) -> dict[str, int]:
    (task,) = world.now.tasks.list(world.owner, limit=10)[0]
    assert task.status is TaskStatus.DONE
    return {name: count for name, count in task.learned.items() if count}


def test_the_same_message_three_times_is_learned_once() -> None:
    world = World()
    message = heard(world)
    answers = [world.now.delivery.learn(json.dumps(message.body), message.receipt, n) for n in (1, 2, 3)]
    assert [answer.get("over", 0) for answer in answers] == [0, 1, 1]
    assert learned(world) == {"inserted": 3}
    assert len(world.memories()) == 3
    world.work.delete(message.receipt)
    settle(world)
    assert_sound(world)


class Meeting(Steps):
    """Steps at which two processes wait for each other, so that every call of theirs overlaps."""

    def __init__(self, barrier: threading.Barrier) -> None:
        super().__init__()
        self.barrier = barrier

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        try:
            self.barrier.wait(0.05)
        except threading.BrokenBarrierError:
            self.barrier.reset()
        return super().run(name, call)


def at_once(deeds: list[Callable[[], Any]]) -> list[Any]:
    """Do all of it in threads of their own, begun together; return results or errors."""
    gate = threading.Barrier(len(deeds))

    def one(deed: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return deed()
        except Exception as error:  # noqa: BLE001 - the test judges it
            return error

    with ThreadPoolExecutor(len(deeds)) as pool:
        return list(pool.map(one, deeds))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_message_twice_at_once_is_learned_once(seed: int) -> None:
    world = World(seed=seed)
    message = heard(world)
    barrier = threading.Barrier(2)
    body = json.dumps(message.body)
    processes = [world.process(Meeting(barrier)) for _ in range(2)]
    at_once([partial(process.delivery.learn, body, message.receipt, 1) for process in processes])
    world.work_off()
    assert learned(world) == {"inserted": 3}
    assert len(world.memories()) == 3
    assert_counted(world)
    settle(world)
    assert_sound(world)


def test_what_was_deleted_while_a_redelivery_was_on_its_way_does_not_come_back() -> None:
    world = World()
    message = heard(world)
    world.now.delivery.learn(json.dumps(message.body), message.receipt, 1)
    gone = world.memories()[0]
    world.delete(gone.id)
    world.now.delivery.learn(json.dumps(message.body), message.receipt, 2)
    assert gone.content not in world.texts()
    assert len(world.memories()) == 2


def test_a_memory_deleted_between_two_steps_of_a_plan_does_not_come_back() -> None:
    world = World()
    message = heard(world)
    body = json.dumps(message.body)
    world.warm(Steps(at=8, when="after"))
    with pytest.raises(BaseException, match="Memory"):
        world.now.delivery.learn(body, message.receipt, 1)
    world.restart()
    (first,) = world.memories()
    world.delete(first.id)
    world.now.delivery.learn(body, message.receipt, 2)
    assert len(world.memories()) == 2
    assert first.id not in {memory.id for memory in world.memories()}
    world.work.delete(message.receipt)
    settle(world)
    assert_sound(world)


def test_a_failure_that_may_pass_comes_back_soon_and_is_learned() -> None:
    world = World(extractor=Flaky(2))
    message = heard(world)
    for _ in range(2):
        with pytest.raises(Unavailable):
            world.deliver(message)
        assert message.visible_at - world.clock() == timedelta(seconds=30)
        world.clock.advance(31)
        (message,) = world.work.receive()
    world.deliver(message)
    assert learned(world) == {"inserted": 3}


@pytest.mark.parametrize(("error", "code"), [(Unavailable, "not_available"), (ZeroDivisionError, "internal")])
def test_after_three_failures_the_task_has_failed_and_the_message_is_dead(error: type[Exception], code: str) -> None:
    flaky = Flaky(3, error)
    world = World(extractor=flaky)
    task_id = world.say(*SAID)
    for _ in range(3):
        world.clock.advance(31)
        (message,) = world.work.receive()
        with pytest.raises(error):
            world.deliver(message)
    world.clock.advance(world.work.visibility.total_seconds() + 1)
    assert world.work.receive() == []
    assert len(world.work.dead) == 1
    task = world.now.tasks.get(world.owner, task_id)
    assert (task.status, task.error, task.attempts) == (TaskStatus.FAILED, code, 3)

    world.now.tasks.retry(world.owner, task_id)
    with pytest.raises(NotPossibleNow):
        world.now.tasks.retry(world.owner, task_id)
    world.work_off()
    assert learned(world) == {"inserted": 3}
    assert world.now.tasks.get(world.owner, task_id).error is None
    settle(world)
    assert_sound(world)


def test_a_late_message_of_an_earlier_run_does_nothing() -> None:
    world = World(extractor=Flaky(3))
    message = heard(world)
    body = json.dumps(message.body)
    for receives in (1, 2, 3):
        with pytest.raises(Unavailable):
            world.now.delivery.learn(body, message.receipt, receives)
    world.now.tasks.retry(world.owner, str(message.body["task"]))
    assert world.now.delivery.learn(body, message.receipt, 1) == {"over": 1}
    assert world.memories() == []


def test_a_failed_task_keeps_its_conversation_a_week_and_its_bytes_are_given_back() -> None:
    world = World(extractor=Flaky(3))
    task_id = world.say(*SAID)
    for _ in range(3):
        world.clock.advance(31)
        (message,) = world.work.receive()
        with pytest.raises(Unavailable):
            world.deliver(message)
    world.tidy(hours=24 * 6)
    assert world.stored("conversations") == [task_id]
    held = world.head()["bytes"]
    world.tidy(hours=24 + 1)
    assert world.stored("conversations") == []
    assert world.head()["bytes"] < held
    with pytest.raises(NotPossibleNow):
        world.now.tasks.retry(world.owner, task_id)
    settle(world)
    assert_sound(world)


def test_a_task_whose_worker_died_for_good_is_recorded_as_failed() -> None:
    world = World()
    message = heard(world)
    world.restart(Steps(at=6))
    with pytest.raises(BaseException, match="Memory"):
        world.deliver(message)
    world.work.messages.clear()
    world.restart()
    world.tidy(hours=1.1)
    task = world.now.tasks.get(world.owner, str(message.body["task"]))
    assert (task.status, task.error) == (TaskStatus.FAILED, "not_available")
    world.now.tasks.retry(world.owner, task.id)
    world.work_off()
    assert learned(world) == {"inserted": 3}


def test_a_lost_or_damaged_conversation_fails_its_task_at_once() -> None:
    world = World()
    lost, damaged = world.say(SAID[0]), world.say(SAID[1])
    epoch = f"o/{world.owner}/1/conversations/"
    world.objects.erase(epoch + lost)
    world.objects.put(epoch + damaged, b"\0\0\0\1" + bytes(80))
    assert world.work_off() == [{"failed": 1}, {"failed": 1}]
    errors = {task.id: task.error for task in world.now.tasks.list(world.owner, limit=10)[0]}
    assert errors == {lost: "conversation_lost", damaged: "conversation_damaged"}


def test_a_full_quota_fails_the_task_and_a_retry_goes_on_where_it_stopped() -> None:
    world = World(quota=1_600)
    task_id = world.say(*SAID)
    assert world.work_off() == [{"failed": 1}]
    task = world.now.tasks.get(world.owner, task_id)
    assert (task.status, task.error) == (TaskStatus.FAILED, "quota_exceeded")
    assert 0 < task.applied < 3
    world.bounds = Limits(100_000_000, 0)
    world.restart()
    world.now.tasks.retry(world.owner, task_id)
    world.work_off()
    assert learned(world) == {"inserted": 3}
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{",
        json.dumps(KNOWN | {"v": 2}),
        json.dumps(KNOWN | {"owner": "short"}),
        json.dumps(KNOWN | {"epoch": True}),
        json.dumps(KNOWN | {"run": "1"}),
        json.dumps(KNOWN | {"task": "no id"}),
    ],
)
def test_a_message_that_is_none_of_ours_is_refused(body: str) -> None:
    with pytest.raises(UnknownMessage):
        World().now.delivery.learn(body, "receipt", 1)


def test_a_message_of_an_unknown_owner_or_task_is_over() -> None:
    world = World()
    assert world.now.delivery.learn(json.dumps(KNOWN), "receipt", 1) == {"over": 1}
    world.add(SAID[0])
    assert world.now.delivery.learn(json.dumps(KNOWN), "receipt", 1) == {"over": 1}
    with pytest.raises(NotFound):
        world.now.tasks.get(OWNER, str(KNOWN["task"]))


def record(message: QueuedMessage, receives: int = 1) -> dict[str, Any]:
    """Return a message as the queue's event brings it."""
    return {
        "messageId": message.receipt,
        "receiptHandle": message.receipt,
        "body": json.dumps(message.body),
        "attributes": {"ApproximateReceiveCount": str(receives), "MessageGroupId": message.group},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:work.fifo",
        "awsRegion": "eu-central-1",
    }


def test_one_owners_poison_does_not_delay_another_owners_conversation_in_the_same_batch() -> None:
    world = World()
    good = QueuedMessage(OTHER_OWNER, {}, "", world.clock(), receipt="good")
    other = World(owner=OTHER_OWNER)
    other.table, other.objects, other.keys, other.work = world.table, world.objects, world.keys, world.work
    other.clock, other.random = world.clock, world.random
    other.restart()
    poison = [
        QueuedMessage(OWNER, {"v": 1, "nothing": "known"}, "", world.clock(), receipt=f"poison-{n}") for n in (1, 2)
    ]
    other.say(*SAID)
    good.body.update(other.work.messages[0].body)
    event = {"Records": [record(poison[0]), record(poison[1]), record(good)]}

    def do(body: str, receipt: str, receives: int) -> dict[str, int]:
        return world.now.delivery.learn(body, receipt, receives)

    answer = deliver("learn", event, do)
    assert [failure["itemIdentifier"] for failure in answer["batchItemFailures"]] == ["poison-1", "poison-2"]
    assert learned(other) == {"inserted": 3}


def test_an_empty_event_has_nothing_to_deliver_again() -> None:
    assert deliver("learn", {"Records": []}, lambda *_: {}) == {"batchItemFailures": []}


def test_a_setting_that_is_missing_is_named_in_the_log_and_the_message_delivered_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def half_named(*_: object) -> dict[str, int]:
        raise MissingSetting("MODEL_ID")

    world = World()
    message = QueuedMessage(OWNER, {"v": 1}, "", world.clock(), receipt="one")
    assert deliver("learn", {"Records": [record(message)]}, half_named)["batchItemFailures"]
    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"event":"learn"' in line]
    assert (line["level"], line["kind"], line["setting"]) == ("ERROR", "MissingSetting", "MODEL_ID")


def test_a_task_that_does_not_open_is_left_out_of_the_list_and_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    first, second = world.say("I prefer tabs over spaces."), world.say("我对花生过敏，请记住")
    world.work_off()
    world.table.write(world.owner, [Update(names.TASK + first, set={"sealed": b"damaged"})])
    assert [task.id for task in world.now.tasks.list(world.owner, limit=10)[0]] == [second]
    assert f'"event":"damaged","task":"{first}"' in capsys.readouterr().out
    with pytest.raises(SealBroken):
        world.now.tasks.get(world.owner, first)
