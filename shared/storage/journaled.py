"""What an owner's whole journal says: which memories stand and in which version, and what is said of documents and settings.

Whoever reads it needs no table: a rebuild makes one of it, a comparison holds one against it.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.memory import Source, Status
from shared.observability import alarm
from shared.storage import items, lines
from shared.storage.documents import Document
from shared.storage.journal import Journal, JournalObject, Record


@dataclass(slots=True)
class Journaled:
    """Everything the journal says, by memory id."""

    lives: dict[str, list[Record]] = field(default_factory=dict)
    graves: dict[str, list[Record]] = field(default_factory=dict)
    tags: dict[str, list[Record]] = field(default_factory=dict)
    applied: set[tuple[str, str]] = field(default_factory=set)
    """Ids and commits that surely were in the table: a later version of the same memory names them, or they are folded."""
    held: dict[str, list[Record]] = field(default_factory=dict)
    """Records by the tags of the texts that led to them."""
    settings: list[Record] = field(default_factory=list)
    said: dict[tuple[str, str], list[Record]] = field(default_factory=dict)
    """Records of documents, by kind and id."""
    plans: dict[str, str] = field(default_factory=dict)
    """The tasks whose plans are in the journal still, by the commit of each."""
    whole: dict[str, list[Record]] = field(default_factory=dict)
    """Lines of memories that were applied together or not at all, by their commit."""
    size: int = 0
    damaged: int = 0
    """Objects that do not open."""


def read(journal: Journal, listing: Iterable[JournalObject] | None = None) -> Journaled:
    """Read the journal, or these objects of it, without lines that were whole together and surely never applied. What does not open is
    told of by its first commit."""
    found = Journaled()
    told: list[Record] = []
    for listed in journal.listing() if listing is None else listing:
        try:
            opened = journal.read(listed)
        except SealBroken:
            found.damaged += 1
            alarm("damaged", journal=listed.first)
            continue
        if opened is None:
            continue
        stored, records = opened
        found.size += len(stored.body)
        told += records
        found.applied |= {(record.id, commit) for record in records for commit in record.prior}
        if listed.folded:  # only what repair has settled is folded
            found.applied |= {(record.id, record.commit) for record in records if record.kind == lines.MEMORY}
    unapplied = _unapplied(told, found.applied)
    for record in told:
        if record.commit not in unapplied:
            _take(journal.keys, found, record)
    for commit in {record.commit for record in told if record.kind == lines.WHOLE} - unapplied:
        found.whole[commit] = [one for one in told if one.commit == commit and one.kind != lines.WHOLE]
    return found


def _take(keys: OwnerKeys, found: Journaled, record: Record) -> None:
    """Take one record into what the journal says."""
    if record.kind == lines.MEMORY:
        found.lives.setdefault(record.id, []).append(record)
        for tag in items.held_tags(keys, record.memory()):
            found.held.setdefault(tag, []).append(record)
    elif record.kind == lines.TOMBSTONE:
        found.graves.setdefault(record.id, []).append(record)
        found.tags.setdefault(record.tag, []).append(record)
    elif record.kind == lines.PLAN:
        found.plans[record.commit] = record.id
    elif record.kind in lines.DOCUMENTS:
        found.said.setdefault((record.kind, record.id), []).append(record)
    elif record.kind == lines.SETTINGS:
        found.settings.append(record)


def said_of(journal: Journal, kind: str, document_id: str) -> Document:
    """Return what the journal says of one document; plans are left out, since what they say may not be said yet."""
    found: list[Record] = []
    for listed in journal.listing():
        with suppress(SealBroken):
            opened = journal.read(listed)
            records = opened[1] if opened is not None else []
            if not any(record.kind == lines.PLAN for record in records):
                found += [record for record in records if (record.kind, record.id) == (kind, document_id)]
    return document_of(found)


def document_of(records: Iterable[Record]) -> Document:
    """Return what these records say together of one document."""
    return reduce(Document.joined, (record.document() for record in records), Document())


def latest_settings(records: Iterable[Record]) -> Record | None:
    """Return the settings that stand; None where there are none."""
    return max(records, key=lambda record: (record.version, record.commit), default=None)


def standing(keys: OwnerKeys, journaled: Journaled) -> tuple[list[Record], int]:
    """Return what must stand in a table: per memory its last version that was not deleted, each text once; and how many had another's.

    Of two memories with one text, one line was never acknowledged. The one that loses goes back to its version before, if it has one.
    """
    by_tag: dict[str, list[Record]] = {}
    found: dict[str, list[Record]] = {}
    doubles = 0
    waiting = [possible(keys, records, journaled) for records in journaled.lives.values()]
    while waiting:
        versions = waiting.pop()
        if not versions:
            continue
        tags = items.held_tags(keys, versions[0].memory())
        rivals = {by_tag[tag][0].id: (tag, by_tag[tag]) for tag in tags if tag in by_tag}
        if rivals:
            doubles += 1
        if any(_rank(journaled, tag, rival) > _rank(journaled, tag, versions) for tag, rival in rivals.values()):
            waiting.append(versions[1:])
            continue
        for _, rival in rivals.values():
            found.pop(rival[0].id)
            for tag in [tag for tag, holder in by_tag.items() if holder is rival]:
                del by_tag[tag]
            waiting.append(rival[1:])
        by_tag |= dict.fromkeys(tags, versions)
        found[versions[0].id] = versions
    return [versions[0] for versions in found.values()], doubles


def possible(keys: OwnerKeys, records: list[Record], journaled: Journaled) -> list[Record]:
    """Return the versions that may stand, latest first; none when the memory was deleted.

    Left out: a line that may never have been applied, and whose text another memory lost or held after it was written. Then its
    writer did not come to its end, somebody wrote the text again, and what became of that is the truth.
    """
    found: list[Record] = []
    for record in sorted(records, key=age, reverse=True):
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
    return [] if found and any(age(grave) > age(found[0]) for grave in graves) else found


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
    if other.commit == one.commit or age(other) <= age(one):
        return False
    return not (other.kind == lines.TOMBSTONE and one.kind == lines.MEMORY and other.version == one.version + 1)


def age(record: Record) -> tuple[int, datetime, str]:
    """Return what orders the lines of one memory: the version, and of rivals for one version when they were written."""
    return record.version, record.written, record.commit


def _rank(journaled: Journaled, tag: str, versions: list[Record]) -> tuple[bool, bool, bool, str]:
    """Tell how surely a memory holds this text: its line is folded, or it held it in the version before as well; it is no edit, which
    has another text to go back to; a person wrote it; it was written later."""
    record, memory = versions[0], versions[0].memory()
    before = {(other.version, other.commit) for other in journaled.held[tag] if other.id == record.id}
    sure = (record.id, record.commit) in journaled.applied
    sure = sure or (bool(memory.prior) and (record.version - 1, memory.prior[-1]) in before)
    return sure, record.version == 1, memory.source in {Source.MANUAL, Source.IMPORTED}, record.commit
