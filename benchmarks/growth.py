"""How an owner's store grows at 50 facts a day: each learned through journal and transaction, every week folded and indexed.

`python -m benchmarks.growth [--days N] [--data DIR]`. The ports are the in-memory ones of the tests: bytes are those of the service's own
code, and a year takes minutes, not hours. Facts are made up; with `--data` they are the real sentences of the labelled sets. Measured
twice: without a limit of active memories, and with the template's own, where each fact is later archived and so gets a second version.
"""

import argparse
import json
import random
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Final

from benchmarks.facts import facts
from benchmarks.filling import A_DAY, conversations
from shared.domain.ids import ulid
from shared.domain.memory import Memory, Status
from shared.ports import Item
from shared.recall.building import Builder
from shared.recall.indexes import Indexes
from shared.storage import items, lines, names
from shared.storage.commit import Commits
from shared.storage.fold import Fold
from shared.storage.items import Sealed, Stored
from shared.storage.journal import Journal
from shared.storage.repair import Repair
from shared.storage.transactions import Change, Limits
from shared.storage.vaults import Vaults
from tests.fakes import FakeClock, MemoryKeys, MemoryObjects, MemoryQueue, MemoryTable, SeededRandom

BUDGET: Final = 30_000_000
"""Bytes per owner and year at 50 facts a day, over journal, table and index together."""
YEAR: Final = 365
ACTIVE_LIMIT: Final = 200
"""The template's own."""
OWNER: Final = "a" * 52
END: Final = FakeClock().now + timedelta(days=YEAR)


@dataclass(frozen=True, slots=True)
class Grown:
    """Bytes after so many days; `unfolded` is what the journal took before it was folded."""

    days: int
    memories: int
    unfolded: int
    journal: int
    table: int
    index: int

    @property
    def a_year(self) -> float:
        """Bytes after a year, as if the rest of it grew like these days."""
        return (self.journal + self.table + self.index) * YEAR / self.days


class World:
    """One owner's life from its first day; `active_limit` 0 means none."""

    def __init__(self, active_limit: int) -> None:
        self.clock, chance = FakeClock(), SeededRandom(7)
        self.table, self.objects = MemoryTable(), MemoryObjects()
        self.vaults = Vaults(self.table, self.objects, MemoryKeys(chance), self.clock, chance)
        self.commits = Commits(self.vaults, Limits(10**9, active_limit), MemoryQueue(self.clock))
        self.active_limit = active_limit
        self.active: deque[str] = deque()
        self.keys = self.vaults.open_or_create(OWNER).keys

    def live(self, days: int, facts_told: Iterable[str]) -> Grown:
        """Learn for so many days and fold and index every week."""
        unfolded, folded_at = 0, self.clock()
        for memories in conversations(random.Random(7), days * A_DAY, END, texts=facts_told):
            self.clock.now = memories[0].created_at
            if self.clock() - folded_at >= timedelta(days=7):
                folded_at = self.clock()
                unfolded += self._tidy(folded_at)
            self._learn(memories)
        unfolded += self._tidy(END + timedelta(hours=2))
        head, sizes = self._head(), self._journal()
        index = int(head["index_bytes"])
        table = int(head["bytes"]) - int(head["journal_bytes"]) - index
        return Grown(days, int(head["memories"]), unfolded, sizes.total(), table, index)

    def _learn(self, memories: list[Memory]) -> None:
        """Do what a task's plan does: one journal object, then one transaction per step, the oldest archived first."""
        commit = ulid(self.clock(), self.vaults.random)
        steps: list[tuple[Stored | None, Sealed]] = []
        if self.active_limit:
            while len(self.active) + len(memories) > self.active_limit:
                steps.append(self._archived(self.active.popleft()))
        steps += [(None, items.seal(self.keys, memory, self.vaults.random)) for memory in memories]
        body = lines.encode(sealed.line for _, sealed in steps)
        self.objects.put(names.journal(OWNER, self.keys.epoch, commit), body, if_absent=True)
        for before, sealed in steps:
            self.commits.apply(self.keys, before, sealed, commit, len(sealed.line.encode()))
        self.active.extend(memory.id for memory in memories)

    def _archived(self, memory_id: str) -> tuple[Stored, Sealed]:
        sk = names.MEMORY + memory_id
        before = items.from_item(self.keys, self.table.get(OWNER, [sk])[sk])
        after = Change(before, replace(before.memory, status=Status.ARCHIVED)).next()
        if after is None:
            raise ValueError("an archived memory is still one")
        return before, items.seal(self.keys, after, self.vaults.random)

    def _tidy(self, now: datetime) -> int:
        """Repair, fold, index; return the bytes that were not folded before."""
        before = self._journal()["small"]
        journal = Journal(self.objects, self.keys, self.vaults.random)
        Fold(journal, Repair(self.commits, self.keys, journal, now).run(), now, self.table).fold()
        Builder(Indexes(self.vaults)).build(OWNER)
        return before - self._journal()["small"]

    def _head(self) -> Item:
        return self.table.get(OWNER, [names.HEAD])[names.HEAD]

    def _journal(self) -> Counter[str]:
        prefix = names.journal(OWNER, self.keys.epoch)
        sizes: Counter[str] = Counter()
        for name in self.objects.names(prefix):
            sizes["folded" if names.FOLDED in name.key.removeprefix(prefix) else "small"] += name.size
        return sizes


def texts(data: Path | None) -> Iterator[str]:
    """Yield facts without end. Real sentences come round again after some thousands: far beyond what deflate sees at once."""
    if data is None:
        yield from facts(random.Random(7))
    chosen = [line for name in ("locomo-fact", "cmrc-sent") for line in _sentences(data or Path(), name)]
    random.Random(7).shuffle(chosen)
    for place, text in enumerate(cycle(chosen)):
        yield text if place < len(chosen) else f"{text} ({place // len(chosen)})"


def _sentences(data: Path, name: str) -> list[str]:
    lines = (data / name / "docs.jsonl").read_text("utf-8").split("\n")
    return list(dict.fromkeys(json.loads(line)["text"].replace("\n", " ") for line in lines if line))


def report(days: int, data: Path | None) -> bool:
    """Print bytes per memory and the projection to a year; return whether it is within budget."""
    within = True
    print(
        f"{'active memories':<16}{'facts':>7}{'B/fact: unfolded':>18}{'folded':>8}{'table':>7}{'index':>7}{'MB a year':>11}"
    )
    for limit in (0, ACTIVE_LIMIT):
        grown = World(limit).live(days, texts(data))
        each = [round(part / grown.memories) for part in (grown.unfolded, grown.journal, grown.table, grown.index)]
        verdict = "within" if grown.a_year <= BUDGET else "OVER"
        name = f"at most {limit}" if limit else "no limit"
        print(
            f"{name:<16}{grown.memories:>7}{each[0]:>18}{each[1]:>8}{each[2]:>7}{each[3]:>7}{grown.a_year / 1e6:>11.1f}"
            f"  {verdict} {BUDGET / 1e6:.0f}",
            flush=True,
        )
        within = within and grown.a_year <= BUDGET
    return within


def main(arguments: list[str]) -> int:
    """Print the table; 1 when a year takes more than the budget."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description="Bytes at 50 facts a day.")
    parser.add_argument("--days", type=int, default=YEAR)
    parser.add_argument("--data", type=Path)
    chosen = parser.parse_args(arguments)
    return 0 if report(chosen.days, chosen.data) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
