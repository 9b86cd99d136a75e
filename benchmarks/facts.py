"""Made-up facts about one person's work and life, half Chinese and half English, none twice, for filling stores that are measured.

Each sentence draws from the forms and words of `data/facts.json`, and names, numbers and dates of its own: what compresses badly in real
facts are exactly those. Lengths are those of learned facts: 8 to 22 words, 15 to 45 characters.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

QUERIES: Final = 60
Words = Mapping[str, Sequence[str]]

_WORDS: Final = Path(__file__).parent / "data" / "facts.json"
_LETTERS: Final = "bcdfghklmnprstvwz"
_VOWELS: Final = "aeiou"
_SURNAMES: Final = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕施张孔曹严华金魏陶姜谢邹喻柏水窦章云苏潘葛范彭鲁韦马苗凤方俞任袁柳"
)
_GIVEN: Final = (
    "子涵若曦浩然雨桐思远明轩佳怡志强晓梅建国淑芬俊杰美玲海波文静立新春燕宏伟秋月振华慧敏家豪诗琪博欣妍天佑玉兰"
)


def facts(rng: random.Random) -> Iterator[str]:
    """Yield facts without end, Chinese and English by turns at random, none twice."""
    words: Mapping[str, Words] = json.loads(_WORDS.read_text("utf-8"))
    told: set[str] = set()
    while True:
        fact = _chinese(rng, words["zh"]) if rng.random() < 0.5 else _english(rng, words["en"])
        if fact not in told:
            told.add(fact)
            yield fact


def _english(rng: random.Random, words: Words) -> str:
    project = _name(rng).lower() + rng.choice(("-api", "-web", "", "-etl"))
    return _filled(rng, words, {"who": _name(rng), "who2": _name(rng), "project": project})


def _chinese(rng: random.Random, words: Words) -> str:
    who, who2 = (rng.choice(_SURNAMES) + "".join(rng.sample(_GIVEN, rng.randint(1, 2))) for _ in range(2))
    return _filled(rng, words, {"who": who, "who2": who2, "project": _name(rng).lower()})


def _filled(rng: random.Random, words: Words, names: Mapping[str, str]) -> str:
    chosen = dict(names)
    for slot, listed in words.items():
        some = rng.sample(listed, 3)
        chosen |= {slot: some[0], f"{slot}2": some[1], f"{slot}3": some[2]}
    chosen |= {
        "number": str(rng.randint(2, 9_999)),
        "number2": str(rng.randint(1_024, 65_535)),
        "version": f"{rng.randint(1, 24)}.{rng.randint(0, 19)}",
        "clock": f"{rng.randint(8, 18)}:{rng.randrange(0, 60, 5):02}",
        "date": f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    }
    return chosen["form"].format(**chosen)


def _name(rng: random.Random) -> str:
    pairs = (rng.choice(_LETTERS) + rng.choice(_VOWELS) for _ in range(rng.randint(2, 3)))
    return ("".join(pairs) + rng.choice(("", "n", "r", "l", "s"))).capitalize()


def queries(texts: Sequence[str], rng: random.Random) -> list[str]:
    """Pieces of stored facts, as questions hold them: five words in a row, or eight Chinese characters."""
    asked = []
    for text in rng.sample(texts, min(QUERIES, len(texts))):
        words = text.split()
        pieces = words if len(words) > 5 else list(text)
        length = 5 if len(words) > 5 else 8
        start = rng.randrange(max(1, len(pieces) - length))
        asked.append((" " if len(words) > 5 else "").join(pieces[start : start + length]))
    return asked
