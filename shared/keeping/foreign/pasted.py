"""Lists of memories as people copy them out of ChatGPT, Claude and others, and any text of one memory a line. Pure.

In a list each line with a sign of its own (a bullet, a number, a date) begins a memory, indented lines go on with it, headings sort what
follows in, and what else surrounds it is refused line by line. In a text without such signs every line is a memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from shared.domain import limits
from shared.domain.memory import Category
from shared.keeping.foreign import terms
from shared.keeping.foreign.occasion import Occasion, Sent, taken
from shared.keeping.foreign.rows import lines
from shared.keeping.foreign.times import when
from shared.keeping.importing.records import Reason, Record, Refusal
from shared.text import han
from shared.text.pattern import Pattern

_LOOKED_AT: Final = 4 * limits.CONTENT_FULL_WIDTH
"""Characters of a line that may hold a memory and its signs; longer ones are no memory anyway."""
_SIGN: Final = Pattern(
    r"\s*(?:[-*+](?=\s|$)|[•·●▪◦‣○■□◆▸–—―－]|\d{1,3}[.)](?=\s|$)|\d{1,3}[、．）]|[(（]\d{1,3}[)）]|[①-⑳])\s*(?:\[[ xX]?\]\s+)?"
)
_BRACKETED: Final = Pattern(r"\s*[\[【〔(（]\s*(?P<day>[^\]】〕)）]{1,40})[\]】〕)）]\s*(?:[-–—―:：]+\s*)?")
_LEADING: Final = Pattern(
    r"\s*(?P<day>\d{4}(?:[-/.]\d{1,2}[-/.]\d{1,2}| ?年 ?\d{1,2} ?月 ?\d{1,2} ?[日号])(?: \d{1,2}:\d\d(?::\d\d)?)?)"
    r"\s*(?:[:：]|[-–—―](?=\s))\s*",
    re.ASCII,
)
_TRAILING: Final = Pattern(r"\s*[\[【](?P<day>[^\[\]【】]{1,40})[\]】]$")
_SHORTEST_DAY: Final = len("2026-01")
_UNDATED: Final = frozenset(
    {"unknown", "unknown date", "date unknown", "no date", "undated", "n/a", "未知", "日期未知", "未知日期", "无日期"}
)
_HEADING: Final = Pattern(r"#{1,6}\s+\S.*|[^。.!！?？]{1,80}[:：](?:\*\*)?")
_TITLES: Final = frozenset(
    {
        *("saved memories", "memories", "memory", "manage memories", "memory summary"),
        *("已保存的记忆", "保存的记忆", "已保存记忆", "已储存的记忆", "管理记忆", "记忆"),
    }
)
"""What the pages are called that such lists are copied out of: they come along as a line."""
_BOLD: Final = Pattern(r"(?<!\*)\*\*(?P<said>[^*]+)\*\*(?!\*)")
_RULES: Final = Pattern(r"\s*(?:[-*_=—─]{3,}|```.*|~~~.*)\s*")
_INDENTED: Final = ("  ", "\t", "\u3000")
_WORD: Final = Pattern(r"[^\W\d_\u4e00-\u9fff]+|[\u4e00-\u9fff]")
"""A word of a script with letters, or a Chinese character."""
_WORDS: Final = 3
_CODE: Final = ("<", ">", "{", "}", "[", ";", "//", "import ", "def ", "#!")
"""What lines of code and markup begin or end with."""
_SORTS: Final = {
    "instruction": Category.CONSTRAINT,
    "指令": Category.CONSTRAINT,
    "要求": Category.CONSTRAINT,
    "preference": Category.PREFERENCE,
    "偏好": Category.PREFERENCE,
    "喜好": Category.PREFERENCE,
    "contact": Category.CONTACT,
    "联系": Category.CONTACT,
    "event": Category.EVENT,
    "事件": Category.EVENT,
}
"""Pieces of headings that say what stands beneath."""


class _Item(NamedTuple):
    """What a line says, whether it bears a sign of its own, and whether it is a heading."""

    content: str
    at: datetime | None
    signed: bool
    heading: bool = False


@dataclass(slots=True)
class _Begun:
    """A memory whose further lines may still come."""

    line: int
    content: str
    at: datetime | None
    category: Category | None

    def more(self, said: str) -> None:
        """Go on with a further line. What is too long already need not grow."""
        if len(self.content) < _LOOKED_AT:
            self.content = f"{self.content}\n{said}"


def read(text: str, occasion: Occasion) -> Iterator[Record | Refusal]:
    """Yield the memories of a text."""
    is_list = _is_list(text, occasion.zone)
    begun: _Begun | None = None
    category: Category | None = None
    for number, line in lines(text):
        if not line.strip() or _RULES.fullmatch(line[:_LOOKED_AT]):
            continue
        item = _item(line, occasion.zone)
        if begun and not item.signed and is_list and line.startswith(_INDENTED):
            begun.more(line.strip())
            continue
        if begun:
            yield taken(begun.line, begun, _sent, occasion)
        begun = None
        if item.heading:
            category = _sorted_in(item.content)
        elif is_list and not item.signed:
            yield Refusal(occasion.after + number, Reason.UNKNOWN_KIND)
        else:
            begun = _Begun(occasion.after + number, item.content, item.at, category)
    if begun:
        yield taken(begun.line, begun, _sent, occasion)


def likeness(text: str, zone: tzinfo, looked_at: int = 200) -> float:
    """Return the share of lines, of the first ones, that read as memories do: a sign and a word, or several words, and no code."""
    seen = alike = 0
    for _, line in lines(text):
        if seen == looked_at:
            break
        if line.strip():
            seen += 1
            alike += _alike(_item(line[:_LOOKED_AT], zone))
    return alike / seen if seen else 0.0


def _alike(item: _Item) -> bool:
    said = item.content
    if not said.replace("\t", " ").isprintable() or said.startswith(_CODE) or said.endswith(_CODE):
        return False
    words = len(_WORD.findall(said))
    return words >= _WORDS or (words > 0 and (item.signed or item.heading))


def _is_list(text: str, zone: tzinfo) -> bool:
    """Tell whether at least half of the lines that begin something bear a sign of their own."""
    signed = bare = 0
    for _, line in lines(text):
        if line.strip() and not line.startswith(_INDENTED) and not _RULES.fullmatch(line[:_LOOKED_AT]):
            item = _item(line, zone)
            signed += item.signed
            bare += not item.signed and not item.heading
    return signed > 0 and signed >= bare


def _item(line: str, zone: tzinfo) -> _Item:
    """Return what a line says without its signs."""
    if len(line) > _LOOKED_AT:
        return _Item(line.strip(), None, _SIGN.match(line) is not None)
    sign = _SIGN.match(line)
    rest = line[sign.end() :] if sign else line
    dated = _BRACKETED.match(rest) or _LEADING.match(rest)
    known, at = _day(dated["day"], zone) if dated else (False, None)
    rest = rest[dated.end() :] if dated and known else rest
    rest = rest.strip()
    if not known and (dated := _TRAILING.search(rest, max(0, len(rest) - 60))):
        ended, at = _day(dated["day"], zone)
        rest = rest[: dated.start()] if ended else rest
    signed = bool(sign) or known
    titled = bool(_BOLD.fullmatch(rest)) or han.simplified(rest.casefold()) in _TITLES
    heading = bool(_HEADING.fullmatch(rest)) or (not signed and titled)
    return _Item(_BOLD.sub(r"\g<said>", rest).strip(), at, signed, heading)


def _day(said: str, zone: tzinfo) -> tuple[bool, datetime | None]:
    """Tell whether brackets hold a date, or say that there is none, and which. Others belong to the text."""
    if said.strip().casefold() in _UNDATED:
        return True, None
    try:
        return (True, when(said, zone)) if len(said.strip()) >= _SHORTEST_DAY else (False, None)
    except ValueError:
        return False, None


def _sorted_in(heading: str) -> Category | None:
    said = heading.casefold()
    return next((category for piece, category in _SORTS.items() if piece in said), None)


def _sent(begun: _Begun, _occasion: Occasion) -> Sent:
    return {"content": begun.content, "created_at": begun.at, **terms.judged(begun.content, begun.category)}
