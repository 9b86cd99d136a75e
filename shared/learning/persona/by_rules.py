"""What facts say of a person without any model: names that stand in them, and whole facts that speak of one part by their own words. Pure.

Nothing is worded anew. Of facts about a project only names are taken; of facts that deny something, none.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from shared.domain import limits
from shared.domain.memory import Category, Memory, Scope
from shared.learning.consolidation.wording import negated
from shared.storage.persona import STRUCTURED, Statement
from shared.text.han import simplified
from shared.text.normalise import full_width_length, normalise
from shared.text.pattern import Pattern
from shared.text.secrets import find
from shared.text.stack_names import named

NAMES_OF_A_PART: Final = 8
SENTENCES_OF_A_PART: Final = 3
_TELLING: Final = frozenset(
    {Category.PREFERENCE, Category.DECISION, Category.CONSTRAINT, Category.KNOWLEDGE, Category.EXPERIENCE}
)
_OWN: Final = Pattern(r"(?i)^\W*(?:我|本人|用户)|\b(?:I|I['’](?:m|ve|d)|my|me|the\s+user)\b")
"""A fact that speaks of the person and not of somebody else; a preference or a constraint need not say so."""
_JOBS_EN: Final = (
    r"engineer|developer|programmer|designer|architect|manager|scientist|analyst|researcher|student|teacher|administrator"
    r"|founder|consultant"
)
_SENTENCES: Final = {
    "role": Pattern(
        rf"(?i)\b(?:I\s+am|I['’]m|works?\s+as|my\s+(?:job|role|title)\s+is|is\s+an?|employed\s+as)\b.{{0,40}}\b(?:{_JOBS_EN})\b"
        r"|(?:是|担任|职位|职业|做).{0,16}(?:工程师|开发者|程序员|设计师|架构师|经理|科学家|分析师|研究员|学生|教师|老师|医生|运维|创始人|顾问)"
    ),
    "experience": Pattern(
        r"(?i)\b(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten)\+?\s+years?\b.{0,40}\b(?:experience|of|as|with|in)\b"
        r"|(?:\d{1,2}|[一二两三四五六七八九十]{1,3})\s?年.{0,12}(?:经验|开发|工作|从业)"
    ),
    "work_hours": Pattern(
        r"(?i)\bwork(?:ing|s)?\s+(?:hours|from|at\s+night|late|early|until)\b|\btime\s?zone\b|工作时间|上班|下班|作息|时区|(?:晚上|夜里|凌晨|早上)(?:工作|写代码)"
    ),
    "communication": Pattern(
        r"(?i)\b(?:answers?|repl(?:y|ies)|responses?|explanations?|tone|concise|brief|verbose|in\s+(?:English|Chinese))\b"
        r"|回复|回答|沟通|语气|简洁|简短|详细|解释|(?:用|讲|说)(?:中文|英文)"
    ),
    "code_style": Pattern(
        r"(?i)\b(?:indent\w*|tabs?|spaces|naming|code\s+style|type\s+(?:hints?|annotations?)|snake_case|camelCase|quotes|semicolons?|docstrings?|line\s+length)\b"
        r"|缩进|命名|代码风格|编码风格|注释|类型(?:注解|标注)|空格|制表符|驼峰|下划线|单引号|双引号|分号|行宽"
    ),
    "focus_areas": Pattern(
        r"(?i)\b(?:focus(?:es|ed)?\s+on|responsible\s+for|interested\s+in|speciali[sz]\w+\s+in)\b|专注|主要负责|研究方向|擅长|感兴趣"
    ),
    "credential_habits": Pattern(
        r"(?i)\b(?:password\s+manager|1Password|Bitwarden|KeePass\w*|LastPass|secrets?\s+manager|two-factor|2FA|rotat\w+\s+(?:the\s+)?(?:keys?|passwords?|tokens?|secrets?))\b"
        r"|密码管理|密钥管理|两步验证|双因素|定期(?:更换|轮换)(?:密码|密钥)"
    ),
}


def found(facts: Sequence[Memory]) -> list[Statement]:
    """Return the statements that facts make, the newest first, in the order of the parts."""
    statements: dict[str, list[Statement]] = {part: [] for part in STRUCTURED}
    telling = [fact for fact in facts if not find(fact.content)]
    for part, sentences in _sentences(telling):
        if len(statements[part]) < SENTENCES_OF_A_PART:
            statements[part].append(sentences)
    for (part, name), fact_id in _names(telling).items():
        if len(statements[part]) < NAMES_OF_A_PART:
            statements[part].append(Statement(part, name, (fact_id,)))
    return [one for part in statements.values() for one in part]


def _sentences(facts: Sequence[Memory]) -> Iterator[tuple[str, Statement]]:
    for fact in facts:
        plain = simplified(fact.content)
        own = fact.category in {Category.PREFERENCE, Category.CONSTRAINT} or _OWN.search(plain)
        if fact.scope is not Scope.USER or not own or full_width_length(fact.content) > limits.FACT_FULL_WIDTH:
            continue
        parts = [part for part, form in _SENTENCES.items() if form.search(plain)]
        if fact.category is Category.CONSTRAINT:
            parts.append("constraints")
        yield from ((part, Statement(part, normalise(fact.content), (fact.id,))) for part in parts)


def _names(facts: Sequence[Memory]) -> dict[tuple[str, str], str]:
    """Return the names, each with the last confirmed fact that has it: more of them would hide a name whenever any of them goes."""
    names: dict[tuple[str, str], str] = {}
    for fact in facts:
        if fact.project is not None and fact.scope is Scope.PROJECT:
            names.setdefault(("active_projects", fact.project), fact.id)
        if fact.category in _TELLING and not negated(fact.content):
            for part, these in named(fact.content).items():
                for name in these:
                    names.setdefault((part, name), fact.id)
    return names
