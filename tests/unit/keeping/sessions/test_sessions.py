"""Sessions: notes are kept as they are made, and become memories once, whoever dies and however many ask."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import NotFound, NotPossibleNow
from shared.domain.memory import Scope
from shared.domain.naming import ACTIVE_PROJECT
from shared.keeping.sessions.sessions import Noted
from shared.learning.notes import Note
from shared.ports import Delete, Update
from shared.storage import names
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.keeping.sessions.noting import begin, end, note
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, settle


@pytest.mark.parametrize("message", ["谢谢，拜拜", "好的", "done, thanks!", "汇总记忆", "summarise my notes"])
def test_a_goodbye_or_the_wish_to_sum_up_ends_the_session(message: str) -> None:
    world = World()
    begin(world)
    note(world, "记住这个：我对花生过敏")
    noted = note(world, message)
    world.work_off()
    assert (noted.saved, noted.reason) == (False, "ended")
    assert noted.ended is not None
    assert world.texts() == ["我对花生过敏"]
    assert note(world, message).ended is None


def test_opening_one_ends_the_last_and_tells_of_recent_memories() -> None:
    world = World()
    begin(world, None)
    note(world, "Remember this: I drink tea.")
    world.add("Deploys need two reviewers.", scope=Scope.PROJECT, project="atlas")
    world.add("Not of this project.", scope=Scope.PROJECT, project="borealis")
    world.add("I am allergic to peanuts.")
    begun = begin(world, "atlas")
    assert begun.ended is not None
    assert begun.ended.notes == 1
    assert [memory.content for memory in begun.digest] == ["I am allergic to peanuts.", "Deploys need two reviewers."]
    world.work_off()
    assert "I drink tea." in world.texts()


def test_without_a_session_a_note_begins_one_of_the_active_project() -> None:
    world = World()
    assert note(world, "Nothing worth keeping here").session_id is None
    assert world.now.sessions.current(world.owner) is None
    noted = note(world, "Remember this: the port is 8443.")
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert (session.id, session.notes, session.project) == (noted.session_id, 1, None)
    assert begin(world, ACTIVE_PROJECT).session.project is None


def test_after_half_an_hour_of_silence_it_ends_by_itself_at_the_next_note_or_by_maintenance() -> None:
    world = World()
    first = begin(world)
    note(world, "Remember this: the port is 8443.")
    world.tidy(hours=0.2)
    assert world.now.sessions.current(world.owner) is not None
    world.tidy(hours=0.6)
    assert world.now.sessions.current(world.owner) is None
    world.work_off()
    assert world.texts() == ["the port is 8443."]
    second = begin(world)
    note(world, "Remember this: the host is atlas.")
    world.clock.advance(3600)
    noted = note(world, "Remember this: the user is nacre.")
    world.work_off()
    assert noted.session_id not in {first.session.id, second.session.id}
    assert "the host is atlas." in world.texts()


def test_notes_can_be_dropped_and_an_end_without_a_session_is_refused() -> None:
    world = World()
    begin(world)
    note(world, "Remember this: the port is 8443.")
    used = world.head()["bytes"]
    ended = end(world, discard=True)
    assert (ended.notes, ended.task_id) == (1, None)
    assert world.texts() == []
    assert world.head()["bytes"] < used
    with pytest.raises(NotFound):
        end(world)


def test_switched_off_nothing_is_noted_and_a_session_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.choose(enabled=False)
    assert note(world, "Remember this: the port is 8443.").reason == "disabled"
    world.choose(enabled=True)
    monkeypatch.setattr(limits, "NOTES", 2)
    for number in range(2):
        note(world, f"Remember this: the port is {number}.")
    with pytest.raises(NotPossibleNow):
        note(world, "Remember this: one more.")


def test_a_damaged_note_keeps_none_of_the_others_out() -> None:
    world = World()
    begin(world)
    note(world, "Remember this: the port is 8443.")
    note(world, "Remember this: the host is atlas.")
    sk = names.NOTE + world.sks(names.NOTE)[0]
    world.table.write(world.owner, [Update(sk, set={"sealed": b"damaged"})])
    assert end(world).notes == 2
    assert world.texts() == ["the host is atlas."]


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
    world.now.sessions.sweep(world.owner)
    world.restart()
    assert end(world).notes == 1
    assert world.texts() == ["the port is 8443."]


def test_a_note_that_somebody_took_away_holds_no_session_open(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    begun = begin(world)
    note(world, "Remember this: the port is 8443.")
    note(world, "Remember this: the host is atlas.")
    world.table.write(world.owner, [Delete(names.NOTE + world.sks(names.NOTE)[0])])
    assert end(world).notes == 2
    assert world.texts() == ["the host is atlas."]
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"damaged"' in line]
    assert [line["session"] for line in told] == [begun.session.id]
    settle(world)
    assert_sound(world)


def test_a_session_that_does_not_open_is_told_of_and_keeps_its_notes(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    begun = begin(world)
    note(world, "Remember this: the port is 8443.")
    world.table.write(world.owner, [Update(names.SESSION, set={"sealed": b"damaged"})])
    assert note(world, "记住这个：我对花生过敏").saved
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert (session.notes, session.project) == (2, None)
    assert begin(world).ended.notes == 2
    world.work_off()
    assert world.texts() == ["the port is 8443.", "我对花生过敏"]
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"damaged"' in line]
    assert {line["session"] for line in told} == {begun.session.id}


def test_many_notes_and_ends_at_once_lose_no_note_and_double_none() -> None:
    world = World()
    begin(world)

    def one(number: int) -> Any:
        process = world.process()
        if number % 4 == 0:
            return process.sessions.end(world.owner, must=False)
        return process.sessions.note(world.owner, Note(f"Remember this: fact number {number}.", world.clock()))

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(one, range(12)))
    kept = [answer for answer in answers if isinstance(answer, Noted) and answer.saved]
    end(world, must=False)
    assert len(kept) == 9
    assert world.texts() == sorted(f"fact number {number}." for number in range(12) if number % 4)
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_of_a_session_loses_nothing_that_was_answered(when: str) -> None:
    deeds: list[Any] = [
        begin,
        lambda world: note(world, "Remember this: the port is 8443."),
        lambda world: world.now.sessions.end(world.owner, must=False),
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
            world.now.sessions.end(world.owner, must=False)
            world.tidy(hours=LEASE_AND_MORE)
            settle(world)
            assert world.texts() == (["the port is 8443."] if number else [])
            assert_sound(world)


def _prepared(deeds: list[Any]) -> World:
    world = World()
    for deed in deeds:
        deed(world)
    return world
