"""Taking everything along and bringing it back: time, memory and AWS calls of the requests and of maintenance.

`python -m benchmarks.portability [MEMORIES …]`, 5,000 and 20,000 unless said. The ports are the in-memory ones of the tests, so times are
processor time without a network; a call is one round trip. Memory is what one request or one visit takes at most beside the stores
(tracemalloc, in a run of its own, of every fourth time). Ends with 1 when that grows with the number of memories, or when not all
come back.
"""

import argparse
import os
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from benchmarks.filling import conversations, fill
from shared.keeping.cursors import Cursors
from shared.keeping.exporting.pages import Exporting, Wish
from shared.keeping.importing.applying import Import
from shared.keeping.importing.receiving import Received
from shared.keeping.maintenance.visits import begun
from tests.builders import World
from tests.unit.importing.sending import Page

Result = TypeVar("Result")
SIZES: Final = (5_000, 20_000)
GROWTH: Final = 2.0
"""Times that the memory of a request or a visit may grow from the smallest to the largest size."""
QUOTA: Final = 10**9
TRACED: Final = 4
WORK: Final = ("export, a page", "import, a page", "import, a visit of maintenance", "index after a visit")


@dataclass(slots=True)
class Spent:
    """What one kind of work took: seconds and calls of all times together; and, where it is `traced`, peak bytes of the worst one."""

    what: str
    traced: bool = False
    times: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    calls: int = 0
    peak: int = 0

    def measure(self, world: World, work: Callable[[], Result]) -> Result:
        """Do some of the work in a process with nothing warm. Of work that is traced, one of so many is."""
        steps = world.restart()
        tracing = self.traced and self.times % TRACED == 0
        if tracing:
            tracemalloc.start()
        began = time.process_time()
        result = work()
        spent = time.process_time() - began
        if tracing:
            kept, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            self.peak = max(self.peak, peak - kept)
        self.times, self.seconds, self.calls = self.times + 1, self.seconds + spent, self.calls + steps.count
        self.slowest = max(self.slowest, spent)
        return result


@dataclass(frozen=True, slots=True)
class Moved:
    """One move from one owner to another: the file's bytes, how many memories came back, and what each kind of work took."""

    size: int
    arrived: int
    spent: Sequence[Spent]


def moved(here: World, *, traced: bool) -> Moved:
    """Export everything, and import it for somebody else."""
    there = World(owner="b" * 52, seed=9, quota=QUOTA)
    there.clock.now = here.clock.now
    exporting, receiving, taking = (Spent(what, traced) for what in WORK[:3])
    building = Spent(WORK[3])
    pages = _exported(here, exporting)
    received: Received | None = None
    for number, data in enumerate(pages, 1):
        page = Page(data, received.task_id if received else None, last=number == len(pages))
        received = receiving.measure(there, lambda page=page: there.now.importing.receive(there.owner, page))  # type: ignore[misc]
    arrived = 0
    while any("/imports/" in key for key in there.objects.keys()):  # noqa: SIM118 - no mapping
        arrived += taking.measure(there, lambda: _visited(there))
        building.measure(there, lambda: there.now.builder.build(there.owner))
    return Moved(sum(len(page.encode()) for page in pages), arrived, (exporting, receiving, taking, building))


def main(arguments: Sequence[str]) -> int:
    """Print the figures of each size; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.portability", description=__doc__)
    parser.add_argument("memories", type=int, nargs="*", default=list(SIZES))
    os.environ |= {"STAGE": "benchmark", "LOG_LEVEL": "ERROR"}
    peaks: dict[int, list[int]] = {}
    lost = 0
    for count in parser.parse_args(arguments).memories:
        world = World(quota=QUOTA)
        memories = fill(world.now.vaults, world.owner, conversations(random.Random(7), count, world.clock()))
        timed = moved(world, traced=False)
        print(f"\n{memories} memories, {timed.size / 1e6:.1f} MB as a file, {timed.arrived} arrived")
        print(f"{'':32} {'times':>5} {'all, s':>7} {'slowest':>8} {'calls':>7}")
        for one in timed.spent:
            print(f"{one.what:32} {one.times:5} {one.seconds:7.1f} {one.slowest:8.1f} {one.calls:7}", flush=True)
        traced = moved(world, traced=True)
        peaks[count] = [one.peak for one in traced.spent[:3]]
        told = (f"{one.what} {one.peak / 1e6:.1f} MB" for one in traced.spent[:3])
        print(f"memory at most: {'; '.join(told)}", flush=True)
        lost += 2 * memories - timed.arrived - traced.arrived
    grown = any(last > GROWTH * first for first, last in zip(peaks[min(peaks)], peaks[max(peaks)], strict=True))
    if grown or lost:
        print("memory grows with the number of memories" if grown else f"{lost} memories did not come back")
    return int(grown or lost > 0)


def _exported(world: World, spent: Spent) -> list[str]:
    pages: list[str] = []
    cursor: str | None = None
    cursors = Cursors(world.random)
    while True:

        def page(cursor: str | None = cursor) -> tuple[str, str | None]:
            made = Exporting(world.now.vaults, cursors, world.now.auditing).page(world.owner, Wish(), cursor)
            return made.data, made.next_cursor

        data, cursor = spent.measure(world, page)
        pages.append(data)
        if cursor is None:
            return pages


def _visited(world: World) -> int:
    """Let maintenance take in what one visit may; return how many memories that were."""
    world.clock.advance(1)
    visit = begun(world.now.vaults, world.owner, world.clock())
    return int(Import(world.now.commits).run(visit).get("imported", 0)) if visit else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
