"""Merges, undos, edits, deletions, lost tables and deaths in any order, against a plain set of texts: nothing is lost or comes back.

NACRE_LONG=1 makes it run for minutes.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from shared.domain import limits
from shared.domain.errors import NotFound, NotPossibleNow
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.consolidation.merging import ENOUGH, Proposing, consolidations, counted, fill, learned
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_counted, assert_sound, rebuilt, settle

LONG = bool(os.environ.get("NACRE_LONG"))
OFTEN = st.none() | st.none() | st.integers(1, 40)
"""Where a deed dies: mostly nowhere."""


@dataclass
class Done:
    """A merge that was done, while its task is known."""

    task: str
    sources: tuple[str, str]
    product: str
    at: datetime
    undone: bool = False


class Merges(RuleBasedStateMachine):
    """`texts` holds what is visible beside the filling, `apart` what an undo brought back, `changed` products that are not as they were."""

    def __init__(self) -> None:
        super().__init__()
        self.proposer = Proposing()
        self.world = World(proposer=self.proposer)
        self.texts: set[str] = set()
        self.apart: set[str] = set()
        self.changed: set[str] = set()
        self.done: list[Done] = []
        self.number = 0

    @initialize()
    def begin(self) -> None:
        self.filling = fill(self.world, ENOUGH)
        for _ in range(3):
            self.learn()

    @rule()
    def learn(self) -> None:
        text = self._new("fact")
        learned(self.world, text)
        self.texts.add(text)

    @precondition(lambda self: len(self.texts) >= 2)
    @rule(data=st.data(), at=OFTEN, when=st.sampled_from(["before", "after"]))
    def merge(self, data: st.DataObject, at: int | None, when: Any) -> None:
        """Consolidate two of them a day later, dying on the way or not; what died is done with the next visit."""
        first, second = data.draw(st.permutations(sorted(self.texts)), label="sources")[:2]
        product = self._new("product")
        self.proposer.merges = [((first, second), product)]
        self.learn()
        self.world.clock.advance(25 * 3600)
        self._die(at, when, lambda: self.world.now.tidying.tidy(self.world.owner))
        self.world.tidy(hours=LEASE_AND_MORE)
        self.proposer.merges = []
        if {first, second} & self.apart:
            return
        self.texts = (self.texts - {first, second}) | {product}
        self.done.append(Done(consolidations(self.world)[0].id, (first, second), product, self.world.clock()))

    @precondition(lambda self: self.done)
    @rule(data=st.data(), at=OFTEN, when=st.sampled_from(["before", "after"]))
    def undo(self, data: st.DataObject, at: int | None, when: Any) -> None:
        one = data.draw(st.sampled_from(self.done), label="merge")
        asked = self._undo(one.task)
        self._die(at, when, asked)
        task = asked()
        if self.world.clock() - one.at >= limits.UNDO_KEPT:
            assert task is None
            return
        possible = one.product in self.texts and one.product not in self.changed
        if possible and not one.undone:
            one.undone = True
            self.texts = (self.texts - {one.product}) | set(one.sources)
            self.apart |= set(one.sources)
        assert task == ({"merged": 1, "undone": 1} if one.undone else {"merged": 1, "stayed": 1})

    def _undo(self, task_id: str) -> Callable[[], dict[str, int] | None]:
        def undo() -> dict[str, int] | None:
            try:
                return dict(counted(self.world.now.undoing.undo(self.world.owner, task_id)))
            except NotPossibleNow:
                return None

        return undo

    @precondition(lambda self: self.texts)
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(sorted(self.texts)), label="memory")
        self.world.edit(self._id(text), importance=data.draw(st.integers(6, 9)))
        self.changed.add(text)

    @precondition(lambda self: self.texts)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(sorted(self.texts)), label="memory")
        self.world.delete(self._id(text))
        self.texts.remove(text)

    @rule(hours=st.sampled_from([0.5, 2.0, 100.0]))
    def tidy(self, hours: float) -> None:
        self.world.tidy(hours=hours)

    @rule()
    def lose_the_table(self) -> None:
        """Tasks are lost with it, and with them the undo."""
        rebuilt(self.world)
        for one in self.done:
            try:
                self.world.now.undoing.undo(self.world.owner, one.task)
            except NotFound:
                continue
            raise AssertionError("a lost task is there")
        self.done = []

    def _die(self, at: int | None, when: Any, deed: Callable[[], Any]) -> None:
        if at is None:
            deed()
            return
        self.world.restart(Steps(at=at, when=when))
        try:
            deed()
        except Crash:
            assert_counted(self.world)
        self.world.restart()

    def _new(self, kind: str) -> str:
        self.number += 1
        return f"{kind} {self.number}"

    def _id(self, text: str) -> str:
        return next(memory.id for memory in self.world.memories() if memory.content == text)

    @invariant()
    def what_is_visible_is_what_the_set_says(self) -> None:
        assert {text for text in self.world.texts() if not text.startswith("Fact number")} == self.texts

    @invariant()
    def counters_and_dedup_items_are_exact(self) -> None:
        if self.world.head():
            assert_counted(self.world)

    def teardown(self) -> None:
        if not self.world.head():
            return
        settle(self.world)
        assert_sound(self.world)
        self.what_is_visible_is_what_the_set_says()
        rebuilt(self.world)
        self.what_is_visible_is_what_the_set_says()
        self.counters_and_dedup_items_are_exact()


Merges.TestCase.settings = settings(
    max_examples=200 if LONG else 12,
    stateful_step_count=25 if LONG else 14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestMerges = pytest.mark.no_cover(Merges.TestCase)
