"""Texts of documents that are meant by their words: statements of the persona, summaries and contexts of scenes, suggestions.

They rest on memories, or a person wrote them, and may hold words that no memory has any more. A selection means them by its words and by
whose they are; one that has another part is about memories alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.ids import ulid_time
from shared.domain.memory import Scope
from shared.domain.times import moment
from shared.keeping.forgetting.selection import Selection
from shared.keeping.scenes.scenes import opened_scenes, place_of
from shared.storage import basis, documents, lines, names, scenes, suggestions
from shared.storage import persona as personas
from shared.storage.basis import Basis
from shared.storage.commit import Commits
from shared.storage.document_commits import END, DocumentCommits, End
from shared.storage.documents import PROJECT, Document
from shared.storage.partition import each_item
from shared.storage.persona import Persona
from shared.storage.scenes import CONTEXT, CONTEXT_AT, SUMMARY, TOLD_AT, Scene
from shared.storage.suggestions import Decision, Suggestion
from shared.storage.vaults import Opened, Vaults

_WRITTEN_AT = {SUMMARY: TOLD_AT, CONTEXT: CONTEXT_AT}


class Kind(StrEnum):
    """Where a text stands."""

    PERSONA = "persona"
    SUMMARY = "summary"
    CONTEXT = "context"
    SUGGESTION = "suggestion"


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is meant, and what it rests on."""

    kind: Kind
    text: str
    rests: Basis
    project: str | None = None
    suggestion_id: str | None = None


def found(vaults: Vaults, keys: OwnerKeys, selection: Selection) -> Iterator[Text]:
    """Yield what is meant. A document that does not open says nothing to anybody."""
    if not _asks(selection):
        return
    persona = Persona.of(_document_of_persona(vaults, keys))
    for one in persona.statements:
        if _statement(selection, persona, one.text):
            yield Text(Kind.PERSONA, one.text, Basis(one.basis, persona.said))
    for scene in _scenes(vaults, keys):
        for field in _meant_of(selection, scene.project, scene.document):
            text = str(scene.document.get(field))
            yield Text(Kind(field), text, scene.basis(field), project=scene.project)
    for suggestion in suggestions.all_of(vaults, keys):
        if _suggestion(selection, suggestion):
            told = f"{suggestion.title}: {suggestion.text}"
            yield Text(Kind.SUGGESTION, told, suggestion.rests, suggestion.project, suggestion.id)


def shown(vaults: Vaults, opened: Opened, texts: Sequence[Text]) -> list[Text]:
    """Return those that may be shown: what they rest on holds. The owner was opened with the settings."""
    ground = basis.read(vaults, opened, [one.rests for one in texts])
    return [one for one in texts if ground.holds(one.rests)]


def remove(commits: Commits, keys: OwnerKeys, selection: Selection) -> bool:
    """Take out of documents what is meant; tell whether anything was."""
    meant = list(found(commits.vaults, keys, selection))
    removal = _Removal(DocumentCommits(commits), keys.owner, selection)
    if any(one.kind is Kind.PERSONA for one in meant):
        removal.from_persona()
    for project in dict.fromkeys(one.project for one in meant if one.kind in {Kind.SUMMARY, Kind.CONTEXT}):
        removal.from_scene(str(project))
    for one in meant:
        if one.suggestion_id:
            removal.suggestion(one.suggestion_id)
    return bool(meant)


@dataclass(frozen=True, slots=True)
class _Removal:
    """Looks at each document once more when it is written: another writer may have been there."""

    documents: DocumentCommits
    owner: str
    selection: Selection

    def from_persona(self) -> None:
        def without(_opened: Opened, standing: Document) -> Mapping[str, Any] | None:
            persona = Persona.of(standing)
            kept = tuple(one for one in persona.statements if not _statement(self.selection, persona, one.text))
            return replace(persona, statements=kept).fields() if len(kept) < len(persona.statements) else None

        self._write(personas.place, without)

    def from_scene(self, project: str) -> None:
        def without(_opened: Opened, standing: Document) -> Mapping[str, Any] | None:
            meant = list(_meant_of(self.selection, project, standing))
            fields = {name: value for field in meant for name, value in scenes.written(field, "").items()}
            anew = {CONTEXT_AT: None} if CONTEXT in meant else {}
            return {PROJECT: project, **fields, **anew} if meant else None

        self._write(place_of(project), without)

    def suggestion(self, suggestion_id: str) -> None:
        def without(_opened: Opened, standing: Document) -> Mapping[str, Any] | End | None:
            one = suggestions.of(suggestion_id, standing)
            if one is None or not _suggestion(self.selection, one):
                return None
            marked = replace(one, basis=(), said={}, title="", text="")
            return suggestions.fields(marked) if one.status is Decision.DISMISSED else END

        self._write(suggestions.place_of(suggestion_id), without)

    def _write(self, place: Callable[[Opened], tuple[str, str]], without: Callable[[Opened, Document], Any]) -> None:
        self.documents.write(self.owner, place, without, beyond_quota=True)


def _asks(selection: Selection) -> bool:
    of_memories = (selection.ids, selection.since, selection.until, selection.category, selection.importance_below)
    return bool(selection.words) and all(part is None for part in of_memories)


def _of(selection: Selection, scope: Scope, project: str | None, agent: str | None) -> bool:
    exact = ((selection.scope, scope), (selection.project, project), (selection.agent, agent))
    return _asks(selection) and all(wanted is None or wanted == given for wanted, given in exact)


def _statement(selection: Selection, persona: Persona, text: str) -> bool:
    at = moment(persona.refreshed_at) if persona.refreshed_at else None
    return _of(selection, Scope.USER, None, None) and _before(selection, at) and selection.finds(text)


def _meant_of(selection: Selection, project: str, document: Document) -> Iterator[str]:
    """Yield the fields of a scene's texts that are meant. What was learned was said when its conversation came in, what a person wrote when
    it was written."""
    for field, basis_field in scenes.RESTS_ON.items():
        text, at = document.get(field), document.get(_WRITTEN_AT[field])
        if not text:
            continue
        written = moment(at) if at and document.get(basis_field) else ulid_time(document.fields[field][1])
        if _of(selection, Scope.PROJECT, project, None) and _before(selection, written) and selection.finds(text):
            yield field


def _suggestion(selection: Selection, one: Suggestion) -> bool:
    scope = Scope.AGENT if one.agent else Scope.PROJECT if one.project else Scope.USER
    mine = _of(selection, scope, one.project, one.agent) and _before(selection, ulid_time(one.id))
    return mine and bool(one.text) and selection.finds(f"{one.title} {one.text}")


def _before(selection: Selection, at: datetime | None) -> bool:
    return at is None or at <= selection.asked_at


def _document_of_persona(vaults: Vaults, keys: OwnerKeys) -> Document:
    item = vaults.table.get(keys.owner, [names.PERSONA]).get(names.PERSONA)
    with suppress(SealBroken):
        return documents.from_item(keys, lines.PERSONA, lines.PERSONA, item)
    return Document()


def _scenes(vaults: Vaults, keys: OwnerKeys) -> list[Scene]:
    return opened_scenes(keys, each_item(vaults.table, keys.owner, names.PROJECT))[0]
