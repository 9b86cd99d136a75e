"""Names that read like stop words: May and Will, the US, IT. Told from the words by their capitals and by what stands beside them.

English alone has such words; it knows nothing of terms and weights.
"""

import re
from collections.abc import Iterator
from typing import Final

from shared.text.english import STOP_WORDS

_CAPITAL: Final = re.compile(r"(?<![A-Za-z0-9'’_])(?:[A-Z]{2,5}|[A-Z][a-z]{1,6})(?![A-Za-z0-9_])")
_ACRONYMS: Final = frozenset(("it", "us", "who", "can", "may", "will"))
"""In capitals; others are emphasis (NOT, ALL), operators (OR) or hours (AM)."""
_FIRST_NAMES: Final = frozenset(("may", "will", "can"))
"""Where a sentence begins, a capital says little: these may be somebody who does something."""
_TITLE_WORDS: Final = frozenset(
    """
    a an the of and or but nor to for with by at from as in on into is are was were if so be this that these those your our their
    """.split()  # noqa: SIM905  (a list of literals reads worse)
)
"""Written with a capital in titles: "reading The Hobbit"."""
_INSIDE: Final = re.compile(r"(?<![A-Za-z'’])[a-z][a-z'’]{0,20}[,;:]? $")
_SHOUTED: Final = re.compile(r"(?<![A-Za-z])[A-Z]{2,20}[,;:]? $")
_SHOUTING: Final = re.compile(r",? [A-Z]{2,20}(?![a-z])")
_MONTH_BEFORE: Final = re.compile(
    r"(?:\b(?:in|of|since|by|until|till|during|last|this|next|early|late|mid|every|each|from|to|through)|\d(?:st|nd|rd|th)?)[\s-]$",
    re.IGNORECASE,
)
_MONTH_AFTER: Final = re.compile(r",? ?\d")
_ASKING_AFTER: Final = re.compile(r" (?:i|you|we|he|she|it|they|the|this|that|there|my|our|your)\b", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"['’]s(?![A-Za-z])")
_NEAR: Final = 24
"""Signs looked at before a word."""


def like_stop_words(text: str, *, told: bool) -> Iterator[str]:
    """The stop words of a text, folded, that are names there; of something `told`, and not asked, also where a sentence begins with one."""
    for match in _CAPITAL.finditer(text):
        word = match[0].lower()
        if word in STOP_WORDS and _is_name(text, match, word, told=told):
            yield word


def _is_name(text: str, match: re.Match[str], word: str, *, told: bool) -> bool:
    before, end = text[max(match.start() - _NEAR, 0) : match.start()], match.end()
    if match[0].isupper():
        return word in _ACRONYMS and not _SHOUTED.search(before) and not _SHOUTING.match(text, end)
    if word == "may" and (_MONTH_BEFORE.search(before) or _MONTH_AFTER.match(text, end)):
        return False
    possessive = _POSSESSIVE.match(text, end) is not None
    if word in _TITLE_WORDS or (possessive and f"{word}'s" in STOP_WORDS):
        return False
    if _INSIDE.search(before) or (
        word in _FIRST_NAMES and (possessive or _beside_other_script(before, text[end : end + 2]))
    ):
        return True
    return word in _FIRST_NAMES and (
        (len(text) < _NEAR and match[0] == text.strip()) or (told and not _ASKING_AFTER.match(text, end))
    )


def _beside_other_script(before: str, after: str) -> bool:
    return any(near.strip() and not near.strip().isascii() for near in (before[-2:], after))
