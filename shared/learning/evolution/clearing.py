"""Lets suggestions follow what they rest on: a consolidation, a deletion, an end.

Where a memory of it is gone, a proposed one goes. A dismissed one keeps only what it is known by. An accepted one is said anew in the words
of what stands, if that is two memories at least, and goes else.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from shared.domain.errors import SealBroken
from shared.domain.memory import Memory
from shared.keeping.maintenance.visits import Visit
from shared.learning.evolution.evolving import SEEN
from shared.learning.evolution.naming import in_own_words
from shared.ports import Item
from shared.storage import basis, items, names, suggestions
from shared.storage.commit import Commits
from shared.storage.document_commits import END, DocumentCommits, End
from shared.storage.documents import Document
from shared.storage.suggestions import Decision, Suggestion, fields, place_of
from shared.storage.vaults import Opened

ENOUGH = 2
"""Memories that an accepted suggestion needs to stay."""


@dataclass(frozen=True, slots=True)
class SuggestionClearing:
    """A step of maintenance; it stands also before the change rows go that say what is gone."""

    commits: Commits
    name: str = "suggestion_clearing"

    def run(self, visit: Visit) -> Mapping[str, int]:
        found = list(suggestions.all_of(visit.vaults, visit.opened.keys))
        ids = {memory_id for one in found for memory_id in one.basis}
        if not ids:
            return {}
        read = visit.vaults.table.get(visit.owner, basis.sks(ids))
        stand = basis.standing(visit.opened, read, ids, visit.vaults.clock()) - visit.unsaid
        replaced = basis.replaced(visit.opened, read, ids)
        changed = 0
        for one in found:
            wanted = _mended(visit, one, read, stand, replaced)
            if wanted is END:  # what it rested on may repeat without the memory that is gone
                visit.note(**{SEEN: None})
            if wanted is not None:
                self._write(visit, one, wanted)
                changed += 1
        return {"changed": changed}

    def _write(self, visit: Visit, read: Suggestion, wanted: Mapping[str, Any] | End) -> None:
        """Write what is to become of a suggestion as it was read; one that its owner changed since is left to the next visit."""

        def changed(_opened: Opened, standing: Document) -> Mapping[str, Any] | End | None:
            return wanted if standing.latest == read.commit else None

        DocumentCommits(self.commits).write(visit.owner, place_of(read.id), changed)


def _mended(
    visit: Visit, one: Suggestion, read: Mapping[str, Item], stand: frozenset[str], replaced: Mapping[str, str | None]
) -> Mapping[str, Any] | End | None:
    """Return what is to be written of a suggestion; None where all is well."""
    left = tuple(dict.fromkeys(kept for i in one.basis if i in stand and (kept := replaced.get(i, i))))
    if all(memory_id in stand for memory_id in one.basis):
        return None if left == one.basis or not left else fields(replace(one, basis=left))
    if one.status is Decision.DISMISSED:
        return fields(replace(one, basis=(), title="", text="")) if one.text else None
    memories = _opened(visit, read, one.basis, stand)
    if one.status is Decision.PROPOSED or len(memories) < ENOUGH:
        return END
    _, title, text = in_own_words(memories)
    return fields(replace(one, basis=left, title=title, text=text, evidence=len(memories), model=None))


def _opened(visit: Visit, read: Mapping[str, Item], ids: tuple[str, ...], stand: frozenset[str]) -> list[Memory]:
    """Return the memories that stand, the last confirmed first."""
    found: list[Memory] = []
    for memory_id in ids:
        with suppress(SealBroken, KeyError):
            if memory_id in stand:
                found.append(items.from_item(visit.opened.keys, read[names.MEMORY + memory_id]).memory)
    return sorted(found, key=lambda memory: (memory.updated_at, memory.id), reverse=True)
