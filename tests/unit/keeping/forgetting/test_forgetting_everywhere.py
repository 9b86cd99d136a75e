"""Once a forget is done, nothing of it is left in any kind of place, whatever it was asked by."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.domain.memory import Category
from shared.domain.task import TaskStatus
from shared.storage.suggestions import Decision
from tests.builders import World, conversation
from tests.unit.evolution.suggesting import suggested
from tests.unit.importing.sending import lines, send
from tests.unit.keeping.forgetting.test_forgetting import forget, status
from tests.unit.keeping.sessions.speaking import begin, note
from tests.unit.storage.deeds import Summing
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import assert_sound, settle

WORD = "花生"
REPEATED = (
    "花生 tests failed, so run them again in docker",
    "花生 tests failed, so run them again in Docker!",
    "花生 tests failed so run them again in docker now",
)


def said_everywhere() -> World:
    """Return a world in which a word stands in versions, a scene, the persona, an accepted suggestion, tasks, a dry run, notes of an open
    session, a conversation that waits, an import that waits, and the index."""
    world = World(extractor=Summing())
    for text in REPEATED:
        world.add(text, category=Category.PREFERENCE)
    world.edit(world.add("I work as a backend engineer for 花生 Ltd").id, importance=9)
    world.say("Remember: I prefer 花生 butter on bread.", project="atlas")
    world.work_off()
    world.now.portrait.ask(world.owner)
    world.tidy()
    (suggestion,) = suggested(world)
    world.now.suggestions.decide(world.owner, suggestion.id, Decision.ACCEPTED, None)
    assert any(WORD in one.text for one in world.now.portrait.get(world.owner)[0].statements)
    world.now.accepting.accept(world.owner, conversation("Please remember that 花生 is dry.", dry_run=True))
    world.work_off()
    begin(world)
    note(world, "记住这个：我对花生过敏", "花生 it is", topic="花生")
    world.say("Please remember that 花生 is bad for me.")
    world.build()
    send(world, lines("花生 in a file", "Something else in a file"))
    return world


@pytest.mark.parametrize(
    "wish",
    [{"query": WORD}, {"all": True}, {"last_days": 2}, {"since": datetime(2026, 3, 1, tzinfo=UTC)}],
    ids=["words", "all", "days", "time"],
)
def test_nothing_is_left_in_any_kind_of_place(wish: dict[str, Any]) -> None:
    world = said_everywhere()
    under_way = world.work.receive()
    assert everything_said(world).count(WORD) > 20
    task_id = forget(world, **wish)
    for _ in range(3):
        world.tidy()
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert WORD not in everything_said(world)
    for message in under_way:
        world.deliver(message)
    settle(world)
    assert WORD not in everything_said(world)
    assert world.texts() == (["Something else in a file"] if "query" in wish else [])
    assert_sound(world)
