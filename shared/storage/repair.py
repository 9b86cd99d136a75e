"""Repair: give every line of the journal that a dead writer left behind its one right end.

A line is settled when the table holds that commit or a later one of the same memory, or a tombstone ended it. An unsettled line older
than any running function is replayed through the transaction its writer would have used; if that is refused, so was the writer, and the
line is removed. Of lines that are whole together none is replayed: either all were applied, or all are removed. A line of a document is
settled when the table's document says it, or says something later; what it does not say any more is taken out of the line. The plan of
a task that is done goes. Lines of a task that is still open are left to the task, unless their memory was deleted.

The table may have lost what a line says. So none is removed on its word alone: a line that is refused although it was applied, as far as
anybody can tell, stays, and a comparison with the whole journal (comparison.py) is wanted first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum, auto
from functools import partial

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import (
    ActiveLimitReached,
    Changed,
    Duplicate,
    NacreError,
    QuotaExceeded,
    SealBroken,
    Unavailable,
)
from shared.domain.task import TaskStatus
from shared.ports import Item
from shared.storage import documents, items, lines, names, preferences
from shared.storage.commit import Commits
from shared.storage.documents import Document
from shared.storage.items import Sealed, Stored
from shared.storage.journal import Journal, JournalObject, Record
from shared.storage.plans import is_done, is_forgotten, is_open
from shared.storage.survey import Small, Survey, sk_of
from shared.storage.together import each
from shared.storage.transactions import Stale


class Verdict(Enum):
    SETTLED = auto()
    REPLAY = auto()
    REMOVE = auto()
    WAIT = auto()
    DOUBT = auto()
    """The table may have lost what this line says: it stays, and a comparison is wanted."""


class Repair:
    """Repairs one owner's journal."""

    def __init__(
        self, commits: Commits, keys: OwnerKeys, journal: Journal, now: datetime, *, compared: bool = False
    ) -> None:
        """`compared`: a comparison has just put right what the table had lost, so what is not there was never applied."""
        self.commits, self.keys, self.journal, self.now, self.compared = commits, keys, journal, now, compared
        self.table = commits.vaults.table
        self.state: dict[str, Stored | None] = {}
        self.tombstones: dict[str, list[Record]] = {}
        self.tags: dict[str, list[Record]] = {}
        self.memories: list[Record] = []
        self.settings: list[Record] = []
        self.telling: set[str] = set()
        self.unreadable: set[str] = set()
        self.folded_read = False
        self.documents: dict[str, Document] = {}
        """The documents that the lines speak of, by sort key; one that does not open is missing."""
        self.survey = Survey()

    def run(self) -> Survey:
        """Judge every line, replay and remove. Safe to end anywhere and to run again."""
        listing = self.journal.listing()
        self.survey.folded = [listed for listed in listing if listed.folded]
        smalls = [small for small in each(self._read, [o for o in listing if not o.folded]) if small]
        self._bury(record for small in smalls for record in small.records)
        tasks = self._load(smalls)
        late = self._catch_up(listing)
        self._wait_for([*smalls, *late])
        for small in smalls:
            self._settle(small, tasks)
        unknown = {record.id for small in late for record in small.records} - set(self.state)
        self.survey.dead = {i for i in self.tombstones if self._gone(i)} - unknown
        return self.survey

    def _catch_up(self, listing: list[JournalObject]) -> list[Small]:
        """Read what was written while the table was: a memory that is gone from there was told of in the journal before.

        Without this a line whose memory was deleted meanwhile would look like a dead writer's, and be replayed.
        """
        known = {listed.key for listed in listing}
        new = [listed for listed in self.journal.listing() if not listed.folded and listed.key not in known]
        late = [small for small in each(self._read, new) if small]
        self._bury(record for small in late for record in small.records)
        return late

    def _read(self, listed: JournalObject) -> Small | None:
        try:
            stored = self.journal.objects.get(listed.key)
            if stored is None:
                return None
            decoded = lines.decode(stored.body)
            return Small(listed, stored, decoded, list(self.journal.records(decoded, listed.first)))
        except SealBroken:
            self.survey.damage(journal=listed.first)
            return None

    def _bury(self, records: Iterable[Record]) -> None:
        for record in records:
            if record.kind == lines.TOMBSTONE:
                self.tombstones.setdefault(record.id, []).append(record)
                self.tags.setdefault(record.tag, []).append(record)
            elif record.kind == lines.MEMORY:
                self.memories.append(record)
            elif record.kind == lines.SETTINGS:
                self.settings.append(record)

    def _wait_for(self, smalls: list[Small]) -> None:
        """Find memories that once held the text of a young line whose writer may be at work or dead.

        What became of them tells which, so their lines are kept until the young one is old, even if they are deleted.
        """
        young = [record for small in smalls if not self._old(small) for record in small.records]
        unborn = {
            items.dedup_tag(self.keys, record.memory())
            for record in young
            if record.kind == lines.MEMORY
            and record.version == 1
            and self._gone(record.id)
            and record.id not in self.tombstones
        }
        if unborn:
            self.telling = {r.id for r in self.memories if unborn & items.held_tags(self.keys, r.memory())}

    def _old(self, small: Small) -> bool:
        return small.at <= self.now - limits.REPAIR_AFTER

    def _load(self, smalls: list[Small]) -> dict[str, Item]:
        """Read the present state of everything the lines speak of; return the tasks and settings among it."""
        wanted: set[str] = set()
        for small in smalls:
            for record in small.records:
                wanted.add(sk_of(record))
        found = self.table.get(self.keys.owner, sorted(wanted))
        for sk in wanted:
            if sk.startswith(names.MEMORY):
                memory_id = sk.removeprefix(names.MEMORY)
                try:
                    self.state[memory_id] = items.from_item(self.keys, found[sk]) if sk in found else None
                except SealBroken:
                    self.survey.damage(memory=memory_id)
                    self.survey.doubts += 1
                    self.unreadable.add(memory_id)
        places = {(r.kind, r.id) for small in smalls for r in small.records if r.kind in lines.DOCUMENTS}
        for kind, document_id in places:
            sk = documents.sk_of(kind, document_id)
            try:
                self.documents[sk] = documents.from_item(self.keys, kind, document_id, found.get(sk))
            except SealBroken:
                self.survey.damage(document=sk)
                self.survey.doubts += 1
        return {sk: item for sk, item in found.items() if not sk.startswith(names.MEMORY)}

    def _settle(self, small: Small, others: dict[str, Item]) -> None:
        plan = next((record for record in small.records if record.kind == lines.PLAN), None)
        task = others.get(names.TASK + plan.id) if plan is not None else None
        waits = plan is not None and is_open(task, self.now)
        forgotten = is_forgotten(task)
        old = (self._old(small) and not waits) or forgotten
        whole = any(record.kind == lines.WHOLE for record in small.records)
        kept: list[tuple[lines.Line, Record]] = []
        verdicts: list[Verdict] = []
        for line, record in zip(small.lines, small.records, strict=True):
            verdict = self._verdict(record, others, old=old)
            if verdict is Verdict.REPLAY:
                verdict = self._refused() if plan is not None or whole else self._replay(line, record, others)
            if plan is not None:
                verdict = self._planned(record, task, verdict)
            if verdict is Verdict.DOUBT:
                self.survey.doubts += 1
                verdict = Verdict.WAIT
            told = self._told(line, record, told=verdict is Verdict.SETTLED and not waits)
            if verdict is Verdict.REMOVE or told is None:
                self.survey.removed += 1
                continue
            kept.append(told)
            verdicts.append(verdict)
        over = forgotten or (task is not None and task["status"] == TaskStatus.DONE.value)
        if over and all(one is Verdict.SETTLED for one in verdicts):  # nobody reads the plan any more
            kept = [one for one in kept if one[1].kind != lines.PLAN]
        if whole and len(kept) == 1:
            kept = []
        try:
            self.journal.replace(small.listed.key, small.stored, lines.encode(line for line, _ in kept))
        except Changed:
            return
        if kept:
            small.lines, small.records = [line for line, _ in kept], [record for _, record in kept]
            small.settled = not waits and all(verdict is Verdict.SETTLED for verdict in verdicts)
            self.survey.smalls.append(small)

    def _verdict(self, record: Record, others: dict[str, Item], *, old: bool) -> Verdict:
        if record.kind == lines.MEMORY:
            verdict = self._memory(record)
        elif record.kind == lines.TOMBSTONE:
            verdict = self._tombstone(record)
        elif record.kind == lines.SETTINGS:
            verdict = self._chosen(record, others.get(names.SETTINGS))
        elif record.kind in lines.DOCUMENTS:
            verdict = self._document(record)
        else:
            verdict = Verdict.SETTLED
        superseded = verdict is Verdict.REMOVE and self._ended(record) and record.id not in self.telling
        certain = verdict is Verdict.SETTLED or superseded
        return verdict if certain or old else Verdict.WAIT

    def _document(self, record: Record) -> Verdict:
        standing = self.documents.get(sk_of(record))
        if standing is None:
            return Verdict.WAIT
        said = record.document()
        taken_away = said.ended or any(value is None for value, _ in said.fields.values())
        self.survey.ended = self.survey.ended or bool(taken_away)
        return Verdict.SETTLED if standing.joined(said) == standing else Verdict.DOUBT

    def _planned(self, record: Record, task: Item | None, verdict: Verdict) -> Verdict:
        """Judge a line of a plan further: what it says of a project was never said where the task did not come to its end, and of a task
        that failed for good only what the table names was applied."""
        forgotten, unsure = is_forgotten(task), verdict in (Verdict.WAIT, Verdict.DOUBT)
        if record.kind in lines.DOCUMENTS:
            never = forgotten if verdict is Verdict.WAIT else task is not None and not is_done(task)
        else:
            never = forgotten and verdict is Verdict.DOUBT and not self._named(record)
        return Verdict.REMOVE if unsure and never else verdict

    def _named(self, record: Record) -> bool:
        """Tell whether the table says of one of its texts that this memory holds it: then it was applied, and its row is lost."""
        held = items.held_tags(self.keys, record.memory()) if record.kind == lines.MEMORY else ()
        found = self.table.get(self.keys.owner, [names.DEDUP + tag for tag in held]) if held else {}
        return any(item.get("memory") == record.id for item in found.values())

    def _refused(self) -> Verdict:
        """Judge a line that the table will not take: its writer came to nothing, or its row was lost after it was applied."""
        return Verdict.REMOVE if self.compared else Verdict.DOUBT

    def _told(self, line: lines.Line, record: Record, *, told: bool) -> tuple[lines.Line, Record] | None:
        """Return a settled line with only what its document says still; None where that is nothing. Other lines are left as they are."""
        if not told or record.kind not in lines.DOCUMENTS:
            return line, record
        part = record.within(self.documents[sk_of(record)])
        if part is None:
            return None
        if part is record:
            return line, record
        random = self.commits.vaults.random
        return documents.line_of(self.keys, part.kind, part.id, part.document(), random), part

    def _memory(self, record: Record) -> Verdict:
        if record.id not in self.state:
            return Verdict.WAIT
        standing = self.state[record.id]
        if standing is None:
            return self._orphan(record)
        memory = standing.memory
        behind = memory.version - record.version
        if behind < 0:
            return Verdict.REPLAY if behind == -1 else Verdict.DOUBT
        if behind > len(memory.prior):
            return Verdict.SETTLED
        commit = memory.commit if behind == 0 else memory.prior[-behind]
        if record.commit == commit:
            return Verdict.SETTLED
        return Verdict.REMOVE if self._known(replace(record, commit=commit)) else Verdict.DOUBT

    def _known(self, winner: Record) -> bool:
        """Tell whether the journal holds the line that stands instead of another one; else that one may be all there is."""
        places = {one.place for one in (*self.memories, *self.settings)}
        if winner.place not in places:
            self._read_folded()
            places = {one.place for one in (*self.memories, *self.settings)}
        return winner.place in places

    def _orphan(self, record: Record) -> Verdict:
        """Judge a line whose memory is not in the table."""
        if not self._ended(record):
            self._read_folded()
        if self._ended(record):
            return Verdict.REMOVE
        if record.version > 1:  # nobody changes what is not there: it was
            return Verdict.DOUBT
        return Verdict.REMOVE if self._text_moved_on(record) else Verdict.REPLAY

    def _text_moved_on(self, record: Record) -> bool:
        """Tell whether another memory held or lost this text after the line was written.

        Then the line's writer never came to its end, somebody wrote the text again, and what became of that is the truth.
        """
        tag = items.dedup_tag(self.keys, record.memory())
        if any(grave.written > record.written for grave in self.tags.get(tag, ())):
            return True
        applied = {(other.id, commit) for other in self.memories for commit in other.prior}
        return any(
            other.id != record.id
            and other.written > record.written
            and (other.id, other.commit) in applied
            and tag in items.held_tags(self.keys, other.memory())
            for other in self.memories
        )

    def _tombstone(self, record: Record) -> Verdict:
        if record.id not in self.state:
            return Verdict.WAIT
        standing = self.state[record.id]
        if standing is None:
            return Verdict.SETTLED
        behind = standing.memory.version - record.version
        if behind >= 0:
            return Verdict.REMOVE
        return Verdict.REPLAY if behind == -1 else Verdict.DOUBT

    def _chosen(self, record: Record, standing: Item | None) -> Verdict:
        """Judge a line of settings."""
        try:
            version = preferences.from_item(self.keys, standing).version if standing else 0
        except SealBroken:
            return Verdict.DOUBT
        if record.version > version:
            return Verdict.REPLAY if record.version == version + 1 else Verdict.DOUBT
        if standing is not None and record.version == version:
            commit = str(standing["commit"])
            if record.commit == commit:
                return Verdict.SETTLED
            return Verdict.REMOVE if self._known(replace(record, commit=commit)) else Verdict.DOUBT
        return Verdict.REMOVE

    def _ended(self, record: Record) -> bool:
        """Tell whether the memory of this line was deleted: it had been in the table, or nobody had made a tombstone of it."""
        return record.kind == lines.MEMORY and record.id in self.tombstones and self._gone(record.id)

    def _gone(self, memory_id: str) -> bool:
        """Tell whether a memory is not in the table; one that is there and does not open is not gone."""
        return self.state.get(memory_id) is None and memory_id not in self.unreadable

    def _read_folded(self) -> None:
        """Read the tombstones of folded objects too, once, for the rare line that was never applied."""
        if self.folded_read:
            return
        self.folded_read = True
        for listed in self.survey.folded:
            try:
                read = self.journal.read(listed)
            except SealBroken:
                self.survey.damage(journal=listed.first)
                continue
            self._bury(read[1] if read else ())

    def _replay(self, line: lines.Line, record: Record, others: dict[str, Item]) -> Verdict:
        """Do what the writer would have done next; refused means that the writer would have been refused too."""
        redo = partial(self._replay_settings, others) if record.kind == lines.SETTINGS else self._replay_memory
        try:
            redo(line, record)
        except (Stale, Unavailable):
            return Verdict.WAIT
        except Duplicate as duplicate:
            return Verdict.REMOVE if self._stands(duplicate, record) else self._refused()
        except (ActiveLimitReached, QuotaExceeded):
            return self._refused()
        except NacreError:
            return Verdict.REMOVE
        self.survey.replayed += 1
        return Verdict.SETTLED

    def _stands(self, duplicate: Duplicate, record: Record) -> bool:
        """Tell whether it is another memory, one that is there, that holds the text: else a row was lost."""
        details = duplicate.details
        other = str(details["id"]) if isinstance(details, Mapping) else record.id
        sk = names.MEMORY + other
        return other != record.id and sk in self.table.get(self.keys.owner, [sk])

    def _replay_memory(self, line: lines.Line, record: Record) -> None:
        before = self.state.get(record.id)
        sealed = None
        if record.kind == lines.MEMORY:
            memory = record.memory()
            scope = items.scope_tag(self.keys, memory.scope, memory.project, memory.agent)
            sealed = Sealed(memory, line, scope, items.dedup_tag(self.keys, memory))
        self.commits.apply(self.keys, before, sealed, record.commit, len(line.encode()))
        if sealed is None:
            self.state[record.id] = None
        else:
            item = self.table.get(self.keys.owner, [names.MEMORY + record.id]).get(names.MEMORY + record.id)
            self.state[record.id] = items.from_item(self.keys, item) if item else None

    def _replay_settings(self, others: dict[str, Item], line: lines.Line, record: Record) -> None:
        item = self.commits.apply_settings(self.keys, line, record.commit)
        others[names.SETTINGS] = item
