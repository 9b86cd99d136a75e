"""So many seconds for several calls together. What has not ended by then goes on by itself, and nobody waits for it.

A thread cannot be stopped: a call that is left behind ends with its own time limits (those of the AWS clients), and only then gives its
thread back. Lambda freezes it between two invocations.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TypeVar

Result = TypeVar("Result")
THREADS = 16


class Deadline:
    """Begins when it is made. `monotonic` returns seconds."""

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._end = monotonic() + seconds

    def wait(self, call: Callable[[], Result]) -> Result:
        """Return what the call returns, or raise what it raises. Raises TimeoutError when the time is over before."""
        future = _pool().submit(copy_context().run, call)
        return future.result(max(0.0, self._end - self._monotonic()))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="deadline")
