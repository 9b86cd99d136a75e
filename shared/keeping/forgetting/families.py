"""What has to change so that a selection is gone, with what was consolidated from it or into it. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from shared.domain.memory import Memory, Status
from shared.keeping.forgetting.selection import Selection
from shared.storage.items import Stored
from shared.storage.transactions import Change


@dataclass(slots=True)
class Meant:
    """What a selection means among an owner's memories.

    `alone` are changes that need no other. A memory that was consolidated from one that is meant says the same, so it goes too; its other
    sources, which nobody meant, come back with its status: each list of `families` is such a product with its sources, to be changed as
    a whole.
    """

    alone: list[Change] = field(default_factory=list)
    families: list[list[Change]] = field(default_factory=list)
    tasks: set[str] = field(default_factory=set)
    """Tasks that learned what is meant: their results tell of it."""

    @property
    def memories(self) -> set[str]:
        """The ids of what goes."""
        changes = [*self.alone, *(change for family in self.families for change in family)]
        return {one.before.memory.id for one in changes if one.before is not None and one.after is None}

    def __bool__(self) -> bool:
        return bool(self.alone or self.families)


def meant(selection: Selection, memories: Iterable[Stored]) -> Meant:
    """Return what the selection means."""
    chosen: dict[str, Stored] = {}
    shown: dict[str, Stored] = {}
    sources: dict[str, list[Stored]] = {}
    for stored in memories:
        memory = stored.memory
        if memory.status is Status.RETIRED and memory.replaced_by is not None:
            sources.setdefault(memory.replaced_by, []).append(stored)
        elif memory.sources:
            shown[memory.id] = stored
        if selection.wants(memory):
            chosen[memory.id] = stored
    found = Meant(tasks={s.memory.origin.task_id for s in chosen.values() if s.memory.origin.task_id})
    done: set[str] = set()
    for product_id, stored in shown.items():
        own = sources.get(product_id, [])
        if product_id in chosen:
            family = [stored, *own]
            found.alone += [Change(one, None) for one in family]
        elif any(source.memory.id in chosen for source in own):
            family = [stored, *(source for source in own if source.memory.id in chosen)]
            back = [Change(one, _back(one.memory, stored.memory.status)) for one in own if one.memory.id not in chosen]
            found.families.append([*(Change(one, None) for one in family), *back])
        else:
            continue
        done |= {one.memory.id for one in family}
    found.alone += [Change(one, None) for memory_id, one in chosen.items() if memory_id not in done]
    return found


def archived(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes with what comes back as active archived, for an owner who has as many active memories as there may be."""
    for change in changes:
        after = change.after
        makes_one = after is not None and after.status is Status.ACTIVE
        yield replace(change, after=replace(after, status=Status.ARCHIVED)) if after and makes_one else change


def _back(memory: Memory, status: Status) -> Memory:
    """Return a source as it comes back: what the person did with the product was meant of what it says."""
    known = Status.ACTIVE if status is Status.RETIRED else status
    return replace(memory, status=known, replaced_by=None, retired_at=None)
