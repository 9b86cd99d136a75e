"""Names that people and clients give: projects, agents, sessions, tags, Idempotency-Keys. Pure.

A name is an id, so two that look alike must not be two: invisible and directional signs are refused and composed forms are one (NFC).
Texts are not names: they are kept sign by sign.
"""

import re
import unicodedata

from shared.domain import limits
from shared.text.normalise import visible

_TAG = re.compile(r"#[^\s#]+")
_IDEMPOTENCY_KEY = re.compile(rf"[!-~]{{1,{limits.IDEMPOTENCY_KEY_CHARACTERS}}}")
_ZWNJ, _ZWJ = "\u200c", "\u200d"
_JOINERS = {_ZWNJ, _ZWJ}
_VIRAMA = 9
"""The combining class of the signs that take a vowel away, in the scripts of India and around."""
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def name(text: str) -> str:
    """Return the name of a project, agent or session in NFC. Raises ValueError that says what is wrong."""
    composed = unicodedata.normalize("NFC", text)
    if not 1 <= len(composed) <= limits.KEY_CHARACTERS:
        raise ValueError(f"A name has 1 to {limits.KEY_CHARACTERS} characters.")
    if composed != composed.strip() or not visible(composed):
        raise ValueError("A name neither begins nor ends with white space.")
    return seen(composed)


ALL_PROJECTS = "*"
"""What search takes for all projects, and so no project's name."""
ACTIVE_PROJECT = ""
"""What stands for the active project where a request names none; as no name is empty, no project's name either."""


def project(text: str) -> str:
    """Return the name of one project in NFC. Raises ValueError that says what is wrong."""
    if text == ALL_PROJECTS:
        raise ValueError("No project is called *: a search takes it for all projects.")
    return name(text)


def tag(text: str) -> str:
    """Return a tag in NFC, e.g. `#work`. Raises ValueError that says what is wrong."""
    composed = unicodedata.normalize("NFC", text)
    if not 2 <= len(composed) <= limits.TAG_CHARACTERS or not _TAG.fullmatch(composed) or not visible(composed[1:]):
        raise ValueError(
            f"A tag is # and 1 to {limits.TAG_CHARACTERS - 1} characters without white space, such as #work."
        )
    return seen(composed)


def idempotency_key(text: str) -> str:
    """Return the key unchanged. Raises ValueError that says what is wrong."""
    if not _IDEMPOTENCY_KEY.fullmatch(text):
        raise ValueError(f"Send 1 to {limits.IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters.")
    return text


def seen(text: str) -> str:
    """Return a text of one line unchanged. Raises ValueError where not all of its signs are seen as they stand."""
    if any(unicodedata.category(sign) in _UNSEEN and not _joins(text, place) for place, sign in enumerate(text)):
        raise ValueError("Invisible and directional signs are not allowed here.")
    return text


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands where writing needs it: behind a virama, or (ZWNJ) between two Arabic letters (RFC 5892, appendix A)."""
    before, sign, after = text[place - 1 : place], text[place], text[place + 1 : place + 2]
    if sign not in _JOINERS or not before:
        return False
    beside = [unicodedata.name(one, "") for one in before + after]
    between = sign == _ZWNJ and [one.startswith("ARABIC LETTER") for one in beside] == [True, True]
    return between or unicodedata.combining(before) == _VIRAMA
