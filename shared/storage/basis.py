"""Basis: the memories that a text rests on, and what each of them said when the text was made of it.

A text is shown only while all of them stand and still say that, and whoever reads it asks that anew. So deleting, dismissing, editing or
the end of a memory hides at once what was made of it (a summary, a portrait), and maintenance clears the text. What was consolidated
stands as long as its product does and says what it was made with; the memory itself stays in the basis until the merge cannot be undone
any more.

What a memory said is kept as a tag under the owner's key: a bare hash of a short text could be guessed. A text that was made before
there were tags holds by the ids alone, until maintenance has looked at it once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import SealBroken
from shared.domain.ids import ulid_time
from shared.domain.memory import Memory, Status
from shared.ports import Item
from shared.storage import items, names
from shared.storage.journal import Journal
from shared.storage.preferences import retention_days
from shared.storage.vaults import Opened, Vaults
from shared.text.normalise import normalise

DROPPED: Final = ("", "")
"""Of `Said.by`: another memory, nobody knows which one, said the same already."""
_TAG: Final = 12
_ROUNDS: Final = 5
"""Reads in a row: one finds all but what was consolidated or undone since maintenance looked last."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a memory said: its tag (empty: nobody noted it); `by`: the product that says it now, with the product's tag; `of`: what a
    product was made of, with their tags, which says the same should the merge be undone."""

    tag: str = ""
    by: tuple[str, str] | None = None
    of: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Basis:
    """The ids of memories, with what those said of which that is known. What a person wrote rests on nothing."""

    ids: tuple[str, ...] = ()
    said: Mapping[str, Said] = field(default_factory=dict)

    def form(self) -> dict[str, Any]:
        """Return what is stored of what they said."""
        return {one: _form(self.said[one]) for one in self.ids if self.said.get(one, Said()) != Said()}


NOTHING: Final = Basis()
"""What a person wrote rests on it."""


def stored(ids: Iterable[str] | None, said: Mapping[str, Any] | None) -> Basis:
    """Return the basis whose ids and whose `form` these are."""
    return Basis(tuple(ids or ()), {one: _said(form) for one, form in (said or {}).items()})


def basis_of(keys: OwnerKeys, memories: Iterable[Memory], now: datetime) -> Basis:
    """Return the basis of a text that is made of these memories as they are."""
    said = {
        one.id: Said(tag_of(keys, one), of=dict.fromkeys(one.sources if _undoable(one, now) else (), ""))
        for one in memories
    }
    return Basis(tuple(said), said)


def tag_of(keys: OwnerKeys, memory: Memory) -> str:
    """Return the tag of what a memory says, and of what of it is a secret. White space, category, importance, tags make no difference."""
    return keys.tag("basis", memory.id, normalise(memory.content), normalise(items.full_text(memory)))[:_TAG]


class _Unread(Exception):
    """Whether it holds turns on a memory that was not read yet."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Memories as they were read, to see which texts they bear; `as_made` tells whether a product says what it was made with."""

    keys: OwnerKeys
    now: datetime
    days: int
    as_made: Callable[[Memory], bool]
    found: dict[str, Memory | None] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)
    tags: dict[str, str] = field(default_factory=dict)
    unsaid: frozenset[str] = frozenset()
    """Memories of which an earlier version is being forgotten: a text may rest on that one, unless a tag says on which."""

    def ids(self, basis: Basis) -> tuple[str, ...] | None:
        """Return the memories that say now what a text rests on; None where it may not be shown."""
        spoken = [self.spoken(one, basis.said.get(one, Said())) for one in basis.ids]
        ids = tuple(dict.fromkeys(one for these in spoken for one in these or ()))
        return None if None in spoken or (basis.ids and not ids) else ids

    def holds(self, basis: Basis) -> bool:
        """Tell whether a text may be shown: all that it rests on stands and says what it said."""
        return self.ids(basis) is not None

    def kept(self, basis: Basis) -> Basis | None:
        """Return the basis as it is to be stored from now on; None where the text is to go. What was consolidated keeps its place until it
        is gone for good; one that was only dropped bears nothing, but may come back."""
        found = [self._kept(one, basis.said.get(one, Said())) for one in basis.ids]
        if None in found:
            return None
        said = {memory_id: one for these in found for memory_id, one in (these or {}).items()}
        return Basis(tuple(said), said) if said or not basis.ids else None

    def memory(self, memory_id: str) -> Memory | None:
        """Return a memory that was read; None where it is not there or does not open."""
        return self.found.get(memory_id)

    def spoken(self, memory_id: str, said: Said) -> tuple[str, ...] | None:
        """Return who says now what one memory said: itself, its product, what that was made of; nobody where it was dropped. None where it
        does not stand, or says something else."""
        try:
            return self._spoken(memory_id, said)
        except _Unread:
            return None

    def _spoken(self, memory_id: str, said: Said) -> tuple[str, ...] | None:
        if said.by is not None and said.by != DROPPED:
            product = self._read(said.by[0])
            spoken = self._stands(product) if product and self._says(product, said.by[1]) else None
            if spoken is not None:
                return spoken
        memory = self._read(memory_id)
        if memory is not None:
            return self._stands(memory) if self._says(memory, said.tag) else None
        if said.by == DROPPED:
            return ()
        sources = [(self._read(one), tag) for one, tag in said.of.items()]
        back = [one.id for one, tag in sources if one is not None and self._living(one) and self._says(one, tag)]
        return tuple(back) if back and len(back) == len(sources) else None

    def _stands(self, memory: Memory) -> tuple[str, ...] | None:
        while memory.status is Status.RETIRED:
            if memory.replaced_by is None:
                return ()
            product = self._read(memory.replaced_by)
            if product is None or not self.as_made(product):
                return None
            memory = product
        return (memory.id,) if self._living(memory) else None

    def _kept(self, memory_id: str, said: Said) -> dict[str, Said] | None:
        try:
            spoken, memory = self._spoken(memory_id, said), self._read(memory_id)
            if spoken is None:
                return None
            if memory is None or spoken == (memory_id,):
                speakers = [self._read(one) for one in spoken]
                return {one.id: Said(self._tag(one), of=self._sources(one, said)) for one in speakers if one}
            product = self._read(spoken[0]) if spoken else None
            by = (product.id, self._tag(product)) if product else DROPPED
            return {memory_id: Said(self._tag(memory), by, said.of)}
        except _Unread:
            return None

    def _sources(self, product: Memory, said: Said) -> Mapping[str, str]:
        """Return what a product was made of, with tags, as long as the merge may be undone."""
        if not _undoable(product, self.now):
            return {}
        if said.of.keys() == set(product.sources) and all(said.of.values()):
            return said.of
        sources = [self._read(one) for one in product.sources]
        tags = {one.id: self._tag(one) for one in sources if one is not None and one.replaced_by == product.id}
        return tags if len(tags) == len(sources) else {}

    def _read(self, memory_id: str) -> Memory | None:
        if memory_id not in self.found:
            self.wanted.add(memory_id)
            raise _Unread
        return self.found[memory_id]

    def _says(self, memory: Memory, tag: str) -> bool:
        return tag == self._tag(memory) if tag else memory.id not in self.unsaid

    def _tag(self, memory: Memory) -> str:
        if memory.id not in self.tags:
            self.tags[memory.id] = tag_of(self.keys, memory)
        return self.tags[memory.id]

    def _living(self, memory: Memory) -> bool:
        return _lives(memory, self.now, self.days)


def read(vaults: Vaults, opened: Opened, rests: Iterable[Basis]) -> Ground:
    """Read what texts rest on, in one step; another one only where something was consolidated or undone that maintenance has not looked at
    yet, none where they rest on nothing. The owner was opened with the settings, which say how long memories are kept.

    A product that was changed in any way since it was made, before maintenance looked, may say something else: it bears nothing till then.
    """
    return _read(vaults, opened, list(rests), lambda product: product.version == 1, Ground.ids)


def read_to_keep(
    vaults: Vaults, opened: Opened, rests: Iterable[Basis], unsaid: frozenset[str] = frozenset()
) -> Ground:
    """Read what `Ground.kept` needs, for maintenance; of products that were changed also what they were made with."""
    journal = Journal(vaults.objects, opened.keys, vaults.random)

    def as_made(product: Memory) -> bool:
        if product.version == 1:
            return True
        first = journal.versions(product.id, product.prior[:1]) if product.version - len(product.prior) == 1 else []
        return bool(first) and tag_of(opened.keys, first[0]) == tag_of(opened.keys, product)

    return _read(vaults, opened, list(rests), as_made, Ground.kept, unsaid)


def _read(
    vaults: Vaults,
    opened: Opened,
    rests: list[Basis],
    as_made: Callable[[Memory], bool],
    look: Callable[[Ground, Basis], object],
    unsaid: frozenset[str] = frozenset(),
) -> Ground:
    ground = Ground(opened.keys, vaults.clock(), retention_days(opened), as_made, unsaid=unsaid)
    for _ in range(_ROUNDS):
        for one in rests:
            look(ground, one)
        if not ground.wanted:
            break
        sks = {one: names.MEMORY + one for one in sorted(ground.wanted)}
        ground.wanted.clear()
        found = vaults.table.get(opened.keys.owner, list(sks.values()))
        ground.found.update({one: _opened(opened.keys, found.get(sk)) for one, sk in sks.items()})
    return ground


def living(opened: Opened, found: Mapping[str, Item], ids: Iterable[str], now: datetime) -> frozenset[str]:
    """Return which of the ids are memories that stand by themselves, among items by sort key: there, not dismissed, not retired, not over.
    One that does not open does not stand."""
    days = retention_days(opened)
    memories = (_opened(opened.keys, found.get(names.MEMORY + one)) for one in set(ids))
    return frozenset(one.id for one in memories if one is not None and _lives(one, now, days))


def _lives(memory: Memory, now: datetime, days: int) -> bool:
    return memory.status not in {Status.DISMISSED, Status.RETIRED} and not memory.expired(now, days)


def _undoable(product: Memory, now: datetime) -> bool:
    return bool(product.sources) and ulid_time(product.id) + limits.UNDO_KEPT > now


def _form(said: Said) -> Any:
    if said.by is None and not said.of:
        return said.tag
    return {"tag": said.tag} | ({"by": list(said.by)} if said.by else {}) | ({"of": dict(said.of)} if said.of else {})


def _said(form: Any) -> Said:
    if isinstance(form, str):
        return Said(form)
    by = form.get("by")
    return Said(form["tag"], (by[0], by[1]) if by else None, dict(form.get("of", {})))


def _opened(keys: OwnerKeys, item: Item | None) -> Memory | None:
    if item is None:
        return None
    try:
        return items.from_item(keys, item).memory
    except SealBroken:
        return None
