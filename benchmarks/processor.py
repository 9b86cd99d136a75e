"""Processor time of a search in the handler, with moto out of the way.

Every query is asked once while moto answers and its AWS answers are kept; then it is asked again with those answers given back by
botocore's `before-send` event, which is where a connection would begin. What is measured is all that Lambda would spend but the TLS
connection: event, validation, botocore's building, signing and parsing of each call, search, opening, ranking, JSON. Objects that exist
before (moto's state) are frozen out of the garbage collector's sight. Whole process: threads of parallel calls included.
"""

import gc
import json
import random
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import boto3
from botocore import handlers
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber

from benchmarks.facts import queries
from benchmarks.requests import Person
from functions.recall.app import handler
from local.invocation import Context
from shared.domain.ids import ULID

REPEATS: Final = 5
_ID: Final = re.compile(ULID)


class Tape:
    """Keeps the answers of AWS calls by what was asked for, and gives them back; `missed` counts calls it did not know."""

    def __init__(self) -> None:
        self.replaying = False
        self.missed = 0
        self._answers: dict[object, tuple[int, Any, bytes]] = {}

    def __call__(self, event_name: str, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        """`before-send`: answer instead of the network."""
        asked = self._asked(event_name, request)
        known = self._answers.get(asked) if self.replaying else None
        if known is None:
            self.missed += self.replaying
            answered = botocore_stubber.process_request(request)
            if answered is None:
                raise LookupError("nobody here answers this call")  # never the network
            status, headers, body = answered
            known = int(status), headers, body.encode() if isinstance(body, str) else body
            self._answers[asked] = known
        status, headers, body = known
        return AWSResponse(request.url, status, headers, MockRawResponse(body))

    @staticmethod
    def _asked(event_name: str, request: AWSPreparedRequest) -> object:
        """What makes two requests the same: the operation, the path, and the ids in the body whatever their order; never the time."""
        body = request.body or b""
        text = body.decode() if isinstance(body, bytes) else str(body)
        return event_name, request.url, frozenset(_ID.findall(text)), '"z"' in text


@contextmanager
def taped(person: Person) -> Iterator[Tape]:
    """Put a tape in moto's place for all clients that functions make from now on; every function starts cold.

    In its place and not before it, for botocore asks every handler of the event and only then takes the first answer.
    """
    tape, before = Tape(), handlers.BUILTIN_HANDLERS
    handlers.BUILTIN_HANDLERS = [("before-send", tape), *(one for one in before if one[1] is not botocore_stubber)]
    boto3.setup_default_session()
    person.stack.functions.reload()
    try:
        yield tape
    finally:
        handlers.BUILTIN_HANDLERS = before
        boto3.setup_default_session()
        person.stack.functions.reload()


def event(person: Person, query: str) -> dict[str, Any]:
    """The API Gateway event of one search."""
    claims = {"iss": person.issuer, "sub": person.name}
    return {
        "version": "2.0",
        "routeKey": "POST /v1/search",
        "rawPath": "/v1/search",
        "rawQueryString": "",
        "headers": {"content-type": "application/json"},
        "requestContext": {
            "requestId": "benchmark",
            "stage": "$default",
            "http": {"method": "POST", "path": "/v1/search"},
            "authorizer": {"jwt": {"claims": claims, "scopes": None}},
        },
        "body": json.dumps({"query": query}),
        "isBase64Encoded": False,
    }


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds of processor time per search: the whole process, and the handler's own thread."""

    process: tuple[float, ...]
    thread: tuple[float, ...]
    hits: float

    def __str__(self) -> str:
        """The line of figures."""
        said = [
            f"{name} p50 {percentile(values, 0.5):.1f} p95 {percentile(values, 0.95):.1f} ms"
            for name, values in (("process", self.process), ("handler's thread", self.thread))
        ]
        return f"search, processor time without moto: {', '.join(said)}; {self.hits:.1f} hits"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure(person: Person, texts: Sequence[str]) -> Spent:
    """Ask every query once for the tape and several times from it."""
    events = [event(person, query) for query in queries(texts, random.Random(5))]
    context = Context("recall", "1769", "benchmark", time.monotonic() + 3_600)
    process, thread = [], []
    with taped(person) as tape:
        hits = [len(json.loads(handler(made, context)["body"])["memories"]) for made in events]
        tape.replaying = True
        gc.collect()
        gc.freeze()
        for _ in range(REPEATS):
            for made in events:
                starts = time.process_time(), time.thread_time()
                handler(made, context)
                process.append((time.process_time() - starts[0]) * 1e3)
                thread.append((time.thread_time() - starts[1]) * 1e3)
        gc.unfreeze()
    if tape.missed:
        raise LookupError("a call was made that is not on the tape: moto's time would be in the figures")
    return Spent(tuple(process), tuple(thread), statistics.mean(hits))
