"""Accepting a conversation: sealed into the bucket, its task into the table, its message into the queue, then the answer.

A crash before the send is mended by the next identical request, or by maintenance, which sends tasks that wait too long again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from math import ceil
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import DailyLimitReached, Refused, Unavailable
from shared.domain.ids import ulid
from shared.domain.task import TaskStatus
from shared.keeping.idempotency import Mark
from shared.keeping.memories import fields
from shared.learning import tasks
from shared.learning.conversation import Conversation, Skipped, refuse_silence, to_body
from shared.ports import Condition, Item, Put, Queue, Update, Write
from shared.storage import bodies, names, objects, scenes
from shared.storage.commit import TRIES
from shared.storage.preferences import preferences_of
from shared.storage.transactions import Limited, Limits, Once, Replayed, Stale, Transaction
from shared.storage.vaults import Opened, Vaults

CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of a conversation: a task, or the reason why it is skipped. `replayed`: the task is an earlier request's."""

    task_id: str | None = None
    skipped: Skipped | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Accepting:
    """Takes conversations in. Four steps with warm keys: read, seal, task, send."""

    vaults: Vaults
    work: Queue
    bounds: Limits
    daily_limit: int
    """Conversations an owner may hand in per day (UTC); 0: no limit."""

    def accept(self, owner: str, conversation: Conversation, once: Mark | None = None) -> Accepted:
        """Queue a conversation, or say why not. Nothing is stored of one that is skipped.

        Raises Invalid, QuotaExceeded, DailyLimitReached, TableLost, Busy; IdempotencyKeyReused with `once`.
        """
        refuse_silence(conversation.messages)
        fields.no_credential(project=conversation.project, agent=conversation.agent, session_id=conversation.session_id)
        for _ in range(TRIES):
            opened = self.vaults.open(owner, [names.SETTINGS, names.ACTIVE, self._today()])
            meant = replace(conversation, project=scenes.chosen(conversation.project, opened))
            reason = conversation.skipped(preferences_of(opened))
            if reason is not None:
                return Accepted(skipped=reason)
            try:
                return self._queue(opened or self.vaults.open_or_create(owner), meant, once)
            except Stale:
                self.vaults.forget(owner)
        raise Unavailable

    def hand_over(
        self, opened: Opened, conversation: Conversation, also: Sequence[Write], bytes_gone: int
    ) -> str | None:
        """Queue notes as a conversation of their own, in one transaction with the writes that end what they were; None when one of those
        was refused. Neither the daily limit nor the window of equal contents is asked: each note was accepted before.

        `bytes_gone` are given back. Raises Stale, TableLost, Busy.
        """
        keys, now = opened.keys, self.vaults.clock()
        task_id, sealed, item = self._sealed(keys, conversation, now)
        transaction = Transaction(keys, self.bounds, now, self.vaults.random)
        transaction.add("memory", Put(item, Condition(absent=True)))
        transaction.head({"bytes": len(sealed) - bytes_gone}, deleting=True)
        for write in also:
            transaction.add("also", write)
        try:
            self.vaults.table.write(keys.owner, transaction.writes)
        except Refused as refused:
            self.vaults.objects.erase(names.conversation(keys.owner, keys.epoch, task_id))
            reason = transaction.explain(refused)
            if isinstance(reason, Stale):
                raise reason from None
            return None
        self._send(keys, task_id, 1)
        return task_id

    def _sealed(self, keys: OwnerKeys, conversation: Conversation, now: datetime) -> tuple[str, bytes, Item]:
        """Put a conversation into the bucket; return its task's id, its bytes and its task."""
        task_id = ulid(now, self.vaults.random)
        body = bodies.pack(to_body(conversation, now))
        sealed = objects.seal(keys, CONVERSATION, task_id, body, self.vaults.random)
        self.vaults.objects.put(names.conversation(keys.owner, keys.epoch, task_id), sealed, if_absent=True)
        item = tasks.new_item(task_id, conversation.trigger.value, len(sealed), now, dry_run=conversation.dry_run)
        return task_id, sealed, item

    def _queue(self, opened: Opened, conversation: Conversation, once: Mark | None) -> Accepted:
        keys, now = opened.keys, self.vaults.clock()
        task_id, sealed, item = self._sealed(keys, conversation, now)
        transaction = Transaction(keys, self.bounds, now, self.vaults.random)
        if once:
            transaction.add("once", once(keys, task_id).write(now))
        transaction.add("window", self._window(keys, conversation, task_id).write(now))
        transaction.add("memory", Put(item, Condition(absent=True)))
        transaction.head({"bytes": len(sealed)})
        transaction.add("daily", self._count(opened, now))
        try:
            self.vaults.table.write(keys.owner, transaction.writes)
        except Refused as refused:
            self.vaults.objects.erase(names.conversation(keys.owner, keys.epoch, task_id))
            reason = transaction.explain(refused)
            if isinstance(reason, Limited):
                raise self._limited(now) from None
            if isinstance(reason, Replayed):
                return self._again(keys, reason.made)
            raise reason from None
        self._send(keys, task_id, 1)
        return Accepted(task_id)

    def _today(self) -> str:
        return names.usage(self.vaults.clock())

    def _count(self, opened: Opened, now: datetime) -> Update:
        """Count a conversation of today, on the condition that the day's limit allows it. The day may have counted other things before."""
        sk = self._today()
        condition = None
        if self.daily_limit:
            known = "conversations" in opened.items.get(sk, {})
            first = Condition(equals={"conversations": None})
            condition = Condition(at_most={"conversations": self.daily_limit - 1}) if known else first
        return Update(sk, set={"ttl": tasks.ttl(now)}, add={"conversations": 1}, condition=condition)

    def _limited(self, now: datetime) -> DailyLimitReached:
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        seconds = ceil((midnight - now).total_seconds())
        return DailyLimitReached(details={"limit": self.daily_limit, "retry_after_seconds": seconds})

    def _again(self, keys: OwnerKeys, task_id: str) -> Accepted:
        """Answer with the task of the same request; one that still waits is sent again, in case its sender died before."""
        sk = names.TASK + task_id
        item = self.vaults.table.get(keys.owner, [sk]).get(sk)
        if item is not None and item["status"] == TaskStatus.QUEUED.value:
            self._send(keys, task_id, int(item["run"]))
        return Accepted(task_id, replayed=True)

    def _send(self, keys: OwnerKeys, task_id: str, run: int) -> None:
        body = tasks.message(keys.owner, keys.epoch, task_id, run)
        self.work.send(keys.owner, body, deduplication=tasks.deduplication(task_id, run))

    def _window(self, keys: OwnerKeys, conversation: Conversation, task_id: str) -> Once:
        """Make the mark that lets the same content be learned once within the window."""
        now = self.vaults.clock()
        said = [part for message in conversation.messages for part in (message.role, message.text)]
        place = (
            conversation.trigger.value,
            "dry" if conversation.dry_run else "",
            conversation.project or "",
            conversation.agent or "",
        )
        tag = keys.tag("window", *place, *said)
        return Once(tag, "window", task_id, now + limits.SAME_CONTENT_WINDOW)


def open_conversation(keys: OwnerKeys, task_id: str, stored: bytes) -> dict[str, Any]:
    """Open a stored conversation. Raises SealBroken."""
    return bodies.unpack(objects.unseal(keys, CONVERSATION, task_id, stored), limit=4 * limits.BODY_BYTES)
