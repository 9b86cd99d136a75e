"""Faults below the service, by botocore events on the clients that the functions share, and queue messages made by hand."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ReadTimeoutError

from local.pollers import queue_of
from local.stack import Stack
from shared import bootstrap
from tests.e2e.storage import owner_of


@dataclass
class _Answered:
    """As much of an HTTP response as botocore looks at."""

    status_code: int


@contextmanager
def _hooked(service: str, stage: str, call: str, hook: Callable[..., Any]) -> Iterator[None]:
    client = bootstrap._client(service)
    event = f"{stage}.{client.meta.service_model.service_id.hyphenize()}.{call}"
    register = client.meta.events.register if stage == "after-call" else client.meta.events.register_first
    register(event, hook)
    try:
        yield
    finally:
        client.meta.events.unregister(event, hook)


@contextmanager
def refused(
    service: str, call: str, code: str = "InternalServerError", *, times: int = 1_000, status: int = 500
) -> Iterator[list[str]]:
    """Answer the next calls with an error before they reach the service; yields the list of calls refused so far."""
    done: list[str] = []

    def before(**_: Any) -> tuple[Any, dict[str, Any]] | None:
        if len(done) >= times:
            return None
        done.append(call)
        error = {"Error": {"Code": code, "Message": "CANARY"}, "ResponseMetadata": {"HTTPStatusCode": status}}
        return _Answered(status), error

    with _hooked(service, "before-call", call, before):
        yield done


@contextmanager
def held(service: str, call: str) -> Iterator[None]:
    """Let calls begin and not go on before the end of the block."""
    go = threading.Event()

    def before(**_: Any) -> None:
        go.wait()

    with _hooked(service, "before-call", call, before):
        try:
            yield
        finally:
            go.set()


@contextmanager
def lost_answers(service: str, call: str, *, times: int) -> Iterator[list[str]]:
    """Let the next calls be done and their answers never arrive."""
    lost: list[str] = []

    def after(**_: Any) -> None:
        if len(lost) < times:
            lost.append(call)
            raise ReadTimeoutError(endpoint_url="CANARY")

    with _hooked(service, "after-call", call, after):
        yield lost


@contextmanager
def before_each(service: str, call: str, act: Callable[[], None]) -> Iterator[None]:
    """Do something, or raise, before every such call."""

    def before(**_: Any) -> None:
        act()

    with _hooked(service, "before-call", call, before):
        yield


@contextmanager
def held_messages() -> Iterator[list[dict[str, str]]]:
    """Take what is sent to queues instead of sending it; yields the parameters of the messages so far."""
    held: list[dict[str, str]] = []

    def before(params: dict[str, Any], **_: Any) -> tuple[Any, dict[str, Any]]:
        held.append(json.loads(params["body"]) if params["body"] else {})
        return _Answered(200), {"MessageId": str(len(held)), "ResponseMetadata": {"HTTPStatusCode": 200}}

    with _hooked("sqs", "before-call", "SendMessage", before):
        yield held


def record(body: str, group: str, *, number: int, receives: int = 1) -> dict[str, Any]:
    """A record of the event with which Lambda hands on a message of a FIFO queue."""
    return {
        "messageId": f"message-{number}",
        "receiptHandle": f"receipt-{number}",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": str(receives),
            "SentTimestamp": "1796054700000",
            "SequenceNumber": str(18_870_000_000_000_000_000 + number),
            "MessageGroupId": group,
            "MessageDeduplicationId": f"deduplication-{number}",
            "SenderId": "sender",
            "ApproximateFirstReceiveTimestamp": "1796054700001",
        },
        "messageAttributes": {},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:work.fifo",
        "awsRegion": "eu-central-1",
    }


def function(stack: Stack, folder: str) -> str:
    """The name of the function whose code is in that folder."""
    return next(name for name, one in stack.deployment.functions.items() if f".{folder}." in f".{one.handler}")


def deliver(stack: Stack, folder: str, *records: dict[str, Any]) -> list[str]:
    """Give a queue function a batch; return the ids that it wants delivered again. Raises what its failure raises."""
    answer = stack.functions.invoke(function(stack, folder), {"Records": list(records)}, "request")
    return [one["itemIdentifier"] for one in answer["batchItemFailures"]]


def tidied(stack: Stack, sub: str) -> bool:
    """Do one owner's maintenance, and tell whether it was done; everybody's takes longer the more people a stack has."""
    owner = owner_of(stack, sub)
    body = json.dumps({"v": 1, "kind": "tidy", "owner": owner})
    return deliver(stack, "maintenance", record(body, owner, number=1)) == []


def send(stack: Stack, queue: str, body: str, group: str, token: str) -> None:
    """Put any message into a queue; `queue` is the variable that names it."""
    stack.clients.sqs.send_message(
        QueueUrl=os.environ[queue], MessageBody=body, MessageGroupId=group, MessageDeduplicationId=token
    )


def outlive_visibility(stack: Stack, times: int = 1, *, seconds: float = 6_000) -> None:
    """Let hidden messages come back that are hidden no longer than so many seconds, as often as said."""
    for _ in range(times):
        assert stack.wait_until_idle()
        stack.queue_clock.advance(seconds)
    assert stack.wait_until_idle()


def dead_bodies(stack: Stack) -> list[str]:
    """Bodies of all messages in dead-letter queues."""
    return [message.body for url in stack.deployment.dead_letters for message in queue_of(url)._messages]
