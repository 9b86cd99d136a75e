"""Runs the real handlers as Lambda would: own request id, time limit, JSON in and out, nothing of an error to the caller."""

import functools
import importlib
import json
import logging
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from local.calls import FOLLOWED, Trail
from local.resources import ACCOUNT, REGION, Function

log = logging.getLogger("local")
_OWN_PACKAGES = ("functions", "shared")
_FAILURES_KEPT = 100
_ENVIRONMENTS = 16
Handler = Callable[[Any, Any], Any]


class FunctionFailed(Exception):
    """The handler raised, or answered something that is not JSON. Lambda calls this a function error."""


class FunctionTimedOut(Exception):
    """The handler did not answer in time. Its thread runs on: Python cannot stop it, Lambda would."""


@dataclass(frozen=True)
class Context:
    """What Lambda's Python runtime hands to a handler beside the event."""

    function_name: str
    memory_limit_in_mb: str
    aws_request_id: str
    deadline: float
    function_version: str = "$LATEST"
    log_stream_name: str = "local"
    identity: None = None
    client_context: None = None

    @property
    def invoked_function_arn(self) -> str:
        """The function's ARN."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        """Where the function's log would go."""
        return f"/aws/lambda/{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the time limit, never below zero."""
        return max(0, int((self.deadline - time.monotonic()) * 1000))


def _place(problem: BaseException) -> str:
    frames = traceback.extract_tb(problem.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"


class _Environments:
    """Execution environments: copies of a handler's modules, each used by one invocation at a time.

    Handlers may keep state in their modules, as Lambda allows, so two invocations must never share one copy.
    """

    def __init__(self, overrides: Mapping[str, Handler]) -> None:
        self._overrides = overrides
        self._idle: dict[str, list[Handler]] = {}
        self._made: dict[str, int] = {}
        self._generation = 0
        self._changed = threading.Condition()
        self._importing = threading.Lock()

    def take(self, path: str) -> tuple[int, Handler]:
        """An idle environment of a handler, or a new one, or the next to become idle once many exist."""
        with self._changed:
            while not self._idle.get(path) and self._made.get(path, 0) >= _ENVIRONMENTS:
                self._changed.wait()
            if self._idle.get(path):
                return self._generation, self._idle[path].pop()
            self._made[path] = self._made.get(path, 0) + 1
            generation = self._generation
        try:
            return generation, self._load(path)
        except BaseException:
            self.give_back(path, generation, None)
            raise

    def give_back(self, path: str, generation: int, handler: Handler | None) -> None:
        """Return an environment; one that is broken (None) or older than the last reload is dropped."""
        with self._changed:
            if generation == self._generation:
                if handler is None:
                    self._made[path] -= 1
                else:
                    self._idle.setdefault(path, []).append(handler)
            self._changed.notify_all()

    def _load(self, path: str) -> Handler:
        if path in self._overrides:
            return self._overrides[path]
        module, _, name = path.rpartition(".")
        with self._importing:
            for loaded in [one for one in sys.modules if one.startswith("functions.")]:
                del sys.modules[loaded]
            handler: Handler = getattr(importlib.import_module(module), name)
        return handler

    def forget(self) -> None:
        """Drop every environment and empty all `functools` caches of the service's own code."""
        with self._changed:
            self._idle.clear()
            self._made.clear()
            self._generation += 1
            self._changed.notify_all()
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] in _OWN_PACKAGES:
                _empty_caches(module)


class Functions:
    """The handlers of one deployment, imported on first use.

    `overrides` gives handlers by the path that the template names, for tests of the stack itself.
    """

    def __init__(self, functions: Mapping[str, Function], overrides: Mapping[str, Handler] | None = None) -> None:
        self._functions = functions
        self._environments = _Environments(overrides or {})
        self._lock = threading.Lock()
        self.failures: list[tuple[str, BaseException]] = []
        self.invocations: Counter[str] = Counter()

    def reload(self) -> None:
        """Make every next invocation a cold start."""
        self._environments.forget()

    def invoke(self, name: str, event: Mapping[str, Any], request_id: str, limit: float | None = None) -> Any:
        """Run one function and return its answer as JSON gives it back.

        `limit` in seconds is the caller's own patience, beside the function's time-out.
        Raises FunctionFailed or FunctionTimedOut.
        """
        function = self._functions[name]
        patience = min(function.timeout, limit) if limit is not None else function.timeout
        outcome: dict[str, Any] = {}
        done = threading.Event()

        def run() -> None:
            FOLLOWED.trail = Trail(request_id, name)
            try:
                outcome["answer"] = self._run(function, json.dumps(event), request_id)
            except BaseException as problem:  # noqa: BLE001  (Lambda turns whatever a handler raises into an answer)
                outcome["problem"] = problem
            finally:
                done.set()

        with self._lock:
            self.invocations[name] += 1
        threading.Thread(target=run, name=f"{name}-{request_id}", daemon=True).start()
        if not done.wait(patience):
            log.error("function %s timed out", name)
            raise FunctionTimedOut(name)
        if "problem" in outcome:
            self._note(name, outcome["problem"])
            raise FunctionFailed(name)
        return outcome["answer"]

    def _run(self, function: Function, event: str, request_id: str) -> Any:
        generation, handler = self._environments.take(function.handler)
        context = Context(function.name, str(function.memory), request_id, time.monotonic() + function.timeout)
        try:
            return json.loads(json.dumps(handler(json.loads(event), context)))
        finally:
            self._environments.give_back(function.handler, generation, handler)

    def _note(self, name: str, problem: BaseException) -> None:
        with self._lock:
            self.failures = [*self.failures[1 - _FAILURES_KEPT :], (name, problem)]
        # The place and the kind only: an exception's text may quote what a person wrote.
        log.error("function %s failed: %s at %s", name, type(problem).__name__, _place(problem))


def _empty_caches(module: ModuleType) -> None:
    for value in list(vars(module).values()):
        if isinstance(value, functools._lru_cache_wrapper):
            value.cache_clear()
