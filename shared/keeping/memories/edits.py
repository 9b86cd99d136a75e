"""A person's changes of a memory that exists: edit, dismiss, restore, revert, delete. Three steps each with warm keys.

A change without If-Match is made again on the version that is there by then; with it, another version is refused.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from shared.domain import drafts
from shared.domain.errors import Busy, Invalid, NotFound, SealBroken, VersionMismatch
from shared.domain.memory import Category, Memory, Status
from shared.keeping.memories import fields
from shared.keeping.memories.memories import Memories
from shared.storage import items, names, unreadable
from shared.storage.items import Stored, full_text
from shared.storage.journal import Journal
from shared.storage.transactions import Change, Stale
from shared.storage.vaults import Opened

_NO_VERSION = "There is no such version, or it is not kept any more."
TRIES = 8
"""A change meets another one rarely; eight in a row are a loop of writers."""

Versions = frozenset[int] | None
"""What If-Match allows; None: any version."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes of single memories."""

    memories: Memories

    def edit(self, owner: str, memory_id: str, sent: Mapping[str, Any], versions: Versions) -> Memory:
        """Change the fields that were sent and return the memory as it stands; nothing new makes no version.

        Raises NotFound, VersionMismatch, Invalid, Duplicate, ActiveLimitReached (a restored memory is one more), QuotaExceeded.
        """
        return self._change(owner, memory_id, versions, lambda _, stored: self._edited(stored.memory, sent))

    def revert(self, owner: str, memory_id: str, version: int, versions: Versions) -> Memory:
        """Bring back text, category, importance, tags and metadata of an earlier version, as a new one.

        Raises what `edit` does; NotFound also when there is no such version, or it is not kept any more.
        """
        return self._change(
            owner, memory_id, versions, lambda opened, stored: self._reverted(opened, stored.memory, version)
        )

    def delete(self, owner: str, memory_id: str, versions: Versions) -> None:
        """Delete the memory, also one that does not open. Raises NotFound, VersionMismatch."""
        try:
            self._change(owner, memory_id, versions, lambda _opened, _stored: None)
        except SealBroken:
            self._delete_unreadable(owner, memory_id, versions)

    def history(self, owner: str, memory_id: str) -> list[Memory]:
        """Return the versions that are kept, newest first, the present one included. Damaged ones are left out."""
        opened, stored = self.memories.read(owner, memory_id)
        memory = stored.memory
        earlier = self._journal(opened).versions(memory.id, memory.prior)
        return [memory, *(drafts.as_past(version, memory) for version in reversed(earlier))]

    def sources(self, owner: str, memory_id: str) -> list[Memory]:
        """Return the memories that a consolidated one was made of, as long as they are kept; none for others. Damaged ones are left out."""
        opened, stored = self.memories.read(owner, memory_id)
        wanted = [names.MEMORY + source for source in stored.memory.sources]
        found = self.memories.commits.vaults.table.get(owner, wanted) if wanted else {}
        sources: dict[str, Memory] = {}
        for sk, item in found.items():
            with suppress(SealBroken):
                sources[sk] = items.from_item(opened.keys, item).memory
        return [sources[sk] for sk in wanted if sk in sources and sources[sk].status is Status.RETIRED]

    def _change(
        self,
        owner: str,
        memory_id: str,
        versions: Versions,
        change: Callable[[Opened, Stored], Memory | None],
    ) -> Memory:
        for _ in range(TRIES):
            opened, stored = self.memories.read(owner, memory_id)
            before = stored.memory
            if versions is not None and before.version not in versions:
                raise VersionMismatch
            after = change(opened, stored)
            if after == before:
                return before
            if after is not None:
                after = replace(after, updated_at=self.memories.now())
            made = partial(self.memories.commits.commit, owner, Change(stored, after))
            try:
                return self.memories.making_way(owner, made) or before
            except VersionMismatch:
                if versions is not None:
                    raise
        raise Busy

    def _delete_unreadable(self, owner: str, memory_id: str, versions: Versions) -> None:
        """Delete a memory whose row does not open. What is changed meanwhile may open again: then it is deleted as any other."""
        commits, sk = self.memories.commits, names.MEMORY + memory_id
        for _ in range(TRIES):
            opened = commits.vaults.open(owner, [sk])
            item = opened.items.get(sk) if opened else None
            if opened is None or item is None:
                raise NotFound
            if versions is not None and item.get("version") not in versions:
                raise VersionMismatch
            with suppress(VersionMismatch, Stale):
                unreadable.delete(commits, opened.keys, memory_id, item)
                return
        raise Busy

    def _edited(self, memory: Memory, sent: Mapping[str, Any]) -> Memory:
        after = _importance(_category(_content(memory, sent), memory, sent), sent)
        if "tags" in sent:
            after = replace(after, tags=fields.tags(sent["tags"]))
        if "metadata" in sent:
            after = replace(after, metadata=fields.metadata(sent["metadata"]))
        if "expires_at" in sent:
            after = replace(after, expires_at=fields.expires_at(sent["expires_at"], self.memories.now()))
        if "status" in sent:
            after = replace(after, status=Status(sent["status"]))
        return after

    def _reverted(self, opened: Opened, memory: Memory, version: int) -> Memory:
        if version == memory.version:
            return memory
        place = len(memory.prior) - (memory.version - version)
        if not 0 <= place < len(memory.prior):
            raise NotFound(_NO_VERSION)
        found = self._journal(opened).versions(memory.id, [memory.prior[place]])
        if not found:
            raise NotFound(_NO_VERSION)
        old = found[0]
        return replace(
            memory,
            content=old.content,
            secrets=old.secrets,
            category=old.category,
            importance=old.importance,
            tags=old.tags,
            metadata=old.metadata,
        )

    def _journal(self, opened: Opened) -> Journal:
        vaults = self.memories.commits.vaults
        return Journal(vaults.objects, opened.keys, vaults.random)


def _content(memory: Memory, sent: Mapping[str, Any]) -> Memory:
    if "content" not in sent:
        return memory
    return drafts.with_content(memory, fields.content(sent["content"]), sent.get("category"))


def _category(after: Memory, before: Memory, sent: Mapping[str, Any]) -> Memory:
    """Change the category alone: a memory becomes a credential whole, and stays one while it holds a secret."""
    category = sent.get("category")
    if category is None or "content" in sent or category is before.category:
        return after
    if category is Category.CREDENTIAL:
        return drafts.with_content(after, full_text(before), category)
    if before.secrets:
        raise Invalid.of(
            "category", "It holds a secret and stays a credential; change its content to make it something else."
        )
    return replace(after, category=category)


def _importance(after: Memory, sent: Mapping[str, Any]) -> Memory:
    if "importance" not in sent:
        return after
    if after.category is not Category.CREDENTIAL:
        return replace(after, importance=sent["importance"])
    if sent["importance"] != drafts.CREDENTIAL_IMPORTANCE and "content" not in sent:
        raise Invalid.of("importance", f"The importance of a credential is {drafts.CREDENTIAL_IMPORTANCE}.")
    return after
