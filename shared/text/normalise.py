"""The few facts about a string that decide whether it may be kept: normal form, length, visibility, language.

Knows nothing of memories, limits or storage; the standard library only.
"""

import unicodedata

from shared.text.pattern import Pattern

_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_HAN = Pattern(r"[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
_LATIN_WORD = Pattern(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’]*")
_HAN_PER_WORD = 0.6


def normalise(text: str) -> str:
    """Trim the text and collapse every run of white space (the ideographic space too) to one space.

    The dedup tag is taken over this form, so it folds nothing else: not case, width or composition.
    """
    return " ".join(text.split())


def full_width_length(text: str) -> float:
    """Length in full-width characters: East Asian width W or F counts 1, everything else one half.

    Unicode's "ambiguous" signs (curly quotes, the em dash) count one half, as in a Latin text.
    """
    if text.isascii():
        return len(text) / 2
    wide = sum(1 for sign in text if unicodedata.east_asian_width(sign) in "WF")
    return wide + (len(text) - wide) / 2


def cut(text: str, size: int) -> str:
    """Return as much of the text as fits into that many bytes of UTF-8, in whole characters."""
    return text.encode()[:size].decode(errors="ignore")


def visible(text: str) -> bool:
    """Whether a reader would see anything: false for nothing, white space, zero-width and control signs only."""
    return any(
        not sign.isspace()
        and sign not in _BLANK_LETTERS
        and unicodedata.category(sign) not in {"Cc", "Cf", "Cn", "Cs", "Mn"}
        for sign in text
    )


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit of any script to look for: false for "？" or a lone emoji."""
    return any(sign.isalnum() for sign in text)


def language(text: str) -> str:
    """Return "zh" or "en", whichever the words speak; names of products inside Chinese leave it Chinese.

    A Han character weighs 0.6 of a word, a Latin word 1 and one with a capital (more likely a name) ½.
    A text of neither script is "en".
    """
    han = len(_HAN.findall(text))
    if not han:
        return "en"
    latin = sum(0.5 if word != word.lower() else 1.0 for word in _LATIN_WORD.findall(text))
    return "zh" if han * _HAN_PER_WORD >= latin else "en"


def has_han(text: str) -> bool:
    """Whether any Chinese character stands in the text."""
    return _HAN.search(text) is not None


def is_well_formed(text: str) -> bool:
    """Whether the text can be encoded: false when a lone surrogate came in through a JSON escape."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
