"""Writing systems: folding text so that equal words are equal strings, cutting it at script changes, and n-grams of scripts without spaces.

It knows nothing of languages, weights or memories.
"""

import re
import unicodedata
from typing import Final

_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0640"
)
_INVISIBLE: Final = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
_DROPPED: Final = re.compile(f"[{_MARKS}{_INVISIBLE}]+")
_UNDECOMPOSED: Final = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "ħ": "h",
        "’": "'",
        "‘": "'",
        "ʼ": "'",
    }
)
_FOLDED: Final = re.compile(f"[{_MARKS}{_INVISIBLE}{''.join(map(chr, _UNDECOMPOSED))}]")

HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
KANA: Final = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
THAI_TO_KHMER: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0ece\u0ed0-\u0edf"
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17e9"
)
HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
CYRILLIC: Final = "\u0400-\u052f"
GREEK: Final = "\u0370-\u03ff"
ARABIC: Final = "\u0620-\u064a\u0660-\u0669\u066e-\u06d5\u06ee-\u06ff\u0750-\u077f"
INDIC: Final = "\u0900-\u0963\u0966-\u0df3"
EMOJI: Final = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"

LATIN: Final = re.compile(r"c\+\+|[cf]#|[a-z0-9]+(?:'[a-z]+)*")
"""One Latin word, number or language named with signs in folded text."""

RUN: Final = re.compile(
    "|".join(
        (
            f"(?P<han>[{HAN}]+)",
            f"(?P<unspaced>[{KANA}{THAI_TO_KHMER}]+)",
            f"(?P<hangul>[{HANGUL}]+)",
            f"(?P<cyrillic>[{CYRILLIC}]+)",
            f"(?P<greek>[{GREEK}]+)",
            f"(?P<arabic>[{ARABIC}]+)",
            f"(?P<indic>[{INDIC}]+)",
            f"(?P<emoji>[{EMOJI}])",
            rf"(?P<other>[^\W_a-z0-9{HAN}{KANA}{THAI_TO_KHMER}{HANGUL}{CYRILLIC}{GREEK}{ARABIC}{INDIC}]+)",
        )
    )
)
"""One run of one script other than Latin in folded text; the group's name says which."""

_CLUSTER: Final = re.compile(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?."
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u3099\u309a]*"
)


def unfolded(text: str) -> str:
    """NFKC with full-width forms, ligatures and compatibility letters replaced; letter case is kept."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def folded(text: str) -> str:
    """Text with case, accents, vocalisation, compatibility forms and invisible characters folded away.

    Vowel signs of Indic and South-East Asian scripts stay: there they are letters, not accents.
    Any string is accepted, lone surrogates included.
    """
    if text.isascii():
        return text.casefold()
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = unicodedata.normalize("NFKD", plain)
    if _FOLDED.search(plain):
        plain = _DROPPED.sub("", plain).translate(_UNDECOMPOSED)
    return unicodedata.normalize("NFKC", plain)


def clusters(run: str) -> list[str]:
    """Cut a run of a script written without spaces into letters with their vowel and tone signs."""
    return _CLUSTER.findall(run)


def ngrams(units: list[str], size: int) -> list[str]:
    """All neighbouring `size` units joined, in order; empty when there are fewer."""
    return ["".join(units[i : i + size]) for i in range(len(units) - size + 1)]
