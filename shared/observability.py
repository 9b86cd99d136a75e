"""Log lines: one JSON object each, with ids, counts, sizes and durations, never words of an owner.

Nothing is kept between two invocations: a line holds what its call says, and where something went wrong also whom the work around it is
for. Exceptions are named by type; their texts may quote what somebody wrote.
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache

from shared import config
from shared.domain.times import rfc3339

Fact = str | int | float | None | Sequence[str]
_TALKATIVE = ("boto3", "botocore", "s3transfer", "urllib3", "aws_lambda_powertools")
"""At level DEBUG these write bodies of requests and answers, plain data keys among them; our own level must never open them."""

_concerned: ContextVar[Mapping[str, Fact]] = ContextVar("concerned")


@contextmanager
def concerning(**facts: Fact) -> Iterator[None]:
    """Name whom the work inside is for, by the hash that names them in the bucket, in every line of what goes wrong with it: those who look
    after it need it for their commands. Lines of what goes well name nobody."""
    token = _concerned.set({**_concerned.get({}), **facts})
    try:
        yield
    finally:
        _concerned.reset(token)


def note(event: str, **facts: Fact) -> None:
    """Write what happened, at level INFO."""
    _write(logging.INFO, event, facts)


def warn(event: str, **facts: Fact) -> None:
    """Write what went wrong and was dealt with, at level WARN."""
    _write(logging.WARNING, event, facts)


def alarm(event: str, **facts: Fact) -> None:
    """Write what somebody must look at, at level ERROR."""
    _write(logging.ERROR, event, facts)


def quieten() -> None:
    """Hold other people's loggers at WARNING; to be called before the first AWS call, because Lambda gives the root logger `LOG_LEVEL`."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def _write(level: int, event: str, facts: dict[str, Fact]) -> None:
    stage, least = _settings()
    if level < least:
        return
    line: dict[str, Fact] = {
        "timestamp": rfc3339(datetime.now(UTC)),
        "level": "WARN" if level == logging.WARNING else logging.getLevelName(level),
        "service": "nacre",
        "stage": stage,
        "event": event,
    }
    if level > logging.INFO:
        facts = {**_concerned.get({}), **facts}
    line |= {name: fact for name, fact in facts.items() if fact is not None}
    sys.stdout.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


@cache
def _settings() -> tuple[str, int]:
    """Return the stage and the least level that is written."""
    settings = config.logs()
    quieten()
    return settings.stage, logging.getLevelNamesMapping()[settings.level]
