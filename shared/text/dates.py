"""Dates as search terms: the day a memory was made, and the days, months and years a question names.

A marker begins with `@`, which no word of a text can. English and Chinese, absolute and relative; it knows nothing of weights.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

MARK: Final = "@"
"""What every marker begins with."""
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
_COUNT_WORDS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNT_WORDS)})"
_WEEK: Final = "(?:周|星期|礼拜)"
_RELATIVE_DAYS: Final = (
    (re.compile(r"大前天"), 3),
    (re.compile(r"\bday before yesterday\b|(?<!大)前天"), 2),
    (re.compile(r"(?<!before )\byesterday\b|\blast night\b|昨[天日晚夜]"), 1),
    (re.compile(r"\btoday\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b|今[天日早晚]"), 0),
)
_RELATIVE_WEEK: Final = (
    (re.compile(rf"\blast week\b|上个?{_WEEK}(?![一二三四五六日天末])"), 1),
    (re.compile(rf"\bthis week\b|(?:这个?|本){_WEEK}(?![一二三四五六日天末])"), 0),
)
_RELATIVE_MONTH: Final = (
    (re.compile(r"\blast month\b|上个?月"), 1),
    (re.compile(r"\bthis month\b|(?:这个|本|当)月"), 0),
)
_RELATIVE_YEAR: Final = (
    (re.compile(r"\blast year\b|去年"), 1),
    (re.compile(r"\bthis year\b|今年"), 0),
    (re.compile(r"(?<!\d)前年"), 2),
)
_AGO: Final = tuple(
    (re.compile(rf"\b{_COUNT} {unit}s? ago\b|(?P<number>\d{{1,3}})\s*{sign}[之以]?前"), unit)
    for unit, sign in (("day", "天"), ("week", f"个?{_WEEK}"), ("month", "个月"), ("year", "年"))
)
_WEEKDAYS: Final = {name: place for place, name in enumerate(("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"))}
_LAST_WEEKDAY: Final = re.compile(rf"\b(?:last|this past) ({'|'.join(_WEEKDAYS)})day\b")
_WEEKDAY_SIGNS: Final = {sign: place for place, sign in enumerate("一二三四五六日")} | {"天": 6}
_WEEKDAY_OF: Final = re.compile(rf"(上个?|这个?|本){_WEEK}([一二三四五六日天])")
_WEEKEND: Final = re.compile(r"\b(?P<last>last|this) weekend\b|(?:上个?|这个?|本)周末")
_SEASONS: Final = {"spring": 3, "春": 3, "summer": 6, "夏": 6, "autumn": 9, "fall": 9, "秋": 9, "winter": 12, "冬": 12}
"""The first month of each, in the north."""
_SEASON_NAMES: Final = "spring|summer|autumn|fall|winter"
_YEARS_BACK: Final = {"今年": 0, "去年": 1, "前年": 2}
_SEASON: Final = re.compile(
    rf"\b(?:(?P<when>last|this) (?P<season>{_SEASON_NAMES})|(?P<named>{_SEASON_NAMES})(?:,? of)? {_YEAR})\b"
    rf"|(?:(?P<said>去年|今年|前年)|(?<!\d)(?P<of>(?:19|20)\d\d)年)的?(?P<sign>[春夏秋冬])[天季]"
)
_NUMERAL: Final = "[〇零一二两三四五六七八九十]"
_NUMERALS: Final = re.compile(rf"(?<!{_NUMERAL}){_NUMERAL}{{1,4}}(?=\s*(?:个月|个?(?:周|星期|礼拜)|[天年月日号]))")
"""No year has more signs; longer runs are no numbers, and would be walked through again from each of their signs."""
_DIGITS: Final = {sign: str(number) for number, sign in enumerate("〇一二三四五六七八九")} | {"零": "0", "两": "2"}

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
    text = _NUMERALS.sub(lambda match: _in_digits(match[0]), text)
    return list(dict.fromkeys([*_absolute(text), *_relative(text, now)]))


def _in_digits(numeral: str) -> str:
    """A Chinese numeral below 100, or one written digit by digit such as a year, in Arabic digits."""
    tens, ten, ones = numeral.partition("十")
    if not ten:
        return "".join(_DIGITS[sign] for sign in numeral)
    return "".join(_DIGITS.get(sign, "") for sign in (tens or "一")) + (_in_digits(ones) or "0")


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
    for form, weeks in _RELATIVE_WEEK:
        if form.search(text):
            yield from _week(now, weeks)
    for form, months in _RELATIVE_MONTH:
        if form.search(text):
            yield _month(now, months)
    for form, years in _RELATIVE_YEAR:
        if form.search(text):
            yield f"@y{now.year - years:04}"
    yield from _ago(text, now)
    yield from _weekdays(text, now)
    for match in _SEASON.finditer(text):
        yield from _season(match, now)


def _ago(text: str, now: datetime) -> Iterator[str]:
    """What `2 weeks ago` and `三个月前` mean; as wide as the unit that they count in."""
    for form, unit in _AGO:
        for match in form.finditer(text):
            said = match["count"] or match["number"]
            count = _COUNT_WORDS.get(said) or int(said)
            if unit == "day":
                yield from _day(now, count)
            elif unit == "week":
                yield from _week(now, count)
            elif unit == "month":
                yield _month(now, count)
            else:
                yield f"@y{max(now.year - count, 1):04}"


def _weekdays(text: str, now: datetime) -> Iterator[str]:
    """A named day of last week or this one; in English the last such day before today."""
    for match in _LAST_WEEKDAY.finditer(text):
        yield from _day(now, (now.weekday() - _WEEKDAYS[match[1]] - 1) % 7 + 1)
    for match in _WEEKDAY_OF.finditer(text):
        yield from _day(now, now.weekday() - _WEEKDAY_SIGNS[match[2]] + 7 * match[1].startswith("上"))
    for match in _WEEKEND.finditer(text):
        last = match["last"] == "last" or match[0].startswith("上")
        yield from list(_week(now, int(last)))[5:]


def _season(match: re.Match[str], now: datetime) -> Iterator[str]:
    """The three months of a season; a winter belongs to the year it begins in. `last summer` is the last that is over."""
    first = _SEASONS[match["season"] or match["named"] or match["sign"]]
    year = int(match["year"] or match["of"] or now.year) - _YEARS_BACK.get(match["said"], 0)
    if match["season"]:
        months_since = (now.month - first) % 12
        year = (now.year * 12 + now.month - 1 - months_since) // 12
        year -= match["when"] == "last" and months_since < 3
        year += match["when"] == "this" and months_since > 8
    for month in range(first - 1, first + 2):
        yield f"@{year + month // 12:04}-{month % 12 + 1:02}"


def _week(now: datetime, weeks: int) -> Iterator[str]:
    monday = now.weekday() + 7 * weeks
    return (markers_of(now - timedelta(days=monday - day))[3] for day in range(7))


def _month(now: datetime, months: int) -> str:
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    return f"@{year:04}-{month + 1:02}"


def _day(now: datetime, days: int) -> Iterator[str]:
    _, _, month, day = markers_of(now - timedelta(days=days))
    yield month
    yield day
