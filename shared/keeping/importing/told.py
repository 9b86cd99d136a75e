"""What a file tells besides memories: scenes, the portrait, suggestions, the active project, settings. Checked by kind. Pure.

Texts are masked anew and cut to what they may be. Nothing is believed of what a text rests on but ids; where a portrait or a suggestion
rests on nothing, nobody could ever take it back by forgetting, so it is left out. What orders an assistant about is left out and reported:
a file is no person who says it. So is what only a person may decide: that contexts show secrets, that a suggestion is accepted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from shared.domain import limits, naming
from shared.domain.errors import Invalid
from shared.domain.ids import is_ulid
from shared.domain.memory import DEFAULT_PROJECT
from shared.domain.times import moment, rfc3339
from shared.keeping.exporting import chain
from shared.keeping.importing.records import Reason, Refusal
from shared.learning.standing_facts import orders_within
from shared.storage import persona, scenes, suggestions
from shared.storage.basis import Basis
from shared.storage.documents import PROJECT
from shared.text.normalise import cut, normalise, visible
from shared.text.secrets import find, mask

Settings = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Returns the settings that are to be changed. Raises Invalid."""
Fields = dict[str, Any]

TEXTS: Final = {
    scenes.SUMMARY: (scenes.BASIS, scenes.TOLD_AT),
    scenes.CONTEXT: (scenes.CONTEXT_BASIS, scenes.CONTEXT_AT),
}
"""The texts of a scene, each with what it rests on and when it was written."""
_SCENE: Final = {
    PROJECT,
    scenes.NAME,
    scenes.ARCHIVED,
    scenes.USED_AT,
    *TEXTS,
    *(one for two in TEXTS.values() for one in two),
}
_PERSONA: Final = {
    persona.STATEMENTS,
    persona.FACT_COUNT,
    persona.LAST_SCENE,
    persona.LAST_SCENE_BASIS,
    persona.REFRESHED_AT,
    persona.MODEL,
}
_STATEMENT: Final = ("part", "text", "basis")
_SUGGESTION: Final = {"kind", "title", "text", "basis", "evidence", "status", "agent", "project", "marks", "model"}
_ONLY_BY_HAND: Final = "credentials_in_context"
"""The setting that no file switches on."""
_STATEMENTS: Final = 1_000
_COUNT: Final = 1_000_000
_MODEL_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that is told. The ids in it are the file's own; `withheld` says what of the line is not taken in."""

    line: int
    kind: str
    fields: Fields
    withheld: tuple[Refusal, ...] = ()

    def to_body(self) -> dict[str, Any]:
        """Return what is sealed of it."""
        return {"line": self.line, "kind": self.kind, "fields": self.fields}


def checked_told(line: int, kind: str, said: Mapping[str, Any], now: datetime, settings: Settings) -> Told | Refusal:
    """Return what a line of that kind tells, or why it is refused."""
    part = "settings" if kind == chain.SETTINGS else "fields"
    given = said.get(part)
    if said.keys() != {"kind", part} or not isinstance(given, dict):
        return Refusal(line, Reason.INVALID, part)
    try:
        if kind == chain.SETTINGS:
            return _choices(line, dict(settings(given)))
        taken, ordering = _without_orders(kind, _RULES[kind](given, now))
        if kind == chain.SUGGESTION and ordering:
            return Refusal(line, Reason.ORDER, ordering[0])
        return Told(line, kind, taken, tuple(Refusal(line, Reason.ORDER, name) for name in ordering))
    except Invalid as invalid:
        details = invalid.details
        return Refusal(line, Reason.INVALID, details[0]["field"] if isinstance(details, list) and details else part)


def _choices(line: int, choices: Fields) -> Told | Refusal:
    if not choices.get(_ONLY_BY_HAND):
        return Told(line, chain.SETTINGS, choices)
    others = {name: value for name, value in choices.items() if name != _ONLY_BY_HAND}
    withheld = Refusal(line, Reason.ONLY_BY_HAND, _ONLY_BY_HAND)
    return Told(line, chain.SETTINGS, others, (withheld,)) if others else withheld


def _without_orders(kind: str, taken: Fields) -> tuple[Fields, list[str]]:
    """Return the fields without texts that order an assistant about, and the names of those that had one."""
    kept, ordering = dict(taken), []
    for name in _SAID.get(kind, ()):
        said = taken.get(name)
        if isinstance(said, list):
            kept[name] = [one for one in said if not orders_within(one[1])]
        elif said and orders_within(said):
            del kept[name]
        if kept.get(name) != said:
            ordering.append(name)
    return kept, ordering


def _scene(given: Fields, now: datetime) -> Fields:
    _known(given, _SCENE)
    kept: Fields = {PROJECT: _project(given, PROJECT)}
    if kept[PROJECT] is None:
        raise _wrong(PROJECT)
    name = given.get(scenes.NAME)
    if name is not None:
        kept[scenes.NAME] = _name(name, scenes.NAME, naming.name)
    for text, (basis, at) in TEXTS.items():
        said = _text(given, text)
        if said is not None:
            kept |= {**scenes.written(text, said, Basis(tuple(_ids(given, basis)))), at: _at(given, at, now)}
    kept[scenes.USED_AT] = _at(given, scenes.USED_AT, now)
    archived = given.get(scenes.ARCHIVED)
    if archived is not None:
        kept[scenes.ARCHIVED] = archived and _at(given, scenes.ARCHIVED, now)
    return {name: value for name, value in kept.items() if value is not None}


def _persona(given: Fields, now: datetime) -> Fields:
    _known(given, _PERSONA)
    told = given.get(persona.STATEMENTS) or []
    if not isinstance(told, list) or len(told) > _STATEMENTS:
        raise _wrong(persona.STATEMENTS)
    statements = [statement for one in told if (statement := _statement(one)).basis]
    return persona.Persona(
        tuple(persona.within_bounds(statements)),
        _count(given, persona.FACT_COUNT),
        _project(given, persona.LAST_SCENE),
        tuple(_ids(given, persona.LAST_SCENE_BASIS)),
        _at(given, persona.REFRESHED_AT, now) or rfc3339(now),
        _short(given, persona.MODEL, _MODEL_CHARACTERS),
    ).fields()


def _statement(one: object) -> persona.Statement:
    if not isinstance(one, list) or len(one) != len(_STATEMENT) or one[0] not in persona.PARTS:
        raise _wrong(persona.STATEMENTS)
    given = dict(zip(_STATEMENT, one, strict=True))
    text = normalise(_short(given, "text", limits.PERSONA_BYTES) or "")
    return persona.Statement(one[0], text, tuple(_ids(given, "basis")) if text else ())


def _suggestion(given: Fields, _now: datetime) -> Fields:
    """Return a suggestion, not accepted yet, without its marks: they are tags of the life that it was made in."""
    _known(given, _SUGGESTION)
    for name, one_of in (("kind", suggestions.Kind), ("status", suggestions.Decision)):
        if given.get(name) not in [one.value for one in one_of]:
            raise _wrong(name)
    title = _short(given, "title", limits.SUGGESTION_TITLE_CHARACTERS)
    text = _short(given, "text", limits.SUGGESTION_CHARACTERS)
    basis = _ids(given, "basis")
    if not title or not text or not basis:
        raise _wrong("text")
    agent, decided = given.get("agent"), suggestions.Decision
    status = decided.DISMISSED if given["status"] == decided.DISMISSED else decided.PROPOSED
    return {
        "kind": given["kind"],
        "title": title,
        "text": text,
        "basis": basis[: limits.PATTERN_BASIS],
        "evidence": _count(given, "evidence"),
        "status": status.value,
        "agent": None if agent is None else _name(agent, "agent", naming.name),
        "project": _project(given, "project"),
        "marks": [],
        "model": _short(given, "model", _MODEL_CHARACTERS),
    }


def _active(given: Fields, _now: datetime) -> Fields:
    _known(given, {PROJECT})
    return {PROJECT: _project(given, PROJECT)}


_RULES: Final[Mapping[str, Callable[[Fields, datetime], Fields]]] = {
    chain.SCENE: _scene,
    chain.PERSONA: _persona,
    chain.SUGGESTION: _suggestion,
    chain.ACTIVE: _active,
}
_SAID: Final[Mapping[str, tuple[str, ...]]] = {
    chain.SCENE: (scenes.NAME, *TEXTS),
    chain.PERSONA: (persona.STATEMENTS,),
    chain.SUGGESTION: (suggestions.TITLE, suggestions.TEXT),
}
"""The fields that a context may tell as they are; statements have their text at 1."""
KINDS: Final = frozenset({*_RULES, chain.SETTINGS})
"""Kinds of lines that `checked_told` reads."""


def _known(given: Fields, names: set[str]) -> None:
    if not names.issuperset(given):
        raise _wrong("fields")


def _project(given: Fields, field: str) -> str | None:
    project = given.get(field)
    named = None if project is None else _name(project, field, naming.project)
    return None if named == DEFAULT_PROJECT else named


def _name(given: object, field: str, rule: Callable[[str], str]) -> str:
    try:
        named = rule(given) if isinstance(given, str) else None
    except ValueError:
        named = None
    if named is None or find(named):
        raise _wrong(field)
    return named


def _text(given: Fields, field: str) -> str | None:
    text = given.get(field)
    if text is not None and not isinstance(text, str):
        raise _wrong(field)
    return text if text and visible(text) else None


def _short(given: Fields, field: str, longest: int) -> str | None:
    """Return a text, its secrets masked, of at most so many bytes; None where there is nothing to see."""
    text = _text(given, field)
    return None if text is None else cut(mask(text).text, longest)


def _ids(given: Fields, field: str) -> list[str]:
    ids = given.get(field) or []
    if not isinstance(ids, list) or len(ids) > limits.SCENE_MEMORIES:
        raise _wrong(field)
    if not all(isinstance(one, str) and is_ulid(one) for one in ids):
        raise _wrong(field)
    return list(dict.fromkeys(ids))


def _at(given: Fields, field: str, now: datetime) -> str | None:
    """Return a moment as RFC 3339, not later than now."""
    at = given.get(field)
    if at is None:
        return None
    try:
        return rfc3339(min(moment(at) if isinstance(at, str) else now, now))
    except (ValueError, OverflowError):
        raise _wrong(field) from None


def _count(given: Fields, field: str) -> int:
    count = given.get(field) or 0
    if type(count) is not int or not 0 <= count <= _COUNT:
        raise _wrong(field)
    return count


def _wrong(field: str) -> Invalid:
    return Invalid.of(field, "It is not what it must be.")
