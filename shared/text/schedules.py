"""Schedules in words, Chinese and English, as cron expressions of five fields. What is not understood whole is refused: nothing is guessed.

Only the words are ours; what a cron expression means, through changes of the clocks too, is cronsim's (docs/decisions/schedules.md).
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

from shared.text.pattern import Pattern

FORMS: Final = 'such as "every Monday at 9", "weekdays at 22:30", "每天凌晨3点", "每周一早上九点半", "每月1号", or five cron fields'
DEFAULT_HOUR: Final = 3
"""When only a day is named: the hours in which most people sleep."""

_DIGITS: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_DAY_ZH: Final = r"(?:[一二三四五六日天]|[1-7](?![\d:点时]))"
_N: Final = r"(?:\d{1,2}|[零〇一二两三四五六七八九十]{1,3})"
_WEEK_ZH: Final = "一二三四五六日"
_DAYS_EN: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAY_EN: Final = (
    r"(?:sun(?:day)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?)s?"
)
_TIME_EN: Final = (
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s*(?P<half>a\.?m\.?|p\.?m\.?|o'?clock)?"
    r"(?:\s*in\ the\ (?P<part>morning|afternoon|evening)|\s*(?P<night>at\ night))?|(?P<named>noon|midday|midnight)"
)
_CRON: Final = Pattern(r"[\d*/,lL#-]+(?:\s+[\w*/,#-]+){4}")
_HOURS_ZH: Final = Pattern(rf"每(?:隔)?(?P<every>{_N})?个?(?:小时|钟头)(?:一次)?")
_HOURS_EN: Final = Pattern(r"(?:every|each) (?:(?P<every>\d{1,2}) )?hours?|hourly")
_ZH: Final = Pattern(
    rf"""(?x)
    (?: (?P<weekly>(?:每个?|逢)?(?:周|星期|礼拜)(?:的?(?P<days>{_DAY_ZH}(?:[、,和及]?(?:周|星期|礼拜)?{_DAY_ZH})*)))
      | (?P<range>(?:每个?)?(?:周|星期)[一1](?:到|至|-|~)(?:周|星期)?[五5])
      | (?P<workdays>(?:每个?)?工作日)
      | (?P<weekend>(?:每个?)?周末)
      | (?P<last>每个?月的?(?:月底|月末|最后一天))
      | (?P<monthly>每个?月的?(?P<dates>{_N}[号日](?:[、,和及]{_N}[号日])*))
      | (?P<daily>每[天日]|天天|每(?=早|晚|夜)) )
    的?
    (?: (?P<part>凌晨|清晨|早上|早晨|早|上午|中午|下午|傍晚|晚上|晚间|晚|夜里|夜|半夜|午夜)?的?
        (?: (?P<hour>{_N})(?:点钟?|时|:(?=\d))(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>{_N})分?|整)? )? )
    """
)
_EN: Final = Pattern(
    rf"""(?x)
    (?: (?:every|each|on|weekly\ on)?\ ?(?P<days>{_DAY_EN}(?:\ ?(?:,\ ?and|,|and|&)\ ?{_DAY_EN})*)
      | (?:(?:every|each|on)\ )?(?P<workdays>(?:week|work(?:ing)?\ ?)days?)
      | (?:(?:every|each|on)\ )?(?P<weekend>weekends?)
      | (?P<last>(?:on\ )?the\ last\ day\ of\ (?:every|each|the)\ month)
      | (?:every\ month|each\ month|monthly)(?:\ on\ the\ (?P<date>\d{{1,2}})(?:st|nd|rd|th)?)?
      | (?:on\ )?the\ (?P<date2>\d{{1,2}})(?:st|nd|rd|th)?\ (?:day\ )?of\ (?:every|each|the)\ month
      | (?P<daily>every\ ?day|each\ day|daily|(?:every|each)\ (?P<when>morning|evening|night)|nightly) )
    (?:\ (?:at\ )?(?:{_TIME_EN}))?
    """
)
_PARTS_EN: Final = {"morning": 8, "evening": 20, "night": 22}
_PARTS_ZH: Final = {
    "半夜": 0, "午夜": 0, "凌晨": 3, "清晨": 6, "早上": 8, "早晨": 8, "早": 8, "上午": 10, "中午": 12,
    "下午": 14, "傍晚": 18, "晚上": 20, "晚间": 20, "晚": 20, "夜里": 23, "夜": 23,
}  # fmt: skip
_NIGHT: Final = frozenset({"晚上", "晚间", "晚", "夜里", "夜", "night", "at night"})
_AFTERNOON: Final = _NIGHT | {"下午", "傍晚", "afternoon", "evening"}
_MORNING: Final = frozenset({"凌晨", "清晨", "早上", "早晨", "早", "上午", "morning"})
_LATE: Final = 5
"""Three at night is three o'clock, eight at night is twenty: from this hour on, the evening is meant."""


class NotUnderstood(ValueError):
    """These words name no schedule that is known."""


def cron_of(words: str) -> str:
    """Return five cron fields (minute, hour, day of month, month, day of week; Sunday 0). Raises NotUnderstood."""
    text = " ".join(unicodedata.normalize("NFKC", words).casefold().split()).rstrip("。.!")
    if _CRON.fullmatch(text):
        return text.upper() if "l" in text else text
    if any("\u4e00" <= sign <= "\u9fff" for sign in text):
        return _chinese(text.replace(" ", ""))
    return _english(text)


def _chinese(text: str) -> str:
    hours = _HOURS_ZH.fullmatch(text)
    if hours:
        return _every(_number(hours["every"]) if hours["every"] else 1)
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
        hour = _hour_of_day(part, hour)
    if found["weekly"]:
        numbers = [sign for sign in found["days"] if sign in _WEEK_ZH + "天1234567"]
        days = [int(sign) if sign.isdecimal() else _WEEK_ZH.index(sign.replace("天", "日")) + 1 for sign in numbers]
        return _fields(minute, hour, week=(day % 7 for day in days))
    if found["monthly"]:
        return _fields(minute, hour, dates=map(_number, Pattern(_N).findall(found["dates"])))
    return _named(found.groupdict(), minute, hour)


def _hour_of_day(part: str | None, hour: int) -> int:
    """Return the hour on a clock of 24: 下午三点 is 15, 夜里三点 is 3, 晚上十二点 and 凌晨十二点 are 0, 中午一点 is 13."""
    if part in _MORNING and hour > 12:
        raise NotUnderstood
    if part in _NIGHT and 0 < hour < _LATE:
        return hour
    if part in _AFTERNOON and hour <= 12:
        hour = hour + 12 if hour < 12 else (0 if part not in {"下午", "傍晚"} else 12)
    elif part == "中午" and hour < 11:
        hour += 12
    elif part in {"凌晨", "半夜", "午夜"} and hour == 12:
        hour = 0
    return hour


def _english(text: str) -> str:
    hours = _HOURS_EN.fullmatch(text)
    if hours:
        return _every(int(hours["every"] or 1))
    found = _EN.fullmatch(text)
    if not found:
        raise NotUnderstood
    when = found["when"] or ("night" if text.startswith("nightly") else None)
    hour, minute = _PARTS_EN.get(when or "", DEFAULT_HOUR), 0
    if found["named"]:
        hour = 0 if found["named"] == "midnight" else 12
    elif found["hour"]:
        hour, minute = (
            _clock(found["hour"], found["half"], found["part"] or found["night"] or when),
            int(found["minute"] or 0),
        )
    if found["days"]:
        names = Pattern(_DAY_EN).findall(found["days"])
        return _fields(minute, hour, week=(_DAYS_EN.index(name[:3]) for name in names))
    date = found["date"] or found["date2"]
    if date or text.startswith(("every month", "each month", "monthly")):
        return _fields(minute, hour, dates=[int(date or 1)])
    return _named(found.groupdict(), minute, hour)


def _clock(hour: str, half: str | None, part: str | None) -> int:
    number = int(hour)
    told = half is not None and half[0] in "ap"
    if told and not 1 <= number <= 12:
        raise NotUnderstood
    if part in _MORNING and number > 12:
        raise NotUnderstood
    if not told and part in _NIGHT and 0 < number < _LATE:
        return number
    late = (half or "").startswith("p") if told else part in _AFTERNOON
    if late and number < 12:
        return number + 12
    early = (half or "").startswith("a") if told else part in {"morning", "at night", "night"}
    return 0 if early and number == 12 else number


def _named(found: dict[str, str | None], minute: int, hour: int) -> str:
    if found.get("workdays") or found.get("range"):
        return _fields(minute, hour, week=range(1, 6))
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
