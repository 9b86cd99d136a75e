"""Suggestions: ways of working that repeat, as documents (shared/storage/documents.py), each under an id of its own.

Fields: `kind`, `title`, `text`, `basis` (ids of the memories that it rests on), `said` (what each of them said), `evidence` (how many
there were), `status`, `agent` and `project` (whose it is alone; null: the person's), `marks` (keyed tags of the words that the memories
share, by which a pattern is known again), `model`. It is shown only while all that it rests on stands and says what it said.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.ports import Item
from shared.storage import documents, lines, names
from shared.storage.basis import Basis, Ground, Said, stored
from shared.storage.documents import Document
from shared.storage.partition import each_item
from shared.storage.vaults import Opened, Vaults

STATUS, TITLE, TEXT, BASIS, EVIDENCE = "status", "title", "text", "basis", "evidence"
SAID = "said"


class Decision(StrEnum):
    """What became of a suggestion."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"


class Kind(StrEnum):
    """What a suggestion is."""

    SKILL = "skill"
    WORKFLOW = "workflow"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion as stored; `title` and `text` are empty where what a dismissed one rested on is gone."""

    id: str
    kind: Kind
    title: str
    text: str
    basis: tuple[str, ...]
    evidence: int
    status: Decision
    agent: str | None
    project: str | None
    marks: frozenset[str]
    model: str | None
    commit: str
    said: Mapping[str, Said] = field(default_factory=dict)

    @property
    def rests(self) -> Basis:
        """What it rests on."""
        return Basis(self.basis, self.said)

    def shown(self, ground: Ground) -> "Suggestion | None":
        """Return it with the ids of the memories that say it now; None where it may not be shown on this ground."""
        ids = ground.ids(self.rests) if self.text else None
        return replace(self, basis=ids, said={}) if ids is not None else None

    def is_like(self, agent: str | None, project: str | None, marks: Collection[str]) -> bool:
        """Tell whether it is of that pattern: at least half of the marks of the one that has fewer are the other's too, and more than one
        is, where one of them has more than one."""
        fewer, more = sorted((len(self.marks), len(marks)))
        shared = len(self.marks & set(marks))
        same = (self.agent, self.project) == (agent, project)
        return same and shared >= min(2, max(more, 1)) and 2 * shared >= fewer


def fields(suggestion: Suggestion) -> dict[str, Any]:
    """Return the document's fields."""
    return {
        "kind": suggestion.kind.value,
        TITLE: suggestion.title,
        TEXT: suggestion.text,
        BASIS: list(suggestion.basis),
        SAID: suggestion.rests.form(),
        EVIDENCE: suggestion.evidence,
        STATUS: suggestion.status.value,
        "agent": suggestion.agent,
        "project": suggestion.project,
        "marks": sorted(suggestion.marks),
        "model": suggestion.model,
    }


def of(suggestion_id: str, document: Document) -> Suggestion | None:
    """Return the suggestion that a document is; None for one that ended."""
    if not document:
        return None
    return Suggestion(
        id=suggestion_id,
        kind=Kind(document.get("kind")),
        title=str(document.get(TITLE) or ""),
        text=str(document.get(TEXT) or ""),
        basis=tuple(document.get(BASIS) or ()),
        evidence=int(document.get(EVIDENCE) or 0),
        status=Decision(document.get(STATUS)),
        agent=document.get("agent"),
        project=document.get("project"),
        marks=frozenset(document.get("marks") or ()),
        model=document.get("model"),
        commit=document.latest,
        said=stored((), document.get(SAID)).said,
    )


def from_item(keys: OwnerKeys, item: Item) -> Suggestion | None:
    """Return the suggestion that an item holds; None for one that ended. Raises SealBroken."""
    suggestion_id = str(item["sk"]).removeprefix(names.SUGGESTION)
    return of(suggestion_id, documents.from_item(keys, lines.SUGGESTION, suggestion_id, item))


def all_of(vaults: Vaults, keys: OwnerKeys) -> Iterator[Suggestion]:
    """Yield the owner's suggestions, the oldest first. What does not open is left out."""
    for item in each_item(vaults.table, keys.owner, names.SUGGESTION):
        with suppress(SealBroken):
            found = from_item(keys, item)
            if found is not None:
                yield found


def place_of(suggestion_id: str) -> Callable[[Opened], tuple[str, str]]:
    """Return where a suggestion lies, for whoever writes it."""
    return lambda _opened: (lines.SUGGESTION, suggestion_id)
