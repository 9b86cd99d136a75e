"""Consolidation without a model: only texts that differ in nothing but small words, signs and who is called the person.

So the longest of them has every word and number of the others, and nothing is lost. Everything else, also what plainly means the same in
other words, is left alone: rules cannot tell "in other words" from "of somebody else" (benchmarks/data/consolidation.jsonl has the traps).
"""

import unicodedata
from collections.abc import Mapping
from typing import Final

from shared.domain import limits
from shared.learning.consolidation.judging import Merge
from shared.text.han import simplified
from shared.text.normalise import full_width_length, normalise
from shared.text.pattern import Pattern

_TOKEN: Final = Pattern(r"[+-]?(?:\d+(?:\.\d+)*|\.\d+)|[a-z\u00c0-\u024f]+(?:[+#]+|'s)?|\S")
_HAN: Final = r"\u3400-\u4dbf\u4e00-\u9fff"
_THOUSANDS: Final = Pattern(r"(?<=\d),(?=\d{3}(?!\d))")
_QUOTED: Final = Pattern(r"""["“「『《`](?=\w)([^"”」』》`]*)(?<=\w)["”」』》`]""")
_STOP: Final = Pattern(rf"(?<=[\w)\]+#%])(?:[,.;:!?。、…]+(?=\s|$)|[,.;:!?。、…]+(?=[{_HAN}]))")
"""A sign that ends a sentence or a part of one: behind a word, before white space or a Chinese character. Others may be what is meant."""
_SUBJECT: Final = Pattern(r"^(?:the user|this user|user|i|我本人|本人|该用户|用户|我)(?![a-z'])\s*[:：]?\s*")
_OWN: Final = Pattern(r"\bmy\b|\b(?:the )?user's\b|我的|用户的|本人的")
_ARTICLE: Final = Pattern(r"(?:\bthe|^The)\b(?=\s+\w)|(?:\ban?|^An?)\b(?=\s+[a-z])")
"""Not the letter of `vitamin A` or `plan A`."""
_SMALL_EN: Final = Pattern(
    r"(?i)\b(?:please|really|very|truly|also|personally|quite)\b(?=\s+\w)|,?\s*\b(?:too|also|please|personally)\s*[.!]?$"
)
_SMALL_ZH: Final = Pattern(
    rf"非常|真的|特别地|其实|(?<![{_HAN}])也(?!门)|也(?=[很不会要想能在喜爱习常用])|很|(?<!目)(?<!标)的(?![确士])|[啊呀哦嘛](?=$|[^{_HAN}])"
)
_FORMS: Final[Mapping[str, str]] = {"am": "be", "is": "be", "are": "be", "has": "have", "does": "do", "goes": "go"}


def doubles(texts: Mapping[str, str]) -> list[Merge]:
    """Return merges of equal texts by their aliases, at most half of all lines; the text of each is the longest of its sources."""
    same: dict[tuple[str, ...], list[str]] = {}
    for alias, text in texts.items():
        same.setdefault(key(text), []).append(alias)
    merges: list[Merge] = []
    room = len(texts) // 2
    for aliases in same.values():
        sources = tuple(aliases[: min(limits.MERGE_SOURCES, room + 1)])
        longest = max((texts[alias] for alias in sources), key=lambda text: (full_width_length(text), text))
        if len(sources) > 1 and full_width_length(longest) <= limits.FACT_FULL_WIDTH:
            merges.append(Merge(sources, longest))
            room -= len(sources) - 1
    return merges


def key(text: str) -> tuple[str, ...]:
    """Return what equal texts share: their words in order, without small words, signs and the name for the person."""
    plain = simplified(unicodedata.normalize("NFKC", normalise(text))).replace("’", "'")
    plain = _SMALL_EN.sub("", _ARTICLE.sub("", plain)).casefold()
    plain = _THOUSANDS.sub("", plain).replace("n't", " not").replace("i'm ", "i am ").replace("cannot", "can not")
    plain = _STOP.sub(" ", _QUOTED.sub(r"\1", _OWN.sub(" own ", plain)))
    words = _TOKEN.findall(_SMALL_ZH.sub("", _SUBJECT.sub("", plain.strip())))
    return (_first(words[0]), *words[1:]) if words else (plain,)


def _first(word: str) -> str:
    """Return the first word as if "I" stood before it: after a person it is a verb, which may end on s."""
    if word in _FORMS:
        return _FORMS[word]
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
