"""Which parts of a user's message are the user's own words, and which were quoted, pasted or put there by a program.

Only own words can become memories: code blocks, quotations, tool output, memories that Nacre itself had injected
and documents handed over for work are left out. Every result is an exact piece of the message.
"""

import re

from shared.text.han import simplified
from shared.text.pattern import Pattern

_FRAME_NAMES = (
    "nacre_memory|nacre|memory|memories|recalled|context|document|documents|file|files|tool_result|tool_output|tool|system|attachment|attachments"
    "|search_results|webpage|article|email|log|logs|quote|pre|code|transcript|instructions"
)
_OPENING = Pattern(
    rf"(?im)^[ \t]{{0,8}}(?P<fence>`{{3,}}|~{{3,}})[^\n]*$|<(?P<frame>{_FRAME_NAMES})(?:\s[^<>\n]{{0,200}})?>"
)
_PASTED_LINE = Pattern(
    r"""(?x)\s{0,40}(?: > | \[(?:recalled|memory|tool|system|context|assistant|nacre)\b | [{}\]] | \[\s*(?:[{\["\d]|$) | "[\w .-]{1,60}"\s?:
      | \|.*\|\s*$ | </?[A-Za-z][\w-]{0,30}[\s>/] | \$\s | (?:\+\+\+|---|@@)\s | Traceback\s | File\s" | at\s[\w$.<>]+\( | diff\s--git
      | \d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL)\b[\]: ]
      | (?:import|from|def|class|const|let|var|function|return|public|private|\#include|package|export|SELECT|INSERT
        |UPDATE|CREATE)\s.*[;:{(]\s*$
      | (?:[Aa]ssistant|[Ss]ystem|[Tt]ool|AI|[Bb]ot|ASSISTANT|SYSTEM|助手|系统|工具)\s?[:：] )"""
)
_MATERIAL_NOUN_ZH = (
    "文档|文章|日志|邮件|代码|报错|内容|原文|资料|网页|聊天记录|会议纪要|纪要|输出|结果|说明|段落|文本|文字|信息|简历|论文"
    "|合同|句子|话"
)
_MATERIAL_NOUN_EN = (
    "docs?|documents?|articles?|logs?|e-?mails?|outputs?|errors?|traces?|stack\\s?traces?|pages?|readme|transcripts?|code|files?|text|snippets?|paste|messages?|threads?|issues?|tickets?"
    "|spec|paragraphs?|posts?|notes|sentences?|contract|paper"
)
_WORK_ZH = "翻译|总结|润色|改写|校对|概括|审阅|分析|解释|摘要|看看|看一下|检查|处理|修改|归纳"
_WORK_EN = (
    "translate|summari[sz]e|proofread|rewrite|review|paraphrase|explain|analy[sz]e|polish|edit|correct|check|classify"
    "|process|parse|format"
)
_HANDED_OVER = Pattern(
    rf"(?im)(?:以下|下面|如下|这)[是为]?[^。！？\n]{{0,20}}(?:{_MATERIAL_NOUN_ZH})[^。！？\n:：]{{0,10}}[:：]"
    rf"|(?:^|[。！？，]|请|帮我|帮忙|麻烦)\s?(?:{_WORK_ZH})(?![了过])[^。！？\n:：]{{0,24}}[:：]"
    rf"|\b(?:here(?:'s|\s+is|\s+are)|below\s+(?:is|are)|this\s+is|the\s+following|pasting|pasted)\b[^.!?\n:]{{0,40}}\b(?:{_MATERIAL_NOUN_EN})\b[^.!?\n:]{{0,24}}:(?=\s|$)"
    rf"|(?:^|[.!?,]\s|\bplease\s|\byou\s|\bto\s)(?:{_WORK_EN})\b[^.!?\n:]{{0,40}}:(?=\s|$)"
)
_REQUEST = Pattern(r"(?i)记住|记下|保存|remember|\bsave\b|\bnote\s+(?:this|that)\b")
_REQUEST_WINDOW = 80
_HEADING = Pattern(r"(?m)^#{1,6}[ \t]+\S")
_DOCUMENT_HEADINGS = 3


def own_words(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the pieces of the message that the user wrote, in order; line ends are kept inside them.

    A message that hands material over ("summarise this article: …") is own words up to the colon; one with three or
    more Markdown headings is a document and has none. 以下檔案 is read as 以下档案.
    """
    text = simplified(text)
    if sum(1 for _ in zip(range(_DOCUMENT_HEADINGS), _HEADING.finditer(text), strict=False)) == _DOCUMENT_HEADINGS:
        return []
    pieces: list[tuple[int, int]] = []
    for start, end in _outside_blocks(text):
        handed = _handed_over(text, start, end)
        pieces.extend(_spoken_lines(text, start, handed.end() if handed else end))
        if handed:
            break
    return pieces


def _handed_over(text: str, start: int, end: int) -> re.Match[str] | None:
    """Where material for work begins, unless the user asks to remember what follows."""
    for found in _HANDED_OVER.finditer(text, start, end):
        line = text.rfind("\n", max(0, found.start() - _REQUEST_WINDOW), found.start()) + 1
        if not _REQUEST.search(text, max(line, found.start() - _REQUEST_WINDOW), found.end()):
            return found
    return None


def _outside_blocks(text: str) -> list[tuple[int, int]]:
    """The stretches outside fences and frames; a block that is never closed reaches to the end."""
    outside: list[tuple[int, int]] = []
    at = 0
    while opening := _OPENING.search(text, at):
        outside.append((at, opening.start()))
        at = _closing(text, opening)
    outside.append((at, len(text)))
    return [(start, end) for start, end in outside if start < end]


def _closing(text: str, opening: re.Match[str]) -> int:
    fence, frame = opening["fence"], opening["frame"]
    pattern = rf"(?m)^[ \t]{{0,8}}{re.escape(fence)}[^\n]*$" if fence else rf"(?i)</{re.escape(frame)}\s*>"
    found = re.compile(pattern).search(text, opening.end())
    return found.end() if found else len(text)


def _spoken_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Join neighbouring lines that are not pasted, so that a label and its value on the next line stay together."""
    pieces: list[tuple[int, int]] = []
    open_at = at = start
    while at < end:
        line_end = text.find("\n", at, end)
        line_end = end if line_end < 0 else line_end + 1
        if _PASTED_LINE.match(text, at, line_end):
            pieces.append((open_at, at))
            open_at = line_end
        at = line_end
    pieces.append((open_at, end))
    return [(first, last) for first, last in pieces if first < last]
