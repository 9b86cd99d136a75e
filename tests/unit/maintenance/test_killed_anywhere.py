"""A visit in which every step has something to do, killed anywhere and run again, comes to the same end."""

from datetime import timedelta
from functools import partial
from typing import Any, Literal

import pytest

from shared.domain.memory import Scope
from tests.builders import World
from tests.fakes import Steps
from tests.unit.consolidation.merging import fill, learned
from tests.unit.evolution.suggesting import DEPLOY, SMALL, experienced, preferred, suggested
from tests.unit.keeping.forgetting.test_forgetting import selected
from tests.unit.keeping.sessions.speaking import begin, note
from tests.unit.storage.soundness import assert_sound, died, settle, visible
from tests.unit.storage.test_crash_and_leave import add_and_die

APART = 43
"""Calls between two deaths: all of them take minutes, and each step's own tests die at each of its own."""


def much_to_do() -> World:
    """Memories to merge, to suggest from, to expire and to forget, a silent session, a learned project and a dead writer's line."""
    world = World()
    fill(world)
    learned(world, "I like green tea")
    learned(world, "I really like green tea.")
    experienced(world, *DEPLOY)
    preferred(world, *SMALL)
    place: dict[str, Any] = {"scope": Scope.PROJECT, "project": "地图/a"}
    world.add("中文资料三小时后归档", expires_at=world.clock() + timedelta(hours=3), **place)
    forgotten = world.add("To be forgotten", **place)
    edited = world.add("The kiln is hot")
    world.edit(edited.id, content="The oven is hot")
    world.say("Remember this: the database is PostgreSQL.", project="地图/a")
    world.work_off()
    begin(world, "地图/a")
    note(world, "记住这个：端口是 8443")
    for wish in ({"ids": [forgotten.id]}, {"query": "kiln"}):
        world.now.forgetting.ask(world.owner, selected(world, **wish), confirm=True)
    add_and_die(world, "A dead writer's line")
    world.clock.advance(4 * 3600)
    return world


def tidied(world: World) -> None:
    world.now.tidying.tidy(world.owner)


def end(world: World) -> dict[str, Any]:
    """Settle and return what is seen; suggestions without their ids, which tell the time."""
    settle(world)
    assert_sound(world)
    seen = visible(world, ("deploy", "资料", "tea", "kiln", "oven", "端口"))
    documents = [sk for sk, _ in seen.pop("documents") if not sk.startswith("g#")]
    return seen | {"documents": documents, "suggested": sorted((one.status, one.text) for one in suggested(world))}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_visit_of_all_steps_killed_anywhere_comes_to_the_same_end(when: Literal["before", "after"]) -> None:
    world = much_to_do()
    steps = world.restart()
    tidied(world)
    count, whole = steps.count, end(world)
    assert len(whole["suggested"]) == 2
    assert not whole["found"]["kiln"]
    for at in range(1 if when == "before" else APART // 2, count + 1, APART):
        world = much_to_do()
        assert died(world, Steps(at=at, when=when), partial(tidied, world))
        assert end(world) == whole, f"died {when} {at} of {count}"
