"""The persona and the ways of working that its owner accepted, as sections of a context.

The persona is read with the head; suggestions are listed beside it (`accepted_of` opens them). Both are told only while all memories that
they rest on stand, which costs one read beside that of the candidates; an owner who has neither is read nothing more.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from shared.domain.errors import SealBroken
from shared.domain.naming import ALL_PROJECTS
from shared.ports import Item
from shared.recall.framing import Line, Section
from shared.storage import basis, lines, suggestions
from shared.storage.document_commits import opened_or_empty
from shared.storage.persona import STRUCTURED, TRAITS, Persona
from shared.storage.suggestions import Decision, Suggestion
from shared.storage.vaults import Opened, Vaults
from shared.text.normalise import language

NAMES: Final = ("languages", "frameworks", "databases", "tools", "active_projects")
"""Parts whose statements are names: they stand in one line, under a label."""
_LABELS: Final = {
    "en": ("Languages: {}", "Frameworks: {}", "Databases: {}", "Tools: {}", "Active projects: {}", ", "),
    "zh": ("编程语言：{}", "框架：{}", "数据库：{}", "工具：{}", "进行中的项目：{}", "、"),
}


def sections(
    vaults: Vaults, opened: Opened, project: str | None, agent: str | None, listed: Sequence[Item]
) -> list[Section]:
    """Return the portrait, and what was accepted for everybody, for this agent and for this project, in one step.

    The owner was opened with the settings and the persona; `listed` are items of suggestions.
    """
    persona = Persona.of(opened_or_empty(opened, lines.PERSONA, lines.PERSONA))
    accepted = [one for one in _accepted(opened, listed) if _at_hand(one, project, agent)]
    ground = basis.read(vaults, opened, [*persona.bases, *(one.rests for one in accepted)])
    suggested = (shown for one in accepted if (shown := one.shown(ground)))
    return [*persona_section(persona.shown(ground)), *_suggested(suggested)]


def persona_section(persona: Persona) -> list[Section]:
    """Return the portrait: what is said in sentences, then names."""
    said = {part: [one.text for one in persona.statements if one.part == part] for part in (TRAITS, *STRUCTURED)}
    sentences = [text for part, texts in said.items() if part not in NAMES for text in texts]
    tongue = language("\n".join(sentences or [one.text for one in persona.statements]))
    *labels, comma = _LABELS[tongue]
    named = [label.format(comma.join(said[part])) for part, label in zip(NAMES, labels, strict=True) if said[part]]
    told = tuple(Line(text) for text in (*sentences, *named))
    return [Section("persona", told)] if told else []


def _suggested(accepted: Iterable[Suggestion]) -> list[Section]:
    told = tuple(Line(one.text if one.text.startswith(one.title) else f"{one.title}: {one.text}") for one in accepted)
    return [Section("suggestions", told)] if told else []


def _accepted(opened: Opened, listed: Iterable[Item]) -> list[Suggestion]:
    found: list[Suggestion] = []
    for item in listed:
        with suppress(SealBroken):
            one = suggestions.from_item(opened.keys, item)
            if one is not None and one.status is Decision.ACCEPTED:
                found.append(one)
    return found


def _at_hand(one: Suggestion, project: str | None, agent: str | None) -> bool:
    here = one.project is None or project in {ALL_PROJECTS, one.project}
    return here and (one.agent is None or one.agent == agent)
