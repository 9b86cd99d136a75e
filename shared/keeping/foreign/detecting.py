"""Telling the form of a file by what is in it. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from itertools import islice
from typing import Any, Final

from shared.domain.errors import Invalid
from shared.keeping.foreign import cmdcode, mao, mem0, pasted, skill
from shared.keeping.foreign.decoding import text_of
from shared.keeping.foreign.rows import columns, delimiter, document, first_line, lines, looks_like_json, rows
from shared.keeping.importing.records import Refusal
from shared.text.pattern import Pattern

CMDCODE, MAO, MEMORY_SKILL, MEM0, TEXT = "cmdcode", "mao", "memory_skill", "mem0", "text"
FORMATS: Final = (CMDCODE, MAO, MEMORY_SKILL, MEM0, TEXT)
"""Names of the forms that are read here."""
SURE: Final = 0.6
"""Share of what was looked at that must be of a form."""
_LOOKED_AT: Final = 50
_FEWEST_COLUMNS: Final = 2
_CELL: Final = Pattern(r"[\w -]{1,64}")


def detect(data: str | bytes) -> str:
    """Return the form of a file, or of its first page. Raises Invalid where it is empty, and one that lists the forms where none or
    more than one is sure.
    """
    text = text_of(data)
    if not text.strip():
        raise Invalid.of("data", "There is nothing in it.")
    sure = [form for form, share in likenesses(text).items() if share >= SURE]
    if len(sure) != 1:
        raise Invalid.of(
            "format", f"The data does not show its format. Say which one it is: nacre, {', '.join(FORMATS)}."
        )
    return sure[0]


def likenesses(text: str) -> Mapping[str, float]:
    """Return how much of what was looked at is of each form, from 0 to 1."""
    if looks_like_json(text):
        return _of_rows(text)
    names = columns(text)
    if set(names) >= mao.COLUMNS:
        return {MAO: 1.0}
    if _is_table(text, names):
        return {}
    if any(skill.SESSION.fullmatch(line) for _, line in islice(lines(text), 10 * _LOOKED_AT)):
        return {MEMORY_SKILL: 1.0}
    return {TEXT: pasted.likeness(text, UTC)}


def _of_rows(text: str) -> Mapping[str, float]:
    if skill.is_export(document(text)):
        return {MEMORY_SKILL: 1.0}
    found: list[Mapping[str, Any]] = [
        {} if isinstance(row, Refusal) else row[1] for row in islice(rows(text, 0), _LOOKED_AT)
    ]
    forms = {CMDCODE: cmdcode.is_row, MAO: mao.is_row, MEM0: mem0.is_row}
    return {form: sum(map(is_row, found)) / len(found) for form, is_row in forms.items()} if found else {}


def _is_table(text: str, names: Sequence[str]) -> bool:
    """Tell whether a text is a table with names like these: short words, not several set off by a space as in a sentence, and as many
    cells beneath."""
    first, by = first_line(text), delimiter(text)
    sentence = f"{by} " in first and any(" " in name for name in names)
    if len(names) < _FEWEST_COLUMNS or sentence or not all(_CELL.fullmatch(name) for name in names if name):
        return False
    second = first_line(text.lstrip()[len(first.lstrip()) :])
    return second.count(by) >= len(names) - 1 or '"' in second
