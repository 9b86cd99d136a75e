"""What was noted is taken back: once, whoever asks again, and also after half an hour of silence."""

import pytest

from shared.keeping.idempotency import mark
from shared.learning.notes import Note
from shared.storage import names
from tests.builders import World
from tests.unit.keeping.sessions.speaking import begin, end, note
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import assert_sound, settle

SECRETLY, OTHER = "我决定下周去北京", "We decided to use Postgres."
LAST, ALL = ["Don't save that.", "刚才那条不要保存"], ["Don't save this conversation", "不要保存这次对话"]


def asked(world: World, wish: str) -> object:
    world.clock.advance(1)
    return world.now.sessions.note(
        world.owner, Note(wish, world.clock()), mark("note", "k", {"wish": wish}, world.clock())
    )


@pytest.mark.parametrize("wish", [*LAST, *ALL])
def test_a_wish_that_is_sent_twice_takes_back_once(wish: str) -> None:
    world = World()
    begin(world)
    note(world, SECRETLY)
    first = asked(world, wish)
    begin(world)
    note(world, OTHER)
    again = asked(world, wish)
    assert again.replayed  # type: ignore[attr-defined]
    assert again.ended == first.ended or again.ended.session_id == first.ended.session_id  # type: ignore[attr-defined]
    end(world)
    assert world.texts() == [OTHER]


@pytest.mark.parametrize("wish", [*LAST, *ALL])
def test_a_session_in_silence_is_reached_as_long_as_nothing_ended_it(wish: str) -> None:
    world = World()
    begin(world)
    note(world, SECRETLY)
    world.clock.advance(3000)
    note(world, wish)
    assert "北京" not in everything_said(world)
    world.clock.advance(3000)
    world.tidy()
    world.work_off()
    assert world.texts() == []
    assert world.sks(names.NOTE) == []
    settle(world)
    assert_sound(world)
