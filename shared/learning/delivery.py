"""One delivery of a queue's message: what is done when the work fails, and when the message says nothing we know."""

import json
from dataclasses import dataclass

from shared.domain import limits
from shared.domain.asking import ModelUnavailable
from shared.domain.errors import NacreError
from shared.domain.ids import is_ulid
from shared.learning.extraction import Extraction, Failed
from shared.observability import concerning
from shared.ports import Queue

MESSAGE = 1
OWNER_CHARACTERS = 52


class UnknownMessage(Exception):
    """The message is none of ours: it goes to the dead-letter queue, where an alarm tells of it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Gives the work queue's messages to the extraction."""

    extraction: Extraction
    work: Queue

    def learn(self, body: str, receipt: str, receives: int) -> dict[str, int]:
        """Learn from the conversation that a message names and return counts for the log.

        A failure shortens the message's own visibility and is raised, so that the queue delivers it again; at the last attempt the task
        is recorded as failed first, and the queue soon gives the message up, so that it does not hold what its owner sends next.
        Raises UnknownMessage: what is none of ours holds its group no longer than that either.
        """
        try:
            owner, epoch, task, run = _read(body)
        except UnknownMessage:
            self.work.release(receipt, seconds=limits.RETRY_VISIBILITY_SECONDS)
            raise
        with concerning(owner=owner, task=task):
            return self._learn(owner, epoch, task, run, receipt, receives)

    def _learn(self, owner: str, epoch: int, task: str, run: int, receipt: str, receives: int) -> dict[str, int]:
        try:
            return self.extraction.learn(owner, epoch, task, run, afresh=receives == 1)
        except Exception as error:
            if receives >= limits.ATTEMPTS:
                answered = error.answered if isinstance(error, ModelUnavailable) else None
                self.extraction.fail(owner, task, run, _reason(error), answered)
            self.work.release(receipt, seconds=limits.RETRY_VISIBILITY_SECONDS)
            raise


def _reason(error: Exception) -> str:
    """Return what the task's owner reads."""
    if isinstance(error, ModelUnavailable):
        return error.code
    return Failed.NOT_AVAILABLE if isinstance(error, NacreError) else Failed.INTERNAL


def _read(body: str) -> tuple[str, int, str, int]:
    try:
        message = json.loads(body)
        owner, epoch, task, run = message["owner"], message["epoch"], message["task"], message["run"]
    except (ValueError, KeyError, TypeError):
        raise UnknownMessage from None
    known = message.get("v") == MESSAGE and isinstance(owner, str) and len(owner) == OWNER_CHARACTERS
    if not known or not isinstance(task, str) or not is_ulid(task) or type(epoch) is not int or type(run) is not int:
        raise UnknownMessage
    return owner, epoch, task, run
