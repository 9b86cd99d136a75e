"""Scenes: what is known about one project, as a document (shared/storage/documents.py) in the project's item.

Fields: `project` (its key), `name` (shown; absent: the key), `summary` and `context` (texts), `basis` and `context_basis` (ids of the
memories that each rests on), `said` and `context_said` (what those said: a text is shown only while all of them stand and say that),
`told_at`, `context_at`, `used_at` (RFC 3339: when its conversation was summarised, its context written, and when it was made or switched
to), `archived` (since when, or false).

A document `active` holds the key of the active project: the one that is meant where a request names none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import SealBroken
from shared.domain.memory import DEFAULT_PROJECT, Scope, Status
from shared.domain.naming import ACTIVE_PROJECT
from shared.domain.times import moment, rfc3339
from shared.ports import Item
from shared.storage import bodies, documents, items, lines, names
from shared.storage.basis import NOTHING, Basis, Ground, stored
from shared.storage.document_commits import opened_or_empty
from shared.storage.documents import PROJECT, Document
from shared.storage.vaults import Opened
from shared.text.normalise import cut
from shared.text.secrets import mask

NAME, SUMMARY, CONTEXT, ARCHIVED = "name", "summary", "context", "archived"
BASIS, CONTEXT_BASIS = "basis", "context_basis"
TOLD_AT, CONTEXT_AT, USED_AT = "told_at", "context_at", "used_at"
RESTS_ON = {SUMMARY: BASIS, CONTEXT: CONTEXT_BASIS}
SAID = {SUMMARY: "said", CONTEXT: "context_said"}
"""The texts of a scene, each with the field of what it rests on, and of what that said. Whoever writes one writes all three."""
LONG_AGO = datetime.fromtimestamp(0, UTC)
"""The last use of a project of which nothing tells when it was."""
COUNTED = frozenset({Status.ACTIVE.value, Status.DISMISSED.value, Status.ARCHIVED.value})
"""What the memories of a project are counted by."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A project as it stands: `memories` of every status, and the moment it was last used: a memory was added, it was talked about, or
    switched to."""

    project: str
    document: Document
    memories: int
    last_at: datetime

    @property
    def name(self) -> str:
        """What it is shown as."""
        return str(self.document.get(NAME) or self.project)

    @property
    def archived(self) -> bool:
        """Whether it made room for others; it has come back by itself once it was used again."""
        since = self.document.get(ARCHIVED)
        return isinstance(since, str) and self.last_at <= moment(since)

    @property
    def rests_on(self) -> list[str]:
        """The ids of all memories that its texts rest on."""
        return [one for basis in self.bases for one in basis.ids]

    @property
    def bases(self) -> list[Basis]:
        """What its texts rest on."""
        return [self.basis(text) for text in RESTS_ON if self.document.get(text)]

    def basis(self, text: str) -> Basis:
        """Return what its summary or context rests on."""
        return stored(self.document.get(RESTS_ON[text]), self.document.get(SAID[text]))

    def text(self, field: str, ground: Ground) -> str | None:
        """Return its summary or context; None where there is none, or where what it rests on does not hold."""
        told = self.document.get(field)
        return str(told) if told and ground.holds(self.basis(field)) else None

    def mended(self, ground: Ground) -> dict[str, Any]:
        """Return the fields that take away each text that does not hold on this ground, so that a context is written anew; and those
        that let a text rest on what it is to rest on from now on."""
        fields: dict[str, Any] = {}
        for text, rests in RESTS_ON.items():
            basis = self.basis(text)
            kept = ground.kept(basis) if self.document.get(text) else basis
            if kept is None:
                fields |= written(text, "") | ({CONTEXT_AT: None} if text == CONTEXT else {})
            elif kept != basis:
                fields |= {text: self.document.get(text), rests: list(kept.ids), SAID[text]: kept.form()}
        return fields


def tag_of(keys: OwnerKeys, project: str) -> str:
    """Return the id of a project's scene, which is the tag of its item."""
    return items.scope_tag(keys, Scope.PROJECT, project, None)


def sk_of(keys: OwnerKeys, project: str) -> str:
    """Return the sort key of a project's item."""
    return names.PROJECT + tag_of(keys, project)


def summarised(project: str, summary: str, learned: Basis, at: datetime, commit: str) -> Document:
    """Return what a task's plan says of its project: the summary of the conversation, the memories learned with it, and when it was.
    A project that is talked about is not archived."""
    said = {PROJECT: project, **written(SUMMARY, summary, learned), TOLD_AT: rfc3339(at), ARCHIVED: False}
    return Document({name: (value, commit) for name, value in said.items()})


def written(field: str, text: str, basis: Basis = NOTHING) -> dict[str, Any]:
    """Return the fields of a summary or context: never a secret in it, and as much of it as a scene may hold."""
    told = cut(mask(text).text, limits.SCENE_TEXT_BYTES) or None
    return {field: told, RESTS_ON[field]: list(basis.ids), SAID[field]: basis.form()}


def from_item(keys: OwnerKeys, item: Item) -> Document:
    """Return the scene that a project's item holds; an empty one where it holds none. Raises SealBroken."""
    return documents.from_item(keys, lines.SCENE, _tag(item), item)


def read(keys: OwnerKeys, item: Item) -> Scene | None:
    """Return the scene of a project's item; None where nothing is left of the project. Raises SealBroken."""
    document, memories = from_item(keys, item), int(item.get("memories", 0))
    if not document and memories <= 0:
        return None
    sealed = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    project = bodies.unpack(keys.unseal("project", _tag(item), 1, int(item["gen"]), sealed))["name"]
    added = [str(item["last_at"])] if memories > 0 and "last_at" in item else []
    used = [str(at) for field in (TOLD_AT, USED_AT) if (at := document.get(field))]
    return Scene(project, document, memories, max(map(moment, (*added, *used)), default=LONG_AGO))


def active_project(opened: Opened | None) -> str | None:
    """Return the project that is meant where none is named, of an owner who was opened with the item `names.ACTIVE`."""
    project = opened_or_empty(opened, lines.ACTIVE, lines.ACTIVE).get(PROJECT) if opened else None
    return str(project) if project else None


def chosen(project: str | None, opened: Opened | None) -> str | None:
    """Return the project that a request means: the active one where it names none; `default` is none."""
    named = active_project(opened) if project == ACTIVE_PROJECT else project
    return None if named == DEFAULT_PROJECT else named


def newest(pages: Iterator[list[Item]], wanted: dict[str, int]) -> dict[str, list[Item]]:
    """Return the newest items of memories of each scope tag that a project counts, at most as many as wanted, from pages that come
    latest first. Reads no further than it must."""
    found: dict[str, list[Item]] = {tag: [] for tag in wanted}
    for page in pages:
        for item in page:
            tag = str(item.get("scope"))
            if tag in found and len(found[tag]) < wanted[tag] and item.get("status") in COUNTED:
                found[tag].append(item)
        if all(len(items_) >= wanted[tag] for tag, items_ in found.items()):
            break
    return found


def _tag(item: Item) -> str:
    return str(item["sk"]).removeprefix(names.PROJECT)
