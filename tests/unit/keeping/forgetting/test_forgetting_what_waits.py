"""Forgetting a part of what waits to be learned from: the rest is learned, whoever dies or learns meanwhile."""

from contextlib import suppress
from typing import Any

import pytest

from shared.domain.errors import Unavailable
from shared.domain.task import TaskStatus, Trigger
from shared.learning.extractor import Extracted
from tests.builders import World, conversation
from tests.fakes import Crash, Steps
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, status
from tests.unit.keeping.forgetting.test_forgetting_what_is_under_way import Meanwhile
from tests.unit.keeping.sessions.speaking import begin, note
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_counted, assert_sound, settle

DATABASE, THEME = "We decided to use Postgres for orders", "I prefer the dark theme in every editor I own"


def handed_over(world: World, *messages: str) -> str:
    begin(world)
    for message in messages:
        note(world, message)
    world.clock.advance(1)
    ended = world.now.sessions.end(world.owner)
    assert ended is not None
    assert ended.task_id is not None
    return ended.task_id


def test_one_note_goes_and_the_other_is_learned() -> None:
    world = World()
    notes = handed_over(world, DATABASE, THEME)
    task_id = forget(world, query="postgres")
    forgotten(world)
    assert "Postgres" not in everything_said(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"notes": 1})
    assert_counted(world)
    world.work_off()
    assert world.texts() == [THEME]
    assert status(world, notes)[0] is TaskStatus.DONE
    settle(world)
    assert_sound(world)


def test_a_task_ends_as_forgotten_when_no_note_is_left() -> None:
    world = World()
    notes = handed_over(world, DATABASE, "We use Postgres 16")
    task_id = forget(world, query="postgres")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"notes": 2})
    assert world.now.tasks.get(world.owner, notes).error == "forgotten"
    world.work_off()
    assert world.texts() == []
    assert_counted(world)


def test_a_message_goes_and_the_others_are_learned() -> None:
    world = World()
    world.say(DATABASE, "And remember:", THEME)
    task_id = forget(world, query="postgres")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"conversations": 1})
    assert "Postgres" not in everything_said(world)
    world.work_off()
    assert world.texts() == [THEME]


@pytest.mark.parametrize(
    ("texts", "trigger"),
    [
        (("We decided to use Postgres", "for the orders, always"), Trigger.MANUAL),
        ((THEME, "We decided to use Postgres for orders, and always will"), Trigger.TASK_COMPLETED),
    ],
    ids=["words of two messages", "the last turn"],
)
def test_a_conversation_of_which_no_part_can_be_told_goes_whole(texts: tuple[str, ...], trigger: Trigger) -> None:
    world = World()
    world.choose(auto_capture=True)
    task = world.now.accepting.accept(world.owner, conversation(*texts, trigger=trigger)).task_id
    task_id = forget(world, query="postgres orders")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"conversations": 1})
    assert world.now.tasks.get(world.owner, task or "").error == "forgotten"


def test_of_a_session_the_notes_of_another_day_are_learned() -> None:
    world = World()
    begin(world)
    note(world, DATABASE)
    world.clock.advance(60)
    since = world.clock()
    note(world, THEME)
    world.now.sessions.end(world.owner)
    forget(world, since=since)
    forgotten(world)
    world.work_off()
    assert world.texts() == [DATABASE]


def test_a_failed_task_stays_failed_and_learns_the_rest_when_it_is_tried_again() -> None:
    world = World()
    notes = handed_over(world, DATABASE, THEME)
    world.now.extraction.fail(world.owner, notes, 1, "internal")
    (message,) = world.work.receive()
    world.work.delete(message.receipt)
    forget(world, query="postgres")
    forgotten(world)
    assert status(world, notes)[0] is TaskStatus.FAILED
    world.now.tasks.retry(world.owner, notes)
    world.work_off()
    assert THEME in world.texts()
    assert "Postgres" not in everything_said(world)


def test_what_a_model_makes_of_it_meanwhile_is_not_learned() -> None:
    world = World()
    asked: list[str] = []

    class Slow(Meanwhile):
        def extract(self, *given: Any) -> Extracted:
            if not asked:
                asked.append(forget(world, query="postgres"))
                forgotten(world)
            return Meanwhile(lambda: None).extract(*given)

    world.extractor = Slow(lambda: None)
    world.restart()
    world.say(DATABASE, THEME)
    world.work_off()
    assert world.texts() == [THEME]
    settle(world)
    assert "Postgres" not in everything_said(world)
    assert_sound(world)


def waiting(world: World) -> tuple[str, str]:
    world.say("Remember: " + THEME, DATABASE)
    notes = handed_over(world, DATABASE, "I like green tea a lot")
    return notes, forget(world, query="postgres")


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_whoever_dies_while_it_is_cut_leaves_the_rest_to_be_learned(when: str) -> None:
    world = World()
    waiting(world)
    steps = world.restart()
    world.tidy()
    for at in range(1 if when == "before" else 2, steps.count + 1):
        world = World()
        _, task_id = waiting(world)
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.tidy()
        world.restart()
        for hours in (LEASE_AND_MORE, 0, 0.1):
            world.tidy(hours=hours)
        assert status(world, task_id)[0] is TaskStatus.DONE, at
        assert status(world, task_id)[1] == {"conversations": 1, "notes": 1}, at
        assert "Postgres" not in everything_said(world), at
        assert_counted(world)
        world.work_off()
        assert world.texts() == ["I like green tea a lot", THEME], at


@pytest.mark.parametrize("at", range(1, 16))
def test_a_learner_that_died_anywhere_leaves_the_rest_to_be_learned(at: int) -> None:
    world = World()
    handed_over(world, DATABASE, THEME, "I like green tea a lot")
    world.restart(Steps(at=at, when="after"))
    with suppress(Crash, Unavailable):
        world.work_off()
    world.restart()
    task_id = forget(world, query="postgres")
    forgotten(world)
    world.clock.advance(3600)
    world.work_off()
    forgotten(world)
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert "Postgres" not in everything_said(world)
    world.clock.advance(3600)
    world.tidy()
    world.work_off()
    assert world.texts() == ["I like green tea a lot", THEME]
    settle(world)
    assert_sound(world)
