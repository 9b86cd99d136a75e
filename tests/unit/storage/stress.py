"""Writers, builders and searchers of one owner at once, on any ports, and a ledger of what was acknowledged."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from shared.domain.errors import Busy
from shared.domain.memory import Status
from shared.recall.search import Question
from tests.builders import Draft, Process
from tests.fakes import FakeClock

WRITERS, BUILDERS, SEARCHERS = 6, 2, 2
LIVING = 6
"""Memories a writer keeps at a time; fewer than search may answer."""


class WallClock(FakeClock):
    """The real time: builds and commits of this test happen one after the other."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


@dataclass
class Ledger:
    """What is known for certain: texts that search must find, and texts it must never find again."""

    present: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By memory: its writer and its text, from the acknowledgement on and until the next change begins."""
    over: set[tuple[str, str]] = field(default_factory=set)
    """Memories with texts that were edited away, dismissed or deleted, acknowledged."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begins(self, memory_id: str) -> None:
        with self.lock:
            self.present.pop(memory_id, None)

    def ended(self, memory_id: str, writer: int, *, old: str | None, new: str | None) -> None:
        with self.lock:
            if old is not None and old != new:
                self.over.add((memory_id, old))
            if new is not None:
                self.present[memory_id] = (writer, new)

    def seen(self, writer: int) -> tuple[dict[str, str], set[tuple[str, str]]]:
        """Return what a search that begins now must find of a writer, and what it must not find."""
        with self.lock:
            return {i: text for i, (who, text) in self.present.items() if who == writer}, set(self.over)


@dataclass
class Stress:
    """One run. `more` tells a worker that has done so many operations whether to go on."""

    owner: str
    process: Callable[[], Process]
    more: Callable[[int], bool]
    seed: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    done: dict[str, int] = field(default_factory=lambda: {"writes": 0, "builds": 0, "searches": 0, "busy": 0})
    wrong: list[str] = field(default_factory=list)
    writing: int = WRITERS
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Run to the end and raise the first error of any thread."""
        first = self.process()
        first.memories.add(self.owner, Draft("It is there before all others."))
        with ThreadPoolExecutor(WRITERS + BUILDERS + SEARCHERS) as pool:
            threads = [pool.submit(self._write, number) for number in range(WRITERS)]
            threads += [pool.submit(self._build) for _ in range(BUILDERS)]
            threads += [pool.submit(self._search_on, number) for number in range(SEARCHERS)]
            for thread in threads:
                thread.result()

    def _count(self, name: str) -> None:
        with self.lock:
            self.done[name] += 1

    def _write(self, number: int) -> None:
        try:
            process, random = self.process(), Random(f"{self.seed}-{number}")
            mine: dict[str, str] = {}
            done = 0
            while self.more(done):
                done += 1
                self._one_write(process, random, number, mine, done)
                if random.random() < 0.5:
                    self._search(process, number)
        finally:
            with self.lock:
                self.writing -= 1

    def _one_write(self, process: Process, random: Random, number: int, mine: dict[str, str], done: int) -> None:
        text = f"writer{number} says thing{done} of many."
        self._count("writes")
        if not mine or (len(mine) < LIVING and random.random() < 0.5):
            made = process.memories.add(self.owner, Draft(text)).memory
            mine[made.id] = text
            self.ledger.ended(made.id, number, old=None, new=text)
            return
        memory_id = random.choice(sorted(mine))
        old = mine[memory_id]
        self.ledger.begins(memory_id)
        kind = random.choice(["edit", "edit", "dismiss", "delete"])
        if kind == "edit":
            process.edits.edit(self.owner, memory_id, {"content": text}, None)
            mine[memory_id] = text
        elif kind == "dismiss":
            process.edits.edit(self.owner, memory_id, {"status": Status.DISMISSED}, None)
            del mine[memory_id]
        else:
            process.edits.delete(self.owner, memory_id, None)
            del mine[memory_id]
        self.ledger.ended(memory_id, number, old=old, new=mine.get(memory_id))

    def _build(self) -> None:
        process = self.process()
        while self.writing:
            process.builder.build(self.owner)
            self._count("builds")
            time.sleep(0)

    def _search_on(self, number: int) -> None:
        process, random = self.process(), Random(f"{self.seed}-searcher-{number}")
        while self.writing:
            self._search(process, random.randrange(WRITERS))

    def _search(self, process: Process, writer: int) -> None:
        must, never = self.ledger.seen(writer)
        try:
            answer = process.searcher.search(self.owner, Question(f"writer{writer}", limit=50))
        except Busy:
            self._count("busy")
            return
        self._count("searches")
        found = {hit.memory.id: hit.memory.content for hit in answer.hits}
        still, _ = self.ledger.seen(writer)
        for memory_id, text in must.items():
            if still.get(memory_id) == text and found.get(memory_id) != text:
                self.wrong.append(f"an acknowledged write of writer {writer} was missed")
        for memory_id, text in found.items():
            if (memory_id, text) in never:
                self.wrong.append(f"a deleted or old text of writer {writer} was found")
