"""The moment, randomness and the death of a process, for tests. Import them from tests.fakes."""

import functools
import random as stdlib_random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar, cast

Port = TypeVar("Port")


class FakeClock:
    """A clock that stands still until it is moved; call it for the present moment in UTC."""

    def __init__(self, now: datetime = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float = 0, *, days: float = 0) -> None:
        """Move on by so many seconds and days; a negative number moves back."""
        self.now += timedelta(days=days, seconds=seconds)


class SeededRandom:
    """Bytes that look random and are the same for the same seed: a `Random` of shared/domain/ids.py."""

    def __init__(self, seed: int = 0) -> None:
        self._source = stdlib_random.Random(seed)
        self._lock = threading.Lock()

    def __call__(self, count: int) -> bytes:
        with self._lock:
            return self._source.randbytes(count)

    def fraction(self) -> float:
        """Return a number in [0, 1), for jitter."""
        with self._lock:
            return self._source.random()


class Crash(BaseException):
    """The process died here. Not an Exception, so that no handler of ours can swallow it."""


@dataclass
class Steps:
    """Counts the calls of all ports wrapped with it and ends the process, or fails, at one of them.

    `at` counts from 1 (None: never). `when="before"`: the call is not made; `"after"`: it is made and its answer lost.
    With the default `error` (Crash) every later call dies as well: a dead process makes none. With another error, such
    as `Unavailable`, only that one call fails. `log` names the calls made so far, as "MemoryTable.write".
    """

    at: int | None = None
    when: Literal["before", "after"] = "before"
    error: type[BaseException] = Crash
    log: list[str] = field(default_factory=list)
    dead: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def count(self) -> int:
        """How many calls were begun; run once with `at=None` to learn how many steps there are to die at."""
        return len(self.log)

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        """Make one counted call, or die before or after it."""
        with self._lock:
            if self.dead:
                raise Crash(name)
            self.log.append(name)
            due = self.at == len(self.log)
        if due and self.when == "before":
            self._end(name)
        answer = call()
        if due:
            self._end(name)
        return answer

    def _end(self, name: str) -> None:
        self.dead = issubclass(self.error, Crash)
        raise self.error(name)


class _Crashing:
    def __init__(self, port: object, steps: Steps) -> None:
        self._port, self._steps = port, steps

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._port, name)
        if name.startswith("_") or not callable(attribute):
            return attribute

        @functools.wraps(attribute)
        def counted(*args: Any, **kwargs: Any) -> Any:
            label = f"{type(self._port).__name__}.{name}"
            return self._steps.run(label, lambda: attribute(*args, **kwargs))

        return counted


def crashing(port: Port, steps: Steps) -> Port:
    """Return the port with every call counted in `steps`, which dies where it was told to."""
    return cast("Port", _Crashing(port, steps))
