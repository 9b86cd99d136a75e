"""What two sentences share, and what one of them says that the others do not: words, numbers, names and negations. Pure.

Judged without knowing what a sentence means, so each answer errs on the side on which nothing is lost.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final, Self

from shared.text.han import simplified
from shared.text.pattern import Pattern

_BEGINS: Final = Pattern(r"(?m)^(?:My|Our|Their|His|Her|I|We|[A-Z][a-z]+(?:s|ed|ing))\b")
_NUMBER: Final = Pattern(r"\d+(?:[.:/-]\d+)*")
_LATIN: Final = Pattern(r"[A-Za-z\u00c0-\u024f][\w\u00c0-\u024f]*[+#]*")
_HAN: Final = Pattern(r"[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff]")
_THOUSANDS: Final = Pattern(r"(?<=\d),(?=\d{3}(?!\d))")
_PREFIX: Final = 4
_NEUTRAL_EN: Final = Pattern(
    r"(?i)\b(?:an?|the|and|or|but|also|both|as|with|for|in|on|at|of|to|by|from|into|about|that|which|who|whose|while|when|where|is|are|was"
    r"|were|be|been|being|am|has|have|had|do|does|did|users?|its?|they|them|this|these|those|such|including|plus|then|than|so|if)\b(?!['’])"
)
_NEUTRAL_ZH: Final = Pattern(
    "用户|以及|同时|包括|并且|但是|其中|还有|另外|此外|而且|[的了和与及并或也都在是有而且但对为于等均则又中其以从到用会该这那]"
)
_NEGATION_EN: Final = Pattern(
    r"(?i)\b(?:not|never|no|none|nothing|nobody|neither|nor|cannot|without|except|unless|avoids?|dislikes?|hates?|refuses?|stopped|quit"
    r"|no\s+longer|used\s+to)\b|n['’]t\b"
)
_NEGATION_ZH: Final = Pattern(r"[不没无别未勿非莫禁戒忌讨厌]|避免|拒绝|除了|停止|曾经|以前")


@dataclass(frozen=True, slots=True)
class Words:
    """What a sentence says, taken apart: `latin` words in lower case, `numbers`, `han` single characters; `names` are its Latin words with
    a capital in them, but for a verb that begins it ("Prefers tea")."""

    latin: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    han: frozenset[str]
    negated: bool

    @classmethod
    def of(cls, *texts: str) -> Self:
        """Take apart one sentence, or several together."""
        text = simplified(unicodedata.normalize("NFKC", "\n".join(texts)))
        plain = _THOUSANDS.sub("", text)
        latin, begun = _LATIN.findall(_NEUTRAL_EN.sub(" ", plain)), _BEGINS.findall(plain)
        return cls(
            frozenset(word.casefold() for word in latin),
            frozenset(word.casefold() for word in latin if word != word.lower()) - frozenset(map(str.casefold, begun)),
            frozenset(_NUMBER.findall(plain)),
            frozenset(_HAN.findall(_NEUTRAL_ZH.sub("", plain))),
            any(negated(one) for one in texts),
        )

    @property
    def telling(self) -> frozenset[str]:
        """Everything of it that says something."""
        return self.latin | self.han | self.numbers

    def invents(self, sources: "Words") -> bool:
        """Whether it has a number, a name, a word or a character that its sources do not have.

        Another ending of a Latin word of theirs is none, as long as it is no name; small words of no meaning of their own are none either.
        """
        if not (self.numbers <= sources.numbers and self.han <= sources.han):
            return True
        stems = {word[:_PREFIX] for word in sources.latin if len(word) >= _PREFIX}
        new = self.latin - sources.latin
        return any(word in self.names or word[:_PREFIX] not in stems for word in new)

    def says(self, other: "Words") -> bool:
        """Whether it says what the other does: all of its numbers and names, the same negation, and five of six of its words."""
        return (
            self._holds(other) and other.negated == self.negated and 6 * len(self._missing(other)) <= len(other.telling)
        )

    def keeps(self, other: "Words") -> bool:
        """Whether the other is still in it: all of its numbers and names, and three of five of its words."""
        return self._holds(other) and self.replaces(other)

    def replaces(self, other: "Words") -> bool:
        """Whether it may tell a newer state of the same thing: three of five of the other's words."""
        return 5 * len(self._missing(other)) <= 2 * len(other.telling)

    def adds_to(self, other: "Words") -> bool:
        """Whether it has a word, a number or a character that the other does not have."""
        return bool(other._missing(self))

    def _holds(self, other: "Words") -> bool:
        return other.numbers <= self.numbers and not other.names & self._missing(other)

    def _missing(self, other: "Words") -> frozenset[str]:
        """Return what the other has and this has not; another ending of a Latin word is the same word, as long as it is no name."""
        stems = {_stem(word) for word in self.latin}
        missing = other.telling - self.telling
        return frozenset(word for word in missing if word in other.names or _stem(word) not in stems)


def _stem(word: str) -> str:
    return word.removesuffix("s")[:_PREFIX]


def negated(text: str) -> bool:
    """Whether a sentence denies something, or says that it was once so."""
    return bool(_NEGATION_EN.search(text) or _NEGATION_ZH.search(simplified(text)))
