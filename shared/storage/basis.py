"""Basis: the memories that a text rests on. It is shown only while all of them stand, and whoever reads it asks that anew.

So deleting, dismissing or the end of a memory hides at once what was made of it (a summary, a portrait), and maintenance clears the text.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.memory import Memory, Status
from shared.ports import Item
from shared.storage import items, names
from shared.storage.preferences import retention_days
from shared.storage.vaults import Opened


def sks(ids: Iterable[str]) -> list[str]:
    """Return the sort keys of the memories to read before `standing` is asked, each once."""
    return sorted({names.MEMORY + memory_id for memory_id in ids})


def standing(opened: Opened, found: Mapping[str, Item], ids: Iterable[str], now: datetime) -> frozenset[str]:
    """Return which of the ids are memories that stand, among items by sort key: there, not dismissed, not over. One that does not open
    does not stand. The owner was opened with the settings, which say how long memories are kept."""
    days = retention_days(opened)
    return frozenset(
        memory_id
        for memory_id in set(ids)
        if (memory := _opened(opened.keys, found.get(names.MEMORY + memory_id))) is not None
        and memory.status is not Status.DISMISSED
        and not memory.expired(now, days)
    )


def replaced(opened: Opened, found: Mapping[str, Item], ids: Iterable[str]) -> dict[str, str | None]:
    """Return which of the ids are memories that a consolidation took away, with the one that says their fact now (None: another one
    said it already). Whoever keeps a basis moves it there before they are gone for good."""
    memories = {memory_id: _opened(opened.keys, found.get(names.MEMORY + memory_id)) for memory_id in set(ids)}
    return {
        memory_id: memory.replaced_by
        for memory_id, memory in memories.items()
        if memory is not None and memory.status is Status.RETIRED
    }


def holds(basis: Collection[str] | None, stand: Collection[str]) -> bool:
    """Tell whether a text may be shown: all that it rests on stands. What a person wrote rests on nothing and always holds."""
    return all(memory_id in stand for memory_id in basis or ())


def _opened(keys: OwnerKeys, item: Item | None) -> Memory | None:
    if item is None:
        return None
    try:
        return items.from_item(keys, item).memory
    except SealBroken:
        return None
