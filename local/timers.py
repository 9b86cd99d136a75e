"""Timers that stand for the template's schedules."""

import threading
from collections.abc import Callable, Sequence

from local.resources import Schedule

Wait = Callable[[float], bool]


def keep_running(schedule: Schedule, run: Callable[[Schedule], None], wait: Wait) -> None:
    """Run a schedule after each of its periods until `wait(seconds)` answers True; one that is no rate never runs."""
    if schedule.seconds is None:
        return
    while not wait(schedule.seconds):
        run(schedule)


def start(schedules: Sequence[Schedule], run: Callable[[Schedule], None], wait: Wait) -> None:
    """Give each schedule a thread of its own."""
    for schedule in schedules:
        threading.Thread(target=keep_running, args=(schedule, run, wait), name="timer", daemon=True).start()
