"""How many tokens a text takes, at least nine tenths of what the tokenizers of five model families count (docs/decisions/context.md).

Pure and cheap: one pass over runs of one script, no table but the weights below. Models differ by a factor of two on the same text,
so for most of them the estimate is high; a budget must hold for the one that is used, whichever it is.
"""

from typing import Final

from shared.text.pattern import Pattern

LINE: Final = 4.0
"""Of every line: its end, and what rare words take beyond the weights."""
WORD: Final = 0.85
LONGER: Final = 0.5
"""Each letter of a plain word beyond its fourth."""
RARE_HAN: Final = 2.5
_COMMON_HAN_BELOW: Final = 0xD8
"""GB 2312 holds its 3,755 common characters in the rows below this lead byte, and its rare ones from there on."""
_WEIGHTS: Final = {
    "letters": 0.7,
    "digits": 1.0,
    "space": 0.05,
    "signs": 0.8,
    "han": 1.7,
    "kana": 0.85,
    "hangul": 1.8,
    "wide": 1.0,
    "cyrillic": 0.6,
    "greek": 1.35,
    "semitic": 1.2,
    "thai": 1.75,
    "indic": 2.05,
    "latin": 1.75,
    "low": 1.6,
    "high": 3.0,
}
"""Tokens of one character; the space before a number is one of its digits. A character of any other script takes as many as it has bytes,
which no tokenizer of bytes exceeds."""
_RUN: Final = Pattern(
    r"(?P<word>(?<![A-Za-z0-9])[A-Z]?[a-z]+(?![A-Za-z0-9]))|(?P<letters>[A-Za-z]+)|(?P<digits> ?[0-9]+)|(?P<space>\s+)"
    r"|(?P<signs>[!-/:-@\[-`{-~]+)|(?P<han>[\u4e00-\u9fff]+)|(?P<kana>[\u3040-\u30ff]+)|(?P<hangul>[\uac00-\ud7af]+)"
    r"|(?P<wide>[\u3000-\u303f\uff00-\uff64\u2010-\u2027]+)|(?P<cyrillic>[\u0400-\u052f]+)|(?P<greek>[\u0370-\u03ff]+)"
    r"|(?P<semitic>[\u0590-\u077f]+)|(?P<thai>[\u0e00-\u0e7f]+)|(?P<indic>[\u0900-\u0dff]+)|(?P<latin>[\u0080-\u024f\u1e00-\u1eff]+)"
    r"|(?P<low>[\u2028-\u2bff]+)|(?P<high>[\U00010000-\U0001ffff]+)|(?P<rest>[\s\S])"
)


def estimated_tokens(line: str) -> int:
    """Return the tokens that one line takes with its end. Any string is accepted."""
    total = LINE
    for match in _RUN.finditer(line):
        kind, length = match.lastgroup or "rest", match.end() - match.start()
        if kind == "word":
            total += WORD + LONGER * max(length - 4, 0)
        elif kind == "han":
            total += _han(match.group())
        elif kind == "rest":
            total += len(match.group().encode("utf-8", "surrogatepass"))
        else:
            total += _WEIGHTS[kind] * length
    return int(total)


def _han(run: str) -> float:
    leads = run.encode("gb2312", "ignore")[::2]
    common = sum(lead < _COMMON_HAN_BELOW for lead in leads)
    return _WEIGHTS["han"] * common + RARE_HAN * (len(run) - common)
