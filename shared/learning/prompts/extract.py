"""The prompt that asks a model for the facts of one conversation, and the cutting of long conversations.

The conversation is framed as data by a line that cannot occur in it; memories go in under aliases, never under their ids. Knows nothing
of storage, models or secrets: what comes in has passed `material.prepare`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from shared.learning.conversation import Message
from shared.text.normalise import full_width_length, language, normalise
from shared.text.sentences import spans

PROMPT_VERSION: Final = "extract/1"
LANGUAGES: Final = ("zh", "en")
_WEEKDAYS: Final = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}
_WORDS: Final = {
    "en": {
        "today": "Today is {}.",
        "project": "Present project: {}",
        "no_project": "There is no present project; every fact is of type `user`.",
        "offered": "Known memories:",
        "dismissed": "Never to be learned:",
        "conversation": "The conversation:",
        "end": "Now answer with the JSON object.",
    },
    "zh": {
        "today": "今天是 {}。",
        "project": "当前项目：{}",
        "no_project": "当前没有项目，所有事实的 type 都是 `user`。",
        "offered": "已知的记忆：",
        "dismissed": "永远不要学：",
        "conversation": "对话：",
        "end": "现在用 JSON 对象回答。",
    },
}
_ANSWER_MARKS: Final = ("Answer: ", "答案：")
_CONVERSATION_MARKS: Final = ("Conversation: ", "对话：")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is sent. `aliases` maps the aliases of offered memories (`m1`) to their ids; the ids are not in the text."""

    system: str
    user: str
    aliases: Mapping[str, str]
    language: str


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a prompt file: what was said, and the answer as JSON."""

    conversation: str
    answer: Mapping[str, Any]


def build(
    messages: Sequence[Message],
    *,
    offered: Iterable[tuple[str, str]] = (),
    dismissed: Iterable[str] = (),
    project: str | None,
    now: datetime,
    limit: int,
) -> Prompt:
    """Return the prompt for one part of a conversation.

    `offered` holds (id, masked text) of memories the answer may touch or update; `dismissed` texts that must never be learned. `limit` is
    the number of facts still wanted. A message without a time of its own counts as said at `now`. The same input gives the same prompt.
    """
    tongue = language("\n".join(message.text for message in messages if message.role == "user"))
    lines = [_line(message, tongue, now) for message in messages]
    known = {f"m{number}": memory for number, memory in enumerate(offered, 1)}
    refused = [_one_line(text) for text in dismissed]
    mark = boundary([*lines, *(text for _, text in known.values()), *refused, project or ""])
    words = _WORDS[tongue]
    head = [words["today"].format(_day(now, tongue))]
    head.append(words["project"].format(_one_line(project)) if project else words["no_project"])
    if known:
        head += ["", words["offered"], *(f"{alias}: {_one_line(text)}" for alias, (_, text) in known.items())]
    if refused:
        head += ["", words["dismissed"], *(f"- {text}" for text in refused)]
    body = ["", words["conversation"], mark, *lines, mark, "", words["end"]]
    system = wording(tongue).replace("{{boundary}}", mark).replace("{{limit}}", str(limit))
    aliases = {alias: memory_id for alias, (memory_id, _) in known.items()}
    return Prompt(system, "\n".join([*head, *body]), aliases, tongue)


def parts(messages: Sequence[Message], budget: int) -> list[list[Message]]:
    """Cut a conversation into parts of at most `budget` full-width characters of text, at message boundaries.

    A message that is longer alone is cut after sentences, a sentence that is longer alone wherever it must be; no character is lost.
    """
    cut: list[list[Message]] = []
    room = 0.0
    for message in messages:
        for piece in _pieces(message, budget):
            size = full_width_length(piece.text)
            if not cut or size > room:
                cut.append([])
                room = budget
            cut[-1].append(piece)
            room -= size
    return cut


@cache
def wording(tongue: str) -> str:
    """Return the text of a prompt file, `{{…}}` still open."""
    return Path(__file__).with_name(f"extract.{tongue}.md").read_text(encoding="utf-8")


@cache
def examples(tongue: str) -> tuple[Example, ...]:
    """Return the examples of a prompt file. Raises ValueError where an answer is not JSON."""
    found: list[Example] = []
    said = ""
    for line in wording(tongue).split("\n"):
        if line.startswith(_CONVERSATION_MARKS):
            said = line
        elif line.startswith(_ANSWER_MARKS):
            found.append(Example(said, json.loads(line[line.index("{") :])))
    return tuple(found)


@cache
def example_facts() -> frozenset[str]:
    """Return the normalised facts of all examples, in lower case: a model that answers them has copied the prompt."""
    return frozenset(
        normalise(fact["content"]).casefold()
        for tongue in LANGUAGES
        for example in examples(tongue)
        for fact in example.answer["facts"]
    )


def _pieces(message: Message, budget: int) -> Iterator[Message]:
    text = message.text
    if full_width_length(text) <= budget:
        yield message
        return
    cuts = [0, *(end for _, end in spans(text)[:-1]), len(text)]
    start, size = 0, 0.0
    bounds: list[tuple[int, int]] = []
    for before, end in pairwise(cuts):
        length = full_width_length(text[before:end])
        if size + length > budget:
            bounds.append((start, before))
            *cut, (start, _) = _forced(text, before, end, budget)
            bounds += cut
            length, size = full_width_length(text[start:end]), 0.0
        size += length
    for first, last in [*bounds, (start, len(text))]:
        if first < last:
            yield replace(message, text=text[first:last])


def _forced(text: str, start: int, end: int, budget: int) -> Iterator[tuple[int, int]]:
    while end - start > budget:
        at = start + budget
        space = max(text.rfind(sign, start + budget // 2, at) for sign in " \n\t,，、。;；")
        at = space + 1 if space > 0 else at
        yield start, at
        start = at
    yield start, end


def boundary(texts: Sequence[str], of: str = "conversation") -> str:
    """Make a line that stands in none of the texts, the same for the same texts."""
    everything = "\n".join(texts)
    mark = sha256(everything.encode("utf-8", "surrogatepass")).hexdigest()
    return next(
        line for size in range(12, len(mark) + 1) if (line := f"===== {of} {mark[:size]} =====") not in everything
    )


def _line(message: Message, tongue: str, now: datetime) -> str:
    """Return one message under its label; its further lines are set in, so that none can pass for a label."""
    text = "\n    ".join(message.text.strip().splitlines())
    return f"{message.role} [{_day(message.at or now, tongue)}]: {text}"


def _day(at: datetime, tongue: str) -> str:
    weekday = _WEEKDAYS[tongue][at.weekday()]
    return f"{at:%Y-%m-%d} {weekday}" if tongue == "zh" else f"{weekday} {at:%Y-%m-%d}"


def _one_line(text: str) -> str:
    return normalise(text)
