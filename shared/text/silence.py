"""The wish that something is not kept: "don't save this", 这个别记, 勿存, "off the record".

A rule is made of a negation and a verb of keeping, in both languages and, folded, in both Chinese scripts, and of what it speaks of: "this"
and what is one's own reach further than a thing that is named. Statements about oneself or a system ("we never store card numbers") are no
wish, as long as they do not speak of "this". In doubt it is a wish: what was kept against one's will is worse than what was not.
"""

import re
from typing import Literal

from shared.text.han import simplified
from shared.text.pattern import Pattern

Reach = Literal["", "sentence", "message", "conversation"]

_THIS = (
    r"(?:(?:any|all|some|part)\s+of\s+)?(?:this(?!\s+(?:morning|afternoon|evening|week|month|year|time)\b)|that|it"
    r"|these|those|them|th(?:is|at)\s+one|anything|everything"
    r"|the\s+(?:above|following|next|previous|last|rest|conversation|chat|fact)|what|my|our|mine|i|i'(?:m|ve|d)|we"
    r"|who|where|when|how)\b"
)
_OPEN = rf"(?:(?:\s+(?:from|of|on|about|to|down|onto))?\s+{_THIS}|\s*(?:$|[^\w\s'-]))"
"""What is meant stands before or after, or is one's own: not a thing that is named."""
_VERB = r"(?:save|store|remember|memori[sz]e|retain|record|log|note|keep|capture|archive|persist|track|learn|hold\s+on\s*to)"
_ING = (
    r"(?:saving|storing|remembering|memori[sz]ing|retaining|recording|logging|noting|keeping|capturing|archiving"
    r"|persisting|tracking|learning)"
)
_DONE = (
    r"(?:saved|stored|remembered|memori[sz]ed|retained|recorded|logged|noted|kept|captured|archived|persisted"
    r"|tracked|written\s+down|learned)"
)
_MEMORY = r"(?:your|the|my|our|any|long-term|permanent)?\s*(?:memor(?:y|ies)|notes?|records?|profile)"
_DOWN = (
    r"(?:(?:write|jot|put|note|take|get)\s+(?:[\w'-]+\s+){0,6}?down"
    rf"|(?:put|add|commit|save|store|write|enter|file|record|keep)\s+(?:[\w'-]+\s+){{0,8}}?(?:in|into|to|on)\s+{_MEMORY}"
    r"|(?:take|make|keep)\s+(?:a\s+|any\s+)?(?:notes?|records?|cop(?:y|ies)|memor(?:y|ies)))\b"
)
_DONT = r"(?:do\s+not|don'?t|never(?:\s+ever)?)"
_WHO = (
    r"(?P<who>\b(?:i|we|they|he|she|people|users|who|which)\s+(?:(?:\w+ly|just|also|still|often|always|do|will"
    r"|would|can)\s+)?)?"
)
_STEPS = (
    r"(?:\s+(?:you\s+(?:dare|go|ever|even|start)|ever|even|just|please|go|start|try\s+to|bother\s+to"
    r"|dare(?:\s+to)?|be)){0,4}+"
)
_OWED = (
    r"(?:you\s+(?:do\s+not|don'?t)\s+(?:need|have)\s+to|you\s+need(?:n't|\s+not)(?:\s+to)?|you\s+(?:must"
    r"|should)(?:n't|\s+not|\s+never))"
)
_NO_NEED = (
    r"(?:no\s+(?:need|reason|point)|(?:not|isn't|n't)\s+(?:necessary|needed|worth)|unnecessary|needn't|need\s+not"
    r"|(?:must|should|ought)(?:n't|\s+not))"
    r"(?:\s+for\s+you)?(?:\s+(?:to|in|of))?"
)
_WISH = (
    r"(?:(?:do\s+not|don'?t|wouldn't)\s+(?:want|like|wish|need)\s+you\s+to"
    r"|you\s+(?:did\s*n[o']t|did\s+not|would\s*n't|would\s+not|not)|(?:could|can|would"
    r"|will)\s+you\s+(?:please\s+)?not|let'?s\s+not|(?:better|please|rather|prefer)\s+(?:you\s+)?not(?:\s+to)?)"
)
_NEVER = r"(?:\b(?:not|never|no|none|nothing|nobody|without|skip|dont|refuse|forbid)\b|\b\w+n't)"
_ANY = (
    rf"(?P<whose>\b(?:i|we|they|he|she|people|users|who|which)\s+(?:(?!you\b|this\b|these\b)[\w'-]+\s+){{0,3}}?)?{_NEVER}"
    rf"(?P<room>(?:\s+(?!(?:forget|fail|hesitate|only|and|but|so|or|because|then"
    rf"|please)\b)[\w'-]+){{0,6}}?)\s+(?:{_VERB}|{_ING}){_OPEN}"
)
"""A negation anywhere before the verb in one breath."""
_SAID_EN = (
    rf"{_WHO}\b{_DONT}{_STEPS}\s+(?:(?:{_VERB}|{_ING}){_OPEN}|{_DOWN})"
    rf"|\b{_OWED}\s+(?:{_VERB}\b|{_DOWN})|\b{_NO_NEED}\s+(?:(?:{_VERB}|{_ING}){_OPEN}|{_DOWN})"
    rf"|\b{_WISH}\s+(?:{_VERB}\b|{_DOWN})"
    rf"|\b(?:stop|quit|avoid|skip|without|no|from|not)\s+{_ING}{_OPEN}"
    rf"|\b(?:this|that|it|these|those|which|what\s+i)\b[^.,;!?\n]{{0,24}}?\b(?:should|must|may|need|ought)(?:n't"
    rf"|\s+not|\s+never)\s+(?:to\s+)?be\s+{_DONE}"
    rf"|\b(?:none|nothing|no\s+part|not\s+a\s+word|not\s+any)\s+of\s+(?:this|that|it|these|what)\b[^.;!?\n]{{0,24}}?\b{_DONE}"
    rf"|(?:\bnot|\bnever|n't)\s+(?:to\s+be|be)\s+{_DONE}\b(?=\s*(?:$|[^\w\s]))|(?:\bnot|n't|\bnever)\s+(?:want|like"
    rf"|wish|need)\s+{_THIS}\s+(?:[\w'-]+\s+){{0,3}}?(?:to\s+be\s+|being\s+)?{_DONE}"
    rf"|\b(?:this|that|these)\s+(?:is|are)(?:n't|\s+not|\s+never)\s+{_DONE}\b"
    rf"|{_NEVER}(?:\s+[\w'-]+){{0,4}}?\s+(?:in|into|to)\s+(?:your|long-term)\s+(?:long-term\s+)?memory\b"
    rf"|\bnothing\s+(?:i|we|here|(?:in|from)\s+this)\b[^.,;!?\n]{{0,24}}?\b{_DONE}|\b(?:delete|erase|wipe|purge|discard"
    rf"|remove)\s+(?:[\w'-]+\s+){{1,4}}?(?:from\s+{_MEMORY}|i\s+(?:just\s+)?(?:said|told))"
    rf"|\b(?:keep|leave|hold|stay|remain)\s+(?:[\w'-]+\s+){{0,5}}?(?:out\s+of|off|from)\s+{_MEMORY}"
    r"|\bkeep\s+(?:this|that|it|these)\s+(?:\w+ly\s+)?(?:between\s+(?:us|you|ourselves)|to\s+yourself)\b"
    r"|\b(?:off|not\s+(?:for|on))\s+the\s+record\b"
    r"|(?<!n't\s)(?<!not\s)(?<!never\s)(?<!dont\s)\bforget\s+(?:that\s+)?(?:(?:what|everything|anything"
    r"|all)\s+)?(?:i|we)\s+(?:ever\s+|just\s+)?(?:said|told|mentioned|wrote)\b"
)
_NAMED_EN = r"\b(?:do\s+not|don'?t)\s+(?:save|remember|memori[sz]e)\b"
_ITSELF_EN = (
    r"(?=\s*(?:$|[^\w\s'-])|\s+(?:please|at\s+all|any\s*more|either|ever|because|and|or|but|so|thanks?"
    rf"|(?:in|into|to)\s+{_MEMORY})\b)"
)
_ITSELF_ZH = r"(?=$|[^\w]|的?(?:内容|话)|记录(?=$|[^\w])|[里中了吧啊呀哦])"
"""The conversation is meant, not what is called after one or is in it: a session token, 会话令牌."""
_WHOLE_EN = (
    r"\b(?:do\s+not|don'?t|never|no\s+need\s+to)\s+(?:save|store|remember|memori[sz]e|record|keep"
    rf"|log)\s+(?:any\s+of\s+)?(?:this|the|our)\s+(?:whole\s+|entire\s+)?(?:conversation|chat|session){_ITSELF_EN}"
)

_KEEP = (
    r"(?:保存|存储(?!过程|引擎|服务|空间|桶)|储存|存档|留存|保留(?!字)|留底|留痕|留下?(?:任何)?(?:记录|痕迹)|收录"
    r"|录入|入库|写入|归档|备案|登记|学习|留(?=$|[^\w]|[了着])|记(?:住|录|下|忆|着|牢)"
    r"|记(?![得者不账分仇恨名号错事性载])|(?<!内)存(?:下|起|入|进)?(?![在款钱量储疑]))"
)
_NO_ZH = (
    r"(?:不要|(?<!用)不用|不必|(?<!需)不需要?|[无毋][需须]|请勿|[切]?勿|(?<!莫)莫(?![名非])|甭"
    r"|(?<![特区级类分性识告鉴辨差])(?<![^这那]个)别|没有?必要|用不着|犯不着|[先暂]时?不)"
)
_BAN_ZH = (
    r"(?:不准|不许|不宜|不允许|(?<![记舍])不得|(?<!该)不该|(?<!应)不应该?|(?<!能)不能|(?<!可)不可以?|禁止|严禁"
    r"|停止|拒绝|避免)"
)
_HATE_ZH = r"(?:不想|不希望|不愿意?|不同意|不授权|反对)(?=[^，。；：,;:\n]{0,10}(?:你|您|系统|被))"
_REST = r"[^，。；：,;:！？!?\n]"
_STORE = rf"{_REST}{{0,4}}?(?:磁盘|硬盘|本地|数据库|缓存|内存|文件|日志|仓库|目录|桶|云|库里|表)"
"""Where a system keeps things: what is not to be put there is a rule of the system, unless it is "this" or one's own."""
_SMALL_ZH = (
    r"(?:再|去|给我|帮我|替我|为我|让你|让您|你|您|被|自动|主动|随便|擅自|继续|真的|来|予以|进行|特[意地]){0,6}+"
)
_GAP_ZH = rf"{_SMALL_ZH}(?:(?:把|将|对|往|在|让|给){_REST}{{0,24}}?)?{_SMALL_ZH}"
_POINT = r"(?:这|此|那(?!么)|以上|以下|上述|上面|下面|前面|后面|接下来|刚才|刚刚)"
_OPEN_ZH = rf"(?=$|[^\w]|[了吧哦啊呀嘛它我本我您你一]|{_POINT}|下来|起来|任何|对话|会话|[进入到在](?!{_STORE}))"
_INTO_ZH = rf"(?:[写存记放加录收]?[进入到在往]{_REST}{{0,6}}?(?:记忆|笔记|备忘))"
_START_ZH = (
    r"(?:^|(?<=[，。；：,;:！？!?、\s]))(?:请|千万|麻烦|拜托|你|您|但|也|都|另外|以后|今后|还有|总之|所以|先|就"
    r"|一定|绝对|务必){0,6}+"
)
_SAID_ZH = (
    rf"(?<!要)(?:{_NO_ZH}|{_HATE_ZH}){_GAP_ZH}(?:{_KEEP}{_OPEN_ZH}|{_INTO_ZH})"
    rf"|{_BAN_ZH}{_GAP_ZH}{_KEEP}(?:{_POINT}|我|[:：]|$)"
    rf"|{_START_ZH}(?:不准|不许|不宜|不允许|禁止|严禁){_GAP_ZH}{_KEEP}(?=$|[^\w])"
    rf"|(?:{_POINT}|我的?){_REST}{{0,12}}?(?:{_NO_ZH}|{_BAN_ZH}){_GAP_ZH}(?:{_KEEP}|{_INTO_ZH})"
    rf"|(?:{_NO_ZH}|{_BAN_ZH}){_SMALL_ZH}(?:把|将|对)(?:{_POINT}|我){_REST}{{0,24}}?(?:{_KEEP}|{_INTO_ZH})"
    rf"|{_POINT}{_REST}{{0,12}}?不(?:再|做|予|被|会|予以)?{_KEEP}(?=$|[^\w]|[了吧入进下])"
    rf"|{_START_ZH}不(?:再|做|予以?)?{_KEEP}(?=$|[^\w]|[了吧]|{_POINT})"
    rf"|不(?:再|会|让{_REST}{{0,6}}?)?{_INTO_ZH}"
    rf"|记忆[里中库]?{_SMALL_ZH}{_NO_ZH}{_SMALL_ZH}(?:[留存记有写放]|出现|保)"
    rf"|(?<![别勿没不会我易])(?:忘掉|忘了|忘记|忘却)(?:{_POINT}|我){_REST}{{0,8}}?(?:说|讲|提|话|内容|消息)"
    rf"|忘掉{_POINT}|当(?:我|作|做)?没(?:有)?[说讲提]"
)
_NAMED_ZH = (
    rf"(?:不要|(?<![特区级类分性识告鉴辨差])(?<![^这那]个)别)保存|{_START_ZH}{_NO_ZH}{_SMALL_ZH}(?:把|将)?{_KEEP}"
)
_WHOLE_ZH = (
    rf"{_NO_ZH}{_REST}{{0,8}}?(?:{_KEEP}|{_INTO_ZH}){_REST}{{0,4}}?(?:对话|会话|聊天|谈话){_ITSELF_ZH}"
    rf"|{_NO_ZH}(?:把|将){_REST}{{0,6}}?(?:对话|会话|聊天|谈话){_REST}{{0,6}}?(?:{_KEEP}|{_INTO_ZH})"
    rf"|(?:这次|本次|这段|整段)(?:对话|会话|聊天){_REST}{{0,4}}(?:不要|别|不用|不){_REST}{{0,6}}?(?:{_KEEP}|{_INTO_ZH})"
)
_SAID = Pattern(rf"(?i){_SAID_EN}|{_SAID_ZH}")
_BROAD = Pattern(rf"(?i){_ANY}")
_YOU = Pattern(r"(?i)\b(?:you|this|these)\b")
_WHOLE = Pattern(rf"(?i){_WHOLE_EN}|{_WHOLE_ZH}")
_NAMED = Pattern(rf"(?i){_NAMED_EN}|{_NAMED_ZH}")
_MAYBE = Pattern(
    r"(?i)n't|dont|\bno[tn]?|never|without|stop|quit|avoid|skip|refus|forbid|unnecessary|\b(?:off|keep|leave"
    r"|forget|erase)\b|from|out\s+of|[不别勿莫甭无毋没禁停拒避忘]"
)
"""What every such wish holds: most sentences are told by it in one pass."""
_CONVERSATION = r"(?:this|the|our)\s+(?:whole\s+|entire\s+)?(?:conversation|chat|session)\b|[这本整][个次段场]?(?:对话|会话|聊天|谈话)"
_BACK = Pattern(
    r"(?i)(?:\W|(?:please|actually|wait|sorry|oh|no|ok(?:ay)?|well|oops|thanks?|thank you|h?m+|never\s?mind|from|in"
    r"|anything|what|last|one|message|note|i (?:just )?(?:said|told you|mentioned|wrote))\b"
    rf"|{_CONVERSATION}|等等|等一?下|[哎诶唉哦啊嗯请]|算了|谢谢|抱歉|对不起|不好意思|[这那上前]一?[条句个段]"
    r"|刚[才刚]|我?说的|消息|笔记|话|内容|[下起]来|[了吧啦的])*"
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
    if any(not said["who"] for said in _SAID.finditer(plain)) or any(map(_meant, _BROAD.finditer(plain))):
        return "message"
    return "sentence" if _named(plain) else ""


def without_suppression(text: str) -> str:
    """What is left of the text without its "不要保存 / don't save this"."""
    return _SAID.sub("", folded(text)).strip()


def points_back(text: str) -> bool:
    """Whether what is left of such a wish speaks of what was said before, and of nothing else: "Actually, don't save that note"."""
    return _BACK.fullmatch(without_suppression(text)) is not None


def names_conversation(text: str) -> bool:
    """Whether a text speaks of the conversation that it is part of."""
    return _NAMES_IT.search(folded(text)) is not None


def _meant(found: re.Match[str]) -> bool:
    """Whether a broad match is a wish: one about oneself is one only where "you" or "this" is not to keep ("I do not consent to you …")."""
    return not found["whose"] or _YOU.search(found["room"]) is not None


def _named(plain: str) -> bool:
    """Whether something that is named is not to be kept: "don't save passwords in plain text". What one does not remember is no wish."""
    return any(not _OF_ONESELF.search(plain, 0, found.start()) for found in _NAMED.finditer(plain))


_OF_ONESELF = Pattern(r"(?i)\b(?:i|we|they|he|she|people|users|who|which)\s+(?:\w+ly\s+|just\s+|also\s+|still\s+)?$")
