"""`python -m benchmarks [SIZE …]`: AWS calls, processor time of search, index and build, for owners of 100, 1,000 and 18,000 memories.

Everything runs on the local stack; see docs/benchmarks.md for the method. Ends with 1 when a budget is exceeded.
"""

import argparse
import os
import platform
import random
import sys
import time
from datetime import UTC, datetime

from benchmarks import operations, processor
from benchmarks.filling import conversations, fill
from benchmarks.requests import Person
from local.stack import Stack
from shared import bootstrap
from shared.bootstrap import recall
from shared.recall.building import Builder

SIZES = (100, 1_000, 18_000)
AT_ONCE = 40
"""Memories per journal object: the journal of a year is benchmarks.growth's business."""
FULL = 1_000
"""Memories from which on a query has as many candidates as are ever read."""
GROWTH = 2.0
"""Times that the processor time of a search may grow between the last two sizes, if both are full."""


def filled(stack: Stack, size: int) -> tuple[Person, list[str]]:
    """Return somebody with so many memories and an index of them, and the texts."""
    person = Person(stack, f"owner-of-{size}")
    made = list(conversations(random.Random(size), size, datetime.now(UTC), at_once=AT_ONCE))
    fill(bootstrap.vaults(), person.owner, made)
    return person, [memory.content for memories in made for memory in memories]


def index_line(person: Person) -> str:
    """Build the index and say what it took."""
    started = time.process_time()
    built = Builder(recall.indexes()).build(person.owner)
    seconds = time.process_time() - started
    if built is None:
        raise RuntimeError("nothing was indexed")
    each = built.size / built.memories
    return f"index: {built.size / 1e6:.3f} MB sealed, {each:.0f} bytes a memory, built in {seconds:.1f} s with moto's reads"


def search_line(spent: processor.Spent) -> str:
    """Say what a warm search takes of the processor."""
    said = [
        f"{name} p50 {processor.percentile(values, 0.5):.1f} p95 {processor.percentile(values, 0.95):.1f} ms"
        for name, values in (("process", spent.process), ("handler's thread", spent.thread))
    ]
    return f"search, processor time without moto: {', '.join(said)}; {spent.hits:.1f} hits"


def report(sizes: list[int]) -> bool:
    """Print everything of each size; return whether all budgets hold."""
    within, medians = True, []
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    with Stack.start(schedule=False, environment={"ACTIVE_LIMIT": "0", "DAILY_CONVERSATION_LIMIT": "0"}) as stack:
        for size in sizes:
            person, texts = filled(stack, size)
            print(f"\n{size} memories of one owner\n{index_line(person)}")
            spent = processor.measure(person, texts)
            medians.append(processor.percentile(spent.process, 0.5))
            print(f"{search_line(spent)}\n{operations.HEADER}", flush=True)
            for row in operations.rows(person):
                print(row, flush=True)
                within = within and row.within
    if len(medians) > 1 and sizes[-2] >= FULL:
        grown = medians[-1] / medians[-2]
        within = within and grown <= GROWTH
        print(
            f"\nsearch in {sizes[-1]} memories takes {grown:.1f} times the processor time of one in {sizes[-2]} (at most {GROWTH})"
        )
    print("all budgets hold" if within else "OVER BUDGET: see above")
    return within


def main(arguments: list[str]) -> int:
    """Print the figures; 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="AWS calls, units, bytes, processor time."
    )
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    return 0 if report(parser.parse_args(arguments).sizes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
