"""Secrets stay out of every prompt: each value is replaced by a placeholder before, and put back into the facts that kept it.

A fact gets a value only for a placeholder that it holds and that stands for exactly one; whatever else a model makes of a
placeholder, or of a secret, spoils the fact. Why this form of placeholder: docs/decisions/answer-reader.md.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Self

from shared.text import secrets
from shared.text.pattern import Pattern

_ANYWHERE_FROM = 8
"""Values of this length are replaced wherever they stand; shorter ones only as whole words: "1234" is not part of "12345"."""
_GRAM = 3
_JOINT = r"(?:[\s\\_-]|&#95;){0,3}"
_ANY = Pattern(
    rf"(?i)(?<![A-Za-z0-9_])nacre{_JOINT}secret{_JOINT}(?:(?P<mark>x[0-9a-f]{{4}}){_JOINT})?(?P<number>\d{{1,6}})(?![A-Za-z0-9_])"
)
_REMAINS = Pattern(r"(?i)nacre[\W_]{0,3}secret|nacre[\\_-]{1,3}[^\s_]{1,12}[\\_-]{1,3}\d")

Piece = tuple[str, bool]
"""A stretch of text, and whether it is a placeholder."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A fact with its secrets back inside.

    `masked` is the same with every value apart: exactly what may be shown and what must be sealed, even where detection alone
    would not find the value in the fact. `ok` is False when the fact must be discarded; `text` then holds no secret.
    """

    text: str = field(repr=False)
    masked: secrets.Masked = field(repr=False)
    ok: bool


@dataclass(frozen=True, slots=True)
class Placeholders:
    """`texts` are the given ones with placeholders for secrets; `values` maps each placeholder to the secret it stands for."""

    texts: tuple[str, ...] = field(repr=False)
    values: dict[str, str] = field(repr=False)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """Replace every secret in the texts; the same value gets the same placeholder, wherever it stands again."""
        mark = _mark(texts)
        names: dict[str, str] = {}
        taken_apart = [list(_apart(text, names, mark)) for text in texts]
        for value in _standing_again(names, taken_apart):
            taken_apart = [_again(pieces, value, names[value]) for pieces in taken_apart]
        hidden = tuple("".join(text for text, _ in pieces) for pieces in taken_apart)
        return cls(hidden, {name: value for value, name in names.items()})

    def restore(self, fact: str, *, credential: bool = False) -> Restored:
        """Put the values back into a fact.

        Not ok: a placeholder that was never given or is mangled beyond doubt, a mask, a secret that stood in none of the texts, and a
        `credential` without any secret.
        """
        spoilt = Restored(fact, secrets.Masked(fact, []), ok=False)
        pieces: list[str] = []
        spans: list[tuple[int, int]] = []
        done = length = 0
        for found in _ANY.finditer(fact):
            value = self.values.get(_name(found["mark"] or "", int(found["number"])))
            if value is None:
                return spoilt
            length += found.start() - done
            spans.append((length, length + len(value)))
            pieces += [fact[done : found.start()], value]
            length += len(value)
            done = found.end()
        around = unicodedata.normalize("NFKC", _ANY.sub(" ", fact))
        if _REMAINS.search(around) or secrets.contains_mask(around):
            return spoilt
        text = "".join([*pieces, fact[done:]])
        beside = self._beside(text, spans)
        if beside is None or (credential and not (spans or beside)):
            return spoilt
        return Restored(text, _masked(text, sorted([*spans, *beside])), ok=True)

    def hidden(self, text: str) -> str:
        """Return a summary or an experience with the mask for every placeholder and every secret in it."""
        for value in sorted(self.values.values(), key=len, reverse=True):
            text = "".join(piece for piece, _ in _again([(text, False)], value, secrets.MASK))
        return secrets.mask(shown(text)).text

    def _beside(self, text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]] | None:
        """Where detection finds further secrets; None when one of them is not the person's: the model made it up."""
        further: list[tuple[int, int]] = []
        for secret in secrets.find(text):
            if any(start < secret.end and secret.start < end for start, end in spans):
                continue
            if not any(text[secret.start : secret.end] in told for told in self.texts):
                return None
            further.append((secret.start, secret.end))
        return further


def shown(text: str) -> str:
    """Return a model's text with the mask for every placeholder: what its length and its words are judged by."""
    return _ANY.sub(secrets.MASK, text)


def _apart(text: str, names: dict[str, str], mark: str) -> Iterator[Piece]:
    done = 0
    for secret in secrets.find(text):
        value = text[secret.start : secret.end]
        yield text[done : secret.start], False
        yield names.setdefault(value, _name(mark, len(names) + 1)), True
        done = secret.end
    yield text[done:], False


def _standing_again(values: Iterable[str], texts: Sequence[Sequence[Piece]]) -> list[str]:
    """Return the values that still stand somewhere, longest first. Few do: a look at their ends spares searching for most."""
    rest = "\0".join(piece for pieces in texts for piece, is_name in pieces if not is_name)
    grams = {rest[at : at + _GRAM] for at in range(len(rest))}
    maybe = (value for value in values if len(value) < _GRAM or {value[:_GRAM], value[-_GRAM:]} <= grams)
    return sorted((value for value in maybe if value in rest), key=len, reverse=True)


def _again(pieces: list[Piece], value: str, name: str) -> list[Piece]:
    """Replace what the detector passed over: the same value without a label."""
    if not any(value in text for text, is_name in pieces if not is_name):
        return pieces
    found: list[Piece] = []
    for text, is_name in pieces:
        done = 0
        at = -1 if is_name else text.find(value)
        while at >= 0:
            end = at + len(value)
            if len(value) >= _ANYWHERE_FROM or not (_joins(text[at - 1 : at]) or _joins(text[end : end + 1])):
                found += [(text[done:at], False), (name, True)]
                done = end
            at = text.find(value, end)
        found.append((text[done:], is_name))
    return found


def _joins(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def _masked(text: str, spans: Sequence[tuple[int, int]]) -> secrets.Masked:
    pieces: list[str] = []
    values: list[tuple[int, str]] = []
    done = length = 0
    for start, end in spans:
        length += start - done
        pieces += [text[done:start], secrets.MASK]
        values.append((length, text[start:end]))
        length += len(secrets.MASK)
        done = end
    return secrets.Masked("".join([*pieces, text[done:]]), values)


def _mark(texts: Sequence[str]) -> str:
    """Return "" unless something like a placeholder stands in the texts already; then a mark that does not."""
    everything = "\n".join(texts).lower()
    if not _REMAINS.search(unicodedata.normalize("NFKC", everything)):
        return ""
    digest = sha256(everything.encode("utf-8", "surrogatepass")).hexdigest()
    marks = (f"x{digest[at : at + 4]}" for at in range(len(digest) - 4))
    return next(mark for mark in marks if mark not in everything)


def _name(mark: str, number: int) -> str:
    return f"NACRE_SECRET_{mark.upper()}_{number}" if mark else f"NACRE_SECRET_{number}"
