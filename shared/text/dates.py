"""Dates as search terms: the day a memory was made, and the days, months and years a question names.

A marker begins with `@`, which no word of a text can. English and Chinese, absolute and relative; it knows nothing of weights.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

SPEAKS_OF_TIME: Final = "@when"

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
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        rf"\b{_MONTH}\s+{_DAY}(?:,?\s*{_YEAR}\b)?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s*{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"(?<!\d){_YEAR}[-/.](?P<month>[01]?\d)(?:[-/.](?P<day>[0-3]?\d))?(?!\d)",
        rf"(?<!\d){_YEAR}\s*年(?:\s*(?P<month>[01]?\d)\s*月(?:份)?(?:\s*(?P<day>[0-3]?\d)\s*[日号])?)?",
        r"(?<![\d个])(?P<month>[01]?\d)\s*月(?:份)?(?:\s*(?P<day>[0-3]?\d)\s*[日号])?",
        r"\b(?:in|during|of|since|by|until|last|this|early|late|mid)[\s-]+" + _MONTH,
        rf"(?<![\d.\-/]){_YEAR}(?![\d.\-/年])",
    )
)
_RELATIVE_DAYS: Final = (
    (re.compile(r"\bday before yesterday\b|前天"), 2),
    (re.compile(r"(?<!before )\byesterday\b|\blast night\b|昨[天日晚夜]"), 1),
    (re.compile(r"\btoday\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b|今[天日早晚]"), 0),
)
_DAYS_AGO: Final = re.compile(r"\b(\d{1,3}) days? ago\b|(?<!\d)(\d{1,3})\s*天[之以]?前")
_RELATIVE_MONTH: Final = (
    (re.compile(r"\blast month\b|上个?月"), 1),
    (re.compile(r"\bthis month\b|(?:这个|本|当)月"), 0),
)
_RELATIVE_YEAR: Final = (
    (re.compile(r"\blast year\b|去年"), 1),
    (re.compile(r"\bthis year\b|今年"), 0),
    (re.compile(r"前年"), 2),
)
_RELATIVE_WEEK: Final = (
    (re.compile(r"\blast week\b|上个?(?:周|星期|礼拜)(?![一二三四五六日天])"), 1),
    (re.compile(r"\bthis week\b|(?:这个?|本)(?:周|星期|礼拜)(?![一二三四五六日天])"), 0),
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
_YEAR_NUMBER: Final = re.compile(r"\d{4}(?!\d)")


def markers_of(at: datetime) -> tuple[str, str, str, str]:
    """The markers of one day: year, month, year and month, month and day."""
    return _markers(at.year, at.month, at.day)


@lru_cache(maxsize=4_000)
def _markers(year: int, month: int, day: int) -> tuple[str, str, str, str]:
    return (f"@y{year:04}", f"@m{month:02}", f"@{year:04}-{month:02}", f"@d{month:02}-{day:02}")


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


def asked(text: str, now: datetime) -> list[str]:
    """Markers of the dates a folded question names, relative ones counted from `now`; empty when it names none."""
    return list(dict.fromkeys([*_absolute(text), *_relative(text, now)]))


def _absolute(text: str) -> Iterator[str]:
    for form in _FORMS:
        for match in form.finditer(text):
            parts = match.groupdict()
            name = parts.get("month")
            month = None if name is None else int(name) if name.isdigit() else _MONTH_NUMBER[name]
            yield from _named(parts.get("year"), month, parts.get("day"))
        text = form.sub(" ; ", text)


def _named(year: str | None, month: int | None, day: str | None) -> Iterator[str]:
    if month is not None and not 1 <= month <= 12:
        return
    if year:
        yield f"@y{year}"
    if month:
        yield f"@m{month:02}"
    if year and month:
        yield f"@{year}-{month:02}"
    if month and day and 1 <= int(day) <= 31:
        yield f"@d{month:02}-{int(day):02}"


def _relative(text: str, now: datetime) -> Iterator[str]:
    for form, days in _RELATIVE_DAYS:
        if form.search(text):
            yield from _day(now, days)
    for match in _DAYS_AGO.finditer(text):
        yield from _day(now, int(match[1] or match[2]))
    for form, weeks in _RELATIVE_WEEK:
        if form.search(text):
            monday = now - timedelta(days=now.weekday() + 7 * weeks)
            yield from (markers_of(monday + timedelta(days=d))[3] for d in range(7))
    for form, months in _RELATIVE_MONTH:
        if form.search(text):
            last = now - timedelta(days=now.day) if months else now
            yield markers_of(last)[2]
    for form, years in _RELATIVE_YEAR:
        if form.search(text):
            yield f"@y{now.year - years:04}"


def _day(now: datetime, days: int) -> Iterator[str]:
    _, _, month, day = markers_of(now - timedelta(days=days))
    yield month
    yield day
