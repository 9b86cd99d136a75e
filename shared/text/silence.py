"""The wish that something is not kept: "don't save this", 这个别记, 勿存, "off the record".

A rule is made of a negation and a verb of keeping, or a place where words are kept, in both languages and, folded, in both Chinese scripts,
and of what it speaks of: "this" and what is one's own reach further than a thing that is named. The words stand in `silence_en.py` and
`silence_zh.py`. Statements about oneself or a system ("we never store card numbers") are no wish, as long as they do not speak of "this".
In doubt it is a wish: what was kept against one's will is worse than what was not.
"""

import re
from typing import Literal

from shared.text import silence_en, silence_zh
from shared.text.han import simplified
from shared.text.pattern import Pattern

Reach = Literal["", "sentence", "message", "conversation"]

_SAID_EN = Pattern(rf"(?i){silence_en.SAID}")
_SAID_ZH = Pattern(silence_zh.SAID)
"""Two patterns, for each is long: a text of one language costs no cold start for the other."""
_BROAD = Pattern(rf"(?i){silence_en.BROAD}")
_LATIN = Pattern(r"[A-Za-z]")
_YOU = Pattern(r"(?i)\b(?:you|this|these)\b")
_WHOLE = Pattern(rf"(?i){silence_en.WHOLE}|{silence_zh.WHOLE}")
_NAMED = Pattern(rf"(?i){silence_en.NAMED}|{silence_zh.NAMED}")
_THING = Pattern(silence_zh.THING)
_MAYBE = Pattern(rf"(?i){silence_en.MAYBE}|{silence_zh.MAYBE}")
"""What every such wish holds: most sentences are told by it in one pass."""
_CONVERSATION = r"(?:this|the|our)\s+(?:whole\s+|entire\s+)?(?:conversation|chat|session)\b|[这本整][个次段场]?(?:对话|会话|聊天|谈话)"
_BACK = Pattern(
    r"(?i)(?:\W|(?:please|actually|wait|sorry|oh|no|ok(?:ay)?|well|oops|thanks?|thank you|h?m+|never\s?mind|from|in"
    r"|anything|what|last|one|message|note|i (?:just )?(?:said|told you|mentioned|wrote))\b"
    rf"|{_CONVERSATION}|等等|等一?下|[哎诶唉哦啊嗯请我你您]|麻烦|拜托|千万|算了|谢谢|抱歉|对不起|不好意思|[这那上前]一?[条句个段事]|就[好行]"
    r"|刚[才刚]|我?说的|消息|笔记|话|内容|[下起]?来|[了吧啦的里它])*"
)
"""What is left of a wish that speaks of what was said before and of nothing else: it points, and sighs."""
_NAMES_IT = Pattern(rf"(?i)\b{_CONVERSATION}")
_SIGNS = str.maketrans("’‘ʼ＇", "''''")


def folded(text: str) -> str:
    """Return the text in the simplified script with straight apostrophes; its length stays."""
    return text if text.isascii() else simplified(text).translate(_SIGNS)


def suppresses(text: str) -> Reach:
    """How far "不要保存 / don't save" in this text reaches: "" · "sentence" · "message" · "conversation"."""
    plain = folded(text)
    if not _MAYBE.search(plain):
        return ""
    if _WHOLE.search(plain):
        return "conversation"
    if _said(plain):
        return "message"
    return "sentence" if _named(plain) else ""


def without_suppression(text: str) -> str:
    """What is left of the text without its "不要保存 / don't save this"."""
    plain = _SAID_EN.sub("", folded(text))
    return (plain if plain.isascii() else _SAID_ZH.sub("", plain)).strip()


def points_back(text: str) -> bool:
    """Whether what is left of such a wish speaks of what was said before, and of nothing else: "Actually, don't save that note"."""
    return _BACK.fullmatch(without_suppression(text)) is not None


def names_thing(text: str) -> bool:
    """Whether what is not to be kept is a thing, and not what was said: 别把这个文件存下来. English says so by `suppresses` alone."""
    return _THING.search(folded(text)) is not None


def names_conversation(text: str) -> bool:
    """Whether a text speaks of the conversation that it is part of."""
    return _NAMES_IT.search(folded(text)) is not None


def _said(plain: str) -> bool:
    """Whether a text in one of the two languages wishes that "this" or what is one's own is not kept."""
    if not plain.isascii() and _SAID_ZH.search(plain):
        return True
    if not _LATIN.search(plain):
        return False
    return any(map(_asked, _SAID_EN.finditer(plain))) or any(map(_meant, _BROAD.finditer(plain)))


def _asked(found: re.Match[str]) -> bool:
    """Whether a match is a wish: neither what one does oneself ("we never store it") nor a wish to keep ("don't delete this from it")."""
    return not found["who"] and not found["keeps"]


def _meant(found: re.Match[str]) -> bool:
    """Whether a broad match is a wish: one about oneself is one only where "you" or "this" is not to keep ("I do not consent to you …")."""
    return not found["whose"] or _YOU.search(found["room"]) is not None


def _named(plain: str) -> bool:
    """Whether something that is named is not to be kept: "don't save passwords in plain text". What one does not remember is no wish."""
    return any(not _OF_ONESELF.search(plain, 0, found.start()) for found in _NAMED.finditer(plain))


_OF_ONESELF = Pattern(r"(?i)\b(?:i|we|they|he|she|people|users|who|which)\s+(?:\w+ly\s+|just\s+|also\s+|still\s+)?$")
