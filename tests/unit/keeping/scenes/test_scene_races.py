"""Whoever dies while a scene is switched to, and whoever else is at it."""

from functools import partial
from typing import Any

from shared.domain import limits
from shared.domain.errors import NacreError
from shared.domain.memory import Scope
from shared.keeping.scenes.scenes import Which
from tests.builders import Draft, World
from tests.fakes import Steps
from tests.unit.keeping.scenes.staging import active, in_project, listed, made, switch
from tests.unit.storage.soundness import assert_sound, died, settle
from tests.unit.storage.test_writers_at_once import at_once


def begun() -> World:
    """Return a world with as many scenes as there may be, the coldest of which a switch will archive."""
    world = World()
    for number in range(limits.SCENES):
        in_project(world, f"Fact {number}.", f"p{number}")
    made(world, "p0")
    world.tidy(hours=2)
    return world


def test_dying_at_any_step_of_a_switch_loses_nothing_and_asking_again_does_it() -> None:
    world = begun()
    steps = world.restart()
    made(world, "new one")
    assert steps.count > 10
    for at in range(1, steps.count + 1):
        world = begun()
        assert died(world, Steps(at=at, when="after"), partial(switch, world, "new one"))
        assert active(world) in {"p0", "new one"}
        left = set(listed(world, Which.ALL))
        assert left - {"new one"} == {f"p{number}" for number in range(limits.SCENES)}
        assert active(world) in left
        assert made(world, "new one").active
        settle(world)
        assert_sound(world)
        assert list(listed(world, Which.ARCHIVED)) == ["p1"]


def test_many_switches_at_once_leave_one_active_scene_of_those_asked_for() -> None:
    world = World()
    asked = ["atlas", "borealis", "atlas", "cygnus", "atlas", "borealis"]
    answers = at_once(world, lambda process, number: process.scenes.switch(world.owner, asked[number]), len(asked))
    assert all(isinstance(one, NacreError) for one in answers if isinstance(one, Exception)), answers
    news = [seen.scene.project for seen, new in (one for one in answers if not isinstance(one, Exception)) if new]
    assert len(news) == len(set(news))
    assert set(listed(world)) >= {
        seen.scene.project for seen, _ in (a for a in answers if not isinstance(a, Exception))
    }
    assert active(world) in listed(world)
    settle(world)
    assert_sound(world)


def test_twenty_five_scenes_made_at_once_are_twenty_after_the_next_maintenance() -> None:
    world = World()
    world.add("The first of them.")

    def deed(process: Any, number: int) -> Any:
        draft = Draft(f"Fact {number}.", scope=Scope.PROJECT, project=f"p{number}")
        return process.memories.add(world.owner, draft)

    answers = at_once(world, deed, limits.SCENES + 5)
    assert not [one for one in answers if isinstance(one, Exception)]
    assert len(listed(world)) == limits.SCENES + 5
    world.tidy()
    assert (len(listed(world)), len(listed(world, Which.ARCHIVED))) == (limits.SCENES, 5)
