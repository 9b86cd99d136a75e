"""The whole service against a plain dictionary: whatever happens in whatever order, dying on the way included, they say the same.

NACRE_LONG=1 makes it run for minutes.
"""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from shared.domain.errors import Duplicate, NacreError, NotFound, TableLost
from shared.domain.memory import Memory, Scope, Status
from shared.storage import names
from shared.storage.items import full_text
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import assert_counted, assert_sound, settle

LONG = bool(os.environ.get("NACRE_LONG"))

SUBJECTS = ("deploy", "coffee", "editor", "数据库", "会议")
SENTENCES = {
    "deploy": "We decided to deploy version {} first.",
    "coffee": "I prefer coffee blend {} in the morning.",
    "editor": "My favourite editor is number {}.",
    "数据库": "我们决定使用数据库{}号",
    "会议": "我喜欢会议{}号房间",
}
TEXTS = [SENTENCES[subject].format(number) for subject in SUBJECTS for number in ("7", "8")]
PLACES: list[tuple[Scope, str | None]] = [(Scope.USER, None), (Scope.PROJECT, "atlas")]


@dataclass(frozen=True)
class Known:
    """What the dictionary says of a memory."""

    text: str
    scope: Scope
    project: str | None
    status: Status = Status.ACTIVE

    @property
    def key(self) -> tuple[str, Scope, str | None]:
        return self.text, self.scope, self.project


def known(memory: Memory) -> Known:
    return Known(full_text(memory), memory.scope, memory.project, memory.status)


class Nacre(RuleBasedStateMachine):
    """Rules do the same to the world and to `model`; a deed that died is looked at afterwards: done or not done, nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.model: dict[str, Known] = {}
        self.unsure: dict[str, list[Known | None]] = {}
        """What else a memory may become, once maintenance finishes or takes back what died; None: nothing."""
        self.lost: set[tuple[str, Scope, str | None]] = set()
        """New memories whose writers died: they may yet be made, while nobody writes the text again."""
        self.forgotten: set[str] = set()
        self.plan_waits = False
        """A worker died: what its plan still holds is applied by a rebuild."""
        self.late: set[str] = set()
        """Learned from a plan that waited: a rebuild within the hour takes it for never applied if its text was deleted meanwhile."""

    # Rules of a person.

    @initialize(seed=st.integers(0, 3))
    def begin(self, seed: int) -> None:
        self.world = World(seed=seed)

    @rule(text=st.sampled_from(TEXTS), place=st.sampled_from(PLACES))
    def add(self, text: str, place: tuple[Scope, str | None]) -> None:
        scope, project = place
        wanted = Known(text, scope, project)
        taken = [memory_id for memory_id, one in self.model.items() if one.key == wanted.key]
        self.lost.discard(wanted.key)
        if taken:
            with pytest.raises(Duplicate) as refused:
                self.world.add(text, scope=scope, project=project)
            assert refused.value.details == {"id": taken[0]}
        else:
            self.model[self.world.add(text, scope=scope, project=project).id] = wanted

    @precondition(lambda self: self.model)
    @rule(data=st.data(), text=st.sampled_from(TEXTS))
    def edit(self, data: st.DataObject, text: str) -> None:
        memory_id = self._one(data)
        wanted = replace(self.model[memory_id], text=text)
        taken = any(one.key == wanted.key for other, one in self.model.items() if other != memory_id)
        if taken:
            with pytest.raises(Duplicate):
                self.world.edit(memory_id, content=text)
        else:
            self.world.edit(memory_id, content=text)
            self._becomes(memory_id, wanted)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), status=st.sampled_from([Status.ACTIVE, Status.DISMISSED, Status.ARCHIVED]))
    def change_status(self, data: st.DataObject, status: Status) -> None:
        memory_id = self._one(data)
        self.world.edit(memory_id, status=status)
        self._becomes(memory_id, replace(self.model[memory_id], status=status))

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        memory_id = self._one(data)
        self._changed(memory_id)
        self.world.delete(memory_id)
        del self.model[memory_id]
        self.forgotten.add(memory_id)

    # Rules of learning.

    @rule(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3, unique=True))
    def say(self, texts: list[str]) -> None:
        self.world.clock.advance(31)
        self.world.say(*texts, project="atlas")

    @precondition(lambda self: self.world.work.messages)
    @rule(again=st.booleans())
    def learn(self, *, again: bool) -> None:
        """Deliver one message; `again`: its acknowledgement is lost, so it comes back later."""
        received = self.world.work.receive()
        if not received:
            self.world.clock.advance(self.world.work.visibility.total_seconds() + 1)
            return
        before = self._seen()
        self.world.clock.advance(1)
        self.world.deliver(received[0]) if not again else self._deliver_without_acknowledging(received[0])
        self._learned(before)

    def _deliver_without_acknowledging(self, message: Any) -> None:
        self.world.now.delivery.learn(json.dumps(message.body), message.receipt, message.receives)

    def _learned(self, before: dict[str, Known]) -> None:
        """Take over what learning made: new texts of what was said, archived or dismissed memories touched or left."""
        after = self._seen()
        for memory_id, one in after.items():
            old = before.get(memory_id)
            if old is None:
                assert one.text in TEXTS
                assert one.status is Status.ACTIVE
                assert memory_id not in self.forgotten, "a deleted memory is back"
                assert all(one.key != other.key for other in before.values())
                if self.plan_waits:
                    self.late.add(memory_id)
                self.lost.discard(one.key)
            else:
                assert old == one or (old.status is Status.ARCHIVED and one == replace(old, status=Status.ACTIVE))
                if old != one:
                    self._changed(memory_id)
        assert set(before) <= set(after)
        self.model = after

    # Rules of maintenance.

    @rule(hours=st.sampled_from([0.0, 0.3, 2.0, 30.0]))
    def tidy(self, hours: float) -> None:
        self.world.tidy(hours=hours)
        self._look()

    @rule(keep=st.booleans())
    def build(self, *, keep: bool) -> None:
        self.world.build(keep_previous=keep)

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @precondition(lambda self: self._exists())
    @rule(all_of_it=st.booleans(), at=st.none() | st.integers(1, 50))
    def lose_the_table(self, *, all_of_it: bool, at: int | None) -> None:
        """Lose the table, or its head only; nothing can be written until maintenance has rebuilt it, dying on the way or not."""
        if all_of_it:
            self.world.table.wipe()
        else:
            self.world.table._remove(self.world.owner, "head")  # the operator's accident
        self.world.restart()
        with pytest.raises(TableLost):
            self.world.add("It must not be written.")
        if at is not None:
            self.world.restart(Steps(at=at, when="after"))
            self._dies(self.world.tidy)
            self.world.restart()
        self.world.tidy(hours=0.3)  # a run that died before holds its lease so long
        self._look(rebuilt=True)

    # Dying.

    @rule(
        data=st.data(),
        at=st.integers(1, 14) | st.integers(1, 60),
        when=st.sampled_from(["before", "after"]),
        again=st.booleans(),
    )
    def die(self, data: st.DataObject, at: int, when: Any, *, again: bool) -> None:
        """A deed dies at a step; it is asked for again, or left."""
        kinds = ["add", "say", "tidy", "build"] + (["edit", "delete", "dismiss"] if self.model else [])
        kinds += ["learn"] if self.world.work.messages else []
        kind = data.draw(st.sampled_from(kinds), label="kind")
        deed, touched, wanted = self._deed(data, kind)
        before = self._seen()
        self.world.warm(Steps(at=at, when=when))
        died = self._dies(deed)
        self.world.restart()
        self.plan_waits |= died and kind == "learn"
        if kind in ("learn", "say", "tidy", "build"):
            self._look(learning=True)
            return
        self._judge(before, touched, wanted, died=died)
        if again and died:
            with suppress(Duplicate, NotFound):
                deed()
            self._judge(before, touched, wanted, died=False)

    def _deed(self, data: st.DataObject, kind: str) -> tuple[Callable[[], Any], str | None, Known | None]:
        """Return the deed, the memory that it changes and what becomes of it (None: deleted)."""
        world = self.world
        if kind == "add":
            text, (scope, project) = data.draw(st.sampled_from(TEXTS)), data.draw(st.sampled_from(PLACES))
            return lambda: world.add(text, scope=scope, project=project), None, Known(text, scope, project)
        if kind == "say":
            text = data.draw(st.sampled_from(TEXTS))
            world.clock.advance(31)
            return lambda: world.say(text, project="atlas"), None, None
        if kind == "learn":
            return self._deliver_one, None, None
        if kind == "tidy":
            hours = data.draw(st.sampled_from([0.0, 2.0]))
            return lambda: world.tidy(hours=hours), None, None
        if kind == "build":
            return world.build, None, None
        memory_id = self._one(data)
        if kind == "delete":
            return lambda: world.delete(memory_id), memory_id, None
        if kind == "dismiss":
            wanted = replace(self.model[memory_id], status=Status.DISMISSED)
            return lambda: world.dismiss(memory_id), memory_id, wanted
        text = data.draw(st.sampled_from(TEXTS))
        return lambda: world.edit(memory_id, content=text), memory_id, replace(self.model[memory_id], text=text)

    def _deliver_one(self) -> None:
        received = self.world.work.receive()
        if received:
            self.world.deliver(received[0])

    def _judge(self, before: dict[str, Known], touched: str | None, wanted: Known | None, *, died: bool) -> None:
        """See what became of a person's deed that may have died: all of it or nothing."""
        after = self._seen()
        if touched is None:
            assert wanted is not None
            new = {memory_id: one for memory_id, one in after.items() if memory_id not in before}
            assert all(one == wanted for one in new.values())
            assert len(new) <= 1
            assert {i: one for i, one in after.items() if i in before} == before
            if new:
                self.lost.discard(wanted.key)
            elif died:
                self.lost.add(wanted.key)
        else:
            others = {memory_id: one for memory_id, one in after.items() if memory_id != touched}
            assert others == {memory_id: one for memory_id, one in before.items() if memory_id != touched}
            assert after.get(touched) in (before[touched], wanted)
            if after.get(touched) == before[touched] and died:
                self.unsure.setdefault(touched, []).append(wanted)
            elif after.get(touched) != before[touched]:
                self._changed(touched)
                if wanted is not None:
                    self.lost.discard(wanted.key)
            if touched not in after:
                self.forgotten.add(touched)
        self.model = after

    def _dies(self, deed: Callable[[], Any]) -> bool:
        try:
            deed()
        except Crash:
            return True
        except NacreError:
            return False
        return False

    def _look(self, *, rebuilt: bool = False, learning: bool = False) -> None:
        """See what maintenance made of what had died: finished or taken back, and nothing else changed."""
        after = self._seen()
        before = self.model
        made = {memory_id: one for memory_id, one in after.items() if memory_id not in before}
        gone = {memory_id: one for memory_id, one in before.items() if memory_id not in after}
        for memory_id in set(before) & set(after):
            old, one = before[memory_id], after[memory_id]
            if old == one:
                continue
            revived = learning and old.status is Status.ARCHIVED and one == replace(old, status=Status.ACTIVE)
            assert revived or one in self.unsure.get(memory_id, []) or (rebuilt and one.key in self.lost), (old, one)
            self._changed(memory_id)
        for memory_id, one in gone.items():
            alias = [other for other, like in made.items() if like.key == one.key] if rebuilt else []
            late = rebuilt and memory_id in self.late
            assert None in self.unsure.get(memory_id, []) or alias or late, f"{one} is gone"
            if not alias:
                self.forgotten.add(memory_id)
            self._changed(memory_id)
        for memory_id, one in made.items():
            assert memory_id not in self.forgotten, f"{one} is back"
            planned = learning or (rebuilt and self.plan_waits)
            assert one.key in self.lost or planned or any(one.key == old.key for old in gone.values()), f"{one} came"
            self.lost.discard(one.key)
        self.model = after

    def _becomes(self, memory_id: str, wanted: Known) -> None:
        """Take over an acknowledged change; nothing new makes no version."""
        if self.model[memory_id] != wanted:
            self._changed(memory_id)
            self.lost.discard(wanted.key)
        self.model[memory_id] = wanted

    def _changed(self, memory_id: str) -> None:
        """Nothing that died before can happen to this version any more."""
        self.unsure.pop(memory_id, None)

    def _exists(self) -> bool:
        """Tell whether the owner has a head and a keyring: whoever made the first may have died before the second."""
        return bool(self.world.head()) and self.world.objects.get(names.keyring(self.world.owner)) is not None

    def _one(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.model)), label="memory")

    def _seen(self) -> dict[str, Known]:
        return {memory.id: known(memory) for memory in self.world.memories()}

    # What holds at every moment.

    @invariant()
    def the_list_and_every_memory_are_as_the_dictionary_says(self) -> None:
        assert self._seen() == self.model
        for memory_id, one in self.model.items():
            assert known(self.world.get(memory_id)) == one
        for memory_id in sorted(self.forgotten)[-5:]:
            with pytest.raises(NotFound):
                self.world.get(memory_id)

    @invariant()
    def search_finds_exactly_what_may_be_found(self) -> None:
        for subject in SUBJECTS:
            hits = self.world.hits(subject)
            wanted = {i for i, one in self.model.items() if subject in one.text and one.status is not Status.DISMISSED}
            assert {memory.id for memory in hits} == wanted
            assert all(known(memory) == self.model[memory.id] for memory in hits)

    @invariant()
    def counters_are_exact(self) -> None:
        if self._exists():
            assert_counted(self.world)

    def teardown(self) -> None:
        """In the end everything settles into a sound state, and a rebuild gives the same."""
        if not self._exists():
            return
        settle(self.world)
        assert_sound(self.world)
        settled = self._seen()
        self.world.table.wipe()
        self.world.restart()
        self.world.tidy()
        assert self._seen() == settled


Nacre.TestCase.settings = settings(
    max_examples=1_500 if LONG else 40,
    stateful_step_count=60 if LONG else 30,
    deadline=timedelta(minutes=5) if LONG else None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestNacre = pytest.mark.no_cover(Nacre.TestCase)
