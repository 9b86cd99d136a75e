"""Writing documents: the journal first, then one transaction, like memories; two writers of one document never undo each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from shared.domain.errors import Busy, NotFound, SealBroken, VersionMismatch
from shared.domain.ids import ulid, ulid_time
from shared.ports import Condition, Item
from shared.storage import documents, lines
from shared.storage.commit import Commits
from shared.storage.documents import Document
from shared.storage.journal import Journal
from shared.storage.journaled import said_of
from shared.storage.transactions import Stale
from shared.storage.vaults import Opened

TRIES = 8


class End:
    """Instead of fields: the document is to end."""


END: Final = End()
Change = Callable[[Opened, Document], Mapping[str, Any] | End | None]
"""Gets the owner and the document as it stands (empty: none); returns the fields to set, END, or None to leave it as it is."""


@dataclass(frozen=True, slots=True)
class DocumentCommits:
    """Writes documents of owners."""

    commits: Commits

    def write(
        self,
        owner: str,
        place: Callable[[Opened], tuple[str, str]],
        change: Change,
        etags: frozenset[str] | None = None,
        *,
        beyond_quota: bool = False,
    ) -> Document:
        """Change the document of that kind and id, and return it as it then stands. Four steps with warm keys.

        `change` may be called again when another writer was first. `etags`: what the caller's If-Match allows; None: any. An end,
        another active project, and what maintenance writes `beyond_quota` (texts go, or rest on something else) are possible where no
        room is left. Raises VersionMismatch, QuotaExceeded, TableLost, Busy, and what `change` raises.
        """
        vaults = self.commits.vaults
        for _ in range(TRIES):
            opened = vaults.open_or_create(owner)
            kind, document_id = place(opened)
            sk = documents.sk_of(kind, document_id)
            item = vaults.table.get(owner, [sk]).get(sk)
            standing, broken = self._standing(opened, kind, document_id, item)
            if etags is not None and standing.latest not in etags:
                raise VersionMismatch
            wanted = change(opened, standing)
            if wanted is None:
                return standing
            after, part = self._next(standing, wanted)
            if after == standing and broken is None:
                return standing
            try:
                before = (standing, broken)
                self._commit(opened, kind, document_id, before, after, part, beyond_quota=beyond_quota)
            except (VersionMismatch, NotFound, Stale):
                continue
            return after
        raise Busy

    def _standing(self, opened: Opened, kind: str, document_id: str, item: Item | None) -> tuple[Document, Item | None]:
        """Return the document as it stands; where its item does not open, as the journal says it, with the item that is to be replaced."""
        vaults = self.commits.vaults
        try:
            return documents.from_item(opened.keys, kind, document_id, item), None
        except SealBroken:
            return said_of(Journal(vaults.objects, opened.keys, vaults.random), kind, document_id), item

    def _next(self, standing: Document, wanted: Mapping[str, Any] | End) -> tuple[Document, Document]:
        """Return the next state, and the part that makes it of the standing one. Its commit is later than all before it, whatever the
        clock says. What is set together has one commit, also where a part of it was so before: a text and what it rests on stay
        together."""
        vaults = self.commits.vaults
        now = vaults.clock()
        if standing.latest:
            now = max(now, ulid_time(standing.latest) + timedelta(milliseconds=1))
        commit = ulid(now, vaults.random)
        if isinstance(wanted, End):
            part = Document({}, commit) if standing else Document()
        else:
            news = any(standing.get(name) != value for name, value in wanted.items())
            part = Document({name: (value, commit) for name, value in wanted.items()} if news else {})
        return standing.joined(part), part

    def _commit(
        self,
        opened: Opened,
        kind: str,
        document_id: str,
        before: tuple[Document, Item | None],
        after: Document,
        part: Document,
        *,
        beyond_quota: bool,
    ) -> None:
        commits, random = self.commits, self.commits.vaults.random
        line = documents.line_of(opened.keys, kind, document_id, part, random)
        transaction = commits.transaction(opened.keys)
        now = commits.vaults.clock()
        standing, broken = before
        write = documents.stored(opened.keys, kind, document_id, standing, after, now, random)
        if broken is not None:
            as_read = {name: broken.get(name) for name in (documents.SEALED, documents.GENERATION, documents.COMMIT)}
            counted = {"memories": 0} if kind == lines.SCENE and not after else {}
            write = replace(write, condition=Condition(exists=True, equals=as_read | counted))
        transaction.add("memory", write)
        size = len(line.encode())
        transaction.head(
            {"bytes": size, "journal_bytes": size}, deleting=beyond_quota or not after or kind == lines.ACTIVE
        )
        commits.journal_then_write(opened.keys, part.latest, line, transaction)


def opened_or_empty(opened: Opened, kind: str, document_id: str) -> Document:
    """Return a document among the items that were read with the owner; an empty one where it is absent or does not open."""
    try:
        item = opened.items.get(documents.sk_of(kind, document_id))
        return documents.from_item(opened.keys, kind, document_id, item)
    except SealBroken:
        return Document()
