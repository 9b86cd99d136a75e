"""Documents: what is known of a project, the persona, suggestions. One kind of thing to the protocol.

A document is a set of fields, each stamped with the commit that set it; an end takes away every field that is older than it. Joined, of two
values of a field the later commit's stays: a last-writer-wins map (Shapiro et al., "A comprehensive study of convergent and commutative
replicated data types", 2011). So lines may be applied in any order and any number of times, and no redelivery, repair or rebuild
brings an old text back. A journal line holds such a map with only the fields that were set; the table's item holds all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.ids import Random
from shared.domain.times import rfc3339
from shared.ports import Condition, Item, Update, Value
from shared.storage import bodies, lines, names

VERSION = 1
"""Of every seal: the stamps inside say which state is the later one."""
SEALED, GENERATION, COMMIT = "document", "document_gen", "document_commit"
"""Columns. The item of a project holds counters and the sealed name beside them."""
PROJECT = "project"
"""The field in which a scene holds its project's name."""


@dataclass(frozen=True, slots=True)
class Document:
    """Fields by name as (value, commit), and the commit of the last end; empty where nothing was ever written or ended."""

    fields: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    ended: str = ""

    @property
    def latest(self) -> str:
        """The latest commit that shows in it, which is also its ETag; empty for a document that never was."""
        return max([self.ended, *(commit for _, commit in self.fields.values())])

    def __bool__(self) -> bool:
        return bool(self.fields)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field's value."""
        return self.fields[name][0] if name in self.fields else default

    def joined(self, other: "Document") -> "Document":
        """Return what both say together."""
        ended = max(self.ended, other.ended)
        fields = dict(self.fields)
        for name, (value, commit) in other.fields.items():
            if name not in fields or fields[name][1] < commit:
                fields[name] = (value, commit)
        return Document({name: kept for name, kept in fields.items() if kept[1] > ended}, ended)

    def within(self, standing: "Document") -> "Document":
        """Return what of this one still shows in the standing one: the rest was superseded or ended."""
        fields = {name: kept for name, kept in self.fields.items() if standing.fields.get(name) == kept}
        return Document(fields, self.ended if self.ended == standing.ended else "")

    def to_body(self) -> dict[str, Any]:
        """Return what is sealed."""
        body: dict[str, Any] = {"fields": {name: list(kept) for name, kept in self.fields.items()}}
        return body | ({"ended": self.ended} if self.ended else {})


def read_body(body: Mapping[str, Any]) -> Document:
    """Read what `to_body` wrote. Raises SealBroken for anything else."""
    try:
        fields = {name: (value, str(commit)) for name, (value, commit) in body["fields"].items()}
        return Document(fields, str(body.get("ended", "")))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise SealBroken from None


def sk_of(kind: str, document_id: str) -> str:
    """Return the sort key of a document's item: a scene's id is its project's tag, that of notes their agent's, a suggestion's a ULID; the
    others are one of a kind."""
    if kind == lines.SCENE:
        return names.PROJECT + document_id
    if kind == lines.SUGGESTION:
        return names.SUGGESTION + document_id
    if kind == lines.AGENT_NOTES:
        return names.AGENT_NOTES + document_id
    return {lines.PERSONA: names.PERSONA, lines.ACTIVE: names.ACTIVE}[kind]


def line_of(keys: OwnerKeys, kind: str, document_id: str, document: Document, random: Random) -> lines.Line:
    """Return the journal's line of a document or of a part of one, sealed with the owner's current key."""
    sealed = keys.seal(kind, document_id, VERSION, bodies.pack(document.to_body()), random)
    return lines.Line(kind, document_id, VERSION, keys.generation, sealed)


def from_line(keys: OwnerKeys, line: lines.Line) -> Document:
    """Open a line. Raises SealBroken."""
    return read_body(bodies.unpack(keys.unseal(line.kind, line.id, VERSION, line.generation, line.sealed)))


def from_item(keys: OwnerKeys, kind: str, document_id: str, item: Item | None) -> Document:
    """Return the document that an item holds; an empty one for no item, or one that holds none. Raises SealBroken."""
    if item is None or COMMIT not in item:
        return Document()
    sealed = item.get(SEALED)
    if not isinstance(sealed, bytes):
        raise SealBroken
    try:
        generation = int(item[GENERATION])
    except (KeyError, TypeError, ValueError):
        raise SealBroken from None
    document = from_line(keys, lines.Line(kind, document_id, VERSION, generation, sealed))
    if document.latest != item[COMMIT]:
        raise SealBroken
    return document


def columns(keys: OwnerKeys, kind: str, document_id: str, document: Document, random: Random) -> dict[str, Value]:
    """Return what an item holds of a document."""
    line = line_of(keys, kind, document_id, document, random)
    return {SEALED: line.sealed, GENERATION: keys.generation, COMMIT: document.latest}


def stored(
    keys: OwnerKeys, kind: str, document_id: str, standing: Document, document: Document, now: datetime, random: Random
) -> Update:
    """Return the write that puts a document in the place of the standing one, on the condition that this still stands. A scene ends with
    its project's name, on the condition that the project has no memories."""
    set_columns = columns(keys, kind, document_id, document, random)
    condition = Condition(equals={COMMIT: standing.latest or None})
    sk = sk_of(kind, document_id)
    if kind != lines.SCENE:
        return Update(sk, set=set_columns, condition=condition)
    if not document:
        empty = Condition(equals={COMMIT: standing.latest or None, "memories": 0})
        return Update(sk, set=set_columns, remove=("sealed", "gen"), condition=empty)
    name = keys.seal("project", document_id, 1, bodies.pack({"name": document.get(PROJECT)}), random)
    once: dict[str, Value] = {"sealed": name, "gen": keys.generation, "last_at": rfc3339(now), "memories": 0}
    return Update(sk, set=set_columns, set_once=once, condition=condition)
