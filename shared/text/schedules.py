"""Schedules in words, Chinese and English, as cron expressions of five fields. What is not understood whole is refused: nothing is guessed.

Only the words are ours; what a cron expression means, through changes of the clocks too, is cronsim's (docs/decisions/schedules.md).
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

from shared.text.han import simplified
from shared.text.pattern import Pattern

FORMS: Final = (
    'such as "every Monday at 9", "weekdays at 22:30", "last day of the month at noon", "every 6 hours" (a number that divides 24), '
    '"每天凌晨3点", "每周一早上九点半", "每月1号", "每月最后一天中午", "每6小时", or five cron fields; null for none'
)
DEFAULT_HOUR: Final = 3
"""When only a day is named: the hours in which most people sleep. A week alone begins on Monday, a month alone on its first."""

_DIGITS: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_DAY_ZH: Final = r"(?:[一二三四五六日天]|[1-7](?![\d:点时]))"
_WEEK: Final = "(?:周|星期|礼拜)"
_N: Final = r"(?:\d{1,2}|[零〇一二两三四五六七八九十]{1,3})"
_WEEK_ZH: Final = "一二三四五六日"
_DAYS_EN: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAY_EN: Final = (
    r"(?:sun(?:day)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?)s?"
)
_WORDS_EN: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS_EN: Final = ("first", "second", "third", "fourth")
_HOUR_EN: Final = rf"(?:\d{{1,2}}|{'|'.join(_WORDS_EN)})"
_DATE_EN: Final = r"(?:\d{1,2}(?:st|nd|rd|th)?|first)"
_WHEN: Final = "(?:morning|afternoon|evening|night)"
_TIME_EN: Final = (
    rf"(?:(?P<past>half|quarter)\ past\ )?(?P<hour>{_HOUR_EN})(?:[:.](?P<minute>\d\d))?(?:\s*(?P<half>a\.?m\.?|p\.?m\.?|o'?clock|h))?(?!\w)"
    rf"(?:\s*in\ the\ (?P<part>morning|afternoon|evening)|\s*(?P<night>at\ night))?|(?:12\ )?(?P<named>noon|midday|midnight)"
)
_CRON: Final = Pattern(r"[\d*/,lL#-]+(?:\s+[\w*/,#-]+){4}")
_CRON_NAMES: Final = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
}  # fmt: skip
_HOURS_ZH: Final = Pattern(rf"每(?:隔)?(?P<every>{_N})?个?(?:小时|钟头)(?:一次)?")
_HOURS_EN: Final = Pattern(rf"(?:every|each) (?:(?P<every>{_HOUR_EN}) )?hours?|hourly")
_MINUTES_ZH: Final = Pattern(rf"每隔?(?:(?P<half>半)个?(?:小时|钟头)|(?P<every>\d{{1,4}}|{_N})?分钟?)(?:一次)?")
_MINUTES_EN: Final = Pattern(
    rf"(?:every|each) (?:(?P<half>half(?: an?)?[ -]hour)|(?:(?P<every>\d{{1,4}}|{_HOUR_EN}) )?min(?:ute)?s?)"
)
_DIGIT_DAY: Final = Pattern(rf"({_WEEK}[1-7])\s+(?=\d)")
_TIME_FIRST: Final = Pattern(rf"(?x) (?:at\ )?(?P<time>{_TIME_EN}),?\ (?P<day>\D.*)")
_ZH: Final = Pattern(
    rf"""(?x)
    (?: (?P<range>(?:每个?)?{_WEEK}(?P<from>{_DAY_ZH})(?:到|至|-|~){_WEEK}?(?P<to>{_DAY_ZH}))
      | (?P<weekly>(?:每个?|每?逢)?{_WEEK}(?:的?(?P<days>{_DAY_ZH}(?:[、,和及]?{_WEEK}?{_DAY_ZH})*)))(?!次)
      | (?P<workdays>(?:每个?)?工作日)
      | (?P<weekend>(?:每个?)?(?:周末|双休日))
      | (?P<last>每个?月的?(?:月?底|月?末|最后一天)|月底|月末)
      | (?P<nth>每个?月的?(?:第(?P<which>[一二三四1-4])|最后一?)个?{_WEEK}(?P<day>{_DAY_ZH}))
      | (?P<monthly>每个?月的?(?P<dates>{_N}[号日]?(?:[、,和及]{_N}[号日]?)*(?<=[号日])))
      | (?P<once>每(?:个?(?P<unit>月)|个?{_WEEK})(?:一次)?)
      | (?P<daily>每[天日](?:一次)?|天天|每(?=早|晚|夜)|(?=凌晨|半夜|午夜)) )
    的?
    (?: (?P<part>凌晨|清晨|早上|早晨|早|上午|中午|下午|傍晚|晚上|晚间|晚|夜里|深夜|夜|半夜|午夜)?的?
        (?: (?P<hour>{_N})(?:点钟?|时|:(?=\d))(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>{_N})分?|整)? )? )
    """
)
_EN: Final = Pattern(
    rf"""(?x)
    (?: (?:every|each|on|weekly\ on)?\ ?(?P<days>{_DAY_EN}(?:\ ?(?:,\ ?and|,|and|&)\ ?{_DAY_EN})*)
      | (?:every\ |each\ |from\ )?(?P<range>(?P<from>{_DAY_EN})\ ?(?:to|through|until|-)\ ?(?P<to>{_DAY_EN}))
      | (?:(?:every|each|on)\ )?(?P<workdays>(?:week|work(?:ing)?\ ?)days?)
      | (?:(?:every|each|on)\ )?(?P<weekend>weekends?)
      | (?P<last>(?:on\ )?(?:the\ )?last\ day\ of\ (?:every|each|the)\ month)
      | (?P<nth>(?:on\ )?(?:(?:the|every)\ )?(?P<which>{"|".join(_ORDINALS_EN)}|last)\ (?P<day>{_DAY_EN})\ of\ (?:every|each|the)\ month)
      | (?P<monthly>every\ month|each\ month|monthly|once\ a\ month)(?:\ on\ the\ (?P<date>{_DATE_EN}))?
      | (?:on\ )?(?:the\ )?(?P<dates>{_DATE_EN}(?:\ ?(?:,\ ?and|,|and|&)\ ?(?:the\ )?{_DATE_EN})*)\ (?:day\ )?of\ (?:every|each|the)\ month
      | (?P<weekly>every\ week|each\ week|weekly|once\ a\ week)
      | (?P<daily>every\ ?day|each\ day|daily|once\ a\ day|(?:every|each)\ (?={_WHEN})|nightly) )
    (?:\ ?(?P<when>{_WHEN})s?)?
    (?:,?\ (?:at\ )?(?:{_TIME_EN}))?
    """
)
_PARTS_EN: Final = {"morning": 8, "afternoon": 14, "evening": 20, "night": 22}
_PARTS_ZH: Final = {
    "半夜": 0, "午夜": 0, "凌晨": 3, "清晨": 6, "早上": 8, "早晨": 8, "早": 8, "上午": 10, "中午": 12,
    "下午": 14, "傍晚": 18, "晚上": 20, "晚间": 20, "晚": 20, "夜里": 23, "深夜": 23, "夜": 23,
}  # fmt: skip
_HOURS: Final[dict[frozenset[str], dict[int, int]]] = {
    frozenset({"凌晨", "半夜", "午夜"}): {12: 0} | {hour: hour for hour in range(7)},
    frozenset({"清晨", "早上", "早晨", "早", "上午", "morning"}): {hour: hour for hour in range(13)},
    frozenset({"中午"}): {11: 11, 12: 12, 1: 13, 2: 14, 13: 13, 14: 14},
    frozenset({"下午", "afternoon"}): {12: 12} | {hour: hour % 12 + 12 for hour in [*range(1, 8), *range(13, 20)]},
    frozenset({"傍晚", "evening"}): {hour: hour % 12 + 12 for hour in [*range(4, 12), *range(16, 24)]},
    frozenset({"晚上", "晚间", "晚"}): {0: 0, 12: 0}
    | {hour: hour for hour in [*range(1, 5), *range(17, 24)]}
    | {hour: hour + 12 for hour in range(5, 12)},
    frozenset({"夜里", "深夜", "夜"}): {0: 0, 12: 0}
    | {hour: hour for hour in [*range(1, 7), *range(19, 24)]}
    | {hour: hour + 12 for hour in range(7, 12)},
    frozenset({"night", "at night"}): {0: 0, 12: 0}
    | {hour: hour for hour in [*range(1, 5), *range(18, 24)]}
    | {hour: hour + 12 for hour in range(7, 12)},
}
"""The hours that may be named with a part of the day, and which hour of 24 is meant. What people take for either is not there: the
twelve of an evening, five at night, ten at noon."""


class NotUnderstood(ValueError):
    """These words name no schedule that is known."""


def cron_of(words: str) -> str:
    """Return five cron fields (minute, hour, day of month, month, day of week; Sunday 0). Raises NotUnderstood."""
    text = " ".join(unicodedata.normalize("NFKC", words).casefold().split()).rstrip("。.!")
    if text in _CRON_NAMES:
        return _CRON_NAMES[text]
    if _CRON.fullmatch(text):
        return text.upper() if "l" in text else text
    if any("\u4e00" <= sign <= "\u9fff" for sign in text):
        return _chinese(_DIGIT_DAY.sub(r"\1的", simplified(text)).replace(" ", ""))
    return _english(text)


def _chinese(text: str) -> str:
    hours = _HOURS_ZH.fullmatch(text)
    if hours:
        return _every(_number(hours["every"]) if hours["every"] else 1)
    minutes = _MINUTES_ZH.fullmatch(text)
    if minutes:
        return _every_minutes(30 if minutes["half"] else _number(minutes["every"] or "1"))
    found = _ZH.fullmatch(text)
    if not found:
        raise NotUnderstood
    part = found["part"]
    if found["hour"] is None:
        hour, minute = _PARTS_ZH.get(part, DEFAULT_HOUR), 0
    else:
        hour = _number(found["hour"])
        minute = 30 if found["half"] else 15 * _DIGITS[found["quarter"]] if found["quarter"] else 0
        minute = _number(found["minute"]) if found["minute"] else minute
        hour = 0 if hour == 24 and found["daily"] and not part and not minute else _hour_of_day(part, hour)
    if found["range"]:
        return _fields(minute, hour, week=_span(_day_zh(found["from"]), _day_zh(found["to"])))
    if found["weekly"]:
        return _fields(minute, hour, week=[_day_zh(sign) for sign in found["days"] if sign in _WEEK_ZH + "天1234567"])
    if found["nth"]:
        which = f"#{_number(found['which'])}" if found["which"] else "L"
        return _fields(minute, hour)[:-1] + f"{_day_zh(found['day'])}{which}"
    if found["monthly"]:
        return _fields(minute, hour, dates=map(_number, Pattern(_N).findall(found["dates"])))
    if found["once"]:
        return _fields(minute, hour, dates=[1]) if found["unit"] else _fields(minute, hour, week=[1])
    return _named(found.groupdict(), minute, hour)


def _day_zh(sign: str) -> int:
    return (int(sign) if sign.isdecimal() else _WEEK_ZH.index(sign.replace("天", "日")) + 1) % 7


def _hour_of_day(part: str | None, hour: int) -> int:
    """Return the hour on a clock of 24: 下午三点 is 15, 夜里三点 is 3, 晚上十二点 and 凌晨十二点 are 0, 中午一点 is 13."""
    if part is None:
        return hour
    meant = next(hours for parts, hours in _HOURS.items() if part in parts).get(hour)
    if meant is None:
        raise NotUnderstood
    return meant


def _english(text: str) -> str:
    hours = _HOURS_EN.fullmatch(text)
    if hours:
        return _every(_number_en(hours["every"] or "1"))
    minutes = _MINUTES_EN.fullmatch(text)
    if minutes:
        return _every_minutes(30 if minutes["half"] else _number_en(minutes["every"] or "1"))
    found = (
        _EN.fullmatch(text)
        or _EN.fullmatch(f"daily {text}")
        or _EN.fullmatch(_TIME_FIRST.sub(r"\g<day> at \g<time>", text))
    )
    if not found:
        raise NotUnderstood
    when = found["when"] or ("night" if text.startswith("nightly") else None)
    hour, minute = _PARTS_EN.get(when or "", DEFAULT_HOUR), 0
    if found["named"]:
        hour = 0 if found["named"] == "midnight" else 12
    elif found["hour"]:
        hour = _clock(found["hour"], found["half"], found["part"] or found["night"] or when)
        minute = int(found["minute"] or {"half": 30, "quarter": 15}.get(found["past"] or "", 0))
    if found["range"]:
        return _fields(minute, hour, week=_span(_day_en(found["from"]), _day_en(found["to"])))
    if found["days"]:
        return _fields(minute, hour, week=map(_day_en, Pattern(_DAY_EN).findall(found["days"])))
    if found["nth"]:
        which = "L" if found["which"] == "last" else f"#{_ORDINALS_EN.index(found['which']) + 1}"
        return _fields(minute, hour)[:-1] + f"{_day_en(found['day'])}{which}"
    if found["monthly"] or found["dates"]:
        named = Pattern(r"\d+|first").findall(found["date"] or found["dates"] or "1")
        return _fields(minute, hour, dates=[1 if date == "first" else int(date) for date in named])
    return _named(found.groupdict(), minute, hour)


def _day_en(name: str) -> int:
    return _DAYS_EN.index(name[:3])


def _number_en(text: str) -> int:
    return int(text) if text.isdecimal() else _WORDS_EN.index(text) + 1


def _clock(hour: str, half: str | None, part: str | None) -> int:
    number = _number_en(hour)
    if half is None or half[0] not in "ap":
        return _hour_of_day(part, number)
    if not 1 <= number <= 12:
        raise NotUnderstood
    number = number % 12 + 12 * (half[0] == "p")
    if part is not None and _hour_of_day(part, number) != number:
        raise NotUnderstood
    return number


def _span(first: int, last: int) -> list[int]:
    """Return the days from one to another, both included, over the end of the week where they lie so."""
    return [day % 7 for day in range(first, (last if last > first else last + 7) + 1)]


def _named(found: dict[str, str | None], minute: int, hour: int) -> str:
    if found.get("workdays"):
        return _fields(minute, hour, week=range(1, 6))
    if found.get("weekly"):
        return _fields(minute, hour, week=[1])
    if found.get("weekend"):
        return _fields(minute, hour, week=(0, 6))
    if found.get("last"):
        return f"{_within(minute, 59)} {_within(hour, 23)} L * *"
    return _fields(minute, hour)


def _every(hours: int) -> str:
    """Every so many hours, from midnight on: a number that divides a day."""
    if hours not in {1, 2, 3, 4, 6, 8, 12, 24}:
        raise NotUnderstood
    return "0 0 * * *" if hours == 24 else f"0 */{hours} * * *" if hours > 1 else "0 * * * *"


def _every_minutes(minutes: int) -> str:
    """Every so many minutes; whole hours are hours."""
    if minutes % 60 == 0:
        return _every(minutes // 60)
    return f"*/{_within(minutes, 59)} * * * *"


def _fields(minute: int, hour: int, *, dates: Iterable[int] = (), week: Iterable[int] = ()) -> str:
    days = sorted({_within(date, 31, 1) for date in dates})
    numbers = sorted(set(week))
    first = f"{_within(minute, 59)} {_within(hour, 23)}"
    return f"{first} {_listed(days)} * {'1-5' if numbers == [1, 2, 3, 4, 5] else _listed(numbers)}"


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers)) or "*"


def _within(number: int, highest: int, lowest: int = 0) -> int:
    if not lowest <= number <= highest:
        raise NotUnderstood
    return number


def _number(text: str) -> int:
    """Return 0 to 99 of digits or Chinese numerals."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if not ten:
        if len(text) > 1 and text[0] not in "零〇":
            raise NotUnderstood
        return _DIGITS[text[-1]]
    if len(tens) > 1 or len(ones) > 1:
        raise NotUnderstood
    return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)
