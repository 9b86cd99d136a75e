"""The schedule asks for the maintenance of whoever is due; the maintenance queue brings one owner per message."""

from collections.abc import Mapping
from typing import Any

from shared.bootstrap import maintenance
from shared.queues import Failures, deliver


def tidy(body: str, receipt: str, receives: int) -> Mapping[str, int]:  # noqa: ARG001 - every queue's messages come like this
    return maintenance.duties().do(body, receipt)


def handler(event: dict[str, Any], context: Any) -> Failures | dict[str, int]:  # noqa: ARG001 - Lambda calls it so
    """Answer the schedule (or an operator's call) with the number of owners asked for, the queue with what to deliver again."""
    if "Records" in event:
        return deliver("tidy", event, tidy)
    return maintenance.duties().ask(event)
