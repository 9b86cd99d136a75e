"""The steps that every visit takes after repair: fold, index, open tasks. What they keep in order is the storage protocol's own."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from shared.domain import limits
from shared.domain.errors import Refused, Unavailable
from shared.keeping.forgetting.asking import WAITING
from shared.keeping.maintenance.repairing import want
from shared.keeping.maintenance.visits import Visit
from shared.learning.waiting import Waiting
from shared.ports import Condition, Item, Update
from shared.storage import names
from shared.storage.fold import Fold
from shared.storage.vaults import Opened


class Built(Protocol):
    """What a build of the index did."""

    @property
    def embedded(self) -> int:
        """Memories whose meaning it took in."""
        ...

    @property
    def lost(self) -> bool:
        """Whether it met memories that do not open, or fewer or more than the head counts."""
        ...


class Builds(Protocol):
    """What maintenance needs of the search index."""

    def behind(self, head: Item) -> bool:
        """Tell whether the index of that head is of another kind than one built now."""
        ...

    def unreadable(self, opened: Opened) -> bool:
        """Tell whether that index is lost or damaged: who searches it has asked for another."""
        ...

    def build(
        self, owner: str, *, keep_previous: bool = True, before_rows_go: Callable[[Opened], None] | None = None
    ) -> Built | None:
        """Build the owner's index; without `keep_previous` nothing of deleted texts is left. None when nothing came of it.

        `before_rows_go` is called when the new index is in use and before the change rows of what it gets go; what it raises keeps them.
        """
        ...

    def sweep(self, owner: str) -> None:
        """Remove all index objects but the one in use."""
        ...


class Uncleared(Exception):
    """Something may still be shown that rests on a memory which is gone: the change row that says so has to stay."""


@dataclass(frozen=True, slots=True)
class Folding:
    """Takes deleted memories out of the journal and folds what is old, then counts the journal's bytes anew."""

    name: str = "fold"

    def run(self, visit: Visit) -> Mapping[str, int]:
        before = visit.survey.damaged
        fold = Fold(visit.journal, visit.survey, visit.now, visit.vaults.table)
        purged, folded = fold.purge(), fold.fold()
        return {"purged": purged, "folded": folded, "damaged": visit.survey.damaged - before}


@dataclass(frozen=True, slots=True)
class Counting:
    """Sets the counted bytes of the journal to what is there; left for the next visit when somebody writes meanwhile."""

    name: str = "count"

    def run(self, visit: Visit) -> Mapping[str, int]:
        table = visit.vaults.table
        head = table.get(visit.owner, [names.HEAD]).get(names.HEAD)
        if head is None:
            return {}
        size = sum(listed.size for listed in visit.journal.listing())
        change = Update(
            names.HEAD,
            set={"journal_bytes": size},
            add={"bytes": size - int(head["journal_bytes"])},
            condition=Condition(equals={"commits": head["commits"], "journal_bytes": head["journal_bytes"]}),
        )
        with suppress(Refused):
            table.write(visit.owner, [change])
        return {}


@dataclass(frozen=True, slots=True)
class Indexing:
    """Builds the index where it is behind; else removes the one before, and what builds that died have left.

    `clear` does the steps that take out of documents what rests on memories that stand no more; False: one of them failed.
    """

    builds: Builds
    clear: Callable[[], bool]
    name: str = "index"

    def run(self, visit: Visit) -> Mapping[str, int]:
        visit.refresh()
        head = visit.opened.head
        missing = head["memories"] and "index" not in head
        unreadable = self.builds.unreadable(visit.opened)
        behind = visit.opened.changes or missing or self.builds.behind(head) or unreadable
        if not behind:
            self.builds.sweep(visit.owner)
            return {}
        keep = not visit.survey.dead and int(visit.state.get(WAITING, 0)) <= 0
        built = self.builds.build(visit.owner, keep_previous=keep, before_rows_go=partial(self._before_rows_go, visit))
        if unreadable or (built is not None and built.lost):  # a head of old points to an index that is gone
            want(visit)
        visit.refresh()
        if self.builds.behind(visit.opened.head):
            embedded = built is not None and built.embedded
            visit.look_again(visit.now + (limits.MAINTENANCE_DELAY if embedded else limits.EMBED_AGAIN))
        return {"built": 1, "embedded": built.embedded} if built else {}

    def _before_rows_go(self, visit: Visit, going: Opened) -> None:
        """Clear as of the rows that go: some may have been written since this visit read them."""
        if going.keys.epoch != visit.opened.keys.epoch:
            raise Unavailable
        visit.opened = replace(visit.opened, changes={**visit.opened.changes, **going.changes})
        if not self.clear():
            raise Uncleared


@dataclass(frozen=True, slots=True)
class OpenTasks:
    """Sends tasks again that wait too long, fails those whose worker died, deletes conversations that are over."""

    waiting: Waiting
    name: str = "tasks"

    def run(self, visit: Visit) -> Mapping[str, int]:
        swept = self.waiting.sweep(visit.opened)
        if swept.next_look is not None:
            visit.look_again(swept.next_look)
        return {"sent": swept.sent, "failed": swept.failed, "deleted": swept.deleted}
