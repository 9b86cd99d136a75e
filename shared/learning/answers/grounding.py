"""Whether a text that a model made of facts may be kept: it says what they say, in their language, and nothing that must not be. Pure."""

from collections.abc import Sequence
from typing import Final

from shared.learning.answers import unwanted
from shared.learning.consolidation.wording import Words
from shared.learning.placeholders import shown
from shared.learning.standing_facts import orders
from shared.text import secrets
from shared.text.normalise import full_width_length, has_words, is_well_formed
from shared.text.pattern import Pattern

_BEGINS: Final = Pattern(r"(?:^|[.!?;:。！？；：→]\s*)([A-Za-z\u00c0-\u024f][\w\u00c0-\u024f]*)")
_STEM: Final = 4


def plain(text: str, full_width: float) -> bool:
    """Tell whether it is a text of that length at most, without a secret, a placeholder, an order, or talk of a model's own work."""
    odd = any(ord(sign) < 32 for sign in text) or not is_well_formed(text) or not has_words(text)
    if odd or full_width_length(text) > full_width:
        return False
    secret = shown(text) != text or secrets.contains_mask(text) or secrets.find(text)
    talk = unwanted.meta(text) or unwanted.about_assistant(text) or unwanted.from_prompt(text) or orders(text)
    return not (secret or talk)


def grounded(text: str, said: Sequence[str]) -> bool:
    """Tell whether a text rests on what was said.

    It is in its language, has no number and no name that is not there, at least half of its words from there (another ending of a Latin
    word is the same word), and denies something only where one of the sentences does, and the other way round.
    """
    words, known = Words.of(text), Words.of(*said)
    invented = words.names - known.latin - {begin.casefold() for begin in _BEGINS.findall(text)}
    stems = {word[:_STEM] for word in known.latin if len(word) >= _STEM}
    own = (words.telling & known.telling) | {word for word in words.latin if word[:_STEM] in stems}
    denied = any(words.negated == Words.of(one).negated for one in said)
    language = unwanted.Grounds.of("\n".join(said)).share_language(text)
    return (
        words.numbers <= known.numbers and not invented and 2 * len(own) >= len(words.telling) and denied and language
    )
