"""What a model answers, and reading it whatever it looks like.

The wire form is asked for by its JSON schema; models keep to it more or less. The reader takes every shape that can be understood
without guessing, discards single facts that must not be kept, and raises Unreadable where asking again is worth it. It never
adds a character: each fact's content is a piece of the answer with its JSON escapes resolved. Knows nothing of memories or storage.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, Final

from shared.domain import limits
from shared.domain.memory import Category, Scope
from shared.learning.answers import unwanted
from shared.learning.answers.parts import Problem, Unreadable, sections
from shared.learning.placeholders import shown
from shared.text.normalise import full_width_length, has_words, is_well_formed, normalise, visible

__all__ = ["Action", "Discarded", "Experience", "Fact", "Problem", "Reading", "Unreadable", "read", "schema"]

_CATEGORIES: Final = tuple(category.value for category in Category if category is not Category.EXPERIENCE)
DEFAULT_IMPORTANCE: Final = 5
LONGEST_SUMMARY: Final = 2_000
LONGEST_EXPERIENCE: Final = 500
MOST_EXPERIENCES: Final = 5


class Action(StrEnum):
    """What a fact does to the memories."""

    INSERT = "insert"
    TOUCH = "touch"
    UPDATE = "update"


class Discarded(StrEnum):
    """Why a fact of a readable answer is not kept."""

    SHAPE = "shape"
    EMPTY = "empty"
    DAMAGED = "damaged"
    META = "meta"
    EXAMPLE = "example"
    ASSISTANT = "assistant"
    PLACEHOLDER = "placeholder"
    TOO_LONG = "too_long"
    TARGET = "target"
    ACTION = "action"
    LANGUAGE = "language"
    UNGROUNDED = "ungrounded"
    FOREIGN = "foreign"
    DOUBLE = "double"
    LIMIT = "limit"


_ACTIONS: Final[Mapping[str, Action | None]] = {
    **dict.fromkeys(("touch", "confirm", "refresh", "reconfirm", "same", "keep"), Action.TOUCH),
    **dict.fromkeys(("update", "modify", "replace", "edit", "rewrite", "change"), Action.UPDATE),
    **dict.fromkeys(("delete", "remove", "forget", "none", "noop", "nothing", "skip", "ignore"), None),
}
"""What models call the actions; anything else is an insert. A fact to be deleted, or to be left alone, is no fact to insert."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact to be kept. `content` may be empty for a touch; `target` is an offered alias for touch and update, None for insert."""

    content: str
    scope: Scope = Scope.USER
    category: Category = Category.KNOWLEDGE
    importance: int = DEFAULT_IMPORTANCE
    action: Action = Action.INSERT
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Experience:
    """What an agent tried in which situation, and how it ended."""

    situation: str
    action: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer that was read. `discarded` counts facts by reason; `cut` tells that the answer ended before it was complete."""

    summary: str = ""
    facts: tuple[Fact, ...] = ()
    experiences: tuple[Experience, ...] = ()
    discarded: Mapping[Discarded, int] = field(default_factory=dict)
    cut: bool = False


@cache
def schema() -> dict[str, Any]:
    """Return the JSON schema of the wire form, for tools and structured output."""
    from shared.learning.answers.asked import AnswerAsked  # noqa: PLC0415 - pydantic is worth its import only when a model is asked

    return AnswerAsked.model_json_schema()


def read(text: str, *, aliases: Collection[str], limit: int, said: str = "", foreign: str = "") -> Reading:
    """Read one answer: at most `limit` facts, the most important ones.

    `aliases` are the targets that were offered. `said` is what the person said or could agree to; when given, facts that share
    no word with it or are written in another language are discarded, and so are those whose words stand rather in `foreign`, the text of
    tools, documents and an assistant whom nobody answered. Raises Unreadable with a constant text that can be sent back to the model.
    """
    found = sections(text)
    discarded: Counter[Discarded] = Counter()
    grounds = unwanted.Grounds.of(said, foreign) if said else None
    facts: dict[tuple[str, str | None], Fact] = {}
    for raw in found.facts:
        fact = _fact(raw, aliases, grounds)
        if isinstance(fact, Discarded):
            discarded[fact] += 1
        elif (key := (normalise(fact.content).casefold(), fact.target)) in facts:
            discarded[Discarded.DOUBLE] += 1
        else:
            facts[key] = fact
    kept = _most_important(list(facts.values()), limit)
    if len(kept) < len(facts):
        discarded[Discarded.LIMIT] += len(facts) - len(kept)
    return Reading(
        summary=_prose(found.summary, LONGEST_SUMMARY),
        facts=tuple(kept),
        experiences=tuple(_experiences(found.experiences)),
        discarded=dict(discarded),
        cut=found.cut,
    )


def _fact(
    raw: Mapping[str, Any] | None, aliases: Collection[str], grounds: "unwanted.Grounds | None"
) -> Fact | Discarded:
    """Judge one fact whose keys are already those of the wire form; None stands for what is no fact at all."""
    if raw is None:
        return Discarded.SHAPE
    action = _ACTIONS.get(_word(raw.get("action")), Action.INSERT)
    if action is None:
        return Discarded.ACTION
    content = raw.get("content", "")
    content = content.strip() if isinstance(content, str) else ""
    target: str | None = None
    if action is not Action.INSERT:
        target = _target(raw.get("target"))
        if target not in aliases:
            return Discarded.TARGET
    if reason := _spoilt(content, action, grounds):
        return reason
    return Fact(
        content=content,
        scope=Scope.PROJECT if _word(raw.get("type")) in {"project", "项目"} else Scope.USER,
        category=_category(raw.get("category")),
        importance=_importance(raw.get("importance")),
        action=action,
        target=target,
    )


def _spoilt(content: str, action: Action, grounds: "unwanted.Grounds | None") -> Discarded | None:
    if not has_words(content):
        return None if action is Action.TOUCH and not content else Discarded.EMPTY
    if not is_well_formed(content) or any(ord(sign) < 32 and sign not in "\t\n\r" for sign in content):
        return Discarded.DAMAGED
    words = shown(content)
    if full_width_length(words) > limits.FACT_FULL_WIDTH:
        return Discarded.TOO_LONG
    for reason, holds in (
        (Discarded.PLACEHOLDER, unwanted.only_placeholder),
        (Discarded.META, unwanted.meta),
        (Discarded.ASSISTANT, unwanted.about_assistant),
        (Discarded.EXAMPLE, unwanted.from_prompt),
    ):
        if holds(words):
            return reason
    if grounds and not grounds.share_language(words):
        return Discarded.LANGUAGE
    if grounds and grounds.from_elsewhere(words):
        return Discarded.FOREIGN
    return Discarded.UNGROUNDED if grounds and not grounds.share_words(words) else None


def _word(value: Any) -> str:
    return value.strip().casefold() if isinstance(value, str) else ""


def _target(value: Any) -> str:
    """Return the alias that a target names: "m3", "[M3]" and "m3:" are the same; a bare number names nothing."""
    return _word(value).strip("[]()<>:：.`'\"")


def _category(value: Any) -> Category:
    word = _word(value)
    return Category(word) if word in _CATEGORIES else Category.KNOWLEDGE


def _importance(value: Any) -> int:
    """Return 1 to 10; numbers beyond are cut to that, what is no number counts as the default."""
    if isinstance(value, str):
        try:
            value = float(value.partition("/")[0])
        except ValueError:
            return DEFAULT_IMPORTANCE
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - not a number
        return DEFAULT_IMPORTANCE
    return int(min(max(value, 1), 10))


def _most_important(facts: list[Fact], limit: int) -> list[Fact]:
    ranked = sorted(range(len(facts)), key=lambda at: (-facts[at].importance, at))
    return [facts[at] for at in sorted(ranked[: max(limit, 0)])]


def _experiences(found: Iterable[Mapping[str, Any]]) -> list[Experience]:
    kept: list[Experience] = []
    for one in found:
        experience = Experience(
            *(_prose(one.get(part), LONGEST_EXPERIENCE) for part in ("situation", "action", "outcome"))
        )
        if experience.situation and experience.action and experience.outcome:
            kept.append(experience)
    return kept[:MOST_EXPERIENCES]


def _prose(value: Any, longest: int) -> str:
    """Return a text that is not a fact: nothing where it is damaged or holds nothing, its beginning where it is too long."""
    text = value.strip() if isinstance(value, str) else ""
    return text[:longest] if visible(text) and is_well_formed(text[:longest]) else ""
