"""Event source mappings: queues feed functions in batches, with partial failures, as Lambda's SQS pollers do."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from moto.sqs.models import sqs_backends
from mypy_boto3_sqs import SQSClient

from local.emulation import sqs
from local.invocation import FunctionFailed, Functions, FunctionTimedOut
from local.resources import ACCOUNT, REGION, QueueSource

log = logging.getLogger("local")
_JOIN_SECONDS = 5.0


def queue_of(url: str) -> Any:
    """moto's own object for a queue."""
    return sqs_backends[ACCOUNT][REGION].get_queue(url.rsplit("/", 1)[-1])


def _attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = {"dataType": value["DataType"], "stringListValues": [], "binaryListValues": []}
    for given, kept in (("StringValue", "stringValue"), ("BinaryValue", "binaryValue")):
        if given in value:
            record[kept] = value[given]
    return record


def record(message: Mapping[str, Any], queue_arn: str) -> dict[str, Any]:
    """One received message as a record of Lambda's SQS event."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message["Attributes"]),
        "messageAttributes": {name: _attribute(value) for name, value in message.get("MessageAttributes", {}).items()},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }


def failed_ids(answer: Any, sent: Sequence[str]) -> set[str]:
    """Message ids that a batch answer reports as failed; all of them when the answer is not a proper report.

    An answer without failures, null included, is success. Source: Lambda developer guide, "Implementing partial
    batch responses".
    """
    if answer is None or answer == {}:
        return set()
    failures = answer.get("batchItemFailures") if isinstance(answer, dict) else None
    if failures is None:
        return set()
    if not isinstance(failures, list):
        return set(sent)
    named = [one.get("itemIdentifier") if isinstance(one, dict) else None for one in failures]
    return set(sent) if any(name not in sent for name in named) else {str(name) for name in named}


class Pollers:
    """Threads that carry messages from queues to functions; `clock` is the queues' clock in Unix seconds."""

    def __init__(
        self,
        sources: Sequence[QueueSource],
        functions: Functions,
        client: SQSClient,
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._sources = sources
        self._functions = functions
        self._client = client
        self._clock = clock
        self._new_id = new_id
        self._stopped = threading.Event()
        self._busy = 0
        self._received = 0
        self._threads = [
            threading.Thread(target=self._poll, args=(source,), name=f"poller-{source.function}-{place}", daemon=True)
            for source in sources
            for place in range(source.concurrency)
        ]

    def start(self) -> None:
        """Start polling."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop polling; an invocation that runs on is not waited for longer than a few seconds."""
        self._stopped.set()
        sqs.wake()
        deadline = time.monotonic() + _JOIN_SECONDS
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))

    def _poll(self, source: QueueSource) -> None:
        queue = queue_of(source.queue_url)
        while True:
            sqs.wait_for_messages(queue, self._clock, self._stopped.is_set)
            if self._stopped.is_set():
                return
            with sqs.CHANGED:
                self._busy += 1
                self._received += 1
            try:
                self._batch(source)
            finally:
                with sqs.CHANGED:
                    self._busy -= 1
                    sqs.CHANGED.notify_all()

    def _batch(self, source: QueueSource) -> None:
        answer = self._client.receive_message(
            QueueUrl=source.queue_url,
            MaxNumberOfMessages=min(10, source.batch_size),
            WaitTimeSeconds=0,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
        )
        messages = answer.get("Messages", [])
        if not messages:
            return
        event = {"Records": [record(message, source.queue_arn) for message in messages]}
        try:
            report = self._functions.invoke(source.function, event, self._new_id())
        except (FunctionFailed, FunctionTimedOut):
            return
        sent = [message["MessageId"] for message in messages]
        failed = failed_ids(report, sent) if source.partial_failures else set()
        for message in messages:
            if message["MessageId"] not in failed:
                self._delete(source, message["ReceiptHandle"])

    def _delete(self, source: QueueSource, receipt: str) -> None:
        try:
            self._client.delete_message(QueueUrl=source.queue_url, ReceiptHandle=receipt)
        except self._client.exceptions.ClientError as problem:
            # Visibility ended while the function ran: the message comes again, as it would on AWS.
            log.warning("a message could not be deleted: %s", problem.response["Error"]["Code"])

    def waiting(self) -> int:
        """Messages that are hidden: held back, or waiting out their visibility after a failure."""
        return sum(sqs.counts(queue_of(source.queue_url), self._clock)[1] for source in self._sources)

    def _idle(self) -> bool:
        ready = any(sqs.counts(queue_of(source.queue_url), self._clock)[0] for source in self._sources)
        return not ready and self._busy == 0

    def wait_until_idle(self, timeout: float) -> bool:
        """Block until nothing is deliverable and nothing runs; False when that took longer than `timeout` seconds."""
        with sqs.CHANGED:
            return sqs.CHANGED.wait_for(self._idle, timeout)
