"""Putting a pattern into words: by a model, or by the words of its newest memory where there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from shared.domain import limits
from shared.domain.asking import Ask
from shared.domain.memory import Category, Memory
from shared.learning.answers import loose_json
from shared.learning.answers.grounding import grounded, plain
from shared.learning.answers.parts import LONGEST_ANSWER, without_thinking
from shared.learning.evolution.patterns import Pattern
from shared.learning.extractor import Cost
from shared.learning.model import Model
from shared.learning.placeholders import Placeholders
from shared.learning.prompts.evolve import PROMPT_VERSION, build
from shared.storage.suggestions import Kind
from shared.text.normalise import normalise

RULES: Final = "rules evolve/1"
MAX_TOKENS: Final = 4_000
LONGEST_SECONDS: Final = 60.0
PATTERNS_AT_ONCE: Final = 12
"""What is shown at once; more wait for the next visit."""
_ARROW: Final = "→"
SCHEMA: Final[Mapping[str, Any]] = {
    "title": "Suggestions",
    "type": "object",
    "additionalProperties": False,
    "required": ["suggestions"],
    "properties": {
        "suggestions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["pattern", "kind", "title", "text"],
                "properties": {
                    "pattern": {"type": "string"},
                    "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
                    "title": {"type": "string"},
                    "text": {"type": "string"},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Named:
    """A pattern in words."""

    pattern: Pattern
    kind: Kind
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Naming:
    """The patterns that are worth a suggestion; `refused` were proposed in words that may not be kept."""

    named: tuple[Named, ...]
    refused: int
    model: str
    cost: Cost = field(default_factory=Cost)


class Namer(Protocol):
    """Puts patterns into words."""

    def name(self, patterns: Sequence[Pattern], seconds: float) -> Naming:
        """Return those that are worth a suggestion, within that time. Raises ModelUnavailable."""
        ...


class RulesNamer:
    """Says each pattern in the words of its newest memory."""

    def name(self, patterns: Sequence[Pattern], seconds: float) -> Naming:  # noqa: ARG002
        named = (Named(pattern, *in_own_words(pattern.memories)) for pattern in patterns)
        return Naming(tuple(named), 0, RULES)


@dataclass(frozen=True, slots=True)
class ModelNamer:
    """Asks a model once for all patterns. It sees no id and no secret, and each suggestion stands or falls alone."""

    model: Model

    def name(self, patterns: Sequence[Pattern], seconds: float) -> Naming:
        shown = {f"p{number}": pattern for number, pattern in enumerate(patterns, 1)}
        texts = {alias: _texts(pattern) for alias, pattern in shown.items()}
        system, user = build(texts)
        answer = self.model.ask(Ask(system, user, SCHEMA, MAX_TOKENS, min(seconds, LONGEST_SECONDS)))
        proposed = _read(answer.text) if answer.stop in {"end", "tool"} else []
        named: dict[str, Named] = {}
        for one in proposed:
            alias = str(one.get("pattern", "")).strip("[]():： ").casefold()
            sound = _sound(one, shown[alias], texts[alias]) if alias in shown and alias not in named else None
            if sound is not None:
                named[alias] = sound
        cost = Cost(1, answer.tokens_in, answer.tokens_out)
        return Naming(tuple(named.values()), len(proposed) - len(named), f"{answer.model} {PROMPT_VERSION}", cost)


def in_own_words(memories: Sequence[Memory]) -> tuple[Kind, str, str]:
    """Return kind, title and text in the words of the first of these memories. An experience begins with its situation."""
    newest = memories[0]
    text = normalise(newest.content)[: limits.SUGGESTION_CHARACTERS]
    title = text.partition(_ARROW)[0].strip() or text
    kind = Kind.WORKFLOW if newest.category is Category.EXPERIENCE else Kind.SKILL
    return kind, title[: limits.SUGGESTION_TITLE_CHARACTERS], text


def _texts(pattern: Pattern) -> list[str]:
    return list(Placeholders.of([memory.content for memory in pattern.memories[: limits.PATTERN_BASIS]]).texts)


def _read(text: str) -> list[Mapping[str, Any]]:
    """Return the suggestions of the last complete answer in the text; none where there is no answer."""
    if len(text) > LONGEST_ANSWER:
        return []
    told = [found.value for found in loose_json.find(without_thinking(text)) if found.whole]
    lists = [value.get("suggestions") if isinstance(value, dict) else value for value in told]
    whole = [one for one in lists if isinstance(one, list)]
    return [one for one in whole[-1] if isinstance(one, dict)] if whole else []


def _sound(proposed: Mapping[str, Any], pattern: Pattern, said: Sequence[str]) -> Named | None:
    kind, title, text = (proposed.get(name) for name in ("kind", "title", "text"))
    if kind not in set(Kind) or not isinstance(title, str) or not isinstance(text, str):
        return None
    title, text = normalise(title), normalise(text)
    fits = 0 < len(title) <= limits.SUGGESTION_TITLE_CHARACTERS and 0 < len(text) <= limits.SUGGESTION_CHARACTERS
    kept = fits and all(plain(one, limits.SUGGESTION_CHARACTERS) and grounded(one, said) for one in (title, text))
    return Named(pattern, Kind(kind), title, text) if kept else None
