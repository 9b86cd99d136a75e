"""The tables of `data/intent.json`: what tells whether a message needs memories; and how their phrases are looked up.

A phrase is looked for in the normal form of `clauses`: a Chinese one anywhere, another one as whole words. In a phrase `|` is the
border of a clause, `^` the beginning of the message, and `…` up to 12 signs (40 if not Chinese) of the same clause, without 我, 你
and 咱. Sources: Memory Skill 2.0 (signals, exclusions), ZCLAW (identity phrases, classes).
"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from shared.text.normalise import has_han

QueryClass = Literal["preference", "knowledge", "experience", "code", "general"]
_ROOM_ZH, _ROOM = 12, 40
_ENDS = frozenset("|我你咱")


class Found(NamedTuple):
    """A phrase of a table without its signs of place, and where it begins in the normal form."""

    phrase: str
    at: int


class _Open(NamedTuple):
    """A phrase with `…`: what stands before and after, how many signs may stand between, and the phrase itself."""

    before: str
    after: str
    room: int
    phrase: str

    def span(self, text: str) -> tuple[int, int] | None:
        """Return where it first begins and ends in the normal form."""
        at = text.find(self.before) if self.after in text else -1
        while at >= 0:
            start = at + len(self.before)
            end = text.find(self.after, start - self.overlap, start + self.room + len(self.after))
            if end >= 0 and not _ENDS.intersection(text[start:end]):
                return at, end + len(self.after)
            at = text.find(self.before, start - self.overlap)
        return None

    @property
    def overlap(self) -> int:
        """Signs that both parts may share: the space between two words."""
        return 1 if self.after.startswith(" ") else 0


class Phrases:
    """One table: phrases to look up in normal forms."""

    def __init__(self, phrases: Iterable[str]) -> None:
        """Take the phrases as they stand in the data."""
        self.phrases = tuple(phrases)
        self.words = frozenset(phrase.strip("^| ") for phrase in self.phrases)
        plain = [(_sought(phrase), phrase) for phrase in self.phrases if "…" not in phrase]
        self._plain = sorted(plain, key=lambda pair: -len(pair[0]))
        self._open = [_opened(phrase) for phrase in self.phrases if "…" in phrase]

    def found(self, text: str) -> list[Found]:
        """Return the phrases that occur, in the order of their first places."""
        hits = [Found(phrase.strip("^| "), text.index(sought)) for sought, phrase in self._plain if sought in text]
        spans = [(one.phrase, one.span(text)) for one in self._open]
        return sorted(hits + [Found(phrase, span[0]) for phrase, span in spans if span], key=lambda hit: hit.at)

    def anywhere(self, text: str) -> bool:
        """Whether any phrase occurs."""
        return any(sought in text for sought, _ in self._plain) or any(one.span(text) for one in self._open)

    def without(self, text: str) -> str:
        """Return the normal form with the phrases of the table hidden; of those with `…` the first occurrence each."""
        for sought, _ in self._plain:
            if sought in text:
                text = text.replace(sought, " ~ ")
        for one in self._open:
            if span := one.span(text):
                text = f"{text[: span[0]]} ~ {text[span[1] :]}"
        return text


def _sought(phrase: str) -> str:
    return phrase if has_han(phrase) else f" {phrase} "


def _opened(phrase: str) -> _Open:
    before, _, after = phrase.partition("…")
    if has_han(phrase):
        return _Open(before, after, _ROOM_ZH, phrase)
    return _Open(f" {before.strip()} ", f" {after.strip()} ", _ROOM, phrase)


class Tables(NamedTuple):
    """Everything in the data; rows of `strong` and `classes` in order of precedence."""

    traditional: dict[int, int]
    look_alikes: Phrases
    wordings: Phrases
    topic_change: Phrases
    aside: Phrases
    identity: Phrases
    personal: Phrases
    impersonal: Phrases
    strong: dict[str, Phrases]
    pointers: Phrases
    pronouns: Phrases
    belongings: Phrases
    public: Phrases
    how_to: Phrases
    of_methods: Phrases
    loose: Phrases
    references: Phrases
    persons: Phrases
    asking: Phrases
    auxiliaries: frozenset[str]
    introductions: Phrases
    openers: frozenset[str]
    going_on: tuple[str, ...]
    empty: tuple[str, ...]
    served: Phrases
    own: Phrases
    classes: list[tuple[QueryClass, Phrases]]


@cache
def tables() -> Tables:
    """Read the data once a process."""
    given = json.loads(Path(__file__).with_name("data").joinpath("intent.json").read_text(encoding="utf-8"))
    return Tables(
        traditional=str.maketrans(given["traditional"]["from"], given["traditional"]["to"]),
        look_alikes=_table(given["look_alikes"]),
        wordings=_table(given["wordings"]),
        topic_change=_table(given["topic_change"]),
        aside=_table(given["aside"]),
        identity=_table(given["identity"]),
        personal=Phrases([*_both(given["personal"]), *_recalled(given["recalled"]["en"])]),
        impersonal=_table(given["impersonal"]),
        strong={reason: _table(both) for reason, both in given["strong"].items()},
        pointers=_table(given["pointers"]),
        pronouns=_table(given["pronouns"]),
        belongings=_table(given["belongings"]),
        public=_table(given["public"]),
        how_to=_table(given["how_to"]),
        of_methods=_table(given["of_methods"]),
        loose=_table(given["loose"]),
        references=_table(given["references"]),
        persons=_table(given["persons"]),
        asking=_table(given["asking"]),
        auxiliaries=frozenset(_both(given["auxiliaries"])),
        introductions=_table(given["introductions"]),
        openers=frozenset(_both(given["openers"])),
        going_on=tuple(_both(given["going_on"])),
        empty=tuple(_both(given["empty"])),
        served=_table(given["served"]),
        own=_table(given["self"]),
        classes=[(name, _table(both)) for name, both in given["classes"]],
    )


def _both(languages: dict[str, Any]) -> list[str]:
    return [*languages["zh"], *languages["en"]]


def _recalled(words: dict[str, list[str]]) -> list[str]:
    """What somebody did with something: "that … i liked"."""
    return [f"{head} … i {verb}" for head in words["heads"] for verb in words["verbs"]]


def _table(languages: dict[str, Any]) -> Phrases:
    return Phrases(_both(languages))
