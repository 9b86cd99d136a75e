"""The work queue: learn from one conversation per message."""

from collections.abc import Mapping
from typing import Any

from shared.bootstrap import learning
from shared.queues import Failures, deliver


def learn(body: str, receipt: str, receives: int) -> Mapping[str, int]:
    return learning.delivery().learn(body, receipt, receives)


def handler(event: dict[str, Any], context: Any) -> Failures:  # noqa: ARG001 - Lambda calls it so
    """Answer which messages are to be delivered again."""
    return deliver("learn", event, learn)
