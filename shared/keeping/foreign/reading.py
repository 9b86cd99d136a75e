"""Reading a page of a foreign form. Pure.

Each page stands by itself: a JSON document, a table with the names of its columns, daily files from their date on, or lines.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from shared.domain.errors import Invalid
from shared.keeping.foreign import cmdcode, mao, mem0, pasted, skill
from shared.keeping.foreign.decoding import text_of
from shared.keeping.foreign.detecting import CMDCODE, MAO, MEM0, MEMORY_SKILL, TEXT
from shared.keeping.foreign.occasion import RECORDS, Occasion, too_many
from shared.keeping.importing.nacre import Read
from shared.keeping.importing.records import Reason, Record, Refusal
from shared.keeping.importing.thread import Thread

_READERS: Final[Mapping[str, Callable[[str, Occasion], Iterator[Record | Refusal]]]] = {
    CMDCODE: cmdcode.read,
    MAO: mao.read,
    MEMORY_SKILL: skill.read,
    MEM0: mem0.read,
    TEXT: pasted.read,
}
_NOT_OF_IT: Final = frozenset({Reason.NOT_JSON, Reason.UNKNOWN_KIND})


def read(form: str, data: str | bytes, before: Thread, occasion: Occasion) -> Read:
    """Return the next page of a file: records, refusals, and the thread after it. Numbers of lines go on from the pages before.

    Raises Invalid when nothing of it is of that form, it has too many records, its bytes are no text or the keys do not open it;
    TooLarge. Whatever else is in a page is refused record by record.
    """
    text = text_of(data)
    found, last = Read(thread=before), before.lines
    for one in _READERS[form](text, replace(occasion, after=before.lines)):
        found.records.append(one) if isinstance(one, Record) else found.refused.append(one)
        last = max(last, one.line)
        if len(found.records) + len(found.refused) > RECORDS:
            raise too_many()
    if not found.records and all(refusal.reason in _NOT_OF_IT for refusal in found.refused):
        raise Invalid.of("data", f"Nothing in it is of the format {form}.")
    found.thread = replace(before, lines=max(last, before.lines + text.count("\n") + (text[-1:] not in ("", "\n"))))
    return found
