"""Letting a language model say what the facts of one project say together. What it adds to them is not kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.asking import Ask
from shared.domain.memory import Memory
from shared.keeping.scenes.upkeep import Described
from shared.learning.answers import loose_json, unwanted
from shared.learning.answers.parts import without_thinking
from shared.learning.consolidation.wording import Words
from shared.learning.extractor import Cost
from shared.learning.model import Model
from shared.learning.prompts.describe import build
from shared.text.normalise import has_words, is_well_formed, normalise

MAX_TOKENS: Final = 1_000
SECONDS: Final = 40.0
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"context": {"type": "string", "description": "What the facts say together, six sentences at most"}},
    "required": ["context"],
    "additionalProperties": False,
}
_NAMES: Final = ("context", "description", "summary", "text", "背景", "现状")


@dataclass(frozen=True, slots=True)
class ModelDescriber:
    """Asks one model, once."""

    model: Model

    def describe(self, project: str, facts: Sequence[Memory]) -> Described:
        """Return the description of a project by facts without secrets; None where the answer cannot be read, refuses, is in another
        language, or says what the facts do not. Raises ModelUnavailable."""
        system, user = build(project, facts)
        answer = self.model.ask(Ask(system, user, SCHEMA, MAX_TOKENS, SECONDS))
        text = _read(answer.text) if answer.stop in {"end", "tool"} else None
        said = "\n".join([project, *(fact.content for fact in facts)])
        sound = text is not None and _grounded(text, said)
        return Described(text if sound else None, Cost(1, answer.tokens_in, answer.tokens_out))


def _read(text: str) -> str | None:
    """Return the description of an answer in whatever wrapping."""
    for found in loose_json.find(without_thinking(text)):
        values = found.value if found.whole and isinstance(found.value, dict) else {}
        told = next((values[name] for name in _NAMES if isinstance(values.get(name), str)), None)
        if told is not None and has_words(told) and is_well_formed(told):
            return normalise(told)
    return None


def _grounded(text: str, said: str) -> bool:
    """Whether every number of it and most of its words stand in what was said, in the same language, and it talks of no model's work."""
    words, known = Words.of(text), Words.of(said)
    own = 2 * len(words.telling & known.telling) >= len(words.telling)
    talk = unwanted.meta(text) or unwanted.about_assistant(text)
    return words.numbers <= known.numbers and own and not talk and unwanted.Grounds.of(said).share_language(text)
