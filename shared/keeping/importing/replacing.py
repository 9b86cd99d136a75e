"""What `replace` means: everything that stood before the import and that none of its records means is forgotten."""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.domain.memory import Memory, Status
from shared.keeping.forgetting.selection import Selection, came_at
from shared.keeping.importing.deciding import drafted
from shared.keeping.importing.records import Record
from shared.keeping.maintenance.visits import Visit
from shared.storage import names


@dataclass(frozen=True, slots=True)
class Unmeant(Selection):
    """Memories made, brought here and last changed before `asked_at`, but for the `spared` ones and what became part of one of them."""

    spared: frozenset[str] = frozenset()

    def wants_unread(self, memory_id: str) -> bool | None:
        """Tell whether a memory that does not open is to be forgotten: it is none of those that the import brought."""
        return super().wants_unread(memory_id) and memory_id not in self.spared

    def wants(self, memory: Memory) -> bool:
        """Tell whether a memory is to be forgotten."""
        merged = memory.status is Status.RETIRED and memory.replaced_by in self.spared
        old = max(memory.created_at, memory.updated_at, came_at(memory)) <= self.asked_at
        return old and not merged and memory.id not in self.spared


def meant_by(visit: Visit, task_id: str, records: Iterable[Record]) -> set[str]:
    """Return the ids of the memories that these records became, or that say their texts."""
    drafts = [drafted(visit.opened.keys, task_id, record) for record in records]
    sks = sorted({names.DEDUP + draft.tag for draft in drafts})
    found = visit.vaults.table.get(visit.owner, sks) if sks else {}
    return {draft.memory.id for draft in drafts} | {str(item["memory"]) for item in found.values()}
