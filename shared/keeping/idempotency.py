"""What makes a POST with an Idempotency-Key happen once. Neither the key nor the request can be read from what is stored.

A request that was done before is answered with what it made, as that is now.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import IdempotencyKeySpent
from shared.domain.task import TaskStatus
from shared.storage import names
from shared.storage.transactions import Once
from shared.storage.vaults import Vaults

Mark = Callable[[OwnerKeys, str], Once]
"""Makes the mark from the owner's keys and the id of what the request makes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The task that a request made, or an earlier one did (`replayed`: under the same key), as it is now. One task is one answer."""

    task_id: str
    status: TaskStatus = field(default=TaskStatus.QUEUED, compare=False)
    replayed: bool = field(default=False, compare=False)


def standing(vaults: Vaults, owner: str, task_id: str, *, replayed: bool) -> Asked:
    """Return a task that was made before. Raises IdempotencyKeySpent where it is gone."""
    item = vaults.table.get(owner, [names.TASK + task_id]).get(names.TASK + task_id)
    if item is None:
        raise IdempotencyKeySpent
    return Asked(task_id, TaskStatus(str(item["status"])), replayed)


def mark(operation: str, key: str | None, request: Mapping[str, Any], now: datetime) -> Mark | None:
    """Return the mark of a request (its fields as JSON) under a key; None without one.

    Bound to the operation and, by the owner's keys, to the owner: the same key of another person is another key.
    """
    if key is None:
        return None
    words = json.dumps(request, sort_keys=True, separators=(",", ":"))

    def made(keys: OwnerKeys, made_id: str) -> Once:
        return Once(
            tag=keys.tag("idempotency", operation, key),
            fingerprint=keys.tag("request", operation, words),
            made=made_id,
            until=now + limits.IDEMPOTENCY_KEPT,
        )

    return made
