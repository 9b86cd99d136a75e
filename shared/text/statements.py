"""What a sentence says and about whom: the person, the project, a contact; certain or guessed; lasting or of the moment.

Patterns over single sentences in both languages; the rules extractor decides with them. Python's `re` only.
"""

from shared.text.pattern import Pattern

_SELF = Pattern(
    r"(?i)^(?:我叫|我是|我的|我在|我住|我对|我有|我会|我不|我没|我从|我来自|我姓|我今年|我属|我每|我想要|我爱|我讨厌|我已经|我用|我们|我|本人|咱们|俺)"
    r"|(?<![A-Za-z])(?:i['’]?m|i\s+am|my|i['’]ve|i\s+(?:have|work|live|own|order|speak|study|study|eat|drink|play|drive|come|was|do|don['’]?t|can|can['’]?t|always|usually|never"
    r"|hate|love|need|want|run|grew|moved|teach|manage|lead|maintain)|mine|myself|we|our)(?![A-Za-z])"
)
_FIRST_PERSON = Pattern(
    r"(?i)(?<!帮)(?<!给)(?<!替)(?<!为)我|咱们|(?<![A-Za-z])(?:i|i['’](?:m|ve|d|ll)|my|we|our|we['’](?:re|ve|ll))(?![A-Za-z])"
)
_ONE_SELF = Pattern(r"(?i)我(?!们)|(?<![A-Za-z])(?:i|i['’](?:m|ve|d|ll)|my|me|mine)(?![A-Za-z])")
_ASSISTANT = Pattern(r"(?i)^(?:you(?:['’]re|r|['’]ve|['’]ll)?\b|你(?:们)?|您)")
_PROJECT = Pattern(
    r"(?i)我们|咱们|项目|仓库|代码库|团队|后端|前端|接口|数据库|服务器|服务(?=[的用在端是])|部署|分支|架构|模块|线上|测试环境|生产环境|表名|字段|版本"
    r"|(?<![A-Za-z])(?:we|our|us|ours|project|repo|repository|codebase|monorepo|api|apis|backend|back-end|frontend|front-end|database|db|service|services|deploy|deploys|deployment"
    r"|deployments|schema|branch|branches|staging|production|prod|endpoint|endpoints|pipeline|ci|module|modules|migration|migrations|server|the\s+app|release|releases|team)(?![A-Za-z])"
)
_SUBJECT = Pattern(
    r"(?i)我|咱|团队|公司|项目|后端|前端|这边|本|(?<![A-Za-z])(?:i|i['’](?:m|ve|d|ll)|we|we['’](?:re|ve|ll)|our|my|us|(?:the|this)\s+(?:\w+\s+){0,2}(?:team|company|project|repo|codebase|app|backend"
    r"|frontend|service|api|server|database|site|pipeline|cli|system|platform|product|deployment|stack|worker|client|library|module|build))(?![A-Za-z])"
)
_ZH_USAGE_HEAD = Pattern(
    r"(?:^|[，,：:；;、\s])(?:都|也|一律|统一|全部|直接|主要)?(?:使用|选用|用的是)|统一使用|(?:部署|开发|测试|存储|缓存|日志|认证|数据)\S{0,6}使用"
)
_GUESS = Pattern(
    r"(?i)^(?:如果|假如|要是|假设|万一|比如|例如)|也许|或许|可能|大概|说不定|还没(?:有)?(?:想好|决定|确定|选)|没(?:有)?(?:想好|决定好?)|未决定|不确定|不知道|在考虑|考虑(?:一下|使用|用|换)|纠结|犹豫|好像"
    r"|^(?:if|suppose|assuming|imagine|what\s+if|for\s+example|e\.g\.)\b|\b(?:maybe|perhaps|might|not\s+sure|unsure|undecided|(?:haven['’]?t|have\s+not|not|hasn['’]?t)\s+(?:yet\s+)?(?:decided|chosen|settled|picked)"
    r"|thinking\s+(?:about|of)|considering|wonder(?:ing)?|not\s+decided|i\s+guess|possibly|could\s+use|can\s+use|trying\s+to\s+(?:decide|choose|use)|whether)\b"
)
_TROUBLE = Pattern(
    r"(?i)报错|出错|错误|失败|不工作|跑不(?:起来|通)|崩溃|卡住|找不到|没反应|不生效|有(?:个)?问题|bug|\b(?:errors?|exceptions?|traceback|does(?:n['’]t|\s+not)\s+work|not\s+working|fails?|failed|failing|broken|crash(?:es|ed)?"
    r"|stuck|undefined|not\s+found|warnings?|sorry|wrong|by\s+mistake)\b"
)
_REACTION = Pattern(
    r"(?i)^(?:(?:great|thanks|thank\s+you|nice|perfect|cool|ok(?:ay)?|hmm+|好的?|谢谢|嗯)[,，.!！\s]+)*"
    r"(?:that['’]?s?|this|it['’]?s?|those|these|这种|那种|这样|那样|这个|那个)(?![A-Za-z])(?!.*(?:prefer|喜欢|偏好|习惯))"
)
_CONTACT = Pattern(
    r"[\w.+-]{1,64}@[\w-]{1,60}\.[A-Za-z]|(?<!\d)1[3-9]\d{9}(?!\d)|\+\d[\d\s-]{6,}\d|微信(?:号)?[是:：]|电话[是:：]|邮箱[是:：]|(?i:\bphone\s+number\s+is\b)"
)
_DATED = Pattern(
    r"(?i)(?:今天|明天|后天|昨天|下周|下个月|上周|上个月|周[一二三四五六日天]|\d{1,2}月\d{1,2}[日号]|生日)|\b(?:tomorrow|yesterday|today|next\s+(?:week|month|year|monday|tuesday|wednesday|thursday|friday)"
    r"|last\s+(?:week|month|year)|birthday|anniversary)\b"
)
_IDENTITY = Pattern(
    r"(?i)我(?:叫|姓|是(?!说|想|不是|觉得|指)|来自|住在|今年)|我的(?:名字|职业|职位|工作|生日|家)|我在.{1,20}(?:上班|工作|任职|读书|上学)|我对.{1,16}过敏"
    r"|\b(?:my\s+name\s+is|i(?:['’]m|\s+am)\s+(?:an?|the|from|called|allergic|based|living|working|\d+)|call\s+me|i\s+(?:work|live)\s+(?:at|in|for|as|on|with)|i\s+come\s+from|allergic\s+to)\b"
)
_HEALTH = Pattern(
    r"(?i)(?:我|本人)(?:从小|一直|也|还|确实|现在|真的)?(?:(?:对|一?吃)[^，。；,.;!！]{1,16}?(?<![不没])(?:过敏|不耐受)|吃[纯全]?素|是[纯全]?素食(?:者|主义者)|有(?:糖尿病|高血压|哮喘|癫痫|心脏病)|怀孕了?)"
    r"|\bi(?:['’]m|\s+am)\s+(?:\w+ly\s+)?(?:allergic\s+to|intolerant\s+(?:of|to)|(?:lactose|gluten)[\s-]intolerant|(?:an?\s+)?(?:vegetarian|vegan|diabetic|asthmatic|epileptic|c(?:o)?eliac)\b|pregnant)"
    r"|\bi\s+have\s+(?:\w+\s+){0,3}(?:allergy|allergies|intolerance|diabetes|asthma|epilepsy)\b"
)
_INTRODUCES = Pattern(
    r"(?i)我(?:叫(?![他她它你您人车外停醒])|姓(?![氏啥])|来自|(?:现在|目前)?(?:住在|定居)|的(?:名字|职业|职位|生日)[是在叫]|在.{1,20}(?:上班|工作|任职|读书|上学)(?!时|的))"
    r"|\b(?:my\s+name\s+is|my\s+(?:birthday|job|profession)\s+is|i\s+(?:live|reside)\s+in|i\s+work\s+(?:at|for|as)|i\s+(?:come|am|['’]m)\s+from|i['’]m\s+from)\b"
)
_HABIT = Pattern(
    r"(?i)\b(?:i|we)\s+(?:always|never|usually)\s+(?:ever\s+)?(?:want|need|use|write|drink|eat|take|start|work|read|put|keep|commit|deploy|test|review)\b"
)
_CHATTER = Pattern(
    r"(?i)\bhow\s+(?:are\s+(?:you|things)|is\s+it\s+going)\b|^what\s+an?\s+\w|,\s*(?:is|are|was|does|do)(?:n['’]t|\s+not|\s+it\s+not|\s+he|\s+she|\s+they)?\s*(?:it|they|he|she|you)?(?:\s+not)?\W*$"
    r"|天气(?:真|好|太|不错)|(?:一起|去|来)[^，。；]{1,12}吧\W*$"
)


def about_self(sentence: str) -> bool:
    """Whether the sentence is a statement of the speaker's own ("我叫…", "I have…", "our …")."""
    return _SELF.search(sentence) is not None


def identity(sentence: str) -> bool:
    """Whether the sentence says who the speaker is: name, work, home, age, allergies."""
    return _IDENTITY.search(sentence) is not None


def first_person(sentence: str) -> bool:
    """Whether the speaker is in the sentence as its subject; "帮我" and its like do not count."""
    return _FIRST_PERSON.search(sentence) is not None


def about_assistant(sentence: str) -> bool:
    """Whether the sentence begins with "you": it speaks of the assistant."""
    return _ASSISTANT.search(sentence) is not None


def of_project(sentence: str, own: bool) -> bool:
    """Whether the sentence speaks of the project; `own` things (tastes, secrets) of "me" and "my" never do."""
    if own and _ONE_SELF.search(sentence):
        return False
    return _PROJECT.search(sentence) is not None


def has_subject(sentence: str) -> bool:
    """Whether it is said whose usage is meant; a bare "Python uses indentation" is common knowledge."""
    return _SUBJECT.search(sentence) is not None or _ZH_USAGE_HEAD.search(sentence) is not None


def guessed(sentence: str) -> bool:
    """Whether the sentence supposes, hesitates or has not decided."""
    return _GUESS.search(sentence) is not None


def of_the_moment(sentence: str) -> bool:
    """Whether the sentence reports trouble being worked on: true now, worthless later."""
    return _TROUBLE.search(sentence) is not None


def reaction(sentence: str) -> bool:
    """Whether the sentence answers to what was just shown ("that's a nice way"): no lasting taste."""
    return _REACTION.search(sentence) is not None


def health(sentence: str) -> bool:
    """Whether the speaker says what the body does not take: an allergy, a diet, an illness."""
    return _HEALTH.search(sentence) is not None


def introduces(sentence: str) -> bool:
    """Whether the speaker says in so many words who it is: name, origin, home, work."""
    return _INTRODUCES.search(sentence) is not None


def habit(sentence: str) -> bool:
    """Whether the speaker says what "I always" or "I never" do or want. 总是 and 从不 are judged by `keywords.durable`."""
    return _HABIT.search(sentence) is not None


def chatter(sentence: str) -> bool:
    """Whether the sentence only keeps a talk going: "how are you", "what a lovely day", 今天天气真好."""
    return _CHATTER.search(sentence) is not None


def contact(sentence: str) -> bool:
    """Whether an address or a telephone number stands in the sentence."""
    return _CONTACT.search(sentence) is not None


def dated(sentence: str) -> bool:
    """Whether the sentence is bound to a day."""
    return _DATED.search(sentence) is not None
