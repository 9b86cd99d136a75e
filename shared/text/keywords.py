"""The words that make a sentence worth keeping, for both languages, with the category and importance they give.

The lists of Memory Skill 2.0 stand first in each row; inflections and everyday synonyms follow. English matches whole
words, Chinese pieces of text. Phrases that only look like a keyword ("looks like", "API key", "不确定") are taken out
before matching. Python's `re` only; patterns are built on first use.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from shared.text.han import simplified
from shared.text.normalise import has_han, normalise
from shared.text.pattern import Pattern


class Words(NamedTuple):
    """An owner's own words per language: custom (kept when they occur) or excluded (never kept)."""

    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()


class Trigger(NamedTuple):
    """One kind of keyword: what a sentence that holds one of its words becomes."""

    kind: str
    category: str
    importance: int
    zh: tuple[str, ...]
    en: tuple[str, ...]


# In order of precedence: the first row that matches names the category.
TRIGGERS: tuple[Trigger, ...] = (
    Trigger(
        "constraint",
        "constraint",
        10,
        (
            "必须",
            "禁止",
            "不允许",
            "不得",
            "务必",
            "严禁",
            "千万不",
            "千万别",
            "绝不能",
            "绝对不能",
            "只能用",
            "不可以用",
            "不能用",
        ),
        (
            "must",
            "must not",
            "mustn't",
            "forbidden",
            "not allowed",
            "have to be",
            "has to be",
            "non-negotiable",
            "are required to",
        ),
    ),
    Trigger(
        "decision",
        "decision",
        8,
        ("决定", "选择", "采用", "确定", "选定", "敲定", "定下来", "改用", "换成"),
        (
            *(
                "decide",
                "decides",
                "decided",
                "deciding",
                "decision",
                "choose",
                "chooses",
                "chose",
                "chosen",
                "choosing",
            ),
            *("adopt", "adopts", "adopted", "adopting", "select", "selects", "selected", "selecting"),
            *(
                "settled on",
                "went with",
                "going with",
                "agreed on",
                "agreed to",
                "switched to",
                "switching to",
                "migrated to",
            ),
        ),
    ),
    Trigger(
        "preference",
        "preference",
        6,
        ("喜欢", "习惯", "偏好", "风格", "方式", "讨厌", "最爱", "更爱", "偏爱", "不爱", "受不了"),
        (
            *("prefer", "prefers", "preferred", "preferring", "preference", "preferences", "like", "likes", "liked"),
            *(
                "habit",
                "habits",
                "style",
                "styles",
                "way",
                "ways",
                "love",
                "loves",
                "hate",
                "hates",
                "dislike",
                "dislikes",
                "enjoy",
            ),
            *("enjoys", "favourite", "favorite", "favourites", "favorites", "can't stand", "fond of"),
        ),
    ),
    Trigger(
        "configuration",
        "knowledge",
        7,
        ("配置", "设置", "规范", "约定", "命名", "前缀", "默认值"),
        (
            *("config", "configs", "configuration", "configured", "configure", "configures", "setting", "settings"),
            *("convention", "conventions", "naming", "prefix"),
        ),
    ),
    Trigger(
        "plan",
        "event",
        5,
        ("下一步", "待办", "计划", "打算", "TODO", "Todo"),
        ("next step", "next steps", "todo", "todos", "to-do", "plan", "plans", "planned", "planning", "going to"),
    ),
    Trigger(
        "important",
        "knowledge",
        8,
        ("重要", "记住", "注意", "关键", "核心", "切记", "别忘了"),
        (
            "important",
            "importantly",
            "remember",
            "note",
            "key",
            "core",
            "crucial",
            "critical",
            "keep in mind",
            "don't forget",
        ),
    ),
    Trigger(
        "usage",
        "decision",
        8,
        ("使用", "用的是", "选用"),
        ("use", "uses", "used", "using", "built with", "builds with", "runs on", "written in"),
    ),
)

CUSTOM_CATEGORY, CUSTOM_IMPORTANCE = "knowledge", 8

_LOOK_ALIKES = Pattern(
    r"""(?ix)
    \b(?:look|feel|sound|seem|smell|taste|act|behave|work|look(?:s|ed)|feels|felt|sounds|seems|works|just|more|much|rather|something|anything
        |nothing|stuff|things?|is|it's|was)\s+like\b (?!\s+to\b)
    | \blike\s+(?:this|that|these|those|so|when|if|in)\b | \bfeel\s+like\b | \bwould\s+like\s+(?:you\s+)?to\b
    | \b[a-z]+'d\s+like\s+(?:you\s+)?to\b
    | \b(?:by\s+the|no|any|either|on\s+(?:my|the)|under
        |half|all\s+the|in\s+a|a\s+long|right|out\s+of\s+the|this|that|some|one|other|same)\s+ways?\b
    | \bway\s+(?:too|more|better|worse|less|to\s+go|out|back)\b | \bthe\s+way\s+(?:it|this|that|they)\b
    | \buse(?:d)?\s+cases?\b | \bno\s+use\b | \bof\s+(?:no\s+)?use\b | \bin\s+use\b | \buse\s+of\b | \bget(?:ting)?\s+used\s+to\b
    | \b(?:api|access|secret|private|public|primary|foreign|partition|sort|ssh|gpg|signing|encryption
        |cache|dictionary|enter|arrow|hot|shift)[\s_-]*keys?\b
    | \bkey[\s-]*(?:value|press|board|stroke|word|error|pair)s?\b | \bcore\s*(?:dump|i\d|s\b) | \b\d+[\s-]*cores?\b | \bnote(?:book|pad)s?\b
    | \bmust\s+(?:be\s+(?:joking|kidding|a\s+bug|something|nice|wrong)|have\s+been)\b | \bgoing\s+to\s+(?:the|a|sleep|bed)\b
    | 不确定 | 确定吗 | 能确定 | 无法确定 | 没确定 | 关键[词字] | 使用(?:说明|手册|方法|次数|率|量)
    | 联系方式 | 不好意思 | 没什么重要 | 不重要 | 计划书
    """
)
_SQL_SELECT = Pattern(r"\bSELECT\b")
_DURABLE = Pattern(
    r"(?i)\b(?:always|never|from\s+now\s+on|every\s+time|in\s+(?:the\s+)?future|by\s+default|whenever|any\s+time)\b|以后|今后|往后|每次|一律|永远|始终|总是|从来不|从不|默认"
)


def triggers(text: str) -> list[Trigger]:
    """Return the kinds of keyword that occur in the sentence, in order of precedence."""
    plain = _LOOK_ALIKES.sub(" ", _SQL_SELECT.sub(" ", simplified(text)))
    return [trigger for trigger in TRIGGERS if _pattern(trigger).search(plain)]


def holds(text: str, words: Words) -> bool:
    """Whether one of the owner's own words occurs: English as a whole word in any case, Chinese anywhere, in either script."""
    pattern = _own_pattern(tuple(words.zh), tuple(words.en))
    return pattern is not None and pattern.search(simplified(text)) is not None


def found(text: str, words: Words) -> list[str]:
    """Return those of the owner's own words that occur, as the settings hold them, once each in the order of the text."""
    pattern = _own_pattern(tuple(words.zh), tuple(words.en))
    if pattern is None:
        return []
    held = {normalise(simplified(word)).casefold(): word for word in (*words.zh, *words.en)}
    hits = [normalise(hit.group()) for hit in pattern.finditer(simplified(text))]
    return list(dict.fromkeys(held.get(hit.casefold(), hit) for hit in hits))


def durable(text: str) -> bool:
    """Whether the sentence speaks of every time to come ("always", "以后"): then even an order is a preference."""
    return _DURABLE.search(simplified(text)) is not None


def lasting_order(text: str) -> bool:
    """Whether the sentence opens with every time to come: "以后都用…", "from now on …"."""
    return _DURABLE.match(simplified(text)) is not None


def words_of(pairs: Iterable[tuple[str, Sequence[str]]]) -> Words:
    """Build Words from the settings' form, e.g. `settings.custom_keywords.items()`; unknown languages are ignored."""
    lists = dict(pairs)
    return Words(tuple(lists.get("zh", ())), tuple(lists.get("en", ())))


def _either(zh: Iterable[str], en: Iterable[str]) -> str:
    english = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in en)
    chinese = "|".join(re.escape(word) for word in zh)
    parts = [f"(?<![A-Za-z0-9_-])(?:{english})(?![A-Za-z0-9_]|-[A-Za-z])" if english else "", chinese]
    return "|".join(part for part in parts if part)


@cache
def _pattern(trigger: Trigger) -> re.Pattern[str]:
    return re.compile(_either(trigger.zh, trigger.en), re.IGNORECASE)


@lru_cache(maxsize=64)
def _own_pattern(zh: tuple[str, ...], en: tuple[str, ...]) -> re.Pattern[str] | None:
    chosen = [simplified(word.strip()) for word in (*zh, *en) if word.strip()]
    source = _either([word for word in chosen if has_han(word)], [word for word in chosen if not has_han(word)])
    return re.compile(source, re.IGNORECASE) if source else None
