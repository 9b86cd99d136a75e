"""Dates as search terms: the day a memory was made, and the days, months and years a question names.

English and Chinese; those counted from now are read by `relative_dates`. It knows nothing of weights.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from shared.text import relative_dates
from shared.text.date_markers import MARK, markers_of
from shared.text.numerals import CHINESE, SIGN, number

__all__ = ["MARK", "SPEAKS_OF_TIME", "asks_when", "markers_of", "read", "speaks_of_time"]

SPEAKS_OF_TIME: Final = f"{MARK}when"

_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_NUMBER: Final = (
    {name: i for i, name in enumerate(_MONTHS, 1)} | {name[:3]: i for i, name in enumerate(_MONTHS, 1)} | {"sept": 9}
)
_MONTH: Final = rf"(?P<month>{'|'.join(sorted(_MONTH_NUMBER, key=len, reverse=True))})\b\.?"
_HINT: Final = re.compile(rf"[\d月年]|{'|'.join(name[:3] for name in _MONTHS)}")
"""Without any of these no date is named, which is quick to see."""
_CLEAR_MONTHS: Final = "january|february|july|september|october|november|december"
"""Names that are nothing else: no verb, no first name, no common adjective."""
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_YEAR_ZH: Final = rf"(?P<year>(?:19|20)\d\d|(?<!{SIGN})[一二][〇零一二三四五六七八九]{{3}})"
_MONTH_ZH: Final = rf"(?P<month>[01]?\d|{CHINESE})\s*月(?:份)?(?:\s*(?P<day>[0-3]?\d|{CHINESE})\s*[日号])?"
_NUMBERED: Final = (
    r"\b(?:routes?|road|room|port|error|code|issue|pr|ticket|no|number|page|line|version|model|highway|suite|flat|unit|apartment|apt|bus|flight"
    r"|train|channel|chapter|section|rfc|iso|id|pin|zip|windows|office|server|studio|building|box|gate|ext|extension|over|under|nearly|almost"
    r"|exactly|only|least|most|than|costs?|paid|pays?|usd|eur|gbp|cny|rmb)[\s:]{1,2}#?"
    r"|[$€£¥#+]\s?|(?:端口|房间|编号|型号|号码|密码|错误码|门牌|第|共|约|花了|花费|超过|达到)\s?"
)
"""What makes a number before it no year."""
_COUNTED: Final = (
    r"[\s-]?(?:users?|people|persons?|customers?|employees|members|subscribers|followers|guests|students|visitors|words?|characters|chars|tokens?"
    r"|lines?|files?|items?|rows?|records?|requests?|messages?|memories|points|steps|times|copies|pages?|pieces|seats|tickets|orders|units?|votes"
    r"|stars|likes|views|dollars?|bucks|euros?|pounds?|yuan|rmb|usd|eur|gbp|yen|cents|percent|k?cal|calories|kj|watts?|kwh?|volts?|mah|rpm"
    r"|[kmg]?hz|dpi|psi|[kmgt]i?b|bytes|bits|ms|seconds|secs?|minutes|mins?|hours?|hrs?|days|weeks|months|years|[ckm]?m|met(?:er|re)s|miles?"
    r"|feet|ft|inch(?:es)?|k?g|mg|grams|kilos?|tons?|lbs?|oz|ml|lit(?:er|re)s|square|sq|px|pixels|parts|million|billion|thousand)\b"
    r"|\s?(?:[%+个元块字次条万亿米克斤台名位页件份毫千百倍瓦步卡秒天余张款辆]|人(?!才)|行(?![程业动])|多(?!维)|家(?!庭)|度(?!假)|分(?![析享公])"
    r"|周(?!年)|小时|美元|欧元|日元|港币|公里|公斤|公克|平米|平方)"
)
"""What makes a number before it one of things."""
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        rf"\b{_MONTH}\s+{_DAY}(?:,?\s*{_YEAR}\b)?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s*{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"(?<![\d./-])(?P<first>[0-3]?\d)(?P<sign>[/.-])(?P<second>[0-3]?\d)(?P=sign){_YEAR}(?![\d/-])",
        rf"(?<!\d){_YEAR}[-/.](?P<month>[01]?\d)(?:[-/.](?P<day>[0-3]?\d))?(?!\d)",
        rf"(?<!\d){_YEAR_ZH}\s*年(?:\s*{_MONTH_ZH})?",
        rf"(?<![\d个]){_MONTH_ZH}",
        r"\b(?!this may\b(?!\s?(?:$|[?.,!;])))(?:in|during|of|since|by|until|last|this|early|late|mid)[\s-]+" + _MONTH,
        rf"\b(?P<month>{_CLEAR_MONTHS})\b",
        rf"(?P<numbered>{_NUMBERED})?(?<![a-z\d_.\-/]){_YEAR}(?!\d|[.\-/]\w)(?P<counted>{_COUNTED})?(?![a-z_])",
    )
)
_WHEN: Final = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|month|year|time)\b|\bhow long ago\b"
    r"|什么时[候间]|何时|哪一?[天年日]|几[月号]|几时|多久[之以]?前"
)
_TIME_WORDS: Final = frozenset(
    """
    yesterday today tomorrow tonight ago recently weekend weekends monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december
    days hours week weeks month months year years summer winter spring autumn last next
    """.split()  # noqa: SIM905  (a list of literals reads worse)
)
_TIME_SIGNS: Final = re.compile(
    r"[昨今明前后]天|[去今明前后]年|[上下本这]个?(?:周|星期|礼拜|月)|\d\s*[年月日号]|星期|周[一二三四五六日末]|最近|刚才|昨晚|今晚"
)
_NAMES_OF_DAYS: Final = re.compile(r"(?<!before )\byesterday\b|\btoday\b|\btonight\b|[昨今][天日]|(?<!大)前天")
_YEAR_NUMBER: Final = re.compile(r"\d{4}(?!\d)")


def speaks_of_time(text: str, words: Sequence[str]) -> bool:
    """Whether folded text, with its Latin words, mentions a time, so that it may answer a "when"."""
    return (
        not _TIME_WORDS.isdisjoint(words)
        or "in may" in text
        or _YEAR_NUMBER.search(text) is not None
        or (not text.isascii() and _TIME_SIGNS.search(text) is not None)
    )


def asks_when(text: str) -> bool:
    """Whether a folded question asks for a time."""
    return _WHEN.search(text) is not None


class Asked(NamedTuple):
    """What a question says of times.

    `markers` of the dates that it names, `topic`: the question without the words of those that are counted from now, `names` of days among
    these, which may stand in a text all the same, and `perhaps`: markers of a weekday that may be any week's.
    """

    markers: list[str]
    topic: str
    names: str
    perhaps: list[str]


def read(text: str, now: datetime) -> Asked:
    """Read the dates of a folded question.

    `May 3` and `Monday` stay words, for a memory may hold them; a memory's own `three days ago` was another day.
    """
    relative = relative_dates.said(text, now)
    found = [*_absolute(text), *relative_dates.seasons(text, now)]
    rest = text
    for one in relative:
        found += one.markers
        rest = f"{rest[: one.start]}{' ' * (one.end - one.start)}{rest[one.end :]}"
    names = " ".join(name[0] for name in _NAMES_OF_DAYS.finditer(text))
    return Asked(list(dict.fromkeys(found)), rest, names, list(relative_dates.weekdays(rest, now)))


def _absolute(text: str) -> Iterator[str]:
    if not _HINT.search(text):
        return
    for form in _FORMS:
        for match in form.finditer(text):
            yield from _named(match.groupdict())
        text = form.sub(" ; ", text)


def _named(parts: dict[str, str | None]) -> Iterator[str]:
    if parts.get("numbered") or parts.get("counted"):
        return
    year = _year(parts.get("year"))
    if (first := parts.get("first")) and (second := parts.get("second")):
        for month, day in sorted({(int(first), int(second)), (int(second), int(first))}):
            yield from _date(year, month, day)
        return
    month_said, day_said = parts.get("month"), parts.get("day")
    month_named = _MONTH_NUMBER.get(month_said) or number(month_said) if month_said else None
    yield from _date(year, month_named, number(day_said) if day_said else None)


def _year(said: str | None) -> int | None:
    return number(said) if said else None


def _date(year: int | None, month: int | None, day: int | None) -> Iterator[str]:
    if month is not None and not 1 <= month <= 12:
        return
    if year:
        yield f"{MARK}y{year}"
    if month:
        yield f"{MARK}m{month:02}"
    if year and month:
        yield f"{MARK}{year}-{month:02}"
    if month and day and 1 <= day <= 31:
        yield f"{MARK}d{month:02}-{day:02}"
