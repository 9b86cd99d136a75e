"""The edge of the queue functions: which messages are to be delivered again, and what a delivery leaves in the log.

One owner's failure never holds another's messages: the rest of the failed group is delivered again, other groups go on. Bodies hold ids
and numbers; not even they are logged.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.config import MissingSetting
from shared.domain.asking import ModelUnavailable
from shared.domain.errors import NacreError
from shared.observability import Fact, alarm, note, warn

Do = Callable[[str, str, int], Mapping[str, int]]
"""Does what a message says: its body, its receipt, how often it was delivered. Returns counts for the log."""
Failures = dict[str, list[dict[str, str]]]
"""What the event source mapping wants back: the messages to deliver again."""


def deliver(work: str, event: Mapping[str, Any], do: Do) -> Failures:
    """Do each message of the event and return those to deliver again."""
    failed_groups: set[str] = set()
    again: list[dict[str, str]] = []
    for record in event["Records"]:
        group = record["attributes"].get("MessageGroupId", "")
        if group in failed_groups or not _done(work, record, do):
            failed_groups.add(group)
            again.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": again}


def _done(work: str, record: Mapping[str, Any], do: Do) -> bool:
    """Do one message and log it; tell whether it was done."""
    started = time.perf_counter()
    receives = int(record["attributes"]["ApproximateReceiveCount"])
    known: dict[str, Fact] = {"message_id": record["messageId"], "receives": receives}
    if receives == 1:
        known["waited_ms"] = _waited(record["attributes"])
    try:
        counts = do(record["body"], record["receiptHandle"], receives)
    except NacreError as error:
        answered = error.answered if isinstance(error, ModelUnavailable) else None
        warn(work, **known, error=error.code, provider_status=answered, ms=_since(started))
        return False
    except Exception as error:  # noqa: BLE001 - one message's failure is not the others'; the queue delivers it again
        setting = error.name if isinstance(error, MissingSetting) else None
        alarm(work, **known, error="unexpected", kind=type(error).__name__, setting=setting, ms=_since(started))
        return False
    note(work, **known, **counts, ms=_since(started))
    return True


def _waited(attributes: Mapping[str, Any]) -> int | None:
    """Return how long a message lay in the queue before it was first received, in milliseconds."""
    try:
        return int(attributes["ApproximateFirstReceiveTimestamp"]) - int(attributes["SentTimestamp"])
    except (KeyError, ValueError):
        return None


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
