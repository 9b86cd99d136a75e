"""A whole account in memory, with every use case over it: what tests of the storage protocol are built on.

world = World()
memory = world.add("The deploy day is Monday.")
world.say("We decided to use PostgreSQL.")          # a conversation, accepted
world.work_off()                                    # the queue's messages, delivered
world.tidy(hours=2)                                 # maintenance, two hours later
assert world.found("deploy day") == ["The deploy day is Monday."]
steps = world.restart(Steps(at=3))                  # a new process that dies before its third call
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from shared.domain.memory import Category, Memory, Scope, Status
from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.keeping.audit.auditing import Auditing
from shared.keeping.cursors import Cursors
from shared.keeping.foreign import detecting, reading
from shared.keeping.forgetting.asking import Forgetting
from shared.keeping.forgetting.steps import Forget, Forgotten
from shared.keeping.importing.applying import Import, Imported
from shared.keeping.importing.receiving import Importing
from shared.keeping.maintenance.due_owners import Scheduling
from shared.keeping.maintenance.duties import Duties
from shared.keeping.maintenance.recollecting import Recollecting
from shared.keeping.maintenance.schedule_steps import Scheduled, ScheduleKept
from shared.keeping.maintenance.tidying import Tidying
from shared.keeping.memories.edits import Edits
from shared.keeping.memories.filters import Filters
from shared.keeping.memories.listing import Listing
from shared.keeping.memories.memories import Memories
from shared.keeping.overview import Overview
from shared.keeping.portrait import Portrait
from shared.keeping.preferences import Choices
from shared.keeping.scenes.deletion import SceneDeletion
from shared.keeping.scenes.scenes import Scenes
from shared.keeping.scenes.upkeep import Describer, SceneClearing, SceneUpkeep
from shared.keeping.sessions.sessions import Sessions
from shared.keeping.sessions.silent import SilentSessions
from shared.keeping.suggesting import Suggestions
from shared.learning.accepting import Accepting
from shared.learning.comparison import Comparison
from shared.learning.consolidation.consolidating import Consolidation
from shared.learning.consolidation.proposing import Proposer, RulesProposer
from shared.learning.consolidation.retiring import Retirement
from shared.learning.consolidation.undoing import Undoing
from shared.learning.conversation import Conversation, Message
from shared.learning.delivery import Delivery
from shared.learning.evolution.clearing import SuggestionClearing
from shared.learning.evolution.evolving import Evolution
from shared.learning.evolution.naming import Namer, RulesNamer
from shared.learning.extraction import Extraction
from shared.learning.extractor import Extractor, RulesExtractor
from shared.learning.notes import NotesExtractor
from shared.learning.persona.clearing import PersonaClearing
from shared.learning.persona.portraying import Portrayer, RulesPortrayer
from shared.learning.persona.refreshing import PersonaRefresh
from shared.learning.planning import Planner
from shared.learning.tasks import Tasks
from shared.learning.waiting import Waiting
from shared.models.portability import settings_of
from shared.ports import KeyService, Objects, Queue, Table
from shared.recall.building import Builder
from shared.recall.context import Contexts
from shared.recall.indexes import Indexes
from shared.recall.meaning import Meaning
from shared.recall.search import Question, Searcher
from shared.storage.commit import Commits
from shared.storage.erasure import Erasure
from shared.storage.items import full_text
from shared.storage.rebuild import Rebuild
from shared.storage.transactions import Limits
from shared.storage.vaults import Vaults
from tests.fakes import (
    FakeClock,
    MemoryKeys,
    MemoryObjects,
    MemoryQueue,
    MemoryTable,
    QueuedMessage,
    SeededRandom,
    Steps,
    crashing,
)

OWNER = "a" * 52
DAILY_CONVERSATIONS = 1_000_000
ANSWER = "Noted, I will keep to that from now on."


@dataclass(frozen=True)
class Draft:
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


def conversation(*texts: str, trigger: Trigger = Trigger.MANUAL, **more: Any) -> Conversation:
    """Return a conversation in which a user says these texts, one message each, and an assistant answers."""
    said = tuple(Message("user", text) for text in texts)
    return Conversation((*said, Message("assistant", ANSWER)), trigger, **more)


class Process:
    """What one process holds: every use case over the ports it is given, with nothing warm."""

    def __init__(
        self,
        ports: tuple[Table, Objects, KeyService],
        queues: tuple[Queue, Queue],
        clock: FakeClock,
        random: SeededRandom,
        bounds: Limits,
        extractor: Extractor,
        meaning: Meaning | None = None,
        *,
        describer: Describer | None = None,
        proposer: Proposer | None = None,
        portrayer: Portrayer | None = None,
        namer: Namer | None = None,
    ) -> None:
        work, maintenance = queues
        self.vaults = Vaults(*ports, clock, random)
        cursors = Cursors(random)
        self.commits = Commits(self.vaults, bounds, maintenance)
        self.memories = Memories(self.commits)
        self.edits = Edits(self.memories)
        self.listing = Listing(self.vaults, cursors)
        self.choices = Choices(self.commits)
        self.scenes = Scenes(self.commits, cursors)
        self.portrait = Portrait(self.commits)
        self.suggestions = Suggestions(self.commits, cursors)
        self.scene_deletion = SceneDeletion(self.scenes)
        self.overview = Overview(self.commits, cursors, DAILY_CONVERSATIONS)
        self.accepting = Accepting(self.vaults, work, bounds, DAILY_CONVERSATIONS)
        self.undoing = Undoing(self.commits)
        self.tasks = Tasks(self.vaults, work, cursors)
        planner = Planner(self.vaults, bounds.active)
        self.extraction = Extraction(self.commits, planner, NotesExtractor(extractor), Comparison(self.vaults))
        self.delivery = Delivery(self.extraction, work)
        self.indexes = Indexes(self.vaults)
        self.searcher = Searcher(self.indexes, maintenance, meaning)
        self.contexts = Contexts(self.searcher, seconds=60)
        self.builder = Builder(self.indexes, meaning)
        self.auditing = Auditing(self.memories, cursors)
        self.forgetting = Forgetting(self.commits)
        self.importing = Importing(self.commits, settings_of, detecting.detect, reading.read)
        self.rebuild = Rebuild(self.vaults, work)
        self.waiting = Waiting(self.vaults, work)
        clearing = (SceneClearing(self.commits), PersonaClearing(self.commits), SuggestionClearing(self.commits))
        consolidating = (Retirement(self.commits), Consolidation(self.commits, proposer or RulesProposer()))
        evolution = Evolution(self.commits, namer or RulesNamer())
        persona = PersonaRefresh(self.commits, portrayer or RulesPortrayer())
        steps = (*consolidating, *clearing, evolution, persona, SceneUpkeep(self.commits, describer))
        self.sessions = Sessions(self.vaults, bounds, self.accepting, self.listing)
        first, last = (
            (
                Recollecting(),
                Scheduled(),
                SilentSessions(self.sessions),
                Import(self.commits),
                Forget(self.commits, clearing, work),
            ),
            (Imported(), Forgotten(), ScheduleKept()),
        )
        self.tidying = Tidying(self.commits, self.rebuild, self.waiting, self.builder, steps, clearing, first, last)
        self.duties = Duties(Scheduling(self.vaults, maintenance), self.tidying, Erasure(self.vaults))


class World:
    """One account: the stores, which last, and the present process, which `restart` replaces.

    Short forms act for `owner` and move the clock on by a second, so that nothing happens at the same moment.
    """

    def __init__(
        self,
        *,
        owner: str = OWNER,
        active: int = 0,
        quota: int = 100_000_000,
        seed: int = 5,
        extractor: Extractor | None = None,
        meaning: Meaning | None = None,
        describer: Describer | None = None,
        proposer: Proposer | None = None,
        portrayer: Portrayer | None = None,
        namer: Namer | None = None,
    ) -> None:
        self.owner, self.bounds = owner, Limits(quota, active)
        self.clock, self.random = FakeClock(), SeededRandom(seed)
        self.table, self.objects, self.keys = MemoryTable(), MemoryObjects(), MemoryKeys(self.random)
        self.work, self.maintenance = MemoryQueue(self.clock), MemoryQueue(self.clock)
        self.extractor, self.meaning, self.describer = extractor or RulesExtractor(), meaning, describer
        self.proposer, self.portrayer, self.namer = proposer, portrayer, namer
        self.restart()

    def process(self, steps: Steps | None = None) -> Process:
        """Return one more process on the same stores; with `steps` it counts its calls and may die."""
        steps = steps or Steps()
        ports = (crashing(self.table, steps), crashing(self.objects, steps), crashing(self.keys, steps))
        queues = (crashing(self.work, steps), crashing(self.maintenance, steps))
        given = (ports, queues, self.clock, self.random, self.bounds, self.extractor, self.meaning)
        return Process(
            *given, describer=self.describer, proposer=self.proposer, portrayer=self.portrayer, namer=self.namer
        )

    def restart(self, steps: Steps | None = None) -> Steps:
        """Put a new process, with nothing warm, in place of the present one; return what counts its calls."""
        steps = steps or Steps()
        self.now = self.process(steps)
        return steps

    def warm(self, steps: Steps | None = None) -> Steps:
        """Restart with the owner's keys and index warm already; only what comes then is counted."""
        counted = steps or Steps()
        silent = Steps()
        self.restart(silent)
        self.now.searcher.open(self.owner)
        held, known = self.now.vaults._warm, self.now.indexes._warm
        self.restart(counted)
        self.now.vaults._warm.update(held)
        self.now.indexes._warm.update(known)
        return counted

    # What a person does.

    def add(self, content: str, *, key: str | None = None, **more: Any) -> Memory:
        """Add a memory by hand."""
        self.clock.advance(1)
        return self.now.memories.add(self.owner, Draft(content, **more), key).memory

    def edit(self, memory_id: str, **sent: Any) -> Memory:
        """Change a memory's fields."""
        self.clock.advance(1)
        return self.now.edits.edit(self.owner, memory_id, sent, None)

    def dismiss(self, memory_id: str) -> Memory:
        return self.edit(memory_id, status=Status.DISMISSED)

    def restore(self, memory_id: str) -> Memory:
        return self.edit(memory_id, status=Status.ACTIVE)

    def delete(self, memory_id: str) -> None:
        self.clock.advance(1)
        self.now.edits.delete(self.owner, memory_id, None)

    def choose(self, **sent: Any) -> Preferences:
        """Change the settings."""
        self.clock.advance(1)
        return self.now.choices.change(self.owner, sent, None)

    def say(self, *texts: str, **more: Any) -> str:
        """Send a conversation and return its task's id."""
        self.clock.advance(1)
        accepted = self.now.accepting.accept(self.owner, conversation(*texts, **more))
        assert accepted.task_id is not None, accepted.skipped
        return accepted.task_id

    # What the machinery does.

    def deliver(self, message: QueuedMessage) -> dict[str, int]:
        """Give one message of the work queue to the extraction; acknowledge it when that ends well."""
        counts = self.now.delivery.learn(json.dumps(message.body), message.receipt, message.receives)
        self.work.delete(message.receipt)
        return counts

    def work_off(self) -> list[dict[str, int]]:
        """Deliver what waits in the work queue, one by one."""
        done = []
        while received := self.work.receive():
            self.clock.advance(1)
            done.append(self.deliver(received[0]))
        return done

    def tidy(self, *, hours: float = 0) -> dict[str, int] | None:
        """Run the owner's maintenance, so many hours later, and return its counts."""
        self.clock.advance(1 + hours * 3600)
        return self.now.tidying.tidy(self.owner)

    def build(self, *, keep_previous: bool = True) -> None:
        """Build the index."""
        self.clock.advance(1)
        self.now.builder.build(self.owner, keep_previous=keep_previous)

    # What can be seen.

    def get(self, memory_id: str) -> Memory:
        return self.now.memories.get(self.owner, memory_id)

    def memories(self, *, status: Status | None = None, **filters: Any) -> list[Memory]:
        """Return all pages of the list (every status unless one is named), last updated first."""
        found: list[Memory] = []
        cursor = None
        while True:
            page = self.now.listing.page(self.owner, Filters(status=status, **filters), 50, cursor)
            found += page.memories
            cursor = page.next_cursor
            if cursor is None:
                return found

    def texts(self, **filters: Any) -> list[str]:
        """Return the listed texts with their secrets, in alphabetical order."""
        return sorted(full_text(memory) for memory in self.memories(**filters))

    def found(self, query: str, **more: Any) -> list[str]:
        """Return the texts that search finds in any project, best first."""
        return [memory.content for memory in self.hits(query, **more)]

    def hits(self, query: str, *, project: str | None = "*", limit: int = 50, **more: Any) -> list[Memory]:
        """Return the memories that search finds, best first."""
        answer = self.now.searcher.search(self.owner, Question(query, project=project, limit=limit, **more))
        return [hit.memory for hit in answer.hits]

    def head(self) -> dict[str, Any]:
        """Return the owner's head item; empty when there is none."""
        return dict(self.table.partition(self.owner).get("head", {}))

    def sks(self, prefix: str) -> list[str]:
        """Return what follows the prefix in the owner's sort keys."""
        return [sk.removeprefix(prefix) for sk in self.table.partition(self.owner) if sk.startswith(prefix)]

    def stored(self, folder: str) -> list[str]:
        """Return the names of the owner's present objects in a folder of any life: `journal`, `index`, `conversations`."""
        parts = [key.split("/") for key in self.objects.keys() if key.startswith(f"o/{self.owner}/")]  # noqa: SIM118 - no mapping
        return [name[4] for name in parts if len(name) == 5 and name[3] == folder]


def plain(memories: Iterable[Memory]) -> list[tuple[Any, ...]]:
    """Return what a person can see of memories, without ids, times and counts of access, in an order of its own."""
    return sorted(
        (full_text(m), m.scope, m.project or "", m.agent or "", m.category, m.importance, m.status, m.source)
        for m in memories
    )


def without_times(memory: Memory) -> Memory:
    """Return the memory without what a retry may change: times, commits and access."""
    still = memory.created_at
    return replace(
        memory, updated_at=still, commit="", prior=(), access_count=0, last_accessed_at=None, origin=memory.origin
    )
