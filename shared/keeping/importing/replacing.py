"""What `replace` means: everything that stood before the import and that none of its records means is forgotten.

It is refused before anything changes where the file shows that more would be forgotten than is meant: it is cut, nothing of it can be
taken in, or another tool wrote it and a line is refused, so that nobody knows which memory that line is.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.domain.errors import DamagedFile, Invalid
from shared.domain.memory import Memory, Status
from shared.keeping.forgetting.selection import Selection, came_at
from shared.keeping.importing.course import NACRE, Course
from shared.keeping.importing.deciding import drafted
from shared.keeping.importing.nacre import Read
from shared.keeping.importing.records import Record
from shared.keeping.importing.thread import Thread
from shared.keeping.maintenance.visits import Visit
from shared.storage import names
from shared.text.normalise import normalise


@dataclass(frozen=True, slots=True)
class Unmeant(Selection):
    """Memories made, brought here and last changed before `asked_at`, but for the `spared` ones, what became part of one of them, and those
    that show one of the `texts`."""

    spared: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def wants_unread(self, memory_id: str) -> bool | None:
        """Tell whether a memory that does not open is to be forgotten: it is none of those that the import brought."""
        return super().wants_unread(memory_id) and memory_id not in self.spared

    def wants(self, memory: Memory) -> bool:
        """Tell whether a memory is to be forgotten."""
        merged = memory.status is Status.RETIRED and memory.replaced_by in self.spared
        old = max(memory.created_at, memory.updated_at, came_at(memory)) <= self.asked_at
        return old and not merged and memory.id not in self.spared and normalise(memory.content) not in self.texts


def meant_by(visit: Visit, task_id: str, records: Iterable[Record]) -> set[str]:
    """Return the ids of the memories that these records became, or that say their texts."""
    drafts = [drafted(visit.opened.keys, task_id, record) for record in records]
    sks = sorted({names.DEDUP + draft.tag for draft in drafts})
    found = visit.vaults.table.get(visit.owner, sks) if sks else {}
    return {draft.memory.id for draft in drafts} | {str(item["memory"]) for item in found.values()}


def refuse_cut(thread: Thread) -> None:
    """Raise DamagedFile where a file has a beginning and no end."""
    if thread.cut:
        raise DamagedFile


def refuse_empty(course: Course, read: Read | None = None) -> None:
    """Raise Invalid where neither the pages that came nor this one hold a record."""
    if not (read and read.records) and not any(records for _, records, _ in course.pages):
        raise Invalid.of("data", "Nothing of it can be taken in, so it replaces nothing. POST /v1/forget forgets all.")


def refuse_lossy(course: Course, read: Read) -> None:
    """Raise Invalid where a line of another tool's file is refused: it may be one of the memories that would be forgotten."""
    if course.wanted.format != NACRE and read.refused:
        first = read.refused[0]
        problem = f"Line {first.line} cannot be taken in ({first.reason}), and replace would forget what it says."
        raise Invalid.of("data", f"{problem} Mend or remove it, or use merge or overwrite.")
