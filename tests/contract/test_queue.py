"""What every queue must do: the fake and SQS's adapter; their workers' sides are read in their own ways."""

import json
from datetime import timedelta

import pytest

from shared.adapters.faults import Unexpected
from shared.adapters.sqs import SqsQueue
from shared.domain.errors import Unavailable
from tests.contract.aws import Aws, lose_answer, refuse
from tests.fakes import FakeClock, MemoryQueue

BODY: dict[str, str | int] = {"owner": "a" * 52, "task": "01KB", "run": 1}


def received(aws: Aws) -> list[tuple[str, dict[str, str | int], str]]:
    answer = aws.sqs.receive_message(QueueUrl=aws.url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"])
    return [
        (message["Attributes"]["MessageGroupId"], json.loads(message["Body"]), message["ReceiptHandle"])
        for message in answer.get("Messages", [])
    ]


def test_a_message_carries_its_group_and_body(aws: Aws) -> None:
    aws.queue.send("a" * 52, BODY, deduplication="01KB-1")
    [(group, body, _)] = received(aws)
    fake = MemoryQueue(FakeClock())
    fake.send("a" * 52, BODY, deduplication="01KB-1")
    [message] = fake.receive()
    assert (group, body) == (message.group, message.body) == ("a" * 52, BODY)


def test_the_same_deduplication_id_is_sent_once(aws: Aws) -> None:
    clock = FakeClock()
    fake = MemoryQueue(clock)
    for queue in (aws.queue, fake):
        for deduplication in ("1", "1", "2"):
            queue.send("g", BODY, deduplication=deduplication)
    assert aws.sqs.get_queue_attributes(QueueUrl=aws.url, AttributeNames=["ApproximateNumberOfMessages"])[
        "Attributes"
    ] == {"ApproximateNumberOfMessages": "2"}
    assert len(fake.messages) == 2
    clock.advance(300)
    fake.send("g", BODY, deduplication="1")
    assert len(fake.messages) == 3


@pytest.mark.parametrize("value", ["x" * 201, 10**200])
def test_a_body_holds_no_long_values(aws: Aws, value: str | int) -> None:
    for queue in (aws.queue, MemoryQueue(FakeClock())):
        with pytest.raises(ValueError, match="never words") as caught:
            queue.send("g", {"text": value}, deduplication="1")
        assert str(value) not in str(caught.value)
    assert received(aws) == []


def test_a_released_message_is_visible_again_after_its_time(aws: Aws) -> None:
    clock = FakeClock()
    fake = MemoryQueue(clock, visibility=timedelta(minutes=30))
    for queue in (aws.queue, fake):
        queue.send("g", BODY, deduplication="1")
    [(_, _, receipt)] = received(aws)
    assert received(aws) == []
    aws.queue.release(receipt, seconds=0)
    assert len(received(aws)) == 1
    [message] = fake.receive()
    fake.release(message.receipt, seconds=30)
    clock.advance(29)
    assert fake.receive() == []
    clock.advance(1)
    assert [again.receives for again in fake.receive()] == [2]


def test_releasing_a_message_that_is_settled_is_fine(aws: Aws) -> None:
    aws.queue.send("g", BODY, deduplication="1")
    [(_, _, receipt)] = received(aws)
    aws.sqs.delete_message(QueueUrl=aws.url, ReceiptHandle=receipt)
    aws.queue.release(receipt, seconds=5)
    aws.queue.release("nonsense", seconds=5)
    MemoryQueue(FakeClock()).release("nonsense", seconds=5)
    refuse(aws.sqs, "ChangeMessageVisibility", "AWS.SimpleQueueService.MessageNotInflight")
    aws.queue.release(receipt, seconds=5)


def test_faults_are_told_apart_and_quote_nothing(aws: Aws) -> None:
    lose_answer(aws.sqs, "SendMessage")
    with pytest.raises(Unavailable):
        aws.queue.send("g", BODY, deduplication="1")
    refuse(aws.sqs, "ChangeMessageVisibility", "RequestThrottled")
    with pytest.raises(Unavailable):
        aws.queue.release("r", seconds=1)
    gone = SqsQueue(aws.sqs, aws.url + "-gone")
    with pytest.raises(Unexpected, match=r"^SendMessage: \w+$"):
        gone.send("g", BODY, deduplication="1")


def test_the_fake_keeps_order_in_a_group_and_lets_other_groups_pass() -> None:
    clock = FakeClock()
    queue = MemoryQueue(clock)
    for group, number in (("a", 1), ("a", 2), ("b", 3)):
        queue.send(group, {"n": number}, deduplication=str(number))
    first = queue.receive(10)
    assert [message.body["n"] for message in first] == [1, 3]
    assert queue.receive(10) == []
    queue.delete(first[0].receipt)
    assert [message.body["n"] for message in queue.receive(10)] == [2]


def test_the_fake_moves_a_message_to_the_dead_after_its_attempts() -> None:
    clock = FakeClock()
    queue = MemoryQueue(clock, attempts=3)
    queue.send("a", {"n": 1}, deduplication="1")
    queue.send("a", {"n": 2}, deduplication="2")
    for _ in range(3):
        assert [message.body["n"] for message in queue.receive()] == [1]
        clock.advance(1800)
    assert [message.body["n"] for message in queue.receive()] == [2]
    assert [message.body["n"] for message in queue.dead] == [1]
