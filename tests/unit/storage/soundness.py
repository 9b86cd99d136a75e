"""What must hold of an owner's stored state, whoever died on the way: no orphan, exact counters, nothing of what was deleted."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from shared.domain import limits
from shared.domain.errors import NacreError, NotPossibleNow
from shared.domain.memory import Memory, Status
from shared.domain.task import TaskStatus
from shared.recall.indexes import searchable
from shared.storage import documents, items, lines, names, sizes
from shared.storage.documents import Document
from shared.storage.items import full_text
from shared.storage.journal import Journal, Record
from shared.storage.vaults import Opened
from tests.builders import World, plain
from tests.fakes import Crash, Steps

LEASE_AND_MORE = 0.3
"""Hours after which a dead run's lease is over and a dead writer's line is old."""
QUIET = 2
SAID = ("traits", "role", "summary")
"""Fields of documents that hold words."""


def opened(world: World) -> Opened:
    """Open the owner with the change rows."""
    found = world.process().vaults.open(world.owner, changes=True)
    assert found is not None
    return found


def settle(world: World) -> None:
    """Let everything come to its end: redeliveries, then maintenance until there is nothing left to fold."""
    world.restart()
    for _ in range(4):
        world.clock.advance(world.work.visibility.total_seconds() + 1)
        world.work_off()
    for hours in (LEASE_AND_MORE, 1.1, LEASE_AND_MORE):
        world.tidy(hours=hours)
        _retry(world)
        world.work_off()
    for _ in range(QUIET):
        world.tidy(hours=2)


def _retry(world: World) -> None:
    """Ask for every failed task again, as its owner may: nothing that was accepted is lost."""
    for task in world.now.tasks.list(world.owner, limit=200)[0]:
        if task.status is TaskStatus.FAILED:
            with suppress(NotPossibleNow):
                world.now.tasks.retry(world.owner, task.id)


def records(world: World) -> list[Record]:
    """Return every record of the journal, opened."""
    journal = Journal(world.objects, opened(world).keys, world.random)
    found: list[Record] = []
    for listed in journal.listing():
        read = journal.read(listed)
        assert read is not None
        found += read[1]
    return found


def standing(world: World) -> dict[str, Memory]:
    """Return the memories of the table, by id."""
    keys, partition = opened(world).keys, world.table.partition(world.owner)
    found = [items.from_item(keys, item).memory for sk, item in partition.items() if sk.startswith(names.MEMORY)]
    return {memory.id: memory for memory in found}


def counted_bytes(world: World) -> int:
    """Return the bytes that an owner's head must count: memories, dedup items, journal, index and conversations."""
    size = 0
    for sk, item in world.table.partition(world.owner).items():
        if sk.startswith(names.MEMORY):
            size += sizes.item_bytes(world.owner, item) + sizes.ACCESS_ALLOWANCE
        elif sk.startswith(names.DEDUP):
            size += sizes.item_bytes(world.owner, item)
        elif sk.startswith(names.TASK) and item["status"] != "done":
            size += int(item.get("size", 0))
    head = opened(world).head
    epoch = int(head["epoch"])
    size += sum(name.size for name in world.objects.names(names.journal(world.owner, epoch)))
    pointer = str(head.get("index", ""))
    index = world.objects.get(names.index(world.owner, epoch, pointer)) if pointer else None
    return size + (len(index.body) if index else 0)


def assert_counted(world: World) -> None:
    """Counters and dedup items say what the memories are; true at every moment, crashed or not."""
    memories, keys = standing(world), opened(world).keys
    head = world.head()
    assert head["memories"] == len(memories)
    assert head["active"] == sum(1 for memory in memories.values() if memory.status is Status.ACTIVE)
    assert head.get("rows", limits.CHANGE_ROWS) >= len(opened(world).changes)
    tags = {tag: memory.id for memory in memories.values() for tag in items.held_tags(keys, memory)}
    assert head.get("retired", 0) == sum(1 for memory in memories.values() if memory.status is Status.RETIRED)
    dedup = {sk: item["memory"] for sk, item in world.table.partition(world.owner).items() if sk.startswith("d#")}
    assert dedup == {names.DEDUP + tag: memory_id for tag, memory_id in tags.items()}
    shown = [memory for memory in memories.values() if memory.status is not Status.RETIRED]
    projects = Counter(memory.project for memory in shown if memory.project)
    found = world.process().overview.projects(world.owner, limit=200, cursor=None).projects
    assert {project.name: project.memories for project in found if project.memories} == dict(projects)


def assert_sound(world: World) -> None:
    """What must hold after everything settled."""
    assert_counted(world)
    memories = standing(world)
    journaled = records(world)
    written = {record.id for record in journaled if record.kind == lines.MEMORY}
    assert written == set(memories), "the journal holds what is not in the table, or lacks what is"
    for memory_id, memory in memories.items():
        latest = max((r for r in journaled if r.id == memory_id and r.kind == lines.MEMORY), key=lambda r: r.version)
        assert (latest.version, latest.commit) == (memory.version, memory.commit)
    assert not any(record.kind == lines.PLAN for record in journaled)
    assert_documents(world, journaled)
    _assert_objects(world)
    assert world.head()["bytes"] == counted_bytes(world)
    found = opened(world)
    assert found.changes == {}
    assert indexed(world) == {(m.id, m.version) for m in memories.values() if searchable(m)}
    assert "due_at" not in found.head, "maintenance would never end"


def assert_documents(world: World, journaled: list[Record]) -> None:
    """What the journal says of each document is what the table holds: nothing less, and nothing that was superseded."""
    said: dict[str, Document] = {}
    for record in journaled:
        if record.kind in lines.DOCUMENTS:
            sk = documents.sk_of(record.kind, record.id)
            assert sk not in said, "folded, a document is one record"
            said[sk] = record.document()
    assert said == told(world)


def told(world: World) -> dict[str, Document]:
    """Return the documents of the table by sort key."""
    keys, found = opened(world).keys, {}
    for sk, item in world.table.partition(world.owner).items():
        if documents.COMMIT in item:
            kind, document_id = _document(sk)
            found[sk] = documents.from_item(keys, kind, document_id, item)
    return found


def _document(sk: str) -> tuple[str, str]:
    if sk.startswith(names.PROJECT):
        return lines.SCENE, sk.removeprefix(names.PROJECT)
    if sk.startswith(names.SUGGESTION):
        return lines.SUGGESTION, sk.removeprefix(names.SUGGESTION)
    return {names.PERSONA: (lines.PERSONA, lines.PERSONA), names.ACTIVE: (lines.ACTIVE, lines.ACTIVE)}[sk]


def _assert_objects(world: World) -> None:
    """Only what is current is kept: no conversation, one index with one predecessor, one version of each object."""
    assert world.stored("conversations") == []
    assert len(world.stored("index")) <= 2
    for key in world.objects.keys():  # noqa: SIM118 - no mapping
        if key != names.keyring(world.owner):
            assert len(world.objects.versions(key)) == 1, "a superseded version is left"
    assert all(names.FOLDED in name for name in world.stored("journal"))


def indexed(world: World) -> set[tuple[str, int]]:
    """Return ids and versions that the index in use knows."""
    process = world.process()
    found = process.searcher.open(world.owner)
    assert found is not None
    index = process.indexes.open(found)
    assert index is not None
    return set(index.versions().items())


def visible(world: World, words: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what the owner can see: memories, what searches find, settings, projects, documents and tasks, without ids and times."""
    memories = world.memories()
    process = world.process()
    tasks, _ = process.tasks.list(world.owner, limit=50)
    settings = process.choices.read(world.owner)
    return {
        "memories": plain(memories),
        "found": {word: sorted(world.found(word)) for word in words},
        "settings": (settings.version, settings.language, settings.max_results),
        "projects": sorted(
            (project.name, project.memories, project.summary or "")
            for project in process.overview.projects(world.owner, limit=200, cursor=None).projects
        ),
        "documents": sorted(
            (sk, {n: v for n, (v, _) in one.fields.items() if n in SAID}) for sk, one in told(world).items()
        ),
        "tasks": sorted((task.status.value, json.dumps(task.learned, sort_keys=True)) for task in tasks),
    }


def rebuilt(world: World) -> None:
    """Lose the table and rebuild it from the journal."""
    world.table.wipe()
    world.restart()
    world.tidy()


def died(world: World, steps: Steps, deed: Callable[[], Any]) -> bool:
    """Do it in a process that dies where `steps` says; tell whether it did. What the caller is told otherwise does not matter."""
    world.restart(steps)
    try:
        deed()
    except Crash:
        return True
    except NacreError:
        return False
    finally:
        world.restart()
    return False


def texts_of(memories: list[Memory]) -> list[str]:
    """Return full texts in alphabetical order."""
    return sorted(full_text(memory) for memory in memories)
