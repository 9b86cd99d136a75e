"""Signals that speak of the world and not of the person: `昨天的金价`, `how do I select yesterday's rows`, `how do cats clean their fur`.

A message that names neither its speaker nor the assistant, and is about a public matter or asks how something is done in general, leans on
nothing that was said before, whatever time it names. The words stand in `data/intent.json`.
"""

from collections.abc import Iterable

from shared.text.intent_words import Found, tables
from shared.text.pattern import Pattern

_PAST_YEAR = Pattern(r" (?:in )?1[0-9]{3}(?: |年)")
_LONGEST_METHOD = 60
"""Signs after "how to" in which a time is a part of what is to be done."""
_THAT = "那个"
"""Points at nothing where a technology is named that has such a thing."""
_PLURAL = 4
"""Letters that a word in -s must have to be taken for a plural."""


def leaning(plain: str, hits: Iterable[Found]) -> list[Found]:
    """Return those of the hits of times and pointers that lean on something said before."""
    found = list(hits)
    if not found or _personal(plain):
        return found
    if _public(plain):
        return [hit for hit in found if tables().references.anywhere(_clause(plain, hit))]
    return [hit for hit in found if not _of_a_method(plain, hit)]


def named_before(before: str) -> bool:
    """Whether a clause up to a pronoun names whom it stands for: "how do companies … their", "does Python … its"."""
    words = before.split()
    for place, word in enumerate(words):
        subject = words[place + 1] if place + 1 < len(words) else ""
        if word in tables().auxiliaries and subject and not _stands_for_something(subject):
            return True
    return False


def _stands_for_something(word: str) -> bool:
    sought = f" {word} "
    return tables().pronouns.anywhere(sought) or tables().persons.anywhere(sought) or len(word) < _PLURAL


def _personal(plain: str) -> bool:
    return tables().persons.anywhere(tables().asking.without(plain))


def _public(plain: str) -> bool:
    return tables().public.anywhere(plain) or _PAST_YEAR.search(plain) is not None


def _of_a_method(plain: str, hit: Found) -> bool:
    """Whether a time, or what 那个 points at, is a part of what somebody asks how to do: 如何计算上个月的总额, CSS 怎么实现那个效果."""
    before = plain[: hit.at + 1].rpartition("|")[2][-_LONGEST_METHOD:]
    if not tables().how_to.anywhere(f"{before} "):
        return False
    if hit.phrase == _THAT:
        return any(word.isascii() and word.isalpha() for word in before.split())
    return hit.phrase in tables().of_methods.words and not tables().references.anywhere(_clause(plain, hit))


def _clause(plain: str, hit: Found) -> str:
    start = plain.rfind("|", 0, hit.at + 1) + 1
    end = plain.find("|", hit.at + 2)
    return plain[start : end if end >= 0 else len(plain)]
