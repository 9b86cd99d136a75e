"""Reading what a model proposes: a list of operations over the lines it was shown, under whatever names and in whatever wrapping.

Judges nothing: whether an alias was offered or a text may be kept is decided in judging.py. An answer that was cut is none.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from shared.learning.answers import loose_json
from shared.learning.answers.parts import LONGEST_ANSWER, without_thinking


class Op(StrEnum):
    MERGE = "merge"
    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One operation: the aliases it is about and, for a merge, the new text."""

    op: Op
    sources: tuple[str, ...]
    content: str = ""


class Unreadable(Exception):
    """There is no complete list of operations in the answer."""


_OPS: Final[Mapping[str, Op]] = {
    **dict.fromkeys(("merge", "merges", "merged", "combine", "consolidate", "合并"), Op.MERGE),
    **dict.fromkeys(("keep", "keeps", "kept", "none", "noop", "unchanged", "保留"), Op.KEEP),
    **dict.fromkeys(("drop", "drops", "dropped", "delete", "remove", "discard", "删除", "丢弃"), Op.DROP),
}
_OP_NAMES: Final = ("op", "operation", "action", "type", "操作", "动作")
_SOURCE_NAMES: Final = ("sources", "sourceids", "source", "ids", "lines", "targets", "target", "aliases", "id", "来源")
_CONTENT_NAMES: Final = ("content", "text", "merged", "fact", "memory", "result", "内容")
_DEPTH: Final = 4
SCHEMA: Final[Mapping[str, Any]] = {
    "title": "Consolidation",
    "type": "object",
    "additionalProperties": False,
    "required": ["operations"],
    "properties": {
        "operations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["op", "sources", "content"],
                "properties": {
                    "op": {"type": "string", "enum": [op.value for op in Op]},
                    "sources": {"type": "array", "items": {"type": "string"}},
                    "content": {"type": "string"},
                },
            },
        }
    },
}
"""The JSON schema of the wire form, for tools and structured output."""


def read(text: str) -> list[Proposal]:
    """Return the operations of the last complete answer in the text. Raises Unreadable."""
    if len(text) > LONGEST_ANSWER:
        raise Unreadable
    answers = [_proposals(found.value, 0) for found in loose_json.find(without_thinking(text)) if found.whole]
    told = [answer for answer in answers if answer is not None]
    if not told:
        raise Unreadable
    return told[-1]


def _proposals(value: Any, depth: int) -> list[Proposal] | None:
    """Return what a JSON value proposes; None when it is no answer."""
    if depth > _DEPTH:
        return None
    if isinstance(value, str):
        inner = [found.value for found in loose_json.find(value) if found.whole]
        return _proposals(inner[-1], depth + 1) if inner else None
    if isinstance(value, list):
        return _of_list(value)
    return _of_object(value, depth) if isinstance(value, dict) else None


def _of_list(values: list[Any]) -> list[Proposal] | None:
    found = [_proposal(value) for value in values]
    told = [one for one in found if one is not None]
    return told if len(told) == len(values) else None


def _of_object(value: Mapping[str, Any], depth: int) -> list[Proposal] | None:
    single = _proposal(value)
    if single is not None:
        return [single]
    named = {_fold(name): one for name, one in value.items()}
    if named and named.keys() <= _OPS.keys():
        return _of_list([_with_op(op, one) for op, listed in named.items() for one in _each(op, listed)])
    inner = [found for one in value.values() if (found := _proposals(one, depth + 1)) is not None]
    return inner[-1] if inner else None


def _each(op: str, listed: Any) -> Iterable[Any]:
    """The entries of one operation's list: `{"keep": ["m1", "m2"]}` keeps both, `{"merge": [{…}, {…}]}` merges twice."""
    if isinstance(listed, list) and _OPS[op] is not Op.MERGE and all(isinstance(one, str) for one in listed):
        return [listed] if listed else []
    return listed if isinstance(listed, list) else [listed]


def _with_op(op: str, one: Any) -> Any:
    return {**one, "op": op} if isinstance(one, dict) else {"op": op, "sources": one}


def _proposal(value: Any) -> Proposal | None:
    if not isinstance(value, Mapping):
        return None
    named = {_fold(name): one for name, one in value.items()}
    word = _first(named, _OP_NAMES)
    op = _OPS.get(_fold(word)) if isinstance(word, str) else None
    sources = tuple(_aliases(_first(named, _SOURCE_NAMES)))
    if op is None or not sources:
        return None
    content = _first(named, _CONTENT_NAMES)
    return Proposal(op, sources, content.strip() if isinstance(content, str) else "")


def _aliases(value: Any) -> Iterator[str]:
    """Yield aliases of a list, or of one text that lists them: "m1", "[M1]" and "m1:" are the same."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield from (
                part.strip("[]()<>:：.`'\"").casefold() for part in one.replace("，", ",").replace(",", " ").split()
            )
        elif one is not None:
            yield str(one)


def _first(named: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((named[name] for name in names if name in named), None)


def _fold(name: str) -> str:
    return name.strip().casefold().replace("_", "").replace("-", "").replace(" ", "")
