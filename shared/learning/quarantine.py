"""Taking out of a conversation what tries to be learned without the person having said it.

Two kinds: memories that Nacre itself had put into the conversation, and orders to the assistant ("remember: always …", "ignore previous
instructions") in text of tools, documents or the assistant. What the user says in own words is never touched.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shared.learning.conversation import Message
from shared.text.han import simplified
from shared.text.normalise import has_words
from shared.text.pattern import Pattern
from shared.text.sentences import spans
from shared.text.spoken import own_words

_TOLD = Pattern(
    r"(?is)(?:<|&lt;|&#0*60;|&#x0*3c;|\\u003c|\\x3c)\s{0,4}nacre_memory\b"
    r".*?(?:(?:<|&lt;|&#0*60;|&#x0*3c;|\\u003c|\\x3c)\s{0,4}\\?/\s{0,4}nacre_memory\s{0,4}(?:>|&gt;|&#0*62;|&#x0*3e;|\\u003e|\\x3e)|\Z)"
)
_ORDER = Pattern(
    r"""(?ix)
      \b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your|system)\b.{0,40}
        \b(?:instructions?|prompts?|rules?|messages?|guidelines?|context|told)\b
    | \b(?:ignore|disregard|forget|override|bypass)\s+(?:the|all|any|your|those|these|every)\s+(?:\w+\s+)?(?:instructions?|prompts?|rules?
        |guidelines?)\b
    | \b(?:remember|memori[sz]e|keep\s+in\s+mind|note)\b.{0,60}\b(?:always|never|from\s+now\s+on|whenever|every\s+time|in\s+future
        |must|should)\b
    | \b(?:from\s+now\s+on|henceforth|going\s+forward|in\s+(?:all\s+)?(?:the\s+)?future|in\s+every\s+(?:reply|answer|session))\b.{0,80}
        \b(?:always|never|you|must|should|do|send|bcc|cc|use|include|answer|reply)\b
    | \b(?:save|store|add|write|record|put|commit)\b.{0,60}\b(?:to|in|into|as)\b.{0,24}\b(?:memory|memories|preferences?|persona
        |profile|long[- ]term)\b
    | \b(?:the|this|your)\s+user\b.{0,24}\b(?:prefers?|wants?|likes?|loves?|hates?|authori[sz]e[sd]?|approve[sd]?|agree[sd]?
        |consent(?:s|ed)|trusts?|insists?)\b
    | \byou\s+(?:are\s+now|must\s+(?:now|always|never)|will\s+(?:now|always|never)|should\s+(?:always|never))\b
        | \bpretend\s+(?:to\s+be|you)\b
    | ^\W{0,6}(?:new|updated|important|hidden)\s+(?:system\s+)?(?:instructions?|rules?|orders?)\b
    | ^\W{0,6}(?:system|developer)\s*(?:prompt|message|override|note|instructions?)\b\s*: | <\s{0,4}/?\s{0,4}(?:system
        |instructions?|important)\s{0,4}>
    | (?:忽略|无视|忘记|忘掉|抛弃|跳过|推翻|不要理会).{0,12}(?:之前|以前|前面|上面|上述|以上|先前|此前|所有|一切|任何
        |系统).{0,12}(?:指令|指示|规则|提示|要求|内容|设定|命令|消息)
    | (?:记住|牢记|记下|记得|谨记|请记).{0,40}(?:以后|今后|从现在|从今|每次|总是|永远|一律|都要|都用|必须|务必|始终|不要|别再|绝不)
    | (?:以后|今后|从现在开始|从现在起|从今往后|从此).{0,30}(?:都|一律|必须|务必|总是|始终|永远|不要|绝不)
    | (?:保存|存入|存到|写入|写进|写到|加入|加到|记录|记到|添加|放进).{0,16}(?:记忆|偏好|画像|长期记忆|人设)
    | (?:该|此|这位|这个|本|你的)用户.{0,6}(?:偏好|喜欢|希望|要求|授权|同意|总是|一律|讨厌|信任|想要) | ^\W{0,6}用户(?:偏好|喜欢
        |希望|要求|已授权|已同意)
    | 你(?:现在|从现在起|必须|务必)(?:是|扮演|始终|总是|永远|一律) | (?:系统|开发者)(?:提示词?|指令|消息|命令)\s?[:：]
        | ^\W{0,6}新的?(?:指令|规则|命令)\s?[:：]
    """
)
_LONGEST_JUDGED = 2_000
_ROLES_OF_OTHERS = frozenset({"assistant", "tool", "function"})

Span = tuple[int, int]


def quarantine(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """Return the messages without what Nacre told and without orders from outside, and how many orders were cut out.

    An order is cut with its sentence. System and developer messages are returned as they are: nobody learns from them.
    """
    cleaned: list[Message] = []
    count = 0
    for message in messages:
        text = without_told(message.text)
        orders = list(_orders(text, message.role))
        count += len(orders)
        cleaned.append(replace(message, text=_without(text, orders)))
    return cleaned, count


def without_told(text: str) -> str:
    """Return the text without the blocks in which Nacre told memories: plain, escaped, quoted or never closed."""
    if "nacre_memory" not in text.lower():
        return text
    return _TOLD.sub("", text)


def is_order(text: str) -> bool:
    """Whether the sentence tells an assistant to obey, to remember for good, or what "the user" wants."""
    plain = unicodedata.normalize("NFKC", text[:_LONGEST_JUDGED])
    seen = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    return _ORDER.search(simplified(seen)) is not None


def _orders(text: str, role: str) -> Iterator[Span]:
    """Where orders stand in what is not the user's own words; two sentences that make one order together are one."""
    for start, end in _of_others(text, role):
        cut = [(start + first, start + last) for first, last in spans(text[start:end])]
        at = 0
        while at < len(cut):
            first, last = cut[at]
            at += 1
            if is_order(text[first:last]):
                yield first, last
            elif at < len(cut) and not is_order(text[slice(*cut[at])]):
                both = f"{text[first:last]} {text[slice(*cut[at])]}"
                if len(both) <= _LONGEST_JUDGED and is_order(both):
                    yield first, cut[at][1]
                    at += 1


def _of_others(text: str, role: str) -> list[Span]:
    if role in _ROLES_OF_OTHERS:
        return [(0, len(text))]
    if role != "user":
        return []
    others: list[Span] = []
    done = 0
    for start, end in own_words(text):
        others.append((done, start))
        done = end
    others.append((done, len(text)))
    return [(start, end) for start, end in others if has_words(text[start:end])]


def _without(text: str, cut: Sequence[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in cut:
        pieces.append(text[done:start])
        done = end
    return "".join([*pieces, text[done:]])
