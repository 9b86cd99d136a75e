"""`python -m benchmarks [SIZE …] [--scale N]`: AWS calls, processor time of search, index and build, for owners of 100 to 200,000 memories.

Everything runs on the local stack; see docs/benchmarks.md for the method. Ends with 1 when a budget is exceeded.
"""

import argparse
import os
import platform
import sys
from collections.abc import Sequence

from benchmarks import operations, processor
from benchmarks.scale import HEADER, Grown, filled, indexed
from local.stack import Stack

SIZES = (100, 1_000, 18_000, 50_000, 200_000)
UNBOUNDED = {
    "ACTIVE_LIMIT": "0",
    "DAILY_CONVERSATION_LIMIT": "0",
    "QUOTA_MEGABYTES": "1000",
    "CONTEXT_MILLISECONDS": "30000",
}
"""The default quota of 100 MB ends at some 80,000 memories whose journal is not folded. Steps are counted on machines of any speed."""
FULL = 1_000
"""Memories from which on a query has as many candidates as are ever read."""
GROWTH = 2.0
"""Times that the processor time of a search may grow from the smallest full size to a year's 18,000."""
YEAR = 18_000
INSIDE = 15.0
"""Milliseconds of processor time that the search inside an index may take, 95 of 100 times, at any size."""


def measured(stack: Stack, size: int) -> Grown:
    """Print everything of one size and return it."""
    person, texts = filled(stack, size)
    index = indexed(person, texts)
    each = index.size / index.memories
    print(f"\n{size} memories of one owner")
    print(
        f"index: {index.size / 1e6:.3f} MB sealed, {each:.0f} bytes a memory, built in {index.built:.1f} s with moto's reads"
    )
    spent = processor.measure(person, texts)
    print(f"{spent}\n{operations.HEADER}", flush=True)
    rows = []
    for row in operations.rows(person):
        print(row, flush=True)
        rows.append(row)
    return Grown(size, index, spent, rows)


def over(sizes: Sequence[Grown]) -> list[str]:
    """Return what is over its budget, in words."""
    found = [f"{row.operation}, {row.state}, in {one.size}" for one in sizes for row in one.rows if not row.within]
    for one in sizes:
        inside = processor.percentile(one.index.searched, 0.95)
        found += [f"inside the index of {one.size}: p95 {inside:.1f} ms"] if inside > INSIDE else []
    medians = {one.size: processor.percentile(one.spent.process, 0.5) for one in sizes if FULL <= one.size <= YEAR}
    if len(medians) > 1:
        grown = medians[max(medians)] / medians[min(medians)]
        print(f"\nsearch in {max(medians)} memories: {grown:.1f} times that in {min(medians)} (at most {GROWTH})")
        found += ["the processor time of a search"] if grown > GROWTH else []
    return found


def main(arguments: list[str]) -> int:
    """Print the figures; 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="AWS calls, units, bytes, processor time."
    )
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--scale", type=int, default=max(SIZES), help="leave out sizes beyond this")
    chosen = parser.parse_args(arguments)
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    with Stack.start(schedule=False, environment=UNBOUNDED) as stack:
        sizes = [measured(stack, size) for size in chosen.sizes if size <= chosen.scale]
    print("", HEADER, *sizes, sep="\n")
    exceeded = over(sizes)
    print(f"OVER BUDGET: {'; '.join(exceeded)}" if exceeded else "all budgets hold")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
