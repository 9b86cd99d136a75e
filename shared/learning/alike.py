"""Which texts say the same, for notes that repeat each other. Knows nothing of notes."""

from collections import Counter
from collections.abc import Iterable, Sequence

from shared.domain import limits
from shared.text.normalise import normalise
from shared.text.pattern import Pattern
from shared.text.scripts import HAN, folded

_NUMBERS = Pattern(r"\d+(?:[.,:]\d+)*")
_TOKENS = Pattern(rf"[{HAN}]|[^\W_{HAN}]+(?:['’._/@+#-]+[^\W_{HAN}]+)*[+#]*")
_FUNCTION_WORDS = frozenset(
    "a an the of that is are am be been just please also very really so well then now okay ok oh it's i'm we're that's".split()  # noqa: SIM905
) | frozenset("的了啊吧呢嘛呀哦噢啦哈嗯就是也请哟嘞着地得")
_DENIED = Pattern(
    r"(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|\w+n['’]t|dont|[不没无非未别勿莫否])"
)
_COUNTED = Pattern(
    r"(?:\d.*|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|once|twice|[零一二两三四五六七八九十百千万亿半])"
)


def alike(one: str, other: str) -> bool:
    """Whether two texts say the same: more than 80 % alike, and they differ in function words and signs only, or one holds the other. A
    negation or a number that only one of them has makes two of them."""
    if likeness(one, other) <= limits.NOTES_ALIKE:
        return False
    first, second = said(one), said(other)
    if first == second:
        return True
    short, long = sorted((first, second), key=len)
    inside = any(long[place : place + len(short)] == short for place in range(len(long) - len(short) + 1))
    return inside and not any(_DENIED.fullmatch(word) or _COUNTED.fullmatch(word) for word in _more(short, long))


def likeness(one: str, other: str) -> float:
    """Return Dice's coefficient of the pairs of signs of two texts, 0 to 1; equal texts are 1, and texts with other numbers 0."""
    if _NUMBERS.findall(one) != _NUMBERS.findall(other):
        return 0.0
    pairs = [Counter(text[place : place + 2] for place in range(len(text) - 1)) for text in map(flat, (one, other))]
    total = sum(map(Counter.total, pairs))
    return 2 * (pairs[0] & pairs[1]).total() / total if total else float(flat(one) == flat(other))


def said(text: str) -> list[str]:
    """Return the words of a text that say something, each Chinese sign one, in their order."""
    return [word for word in _TOKENS.findall(folded(text)) if word not in _FUNCTION_WORDS]


def _more(short: Sequence[str], long: Sequence[str]) -> Iterable[str]:
    return (Counter(long) - Counter(short)).keys()


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts without those that are equal but for case, white space and closing signs."""
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(flat(text), text)
    return tuple(found.values())


def flat(text: str) -> str:
    """Return a text in the form in which equal ones are equal strings."""
    return normalise(text).casefold().strip(" .。!！")
