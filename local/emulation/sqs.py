"""moto's SQS with FIFO order, deduplication, visibility and refusals as SQS has them, on an injected clock.

Readers wake the moment a message can be delivered; nobody sleeps a second to find out.
"""

import copy
import hashlib
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from moto.sqs import models
from moto.sqs.exceptions import InvalidParameterValue, ReceiptHandleIsInvalid, SQSException
from moto.sqs.utils import generate_receipt_handle

from local.emulation.patches import Patches

DEDUPLICATION_SECONDS = 300.0
CHANGED = threading.Condition(threading.RLock())
_ALLOWED = re.compile("[\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
_TOKEN = re.compile(r"[!-~]{1,128}")
_sequence = itertools.count(18_870_000_000_000_000_000)
_sent: WeakKeyDictionary[Any, dict[str, tuple[float, Any]]] = WeakKeyDictionary()
Clock = Callable[[], float]


def _refuse_bad(queue: Any, body: str, *tokens: str | None) -> None:
    if not _ALLOWED.fullmatch(body):
        raise SQSException("InvalidMessageContents", "The message contains characters outside the allowed set.")
    if not body:
        raise SQSException("MissingParameter", "The request must contain the parameter MessageBody.")
    if len(body.encode()) > queue.maximum_message_size:
        raise InvalidParameterValue(f"Message must be shorter than {queue.maximum_message_size} bytes.")
    for token in tokens:
        if token is not None and not _TOKEN.fullmatch(token):
            raise InvalidParameterValue("Groups and deduplication ids are 1 to 128 printable ASCII characters.")


def _deduplication_key(queue: Any, body: str, token: str | None, group: str | None) -> str | None:
    if not queue.fifo_queue:
        return None
    if token is None and queue.attributes.get("ContentBasedDeduplication") == "true":
        token = hashlib.sha256(body.encode()).hexdigest()
    if token is None:
        return None
    scope = group if queue.attributes.get("DeduplicationScope") == "messageGroup" else ""
    return f"{scope} {token}"


def _send(original: Callable[..., Any], clock: Clock) -> Callable[..., Any]:
    def send_message(
        self: Any,
        queue_name: str,
        message_body: str,
        message_attributes: dict[str, Any] | None = None,
        delay_seconds: int | None = None,
        deduplication_id: str | None = None,
        group_id: str | None = None,
        **named: Any,
    ) -> Any:
        queue = self.get_queue(queue_name)
        _refuse_bad(queue, message_body, deduplication_id, group_id)
        with CHANGED:
            now = clock()
            seen = {key: entry for key, entry in _sent.get(queue, {}).items() if entry[0] > now}
            _sent[queue] = seen
            key = _deduplication_key(queue, message_body, deduplication_id, group_id)
            if key in seen:
                return seen[key][1]
            message = original(
                self,
                queue_name,
                message_body,
                message_attributes,
                delay_seconds,
                deduplication_id,
                group_id,
                **named,
            )
            message.sent_timestamp = int(now * 1000)
            message.visible_at = 0.0
            message.delayed_until = (now + int(delay_seconds or queue.delay_seconds)) * 1000
            if queue.fifo_queue:
                message.sequence_number = str(next(_sequence))
            if key is not None:
                seen[key] = (now + DEDUPLICATION_SECONDS, copy.deepcopy(message))
            return message

    return send_message


def _add_message(self: Any, message: Any) -> None:
    with CHANGED:
        self._messages.append(message)
        CHANGED.notify_all()


def _in_flight(queue: Any, message: Any, now: float) -> bool:
    return message in queue.pending_messages and message.visible_at > now * 1000


def _deliverable(queue: Any, now: float) -> Iterator[Any]:
    """Messages that a receive may return now, in order: FIFO groups wait for what is in flight before them."""
    blocked = set()
    for message in list(queue._messages):
        if now * 1000 >= max(message.visible_at, message.delayed_until):
            queue.pending_messages.discard(message)
            if not queue.fifo_queue or message.group_id not in blocked:
                yield message
        else:
            blocked.add(message.group_id)


def _redrive(queue: Any, message: Any) -> bool:
    policy = queue.redrive_policy
    if queue.dead_letter_queue is None or not policy:
        return False
    if message.approximate_receive_count < policy["maxReceiveCount"]:
        return False
    queue._messages.remove(message)
    message.visible_at = message.delayed_until = 0.0
    queue.dead_letter_queue.add_message(message)
    return True


def _take(queue: Any, count: int, visibility: float, now: float) -> list[Any]:
    taken: list[Any] = []
    retention = float(queue.message_retention_period)
    for message in _deliverable(queue, now):
        if message.sent_timestamp / 1000 + retention <= now:
            queue._messages.remove(message)
            continue
        if _redrive(queue, message):
            continue
        message.approximate_receive_count += 1
        message.approximate_first_receive_timestamp = message.approximate_first_receive_timestamp or int(now * 1000)
        message.visible_at = (now + visibility) * 1000
        if message.receipt_handle is not None:
            message._old_receipt_handles.append(message.receipt_handle)
        message.receipt_handle = generate_receipt_handle()
        queue.pending_messages.add(message)
        taken.append(copy.deepcopy(message))
        if len(taken) == count:
            break
    return taken


def _next_change(queue: Any, now: float) -> float | None:
    """Seconds until a hidden message shows itself, or None when none is hidden."""
    times = [max(one.visible_at, one.delayed_until) / 1000 - now for one in queue._messages]
    later = [seconds for seconds in times if seconds > 0]
    return min(later) if later else None


def _receive(clock: Clock) -> Callable[..., Any]:
    def receive_message(
        self: Any,
        queue_name: str,
        count: int,
        wait_seconds_timeout: int,
        visibility_timeout: int,
        message_attribute_names: list[str] | None = None,
    ) -> list[Any]:
        queue = self.get_queue(queue_name)
        deadline = time.monotonic() + wait_seconds_timeout
        with CHANGED:
            while True:
                messages = _take(queue, count, float(visibility_timeout), clock())
                left = deadline - time.monotonic()
                if messages or left <= 0:
                    break
                change = _next_change(queue, clock())
                CHANGED.wait(left if change is None else min(left, change))
        for message in messages:
            models._filter_message_attributes(message, message_attribute_names or [])
        return messages

    return receive_message


def wait_for_messages(queue: Any, clock: Clock, stopped: Callable[[], bool]) -> None:
    """Block until a receive on `queue` would return something, or `stopped()` after `wake()`."""
    with CHANGED:
        while not stopped() and next(_deliverable(queue, clock()), None) is None:
            CHANGED.wait(_next_change(queue, clock()))


def wake() -> None:
    """Make every waiting reader look again."""
    with CHANGED:
        CHANGED.notify_all()


def counts(queue: Any, clock: Clock) -> tuple[int, int]:
    """Messages (deliverable now, hidden or held back), of one queue."""
    with CHANGED:
        ready = sum(1 for _ in _deliverable(queue, clock()))
        return ready, len(queue._messages) - ready


def _held(queue: Any, receipt: str) -> Any:
    return next((one for one in queue._messages if one.had_receipt_handle(receipt)), None)


def _delete(clock: Clock) -> Callable[..., Any]:
    def delete_message(self: Any, receipt_handle: str) -> None:
        with CHANGED:
            message = _held(self, receipt_handle)
            if message is None:
                if receipt_handle in self.deleted_messages:
                    return
                raise ReceiptHandleIsInvalid
            stale = message.receipt_handle != receipt_handle or not _in_flight(self, message, clock())
            if self.fifo_queue and stale:
                raise InvalidParameterValue("The receipt handle has expired")
            self.pending_messages.discard(message)
            self.deleted_messages.update(message.all_receipt_handles)
            self._messages.remove(message)
            CHANGED.notify_all()

    return delete_message


def _change_visibility(clock: Clock) -> Callable[..., Any]:
    def change_message_visibility(self: Any, queue_name: str, receipt_handle: str, visibility_timeout: int) -> None:
        queue = self.get_queue(queue_name)
        with CHANGED:
            message = _held(queue, receipt_handle)
            if message is None:
                raise ReceiptHandleIsInvalid
            if message.receipt_handle != receipt_handle or not _in_flight(queue, message, clock()):
                raise SQSException("MessageNotInflight", "The message is not in flight.")
            message.visible_at = (clock() + int(visibility_timeout)) * 1000
            CHANGED.notify_all()

    return change_message_visibility


def _visible(clock: Clock) -> Callable[..., Any]:
    def messages(self: Any) -> list[Any]:
        now = clock() * 1000
        return [one for one in self._messages if max(one.visible_at, one.delayed_until) <= now]

    return messages


def install(patches: Patches, clock: Clock) -> None:
    """Make moto's SQS keep order, remember deduplication ids and refuse what SQS refuses."""
    backend, queue = models.SQSBackend, models.Queue
    reason = (
        "moto forgets deduplication once a message is deleted, draws random sequence numbers, takes control characters"
    )
    patches.replace(backend, "send_message", _send(backend.send_message, clock), reason)
    reason = "moto deduplicates in dead-letter queues too and calls Lambda through Docker"
    patches.replace(queue, "add_message", _add_message, reason)
    reason = "moto delivers a group past its in-flight message, polls by the second and races among threads"
    patches.replace(backend, "receive_message", _receive(clock), reason)
    patches.replace(queue, "messages", property(_visible(clock)), reason)
    reason = "moto reads the time itself: counts of hidden messages would follow another clock"
    patches.replace(models.Message, "visible", property(lambda self: self.visible_at <= clock() * 1000), reason)
    patches.replace(models.Message, "delayed", property(lambda self: self.delayed_until > clock() * 1000), reason)
    reason = "moto lets an expired receipt delete a FIFO message that somebody else holds by now"
    patches.replace(queue, "delete_message", _delete(clock), reason)
    reason = "moto counts zero visibility as hidden for a millisecond and changes messages that are not in flight"
    patches.replace(backend, "change_message_visibility", _change_visibility(clock), reason)
