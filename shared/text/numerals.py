"""Small numbers as people write them: digits, English words up to twelve, Chinese numerals below a hundred or digit by digit.

Knows nothing of what is counted.
"""

from typing import Final

WORDS: Final = {
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "couple of": 2,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
SIGN: Final = "[〇零一二两三四五六七八九十]"
CHINESE: Final = rf"(?<!{SIGN}){SIGN}{{1,4}}"
"""No year has more signs; longer runs are no numbers, and would be walked through again from each of their signs."""
_DIGITS: Final = {sign: str(number) for number, sign in enumerate("〇一二三四五六七八九")} | {"零": "0", "两": "2"}


def number(said: str) -> int:
    """What a number says that is one of `WORDS`, digits, or matches `CHINESE`."""
    return WORDS.get(said) or int(said if said.isdecimal() else _in_digits(said))


def _in_digits(numeral: str) -> str:
    tens, ten, ones = numeral.partition("十")
    if not ten:
        return "".join(_DIGITS[sign] for sign in numeral)
    return "".join(_DIGITS.get(sign, "") for sign in (tens or "一")) + (_in_digits(ones) or "0")
