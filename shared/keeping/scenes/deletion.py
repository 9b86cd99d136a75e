"""Deleting a scene: the project is active no more, what was said of it and waits to be learned goes, its memories go in bounded batches,
tombstones first, and then the scene ends.

Each step may be the last one of a dying process: what is left stays a scene, and the same request goes on with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Busy, ConfirmationNeeded, NotFound, SealBroken, VersionMismatch
from shared.keeping.forgetting.selection import Selection
from shared.keeping.forgetting.traces import unnote
from shared.keeping.forgetting.unlearning import unlearn
from shared.keeping.scenes.scenes import Scenes, activate, latest_first
from shared.observability import alarm
from shared.ports import Item
from shared.storage import items, lines, names, scenes, unreadable
from shared.storage.document_commits import END, TRIES, DocumentCommits
from shared.storage.items import Stored
from shared.storage.transactions import Change, Stale, batches
from shared.storage.vaults import Opened


@dataclass(frozen=True, slots=True)
class Deleted:
    """What one request did: memories deleted, memories that remain, and whether the scene is gone with all of them."""

    memories: int
    remaining: int = 0

    @property
    def done(self) -> bool:
        return self.remaining == 0


@dataclass(frozen=True, slots=True)
class SceneDeletion:
    """Deletes scenes of owners."""

    scenes: Scenes

    def delete(self, owner: str, project: str, *, confirm: bool) -> Deleted:
        """Delete a project's memories and its scene; what does not fit into a request's time remains, for the next one.

        Raises NotFound, ConfirmationNeeded (details say how many memories would go), TableLost, Busy.
        """
        opened, scene = self.scenes.read(owner, project)
        if not confirm:
            raise ConfirmationNeeded(
                "The scene and its memories would be deleted for good. Send confirm=true when that is meant.",
                details={"memories": scene.memories},
            )
        commits = self.scenes.commits
        documents, clock = DocumentCommits(commits), commits.vaults.clock
        ends = clock() + limits.DELETING_TIME
        deleted = 0
        said = Selection(asked_at=clock(), project=project)
        unnote(commits.vaults, opened.keys, said)
        unlearn(commits.vaults, opened.keys, said, lambda _counts: None, None)
        for _ in range(TRIES):
            activate(documents, owner, None, instead_of=project)
            gone, more = self._memories(opened, scenes.tag_of(opened.keys, project), ends)
            deleted += gone
            if more or self._end(documents, opened, project):
                activate(documents, owner, None, instead_of=project)
                return Deleted(deleted, more)
        raise Busy

    def _end(self, documents: DocumentCommits, opened: Opened, project: str) -> bool:
        """End the scene; False where a memory came in meanwhile."""
        sk = scenes.sk_of(opened.keys, project)
        item = documents.commits.vaults.table.get(opened.keys.owner, [sk]).get(sk, {})
        if int(item.get("memories", 0)):
            return False
        place = (lines.SCENE, scenes.tag_of(opened.keys, project))
        try:
            documents.write(opened.keys.owner, lambda _opened: place, lambda _opened, _standing: END)
        except Busy:
            return False
        return True

    def _memories(self, opened: Opened, tag: str, ends: datetime) -> tuple[int, int]:
        """Delete memories until there are none or the time is over; return how many went and how many are left."""
        vaults, owner = self.scenes.commits.vaults, opened.keys.owner
        deleted = left = 0
        for page in latest_first(vaults, owner):
            found = [item for item in page if item.get("scope") == tag]
            if left or vaults.clock() >= ends:
                left += len(found)
            elif found:
                gone = self._all_of(opened, found)
                deleted += gone
                left += len(found) - gone
        return deleted, left

    def _all_of(self, opened: Opened, found: Sequence[Item]) -> int:
        """Delete these memories, whatever becomes of them meanwhile, also what does not open; return how many are gone."""
        commits, owner = self.scenes.commits, opened.keys.owner
        waiting = {str(item["sk"]): item for item in found}
        for _ in range(TRIES):
            stored, damaged = _opened(opened.keys, waiting.values())
            changes = [Change(one, None) for one in stored]
            try:
                for item in damaged:
                    memory_id, scope = str(item["sk"]).removeprefix(names.MEMORY), str(item["scope"])
                    unreadable.delete(commits, opened.keys, memory_id, item, scope=scope, retired=True)
                for batch in batches(opened.keys, changes):
                    commits.commit_together(opened.keys, batch)
            except Stale:
                commits.vaults.forget(owner)
                break
            except (NotFound, VersionMismatch):
                waiting = commits.vaults.table.get(owner, list(waiting))
                continue
            return len(found)
        raise Busy


def _opened(keys: OwnerKeys, found: Iterable[Item]) -> tuple[list[Stored], list[Item]]:
    stored: list[Stored] = []
    damaged: list[Item] = []
    for item in found:
        try:
            stored.append(items.from_item(keys, item))
        except SealBroken:
            alarm("damaged", memory=str(item["sk"]).removeprefix(names.MEMORY))
            damaged.append(item)
    return stored, damaged
