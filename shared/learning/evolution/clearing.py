"""Lets suggestions follow what they rest on: a consolidation, a deletion, an edit, an end.

Where a memory of it is gone or says something else, a proposed one goes. A dismissed one keeps only what it is known by. An accepted one
is said anew in the words of what stands, if that is two memories at least, and goes else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shared.domain.memory import Memory
from shared.keeping.maintenance.visits import Visit
from shared.learning.evolution.evolving import SEEN
from shared.learning.evolution.naming import in_own_words
from shared.storage import basis, suggestions
from shared.storage.basis import Ground, Said
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
        ground = basis.read_to_keep(visit.vaults, visit.opened, [one.rests for one in found], visit.unsaid)
        changed = 0
        for one in found:
            wanted = _mended(visit, one, ground)
            if wanted is END:  # what it rested on may repeat without the memory that is gone
                visit.note(**{SEEN: None})
            if wanted is not None:
                self._write(visit, one, wanted)
                changed += 1
        return {"changed": changed} if found else {}

    def _write(self, visit: Visit, read: Suggestion, wanted: Mapping[str, Any] | End) -> None:
        """Write what is to become of a suggestion as it was read; one that its owner changed since is left to the next visit."""

        def changed(_opened: Opened, standing: Document) -> Mapping[str, Any] | End | None:
            return wanted if standing.latest == read.commit else None

        DocumentCommits(self.commits).write(visit.owner, place_of(read.id), changed, beyond_quota=True)


def _mended(visit: Visit, one: Suggestion, ground: Ground) -> Mapping[str, Any] | End | None:
    """Return what is to be written of a suggestion; None where all is well."""
    kept = ground.kept(one.rests)
    if kept is not None:
        return None if kept == one.rests else fields(replace(one, basis=kept.ids, said=kept.said))
    if one.status is Decision.DISMISSED:
        return fields(replace(one, basis=(), said={}, title="", text="")) if one.text else None
    memories = _standing(one, ground)
    if one.status is Decision.PROPOSED or len(memories) < ENOUGH:
        return END
    _, title, text = in_own_words(memories)
    rests = basis.basis_of(visit.opened.keys, memories, ground.now)
    anew = replace(one, basis=rests.ids, said=rests.said, title=title, text=text)
    return fields(replace(anew, evidence=len(memories), model=None))


def _standing(one: Suggestion, ground: Ground) -> list[Memory]:
    """Return the memories that stand and say now what it rested on, the last confirmed first."""
    spoken = [ground.spoken(memory_id, one.said.get(memory_id, Said())) for memory_id in one.basis]
    found = [ground.memory(memory_id) for memory_id in dict.fromkeys(i for these in spoken for i in these or ())]
    return sorted(filter(None, found), key=lambda memory: (memory.updated_at, memory.id), reverse=True)
