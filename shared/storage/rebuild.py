"""Rebuild an owner's table from the journal, after the table was lost.

Nothing else may write meanwhile: every write needs the head, and the head is stored last. Ended anywhere and run again, it gives the
same state. Tasks, idempotency keys and access counts are lost with a table; conversations that wait are queued again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from shared.crypto.keyring import Keyring, OwnerKeys, read_keyring
from shared.domain import limits
from shared.domain.errors import Refused
from shared.domain.ids import ulid_time
from shared.domain.memory import Memory, Scope, Status
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.ports import Condition, Delete, Item, Put, Queue, Update, Write
from shared.storage import documents, items, lines, names, sizes
from shared.storage.commit import settings_again
from shared.storage.documents import Document
from shared.storage.journal import Journal, Record
from shared.storage.journaled import Journaled, document_of, latest_settings, read, standing
from shared.storage.partition import pages
from shared.storage.transactions import project_update
from shared.storage.vaults import Vaults

WRITES = 50
_CLEARED = (
    *(names.CHANGE, names.MEMORY, names.DEDUP, names.PROJECT, names.SETTINGS, names.TASK),
    *(names.PERSONA, names.SUGGESTION, names.ACTIVE, names.AGENT_NOTES, names.UPKEEP),
)


@dataclass(slots=True)
class Rebuilt:
    """What a rebuild did. `doubles` counts memories left out because another one has the same text in the same scope."""

    memories: int = 0
    doubles: int = 0
    damaged: int = 0
    tasks: int = 0
    bytes: int = 0


class Rebuild:
    """Rebuilds one owner at a time."""

    def __init__(self, vaults: Vaults, work: Queue) -> None:
        self.vaults, self.work = vaults, work

    def run(self, owner: str) -> Rebuilt | None:
        """Rebuild the owner; None when there is nothing to rebuild (the head is there, or no keyring is)."""
        if names.HEAD in self.vaults.table.get(owner, [names.HEAD]):
            return None
        stored = self.vaults.objects.get(names.keyring(owner))
        ring = read_keyring(stored.body) if stored else None
        if not isinstance(ring, Keyring):
            return None
        plain = {number: self.vaults.service.unwrap(owner, ring.epoch, blob) for number, blob in ring.keys.items()}
        keys = OwnerKeys.opened(owner, ring.epoch, ring.generation, plain)
        result = Rebuilt()
        journaled = read(Journal(self.vaults.objects, keys, self.vaults.random))
        records, result.doubles = standing(keys, journaled)
        memories = [(record.memory(), record) for record in records]
        result.damaged = journaled.damaged
        self._clear(owner)
        self._write(owner, self._items(keys, memories, journaled, result))
        self._queue_again(keys, journaled, result)
        self._finish(keys, memories, journaled, result)
        return result

    def _items(
        self, keys: OwnerKeys, memories: list[tuple[Memory, Record]], journaled: Journaled, result: Rebuilt
    ) -> Iterator[Write]:
        for memory, record in memories:
            sealed = items.seal(keys, memory, self.vaults.random)
            item = items.to_item(keys, sealed, record.commit)
            dedups = [items.dedup_item(tag, memory.id) for tag in sorted(sealed.tags)]
            result.memories += 1
            result.bytes += sum(sizes.item_bytes(keys.owner, one) for one in (item, *dedups)) + sizes.ACCESS_ALLOWANCE
            yield from (Put(one) for one in (item, *dedups))
        documents_ = {place: document_of(records) for place, records in journaled.said.items()}
        yield from self._projects(keys, [memory for memory, _ in memories], documents_)
        if (settings := latest_settings(journaled.settings)) is not None:
            yield Put(settings_again(keys, settings, self.vaults.random))

    def _projects(
        self, keys: OwnerKeys, memories: Iterable[Memory], told: Mapping[tuple[str, str], Document]
    ) -> Iterator[Write]:
        """Yield documents, and projects that have memories; a scene is a part of its project's item."""
        ids: dict[tuple[str, str], list[str]] = {}
        for memory in memories:
            if memory.scope is Scope.PROJECT and memory.project is not None and memory.status is not Status.RETIRED:
                tag = items.scope_tag(keys, memory.scope, memory.project, memory.agent)
                ids.setdefault((tag, memory.project), []).append(memory.id)
        now, random = self.vaults.clock(), self.vaults.random
        projects = {
            tag: project_update(keys, tag, name, len(made), ulid_time(max(made)), random)
            for (tag, name), made in ids.items()
        }
        for (kind, document_id), document in told.items():
            project = projects.pop(document_id, None) if kind == lines.SCENE else None
            scene = documents.columns(keys, kind, document_id, document, random)
            if project is not None:
                yield replace(project, set={**project.set, **scene})
            elif document:
                yield documents.stored(keys, kind, document_id, Document(), document, now, random)
            else:
                yield Update(documents.sk_of(kind, document_id), set=scene)
        yield from projects.values()

    def _clear(self, owner: str) -> None:
        """Remove what is left of the lost table, so that nothing stands that the journal does not say.

        Open tasks go too: a worker that went on with one would find its memories there, take them for another's and drop its lines.
        """
        for prefix in _CLEARED:
            for page in pages(self.vaults.table, owner, prefix):
                gone = [item for item in page if item.get("status") != TaskStatus.DONE.value]
                self._write(owner, (Delete(str(item["sk"])) for item in gone))

    def _write(self, owner: str, writes: Iterable[Write]) -> None:
        pending = iter(writes)
        while batch := list(islice(pending, WRITES)):
            self.vaults.table.write(owner, batch)

    def _queue_again(self, keys: OwnerKeys, journaled: Journaled, result: Rebuilt) -> None:
        """Queue conversations that wait. One whose plan is in the journal has been learned: the plan is applied by now."""
        prefix, learned = names.conversation(keys.owner, keys.epoch), set(journaled.plans.values())
        for name in list(self.vaults.objects.names(prefix)):
            task_id = name.key.removeprefix(prefix)
            if task_id in learned:
                self.vaults.objects.erase(name.key)
                continue
            made = rfc3339(ulid_time(task_id))
            task: Item = {"sk": names.TASK + task_id, "kind": "extraction", "status": TaskStatus.QUEUED.value}
            task |= {"created_at": made, "updated_at": made, "run": 1, "attempts": 0, "applied": 0}
            self.vaults.table.write(keys.owner, [Put(task)])
            message: dict[str, str | int] = {
                "v": 1,
                "owner": keys.owner,
                "epoch": keys.epoch,
                "task": task_id,
                "run": 1,
            }
            self.work.send(keys.owner, message, deduplication=f"{task_id}-rebuilt")
            result.tasks += 1

    def _finish(
        self, keys: OwnerKeys, memories: list[tuple[Memory, Record]], journaled: Journaled, result: Rebuilt
    ) -> None:
        now, journal_bytes = self.vaults.clock(), journaled.size
        statuses = Counter(memory.status for memory, _ in memories)
        head: Item = {"sk": names.HEAD, "epoch": keys.epoch, "gen": keys.generation, "memories": len(memories)}
        head |= {
            "active": statuses[Status.ACTIVE],
            "retired": statuses[Status.RETIRED],
            "bytes": result.bytes + journal_bytes,
            "journal_bytes": journal_bytes,
        }
        head |= {"index_bytes": 0, "commits": 1, "due_at": rfc3339(now)}
        head["due_shard"] = names.due_shard(keys.owner, limits.DUE_SHARDS)
        if (settings := latest_settings(journaled.settings)) is not None:
            head["settings"] = settings.version
        try:
            self.vaults.table.write(keys.owner, [Put(head, Condition(absent=True))])
        except Refused:
            return
