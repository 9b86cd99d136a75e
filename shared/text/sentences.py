"""Cutting Chinese, English and mixed text into sentences that are exact pieces of it.

Full stops that end nothing (versions, addresses, abbreviations, list numbers) do not cut; neither does anything inside
a short quotation or bracket. Every scan is one pass: quotations are matched by a stack, not by backtracking.
"""

from shared.text.pattern import Pattern

_END = Pattern(r"[。！？；…!?.]+")
_LINE = Pattern(r"[^\n\r\u2028\u2029\x85\v\f]+")
_ONLY_CLOSERS = "”’」』）】》〉"
_CLOSERS = "\"'”’」』）)]】》〉`"
_PAIRS = {"”": "“", "’": "‘", "」": "「", "』": "『", "）": "（", ")": "(", "】": "【", "》": "《", "]": "["}
_OPENERS = frozenset(_PAIRS.values())
_STRAIGHT = '"`'
_PROTECTED_LENGTH = 200


def _words(words: str) -> list[str]:
    return words.split()


_ABBREVIATION = frozenset(
    _words("e.g i.e eg ie mr mrs ms dr prof vs fig approx cf resp ver incl excl dept est viz st gen sgt rev hon")
)
_ABBREVIATION_UNLESS_CAPITAL = frozenset(_words("etc inc ltd co corp a.m p.m u.s u.k jr sr al bros"))
_BEFORE_NUMBER = frozenset(_words("no nr p pp vol sec ch art ex jan feb mar apr jun jul aug sep sept oct nov dec"))
_WORD_BEFORE = Pattern(r"[A-Za-z][A-Za-z.]{0,12}$")
_LIST_NUMBER = Pattern(r"\s*[(（]?(?:\d{1,3}|[A-Za-z])$")


def split(text: str) -> list[str]:
    """Return the sentences of the text in order, each an exact substring of it without white space around.

    Sentences end at 。！？；… . ! ? and at line ends; closing quotes and brackets stay with what they close.
    """
    return [text[start:end] for start, end in spans(text)]


def spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of every sentence of `split`, in order and without overlap."""
    found: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        found.extend((line.start() + start, line.start() + end) for start, end in _split_line(line.group()))
    return found


def _split_line(line: str) -> list[tuple[int, int]]:
    inside = _protected(line)
    pieces: list[tuple[int, int]] = []
    start = 0
    for mark in _END.finditer(line):
        end = mark.end()
        closed = end
        while closed < len(line) and (
            line[closed] in _ONLY_CLOSERS or (line[closed] in _CLOSERS and inside[closed - 1])
        ):
            closed += 1
        if closed < len(line) and inside[closed]:
            continue
        if closed == end and inside[end - 1]:
            continue
        if _ends_sentence(line, start, mark.start(), end, closed):
            pieces.append((start, closed))
            start = closed
    pieces.append((start, len(line)))
    return [trimmed for trimmed in (_trimmed(line, *piece) for piece in pieces) if trimmed[0] < trimmed[1]]


def _trimmed(line: str, start: int, end: int) -> tuple[int, int]:
    piece = line[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _protected(line: str) -> bytearray:
    """Mark the signs that stand between a short pair of quotes or brackets.

    The pair itself is not marked, so that a sentence can end on the closing sign and begin on the opening one.
    """
    marked = bytearray(len(line) + 1)
    open_at: dict[str, list[int]] = {}
    for at, sign in enumerate(line):
        if sign in _STRAIGHT and open_at.get(sign):
            _mark(marked, open_at[sign].pop(), at)
        elif sign in _STRAIGHT or sign in _OPENERS:
            open_at.setdefault(sign, []).append(at)
        elif sign in _PAIRS and open_at.get(_PAIRS[sign]):
            _mark(marked, open_at[_PAIRS[sign]].pop(), at)
    return marked


def _mark(marked: bytearray, start: int, end: int) -> None:
    if end - start <= _PROTECTED_LENGTH:
        marked[start + 1 : end] = b"\x01" * (end - start - 1)


def _ends_sentence(line: str, start: int, mark: int, end: int, closed: int) -> bool:
    run = line[mark:end]
    follower = line[closed : closed + 1]
    if set(run) - set("!?."):
        return True
    if follower and not follower.isspace() and follower.isascii():
        return False
    if set(run) != {"."}:
        return True
    return _stop_ends_sentence(line, start, mark, run, line[closed : closed + 16])


def _stop_ends_sentence(line: str, start: int, mark: int, run: str, after: str) -> bool:
    following = after.lstrip()[:1]
    if len(run) > 1:
        return not following.islower()
    if _LIST_NUMBER.fullmatch(line[max(start, mark - 16) : mark]) and following:
        return False
    if after and not after[0].isspace() and line[mark - 1 : mark].isdigit():
        return False
    word = _WORD_BEFORE.search(line, max(start, mark - 14), mark)
    name = word.group().lower() if word else ""
    if name in _ABBREVIATION:
        return False
    if name in _ABBREVIATION_UNLESS_CAPITAL:
        return not following.islower()
    return not (name in _BEFORE_NUMBER and following.isdigit())
