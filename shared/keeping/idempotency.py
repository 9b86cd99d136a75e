"""What makes a POST with an Idempotency-Key happen once. Neither the key nor the request can be read from what is stored."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.storage.transactions import Once

Mark = Callable[[OwnerKeys, str], Once]
"""Makes the mark from the owner's keys and the id of what the request makes."""


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
