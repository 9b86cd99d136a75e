"""Reading JSON as language models write it: quotes of any kind, comments, missing or doubled commas, cut ends, text around it.

Nothing is repaired by adding characters: every string is decoded from what stands there, and what is not complete is left out.
Time is linear in the text's length, nesting is bounded, nothing recurses, nothing raises. Why no library does this is in
docs/decisions/answer-reader.md.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from shared.text.pattern import Pattern

_DEPTH: Final = 48
_GAP: Final = Pattern(r"(?:[\s\ufeff]+|//[^\n]{0,400}(?=\n|\Z)|/\*.{0,400}?\*/|#[^\n]{0,400}(?=\n|\Z))*", re.DOTALL)
_OPEN: Final = Pattern(r"[{\[｛［]")
_CLOSES: Final = {"{": "}｝", "｛": "}｝", "[": "]］", "［": "]］"}
_COMMA: Final = ",，、;；"
_QUOTES: Final = {'"': '"', "'": "'", "“": '”"', "”": '”"', "‘": "’'", "’": "’'", "＂": "＂"}
_STOPS: Final = {opening: Pattern(rf"[\\{re.escape(closing)}]") for opening, closing in _QUOTES.items()}
_BARE: Final = Pattern(r"-?Infinity\b|[A-Za-z_\u4e00-\u9fff][\w-]{0,40}|[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_CONSTANTS: Final = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": None,
    "infinity": None,
    "-infinity": None,
    "undefined": None,
}
_ESCAPE: Final = Pattern(
    r'\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(["\\/bfnrt\']))'
)
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_AFTER_COMMA: Final = Pattern(
    r"[\"'“”‘’＂{\[｛［}\]｝］\d+-]|[A-Za-z_]\w{0,40}\s*[:：]|(?:true|false|null|None|True|False|NaN)\b|\Z"
)
_DEBRIS: Final = Pattern(r"""[}\]][\s,]*[{\["]|[,:]\s*["'“{\[]""")
_TRIES: Final = 5_000
_REREAD: Final = 200_000
"""Signs that may be read again after a string that never ends: a stray quote must not hide the answer behind it."""


class Found(NamedTuple):
    """One object or list: `text[start:end]`. It is `whole` when it was closed; otherwise what was complete inside it is kept."""

    value: dict[str, Any] | list[Any]
    start: int
    end: int
    whole: bool


class _Level:
    """A container that is being read. `key` waits for its value."""

    __slots__ = ("closing", "key", "value")

    def __init__(self, sign: str) -> None:
        self.closing = _CLOSES[sign]
        self.value: dict[str, Any] | list[Any] = {} if sign in "{｛" else []
        self.key: str | None = None

    def take(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is not None:
            self.value[self.key] = value
            self.key = None


def find(text: str) -> Iterator[Found]:
    """Yield the outermost objects and lists in the text, in order. Of a doubled key the last value counts, as in json."""
    reader = _Reader(text)
    at = 0
    for _ in range(_TRIES):
        opening = _OPEN.search(text, at)
        if opening is None:
            return
        found = reader.read(opening.start())
        yield found
        at = reader.onward(found)


def decoded(raw: str) -> str:
    """Return a string with its JSON escapes resolved; what is no escape stays as it is."""
    if "\\" not in raw:
        return raw
    pieces: list[str] = []
    done = 0
    for escape in _ESCAPE.finditer(raw):
        pieces += [raw[done : escape.start()], _escaped(escape)]
        done = escape.end()
    return "".join([*pieces, raw[done:]])


def _escaped(escape: re.Match[str]) -> str:
    high, low, code, letter = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return chr(int(code, 16)) if code else _LETTERS.get(letter, letter)


class _Reader:
    """Reads containers of one text; `seen` is how far the last one was looked into, `_again` how much was read twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._again = 0
        self.seen = 0

    def onward(self, found: Found) -> int:
        """Return where the next container may begin: behind what was read, unless a string that went astray swallowed the rest."""
        after = max(found.end, found.start + 1)
        if found.whole or found.value or self._again > _REREAD:
            return after if found.whole or self._again <= _REREAD else max(after, self.seen)
        self._again += self.seen - found.start
        return after if found.end < len(self._text) else found.start + 1

    def read(self, start: int) -> Found:
        """Read one container. It ends where its closing sign stands, or before the first sign that fits nowhere."""
        text = self._text
        levels = [_Level(text[start])]
        at = start + 1
        while at < len(text):
            at = _gap(text, at)
            sign = text[at : at + 1]
            level = levels[-1]
            if sign and sign in level.closing and level.key is None:
                at += 1
                done = levels.pop()
                if not levels:
                    self.seen = at
                    return Found(done.value, start, at, whole=True)
                levels[-1].take(done.value)
            elif sign and sign in _COMMA and level.key is None:
                at += 1
            elif isinstance(level.value, dict) and level.key is None:
                level.key, at = self._key(at)
                if level.key is None:
                    break
            elif sign in _CLOSES and len(levels) < _DEPTH:
                levels.append(_Level(sign))
                at += 1
            else:
                ok, value, at = self._scalar(at)
                if not ok:
                    break
                level.take(value)
        self.seen = max(self.seen, at)
        return Found(_cut(levels), start, at, whole=False)

    def _key(self, at: int) -> tuple[str | None, int]:
        ok, key, end = self._scalar(at, bare=True)
        colon = _gap(self._text, end)
        if not ok or self._text[colon : colon + 1] not in (":", "：", "="):
            return None, end
        return str(key), colon + 1

    def _scalar(self, at: int, *, bare: bool = False) -> tuple[bool, Any, int]:
        """Read a string, a number or a constant; `bare` takes any bare word for a string, as keys are."""
        text = self._text
        sign = text[at : at + 1]
        if sign and sign in _QUOTES:
            return self._string(at, sign)
        word = _BARE.match(text, at)
        if word is None:
            return False, None, at
        if bare:
            return True, word.group(), word.end()
        if word.group().lower() in _CONSTANTS:
            return True, _CONSTANTS[word.group().lower()], word.end()
        return (True, _number(word.group()), word.end()) if word.group()[0] in "+-.0123456789" else (False, None, at)

    def _string(self, at: int, opening: str) -> tuple[bool, str, int]:
        """Read a string; one that runs on over its own end into the next values is none."""
        end, inner = _string_end(self._text, at, opening)
        self.seen = max(self.seen, end)
        if end == len(self._text):
            return False, "", end
        raw = self._text[at + 1 : end]
        return (False, "", at + 1) if inner and _DEBRIS.search(raw) else (True, decoded(raw), end + 1)


def _cut(levels: list[_Level]) -> dict[str, Any] | list[Any]:
    """Close what was open. An object cut in a list is left out: half a fact is none."""
    while len(levels) > 1:
        done = levels.pop()
        if isinstance(done.value, list) or isinstance(levels[-1].value, dict):
            levels[-1].take(done.value)
    return levels[0].value


def _gap(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at


def _number(digits: str) -> int | float | None:
    try:
        return int(digits) if digits.lstrip("+-").isdigit() and len(digits) <= 20 else float(digits)
    except ValueError:
        return None


def _string_end(text: str, at: int, opening: str) -> tuple[int, bool]:
    """Find the quote that closes a string: one that is followed by what can follow a string; and whether others stood before it.

    The text's length when there is none.
    """
    stop = _STOPS[opening].search(text, at + 1)
    inner = False
    while stop:
        if stop.group() == "\\":
            stop = _STOPS[opening].search(text, stop.end() + 1)
            continue
        after = _gap(text, stop.end())
        sign = text[after : after + 1]
        if not sign or sign in ":：}]｝］=" or (sign in _COMMA and _AFTER_COMMA.match(text, _gap(text, after + 1))):
            return stop.start(), inner
        if sign in _QUOTES and "\n" in text[stop.end() : after]:
            return stop.start(), inner
        inner = True
        stop = _STOPS[opening].search(text, stop.end())
    return len(text), inner
