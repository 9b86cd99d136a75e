"""Sessions lose no note and double none, whoever dies and however many ask at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.keeping.sessions.told import Noted
from shared.learning.notes import Note
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.keeping.sessions.speaking import begin, end, end_if_open, note
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, settle


class Between(Steps):
    """Before one call of a process something else happens."""

    def __init__(self, at: int, deed: Callable[[], Any]) -> None:
        super().__init__()
        self.place, self.deed = at, deed

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        if self.count + 1 == self.place:
            self.deed()
        return super().run(name, call)


@pytest.mark.parametrize("at", [1, 2])
def test_notes_of_a_session_that_begins_while_old_notes_are_swept_stay(at: int) -> None:
    world = World()
    other = world.process()

    def meanwhile() -> None:
        other.sessions.open(world.owner, "atlas", None)
        assert other.sessions.note(world.owner, Note("Remember this: the port is 8443.", world.clock())).saved

    world.restart(Between(at, meanwhile))
    world.now.sessions.ending.sweep(world.owner)
    world.restart()
    assert end(world).notes == 1
    assert world.texts() == ["the port is 8443."]


def test_many_notes_and_ends_at_once_lose_no_note_and_double_none() -> None:
    world = World()
    begin(world)

    def one(number: int) -> Any:
        process = world.process()
        if number % 4 == 0:
            return end_if_open(process, world.owner)
        return process.sessions.note(world.owner, Note(f"Remember this: fact number {number}.", world.clock()))

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(one, range(12)))
    kept = [answer for answer in answers if isinstance(answer, Noted) and answer.saved]
    end_if_open(world.now, world.owner)
    world.work_off()
    assert len(kept) == 9
    assert world.texts() == sorted(f"fact number {number}." for number in range(12) if number % 4)
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_of_a_session_loses_nothing_that_was_answered(when: str) -> None:
    deeds: list[Any] = [
        begin,
        lambda world: note(world, "Remember this: the port is 8443."),
        lambda world: end_if_open(world.now, world.owner),
    ]
    for number, deed in enumerate(deeds):
        world = _prepared(deeds[:number])
        steps = world.restart()
        deed(world)
        for at in range(1, steps.count + 1):
            world = _prepared(deeds[:number])
            world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
            with pytest.raises(Crash):
                deed(world)
            world.restart()
            deed(world)
            end_if_open(world.now, world.owner)
            world.tidy(hours=LEASE_AND_MORE)
            settle(world)
            assert world.texts() == (["the port is 8443."] if number else [])
            assert_sound(world)


def _prepared(deeds: list[Any]) -> World:
    world = World()
    for deed in deeds:
        deed(world)
    return world
