"""Messages that end a session: thanks, a goodbye, "that is all"; or the wish to have the notes summed up. Only a whole message counts."""

from shared.text.normalise import normalise
from shared.text.pattern import Pattern

_ENDS = Pattern(
    r"""(?ix)
    (?:(?:ok(?:ay)?|great|perfect|好|好的|嗯|行|太好了|那)[\s,，。!！、]*)*
    (?: thanks?(?:\ you)?(?:\ (?:so|very)\ much|\ a\ lot)? | thx | ty | cheers | got\ it | ok(?:ay)?
      | (?:all\ )?done | finished | end | (?:that(?:['’]?s|\ is)\ (?:all|it))(?:\ for\ (?:now|today))?
      | (?:good)?\s?bye(?:\ bye)? | see\ (?:you|ya)(?:\ (?:later|tomorrow))?
      | 谢谢(?:你|您|了|啦)? | 多谢(?:了)? | 感谢 | 辛苦(?:了|你了|您了)? | 好的?(?:吧|了|啦)? | 行(?:了|吧)?
      | 结束(?:了|吧)? | 完成(?:了)? | 搞定(?:了)? | 拜拜(?:了)? | 再见 | 明天(?:见|继续|再说)
      | (?:就|先)(?:这样|到这(?:里|儿)?)(?:吧|了)? | 没(?:有)?(?:别的|其他)?(?:问题|事)了 )
    (?:[\s,，。.!！~～、]*(?:thanks?(?:\ you)?|bye(?:\ bye)?|谢谢(?:你|您)?|辛苦了|拜拜|再见|吧|啦|了))*
    """
)
_SUMS_UP = Pattern(
    r"""(?ix)
    (?:请|麻烦)?(?:帮我)?(?:汇总|总结|整理)(?:一下)?(?:今天的|本次|这次)?(?:的)?(?:记忆|会话|笔记)
    | (?:please\ )?(?:sum\ up|summari[sz]e)\ (?:the\ |my\ |our\ )?(?:memor(?:y|ies)|session|notes)
    """
)
_MARKS = " \t\n,，。.!！~～、…"


def ends(message: str) -> bool:
    """Whether the whole message says that the talk is over: "谢谢，拜拜", "done, thanks!"; not a sentence that only holds such a word."""
    return _ENDS.fullmatch(normalise(message).strip(_MARKS)) is not None


def sums_up(message: str) -> bool:
    """Whether the whole message asks to have the session's notes made into memories: "汇总记忆", "summarise my notes"."""
    return _SUMS_UP.fullmatch(normalise(message).strip(_MARKS)) is not None
