"""Several calls as one step: run at once, waited for together."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

Result = TypeVar("Result")
THREADS = 16


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="together")


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Return what each call returns, in order. The last call runs in the caller's thread.

    All calls end before the first error, in the order given, is raised.
    """
    if len(calls) == 1:
        return [calls[0]()]
    futures = [_pool().submit(copy_context().run, call) for call in calls[:-1]]
    try:
        last = calls[-1]()
    finally:
        for future in futures:
            future.exception()
    return [future.result() for future in futures] + [last]


def each(action: Callable[[Any], Result], things: Iterable[Any]) -> list[Result]:
    """Do the same to each thing, at once, and return the results in order."""
    listed = list(things)
    if not listed:
        return []
    return together(*[lambda thing=thing: action(thing) for thing in listed])
