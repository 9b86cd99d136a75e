"""Whether a message needs memories, and which kind of them. The words stand in `intent_words.py`.

Exclusions are looked at first, then identity and strong signals, then weak ones; a message without any signal needs
memories only at the start of a session.
"""

import re
from functools import cache
from typing import Literal, NamedTuple

from shared.text import intent_words as words
from shared.text.intent_words import QueryClass

Kind = Literal["strong", "weak", "excluded", "none"]
Recall = Literal["yes", "if_good", "no"]

_APOSTROPHE = str.maketrans("’", "'")
_MOREOVER = r"(?:^|[。！？!?，,；;\s])另外(?=[，,、：:\s]|$|问|想|我|你|请|帮|再|还|说|有个问题)"
_LONGEST_READ = 4_000


class Intent(NamedTuple):
    """`recall` "if_good" asks for the best hit to pass a bound; `identity` asks for the persona and broad recall.

    `weak_identity` lets recent and important memories fill up an answer of fewer than three hits.
    """

    kind: Kind
    identity: bool
    query_class: QueryClass
    recall: Recall
    weak_identity: bool


def classify(message: str, new_session: bool) -> Intent:
    """Judge one message; only its first 4,000 signs are read. A blank message carries no signal."""
    text = message[:_LONGEST_READ].translate(_APOSTROPHE)
    served = _pattern(words.SERVED_ZH, words.SERVED_EN).sub(" ", text)
    weak_identity = _pattern(words.WEAK_IDENTITY_ZH, words.WEAK_IDENTITY_EN).search(served) is not None
    query_class = _query_class(text)
    if _excluded().search(text):
        return Intent("excluded", False, query_class, "no", weak_identity)
    if _pattern(words.IDENTITY_ZH, words.IDENTITY_EN).search(text):
        return Intent("strong", True, query_class, "yes", True)
    if _pattern(words.STRONG_ZH, words.STRONG_EN).search(text):
        return Intent("strong", False, query_class, "yes", weak_identity)
    if _weak(text):
        return Intent("weak", False, query_class, "if_good", weak_identity)
    return Intent("none", False, query_class, "yes" if new_session else "no", weak_identity)


def _weak(text: str) -> bool:
    return _pattern(words.WEAK_ZH, words.WEAK_EN).search(text) is not None


def _query_class(text: str) -> QueryClass:
    for name, zh, en in words.CLASSES:
        if _pattern(zh, en).search(text):
            return name
    return "general"


@cache
def _excluded() -> re.Pattern[str]:
    return re.compile(f"{_MOREOVER}|{_source(words.EXCLUDED_ZH, words.EXCLUDED_EN)}", re.IGNORECASE)


@cache
def _pattern(zh: tuple[str, ...], en: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_source(zh, en), re.IGNORECASE)


def _source(zh: tuple[str, ...], en: tuple[str, ...]) -> str:
    english = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in en)
    return "|".join((*map(re.escape, zh), rf"(?<![A-Za-z0-9'])(?:{english})(?![A-Za-z0-9])"))
