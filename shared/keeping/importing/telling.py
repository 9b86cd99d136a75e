"""Setting down what a file tells besides memories, once all of these are taken in. Done again it changes nothing.

What a text rests on are ids of the file; each leads by the text of its record to the memory that says it now. A text of which one leads
nowhere is left out, and so is what a portrait or a suggestion says beyond its memories: a file may claim any of them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from shared.domain import limits
from shared.domain.errors import SealBroken, Unavailable
from shared.domain.ids import ulid, ulid_time
from shared.domain.memory import Status
from shared.keeping.exporting import chain
from shared.keeping.importing.course import task_of
from shared.keeping.importing.deciding import bits_of, drafted
from shared.keeping.importing.records import Record
from shared.keeping.importing.told import TEXTS, Told
from shared.keeping.maintenance.visits import Visit
from shared.keeping.preferences import Choices
from shared.keeping.scenes.scenes import place_of
from shared.learning.answers.grounding import grounded
from shared.ports import Item
from shared.storage import items, lines, names, scenes, suggestions
from shared.storage import persona as personas
from shared.storage.commit import Commits
from shared.storage.document_commits import Change, DocumentCommits, End
from shared.storage.documents import PROJECT, Document
from shared.storage.vaults import Opened

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Telling:
    """Sets down what one import tells. `wins`: the file's word against what stands; else it is heard only where nothing stands."""

    visit: Visit
    commits: Commits
    item: Item
    leads: Mapping[str, str]
    """Ids of the file that texts rest on, with the memories that say the same now."""
    wins: bool

    def set_down(self, told: Told) -> None:
        """Set one thing down. Raises QuotaExceeded, Busy."""
        if told.kind == chain.SCENE:
            self._write(place_of(told.fields[PROJECT]), partial(self._scene, told.fields))
        elif told.kind == chain.PERSONA:
            self._write(personas.place, partial(self._persona, told.fields))
        elif told.kind == chain.SUGGESTION:
            self._suggestion(told)
        elif told.kind == chain.ACTIVE:
            self._write(lambda _opened: (lines.ACTIVE, lines.ACTIVE), partial(self._active, told.fields))
        elif self.wins or not self.visit.preferences.version:
            Choices(self.commits).change(self.visit.owner, told.fields, None, self.visit.opened.keys)

    def _write(self, place: Callable[[Opened], tuple[str, str]], change: Change) -> None:
        """Write a document of this life. Raises Unavailable when it ended: what its file told is none of the next one's."""

        def of_this_life(opened: Opened, standing: Document) -> Fields | End | None:
            if opened.keys.epoch != self.visit.opened.keys.epoch:
                raise Unavailable
            return change(opened, standing)

        DocumentCommits(self.commits).write(self.visit.owner, place, of_this_life)

    def _scene(self, told: Fields, _opened: Opened, standing: Document) -> Fields | None:
        texts = {part for text, parts in TEXTS.items() for part in (text, *parts, scenes.SAID[text])}
        kept = {name: value for name, value in told.items() if name not in texts}
        if not self.wins:
            kept = {name: value for name, value in kept.items() if standing.get(name) is None}
        for text, (basis, at) in TEXTS.items():
            mapped = self._mapped(told.get(basis, ()))
            if told.get(text) and mapped is not None and (self.wins or not standing.get(text)):
                kept |= {text: told[text], basis: mapped, scenes.SAID[text]: {}} | (
                    {at: told[at]} if at in told else {}
                )
        return {PROJECT: told[PROJECT], **kept} if kept else None

    def _persona(self, told: Fields, _opened: Opened, standing: Document) -> Fields | None:
        if standing and not self.wins:
            return None
        persona = personas.Persona.of(Document({name: (value, "") for name, value in told.items()}))
        statements = (
            personas.Statement(one.part, one.text, tuple(mapped))
            for one in persona.statements
            if (mapped := self._mapped(one.basis)) is not None and self._says(one.text, mapped)
        )
        scene = self._mapped(persona.last_scene_basis)
        return {
            **told,
            personas.STATEMENTS: [[one.part, one.text, list(one.basis)] for one in statements],
            personas.LAST_SCENE: persona.last_scene if scene else None,
            personas.LAST_SCENE_BASIS: scene or [],
        }

    def _active(self, told: Fields, _opened: Opened, standing: Document) -> Fields | None:
        return told if self.wins or standing.get(PROJECT) is None else None

    def _suggestion(self, told: Told) -> None:
        """Add a suggestion, unless one says the same; that one the file may dismiss."""
        basis = self._mapped(told.fields["basis"])
        if basis is None or not self._says(told.fields["text"], basis):
            return
        said = dict(told.fields) | {"basis": basis}
        same = ("kind", "title", "text", "agent", "project")
        open_ones = 0
        for one in suggestions.all_of(self.visit.vaults, self.visit.opened.keys):
            stands = suggestions.fields(one)
            open_ones += one.status is not suggestions.Decision.DISMISSED
            if all(stands[name] == said[name] for name in same):
                if self.wins and said[suggestions.STATUS] == suggestions.Decision.DISMISSED:
                    self._write(suggestions.place_of(one.id), _dismissed)
                return
        if open_ones < limits.SUGGESTIONS:
            task_id = task_of(self.item)
            bits = bits_of(self.visit.opened.keys, task_id, told.line)
            made = ulid(ulid_time(task_id), lambda count: bits[:count])
            self._write(suggestions.place_of(made), lambda _opened, standing: None if standing.latest else said)

    def _says(self, text: str, basis: Collection[str]) -> bool:
        """Tell whether these memories say what a text says that rests on them."""
        visit = self.visit
        found = visit.vaults.table.get(visit.owner, [names.MEMORY + one for one in sorted(basis)]) if basis else {}
        said: list[str] = []
        for item in found.values():
            with suppress(SealBroken):
                said.append(items.from_item(visit.opened.keys, item).memory.content)
        return grounded(text, said)

    def _mapped(self, basis: Iterable[str]) -> list[str] | None:
        """Return what a text rests on here; None where one of it is not here."""
        found = [self.leads.get(memory_id) for memory_id in basis]
        return None if None in found else list(dict.fromkeys(one for one in found if one))


def _dismissed(_opened: Opened, standing: Document) -> Fields | None:
    return {suggestions.STATUS: suggestions.Decision.DISMISSED.value} if standing else None


def rested_on(told: Iterable[Told]) -> set[str]:
    """Return the ids of the file that texts rest on."""
    found: set[str] = set()
    for one in told:
        for name in (*(basis for basis, _ in TEXTS.values()), personas.LAST_SCENE_BASIS):
            found |= set(one.fields.get(name) or ())
        if one.kind == chain.PERSONA:
            found.update(*(basis for _, _, basis in one.fields[personas.STATEMENTS]))
    return found


def led_to(visit: Visit, task_id: str, records: Iterable[Record], wanted: Collection[str]) -> dict[str, str]:
    """Return where the records of these ids lead to, by the text that each says."""
    keys = visit.opened.keys
    tags = {
        one.old_id: drafted(keys, task_id, one).tag
        for one in records
        if one.old_id is not None and one.old_id in wanted
    }
    found = visit.vaults.table.get(visit.owner, sorted({names.DEDUP + tag for tag in tags.values()})) if tags else {}
    return {
        old_id: str(found[names.DEDUP + tag]["memory"]) for old_id, tag in tags.items() if names.DEDUP + tag in found
    }


def standing_here(visit: Visit, ids: Collection[str]) -> dict[str, str]:
    """Return those of the ids that are memories of this life themselves."""
    found = visit.vaults.table.get(visit.owner, [names.MEMORY + one for one in sorted(ids)]) if ids else {}
    here: dict[str, str] = {}
    for item in found.values():
        with suppress(SealBroken):
            memory = items.from_item(visit.opened.keys, item).memory
            here |= {memory.id: memory.id} if memory.status is not Status.RETIRED else {}
    return here
