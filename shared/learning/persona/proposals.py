"""Reading what a model says of a person: a list of statements, in whatever wrapping. Judges nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.learning.answers import loose_json
from shared.learning.answers.parts import LONGEST_ANSWER, without_thinking
from shared.storage.persona import PARTS
from shared.text.normalise import normalise

_PART: Final = ("part", "field", "kind", "type", "部分")
_TEXT: Final = ("text", "statement", "value", "content", "内容")
_FACTS: Final = ("facts", "basis", "sources", "ids", "依据")
_MOST: Final = 200
SCHEMA: Final[Mapping[str, Any]] = {
    "title": "Persona",
    "type": "object",
    "additionalProperties": False,
    "required": ["statements"],
    "properties": {
        "statements": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["part", "text", "facts"],
                "properties": {
                    "part": {"type": "string", "enum": list(PARTS)},
                    "text": {"type": "string"},
                    "facts": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    },
}
"""The JSON schema of the wire form, for tools and structured output."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One statement as the model wrote it, with the aliases of what it rests on."""

    part: str
    text: str
    aliases: tuple[str, ...]


def read(text: str) -> list[Proposal] | None:
    """Return the statements of the last complete answer in the text; None where there is none."""
    if len(text) > LONGEST_ANSWER:
        return None
    told = [found.value for found in loose_json.find(without_thinking(text)) if found.whole]
    lists = [one for value in told if (one := _listed(value)) is not None]
    return [proposal for one in lists[-1][:_MOST] if (proposal := _proposal(one))] if lists else None


def _listed(value: dict[str, Any] | list[Any]) -> list[Any] | None:
    """Return the list that an answer is, or that stands in it under one name."""
    if isinstance(value, list):
        return value if value and all(isinstance(one, dict) for one in value) else None
    lists = [one for one in value.values() if isinstance(one, list)]
    named = value.get("statements", lists[0] if len(value) == 1 and lists else None)
    return named if isinstance(named, list) else None


def _proposal(value: Any) -> Proposal | None:
    if not isinstance(value, dict):
        return None
    part, text, facts = (
        next((value[name] for name in named if name in value), None) for named in (_PART, _TEXT, _FACTS)
    )
    if not isinstance(part, str) or not isinstance(text, str):
        return None
    return Proposal(part.strip().casefold().replace(" ", "_"), normalise(text), tuple(_aliases(facts)))


def _aliases(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield from (
                part.strip("[]()<>:：.`'\"").casefold() for part in one.replace("，", ",").replace(",", " ").split()
            )
        elif one is not None:
            yield str(one)
