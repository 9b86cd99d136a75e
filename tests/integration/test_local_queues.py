"""The local stack's SQS, KMS and S3: order, deduplication, visibility, refusals, one winner a condition."""

import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from local.emulation import kms, s3, sqs
from local.emulation.patches import Patches
from local.pollers import failed_ids

VISIBLE_AFTER = 30


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@cache
def client(service: str) -> Any:
    """Clients are slow to make; data lives in moto and ends with each test."""
    make: Any = boto3.client
    return make(service, "us-east-1", aws_access_key_id="test", aws_secret_access_key="test")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def account(clock: Clock) -> Iterator[None]:
    patches = Patches()
    sqs.install(patches, clock)
    kms.install(patches)
    s3.install(patches)
    with mock_aws():
        yield
    patches.undo()


class Queue:
    """A FIFO queue with a dead-letter queue after two receives."""

    def __init__(self) -> None:
        self.sqs = client("sqs")
        fifo = {"FifoQueue": "true"}
        self.dead = self.sqs.create_queue(QueueName="dead.fifo", Attributes=fifo)["QueueUrl"]
        arn = self.sqs.get_queue_attributes(QueueUrl=self.dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        policy = f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":2}}'
        settings = {**fifo, "VisibilityTimeout": str(VISIBLE_AFTER), "RedrivePolicy": policy}
        self.url = self.sqs.create_queue(QueueName="work.fifo", Attributes=settings)["QueueUrl"]

    def send(self, body: str, group: str = "g", token: str | None = None) -> Any:
        return self.sqs.send_message(
            QueueUrl=self.url, MessageBody=body, MessageGroupId=group, MessageDeduplicationId=token or body
        )

    def receive(self, count: int = 10, url: str = "") -> list[Any]:
        answer = self.sqs.receive_message(
            QueueUrl=url or self.url, MaxNumberOfMessages=count, MessageSystemAttributeNames=["All"]
        )
        return list(answer.get("Messages", []))

    def bodies(self, count: int = 10, url: str = "") -> list[str]:
        return [message["Body"] for message in self.receive(count, url)]

    def delete(self, message: Any) -> None:
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def hide(self, message: Any, seconds: int) -> None:
        self.sqs.change_message_visibility(
            QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=seconds
        )


@pytest.fixture
def queue(account: None) -> Queue:
    return Queue()


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        work()
    return str(caught.value.response["Error"]["Code"])


def test_a_duplicate_is_swallowed_for_five_minutes_even_after_the_first_was_deleted(queue: Queue, clock: Clock) -> None:
    first = queue.send("a", token="t")
    queue.delete(queue.receive()[0])
    again = queue.send("a", token="t")
    assert (again["MessageId"], again["SequenceNumber"]) == (first["MessageId"], first["SequenceNumber"])
    assert queue.bodies() == []
    clock.now += 300
    queue.send("a", token="t")
    assert queue.bodies() == ["a"]


def test_a_group_with_a_message_in_flight_delivers_nothing_else_and_other_groups_go_on(queue: Queue) -> None:
    for body, group in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        queue.send(body, group)
    taken = queue.receive(1)
    assert queue.bodies() == ["b1"]
    queue.delete(taken[0])
    assert queue.bodies() == ["a2"]


def test_one_receive_may_take_a_group_in_order(queue: Queue) -> None:
    for place in range(4):
        queue.send(f"a{place}", "a")
    messages = queue.receive(3)
    assert [message["Body"] for message in messages] == ["a0", "a1", "a2"]
    numbers = [int(message["Attributes"]["SequenceNumber"]) for message in messages]
    assert numbers == sorted(numbers)


def test_a_message_comes_again_when_its_visibility_ends_and_goes_to_the_dead_letters_after_two_receives(
    queue: Queue, clock: Clock
) -> None:
    queue.send("a")
    for receives in ("1", "2"):
        message = queue.receive()[0]
        assert message["Attributes"]["ApproximateReceiveCount"] == receives
        clock.now += VISIBLE_AFTER - 1
        assert queue.bodies() == []
        clock.now += 1
    assert queue.bodies() == []
    assert queue.bodies(url=queue.dead) == ["a"]


def test_a_failed_message_does_not_hold_its_group_once_it_is_dead(queue: Queue, clock: Clock) -> None:
    queue.send("bad")
    queue.send("good")
    for _ in range(2):
        assert queue.bodies(1) == ["bad"]
        clock.now += VISIBLE_AFTER
    assert queue.bodies(1) == ["good"]


def test_shortened_visibility_brings_a_message_back_at_once(queue: Queue) -> None:
    queue.send("a")
    queue.hide(queue.receive()[0], 0)
    assert queue.bodies() == ["a"]


def test_an_expired_receipt_can_neither_delete_nor_hide(queue: Queue, clock: Clock) -> None:
    queue.send("a")
    old = queue.receive()[0]
    clock.now += VISIBLE_AFTER
    assert refusal(lambda: queue.delete(old)) == "InvalidParameterValue"
    new = queue.receive()[0]
    assert refusal(lambda: queue.hide(old, 0)).endswith("MessageNotInflight")
    queue.delete(new)
    queue.delete(new)


@pytest.mark.parametrize(
    "body", ["a\x00b", "\x0b", "\ufffe", ""], ids=["null", "vertical tab", "noncharacter", "empty"]
)
def test_what_sqs_refuses_is_refused(queue: Queue, body: str) -> None:
    assert refusal(lambda: queue.send(body, token="t")) in {"InvalidMessageContents", "MissingParameter"}


def test_groups_and_tokens_are_printable_ascii(queue: Queue) -> None:
    assert refusal(lambda: queue.send("a", group="项目")) == "InvalidParameterValue"
    assert refusal(lambda: queue.send("a", token="t" * 129)) == "InvalidParameterValue"


def test_bodies_of_any_script_arrive_whole(queue: Queue) -> None:
    body = "中文 \U0001f600\u0085\u2028\t\r\n"
    queue.send(body, token="t")
    assert queue.bodies() == [body]


def test_equal_bodies_are_duplicates_where_the_queue_says_so(account: None) -> None:
    queues = client("sqs")
    settings = {"FifoQueue": "true", "ContentBasedDeduplication": "true"}
    url = queues.create_queue(QueueName="content.fifo", Attributes=settings)["QueueUrl"]
    ids = {
        queues.send_message(QueueUrl=url, MessageBody=body, MessageGroupId="g")["MessageId"] for body in ("a", "a", "b")
    }
    assert len(ids) == 2


def test_one_token_may_be_used_in_each_group_where_the_queue_says_so(account: None) -> None:
    queues = client("sqs")
    settings = {"FifoQueue": "true", "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"}
    url = queues.create_queue(QueueName="groups.fifo", Attributes=settings)["QueueUrl"]
    sent = {"QueueUrl": url, "MessageBody": "a", "MessageDeduplicationId": "t"}
    ids = {queues.send_message(**sent, MessageGroupId=group)["MessageId"] for group in ("a", "b", "a")}
    assert len(ids) == 2


def test_a_standard_queue_delays_and_forgets_what_is_too_old(account: None, clock: Clock) -> None:
    queues = client("sqs")
    url = queues.create_queue(QueueName="plain", Attributes={"MessageRetentionPeriod": "60"})["QueueUrl"]
    queues.send_message(QueueUrl=url, MessageBody="later", DelaySeconds=10)
    queues.send_message(QueueUrl=url, MessageBody="now")
    assert [one["Body"] for one in queues.receive_message(QueueUrl=url)["Messages"]] == ["now"]
    clock.now += 10
    assert [one["Body"] for one in queues.receive_message(QueueUrl=url)["Messages"]] == ["later"]
    clock.now += 50
    assert "Messages" not in queues.receive_message(QueueUrl=url)


def test_numbers_of_waiting_and_flying_messages_are_told(queue: Queue) -> None:
    for group in ("a", "b"):
        queue.send(group, group)
    queue.receive(1)
    told = queue.sqs.get_queue_attributes(QueueUrl=queue.url, AttributeNames=["All"])["Attributes"]
    assert (told["ApproximateNumberOfMessages"], told["ApproximateNumberOfMessagesNotVisible"]) == ("1", "1")


def test_a_receipt_that_never_was_is_refused(queue: Queue) -> None:
    queue.send("a")
    assert refusal(lambda: queue.delete({"ReceiptHandle": "none"})) == "ReceiptHandleIsInvalid"
    assert refusal(lambda: queue.hide({"ReceiptHandle": "none"}, 0)) == "ReceiptHandleIsInvalid"


def test_a_waiting_receive_ends_when_a_message_is_sent(queue: Queue) -> None:
    got: list[Any] = []

    def wait() -> None:
        got.extend(queue.sqs.receive_message(QueueUrl=queue.url, WaitTimeSeconds=20).get("Messages", []))

    reader = threading.Thread(target=wait)
    reader.start()
    queue.send("a")
    reader.join(5)
    assert [message["Body"] for message in got] == ["a"]


def test_twenty_readers_share_messages_without_taking_one_twice(queue: Queue) -> None:
    for place in range(20):
        queue.send(str(place), group=f"g{place}")
    gate = threading.Barrier(20)
    taken: list[str] = []

    def read() -> None:
        gate.wait()
        taken.extend(queue.bodies(1))

    readers = [threading.Thread(target=read) for _ in range(20)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert sorted(taken, key=int) == [str(place) for place in range(20)]


def test_a_data_key_opens_with_its_own_context_only(account: None) -> None:
    keys = client("kms")
    key_id = keys.create_key()["KeyMetadata"]["KeyId"]
    made = keys.generate_data_key(KeyId=key_id, KeySpec="AES_256", EncryptionContext={"a": "bc"})
    wrapped = made["CiphertextBlob"]
    assert keys.decrypt(CiphertextBlob=wrapped, EncryptionContext={"a": "bc"})["Plaintext"] == made["Plaintext"]
    for other in ({}, {"a": "bcd"}, {"ab": "c"}, {"a": "bc", "d": "e"}):
        code = refusal(lambda other=other: keys.decrypt(CiphertextBlob=wrapped, EncryptionContext=other))  # type: ignore[misc]
        assert code == "InvalidCiphertextException"


def test_an_unknown_key_is_not_found(account: None) -> None:
    assert refusal(lambda: client("kms").generate_data_key(KeyId="0" * 36, KeySpec="AES_256")) == "NotFoundException"


def test_disabled_keys_and_keys_awaiting_deletion_refuse(account: None) -> None:
    keys = client("kms")
    key_id = keys.create_key()["KeyMetadata"]["KeyId"]
    wrapped = keys.generate_data_key(KeyId=key_id, KeySpec="AES_256")["CiphertextBlob"]
    keys.disable_key(KeyId=key_id)
    assert refusal(lambda: keys.decrypt(CiphertextBlob=wrapped)) == "DisabledException"
    assert refusal(lambda: keys.generate_data_key(KeyId=key_id, KeySpec="AES_256")) == "DisabledException"
    keys.schedule_key_deletion(KeyId=key_id, PendingWindowInDays=7)
    assert refusal(lambda: keys.decrypt(CiphertextBlob=wrapped)) == "KMSInvalidStateException"


def test_of_twenty_writers_exactly_one_creates_an_object(account: None) -> None:
    bucket = client("s3")
    bucket.create_bucket(Bucket="bucket")
    gate = threading.Barrier(20)
    results: list[str] = []

    def write(place: int) -> None:
        gate.wait()
        try:
            bucket.put_object(Bucket="bucket", Key="keyring", Body=str(place).encode(), IfNoneMatch="*")
            results.append("made")
        except ClientError as error:
            results.append(error.response["Error"]["Code"])

    writers = [threading.Thread(target=write, args=(place,)) for place in range(20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(results) == sorted(["made"] + ["PreconditionFailed"] * 19)


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, set()),
        ({}, set()),
        ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": None}, set()),
        ({"batchItemFailures": [{"itemIdentifier": "b"}]}, {"b"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"a", "b"}),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, {"a", "b"}),
        ({"batchItemFailures": [{"wrong": "a"}]}, {"a", "b"}),
        ({"batchItemFailures": [{"itemIdentifier": "stranger"}]}, {"a", "b"}),
        ({"batchItemFailures": "a"}, {"a", "b"}),
    ],
)
def test_a_report_that_is_not_proper_fails_the_whole_batch(answer: Any, failed: set[str]) -> None:
    assert failed_ids(answer, ["a", "b"]) == failed
