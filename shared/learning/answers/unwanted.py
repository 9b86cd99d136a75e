"""Sentences that look like facts and are none: refusals, talk about the task or the assistant, the prompt's own words, inventions.

Judged in both languages over text whose secrets are masked. Where in doubt a sentence passes: what is lost here is lost for good.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, Self

from shared.learning.prompts.extract import LANGUAGES, example_facts, wording
from shared.text.normalise import full_width_length, has_words, language, normalise
from shared.text.pattern import Pattern
from shared.text.secrets import MASK

_THINGS: Final = r"(?:facts?|memor(?:y|ies)|information|details?|preferences?|statements?|content|data)"
_META = Pattern(
    rf"""(?ix)
      ^\W*(?:none|nothing|null|n/?a|empty|unknown|not\s+applicable|no\s+{_THINGS}|nothing\s+to\s+\w+|无|没有|暂无|空|不适用|未知)\W*$
    | \b(?:no|not\s+any|zero|without\s+any)\s+(?:[\w-]+\s+){{0,3}}{_THINGS}\b.{{0,40}}\b(?:found|extract\w*|worth|identified
        |detected|available|provided|present
        |mentioned|shared|to\s+(?:extract|remember|store|save|note|report|record)|in\s+(?:this|the)\s+(?:conversation|text|message
        |dialogue))\b
    | \bno\s+(?:\w+[,\s]+){{0,2}}(?:extractable|relevant|notable|memorable|lasting|long-term|noteworthy
        |explicit)\s+(?:\w+\s+){{0,2}}{_THINGS}\b
    | \bnothing\b.{{0,30}}\b(?:worth|to)\s+(?:remember|stor|sav|not|extract|record)\w*
    | \bI(?:\s+am|['’]m)?\s*(?:can(?:not|['’]?t)|unable|not\s+able|could\s?n[o'’]t|sorry|apologi[sz]e|won['’]t|do\s+not
        |don['’]t)\b.{{0,50}}
        \b(?:extract|identify|assist|comply|fulfil\w*|help\s+(?:you\s+)?with|process\s+this|access\s+to\s+(?:previous|earlier
        |the\s+conversation))
    | \bas\s+an?\s+(?:AI|artificial|large\s+language|language)\b
    | \b(?:conversation|dialogue|chat|text|messages?|user|person)\b.{{0,20}}(?:\b(?:does|do|did|has|have)(?:\s+not|n['’]t)|\bnever)\s+
        (?:contain|provide|share|mention|reveal|include|state|disclose|express)\w*\s+(?:any|enough|specific|personal|explicit
        |lasting|long-term)
    | \b(?:conversation|dialogue|chat)\b.{{0,20}}\b(?:contains?|has|have|includes?|holds?)\s+(?:no|nothing|neither)\b
    | \bnot\s+enough\s+(?:information|context)\b.{{0,30}}(?:extract|determine|$)
    | (?:没有|暂无|并无|未能|未|无法|不能|找不到|不存在|无)(?:[^，。；]{{0,10}})(?:值得|可供?|需要|能够?|适合|任何|发现|提取|识别
        |找到|检测)(?:[^，。；]{{0,12}})
        (?:记住|记忆|提取|抽取|记录的|长期(?:事实|信息)|事实)
    | (?:无法|不能|未能|没有)(?:从.{{0,16}})?(?:提取|抽取|识别)(?:出|到)?(?:任何|有效|相关|明确)?.{{0,6}}(?:事实|信息|内容|记忆|偏好)
    | (?:对话|会话|聊天|文本|内容)(?:记录)?(?:中|里)?(?:并)?(?:没有|未|不)(?:包含|提供|提到|出现|涉及)?.{{0,6}}(?:长期|值得|明确
        |有效|任何|个人).{{0,8}}(?:信息|事实|内容|偏好)
    | (?:抱歉|对不起|很遗憾).{{0,8}}(?:无法|不能|没法) | 作为(?:一个|一名|一款)?(?:AI|人工智能|语言模型|大模型)
    """
)
_ASSISTANT = Pattern(
    r"""(?ix)
      ^\W*(?:you\s+are|you['’]re|i\s+am|i['’]m)\s+(?:\w+[,\s]+){0,4}(?:AI|assistant|chatbot|language\s+model|extractor)\b
    | ^\W*you\s+(?:are|must|should|read|answer|will|note)\b | \byour\s+(?:task|job|role|output|answer)\s+(?:is|must|should)\b
    | ^\W*(?:the\s+|this\s+)?(?:AI\s+)?assistant\b(?:['’]s\s+name)?\s+(?:is|was|has|should|must|will|can|could|suggest|recommend
        |said|told|explain|provid
        |offer|answer|help|prefer|like|advis|respond|mention)
    | ^\W*(?:这个|该|本|AI|智能)?\s?(?:助手|助理|智能体)(?:的名字|名叫|叫|是|会|应|必须|建议|推荐|说|认为|告诉|提供|解释|回答|喜欢
        |偏好|表示)
    | ^\W*你(?:是|的任务|的职责|应该?|必须|需要|只用|阅读) | ^\W*我是(?:一个|一名|一款|你的)?.{0,6}(?:AI|人工智能|助手|语言模型)
    """
)
_LATIN = Pattern(r"[A-Za-z\u00c0-\u024f0-9]{3,}")
_HAN = Pattern(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_PREFIX = 4
_SAID_OF_ANYONE: Final = frozenset(
    (
        "user",
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "uses",
        "use",
        "using",
        "has",
        "have",
        "are",
        "was",
        "pers",
        "like",
        "pref",
        "does",
        "not",
    )
)
_SAID_OF_ANYONE_ZH: Final = frozenset("用户的是了在和有不喜欢使偏好这那他她一个人")
_LONG_ENOUGH_TO_BE_COPIED: Final = 10


def meta(text: str) -> bool:
    """Whether the sentence refuses, or says that there is nothing to say."""
    return _META.search(text) is not None


def about_assistant(text: str) -> bool:
    """Whether the sentence speaks of the assistant or to it."""
    return _ASSISTANT.search(text) is not None


def only_placeholder(text: str) -> bool:
    """Whether nothing but masks would be left to show."""
    return MASK in text and not has_words(text.replace(MASK, ""))


def from_prompt(text: str) -> bool:
    """Whether the sentence was copied from the prompt: a fact of an example, or a piece of its rules."""
    plain = normalise(text).casefold()
    if plain.rstrip("。.") in example_facts() or plain in example_facts():
        return True
    return full_width_length(plain) >= _LONG_ENOUGH_TO_BE_COPIED and any(
        plain in _folded(tongue) for tongue in LANGUAGES
    )


@cache
def _folded(tongue: str) -> str:
    return normalise(wording(tongue)).casefold()


@dataclass(frozen=True, slots=True)
class Grounds:
    """The words and the language of what was said, and the words that only tools and documents brought in."""

    words: frozenset[str]
    foreign: frozenset[str]
    language: str

    @classmethod
    def of(cls, said: str, foreign: str = "") -> Self:
        """Take the words of what was said, and of what came from elsewhere."""
        words = _words(said)
        return cls(frozenset(words), frozenset(_words(foreign) - words), language(said))

    def from_elsewhere(self, fact: str) -> bool:
        """Whether more of the fact's words came only from tools and documents than were said."""
        words = _words(fact)
        return len(words & self.foreign) > len(words & self.words)

    def share_words(self, fact: str) -> bool:
        """Whether the fact has at least one word of the text, or none that could tell."""
        words = _words(fact)
        return not words or not self.words.isdisjoint(words)

    def share_language(self, fact: str) -> bool:
        """Whether the fact is in the text's language, or in another of which half of its words stand there."""
        words = _words(fact)
        return language(fact) == self.language or not words or 2 * len(words & self.words) >= len(words)


def _words(text: str) -> set[str]:
    """Return the beginnings of Latin words and the single Chinese characters that say something."""
    latin = {word.lower()[:_PREFIX] for word in _LATIN.findall(text)} - _SAID_OF_ANYONE
    return latin | (set(_HAN.findall(text)) - _SAID_OF_ANYONE_ZH)
