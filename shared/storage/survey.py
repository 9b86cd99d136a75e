"""What repair finds in an owner's journal: the objects that stay and what became of their lines. Folding goes by it."""

from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.ids import ulid_time
from shared.observability import alarm
from shared.ports import StoredObject
from shared.storage import documents, lines, names
from shared.storage.journal import JournalObject, Record


@dataclass(slots=True)
class Small:
    """An object that is not folded yet: its lines, the same lines opened, and (after repair) which are settled."""

    listed: JournalObject
    stored: StoredObject
    lines: list[lines.Line]
    records: list[Record]
    settled: bool = False

    @property
    def at(self) -> datetime:
        return ulid_time(self.listed.first)


@dataclass(slots=True)
class Survey:
    """What repair found and did: objects that stay, counts, and ids of memories that are gone for good."""

    smalls: list[Small] = field(default_factory=list)
    folded: list[JournalObject] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)
    ended: bool = False
    """Whether a document ended lately, or a text of it was taken away: older objects may hold what it said."""
    doubts: int = 0
    """Lines, or rows, that only a comparison with the whole journal can judge."""
    replayed: int = 0
    removed: int = 0
    damaged: int = 0

    def damage(self, **which: str) -> None:
        """Count what does not open and tell of it by its id: of a journal object its first commit, of a document its sort key."""
        self.damaged += 1
        alarm("damaged", **which)


def sk_of(record: Record) -> str:
    """Return the sort key of the row that a line is about."""
    if record.kind == lines.PLAN:
        return names.TASK + record.id
    if record.kind in lines.DOCUMENTS:
        return documents.sk_of(record.kind, record.id)
    return names.SETTINGS if record.kind == lines.SETTINGS else names.MEMORY + record.id
