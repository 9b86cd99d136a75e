"""Finding the answer in what a model wrote: outside its thinking, inside fences, wrappers and prose, under whatever names.

Decides what is summary, facts and experiences; judges no fact. Raises Unreadable, whose text never holds the model's words.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from shared.learning.answers import loose_json
from shared.text.normalise import visible
from shared.text.pattern import Pattern

LONGEST_ANSWER: Final = 2_000_000
_DEPTH: Final = 6


class Problem(StrEnum):
    """Why an answer cannot be read; fit to be sent back to the model."""

    EMPTY = "The answer is empty. Answer with one JSON object that has the fields summary and facts."
    THINKING = "The answer ends inside the reasoning. Answer with the JSON object only, without reasoning."
    NO_JSON = "There is no JSON in the answer. Answer with one JSON object that has the fields summary and facts."
    SCHEMA = "The answer is the JSON schema itself. Answer with an object that follows it, with real values."
    SHAPE = "The JSON has no list named facts. Answer with one object that has the fields summary and facts."
    CUT = "The JSON ends before its first fact is complete or is broken there. Answer again, shorter, with valid JSON."
    TOO_LONG = "The answer is far too long. Answer with one short JSON object."


class Unreadable(Exception):
    """The answer cannot be read; its text is one of Problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.value)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Sections:
    """The parts of an answer. A fact is a mapping under the names of the wire form, or None for what is no fact at all."""

    summary: Any = ""
    facts: tuple[Mapping[str, Any] | None, ...] = ()
    experiences: tuple[Mapping[str, Any], ...] = ()
    cut: bool = False


class _Kind(StrEnum):
    ANSWER = "answer"
    LIST = "list"
    FACT = "fact"
    NOTHING = "nothing"
    OTHER = "other"
    SCHEMA = "schema"


Shaped = tuple[_Kind, Sections]

_TAG = Pattern(
    r"""(?ix)<\s?(?P<a>/?)\s?(?:\w{1,8}:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)\b[^<>]{0,80}> | \[(?P<b>/?)think\]
      | ◁(?P<c>/?)think▷
      | <\|(?:begin|(?P<d>end))_of_thought\|> | (?P<bare>(?<![\w</])/?think(?:ing)?>)"""
)
_STRICT_TRIES: Final = 8
_FENCED = Pattern(r"\s*(?:```|~~~)[^\n`]{0,40}\n(?P<body>.*?)\s*(?:```|~~~)?\s*", re.DOTALL)
_NOTHING: Final = frozenset({"null", "none", "nil", "{}", "[]"})
_FACTS: Final = ("facts", "factlist", "extractedfacts", "memories", "operations", "ops", "事实", "记忆")
_FACTS_IF_LIST: Final = (
    "memory",
    "fact",
    "items",
    "results",
    "data",
    "updates",
    "actions",
    "output",
    "result",
    "response",
)
_WRAPPERS: Final = (
    "arguments",
    "function",
    "toolcalls",
    "toolcall",
    "input",
    "parameters",
    "output",
    "result",
    "response",
    "answer",
    "data",
    "json",
    "content",
    "text",
    "args",
)
_SCHEMA_SIGNS: Final = frozenset({"properties", "$schema", "$defs", "$ref"})
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "content": (
        "content",
        "fact",
        "text",
        "memory",
        "statement",
        "newmemory",
        "newcontent",
        "value",
        "sentence",
        "description",
        "内容",
        "事实",
        "记忆",
    ),
    "type": ("type", "scope", "类型"),
    "category": ("category", "kind", "类别", "分类"),
    "importance": ("importance", "priority", "weight", "score", "重要性", "重要度"),
    "action": ("action", "op", "operation", "event", "操作", "动作"),
    "target": ("target", "targetid", "existingid", "memoryid", "alias", "ref", "id", "目标"),
}
_KNOWN: Final = frozenset(name for names in _NAMES.values() for name in names)
_EXPERIENCE: Final[Mapping[str, tuple[str, ...]]] = {
    "situation": ("situation", "context", "problem", "情境", "情况"),
    "action": ("action", "attempt", "tried", "行动", "做法"),
    "outcome": ("outcome", "result", "结果"),
}


def sections(text: str) -> Sections:
    """Return the parts of the answer: of the last complete object that has its shape, else of what is complete in a broken one."""
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(Problem.TOO_LONG)
    text = text.replace("\ufeff", "")
    if not visible(text):
        raise Unreadable(Problem.EMPTY)
    region = without_thinking(text)
    if not visible(region):
        raise Unreadable(Problem.THINKING)
    bare = _unfenced(region)
    if bare.lower() in _NOTHING:
        return Sections()
    if bare[:1] in "\"'“" and (told := _of_string(bare, 0)):
        return _chosen([told])
    if not visible(bare.strip("\"'`“”")):
        raise Unreadable(Problem.EMPTY)
    return _chosen(list(_shapes(region, 0)))


def without_thinking(text: str) -> str:
    """Return what stands outside the reasoning; a tag inside a string of an otherwise perfect answer is only a word."""
    tags = list(_TAG.finditer(text))
    if not tags or _strict(text):
        return text
    begin = len(text) - len(text.lstrip())
    closing = [tag for tag in tags if _closes(tag, begin)]
    for tag in closing[:_STRICT_TRIES]:
        if _strict(text[tag.end() :]):
            return text[tag.end() :]
    start = closing[-1].end() if closing else 0
    opening = next((tag.start() for tag in tags if tag.start() >= start), len(text))
    return text[start:opening]


def _closes(tag: re.Match[str], begin: int) -> bool:
    """Whether the tag ends the reasoning. One that lost its "<" opens it where the answer begins and ends it elsewhere."""
    if tag["bare"]:
        return tag["bare"].startswith("/") or tag.start() > begin
    return any(tag[name] for name in "abcd")


def _strict(text: str) -> bool:
    try:
        return isinstance(json.loads(_unfenced(text)), dict | list)
    except (ValueError, RecursionError):
        return False


def _unfenced(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return (fenced["body"] if fenced else text).strip()


def _shapes(text: str, depth: int) -> Iterator[Shaped]:
    for found in loose_json.find(text):
        shaped = _shaped(found.value, depth)
        if shaped:
            kind, parts = shaped
            yield kind, parts if found.whole else replace(parts, cut=True)


def _chosen(shapes: list[Shaped]) -> Sections:
    """Choose: a whole answer, a whole list, what is left of a broken answer with the facts behind the break, loose facts, a broken list."""
    for kind in (_Kind.ANSWER, _Kind.LIST):
        whole = [parts for found, parts in shapes if found is kind and not parts.cut]
        if whole:
            return whole[-1]
    broken = [at for at, (kind, _) in enumerate(shapes) if kind is _Kind.ANSWER]
    behind = shapes[broken[-1] + 1 :] if broken else shapes
    loose = tuple(fact for kind, parts in behind if kind is _Kind.FACT and not parts.cut for fact in parts.facts)
    if broken:
        parts = shapes[broken[-1]][1]
        return _unless_empty(replace(parts, facts=parts.facts + loose))
    if loose:
        return Sections(facts=loose)
    lists = [parts for kind, parts in shapes if kind is _Kind.LIST]
    if lists:
        return _unless_empty(lists[-1])
    kinds = {kind for kind, _ in shapes}
    if kinds == {_Kind.NOTHING} and not any(parts.cut for _, parts in shapes):
        return Sections()
    if _Kind.SCHEMA in kinds:
        raise Unreadable(Problem.SCHEMA)
    if any(parts.cut for _, parts in shapes):
        raise Unreadable(Problem.CUT)
    raise Unreadable(Problem.SHAPE if shapes else Problem.NO_JSON)


def _unless_empty(parts: Sections) -> Sections:
    if not parts.facts:
        raise Unreadable(Problem.CUT)
    return parts


def _shaped(value: Any, depth: int) -> Shaped | None:
    """Tell what a JSON value is, looking into wrappers and doubly encoded strings."""
    if depth > _DEPTH:
        return None
    if isinstance(value, str):
        return _of_string(value, depth)
    if isinstance(value, list):
        return _of_list(value, depth)
    return _of_object(value, depth) if isinstance(value, dict) else None


def _of_string(text: str, depth: int) -> Shaped | None:
    if text[:1] in ('"', "'", "“") and len(text) > 1:
        return _of_string(loose_json.decoded(text[1:-1]).strip(), depth + 1) if depth <= _DEPTH else None
    if not text.lstrip().startswith(("{", "[", "```", "｛", "［")):
        return None
    shapes = [one for one in _shapes(text, depth + 1) if one[0] in (_Kind.ANSWER, _Kind.LIST)]
    return shapes[-1] if shapes else None


def _of_list(items: list[Any], depth: int) -> Shaped | None:
    if not items:
        return _Kind.LIST, Sections()
    inner = [one for item in items if isinstance(item, dict) and (one := _of_object(item, depth + 1))]
    answers = [one for one in inner if one[0] is _Kind.ANSWER]
    if answers:
        return answers[-1]
    if any(isinstance(item, str) for item in items) or any(kind is _Kind.FACT for kind, _ in inner):
        return _Kind.LIST, Sections(facts=tuple(_facts(items)))
    return None


def _of_object(value: dict[str, Any], depth: int) -> Shaped | None:
    if not value:
        return _Kind.NOTHING, Sections()
    named = _named(value)
    key = next((one for one in _FACTS if one in named), "")
    key = key or next((one for one in _FACTS_IF_LIST if isinstance(named.get(one), list)), "")
    if key and (answer := _of_facts(named, named[key], depth)):
        return answer
    if _SCHEMA_SIGNS & named.keys() or _is_schema(named.get(key)):
        inner = _shaped(named.get("properties"), depth + 1)
        return inner if inner and inner[0] is _Kind.ANSWER else (_Kind.SCHEMA, Sections())
    for wrapper in _WRAPPERS:
        inner = _shaped(named.get(wrapper), depth + 1)
        if inner and inner[0] in (_Kind.ANSWER, _Kind.SCHEMA):
            return inner
    facts = tuple(_facts([value]))
    return (_Kind.FACT, Sections(facts=facts)) if facts and None not in facts else (_Kind.OTHER, Sections())


def _of_facts(named: Mapping[str, Any], value: Any, depth: int) -> Shaped | None:
    """Read the answer whose facts are that value; None when it is a schema."""
    if _is_schema(value):
        return None
    facts: Iterable[Mapping[str, Any] | None]
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")) and (inner := _of_string(value, depth + 1)):
        facts = inner[1].facts
    elif isinstance(value, dict) and (listed := _listed(value)):
        facts = _facts(listed)
    else:
        facts = _facts(value if isinstance(value, list) else [value] if value else [])
    told = named.get("experiences", named.get("经验"))
    experiences = (
        tuple(_renamed(one, _EXPERIENCE) for one in told if isinstance(one, dict)) if isinstance(told, list) else ()
    )
    return _Kind.ANSWER, Sections(named.get("summary", named.get("摘要", "")), tuple(facts), experiences)


def _listed(value: Mapping[str, Any]) -> list[Any]:
    """The values of {"1": …, "2": …}; nothing for an object that is one fact."""
    return list(value.values()) if all(name.strip().isdigit() for name in value) else []


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict) and (
        "$ref" in value or (value.get("type") in ("array", "object") and "content" not in value)
    )


def _facts(items: Iterable[Any]) -> Iterator[Mapping[str, Any] | None]:
    for item in items:
        if isinstance(item, str):
            objects = [one.value for one in loose_json.find(item) if one.whole] if item.lstrip().startswith("{") else []
            yield from _facts(objects) if objects else [{"content": item}]
        elif isinstance(item, dict):
            fact = _renamed(item, _NAMES)
            if isinstance(fact.get("content"), str) or ("target" in fact and "action" in fact):
                yield fact
            else:
                marked = [name for name, mark in item.items() if mark is True and _fold(name) not in _KNOWN]
                yield from ({**fact, "content": name} for name in marked) if marked else [None]
        else:
            yield None


def _renamed(value: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    named = _named(value)
    return {
        name: named[first]
        for name, known in names.items()
        if (first := next((key for key in known if key in named), ""))
    }


def _named(value: Mapping[str, Any]) -> dict[str, Any]:
    return {_fold(name): one for name, one in value.items()}


def _fold(name: str) -> str:
    return name.strip().casefold().replace("_", "").replace("-", "").replace(" ", "")
