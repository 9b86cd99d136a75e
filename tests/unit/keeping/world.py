"""The keeping use cases over ports in memory."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.domain.memory import Category, Memory, Scope
from shared.keeping.audit.auditing import Auditing
from shared.keeping.cursors import Cursors
from shared.keeping.memories.edits import Edits
from shared.keeping.memories.listing import Listing
from shared.keeping.memories.memories import Memories
from shared.keeping.overview import Overview
from shared.keeping.preferences import Choices
from shared.storage.commit import Commits
from shared.storage.transactions import Limits
from shared.storage.vaults import Vaults
from tests.fakes import FakeClock, MemoryKeys, MemoryObjects, MemoryQueue, MemoryTable, SeededRandom, Steps, crashing

OWNER = "a" * 52


@dataclass(frozen=True)
class New:
    """A request for a new memory, with defaults."""

    content: str
    scope: Scope = Scope.USER
    project: str | None = None
    agent: str | None = None
    category: Category = Category.KNOWLEDGE
    importance: int = 5
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None


class World:
    """One account. `process` starts another process on it, which counts its calls in `steps` and may die."""

    def __init__(self, *, active: int = 0, quota: int = 100_000_000) -> None:
        self.clock, self.random = FakeClock(), SeededRandom(5)
        self.table, self.objects, self.keys = MemoryTable(), MemoryObjects(), MemoryKeys(self.random)
        self.maintenance = MemoryQueue(self.clock)
        self.bounds = Limits(quota, active)
        self.process()

    def process(self, steps: Steps | None = None) -> Steps:
        """Begin with nothing warm and all calls counted."""
        steps = steps or Steps()
        self.vaults = Vaults(
            crashing(self.table, steps),
            crashing(self.objects, steps),
            crashing(self.keys, steps),
            self.clock,
            self.random,
        )
        cursors = Cursors(self.random)
        self.commits = Commits(self.vaults, self.bounds, crashing(self.maintenance, steps))
        self.memories = Memories(self.commits)
        self.edits = Edits(self.memories)
        self.listing = Listing(self.vaults, cursors)
        self.auditing = Auditing(self.memories, cursors)
        self.choices = Choices(self.commits)
        self.overview = Overview(self.commits, cursors, 500)
        return steps

    def add(self, content: str, **more: Any) -> Memory:
        """Add a memory a second after the last one."""
        self.clock.advance(1)
        return self.memories.add(OWNER, New(content, **more)).memory

    def stand(self) -> dict[str, Any]:
        """Return what counts of the stored state: everything but times, nonces and ids of commits."""
        items = self.table.partition(OWNER)
        head = items.get("head", {})
        counters = {name: head.get(name) for name in ("memories", "active")}
        prefixes = sorted(sk.partition("#")[0] for sk in items if not sk.startswith(("head", "a#", "i#")))
        return {"counters": counters, "items": prefixes}
