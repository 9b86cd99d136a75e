"""What secrets look like: labels in Chinese and English, connectors, known token prefixes, and harmless look-alikes.

Tables and patterns only; `secrets.py` applies them. Every pattern is bounded or starts behind a look-behind that forbids
starting again inside its own run, so that no input makes it slow. The prefixes follow the issuers' own documentation and
the plugins of detect-secrets 1.5 (docs/decisions/secret-detector.md).
"""

import re
from functools import cache

from shared.text.pattern import Pattern

_HUMAN = (
    r"passwords?|passwd|passphrase|passcode|pwd|pass(?:word)?\s?code|"
    r"pin(?:\s?(?:code|number)|码)?|密码|口令|暗号|密语|通行码|访问码|授权码|提取码|配对码|恢复码|备份码|(?:backup|recovery|unlock|security)\s?codes?|p(?:ass|w)(?=\s?[:=：])|[a-z]{1,10}password(?=\s?[:=：])"
)
_MACHINE = (
    r"(?:api|access|secret|account|signing|encryption|license|service|shared|master|private|webhook|app)[\s_-]{0,2}keys?(?:[\s_-]id)?|"
    r"(?:client|webhook|app|jwt|shared|signing|session|consumer)[\s_-]{0,2}secrets?|secrets?(?:[\s_-]access[\s_-]key)?|"
    r"(?:access|auth|api|refresh|bearer|bot|personal[\s_-]access|deploy|id|session|csrf)[\s_-]{0,2}tokens?|tokens?|"
    r"apikey|accesskey|secretkey|authtoken|bearer|(?:api|接口|访问|应用|加密|签名)?(?:密钥|秘钥|私钥|金钥|令牌|权杖)|凭证|凭据|激活码|注册码"
)
_PHRASE = r"(?:seed|recovery|backup|mnemonic|secret)\s(?:phrase|words)|passphrase|助记词|恢复短语"
_PAIR = r"credentials|login|[账帐]号密码|用户名密码|[账帐]户密码|账密|用户名和密码|[账帐]号和密码|登录信息"

_DETOUR_EN = r"(?:\s(?:for|of|to|on|in|at|i|we|that\si|that\swe)\s[\w'’./@-]{1,30}(?:\s[\w'’./@-]{1,30}){0,4}?)?"
_DETOUR_ZH = (
    r"(?:我|我们|已经|已|现在|目前|之前|后来|以前|刚刚|刚才|刚|今天|昨天|分别|全部|依旧|还|就|暂时|先|都|统一|默认|临时"
    r"|应该|应|被|给|一直|依然|仍然|仍){0,3}"
)
_CONNECTOR = (
    r"(?P<strong>\s{0,3}(?:是[:：]|为[:：]|[:：=＝]{1,2}>?|=>|->|→)\s{0,3}|"
    r"\s?(?:设置为|设置成|设置的是|设为|设成|改为|改成|改回|换成|换为|更新为|更新成|重置为|重置成|定为|定成)了?\s{0,3}[:：]?\s{0,3})|"
    r"(?P<weak>\s?(?:是|为|叫做?|用的是|用)\s{0,3}|"
    r"\s(?:is|was|are|will\sbe|should\sbe|to|becomes)(?:\s(?:now|still|currently|just|simply))?"
    r"(?:\s(?:set|changed|reset|updated|rotated)\sto)?\s{1,3})"
)


@cache
def labelled() -> re.Pattern[str]:
    """A label with its connector; what follows it is judged by `secrets.py`. Groups name the kind of label."""
    return re.compile(
        rf"(?P<label>(?:(?<![A-Za-z])|(?=[密口暗通访授提配秘私金令权凭激注助恢账帐用登接应加签备]))(?:(?P<phrase>{_PHRASE})|(?P<pair>{_PAIR})|(?P<password>{_HUMAN})"
        rf"|(?P<machine>{_MACHINE})))(?![A-Za-z])(?:['’]s(?=\s))?[\"'”’`]{{0,2}}(?:\s?[(（][^()（）\n]{{1,24}}[)）])?(?:{_DETOUR_EN}{_DETOUR_ZH}(?:{_CONNECTOR})|(?P<bare>\s{{0,3}}))",
        re.IGNORECASE,
    )


@cache
def known_tokens() -> re.Pattern[str]:
    """Tokens that their own prefix gives away. The look-behind keeps one run from being tried at every sign."""
    forms = (
        r"sk-(?=[\w-]{0,40}\d)[\w-]{8,}",
        r"A(?:KIA[0-9A-Z]{7,}|SIA(?=[A-Z]{0,16}\d)[0-9A-Z]{12,})",
        r"gh[pousr]_\w{12,}",
        r"github_pat_\w{12,}",
        r"gl(?:pat|ptt|dt|rt|soat|cbt)-[\w-]{10,}",
        r"(?:npm|hf|gsk|r8|shpat|shpss|shpca|shppa|figd|glsa|nvapi|tvly|dop_v1|doo_v1|lin_api|ntn|whsec|pat|sbp|rnd)[_-](?=[A-Za-z_-]{0,40}\d)[\w-]{14,}",
        r"(?:sk|rk|pk)_(?:live|test)_\w{8,}",
        r"xox[a-z](?:\.xox[a-z])?-[\w-]{8,}",
        r"xapp-\d-[\w-]{10,}",
        r"AIza[\w-]{18,}",
        r"ya29\.[\w-]{16,}",
        r"SG\.[\w-]{8,}\.[\w-]{8,}",
        r"pypi-[\w-]{20,}",
        r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
        r"LTAI[0-9A-Za-z]{10,}",
        r"AKID[0-9A-Za-z]{12,}",
        r"ATATT3x[\w=-]{10,}",
        r"sq0(?:atp|csp|idp)-[\w-]{12,}",
        r"dapi[0-9a-f]{24,}",
        r"key-[0-9a-f]{32}",
        r"hvs\.[\w-]{16,}",
        r"\d{8,10}:AA[\w-]{30,}",
        r"eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*",
    )
    return re.compile(r"(?<![\w.+/-])(?:" + "|".join(forms) + ")")


@cache
def carried() -> re.Pattern[str]:
    """Secrets that stand inside something larger: a connection string, a header, a web hook, a command's switch."""
    value = r"(?P<value{}>{})"
    forms = (
        r"(?<![\w+.-])[A-Za-z][\w+.-]{1,30}://[^\s/:@'\"<>]{0,80}:" + value.format(1, r"[^\s/'\"<>]{1,200}") + "@",
        r"(?<![\w-])bearer\s{1,3}" + value.format(2, r"(?=[A-Za-z_+/=-]{0,30}[\d.])[\w.~+/=-]{10,}"),
        r"authorization[\"']?\s?[:=]\s?[\"']?basic\s{1,3}" + value.format(3, r"[\w+/=-]{8,}"),
        r"hooks\.slack\.com/services/" + value.format(4, r"[\w/]{12,}"),
        r"discord(?:app)?\.com/api/webhooks/\d{6,20}/" + value.format(5, r"[\w-]{12,}"),
        r"(?:AccountKey|SharedAccessKey)=" + value.format(6, r"[\w+/=-]{12,}"),
        r"[?&]sig=" + value.format(7, r"[\w%+/=-]{16,}"),
        r"(?<![\w-])(?:-u|--user)\s{1,3}[\w.@-]{1,60}:" + value.format(8, r"[^\s'\"]{4,200}"),
        r"(?<![\w-])--(?:password|passwd|token|api-key|secret|access-token|auth-token)\s{1,3}[\"']?"
        + value.format(9, r"[^\s'\"]{4,200}"),
        r"(?<![\w-])sshpass\s{1,3}-p\s?[\"']?" + value.format(10, r"[^\s'\"]{4,200}"),
        r"<(?:password|passwd|secret|token|apikey)>" + value.format(11, r"[^<\s]{4,200}") + "</",
    )
    return re.compile("|".join(forms), re.IGNORECASE)


@cache
def assignment() -> re.Pattern[str]:
    """A name with = or : and one unbroken run of at least 20 signs; its entropy is judged by `secrets.py`."""
    return re.compile(
        r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,60})[\"']?\s{0,3}(?:[:=]|:=|=>)\s{0,3}[\"']?(?P<value>[\w+/=-]{20,512})(?![\w+/=.@:-])"
    )


PEM_BEGIN = Pattern(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PEM_END = Pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")

# Words that follow "password is" or "token:" and are talk about a secret, not the secret.
_TALK = """
    a an the not in on at to for from too very also always never my your our his her their its this that
    same weak strong default required optional mandatory none null nil true false yes no string str text
    bytes int integer number object type field expired changed reset incorrect wrong right correct invalid
    valid missing empty blank hidden visible encrypted hashed salted stored secure insecure safe unsafe
    secret password passwd token key here there below above attached forgotten forgot lost unknown known
    policy protected protection needed unset set rotated rotating revoked leaked shared unique long short
    simple complex easy hard manager based bearer basic digest oauth saml sso ldap kerberos admin user
    username email when if because about must should can could would will may might only and or but with
    without via by as per every all any some each once per-user being kept managed good bad fine ok okay
    ready done pending disabled enabled available generated automatically auto random temporary permanent
    old new next previous current up down out off more less least most case-sensitive sensitive plaintext
    plain cleartext bcrypt scrypt argon argon2 argon2i argon2id pbkdf2 sha1 sha256 sha-256 sha512 md5 hmac
    base64 aes aes256 aes-256 rsa rsa-2048 rsa-4096 ed25519 rs256 hs256 es256 oauth2 jwt utf-8 utf8 base32
    redacted placeholder example changeit todo tbd n/a na undefined vault keychain keyring lastpass
    bitwarden 1password keepass what which who whose how where why something anything nothing limit limits
    count counts bucket budget usage window length size ring rate refresh level access value values name
    names
"""
TALK = frozenset(_TALK.split())
CODE_WORDS = TALK | frozenset(
    ("hash", "pass", "pwd", "get", "input", "form", "db", "param", "reset", "hasher", "encoder", "plain", "raw")
)
TALK_ENDINGS = (
    "ed",
    "ing",
    "able",
    "ible",
    "ive",
    "ory",
    "ful",
    "ent",
    "ant",
    "ly",
    "less",
    "ous",
    "ized",
    "ised",
    "n't",
)

PLACEHOLDER = Pattern(
    r"(?i)[<\[{(%$].{0,200}|x{3,}|\*{2,}.{0,200}|\.{2,}.{0,200}|…{1,9}|-{2,}.{0,60}|_{2,}|\?{2,}|"
    r"(?:your|my|the|some|an?|insert|enter|replace)[-_].{0,60}|.{0,60}[-_](?:here|placeholder|goes-here)|"
    r"(?:os|process|env|config|settings|self|this|request|req|ctx|secrets|vault|credentials|user|data|kwargs|args|params|opts|options)"
    r"(?:\.|\[|::|/).{0,200}|(?:env|vault|arn|file|ref|ssm|kms|sm|op|https?|ftp|s3|git|ssh|mailto):.{0,400}|"
    r"[A-Za-z_][\w.]{0,60}[(\[].{0,200}|~?/[\w./~-]{2,200}|\w[\w.+-]{0,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}|"
    r"v?\d{1,4}(?:\.\d{1,6}){1,3}|\d{4}-\d{1,2}-\d{1,2}|[\w-]{1,60}\.(?:md|txt|json|ya?ml|env|py|ts|js|toml|ini|pem|html?|com|cn|org|io)|"
    r"\d{1,3}(?:-\d{1,3})?(?:bit|bits|chars?|bytes?|min|mins|minutes?|h|hours?|days?|d|s|ms|k|kb|mb|%)"
)
FOLLOW_ON = Pattern(
    r"(?i)[\s，,;；。]{0,2}(?:后来|现在|然后|之后|今天|上周|又|再|已经|已){0,2}(?:改成|换成|改为|改回|变成)了?\s?"
    r"|[,;.]?\s(?:but\s|and\s)?(?:it\s(?:is|was)\s|it['’]s\s|is\s|was\s)?(?:now|then|later|previously|before\sthat)\s(?:it\s(?:is|was)\s)?(?:changed\sto\s)?"
)
NUMBER_UNIT = Pattern(
    r"\s?(?:位|个|字|次|天|年|月|日|分|秒|小时|种|条|行|到|至|-\d|–|~\d|以上|以内|characters?|chars?|digits?|letters?|days?|hours?|minutes?|"
    r"seconds?|months?|years?|times|bits?|bytes?|words?|per\b|or\s(?:more|longer|less)|tokens?\b)"
)
TALK_AFTER_ZH = Pattern(
    r"\s?(?:的(?!时候|，|。)|加密|存储|存的|哈希|算法|格式|类型|字段|编码|管理|生成|登录|认证|验证|校验|签名|签发|模式|策略|方案|协议|服务|方式|环境变量|变量|颁发|里|中|上|发)"
)
HAN_PHRASE = Pattern(r"[\u4e00-\u9fff]{4,12}(?=[\s。，,.！!；;”\"]|$)")
HAN_TALK = frozenset("必填忘不要请见在需已空无同问改由可太没的有错很过该会能被和或为是")
