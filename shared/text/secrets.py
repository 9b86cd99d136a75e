"""Finding the values of secrets in Chinese and English text, and masking them so that the text can be shown and searched.

Only the value is a secret; the words around it ("数据库密码: ") stay, because they are what the owner will search for.
Knows nothing of storage or sealing. The forms stand in `secret_forms.py`; why no library does this is in
docs/decisions/secret-detector.md.
"""

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from shared.text import secret_forms as forms
from shared.text.han import simplified
from shared.text.pattern import Pattern

MASK = "***"

_LONGEST_JUDGED = 512
_RUN = Pattern(rf"[!-~]{{1,{_LONGEST_JUDGED}}}")
_REST_OF_RUN = Pattern(r"[!-~]*")
_QUOTED = Pattern(r"[\"'“「『`‘](?P<value>[^\n\"'”」』`’]{3,200})[\"'”」』`’]")
_CUT = Pattern(r"[;&](?=\w+=)|,(?=[\"']?[\w-]+[\"']?[:=])|[;&,|](?=\s|$)|</")
_TRAILING = ".,;:?\"'`>]}"
_WORDS = Pattern(r"[a-z]{3,12}(?:[ \t][a-z]{3,12}){3,23}(?![A-Za-z])")
_PAIR = Pattern(r"(?P<user>[\w.@+-]{1,60})\s?(?:/|,|，|:|：|、|\||和|and\s|\s)\s?(?P<value>[!-~]{4,200})")
_CLAUSE_END = Pattern(
    r"(?:[,;:，。；！？!?.]?\s*$|[,;，。；！？)）\n]|[.!?](?:\s|$)|\s(?:and|for|so|but|on|with|—|-|\()(?:\s|\w))"
)
_IDENTIFIER = Pattern(r"[A-Za-z]+(?:[_.][A-Za-z]+)+")
_KEBAB = Pattern(r"[a-z]+(?:-[a-z]+)+")
_MIXED = Pattern(r"(?=.*[A-Za-z])(?=.*\d)[!-~]+", re.DOTALL)
_HEX = Pattern(r"[0-9a-fA-F]+(?:-[0-9a-fA-F]+)*")
_SENSITIVE_NAME = Pattern(r"(?i)key|token|secret|passw|pwd|auth|cred|sig|salt")
_PUBLIC_NAME = Pattern(
    r"(?i)public|cache|primary|foreign|partition|sort|idempoten|object|hash|sha\d|etag|digest|integrity|checksum|commit|uuid|version|image|path|url"
)
_PEM_BODY = Pattern(r"[\w+/=\\:, .-]*(?:\r?\n[A-Za-z0-9+/=]{16,}(?=\r?\n|$))*")
_LABEL_WINDOW = 48
_CLAUSE = Pattern(r"[\n\r，。；！？,;!?]|\.\s")
_LABEL_TAIL = Pattern(
    r"(?i)(?:\s|[:：=＝>\"'“「『`‘(（*-]|\b(?:is|was|are|now|be|will|should|set|changed|to|the)(?=\W*$)|是|为|叫做?|用的是|改成了?|改为|设为|换成了?)+$"
)


class Secret(NamedTuple):
    """One secret's value: `text[start:end]`; `label` is the words before it ("" if none); `kind` is the form found."""

    start: int
    end: int
    label: str
    kind: str


class Masked(NamedTuple):
    """Text with every value replaced by MASK; `values` holds (offset in this text, value), in order."""

    text: str
    values: list[tuple[int, str]]


def find(text: str) -> list[Secret]:
    """Return the secrets in the text, in order and without overlap; time is linear in the text's length.

    密碼 is judged as 密码 is: the forms are written in the simplified script.
    """
    plain = text if text.isascii() else simplified(text)
    spans = sorted(
        [*_private_keys(plain), *_known(plain), *_carried(plain), *_labelled(plain), *_assigned(plain)],
        key=lambda span: (span[0], -span[1]),
    )
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in spans:
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = (first, max(last, end), known)
        else:
            merged.append((start, end, kind))
    before = [0, *(end for _, end, _ in merged)]
    return [
        Secret(start, end, _label(text, max(done, start - _LABEL_WINDOW), start), kind)
        for done, (start, end, kind) in zip(before, merged, strict=False)
    ]


def mask(text: str) -> Masked:
    """Replace the value of every secret by MASK; `unmask` gives the very same text back."""
    pieces: list[str] = []
    values: list[tuple[int, str]] = []
    done = length = 0
    for secret in find(text):
        before = text[done : secret.start]
        length += len(before)
        pieces += [before, MASK]
        values.append((length, text[secret.start : secret.end]))
        length += len(MASK)
        done = secret.end
    return Masked("".join([*pieces, text[done:]]), values)


def unmask(masked: Masked) -> str:
    """Put the values back. Raises ValueError when an offset does not point at a mask."""
    pieces: list[str] = []
    done = 0
    for offset, value in masked.values:
        if offset < done or not masked.text.startswith(MASK, offset):
            raise ValueError("no mask at the offset of a value")
        pieces += [masked.text[done:offset], value]
        done = offset + len(MASK)
    return "".join([*pieces, masked.text[done:]])


def contains_mask(text: str) -> bool:
    """Whether the mask stands in the text, in whatever width and with whatever nobody sees in between: such an edit would overwrite a
    secret by its own mask."""
    if text.isascii():
        return MASK in text
    return MASK in "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")


def _private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    if "PRIVATE KEY" not in text:
        return
    ends = [end.end() for end in forms.PEM_END.finditer(text)]
    done = at = 0
    for begin in forms.PEM_BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while at < len(ends) and ends[at] <= begin.end():
            at += 1
        body = _PEM_BODY.match(text, begin.end())
        done = ends[at] if at < len(ends) else (body.end() if body else begin.end())
        yield begin.start(), done, "private_key"


def _known(text: str) -> Iterator[tuple[int, int, str]]:
    for token in forms.known_tokens().finditer(text):
        yield token.start(), token.start() + len(token.group().rstrip("-.")), "token"


def _carried(text: str) -> Iterator[tuple[int, int, str]]:
    for found in forms.carried().finditer(text):
        name = found.lastgroup or ""
        value = found.group(name)
        kind = "connection" if name == "value1" else "token"
        if forms.PLACEHOLDER.fullmatch(value) or value.lower() in {
            "password",
            "passwd",
            "pass",
            "pwd",
            "secret",
            "token",
        }:
            continue
        yield found.start(name), found.end(name), kind


def _labelled(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    for label in forms.labelled().finditer(text):
        if label.start() < done:
            continue
        span = _value_after(text, label)
        if span:
            done = span[1]
            yield (*span, "token" if label["machine"] else "password")
            if later := _changed_to(text, span[1]):
                done = later[1]
                yield (*later, "password")


def _changed_to(text: str, end: int) -> tuple[int, int] | None:
    """The newer value in "密码是 old1，后来改成 new2": it has no label of its own."""
    link = forms.FOLLOW_ON.match(text, end)
    run = _RUN.match(text, link.end()) if link else None
    if not run:
        return None
    value = _trimmed(run.group())
    mixed = len(value) >= 4 and _MIXED.fullmatch(value) and not forms.PLACEHOLDER.fullmatch(value)
    return (run.start(), run.start() + len(value)) if mixed else None


def _value_after(text: str, label: re.Match[str]) -> tuple[int, int] | None:
    at = label.end()
    strength = "strong" if label["strong"] is not None else "weak" if label["weak"] is not None else "bare"
    if label["phrase"] and strength != "bare" and (words := _WORDS.match(text, at)):
        return words.span()
    if label["pair"]:
        return _pair_value(text, at) if strength != "bare" else None
    if strength != "bare" and (quoted := _QUOTED.match(text, at)):
        value = quoted["value"]
        if len(value) >= 4 and value.lower() not in forms.TALK and not forms.PLACEHOLDER.fullmatch(value):
            return quoted.span("value")
        return None
    if label["label"] in {"口令", "暗号"} and strength == "strong" and (han := forms.HAN_PHRASE.match(text, at)):
        return None if forms.HAN_TALK & set(han.group()) else han.span()
    return _plain_value(text, label, strength)


def _plain_value(text: str, label: re.Match[str], strength: str) -> tuple[int, int] | None:
    at = label.end()
    run = _RUN.match(text, at)
    if not run:
        return None
    cut = _CUT.search(run.group())
    value = _trimmed(run.group()[: cut.start()] if cut else run.group())
    end = at + len(value)
    touching = at == label.end("label")
    if strength == "bare" and touching and label["label"].isascii():
        return None
    if not _plausible(value, bool(label["machine"]), strength, text[end : end + 24], label):
        return None
    if not cut and len(run.group()) == _LONGEST_JUDGED and (rest := _REST_OF_RUN.match(text, run.end())):
        end = rest.end()
    return at, end


def _trimmed(value: str) -> str:
    value = value.rstrip(_TRAILING)
    while value.endswith(")") and "(" not in value:
        value = value[:-1].rstrip(_TRAILING)
    return value


def _pair_value(text: str, at: int) -> tuple[int, int] | None:
    pair = _PAIR.match(text, at)
    if not pair:
        return None
    value = _trimmed(pair["value"])
    if len(value) < 4 or value.isalpha() or not _MIXED.fullmatch(value) or forms.PLACEHOLDER.fullmatch(value):
        return None
    return pair.start("value"), pair.start("value") + len(value)


def _plausible(value: str, machine: bool, strength: str, after: str, label: re.Match[str]) -> bool:
    """Whether a run of signs after a label is a value and not talk, a placeholder, code or a measure."""
    if len(value) < 4 or value.lower().rstrip("!") in forms.TALK or forms.PLACEHOLDER.fullmatch(value):
        return False
    if strength != "strong" and forms.TALK_AFTER_ZH.match(after):
        return False
    if value.isdigit():
        if forms.NUMBER_UNIT.match(after) or (strength == "bare" and label["label"].isascii()):
            return False
        return len(value) >= (10 if machine else 4)
    if strength == "bare":
        return bool(_MIXED.fullmatch(value)) and len(value) >= (16 if machine else 6) and value[0] not in "([{<-"
    if label["label"].lower().startswith("pin"):
        return any(sign.isdigit() for sign in value)
    if machine:
        return _plausible_token(value, strength)
    return _plausible_password(value, strength, after)


def _plausible_token(value: str, strength: str) -> bool:
    """A token is drawn by a machine: letters with digits, or a very long word of mixed case."""
    if value.isalpha() or _IDENTIFIER.fullmatch(value):
        return len(value) >= 20 and value[1:] != value[1:].lower() and value != value.upper() and value.isalpha()
    return bool(_MIXED.fullmatch(value)) and len(value) >= (6 if strength == "strong" else 8)


def _plausible_password(value: str, strength: str, after: str) -> bool:
    lower = value.lower().rstrip("!")
    if value.rstrip("!").isalpha() or _IDENTIFIER.fullmatch(value):
        return _plausible_word(value, strength, after)
    if _KEBAB.fullmatch(value):
        return (value.count("-") >= 2 or strength == "strong") and not lower.endswith(forms.TALK_ENDINGS)
    return any(sign.isalnum() for sign in value) and not lower.endswith("n't")


def _plausible_word(value: str, strength: str, after: str) -> bool:
    inner_capital = value[1:] != value[1:].lower() and value != value.upper()
    if not _CLAUSE_END.match(after):
        return False
    if _IDENTIFIER.fullmatch(value):
        return strength == "strong" and not forms.CODE_WORDS & set(re.split(r"[_.]", value.lower()))
    if strength == "strong" or inner_capital:
        return True
    return len(value) >= 5 and not value.lower().endswith(forms.TALK_ENDINGS)


def _assigned(text: str) -> Iterator[tuple[int, int, str]]:
    for found in forms.assignment().finditer(text):
        name, value = found["name"], found["value"]
        if _PUBLIC_NAME.search(name) or not _random(value):
            continue
        sensitive = _SENSITIVE_NAME.search(name) is not None
        if sensitive or (not _HEX.fullmatch(value) and len(value) >= 24 and _entropy(value) >= 4.0):
            yield found.start("value"), found.end("value"), "assignment"


def _random(value: str) -> bool:
    """Whether the longest unbroken part looks drawn by a machine: letters mixed with at least three digits."""
    longest = max(re.split(r"[-_/+=]", value), key=len)
    digits = sum(sign.isdigit() for sign in longest)
    return (
        len(longest) >= 12 and digits >= 3 and digits < len(longest) and value.count("/") < 4 and _entropy(value) >= 3.0
    )


def _entropy(value: str) -> float:
    """Shannon's entropy in bits per sign."""
    size = len(value)
    return -sum((n := value.count(sign)) / size * math.log2(n / size) for sign in set(value))


def _label(text: str, since: int, start: int) -> str:
    """The words of the clause before a value; `since` keeps an earlier secret's value out of them."""
    clause = _CLAUSE.split(text[since:start])[-1]
    return clause[: len(_LABEL_TAIL.sub("", simplified(clause)))].strip()
