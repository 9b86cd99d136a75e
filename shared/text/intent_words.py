"""The tables of `data/intent.json`: what tells whether a message needs memories; and how their phrases are looked up.

A phrase is looked for in the normal form of `clauses`: a Chinese one anywhere, another one as whole words. In a phrase `|` is the
border of a clause, `^` the beginning of the message, and `…` (look-alikes only) up to 12 signs of the same clause without 我, 你 or 咱
in a Chinese one, up to 40 in others. Sources: Memory Skill 2.0 (signals, exclusions), ZCLAW (identity phrases, classes).
"""

import json
import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from shared.text.normalise import has_han

QueryClass = Literal["preference", "knowledge", "experience", "code", "general"]
_GAP_ZH, _GAP = "[^|我你咱]{0,12}?", "(?:[^|]{0,40} )?"


class Found(NamedTuple):
    """A phrase of a table without its signs of place, and where it begins in the normal form."""

    phrase: str
    at: int


class Phrases:
    """One table: phrases to look up in normal forms."""

    def __init__(self, phrases: Iterable[str]) -> None:
        """Take the phrases as they stand in the data."""
        self.phrases = tuple(phrases)
        self._plain = [
            (phrase if has_han(phrase) else f" {phrase} ", phrase) for phrase in self.phrases if "…" not in phrase
        ]

    def found(self, text: str) -> list[Found]:
        """Return the phrases that occur, in the order of their first places; those with `…` are not among them."""
        hits = [Found(phrase.strip("^| "), text.index(sought)) for sought, phrase in self._plain if sought in text]
        return sorted(hits, key=lambda hit: hit.at)

    def anywhere(self, text: str) -> bool:
        """Whether any phrase occurs."""
        return any(sought in text for sought, _ in self._plain)

    def without(self, text: str) -> str:
        """Return the normal form with every phrase of the table hidden; longer ones first."""
        for sought, _ in sorted(self._plain, key=lambda pair: -len(pair[0])):
            if sought in text:
                text = text.replace(sought, " ~ ")
        return self._open.sub(" ~ ", text) if self._open else text

    @cached_property
    def _open(self) -> re.Pattern[str] | None:
        sources = [
            re.escape(phrase).replace("…", _GAP_ZH)
            if has_han(phrase)
            else rf" {re.escape(phrase)} ".replace(r"\ …\ ", f" {_GAP}")
            for phrase in self.phrases
            if "…" in phrase
        ]
        return re.compile("|".join(sources)) if sources else None


class Tables(NamedTuple):
    """Everything in the data; rows of `strong` and `classes` in order of precedence."""

    traditional: dict[int, int]
    look_alikes: Phrases
    topic_change: Phrases
    aside: Phrases
    identity: Phrases
    strong: dict[str, Phrases]
    pointers: Phrases
    pronouns: Phrases
    introductions: Phrases
    openers: frozenset[str]
    served: Phrases
    own: Phrases
    classes: dict[QueryClass, Phrases]


@cache
def tables() -> Tables:
    """Read the data once a process."""
    given = json.loads(Path(__file__).with_name("data").joinpath("intent.json").read_text(encoding="utf-8"))
    return Tables(
        traditional=str.maketrans(given["traditional"]["from"], given["traditional"]["to"]),
        look_alikes=_table(given["look_alikes"]),
        topic_change=_table(given["topic_change"]),
        aside=_table(given["aside"]),
        identity=_table(given["identity"]),
        strong={reason: _table(both) for reason, both in given["strong"].items()},
        pointers=_table(given["pointers"]),
        pronouns=_table(given["pronouns"]),
        introductions=_table(given["introductions"]),
        openers=frozenset(_both(given["openers"])),
        served=_table(given["served"]),
        own=_table(given["self"]),
        classes={name: _table(both) for name, both in given["classes"].items()},
    )


def _both(languages: dict[str, Any]) -> list[str]:
    return [*languages["zh"], *languages["en"]]


def _table(languages: dict[str, Any]) -> Phrases:
    return Phrases(_both(languages))
