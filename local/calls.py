"""A log of the AWS calls that functions make: what, how large, at what cost, and in how many sequential steps.

Steps are counted by cause, not by the clock: a call's step is one more than the last step its thread knew to be over.
A thread knows its own finished calls, what its starter knew when it submitted the work to an executor, and all that a
future did once its result was fetched. Calls submitted side by side share a step even when this machine runs them one
after another. Parallel work must go through `concurrent.futures`.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from botocore import handlers

from local.emulation.metering import METER
from local.emulation.patches import Patches

_KEPT = 50_000


@dataclass(frozen=True)
class Call:
    """One AWS call. Times in seconds of `time.perf_counter`, sizes in bytes of the bodies, units as billed."""

    trace: str
    function: str
    service: str
    operation: str
    step: int
    started: float
    ended: float
    request_bytes: int
    response_bytes: int
    read_units: float
    write_units: float
    error: str | None
    thread: int


@dataclass(frozen=True)
class Cost:
    """What one invocation, or several together, took."""

    steps: int
    calls: int
    read_units: float
    write_units: float
    request_bytes: int
    response_bytes: int

    @staticmethod
    def of(calls: Iterable[Call]) -> "Cost":
        """Sum calls; steps are the longest chain."""
        chosen = list(calls)
        return Cost(
            steps=max((call.step for call in chosen), default=0),
            calls=len(chosen),
            read_units=sum(call.read_units for call in chosen),
            write_units=sum(call.write_units for call in chosen),
            request_bytes=sum(call.request_bytes for call in chosen),
            response_bytes=sum(call.response_bytes for call in chosen),
        )


class Trail:
    """How many steps one thread of one invocation knows to be over."""

    def __init__(self, trace: str, function: str, steps: int = 0) -> None:
        self.trace = trace
        self.function = function
        self.steps = steps

    def branch(self) -> "Trail":
        """The trail of work that this thread hands to an executor now."""
        return Trail(self.trace, self.function, self.steps)

    def join(self, other: "Trail") -> None:
        """Note that another thread's work is known to be over."""
        self.steps = max(self.steps, other.steps)


class _Followed(threading.local):
    """The trail of the thread's present work. Of the thread, not of the context: code may copy its context into threads."""

    trail: Trail | None = None


FOLLOWED = _Followed()


class CallLog:
    """The newest calls of all functions, in the order they ended."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()

    def add(self, call: Call) -> None:
        """Note one finished call."""
        with self._lock:
            self._calls.append(call)

    def all(self) -> list[Call]:
        """Every call still kept."""
        with self._lock:
            return list(self._calls)

    def of(self, trace: str) -> list[Call]:
        """The calls of one invocation; `trace` is its request id, for HTTP the header `apigw-requestid`."""
        return [call for call in self.all() if call.trace == trace]

    def cost(self, trace: str) -> Cost:
        """What one invocation took."""
        return Cost.of(self.of(trace))

    def clear(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._calls.clear()


def _length(body: Any) -> int:
    if body is None:
        return 0
    if isinstance(body, str):
        return len(body.encode())
    if isinstance(body, (bytes, bytearray)):
        return len(body)
    return len(body.getbuffer()) if hasattr(body, "getbuffer") else 0


def _received(answer: Any) -> int:
    if answer is None:
        return 0
    declared = answer.headers.get("content-length")
    return int(declared) if declared is not None else len(answer.content)


class _Recorder:
    """botocore event handlers that put the calls of traced threads into a log."""

    def __init__(self, log: CallLog) -> None:
        self.log = log

    def before(self, model: Any, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        """`before-call`: note what is called, when and at which step."""
        trail = FOLLOWED.trail
        if trail is None:
            return
        METER.reset()
        context["trail"] = (trail, model, trail.steps + 1, time.perf_counter(), _length(params.get("body")))

    def after(self, context: dict[str, Any], **answer: Any) -> None:
        """`after-call` and `after-call-error` (which does not say what was called): write the entry."""
        if "trail" not in context:
            return
        trail, model, step, started, sent = context.pop("trail")
        trail.steps = max(trail.steps, step)
        parsed = answer.get("parsed") or {}
        failure = answer.get("exception")
        self.log.add(
            Call(
                trace=trail.trace,
                function=trail.function,
                service=model.service_model.service_name,
                operation=model.name,
                step=step,
                started=started,
                ended=time.perf_counter(),
                request_bytes=sent,
                response_bytes=_received(answer.get("http_response")),
                read_units=METER.read_units,
                write_units=METER.write_units,
                error=type(failure).__name__ if failure else parsed.get("Error", {}).get("Code"),
                thread=threading.get_ident(),
            )
        )


_branches: WeakKeyDictionary[Any, Trail] = WeakKeyDictionary()


def _submit(original: Callable[..., Any]) -> Callable[..., Any]:
    def submit(self: Any, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        trail = FOLLOWED.trail
        if trail is None:
            return original(self, work, *arguments, **named)
        branch = trail.branch()

        def traced(*inner: Any, **inner_named: Any) -> Any:
            before, FOLLOWED.trail = FOLLOWED.trail, branch
            try:
                return work(*inner, **inner_named)
            finally:
                FOLLOWED.trail = before

        future = original(self, traced, *arguments, **named)
        _branches[future] = branch
        return future

    return submit


def _fetch(original: Callable[..., Any]) -> Callable[..., Any]:
    def fetch(self: Any, timeout: float | None = None) -> Any:
        try:
            return original(self, timeout)
        finally:
            trail, branch = FOLLOWED.trail, _branches.get(self)
            if trail is not None and branch is not None:
                trail.join(branch)

    return fetch


def install(patches: Patches, log: CallLog) -> None:
    """Log the calls of every boto3 client made from now on, and follow invocations into executors."""
    recorder = _Recorder(log)
    observed = [
        *handlers.BUILTIN_HANDLERS,
        ("before-call", recorder.before),
        ("after-call", recorder.after),
        ("after-call-error", recorder.after),
    ]
    reason = "botocore gives each new session its built-in handlers: the one place that sees clients made by any code"
    patches.replace(handlers, "BUILTIN_HANDLERS", observed, reason)
    reason = "a Lambda process runs one invocation, this one many: executors must know whose work they do"
    patches.replace(ThreadPoolExecutor, "submit", _submit(ThreadPoolExecutor.submit), reason)
    patches.replace(Future, "result", _fetch(Future.result), reason)
    patches.replace(Future, "exception", _fetch(Future.exception), reason)
