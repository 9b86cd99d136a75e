"""Fold: settled lines older than an hour become few, large, well compressed objects; what was deleted leaves the journal.

Order makes every step safe to end after: the folded object is stored before its sources go, and reading takes equal records as one.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import reduce
from itertools import islice

from shared.domain import limits
from shared.domain.errors import AlreadyThere, SealBroken
from shared.domain.ids import first_ulid, ulid, ulid_time
from shared.ports import StoredObject, Table
from shared.storage import documents, lines, names
from shared.storage.documents import Document
from shared.storage.journal import Journal, JournalObject, Record, merged
from shared.storage.survey import Survey

CLOCKS_APART = timedelta(minutes=10)
"""More than the clocks of two processes differ: an id may be a little younger than the commit that holds it."""
Read = tuple[JournalObject, StoredObject, list[Record]]


class Fold:
    """Folds one owner's journal after a repair."""

    def __init__(self, journal: Journal, survey: Survey, now: datetime, table: Table) -> None:
        self.journal, self.survey, self.now, self.table = journal, survey, now, table

    def purge(self) -> int:
        """Remove every record of deleted memories from the folded objects, and what documents do not say any more; return how many
        objects were rewritten.

        The objects that may hold one are those that end after the memory's id was made; of a document that ended, all. What an
        earlier run, which ended, left of superseded versions goes even where nothing is left to rewrite.
        """
        rewritten = 0
        dead = self.survey.dead
        if not dead and not self.survey.ended:
            return 0
        oldest = "" if self.survey.ended else first_ulid(ulid_time(min(dead)) - CLOCKS_APART)
        for listed in [listed for listed in self.survey.folded if listed.last >= oldest]:
            read = self._read(listed)
            if read is None:
                continue
            _, stored, records = read
            kept = self._still_said(self._alive(records))
            if kept != records:
                self.journal.replace(listed.key, stored, self._encode(kept))
                rewritten += 1
            else:
                self.journal.objects.erase(listed.key, keep_current=True)
        return rewritten

    def _alive(self, records: Iterable[Record]) -> list[Record]:
        """Return the records without those of deleted memories; of one whose deletion was finished just now they are still among the
        small objects."""
        return [record for record in records if record.kind != lines.MEMORY or record.id not in self.survey.dead]

    def _still_said(self, records: list[Record]) -> list[Record]:
        """Return the records with what the table's documents say still. One that does not open, or that the table has lost or in an older
        state, is left as it is: the record may be all there is of it."""
        sks = {documents.sk_of(record.kind, record.id) for record in records if record.kind in lines.DOCUMENTS}
        found = self.table.get(self.journal.keys.owner, sorted(sks)) if sks else {}
        kept = []
        for record in records:
            part: Record | None = record
            if record.kind in lines.DOCUMENTS:
                item = found.get(documents.sk_of(record.kind, record.id))
                with suppress(SealBroken):
                    standing = documents.from_item(self.journal.keys, record.kind, record.id, item)
                    part = record.within(standing) if standing.joined(record.document()) == standing else record
            if part is not None:
                kept.append(part)
        return kept

    def fold(self) -> int:
        """Fold what is old enough; return how many small objects went."""
        smalls = [s for s in self.survey.smalls if s.settled and s.at <= self.now - limits.FOLD_AFTER]
        if not smalls:
            return 0
        open_ones = [listed for listed in self.survey.folded if listed.size < limits.FOLD_BYTES // 2]
        reads = [read for listed in open_ones if (read := self._read(listed)) is not None]
        held = [record for _, _, records in reads for record in records]
        records = merged([*held, *(record for small in smalls for record in small.records)])
        kept = sorted(self._still_said(self._worth_keeping(self._alive(records.values()))), key=_order)
        made = {self._store(body, records) for body, records in self._objects(kept)}
        if None in made:
            return 0
        for listed, _, _ in reads:
            if listed.key not in made:
                self.journal.objects.erase(listed.key)
        for small in smalls:
            self.journal.objects.erase(small.listed.key)
        return len(smalls)

    def _read(self, listed: JournalObject) -> Read | None:
        try:
            read = self.journal.read(listed)
        except SealBroken:
            self.survey.damage(journal=listed.first)
            return None
        return None if read is None else (listed, *read)

    def _worth_keeping(self, records: Iterable[Record]) -> list[Record]:
        """Leave out plans that are done, settings that were superseded, old tombstones, and versions beyond the history; join what is
        said of one document."""
        kept: list[Record] = []
        histories: dict[str, list[Record]] = {}
        settings: Record | None = None
        said: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            if record.kind == lines.MEMORY:
                histories.setdefault(record.id, []).append(record)
            elif record.kind == lines.SETTINGS:
                settings = record if settings is None else max(settings, record, key=lambda r: (r.version, r.commit))
            elif record.kind in lines.DOCUMENTS:
                said.setdefault((record.kind, record.id), []).append(record)
            elif record.kind == lines.TOMBSTONE and record.at and record.at > self.now - limits.TOMBSTONES_KEPT:
                kept.append(record)
        for history in histories.values():
            history.sort(key=lambda record: record.version, reverse=True)
            kept += islice(history, limits.HISTORY_VERSIONS + 1)
        return kept + [_joined(records) for records in said.values()] + ([settings] if settings else [])

    def _objects(self, records: list[Record]) -> Iterator[tuple[bytes, list[Record]]]:
        """Yield bodies of at most FOLD_BYTES with their records. One of half that size or more is never opened to add to it."""
        body, held = b"", list[Record]()
        for line, block in self.journal.blocks(records, self._new_id):
            encoded = line.encode()
            if held and len(body) + len(encoded) > limits.FOLD_BYTES:
                yield body, held
                body, held = b"", []
            body += encoded
            held += block
        if held:
            yield body, held

    def _store(self, body: bytes, records: list[Record]) -> str | None:
        """Store a folded object under the name of its commits. One of that name is what an earlier run, which ended, made.

        Return its key; None when that one is damaged: then what was to be folded stays as it is.
        """
        first, last = records[0].commit, records[-1].commit
        key = f"{self.journal.prefix}{first}{names.FOLDED}{last}"
        try:
            self.journal.objects.put(key, body, if_absent=True)
        except AlreadyThere:
            read = self._read(JournalObject(key, first, last, 0))
            if read is None:
                return None
            union = merged([*read[2], *records])
            self.journal.replace(key, read[1], self._encode(sorted(self._alive(union.values()), key=_order)))
        return key

    def _encode(self, records: Iterable[Record]) -> bytes:
        return lines.encode(line for line, _ in self.journal.blocks(records, self._new_id))

    def _new_id(self) -> str:
        return ulid(self.now, self.journal.random)


def _joined(records: list[Record]) -> Record:
    """Return all that is said of one document as one record, of the latest commit in it."""
    document = reduce(Document.joined, [record.document() for record in records])
    return replace(records[0], commit=document.latest, body=document.to_body())


def _order(record: Record) -> tuple[str, str, int]:
    return record.commit, record.id, record.version
