"""Forgetting what is no memory yet: notes, conversations that are being learned from, dry runs, and what became of them meanwhile."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from shared.domain.errors import Unavailable
from shared.domain.memory import Status
from shared.domain.task import TaskStatus
from shared.learning.extractor import Extracted, RulesExtractor
from tests.builders import World, conversation
from tests.fakes import Crash, Steps
from tests.unit.consolidation.merging import BOTH, GREEN, TEA, Proposing, consolidations, learned, only, two_and_more
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, status, would_go
from tests.unit.keeping.sessions.noting import begin, note
from tests.unit.storage.deeds import Summing
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import assert_counted, assert_sound, settle

SAID = "Please remember that 花生 is bad for me."
WISHES: list[dict[str, Any]] = [{"all": True}, {"query": "花生"}, {"last_days": 1}]


class Meanwhile(RulesExtractor):
    """A model that answers after something else has happened."""

    def __init__(self, act: Callable[[], Any]) -> None:
        super().__init__()
        self.act = act

    def extract(self, *given: Any) -> Extracted:
        self.act()
        return super().extract(*given)


def test_notes_of_a_project_are_meant_with_it() -> None:
    world = World()
    begin(world, "atlas")
    note(world, "记住这个：我对花生过敏")
    forget(world, project="zebra")
    forgotten(world)
    assert "花生" in everything_said(world)
    forget(world, project="atlas")
    forgotten(world)
    assert "花生" not in everything_said(world)
    assert_counted(world)


@pytest.mark.parametrize("learned_first", [True, False], ids=["learned first", "visited first"])
def test_a_note_is_meant_whose_session_ends_before_the_visit(*, learned_first: bool) -> None:
    world = World()
    begin(world)
    note(world, "记住这个：我对花生过敏")
    task_id = forget(world, query="花生")
    world.clock.advance(1)
    world.now.sessions.end(world.owner)
    if learned_first:
        world.work_off()
    forgotten(world)
    world.work_off()
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert "花生" not in everything_said(world)
    settle(world)
    assert_sound(world)


def test_a_note_made_after_the_request_is_kept_though_its_session_began_before() -> None:
    world = World()
    begin(world)
    forget(world, all=True)
    note(world, "记住这个：我对花生过敏")
    world.now.sessions.end(world.owner)
    world.work_off()
    forgotten(world)
    assert world.texts() == ["我对花生过敏"]


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_what_was_said_before_the_request_is_meant_when_it_is_learned_after_it(wish: dict[str, Any]) -> None:
    world = World()
    world.say(SAID)
    task_id = forget(world, **wish)
    world.work_off()
    assert len(world.texts()) == 1
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1})
    assert "花生" not in everything_said(world)


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_nothing_comes_of_an_answer_to_what_was_forgotten_while_a_model_was_asked(wish: dict[str, Any]) -> None:
    world = World()

    def forget_it() -> None:
        forget(world, **wish)
        forgotten(world)

    world.extractor = Meanwhile(forget_it)
    world.restart()
    world.say(SAID)
    world.work_off()
    assert world.texts() == []
    assert "花生" not in everything_said(world)
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_what_a_dry_run_told_is_forgotten_with_the_time_it_was_said_in(wish: dict[str, Any]) -> None:
    world = World()
    world.add("Something else")
    world.clock.advance(1)
    world.now.accepting.accept(world.owner, conversation(SAID, dry_run=True))
    world.work_off()
    assert "花生" in everything_said(world)
    forget(world, **wish)
    forgotten(world)
    assert "花生" not in everything_said(world)


def test_a_dry_run_says_that_a_memory_goes_which_was_made_of_one_that_is_meant() -> None:
    world, _, _ = two_and_more()
    world.tidy()
    assert BOTH in world.texts()
    assert would_go(world, query="用户每天喝绿茶") == [BOTH]
    task_id = forget(world, query="用户每天喝绿茶")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1})
    assert GREEN not in world.texts()
    assert TEA in world.texts()


def test_forgetting_one_merge_leaves_the_others_to_be_undone() -> None:
    world, _, _ = two_and_more(Proposing([((TEA, GREEN), BOTH), (("One", "Two"), "One, Two")]))
    learned(world, "One")
    learned(world, "Two")
    world.tidy()
    task = only(consolidations(world))
    forget(world, query=BOTH)
    forgotten(world)
    assert world.memories(status=Status.RETIRED)
    world.clock.advance(1)
    undone = world.now.undoing.undo(world.owner, task.id).consolidation
    assert undone is not None
    assert (undone.undone, undone.stayed) == (1, 1)
    assert {"One", "Two"} <= set(world.texts())
    assert not {TEA, GREEN, BOTH} & set(world.texts())


@pytest.mark.parametrize("at", range(1, 14))
def test_a_learner_that_died_anywhere_leaves_nothing_to_a_forget(at: int) -> None:
    world = World(extractor=Summing())
    world.say("Remember: I prefer 花生 butter on bread.", project="atlas")
    world.restart(Steps(at=at, when="after"))
    with suppress(Crash, Unavailable):
        world.work_off()
    world.restart()
    task_id = forget(world, query="花生")
    forgotten(world)
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert "花生" not in everything_said(world)
    world.clock.advance(3600)
    world.work_off()
    assert "花生" not in everything_said(world)
    settle(world)
    assert_sound(world)
