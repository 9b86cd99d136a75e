"""The request to keep something: "remember this", "write that down", 记住这个, 把这条存下来.

It opens a clause, as an order does: a question ("did you save this file?", 你记住这个了吗) and an order about a file or a button is none.
Whoever asks in the same breath that nothing be kept asks for that.
"""

from shared.text.normalise import has_words
from shared.text.pattern import Pattern
from shared.text.questions import is_small_talk
from shared.text.silence import folded, suppresses

_IT = r"(?:this|that|these|those|the\s+following|the\s+fact\s+that)"
_POLITE_EN = r"(?:please|pls|plz|kindly|(?:can|could|would|will)\s+you)"
_FILL_EN = (
    rf"(?:(?:{_POLITE_EN}|hey|hi|ok|okay|and|also|but|so|now|just|always|then|oh|btw|by\s+the\s+way|for\s+(?:future"
    rf"|later)\s+reference"
    r"|you\s+(?:should|must|need\s+to|have\s+to|can)|(?:i|we)(?:'d|\s+would)?\s+(?:want|like|need)\s+you\s+to"
    r"|make\s+sure\s+(?:to|you|that\s+you)|be\s+sure\s+to"
    r"|don'?t\s+forget\s+to|try\s+to|let'?s|go\s+ahead\s+and)\b[\s,，]*){0,8}+"
)
_LATER = (
    r"\s+(?:for\s+(?:later|me|us|future\s+reference|next\s+time|the\s+future)|(?:in|to|into)\s+(?:your\s+|my\s+"
    r"|the\s+)?(?:long-term\s+)?memory|in\s+mind|down"
    r"|please|too|as\s+well|one|fact|info|information|detail|preference|decision|thought|point|rule)\b"
)
_END = r"(?=\s*(?:$|[^\w\s]))"
_OWN = r"(?=\s+(?:my|i|i'm|i've|i'd|we|we're|we've|our|to)\b)"
_TOLD = (
    r"(?=\s+(?!(?:me|us|what|how|who|whom|whose|when|where|why|which|whether|if|to|it|you|that\s+time|the\s+time)\b)[\w'-]++"
    r"(?:\s+(?!(?:to|and|or|when|if|how|what)\b)[\w'-]++){0,5}?\s+(?:is|are|was|were|has|have|uses?|must|should|can(?:no|')?t?|will|won't|needs?|runs?|goes)\b)"
)
"""A statement about a thing: the request is not to look it up but to keep what is said of it."""
_FORGET_EN = r"(?:don'?t|do\s+not|never)\s+forget"
_ME_EN = r"(?:it|me|us|him|her)"
_BODY_EN = (
    rf"(?:remember|memori[sz]e|{_FORGET_EN})(?:\s+{_IT}(?:{_LATER})?\b|{_OWN}|{_TOLD}|(?:\s+{_ME_EN})?{_END})"
    rf"|(?:save|store|record|log|archive|capture)\s+{_IT}(?:{_LATER}|{_END}|(?=\s+(?:my|i|i'm|i've|we|our)\b))"
    rf"|(?:save|store|record|remember|memori[sz]e)\s+it(?=\s*[:：])"
    rf"|note\s+{_IT}(?:{_LATER})?\b|(?:save|store|record|note(?:\s+to\s+self)?)(?=\s*[:：])|(?:save|note)(?=\s*[,，])"
    rf"|(?:write|jot|note|put|take|get)\s+(?:{_IT}|it)\s+down|(?:write|jot|note"
    rf"|take)\s+down\b(?:\s+{_IT})?(?!\s+(?:the|a|an|some|all)\b)"
    rf"|(?:make|take|keep)\s+(?:a\s+)?(?:note|record|memo)\b(?:\s+of)?(?:\s+{_IT})?(?!\s+(?:app|taking)\b)"
    r"|(?:add|put|commit|write)\s+(?:(?:this|that|it|these|the\s+following)\s+)?(?:in|to|into)\s+(?:your\s+|my\s+"
    r"|the\s+)?(?:long-term\s+)?(?:memory|notes)\b"
    rf"|(?:keep|bear)\s+(?:{_IT}\s+|it\s+)?in\s+mind\b(?:\s+that\b)?"
)
_START_EN = r"(?:^\s*|(?<=[.,;!?。，；！？、\n(（\"“—–-])[ \t]{0,4}|(?=\bplease\b))"

_REST = r"[^，。；：,;:！？!?\n]"
_POINT = r"(?:这|那|此|以下|下面|以上|上面|刚才)"
_POLITE_ZH = r"(?:请|麻烦|劳驾|拜托|帮我|帮忙|替我|给我|为我)"
_FILL_ZH = (
    rf"(?:{_POLITE_ZH}|你们?|您|要|务必|一定|必须|得|需要|千万|好好|牢牢|好的?|那么?(?![条个件些句段一])|另外|还有"
    rf"|对了|也|都|先|再|顺便|可以|以后|(?:记得|别忘了?)(?=[，, ]?(?:请|帮我|给我|替我)?[记存保备牢谨写把将加放录])|[，, ]){{0,8}}+"
)
_THING = (
    rf"(?!{_REST}{{0,6}}?(?:文件|文档|档案|图片|图(?:$|[^\w])|照片|截图|视频|页面|网页|按钮|表单|代码|脚本|草稿"
    rf"|邮件|附件|日志|表格|选项|进度|改动|修改|更改|数据|快照|镜像))"
)
_PIECE = (
    r"(?:(?:个|条|些|点|一点|一条|件事|句话?|段话?|份|则)?(?:信息|偏好|决定|事实|内容|想法|知识|规则|约定|事情?)"
    r"|个|条|些|点|一点|一条|件事|句话?|段话?|份|则)?"
)
_HERE = r"(?=$|[^\w]|[我吧哈啊哦呀喔咱])"
_FORGET_ZH = (
    r"(?:(?:不要|不能|不可|不许|千万别|别|切勿|请勿|勿|莫)(?:忘记|忘掉|忘)|(?<!你)(?<!们)(?<!您)记得)[了啊哦呀]?"
)
_SPOKEN_OF = r"(?!我(?:们)?(?:吗|么|上次|上回|之前|以前|先前|刚|昨|前|当时|说|讲|提|问))"
_DONE_ZH = r"(?!了(?:$|[^\w：:])|了?(?:[吗没么哪几谁]|什么|多少)|不了)"
_BODY_ZH = (
    rf"(?:记住|记牢|牢记|谨记)(?:了(?=[:：]|{_POINT}))?{_DONE_ZH}{_THING}(?:{_POINT}{_PIECE}|一下|下来|[我它他她]们?(?=$|[^\w]))?"
    rf"|{_FORGET_ZH}(?:{_POINT}{_PIECE}{_HERE}|[我它他她]们?(?=$|[^\w])|{_SPOKEN_OF}{_HERE})"
    rf"|(?:记一下|记录一下|记录下来?|记下来?|记一笔|存一下|存下来?|存起来|保存一下|保存下来?|备注一下|备忘一下|记上"
    rf"|记好|记着|存着|存好|写下来){_DONE_ZH}{_THING}(?:{_POINT}{_PIECE})?"
    rf"|(?:保存|存储|储存|存|收藏|记录|记)(?:住|下|好)?{_THING}{_POINT}{_PIECE}(?=$|[^\w]|[我吧哈啊哦]|下来"
    rf"|到记忆)(?:下来)?{_DONE_ZH}"
    r"|(?:保存|存储|储存|存|记录|记|备注|备忘)(?=\s*[:：])|保存(?=[，,])"
    rf"|(?:写|存|记|放|加|录|收|保存|添加)[入进到在]{_REST}{{0,4}}?记忆[里中库]*"
)
_PUT_ZH = rf"(?:把|将){_THING}(?:{_POINT}|它){_REST}{{0,12}}?"
_START_ZH = (
    rf"(?:^\s*|(?<=[，。；,;！？!?、\s（“「])|(?=请))(?:{_POINT}{_REST}{{0,8}}?(?=请|要|得|务必|必须|帮我|麻烦|一定"
    rf"|记住))?"
)
_FORCE = Pattern(
    rf"(?i){_START_EN}(?:{_FILL_EN})(?:{_BODY_EN})"
    rf"|{_START_ZH}{_FILL_ZH}(?:(?:{_BODY_ZH})|{_PUT_ZH}{_FILL_ZH}(?:{_BODY_ZH}|(?:保存|记录?|存)(?:好|住)?(?=$"
    rf"|[^\w]|[吧哈]))|(?P<whole>(?:把|将){_THING}{_REST}{{1,24}}?(?:记下来?|记住|记录下来)(?!了)))"
)
_MAYBE = Pattern(
    r"(?i)remember|memo|save|store|record|log|note|captur|archiv|write|jot|put|tak|mak|keep|in\s+mind|forget"
    r"|[记存录藏备谨写加放忘]"
)
"""What every request holds."""
_ASKED = Pattern(rf"\s*[?？]|{_REST}{{0,60}}[吗么]\s*(?:$|[^\w])|{_REST}{{0,60}}没有?\s*[?？]")
_POLITE = Pattern(rf"(?i)\b{_POLITE_EN}\b|{_POLITE_ZH}")
_BETWEEN = Pattern(r"[\s:：,，.。!！—–-]*")


def forces(text: str) -> bool:
    """Whether the text asks to be kept: "记住这个", "save this", "remember that …"; never where it also asks not to be."""
    return _request(folded(text)) is not None and not suppresses(text)


def without_request(text: str) -> str:
    """The text after a leading "请记住：" or "remember this:", an exact piece of it; it may be empty.

    The mark of a polite request ("could you remember that I like tea?") goes with the request: it asks for nothing else.
    """
    plain = folded(text)
    end = _request(plain, leading=True)
    if end is None:
        return text
    return text[end:].rstrip("?？ ") if _POLITE.search(plain, 0, end) else text[end:]


def says_more(text: str) -> bool:
    """Whether a sentence says what is to be kept: "remember this, thanks" does not."""
    rest = without_request(text)
    return has_words(rest) and not is_small_talk(folded(rest))


def _request(plain: str, *, leading: bool = False) -> int | None:
    """Return where a request ends, with the signs after it; `leading`: one at the beginning. None without one."""
    if not _MAYBE.search(plain):
        return None
    for found in _FORCE.finditer(plain):
        if leading and found.start():
            return None
        asked = _ASKED.match(plain, found.end())
        if not asked or _POLITE.search(found.group()):
            if found["whole"]:  # what is to be kept stands within the request
                return 0
            after = _BETWEEN.match(plain, found.end())
            return after.end() if after else found.end()
    return None
