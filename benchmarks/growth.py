"""How an owner's store grows at 50 facts a day: every conversation is really accepted and learned, every week really tidied.

`python -m benchmarks.growth [--days N] [--data DIR]`. The ports are the in-memory ones of the tests: bytes are those of the service's own
code, and a year takes minutes, not hours. Only the extractor is replaced, by one that answers five given facts per conversation; with
`--data` these are the real sentences of the labelled sets, otherwise made up. Measured twice: without a limit of active memories, and with
the template's own, where each fact is later archived to make room and so gets a second version.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from benchmarks.facts import facts
from benchmarks.filling import A_CONVERSATION, A_DAY, LEAD_INS, PROJECTS
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.keeping.tidying import Tidying
from shared.learning.accepting import Accepting
from shared.learning.conversation import Conversation, Message
from shared.learning.extraction import Extraction
from shared.learning.extractor import Candidate, Extracted
from shared.learning.planning import Planner
from shared.learning.waiting import Waiting
from shared.ports import Item
from shared.recall.building import Builder
from shared.recall.indexes import Indexes
from shared.storage import names
from shared.storage.commit import Commits
from shared.storage.rebuild import Rebuild
from shared.storage.transactions import Limits
from shared.storage.vaults import Vaults
from tests.fakes import FakeClock, MemoryKeys, MemoryObjects, MemoryQueue, MemoryTable, SeededRandom

BUDGET: Final = 30_000_000
"""Bytes per owner and year at 50 facts a day, over journal, table and index together."""
YEAR: Final = 365
ACTIVE_LIMIT: Final = 200
"""The template's own."""
OWNER: Final = "a" * 52
_CATEGORIES: Final = [category for category in Category if category is not Category.CREDENTIAL]


@dataclass(frozen=True, slots=True)
class Grown:
    """Bytes after so many days; `unfolded` is what the journal took before it was folded, `used` what the head counts for the quota."""

    days: int
    memories: int
    unfolded: int
    journal: int
    table: int
    index: int
    used: int
    processor_seconds: float

    @property
    def a_year(self) -> float:
        """Bytes after a year, as if the rest of it grew like these days."""
        return (self.journal + self.table + self.index) * YEAR / self.days


class Told:
    """The port `Extractor`: every line that the user said is one fact."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def extract(self, conversation: Conversation, preferences: Preferences) -> Extracted:  # noqa: ARG002 - the port's
        scope = Scope.PROJECT if conversation.project else Scope.USER
        found = [
            Candidate(
                text=text,
                scope=scope,
                category=self._rng.choice(_CATEGORIES),
                importance=self._rng.randint(3, 9),
                quote=text.join(LEAD_INS[text[-1] >= "\u4e00"]),
            )
            for text in conversation.messages[0].text.split("\n")
        ]
        return Extracted(tuple(found), 0, "rules/1")


class World:
    """One owner's life from its first day; `active_limit` 0 means none."""

    def __init__(self, texts: Iterable[str], active_limit: int) -> None:
        self.rng = random.Random(7)
        self.texts = iter(texts)
        self.clock, chance = FakeClock(), SeededRandom(7)
        self.table, self.objects = MemoryTable(), MemoryObjects()
        self.work = MemoryQueue(self.clock)
        vaults = Vaults(self.table, self.objects, MemoryKeys(chance), self.clock, chance)
        bounds = Limits(10**9, active_limit)
        commits = Commits(vaults, bounds)
        self.accepting = Accepting(vaults, self.work, bounds, 0)
        self.extraction = Extraction(commits, Planner(vaults, active_limit), Told(self.rng))
        waiting, rebuild = Waiting(vaults, self.work), Rebuild(vaults, self.work)
        self.tidying = Tidying(commits, rebuild, waiting, Builder(Indexes(vaults)))
        vaults.open_or_create(OWNER)

    def live(self, days: int) -> Grown:
        """Learn for so many days and tidy every week."""
        started, unfolded = time.process_time(), 0
        for day in range(1, days + 1):
            for _ in range(A_DAY // A_CONVERSATION):
                self._learn("\n".join(islice(self.texts, A_CONVERSATION)))
                self.clock.advance(days=A_CONVERSATION / A_DAY)
            if day % 7 == 0 or day == days:
                before = Counter(self._sizes())
                unfolded += before["small"]
                self.clock.advance(seconds=7_200)
                self.tidying.tidy(OWNER)
                self.clock.advance(seconds=-7_200)
        sizes, head = self._sizes(), self._head()
        journal, index = sizes["small"] + sizes["folded"], int(head["index_bytes"])
        table = int(head["bytes"]) - int(head["journal_bytes"]) - index
        spent = time.process_time() - started
        return Grown(days, int(head["memories"]), unfolded, journal, table, index, int(head["bytes"]), spent)

    def _learn(self, said: str) -> None:
        project = self.rng.choice(PROJECTS) if self.rng.random() < 0.4 else None
        session = f"session-{self.rng.getrandbits(48):x}"
        told = Conversation((Message("user", said),), Trigger.MANUAL, project, None, session)
        accepted = self.accepting.accept(OWNER, told)
        if accepted.task_id is None:
            raise ValueError("a conversation of the benchmark was not accepted")
        counts = self.extraction.learn(OWNER, int(self._head()["epoch"]), accepted.task_id, 1)
        if counts.get("inserted") != A_CONVERSATION:
            raise ValueError("a conversation of the benchmark was not learned whole")

    def _head(self) -> Item:
        return self.table.get(OWNER, [names.HEAD])[names.HEAD]

    def _sizes(self) -> Counter[str]:
        prefix = names.journal(OWNER, 1)
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
        grown = World(texts(data), limit).live(days)
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
