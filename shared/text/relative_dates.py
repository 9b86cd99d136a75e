"""Times counted from now, English and Chinese: what `ten days ago`, `上上周五` and `last summer` mean, and where they stand in a question.

As wide as the unit they count in: a day, the seven days of a week, a month, a year. It knows nothing of terms and weights.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from typing import Final, NamedTuple

from shared.text.date_markers import MARK, markers_of
from shared.text.numerals import CHINESE, WORDS, number


class Said(NamedTuple):
    """Where a question speaks of a time, and the markers that this time has."""

    start: int
    end: int
    markers: tuple[str, ...]


_Meaning = Callable[[re.Match[str], datetime], Iterable[str]]

_HINT: Final = re.compile(r"ago|back|past|last|this|day|night|[前昨今去上这本近当]")
"""Without any of these there is none, which is quick to see."""
_WEEK: Final = "(?:周|星期|礼拜)"
_NO_DAY: Final = "(?![一二三四五六日天末])"
_AGO: Final = r"\s?[之以]?前(?![端后])"
_NUMBER: Final = rf"\d{{1,3}}|{'|'.join(sorted(WORDS, key=len, reverse=True))}"
_COUNT: Final = f"(?P<count>{_NUMBER})"
_COUNTED: Final = rf"(?<!\d)(?P<count>\d{{1,3}}|{CHINESE})\s?"
_FEW: Final = range(2, 6)
"""What "a few" may be."""
_LONGEST: Final = {"day": 31, "week": 8, "month": 24, "year": 20}
"""How far a stretch such as `the past 3 weeks` is followed back."""
_UNITS: Final = {
    **dict.fromkeys(("分钟", "小时", "天"), "day"),
    **dict.fromkeys(("周", "星期", "礼拜"), "week"),
    "月": "month",
    "年": "year",
}
_WEEKDAYS: Final = {name: place for place, name in enumerate(("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"))}
_BARE_WEEKDAY: Final = re.compile(
    rf"(?<!every )(?<!each )(?<!next )(?<!last )(?<!past )(?<!this )\b(?P<day>{'|'.join(_WEEKDAYS)})day\b"
    rf"|(?<![每逢下上这本个隔到至一二三四五六日天]){_WEEK}(?P<sign>[一二三四五六日天])(?![一二三四五六日天到至])"
)
_WEEKDAY_SIGNS: Final = {sign: place for place, sign in enumerate("一二三四五六日")} | {"天": 6}
_BACK: Final = {"this": 0, "last": 1}
_SEASONS: Final = {"spring": 3, "春": 3, "summer": 6, "夏": 6, "autumn": 9, "fall": 9, "秋": 9, "winter": 12, "冬": 12}
"""The first month of each, in the north."""
_SEASON_NAMES: Final = "spring|summer|autumn|fall|winter"
_YEARS_BACK: Final = {"今年": 0, "去年": 1, "前年": 2}
_SEASON_OF: Final = re.compile(
    rf"\b(?P<named>{_SEASON_NAMES})(?:,? of)? (?P<year>(?:19|20)\d\d)\b"
    r"|(?:(?P<said>去年|今年|(?<!大)前年)|(?<!\d)(?P<of>(?:19|20)\d\d)年)的?(?P<sign>[春夏秋冬])[天季]"
)


def said(text: str, now: datetime) -> list[Said]:
    """The times of a folded question that are counted from `now`, each with its place; a month is as `2026-05`, a day also as `05-20`."""
    if not _HINT.search(text):
        return []
    return [
        Said(match.start(), match.end(), tuple(meaning(match, now)))
        for form, meaning in _FORMS
        for match in form.finditer(text)
    ]


def weekdays(text: str, now: datetime) -> Iterator[str]:
    """Markers of the last Monday where a question says `on Monday` or 周一, which may as well be any Monday or the next."""
    for match in _BARE_WEEKDAY.finditer(text):
        place = _WEEKDAYS[match["day"]] if match["day"] else _WEEKDAY_SIGNS[match["sign"]]
        yield from _days(now, _days_since(place, now))


def seasons(text: str, now: datetime) -> Iterator[str]:
    """Markers of the seasons whose year is named; a winter belongs to the year it begins in."""
    for match in _SEASON_OF.finditer(text):
        year = int(match["year"] or match["of"] or now.year) - _YEARS_BACK.get(match["said"], 0)
        yield from _months_from(year, _SEASONS[match["named"] or match["sign"]])


def _day(back: int) -> _Meaning:
    return lambda _, now: _days(now, back)


def _week(back: int) -> _Meaning:
    return lambda _, now: _days_of_week(now, back)


def _month(*back: int) -> _Meaning:
    return lambda _, now: [_month_of(now, months) for months in back]


def _year(back: int) -> _Meaning:
    return lambda _, now: [_year_of(now, back)]


def _unit(match: re.Match[str]) -> str:
    unit = match["unit"]
    return _UNITS.get(unit.removeprefix("个"), unit)


def _ago(match: re.Match[str], now: datetime) -> Iterable[str]:
    return _unit_back(_unit(match), number(match["count"]), now)


def _few_ago(match: re.Match[str], now: datetime) -> Iterator[str]:
    for count in _FEW:
        yield from _unit_back(_unit(match), count, now)


def _few_days_ago(_: re.Match[str], now: datetime) -> Iterator[str]:
    for count in _FEW:
        yield from _days(now, count)


def _hours_ago(match: re.Match[str], now: datetime) -> Iterable[str]:
    hours = number(match["count"]) if match["unit"].endswith(("hour", "小时")) else 0
    return _days(now, (hours + 23 - now.hour) // 24)


def _unit_back(unit: str, count: int, now: datetime) -> Iterable[str]:
    if unit == "day":
        return _days(now, count)
    if unit == "week":
        return _days_of_week(now, count)
    return [_month_of(now, count) if unit == "month" else _year_of(now, count)]


def _stretch(match: re.Match[str], now: datetime) -> Iterator[str]:
    """Every day of `the past two weeks`, today included; months and years in steps of their own."""
    unit, said_count = _unit(match), match["count"]
    count = 1 if not said_count else max(_FEW) if said_count in {"few", "几"} else number(said_count)
    count = min(count, _LONGEST[unit])
    if unit == "year" and count > 1:
        yield from (_year_of(now, back) for back in range(count + 1))
    elif unit in {"month", "year"}:
        yield from (_month_of(now, back) for back in range((count if unit == "month" else 12) + 1))
    else:
        yield from (_day_marker(now, back) for back in range((count if unit == "day" else 7 * count) + 1))


def _last_weekday(match: re.Match[str], now: datetime) -> Iterable[str]:
    """The last such day before today."""
    return _days(now, _days_since(_WEEKDAYS[match["day"]], now))


def _days_since(weekday: int, now: datetime) -> int:
    return (now.weekday() - weekday - 1) % 7 + 1


def _weekday(match: re.Match[str], now: datetime) -> Iterable[str]:
    return _days(now, now.weekday() - _WEEKDAY_SIGNS[match["day"]] + 7 * match["which"].count("上"))


def _weekend(match: re.Match[str], now: datetime) -> Iterable[str]:
    which = match["which"] or match["said"]
    return list(_days_of_week(now, _BACK.get(which, which.count("上"))))[5:]


def _season(match: re.Match[str], now: datetime) -> Iterable[str]:
    """The three months of `last summer`, the last that is over, or of the one that is or comes this year."""
    first = _SEASONS[match["season"]]
    months_since = (now.month - first) % 12
    year = (now.year * 12 + now.month - 1 - months_since) // 12
    year -= match[0] == "last" and months_since < 3
    year += match[0] == "this" and months_since > 8
    return _months_from(year, first)


_FORMS: Final[tuple[tuple[re.Pattern[str], _Meaning], ...]] = tuple(
    (re.compile(form), meaning)
    for form, meaning in (
        (r"大前天", _day(3)),
        (r"\b(?:the )?day before yesterday\b|(?<!大)前天", _day(2)),
        (r"(?<!before )\byesterday\b|\blast night\b|昨[天日晚夜]", _day(1)),
        (r"\b(?:earlier )?today\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b|今[天日早晚]", _day(0)),
        (rf"\b(?:the )?week before last\b|上上个?{_WEEK}{_NO_DAY}", _week(2)),
        (rf"\blast week\b|(?<!上)上个?{_WEEK}{_NO_DAY}", _week(1)),
        (rf"\bthis week\b|(?:这个?|本){_WEEK}{_NO_DAY}", _week(0)),
        (r"\b(?:the )?month before last\b|上上个?月", _month(2)),
        (r"\blast month\b|(?<!上)上个?月", _month(1)),
        (r"\bthis month\b|(?:这个|本|当)月", _month(0)),
        (r"大前年", _year(3)),
        (r"\b(?:the )?year before last\b|(?<![\d大])前年", _year(2)),
        (r"\blast year\b|去年", _year(1)),
        (r"\bthis year\b|今年", _year(0)),
        (rf"(?<!half )\b{_COUNT} (?P<unit>day|week|month|year)s? (?:ago|back)\b", _ago),
        (rf"{_COUNTED}(?P<unit>天|个?{_WEEK}|个月|年){_AGO}", _ago),
        (rf"(?<!half )\b{_COUNT} (?P<unit>minute|hour)s? ago\b", _hours_ago),
        (rf"{_COUNTED}(?P<unit>分钟|个?小时){_AGO}", _hours_ago),
        (rf"\bhalf an hour ago\b|半个?小时{_AGO}", _day(0)),
        (rf"\bhalf a month ago\b|半个月{_AGO}", _week(2)),
        (rf"\bhalf a year ago\b|半年{_AGO}", _month(5, 6, 7)),
        (r"\b(?:a few|several) (?P<unit>day|week|month|year)s ago\b", _few_ago),
        (rf"[几数](?P<unit>天|个?{_WEEK}|个月|年){_AGO}", _few_ago),
        (r"\bthe other day\b|(?<!提)前[几些两]天", _few_days_ago),
        (rf"\b(?:the )?(?:past|last) (?P<count>few|{_NUMBER}) (?P<unit>day|week|month|year)s\b", _stretch),
        (r"\b(?:the )?past (?P<unit>day|week|month|year)\b(?P<count>)", _stretch),
        (
            rf"(?:过去|最近|(?<![附最])近|这(?!一))的?(?P<count>几|\d{{1,3}}|{CHINESE})\s?(?P<unit>天|个?{_WEEK}|个月|年)(?![之以]?前)",
            _stretch,
        ),
        (rf"\b(?:last|this past) (?P<day>{'|'.join(_WEEKDAYS)})day\b", _last_weekday),
        (rf"(?P<which>上上个?|上个?|这个?|本){_WEEK}(?P<day>[一二三四五六日天])", _weekday),
        (r"\b(?P<said>last|this) weekend\b|(?P<which>上上|上|这|本)个?周末", _weekend),
        (rf"\b(?:last|this)(?= (?P<season>{_SEASON_NAMES})\b)", _season),
    )
)


def _day_marker(now: datetime, back: int) -> str:
    """The marker of one day of one year: `yesterday` is no day of last year, and no other day of this month."""
    return markers_of(date.fromordinal(max(now.toordinal() - back, 1)))[-1]


def _days(now: datetime, back: int) -> Iterable[str]:
    return [_day_marker(now, back)]


def _days_of_week(now: datetime, back: int) -> Iterable[str]:
    monday = now.weekday() + 7 * back
    return [_day_marker(now, monday - day) for day in range(7)]


def _month_of(now: datetime, back: int) -> str:
    year, month = divmod(now.year * 12 + now.month - 1 - back, 12)
    return f"{MARK}{year:04}-{month + 1:02}"


def _year_of(now: datetime, back: int) -> str:
    return f"{MARK}y{max(now.year - back, 1):04}"


def _months_from(year: int, first: int) -> Iterator[str]:
    for month in range(first - 1, first + 2):
        yield f"{MARK}{year + month // 12:04}-{month % 12 + 1:02}"
