"""A merge as changes of memories, and back: the product comes in and its sources retire, or it goes and they are active again. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.drafts import with_masked
from shared.domain.ids import ulid_time
from shared.domain.memory import Memory, Origin, Source, Status
from shared.learning.consolidation.records import Planned
from shared.storage import items
from shared.storage.items import Stored
from shared.storage.transactions import Change
from shared.text.secrets import Masked

ALIASES: Final = 20
"""Texts besides its own that lead to one product; those of the sources come first, then what led to them."""
TAGS: Final = 60
"""Texts that one merge may move: more would not fit into one transaction."""


def merged(
    keys: OwnerKeys, merge: Planned, sources: Sequence[Stored], now: datetime, origin: Origin
) -> list[Change] | None:
    """Return the changes of a merge or a drop; None when too many texts lead to its sources.

    The product is as important as the most important source and in its category, has the tags of all, and was confirmed when the
    last of them was: nothing was learned of it since.
    """
    held = [tag for one in sources for tag in items.held_tags(keys, one.memory)]
    if len(held) > TAGS:
        return None
    retired = [
        Change(one, replace(one.memory, status=Status.RETIRED, replaced_by=merge.product, retired_at=now))
        for one in sources
    ]
    if merge.product is None or merge.content is None:
        return retired
    first = max((one.memory for one in sources), key=lambda memory: (memory.importance, memory.updated_at, memory.id))
    product = Memory(
        id=merge.product,
        version=1,
        content="",
        scope=first.scope,
        project=first.project,
        agent=first.agent,
        category=first.category,
        importance=first.importance,
        source=Source.CONSOLIDATED,
        status=Status.ACTIVE,
        created_at=ulid_time(merge.product),
        updated_at=max(one.memory.updated_at for one in sources),
        tags=tuple(dict.fromkeys(tag for one in sources for tag in one.memory.tags))[: limits.TAGS],
        origin=origin,
        sources=merge.ids,
    )
    product = with_masked(product, Masked(merge.content, []))
    own = [items.dedup_tag(keys, one.memory) for one in sources]
    led = dict.fromkeys([*own, *sorted(held)])
    led.pop(items.dedup_tag(keys, product), None)
    return [Change(None, replace(product, aliases=tuple(led)[:ALIASES])), *retired]


def unmerged(product: Stored | None, sources: Sequence[Stored]) -> list[Change]:
    """Return the changes that take a merge or a drop back. Their owner wants the sources as they are: they are not merged again."""
    back = [
        Change(one, replace(one.memory, status=Status.ACTIVE, replaced_by=None, retired_at=None, kept_apart=True))
        for one in sources
    ]
    return [Change(product, None), *back] if product else back


def untouched(product: Memory, made: Memory) -> bool:
    """Tell whether a product still says what it said when it was made; that it was confirmed, or made room, is no change."""
    same = replace(
        made,
        version=product.version,
        updated_at=product.updated_at,
        status=product.status,
        kept_apart=product.kept_apart,
        prior=product.prior,
        commit=product.commit,
        access_count=product.access_count,
        last_accessed_at=product.last_accessed_at,
    )
    return same == product and product.status in {Status.ACTIVE, Status.ARCHIVED}
