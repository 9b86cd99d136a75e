"""The facts that may be shown to a model, or to rules, which make something of many of them: the last confirmed ones that stand."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import pairwise

from shared.domain.errors import SealBroken
from shared.domain.memory import Category, Memory, Status
from shared.keeping.maintenance.visits import Visit
from shared.learning.quarantine import is_order
from shared.storage import items, names
from shared.storage.partition import latest_updates
from shared.text.han import simplified
from shared.text.pattern import Pattern
from shared.text.sentences import split

LISTED = 200
_SUBJECT = Pattern(r"(?i)\b(?:the|this)\s+(?:user|person)\b|(?:该|此|这位|这个|本)?用户|此人")


def newest(visit: Visit, most: int) -> list[Memory]:
    """Return at most so many active memories, the last confirmed first. None has a secret, is over, or is an order to an assistant."""
    found = {memory.id: memory for memory in _listed(visit, most)}
    return sorted(found.values(), key=lambda memory: (memory.updated_at, memory.id), reverse=True)[:most]


def changed(visit: Visit, categories: Collection[Category]) -> bool:
    """Tell whether a fact of these categories changed since the index was last built, which most visits of maintenance do."""
    return any(memory.category in categories for memory in _opened(visit, _changed(visit)))


def orders(text: str) -> bool:
    """Tell whether a text orders an assistant about. That it speaks of "the user" does not make it one: facts do."""
    return is_order(_SUBJECT.sub("", simplified(text)))


def orders_within(text: str) -> bool:
    """Tell whether a sentence of a longer text, or two that follow each other, orders an assistant about."""
    sentences = split(text)
    return any(map(orders, [text, *sentences, *map(" ".join, pairwise(sentences))]))


def _listed(visit: Visit, most: int) -> Iterator[Memory]:
    """Yield what changed last, which the table's index may not list yet, and then what it lists."""
    yield from _opened(visit, _changed(visit))
    count = 0
    for page in latest_updates(visit.vaults.table, visit.owner, Status.ACTIVE.value, limit=LISTED):
        for memory in _opened(visit, [key.rpartition("#")[2] for key in page]):
            count += 1
            yield memory
        if count >= most:
            return


def _changed(visit: Visit) -> list[str]:
    return [memory_id for memory_id, version in visit.opened.changes.items() if version]


def _opened(visit: Visit, ids: list[str]) -> Iterator[Memory]:
    for item in visit.vaults.table.get(visit.owner, [names.MEMORY + memory_id for memory_id in ids]).values():
        with suppress(SealBroken):
            memory = items.from_item(visit.opened.keys, item).memory
            secret = memory.category is Category.CREDENTIAL or memory.secrets
            over = memory.expired(visit.now, visit.preferences.retention_days)
            if memory.status is Status.ACTIVE and not (secret or over or orders(memory.content)):
                yield memory
