"""What kind of speech a sentence is: a question, small talk, or an order to the assistant.

None of the three is a fact about the person. Both languages; Python's `re` only.
"""

from shared.text.pattern import Pattern

_CLAUSE = Pattern(r"[,，;；、]|\s[—–-]{1,2}\s|——")
_QUESTION_MARK = Pattern(r"[?？][\"'”’」』）)!！?？\s~]*$")
_PARTICLE = Pattern(r"(?:吗|呢|(?<!什)(?<!这)(?<!那)么)[。.!！~～\s]*$")
_TAIL = 24
_QUESTION_ZH = Pattern(
    r"^(?:请问|我?想问|我?想请教|请教|问一下|问个|为什么|为何|怎么|怎样|如何|什么|哪[里个些儿]|谁|多少|几[个点时]|是不是|能不能|可不可以|有没有|要不要|可以.{0,20}吗|能.{0,20}吗)"
    r"|(?:是什么|怎么(?:办|做|弄|写|用|样|处理|解决|配置|回事)|为什么|是谁|是不是|有没有|能不能|可不可以|要不要|会不会|好不好|行不行|对不对|多少钱|什么意思|什么时候|在哪里|哪[个些种家里]|什么|谁(?!都)|多少(?![有都]))"
)
_TOLD_ZH = Pattern(
    r"(?:不管|无论|不论|知道|明白|了解|说明|解释|记录|不知道).{0,8}(?:什么|怎么|为什么|谁|哪)|没什么|什么[都的也]|怎么都|谁都|哪里都"
)
_QUESTION_EN = Pattern(
    r"(?i)^(?:(?:so|and|but|ok|okay|well|hey|hi|um|also|then|now|thanks)[\s,]+){0,3}(?:(?:what|which)\s+[\w-]+(?:\s+(?:is|are|do|does|did|should|would|can|was|were|will)\b|$)|(?:what|how|why|who|whom|whose|which|where)(?:'s|'re|\s+(?:is|are|was|were|do|does|did|can|could|"
    r"should|would|will|about|if|come|much|many|long|often|else|kind|to|i|we|you|the|of)\b|\s*$)|when\s+(?:is|are|was|do|does|did|can|should|will|would)\b|"
    r"(?:do|does|did|is|are|was|were|can|could|would|will|should|shall|may|might|have|has|had|isn't|aren't|don't|doesn't|didn't|can't|won't|couldn't)"
    r"\s+(?:you|i|we|they|he|she|it|this|that|there|the|my|our|your|anyone|someone|any|these|those)\b)"
)
_SMALL_EN = (
    "hi|hello|hey|yo|morning|afternoon|evening|night|thanks|thank|thx|ty|cheers|ok|okay|k|kk|yes|yep|yeah|yup|no|nope|sure|great|nice|cool|perfect|awesome|good|fine|done|bye|goodbye"
    "|see|ya|later|got|sounds|makes|sense|lol|haha|hahaha|hm|hmm|never|mind|nevermind|continue|go|on|ahead|please|right|exactly|wow|very|much|so|a|lot|there|again|everyone|all|you|u|it|that's"
    "|that|is|works|for|now|the|help|your|well|i|worry|no"
)
_SMALL_ZH = """
    谢谢 多谢 感谢 谢了 谢啦 辛苦 好 好的 好吧 好呀 好啊 行 可以 嗯 哦 噢 喔 对 对的 是
    是的 没错 不是 没问题 明白 明白了 知道 知道了 了解 收到 懂了 你好 您好 早 早安 早上好 上午好 下午好 晚上好 晚安
    哈 嘿 呵 嗨 再见 拜拜 结束 不用了 算了 继续 太好了 太棒了 厉害 不错 完美 辛苦了 您 你 大家 啦
    了 呀 啊 的 吧 非常 很 你的帮助 不客气
"""
# Atomic: each word is tried longest first and never given back, so that a long run of 好的好的… takes one pass.
_SMALL_TALK = Pattern(
    rf"(?i)(?>(?:{_SMALL_EN})(?![A-Za-z'’])|{'|'.join(sorted(_SMALL_ZH.split(), key=len, reverse=True))}|[\s,，.。!！~～、;；?？…])++"
)
_ORDER_ZH = Pattern(
    r"^(?:那|那么|好的?|现在|然后|接着|再|先|另外)?[，,\s]*(?:请|麻烦|劳驾|帮我|帮忙|帮|给我|替我|为我|你来|你先|你再|你帮|把(?!.{0,12}(?:定为|设为|改成|改为))|继续|开始|试试|试一下|看看|看一下|检查一下"
    r"|解释|翻译|总结|生成|写(?:一|个|出|篇|段|下)|列出|列一下|画|查一下|查查|搜索|搜一下|运行|执行|修复|修一下|重构|优化|告诉我|说说|讲讲|介绍|推荐|分析|对比|比较|举个?例|添加|加上|加一|删掉|删除|改一下|实现(?:一)"
    r"|我(?:想|要|需要|希望)(?:让)?(?:你|您)|你(?:能|可以|可否|帮))"
)
_ORDER_EN_VERBS = (
    "write|create|make|build|generate|implement|fix|refactor|optimi[sz]e|explain|tell|show|give|list|translate|summari[sz]e|review|check|look|find|search|run|execute|test|try|add|remove|delete"
    "|update|change|rename|move|convert|compare|analy[sz]e|draft|help|let(?:'s|\\s+me|\\s+us)|use|set|install|open|read|print|describe|suggest|recommend|debug|deploy|continue|rewrite|format|sort"
    "|count|calculate|compute|plan|think|answer|reply|respond|stop|start|go|do|put|send|ignore|forget|pretend|act|be|keep|note|consider|choose|select|pick|design|propose|prepare|provide|select"
    "|configure|remember|follow|avoid|don't|do\\s+not|proceed|repeat|include|turn|replace|apply|merge|commit|push|call|ask|wait"
)
_ORDER_EN = Pattern(
    rf"(?i)^(?:ok|okay|so|now|then|and|also|great|thanks|hey|hi|first|next|finally|just|again)?[\s,.!]*(?:please\s+|kindly\s+|pls\s+)?(?:just\s+|also\s+|always\s+|never\s+|now\s+)?"
    rf"(?:{_ORDER_EN_VERBS})\b(?!\s*(?:is|are|was|has|cases?)\b)"
    r"|^(?:please|pls|kindly)\b|^(?:i|we)(?:\s+(?:want|need)|['’]d\s+like|\s+would\s+like)\s+you\s+to\b|^(?:can|could|would|will)\s+you\b|^you\s+(?:should|must|need\s+to|have\s+to|can)\b"
)


def is_question(sentence: str) -> bool:
    """Whether the sentence asks: by its mark, its particle (吗, 呢) or its opening words."""
    if _QUESTION_MARK.search(sentence[-_TAIL:]) or _QUESTION_EN.search(sentence):
        return True
    if _PARTICLE.search(sentence[-_TAIL:]):
        return True
    return _QUESTION_ZH.search(sentence) is not None and not _TOLD_ZH.search(sentence)


def is_small_talk(sentence: str) -> bool:
    """Whether the sentence is nothing but greeting, thanks, assent or farewell."""
    return _SMALL_TALK.fullmatch(sentence.strip()) is not None


def is_order(sentence: str) -> bool:
    """Whether the sentence tells the assistant to do something ("帮我写…", "please write…")."""
    plain = sentence.strip()
    return _ORDER_ZH.search(plain) is not None or _ORDER_EN.search(plain) is not None


def clauses(sentence: str) -> list[str]:
    """Cut a sentence at commas, semicolons and dashes, for judging its parts one by one."""
    return [clause for clause in (part.strip() for part in _CLAUSE.split(sentence)) if clause]
