"""What the functions need for one owner of each size: `python -m benchmarks.footprint [SIZE …]` prints one line of JSON per size.

Each part runs in a process of its own that has imported its function: maintenance reads the owner's memories page by page and builds the
index; recall opens it and searches. Peaks are those of the whole process (`ru_maxrss`). Pages are made as they are asked for, so that no
table is in the figures; the making is not in the times, and neither is botocore.
"""

import argparse
import gc
import importlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.facts import queries
from benchmarks.filling import conversations
from shared.domain.ids import ulid
from shared.ports import Item, Page
from shared.recall.building import Builder
from shared.recall.index import Where
from shared.recall.indexes import Indexes
from shared.storage import items, names
from shared.storage.vaults import Opened, Vaults
from shared.text.tokens import query_terms
from tests.fakes import FakeClock, MemoryKeys, MemoryObjects, MemoryTable, SeededRandom

SIZES: Final = (1_000, 18_000, 50_000, 200_000)
OWNER: Final = "a" * 52
PAGE_BYTES: Final = 1_000_000
FUNCTION_MB: Final = 1_769
"""MemorySize of both functions in template.yaml."""


class Pages(MemoryTable):
    """A table that makes so many memories while they are read, once and in order."""

    def __init__(self, vaults_random: SeededRandom, size: int) -> None:
        super().__init__()
        self.seconds, self._random, self._size = 0.0, vaults_random, size
        self._made: Iterator[Item] | None = None
        self.vaults: Vaults | None = None

    def query(
        self, owner: str, prefix: str, *, after: str | None = None, limit: int | None = None, descending: bool = False
    ) -> Page:
        if prefix != names.MEMORY:
            return super().query(owner, prefix, after=after, limit=limit, descending=descending)
        started = time.process_time()
        self._made = self._made or self._making()
        page: list[Item] = []
        size = 0
        for item in self._made:
            page.append(item)
            size += len(str(item))
            if size > PAGE_BYTES:
                break
        self.seconds += time.process_time() - started
        return Page(page, str(page[-1]["sk"]) if size > PAGE_BYTES else None)

    def _making(self) -> Iterator[Item]:
        if self.vaults is None:
            raise ValueError("the pages want keys to seal with")
        keys = self.vaults.open_or_create(OWNER).keys
        for told in conversations(random.Random(self._size), self._size, FakeClock().now, at_once=400):
            commit = ulid(told[0].created_at, self._random)
            yield from (items.to_item(keys, items.seal(keys, memory, self._random), commit) for memory in told)


def world(size: int) -> tuple[Vaults, Pages, MemoryObjects]:
    """Return an owner with so many memories; two processes give the owner the same keys."""
    pages, objects = Pages(SeededRandom(3), size), MemoryObjects()
    vaults = Vaults(pages, objects, MemoryKeys(SeededRandom(7)), FakeClock(), SeededRandom(5))
    pages.vaults = vaults
    vaults.open_or_create(OWNER)
    return vaults, pages, objects


def build(size: int, file: Path) -> dict[str, float]:
    """Build as maintenance does; leave the sealed index in the file."""
    importlib.import_module("functions.maintenance.app")
    vaults, pages, objects = world(size)
    before, started = peak(), time.process_time()
    built = Builder(Indexes(vaults)).build(OWNER)
    if built is None or built.memories != size:
        raise RuntimeError("not all memories were indexed")
    seconds = time.process_time() - started - pages.seconds
    key = next(key for key in objects.keys() if "/index/" in key)  # noqa: SIM118 - no mapping
    stored = objects.get(key)
    file.write_bytes((stored.body if stored else b"") + key.rsplit("/", 1)[1].encode())
    return {"build_s": round(seconds, 1), "build_peak_mb": peak(), "build_grew_mb": peak() - before}


def search(size: int, file: Path) -> dict[str, float]:
    """Open the index of the file as recall does, and search in it."""
    importlib.import_module("functions.recall.app")
    vaults = world(0)[0]
    stored = file.read_bytes()
    body, pointer = stored[:-26], stored[-26:].decode()
    head: Item = {"sk": names.HEAD, "epoch": 1, "gen": 1, "memories": size, "index": pointer}
    opened = Opened(vaults.open_or_create(OWNER).keys, head, beside=body)
    before, started = peak(), time.process_time()
    index = Indexes(vaults).read(opened)
    seconds = time.process_time() - started
    told = conversations(random.Random(size), size, FakeClock().now, at_once=400)
    texts = [memory.content for memories in (next(told), next(told, [])) for memory in memories]
    times = []
    gc.freeze()
    for query in queries(texts, random.Random(5)):
        started = time.process_time()
        index.search(query_terms(query, now=FakeClock().now), where=Where(statuses=frozenset({0, 2}))).candidates()
        times.append((time.process_time() - started) * 1e3)
    return {
        "sealed_mb": round(len(body) / 1e6, 2),
        "index_mb": round(index.nbytes / 1e6, 1),
        "open_ms": round(seconds * 1e3, 1),
        "search_p50_ms": round(sorted(times)[len(times) // 2], 2),
        "search_p95_ms": round(sorted(times)[len(times) * 19 // 20], 2),
        "search_peak_mb": peak(),
        "search_grew_mb": peak() - before,
    }


def peak() -> int:
    """Return the most memory that this process ever had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measured(size: int) -> dict[str, float]:
    """Run both parts of one size and return their figures."""
    figures: dict[str, float] = {"memories": size}
    with tempfile.TemporaryDirectory() as folder:
        for part in ("build", "search"):
            command = [
                sys.executable,
                "-m",
                "benchmarks.footprint",
                str(size),
                "--part",
                part,
                "--file",
                f"{folder}/it",
            ]
            done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this very module
            figures |= json.loads(done.stdout)
    return figures


def main(arguments: Sequence[str]) -> int:
    """Print the figures; 1 when a peak leaves no room in the function's memory."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.footprint", description="Memory at each size.")
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--scale", type=int, default=max(SIZES), help="leave out sizes beyond this")
    parser.add_argument("--part", choices=("build", "search"), help="for the processes that this one starts")
    parser.add_argument("--file", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.part:
        print(json.dumps({"build": build, "search": search}[chosen.part](chosen.sizes[0], chosen.file)))
        return 0
    peaks = []
    for size in (size for size in chosen.sizes if size <= chosen.scale):
        figures = measured(size)
        peaks += [figures["build_peak_mb"], figures["search_peak_mb"]]
        print(json.dumps(figures), flush=True)
    return 1 if max(peaks, default=0) > 0.8 * FUNCTION_MB else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
