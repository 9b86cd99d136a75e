"""What sessions answer: while memory is off, to a goodbye with key points, to a repeated request, and when nobody spoke for long."""

from typing import Any

import pytest

from shared.domain.errors import IdempotencyKeyReused, NotFound, NotPossibleNow
from shared.keeping.idempotency import Mark, mark
from shared.keeping.sessions.told import Begun, Ended, Noted
from shared.learning.notes import Note
from tests.builders import World

SAID = "Remember this: the port is 8443."


def keyed(world: World, operation: str, key: str | None, **request: Any) -> Mark | None:
    return mark(operation, key, request, world.clock())


def begin(world: World, key: str | None = None, project: str | None = "atlas") -> Begun:
    world.clock.advance(1)
    return world.now.sessions.open(world.owner, project, None, keyed(world, "begin", key, project=project))


def note(world: World, message: str, *points: str, key: str | None = None) -> Noted:
    world.clock.advance(1)
    once = keyed(world, "note", key, message=message)
    return world.now.sessions.note(world.owner, Note(message, world.clock(), points), once)


def end(world: World, key: str | None = None, *, discard: bool = False) -> Ended:
    world.clock.advance(1)
    return world.now.sessions.end(world.owner, discard=discard, once=keyed(world, "end", key, discard=discard))


def test_while_memory_is_off_nothing_is_told_noted_or_handed_over() -> None:
    world = World()
    world.add("I am allergic to peanuts.")
    first = begin(world)
    assert note(world, SAID).saved
    world.choose(enabled=False)
    begun = begin(world, project="borealis")
    assert (begun.session.id, begun.session.notes, begun.digest, begun.ended) == (first.session.id, 1, [], None)
    assert begun.reason == "disabled"
    assert note(world, "Remember this: the host is atlas.").reason == "disabled"
    assert note(world, "谢谢，拜拜").reason == "disabled"
    with pytest.raises(NotPossibleNow):
        end(world)
    world.tidy(hours=2)
    world.work_off()
    assert world.texts() == ["I am allergic to peanuts."]
    world.choose(enabled=True)
    world.tidy(hours=1)
    world.work_off()
    assert world.now.sessions.current(world.owner) is None
    assert world.texts() == ["I am allergic to peanuts.", "the port is 8443."]


def test_while_memory_is_off_an_empty_session_makes_room_and_notes_can_be_dropped() -> None:
    world = World()
    world.add("I am allergic to peanuts.")
    first = begin(world)
    world.choose(enabled=False)
    second = begin(world)
    assert second.ended == Ended(first.session.id, 0, None)
    assert (second.digest, second.reason) == ([], "disabled")
    world.choose(enabled=True)
    note(world, SAID)
    world.choose(enabled=False)
    assert end(world, discard=True).task_id is None
    assert begin(world).reason == "disabled"


def test_a_goodbye_keeps_its_key_points_before_it_ends_the_session() -> None:
    world = World()
    begun = begin(world)
    noted = note(world, "谢谢，拜拜", "部署窗口是每周三晚上九点")
    assert (noted.saved, noted.reason, noted.session_id) == (True, "key_points", begun.session.id)
    assert noted.ended is not None
    assert noted.ended.notes == 1
    world.work_off()
    assert world.texts() == ["部署窗口是每周三晚上九点"]


def test_a_goodbye_without_a_session_keeps_its_key_points_too_and_one_that_says_not_to_keeps_none() -> None:
    world = World()
    assert note(world, "thanks, bye", "The port is 8443.").ended is not None
    world.work_off()
    assert world.texts() == ["The port is 8443."]
    begin(world)
    noted = note(world, "bye", "Don't save this: a secret plan")
    assert (noted.saved, noted.reason) == (False, "suppressed")
    assert noted.ended is not None
    assert noted.ended.task_id is None


def test_an_end_that_is_asked_for_twice_is_told_twice() -> None:
    world = World()
    begin(world)
    note(world, SAID)
    ended = end(world, "k")
    again = end(world, "k")
    assert (again.session_id, again.notes, again.task_id) == (ended.session_id, 1, ended.task_id)
    assert (ended.replayed, again.replayed) == (False, True)
    begin(world)
    assert end(world, "k").session_id == ended.session_id
    assert world.now.sessions.current(world.owner) is not None
    with pytest.raises(IdempotencyKeyReused):
        end(world, "k", discard=True)
    end(world)
    with pytest.raises(IdempotencyKeyReused):
        end(world, "k", discard=True)
    with pytest.raises(NotFound):
        end(world, "other")
    world.clock.advance(25 * 3600)
    with pytest.raises(NotFound):
        end(world, "k")


def test_a_dropped_session_is_told_of_twice() -> None:
    world = World()
    begin(world)
    note(world, SAID)
    assert end(world, "k", discard=True).task_id is None
    assert end(world, "k", discard=True).replayed


def test_a_session_that_is_begun_twice_is_one() -> None:
    world = World()
    begin(world)
    note(world, SAID)
    begun = begin(world, "k")
    again = begin(world, "k")
    assert (again.session, again.replayed) == (begun.session, True)
    assert again.ended is not None
    assert begun.ended is not None
    assert (again.ended.session_id, again.ended.task_id) == (begun.ended.session_id, begun.ended.task_id)
    world.choose(enabled=False)
    assert begin(world, "k").reason == "disabled"
    world.choose(enabled=True)
    end(world)
    late = begin(world, "k")
    assert (late.session.id, late.session.ended, late.digest) == (begun.session.id, True, [])
    assert world.now.sessions.current(world.owner) is None
    with pytest.raises(IdempotencyKeyReused):
        begin(world, "k", project="borealis")


def test_a_note_that_is_sent_twice_is_kept_once_whatever_became_of_its_session() -> None:
    world = World()
    begin(world)
    first = note(world, SAID, key="k")
    again = note(world, SAID, key="k")
    assert (again.saved, again.reason, again.session_id, again.replayed) == (True, "forced", first.session_id, True)
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert session.notes == 1
    unsaved = note(world, "What time is it?", key="q")
    assert note(world, "What time is it?", key="q") == Noted(False, "no_trigger", unsaved.session_id, replayed=True)
    end(world)
    assert note(world, SAID, key="k").session_id == first.session_id
    assert world.now.sessions.current(world.owner) is None


@pytest.mark.parametrize("points", [(), ("The port is 8443.",)])
def test_a_goodbye_that_is_sent_twice_tells_its_task_twice(points: tuple[str, ...]) -> None:
    world = World()
    begin(world)
    note(world, "Remember this: the host is atlas.")
    noted = note(world, "thanks, bye", *points, key="k")
    again = note(world, "thanks, bye", *points, key="k")
    assert noted.ended is not None
    assert again.ended is not None
    assert (again.saved, again.reason, again.ended.task_id) == (noted.saved, noted.reason, noted.ended.task_id)
    assert again.replayed
    assert world.now.sessions.current(world.owner) is None


def test_a_session_that_is_silent_is_told_for_what_it_is_and_the_note_that_ends_it_says_so() -> None:
    world = World()
    first = begin(world)
    note(world, SAID)
    world.clock.advance(1700)
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert not session.silent(world.clock())
    world.clock.advance(100)
    assert session.silent(world.clock())
    noted = note(world, "What time is it?")
    assert (noted.saved, noted.reason, noted.session_id) == (False, "no_trigger", None)
    assert noted.ended is not None
    assert (noted.ended.session_id, noted.ended.notes) == (first.session.id, 1)
    begin(world)
    note(world, SAID)
    world.clock.advance(1800)
    noted = note(world, "Remember this: the host is atlas.")
    assert noted.ended is not None
    assert noted.session_id not in {None, noted.ended.session_id}
    world.clock.advance(1800)
    noted = note(world, "thanks, bye", key="k")
    assert noted.ended is not None
    assert note(world, "thanks, bye", key="k").ended == Ended(
        noted.ended.session_id, 1, noted.ended.task_id, replayed=True
    )
