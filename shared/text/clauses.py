"""A person's own words of a message, without code and quotations, as clauses in one normal form that phrases are looked up in.

Reads a bounded part of a message of any length, in linear time. Knows nothing of signals.
"""

from shared.text.normalise import has_han
from shared.text.pattern import Pattern
from shared.text.scripts import HAN, folded
from shared.text.spoken import own_words

READ = 2_000
"""Signs read at the beginning of a message without its fenced code, and as many at its end."""

HIDDEN = "\ufffc"
"""Stands for code and what was quoted; in the normal form it is the word "~"."""
_FENCE = "```"
_GROWN = 1_000
_LINE = 400
"""Signs of a line that may be missing at the beginning of the end that is read; a line cut in two is not told for what it is."""
_PARTS = 20
"""Fenced blocks that end what is handed over for work before them; the words after such a block are the person's again."""
_CODE = Pattern(r"`[^`\n]{1,400}`|(?m:^(?: {4}|\t)[^\n]*)")
_MATERIAL = Pattern(
    r"(?i)(?:翻译|润色|改写|总结|概括|\btranslate|\bproofread|\brephrase|\bsummari[sz]e)[^。！？.!?\n:：]{0,40}[:：](?=\s?\S)[^\n]*"
)
_QUOTED = Pattern(
    r"“[^“”\n]{1,400}”|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』|《[^《》\n]{1,400}》|«[^«»\n]{1,400}»"
    r'|"[^"\n]{1,400}"'
    r"|(?<![\w'])'[^'\n]{1,400}'(?![\w'])"
)
_TOKEN = Pattern(
    rf"(?P<word>-{{0,2}}[a-z0-9_$#@]+(?:(?:['./\\@=-]|::|://)[a-z0-9_]+)*)|(?P<han>[{HAN}]+)|(?P<gap>\s+)"
    rf"|(?P<hidden>{HIDDEN})|(?P<foreign>[^\W{HAN}a-z0-9_]+)|(?P<mark>[^\w\s{HIDDEN}$#@]+)|."
)


def own(message: str) -> str:
    """Return the words that the person wrote themselves: no fenced, indented or inline code, no pasted lines, no quotations.

    A message that is nothing but a quotation is read without its quotation marks. Reads at most 2 × `READ` signs.
    """
    outside = HIDDEN.join(message.split(_FENCE)[::2])
    if len(outside) > 2 * READ:
        tail = outside[-READ:]
        whole_line = tail.find("\n", 0, _LINE) + 1
        outside = f"{outside[:READ]}{HIDDEN}{tail[whole_line:]}"
    parts = outside.split(HIDDEN, _PARTS)
    spoken = "\n".join(part[start:end] for part in parts for start, end in own_words(part))
    bare = _MATERIAL.sub(HIDDEN, _CODE.sub(HIDDEN, spoken))
    unquoted = _QUOTED.sub(HIDDEN, bare)
    return unquoted if unquoted.strip(f"{HIDDEN} \n?？!！.。") else bare


def normal(text: str) -> str:
    """Return the text as ` ^ | clause | clause | `, folded (case, width, accents) and with one space around each word.

    A run of Chinese characters is one word; a path, an address, an option or an identifier is one word too, so that no phrase
    is found inside of it. Punctuation, a line end and a space between two Chinese runs end a clause. Any string is accepted; reads
    a bounded part of it once folded, for one sign can become eighteen.
    """
    words = ["^", "|"]
    gap = ""
    for token in _TOKEN.finditer(folded(text)[: 2 * READ + _GROWN]):
        kind = token.lastgroup
        if kind == "gap":
            gap = token.group()
            continue
        ended = kind == "mark" or "\n" in gap or (kind == "han" and gap and has_han(words[-1]))
        if ended and words[-1] != "|":
            words.append("|")
        if kind != "mark" and kind is not None:
            words.append("~" if kind == "hidden" else token.group())
        gap = ""
    if words[-1] != "|":
        words.append("|")
    return f" {' '.join(words)} "
