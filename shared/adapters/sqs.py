"""A FIFO queue in SQS: the port `Queue` over one boto3 client. Carries ids and numbers, never words."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from shared.adapters.faults import FAULTS, code, translated

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

VALUE_CHARACTERS: Final = 200
_GONE: Final = frozenset({"MessageNotInflight", "ReceiptHandleIsInvalid", "InvalidParameterValue"})


class SqsQueue:
    """`url` is the queue's."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    def send(self, group: str, body: Mapping[str, str | int], *, deduplication: str) -> None:
        if any(len(str(value)) > VALUE_CHARACTERS for value in body.values()):
            raise ValueError("a message holds ids and numbers, never words")
        try:
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=json.dumps(dict(body), sort_keys=True, separators=(",", ":")),
                MessageGroupId=group,
                MessageDeduplicationId=deduplication,
            )
        except FAULTS as fault:
            raise translated("SendMessage", fault) from None

    def release(self, receipt: str, *, seconds: int) -> None:
        """A message that is no longer in flight has been settled otherwise, which is fine."""
        try:
            self._client.change_message_visibility(QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=seconds)
        except FAULTS as fault:
            if code(fault) not in _GONE:
                raise translated("ChangeMessageVisibility", fault) from None
