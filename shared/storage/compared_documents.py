"""The part of a comparison that is about documents and settings: what the journal says of them is joined into what the rows say."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import Refused, SealBroken
from shared.observability import alarm
from shared.ports import Condition, Item, Put, Update, Value, Write
from shared.storage import bodies, documents, lines, names, preferences
from shared.storage.commit import settings_again
from shared.storage.documents import Document
from shared.storage.journal import Record
from shared.storage.journaled import Journaled, document_of, latest_settings
from shared.storage.rows import Rows
from shared.storage.transactions import mark
from shared.storage.vaults import Vaults

Said = Callable[[str, Journaled, Rows], bool]
"""Tells whether what the lines of that commit say surely was said."""
_KINDS = {names.PROJECT: lines.SCENE, names.SUGGESTION: lines.SUGGESTION, names.AGENT_NOTES: lines.AGENT_NOTES}


class Outcome(Protocol):
    """Where it is counted what could not be put right now."""

    left: int
    waiting: int
    missed: int


@dataclass(frozen=True, slots=True)
class Documents:
    """Puts an owner's documents and settings right."""

    vaults: Vaults
    keys: OwnerKeys
    said: Said
    outcome: Outcome

    def mend(self, journaled: Journaled, found: Rows) -> int:
        """Write every document, and the settings, of which the rows say less than the journal; return how many that were."""
        writes = [self._settings(journaled, found)]
        for (kind, document_id), records in journaled.said.items():
            writes.append(self._document(kind, document_id, records, journaled, found))
        writes += self._lost(journaled, found)
        return sum(self._write(write) for write in writes if write is not None)

    def _document(
        self, kind: str, document_id: str, records: list[Record], journaled: Journaled, found: Rows
    ) -> Write | None:
        item = found.documents.get(documents.sk_of(kind, document_id))
        old = [one for one in records if self.said(one.commit, journaled, found)]
        try:
            standing = documents.from_item(self.keys, kind, document_id, item)
        except SealBroken:
            # What is young may have been acknowledged, and what is joined once more does no harm; a plan's is not said yet.
            said = [one for one in records if one in old or one.commit not in journaled.plans]
            return self._row(kind, document_id, document_of(said), item)
        after = standing.joined(document_of(old))
        if after == standing:
            return self._name(kind, document_id, standing, item)
        return self._row(kind, document_id, after, item)

    def _row(self, kind: str, document_id: str, document: Document, item: Item | None) -> Write:
        """Return the write of a document in the place of what was read. A project keeps its name and what it counts."""
        random = self.vaults.random
        if not document:
            columns = documents.columns(self.keys, kind, document_id, document, random)
            return Update(documents.sk_of(kind, document_id), set=columns, condition=_as_read(item))
        write = documents.stored(self.keys, kind, document_id, Document(), document, self.vaults.clock(), random)
        return replace(write, condition=_as_read(item))

    def _name(self, kind: str, document_id: str, standing: Document, item: Item | None) -> Write | None:
        """Seal a project's name anew where it does not open and its scene says it."""
        name = standing.get(documents.PROJECT)
        if kind != lines.SCENE or item is None or name is None or _named(self.keys, document_id, item):
            return None
        sealed = self.keys.seal("project", document_id, 1, bodies.pack({"name": name}), self.vaults.random)
        return Update(str(item["sk"]), set={"sealed": sealed, "gen": self.keys.generation}, condition=_as_read(item))

    def _lost(self, journaled: Journaled, found: Rows) -> Iterator[Write]:
        """Count documents that do not open and of which no line speaks; names of projects come from their memories."""
        said = {documents.sk_of(kind, document_id) for kind, document_id in journaled.said}
        held = found.projects(self.keys)
        for sk, item in found.documents.items():
            kind, document_id = _place(sk)
            if sk not in said:
                try:
                    documents.from_item(self.keys, kind, document_id, item)
                except SealBroken:
                    self.outcome.left += 1
                    alarm("damaged", document=sk)
            if kind == lines.SCENE and sk not in said and document_id in held:
                project = Document({documents.PROJECT: (held[document_id][0].project, "")})
                if (write := self._name(kind, document_id, project, item)) is not None:
                    yield write

    def _settings(self, journaled: Journaled, found: Rows) -> Write | None:
        """Return the write of the latest settings, where the row says older ones, none, or does not open."""
        item, stands = found.settings, 0
        if item is not None:
            with suppress(SealBroken):
                stands = preferences.from_item(self.keys, item).version
        counted = int(found.head.get("settings", 0))
        latest = latest_settings(
            one
            for one in journaled.settings
            if one.version <= counted
            or (item is not None and one.commit == item.get("commit"))
            or self.said(one.commit, journaled, found)
        )
        if item is not None and not stands and latest is None:
            self.outcome.left += 1
            alarm("damaged", settings=True)
        if latest is None or latest.version <= stands:
            return None
        return Put(settings_again(self.keys, latest, self.vaults.random), _as_read(item))

    def _write(self, write: Write) -> bool:
        try:
            self.vaults.table.write(self.keys.owner, [write, mark(self.keys, self.vaults.clock(), rows=0)])
        except Refused:
            self.outcome.missed += 1
            return False
        return True


def _as_read(item: Item | None) -> Condition:
    """Return the condition that an item's own columns are still what was read."""
    if item is None:
        return Condition(absent=True)
    seals = (documents.SEALED, documents.COMMIT, "sealed", "version", "commit")
    columns: dict[str, Value | None] = {name: item.get(name) for name in seals}
    return Condition(exists=True, equals=columns)


def _named(keys: OwnerKeys, tag: str, item: Item) -> bool:
    sealed = item.get("sealed")
    try:
        return isinstance(sealed, bytes) and bool(keys.unseal("project", tag, 1, int(item["gen"]), sealed))
    except (SealBroken, KeyError, TypeError, ValueError):
        return False


def _place(sk: str) -> tuple[str, str]:
    for prefix, kind in _KINDS.items():
        if sk.startswith(prefix):
            return kind, sk.removeprefix(prefix)
    kind = {names.PERSONA: lines.PERSONA, names.ACTIVE: lines.ACTIVE}[sk]
    return kind, kind
