"""Rebuild an owner's table from the journal, after the table was lost.

Nothing else may write meanwhile: every write needs the head, and the head is stored last. Ended anywhere and run again, it gives the
same state. Tasks, idempotency keys and access counts are lost with a table; conversations that wait are queued again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from shared.crypto.keyring import Keyring, OwnerKeys, read_keyring
from shared.domain import limits
from shared.domain.errors import Refused, SealBroken
from shared.domain.ids import ulid_time
from shared.domain.memory import Memory, Scope, Source, Status
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.observability import alarm
from shared.ports import Condition, Delete, Item, Put, Queue, Update, Write
from shared.storage import bodies, documents, items, lines, names, sizes
from shared.storage.commit import settings_item
from shared.storage.documents import Document
from shared.storage.journal import Journal, Record
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


@dataclass(slots=True)
class _Journaled:
    """Everything the journal says, by memory id."""

    lives: dict[str, list[Record]] = field(default_factory=dict)
    graves: dict[str, list[Record]] = field(default_factory=dict)
    tags: dict[str, list[Record]] = field(default_factory=dict)
    applied: set[tuple[str, str]] = field(default_factory=set)
    """Ids and commits that surely were in the table: a later version of the same memory names them, or they are folded."""
    held: dict[str, list[Record]] = field(default_factory=dict)
    """Records by the tags of the texts that led to them."""
    settings: Record | None = None
    documents: dict[tuple[str, str], Document] = field(default_factory=dict)
    """What all lines say together of each document, by kind and id."""
    plans: set[str] = field(default_factory=set)
    size: int = 0


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
        journaled = self._read(keys, result)
        memories = self._standing(keys, journaled, result)
        self._clear(owner)
        self._write(owner, self._items(keys, memories, journaled, result))
        self._queue_again(keys, journaled, result)
        self._finish(keys, memories, journaled.size, result)
        return result

    def _read(self, keys: OwnerKeys, result: Rebuilt) -> _Journaled:
        """Read the whole journal, without lines that were whole together and surely never applied."""
        journal = Journal(self.vaults.objects, keys, self.vaults.random)
        found = _Journaled()
        told: list[Record] = []
        for listed in journal.listing():
            try:
                read = journal.read(listed)
            except SealBroken:
                result.damaged += 1
                alarm("damaged", journal=listed.first)
                continue
            if read is None:
                continue
            found.size += len(read[0].body)
            told += read[1]
            found.applied |= {(record.id, commit) for record in read[1] for commit in record.prior}
            if listed.folded:  # only what repair has settled is folded
                found.applied |= {(record.id, record.commit) for record in read[1] if record.kind == lines.MEMORY}
        unapplied = _unapplied(told, found.applied)
        for record in told:
            if record.commit not in unapplied:
                _take(keys, found, record)
        return found

    def _standing(self, keys: OwnerKeys, journaled: _Journaled, result: Rebuilt) -> list[tuple[Memory, Record]]:
        """Return what must stand in the table: per memory its last version that was not deleted, each text once.

        Of two memories with one text, one line was never acknowledged. The one that loses goes back to its version before, if it has one.
        """
        by_tag: dict[str, list[Record]] = {}
        standing: dict[str, list[Record]] = {}
        waiting = [self._possible(keys, records, journaled) for records in journaled.lives.values()]
        while waiting:
            versions = waiting.pop()
            if not versions:
                continue
            tags = items.held_tags(keys, versions[0].memory())
            rivals = {by_tag[tag][0].id: (tag, by_tag[tag]) for tag in tags if tag in by_tag}
            if rivals:
                result.doubles += 1
            if any(_rank(journaled, tag, rival) > _rank(journaled, tag, versions) for tag, rival in rivals.values()):
                waiting.append(versions[1:])
                continue
            for _, rival in rivals.values():
                standing.pop(rival[0].id)
                for tag in [tag for tag, holder in by_tag.items() if holder is rival]:
                    del by_tag[tag]
                waiting.append(rival[1:])
            by_tag |= dict.fromkeys(tags, versions)
            standing[versions[0].id] = versions
        return [(versions[0].memory(), versions[0]) for versions in standing.values()]

    def _possible(self, keys: OwnerKeys, records: list[Record], journaled: _Journaled) -> list[Record]:
        """Return the versions that may stand, latest first; none when the memory was deleted.

        Left out: a line that may never have been applied, and whose text another memory lost or held after it was written. Then its
        writer did not come to its end, somebody wrote the text again, and what became of that is the truth.
        """
        found: list[Record] = []
        for record in sorted(records, key=_age, reverse=True):
            retired = record.memory().status is Status.RETIRED
            if retired or (record.id, record.commit) in journaled.applied:
                found.append(record)
                continue
            tag = items.dedup_tag(keys, record.memory())
            lost = [grave for grave in journaled.tags.get(tag, ()) if grave.written > record.written]
            held = [other for other in journaled.held.get(tag, ()) if (other.id, other.commit) in journaled.applied]
            moved_on = [*lost, *(other for other in held if other.written > record.written)]
            if all(other.id == record.id for other in moved_on):
                found.append(record)
        graves = journaled.graves.get(records[0].id, ())
        return [] if found and any(_age(grave) > _age(found[0]) for grave in graves) else found

    def _items(
        self, keys: OwnerKeys, memories: list[tuple[Memory, Record]], journaled: _Journaled, result: Rebuilt
    ) -> Iterator[Write]:
        for memory, record in memories:
            sealed = items.seal(keys, memory, self.vaults.random)
            item = items.to_item(keys, sealed, record.commit)
            dedups = [items.dedup_item(tag, memory.id) for tag in sorted(sealed.tags)]
            result.memories += 1
            result.bytes += sum(sizes.item_bytes(keys.owner, one) for one in (item, *dedups)) + sizes.ACCESS_ALLOWANCE
            yield from (Put(one) for one in (item, *dedups))
        yield from self._projects(keys, [memory for memory, _ in memories], journaled.documents)
        if journaled.settings is not None:
            record = journaled.settings
            sealed_settings = keys.seal(
                lines.SETTINGS, lines.SETTINGS, record.version, bodies.pack(record.body), self.vaults.random
            )
            line = lines.Line(lines.SETTINGS, lines.SETTINGS, record.version, keys.generation, sealed_settings)
            yield Put(settings_item(line, record.commit))

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

    def _queue_again(self, keys: OwnerKeys, journaled: _Journaled, result: Rebuilt) -> None:
        """Queue conversations that wait. One whose plan is in the journal has been learned: the plan is applied by now."""
        prefix = names.conversation(keys.owner, keys.epoch)
        for name in list(self.vaults.objects.names(prefix)):
            task_id = name.key.removeprefix(prefix)
            if task_id in journaled.plans:
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
        self, keys: OwnerKeys, memories: list[tuple[Memory, Record]], journal_bytes: int, result: Rebuilt
    ) -> None:
        now = self.vaults.clock()
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
        try:
            self.vaults.table.write(keys.owner, [Put(head, Condition(absent=True))])
        except Refused:
            return


def _take(keys: OwnerKeys, found: _Journaled, record: Record) -> None:
    """Take one record into what the journal says."""
    if record.kind == lines.MEMORY:
        found.lives.setdefault(record.id, []).append(record)
        for tag in items.held_tags(keys, record.memory()):
            found.held.setdefault(tag, []).append(record)
    elif record.kind == lines.TOMBSTONE:
        found.graves.setdefault(record.id, []).append(record)
        found.tags.setdefault(record.tag, []).append(record)
    elif record.kind == lines.PLAN:
        found.plans.add(record.id)
    elif record.kind in lines.DOCUMENTS:
        known_document = found.documents.get((record.kind, record.id), Document())
        found.documents[record.kind, record.id] = known_document.joined(record.document())
    elif record.kind == lines.SETTINGS:
        known = found.settings
        found.settings = max(known, record, key=lambda r: (r.version, r.commit)) if known else record


def _unapplied(told: Iterable[Record], applied: set[tuple[str, str]]) -> set[str]:
    """Return the commits of lines that are whole together and of which one stands where something else followed the version before.

    Both cannot have been applied; nothing follows what was not, so the later one was. A commit that a later version names was applied,
    though the line that this one followed be forgotten.
    """
    followed = {commit for _, commit in applied}
    by_commit: dict[str, list[Record]] = {}
    by_id: dict[str, list[Record]] = {}
    whole: set[str] = set()
    for record in told:
        if record.kind == lines.WHOLE:
            whole.add(record.commit)
        elif record.kind in (lines.MEMORY, lines.TOMBSTONE):
            by_commit.setdefault(record.commit, []).append(record)
            by_id.setdefault(record.id, []).append(record)
    return {
        commit
        for commit in whole
        if commit not in followed
        and any(_contradicts(other, one) for one in by_commit.get(commit, ()) for other in by_id[one.id])
    }


def _contradicts(other: Record, one: Record) -> bool:
    """Tell whether a record says that another one of the same memory, in another commit, was never applied."""
    if other.commit == one.commit or _age(other) <= _age(one):
        return False
    return not (other.kind == lines.TOMBSTONE and one.kind == lines.MEMORY and other.version == one.version + 1)


def _age(record: Record) -> tuple[int, datetime, str]:
    return record.version, record.written, record.commit


def _rank(journaled: _Journaled, tag: str, versions: list[Record]) -> tuple[bool, bool, bool, str]:
    """Tell how surely a memory holds this text: its line is folded, or it held it in the version before as well; it is no edit, which
    has another text to go back to; a person wrote it; it was written later."""
    record, memory = versions[0], versions[0].memory()
    before = {(other.version, other.commit) for other in journaled.held[tag] if other.id == record.id}
    sure = (record.id, record.commit) in journaled.applied
    sure = sure or (bool(memory.prior) and (record.version - 1, memory.prior[-1]) in before)
    return sure, record.version == 1, memory.source in {Source.MANUAL, Source.IMPORTED}, record.commit
