"""What tests of consolidation share: learned memories, and proposers that say what a test wants."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared.domain.ids import ulid
from shared.domain.memory import Category, Memory, Origin, Scope, Source, Status
from shared.domain.task import Task
from shared.learning.consolidation.groups import Group
from shared.learning.consolidation.judging import Merge
from shared.learning.consolidation.proposing import Proposed, Unfit
from shared.learning.extractor import Cost
from shared.storage.transactions import Change
from tests.builders import World

TEA, GREEN, BOTH = "The user drinks tea every day", "用户每天喝绿茶", "The user drinks tea every day, 绿茶 too"
ENOUGH = 31
"""Memories of one person that are more than the target."""


def learned(world: World, content: str, **more: Any) -> str:
    """Put a memory that was learned into the world and return its id."""
    world.clock.advance(1)
    now = world.clock()
    parts: dict[str, Any] = {
        "id": ulid(now, world.random),
        "version": 1,
        "scope": Scope.USER,
        "category": Category.PREFERENCE,
        "importance": 5,
        "source": Source.AUTO,
        "status": Status.ACTIVE,
        "created_at": now,
        "updated_at": now,
        "origin": Origin(at=now),
    }
    memory = Memory(content=content, **(parts | more))
    stored = world.now.commits.commit(world.owner, Change(None, memory))
    assert stored is not None
    return stored.id


def fill(world: World, count: int = ENOUGH, **more: Any) -> list[str]:
    """Learn so many memories that nothing in common makes equal."""
    return [learned(world, f"Fact number {number} stands alone", **more) for number in range(count)]


@dataclass
class Proposing:
    """A proposer that merges what a test names by its texts, as often as it is asked."""

    merges: Sequence[tuple[tuple[str, ...], str | None]] = ()
    cost: Cost = field(default_factory=lambda: Cost(1, 100, 20))
    unfit: Unfit | None = None
    meanwhile: Callable[[], Any] | None = None
    groups: list[Group] = field(default_factory=list)

    def propose(self, group: Group, seconds: float) -> Proposed:
        assert seconds > 0
        self.groups.append(group)
        if self.meanwhile:
            self.meanwhile()
        if self.unfit:
            raise self.unfit
        ids = {member.content: member.id for member in group.members}
        merges = [
            Merge(tuple(ids[text] for text in sources), content)
            for sources, content in self.merges
            if all(text in ids for text in sources)
        ]
        return Proposed(tuple(merges), "proposing consolidate/1", self.cost)


def two_and_more(proposer: Proposing | None = None, **more: Any) -> tuple[World, str, str]:
    """Return a world whose person has too many memories, two of which are about to become one."""
    world = World(proposer=proposer or Proposing([((TEA, GREEN), BOTH)]))
    first = learned(world, TEA, **more)
    fill(world, **more)
    return world, first, learned(world, GREEN, **more)


def consolidations(world: World) -> list[Task]:
    """Return the tasks of consolidations, newest first."""
    return [task for task in world.now.tasks.list(world.owner, limit=200)[0] if task.kind == "consolidation"]


def only(tasks: Iterable[Task]) -> Task:
    (task,) = tasks
    return task


def counted(task: Task) -> Mapping[str, int]:
    """Return what a consolidation counts."""
    told = task.consolidation
    assert told is not None
    counts = {"merged": told.merged, "dropped": told.dropped, "skipped": told.skipped}
    counts |= {"undone": told.undone, "stayed": told.stayed}
    return {name: count for name, count in counts.items() if count}


def asked(world: World) -> int:
    assert isinstance(world.proposer, Proposing)
    return len(world.proposer.groups)
