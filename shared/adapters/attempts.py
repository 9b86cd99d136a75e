"""The one layer of retries towards a model: what may pass is asked again, within the seconds that the caller gave."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from shared.adapters.faults import Sleep, pause
from shared.domain.asking import ModelRefused, ModelTimeout, ModelUnavailable
from shared.domain.ids import Random

ATTEMPT_SECONDS: Final = 30.0
LEAST_SECONDS: Final = 0.5
"""With less than this left no attempt begins."""
REPEATS: Final = 2
PAUSE_BASE: Final = 0.5
PAUSE_MOST: Final = 8.0

Monotonic = Callable[[], float]
"""Seconds since some fixed moment."""
Answered = TypeVar("Answered")
Form = TypeVar("Form")
"""How a question is put; providers and models take different ones."""


class Passing(Exception):
    """An attempt failed in a way that may pass. `problem` is raised when it does not; `after` are the seconds the provider asked for."""

    def __init__(self, problem: ModelUnavailable, after: float = 0.0) -> None:
        super().__init__(problem.code)
        self.problem = problem
        self.after = after


class FormRefused(Exception):
    """The request is not taken in this form; `complaint` is the reason in lower case, to be searched and never shown.

    `answered` is the HTTP status that it came with.
    """

    def __init__(self, complaint: str, answered: int) -> None:
        super().__init__("the provider does not take this form")
        self.complaint, self.answered = complaint, answered


@dataclass(frozen=True, slots=True)
class Attempts:
    """`sleep` waits between attempts, `random` gives jitter."""

    clock: Monotonic
    sleep: Sleep
    random: Random

    def begin(self, deadline: float) -> "Course":
        """Start a question that may take `deadline` seconds from now."""
        return Course(self, self.clock() + deadline)


class Course:
    """The attempts at one question. Its repeats are counted over all forms in which the question is put."""

    def __init__(self, attempts: Attempts, end: float) -> None:
        self._with = attempts
        self._end = end
        self._repeats = 0

    def run(self, attempt: Callable[[float], Answered]) -> Answered:
        """Return what `attempt(seconds)` returns; `seconds` is the most that it may take. Raises ModelTimeout when none are left."""
        while True:
            left = self._end - self._with.clock()
            if left < LEAST_SECONDS:
                raise ModelTimeout
            try:
                return attempt(min(ATTEMPT_SECONDS, left))
            except Passing as fault:
                self._wait(fault)

    def settle(
        self, form: Form, attempt: Callable[[Form, float], Answered], weaker: Callable[[Form, str], Form | None]
    ) -> tuple[Answered, Form]:
        """Return the answer and the form that it was given to, the first from `form` downwards.

        `weaker(form, complaint)` gives the next one, None when there is none: then ModelRefused is raised.
        """
        while True:
            try:
                return self.run(partial(attempt, form)), form
            except FormRefused as refused:
                next_form = weaker(form, refused.complaint)
                if next_form is None:
                    raise ModelRefused(refused.answered) from None
                form = next_form

    def _wait(self, fault: Passing) -> None:
        """Wait before the next attempt; raise the problem when there is none, or not in time."""
        jitter = pause(self._repeats, self._with.random, base=PAUSE_BASE, most=PAUSE_MOST)
        wait = fault.after + jitter
        if self._repeats == REPEATS or self._with.clock() + wait + LEAST_SECONDS > self._end:
            raise fault.problem from None
        self._repeats += 1
        self._with.sleep(wait)
