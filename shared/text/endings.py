"""Messages that end a session: thanks, a goodbye, "that is all"; or the wish to have the notes summed up. Only a whole message counts.

Read in the simplified script and without signs and pictures: 謝謝🙏 is 谢谢.
"""

from shared.text.pattern import Pattern
from shared.text.silence import folded

_THANKS_EN = (
    r"(?:(?:thank\ (?:you|u)|thanks?|thx|ty|cheers)(?:\ (?:so|very|a)\ (?:much|lot|million|bunch"
    r"|ton))?(?:\ again)?|many\ thanks|much\ appreciated|(?:i\ )?appreciate\ it)"
)
_FOR_EN = (
    r"(?:\ for\ (?:(?:all\ )?(?:(?:your|the)\ )?(?:help|time|support|assistance|answers?|patience)|everything|that"
    r"|today|now)(?:\ (?:today|tonight|now))?)"
)
_BYE_EN = (
    r"(?:(?:good\ ?)?(?:bye|night)(?:\ (?:bye|now|then))?|(?:see|talk\ to|catch)\ (?:you|ya|u)(?:\ (?:later|soon"
    r"|tomorrow|next\ time|then|around|again))*"
    r"|have\ a\ (?:good|nice|great)\ (?:day|one|evening|night|weekend)|take\ care|ttyl|cya)"
)
_DONE_EN = (
    r"(?:got\ it|ok(?:ay)?|(?:(?:i|we)(?:'m|'re|\ am|\ are)\ )?(?:all\ )?(?:done|set|finished)(?:\ here)?|end"
    r"|that(?:'?s|\ is|'ll\ be|\ will\ be)\ (?:all|it)|no(?:thing)?\ (?:more|else))"
)
_THANKS_ZH = (
    r"(?:(?:非常|十分|太|真)?(?:感谢|谢谢|多谢|谢(?=[了啦])|辛苦)(?:你们?|您|大家)?(?:了|啦|哈|呀)?(?:的?(?:帮助"
    r"|帮忙|支持|耐心|回答|解答))?)"
)
_BYE_ZH = r"(?:拜拜|再见|再会|晚安|回见|(?:明天|下次|回头|改天|下周)(?:再?见|继续|再说|再聊|聊)|886?)"
_DONE_ZH = (
    r"(?:好的?|行|结束|完成|搞定|可以|收工|(?:今天|这次)?(?:就|先)?(?:这样|到这(?:里|儿)?|到此为止|聊到这(?:里"
    r"|儿)?)|没(?:有)?(?:别的|其他|什么)?(?:问题|事)?了|没事)"
    r"(?:吧|了|啦)*"
)
_ENDS = Pattern(
    rf"""(?ix)
    (?:(?:ok(?:ay)?|great|perfect|cool|no|yes|well|so|好的?|嗯+|行|太好了|那|不用了|没有|hey)\ )*+
    (?> (?:(?:那|好的?|今天|嗯+|行)\ ?)*?(?:{_THANKS_ZH}|{_BYE_ZH}|{_DONE_ZH}) | {_THANKS_EN}{_FOR_EN}* | {_BYE_EN} | {_DONE_EN}{_FOR_EN}* )
    (?>\ ?(?:{_THANKS_EN}{_FOR_EN}*|{_BYE_EN}|{_DONE_EN}|{_THANKS_ZH}|{_BYE_ZH}|{_DONE_ZH}|[吧啦了]))*+
    """
)
_SUMS_UP = Pattern(
    r"""(?ix)
    (?:(?:请|麻烦|好的?|帮我|给我)\ ?)*(?:汇总|总结|整理)(?:一下|下)?(?:今天的?|本次的?|这次的?)?(?:记忆|会话|笔记|对话)(?:吧|了|\ ?谢谢)*
    | (?:ok(?:ay)?\ |please\ |can\ you\ |could\ you\ )*(?:sum\ up|summari[sz]e|wrap\ up)
      \ (?:the\ |my\ |our\ |this\ |today's\ )*(?:memor(?:y|ies)|session|notes)
      (?:\ (?:please|now|thanks|thank\ you))*
    """
)
_LONGEST = 80


def ends(message: str) -> bool:
    """Whether the whole message says that the talk is over: "谢谢，拜拜", "done, thanks!"; not a sentence that only holds such a word."""
    return _ENDS.fullmatch(_bare(message)) is not None


def sums_up(message: str) -> bool:
    """Whether the whole message asks to have the session's notes made into memories: "汇总记忆", "summarise my notes"."""
    return _SUMS_UP.fullmatch(_bare(message)) is not None


def _bare(message: str) -> str:
    """Return the words with one space in place of signs, pictures and white space; nothing of a message that says more than a goodbye."""
    if len(message) > 4 * _LONGEST:
        return ""
    words = "".join(sign if sign.isalnum() or sign == "'" else " " for sign in folded(message)).split()
    bare = " ".join(words)
    return bare if len(bare) <= _LONGEST else ""
