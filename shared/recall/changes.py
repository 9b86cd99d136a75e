"""Words by which people say that a fact has changed, and what kind of answer a question wants, in English and Chinese.

Patterns over folded text (shared/text/scripts.py) in simplified characters; it knows nothing of memories or scores.
"""

import re
from re import Match, Pattern
from typing import Final

_PERIOD: Final = (
    r"(?:now|then|today|tomorrow|yesterday|(?:this |last |next )?(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december|spring|summer|autumn|fall|winter|week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{4}))"
    r"(?: \d{4})?"
)
_SINCE: Final = (
    r"\b(?:now|nowadays|currently|lately|recently|already|today|these days|at the moment|at present|presently|any ?more|after all|instead"
    rf"|finally|newly|new|update|updated|going forward|no longer|(?:from|as of|starting|since|effective) {_PERIOD}(?: on(?:wards)?)?)\b"
    r"|现在|如今|目前|眼下|现已|最近|近来|已经|今后|以后|往后|从[^，,。]{1,4}起|[今本这][年月周]起|更新[:：]?|不再|不用再|了(?=$|[，,。！；])"
)
_CHANGED: Final = (
    "moved|moving|switched|changed|migrated|pushed|postponed|rescheduled|shifted|raised|lowered|increased|decreased|reduced|cut|bumped|extended"
    "|shortened|went up|went down|rebooked|replaced|took over|taken over|became|become|turned|renamed|upgraded|downgraded|converted"
    "|transferred|relocated|gave up|given up|dropped|quit|sold|rewrote|rewritten|gets|got"
)
_BECOMES: Final = "改|换|调整?|变|转|搬|迁移?|推迟?|延[迟长]?|提前|涨|升|降|增加?|追加|减|交"
_ALTERED: Final = "改(?![进善革编造良正])"
_CHANGES: Final = (
    rf"\b(?:(?:has|have|had|was|were|is|are|be|we|they|we've|they've) )*+(?:been |being )?(?:{_CHANGED})"
    rf"(?: (?:back|up|down|over|on|out))?(?: (?:to|into|from|with))?\b"
    rf"|(?:{_BECOMES})[成为到在用由叫至去给]了?|{_ALTERED}|换了?|成了|放弃|接[手替]"
)
_REPLACES: Final = (
    rf"\b(?:{_CHANGED})\b[^.;]{{0,80}}?\b(?:to|into|for|with|in|as)\b|\b(?:no longer|instead of|become|became|replaced)\b"
    rf"|(?:{_BECOMES})[成为到在用由叫至给]|{_ALTERED}|换了|成了|不再|不用|放弃|接替"
)
_NUMBER: Final = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|hundred|hour|half|noon|midnight|evening|morning"
    r"|afternoon|night|sunrise|sunset|mon|tues|wednes|thurs|fri|satur|sun)(?:days?|s)?\b"
    r"|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b|[一二三四五六七八九十百千万两半早晚晨]"
)
_PLACE: Final = r"\b(?:in|at|on|to|near|from|by|behind|under|with|inside|into|over)\b|[在到往住去]"
_WHERE: Final = r"\bwhere\b|哪里|哪儿|在哪|什么地方|何处"
_COUNT: Final = (
    r"\bwhen\b|\bwhat time\b|\bhow (?:many|much|long|old|often|far|tall|big)\b|\bwhich (?:day|date|year|month)\b"
    r"|什么时候|何时|几|多[少久大长]|哪[天年月日]"
)

_SINCE_WORDS: Final = re.compile(_SINCE)
_CHANGE_WORDS: Final = re.compile(f"{_SINCE}|{_CHANGES}")
_REPLACING: Final = re.compile(_REPLACES)
_KINDS: Final = tuple(
    (re.compile(asks), re.compile(answers)) for asks, answers in ((_WHERE, _PLACE), (_COUNT, _NUMBER))
)


def without(flat: str) -> str:
    """The text without its words of change."""
    return _CHANGE_WORDS.sub(_nothing, flat)


def speaks_of_change(flat: str) -> bool:
    """Whether a text has a word of change at all: `now`, `since June`, 现在, 改到."""
    return bool(_CHANGE_WORDS.search(flat))


def replaces(flat: str) -> bool:
    """Whether a text says what took the place of something: `moved to`, `no longer`, 换成, 不再."""
    return bool(_REPLACING.search(flat))


def missing(question: str, text: str) -> bool:
    """Whether a question asks for a place, a time or a number, and the text holds nothing that could be one."""
    asked: list[Pattern[str]] = [answers for asks, answers in _KINDS if asks.search(question)][:1]
    return any(not answers.search(_SINCE_WORDS.sub(_nothing, text)) for answers in asked)


def _nothing(found: Match[str]) -> str:
    """A space between Latin words; between Han characters none, so that those beside each other are a pair."""
    return " " if found.group()[0].isascii() else ""
