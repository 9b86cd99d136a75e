"""The edge of the queue functions: which messages are to be delivered again, and what a delivery leaves in the log.

One owner's failure never holds another's messages: the rest of the failed group is delivered again, other groups go on. Bodies hold ids
and numbers; not even they are logged.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from shared.config import MissingSetting
from shared.domain.asking import ModelUnavailable
from shared.domain.errors import NacreError
from shared.observability import Fact, alarm, note, warn

Do = Callable[[str, str, int], Mapping[str, int]]
"""Does what a message says: its body, its receipt, how often it was delivered. Returns counts for the log."""


def deliver(work: str, event: dict[str, Any], context: Any, do: Do) -> PartialItemFailureResponse:
    """Do each message of the event and return those to deliver again."""
    if not event["Records"]:
        return {"batchItemFailures": []}
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False

    def one(record: SQSRecord) -> None:
        _noted(work, record, do)

    return process_partial_response(event=event, record_handler=one, processor=processor, context=context)


def _noted(work: str, record: SQSRecord, do: Do) -> None:
    started = time.perf_counter()
    receives = int(record.attributes.approximate_receive_count)
    known: dict[str, Fact] = {"message_id": record.message_id, "receives": receives}
    try:
        counts = do(record.body, record.receipt_handle, receives)
    except NacreError as error:
        answered = error.answered if isinstance(error, ModelUnavailable) else None
        warn(work, **known, error=error.code, provider_status=answered, ms=_since(started))
        raise
    except Exception as error:
        setting = error.name if isinstance(error, MissingSetting) else None
        alarm(work, **known, error="unexpected", kind=type(error).__name__, setting=setting, ms=_since(started))
        raise
    note(work, **known, **counts, ms=_since(started))


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
