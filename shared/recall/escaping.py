"""Text of an owner as one line of data: nothing in it ends the line, opens a tag or a fence, or hides from the reader's eye.

What a person would write by hand stays as it is. Models read over spaces, invisible signs and width, so what only looks like a tag
counts as one.
"""

import re
import unicodedata
from typing import Final

from shared.text.pattern import Pattern

TAG: Final = "nacre_memory"
LINE_END: Final = "⏎"
"""What stands for the end of a line inside of a text."""

_BLANKS: Final = Pattern(r"\s{2,}|[^\S ]")
_BREAK: Final = Pattern(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANK: Final = Pattern(r"[^\S\u3000]")
_UNSEEN: Final = Pattern(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    r"\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_SELECTOR: Final = Pattern("\ufe0f")
_JOINER: Final = Pattern("[\u200c\u200d]")
_EMOJI: Final = frozenset({"So", "Sk", "Sm", "Nd"})
_JOINED: Final = frozenset({"Lo", "Mc", "Mn", "So", "Sk"})
_FENCE: Final = Pattern(r"[`｀]{3,}|~{3,}")
_TAG_SIGN: Final = Pattern(r"[<＜﹤]")
_SLASHES: Final = ("/", "!", "?", "|", "\\", "\u2044", "\u2215", "\u2571", "\u27cb", "\u29f8")
_NAME: Final = TAG.replace("_", "")
_OPENING: Final = Pattern(
    r"[<＜﹤«‹˂ᐸ〈《\u2329\u226a\u227a\u22b2\u22d6\u22d8\u25c0-\u25c4\u276c\u276e\u2770\u27e8\u27ea\u2991\u29fc\u2aa1\u2aa6\u2abb"
    r"\ufe3d\ufe3f]"
)
_AHEAD: Final = 200
"""Signs behind an opening that are looked at; so many without a letter count as hiding something."""


def escaped(text: str) -> str:
    """Return the text on one line, without anything that could open or close a tag or a fence. Escaping twice changes nothing more."""
    line = _BLANKS.sub(_one_line, text.strip())
    if not line.isascii() or not line.isprintable():
        line = _UNSEEN.sub("", line)
        line = _SELECTOR.sub(_kept_selector, line)
        line = _JOINER.sub(_kept_joiner, line).strip()
    line = _FENCE.sub(lambda fence: ("-" if fence[0][0] == "~" else "'") * len(fence[0]), line)
    return _OPENING.sub(_harmless, line)


def _one_line(blanks: re.Match[str]) -> str:
    return f" {LINE_END} " if _BREAK.search(blanks[0]) else _BLANK.sub(" ", blanks[0])


def _kept_selector(found: re.Match[str]) -> str:
    """Keep the selector that makes a sign an emoji; anywhere else such selectors only carry hidden data."""
    before = found.string[found.start() - 1 : found.start()]
    return found[0] if before and before not in "`｀~" and unicodedata.category(before) in _EMOJI else ""


def _kept_joiner(found: re.Match[str]) -> str:
    """Keep a joiner inside an emoji, and between letters of the scripts that write with it."""
    around = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
    return found[0] if all(sign and unicodedata.category(sign) in _JOINED for sign in around) else ""


def _harmless(opening: re.Match[str]) -> str:
    """Escape an opening before our own name, whatever signs stand between and inside; `<` before what makes it a tag, too."""
    raw = opening.string[opening.end() : opening.end() + _AHEAD]
    ahead = [sign for sign in unicodedata.normalize("NFKD", raw) if unicodedata.category(sign) not in {"Mn", "Cf"}]
    letters = "".join(sign for sign in ahead if _is_letter(sign)).casefold()
    cut = len(raw) == _AHEAD and _NAME.startswith(letters)
    if letters.startswith(_NAME) or cut:
        return "&lt;"
    read = "".join(ahead).replace(LINE_END, " ").lstrip()
    tag_like = ahead[:1] and (ahead[0].isalpha() or read.startswith(_SLASHES))
    return "&lt;" if tag_like and _TAG_SIGN.match(opening[0]) else opening[0]


def _is_letter(sign: str) -> bool:
    """Whether a reader takes it for a letter or digit; modifier letters look like quotation marks."""
    return sign.isalnum() and unicodedata.category(sign) != "Lm"
