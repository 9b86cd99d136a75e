"""The coldest scene makes room: archived, still found and told of, and back by use."""

import pytest

from shared.domain import limits
from shared.domain.errors import NotPossibleNow
from shared.domain.naming import ACTIVE_PROJECT
from shared.keeping.scenes.scenes import Which
from shared.recall.context import Moment
from tests.builders import World
from tests.unit.keeping.scenes.staging import change, in_project, listed, made, summed, switch
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_sound, rebuilt, settle


def test_the_coldest_scene_makes_room_and_comes_back_by_use() -> None:
    world = World()
    for number in range(limits.SCENES):
        made(world, f"p{number}")
    in_project(world, "It is used again.", "p0")
    made(world, "one more")
    assert list(listed(world, Which.ARCHIVED)) == ["p1"]
    assert len(listed(world)) == limits.SCENES
    in_project(world, "A memory of an archived scene.", "p1")
    assert "p1" in listed(world)
    world.tidy()
    assert list(listed(world, Which.ARCHIVED)) == ["p2"]
    made(world, "p2")
    assert list(listed(world, Which.ARCHIVED)) == ["p3"]
    before = {which: sorted(listed(world, which)) for which in Which}
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert {which: sorted(listed(world, which)) for which in Which} == before


def test_the_active_scene_is_never_archived_however_cold_it_is() -> None:
    world = World()
    made(world, "atlas")
    for number in range(limits.SCENES + 2):
        in_project(world, f"Fact {number}.", f"p{number}")
    world.tidy()
    assert sorted(listed(world, Which.ARCHIVED)) == ["p0", "p1", "p2"]
    with pytest.raises(NotPossibleNow):
        change(world, "atlas", archived=True)
    world.tidy()
    assert len(listed(world)) == limits.SCENES


def test_memories_of_an_archived_scene_are_found() -> None:
    world = World()
    in_project(world, "The deploy day is Monday.")
    change(world, "atlas", archived=True)
    assert (list(listed(world)), list(listed(world, Which.ARCHIVED))) == ([], ["atlas"])
    assert world.found("deploy", project="atlas") == ["The deploy day is Monday."]
    change(world, "atlas", name="still archived")
    assert list(listed(world, Which.ALL)) == list(listed(world, Which.ARCHIVED)) == ["atlas"]
    change(world, "atlas", archived=False)
    assert list(listed(world)) == ["atlas"]


def test_an_archived_scene_is_told_where_its_project_is_named() -> None:
    world = World()
    made(world, "atlas")
    change(world, "atlas", summary="Written by hand.")
    moment = Moment("How do we deploy?", project=ACTIVE_PROJECT)
    assert "Written by hand." in world.now.contexts.context(world.owner, moment).text
    switch(world, None)
    change(world, "atlas", archived=True)
    assert "Written by hand." not in world.now.contexts.context(world.owner, moment).text
    named = Moment("How do we deploy?", project="atlas")
    assert "Written by hand." in world.now.contexts.context(world.owner, named).text


def test_a_conversation_that_sums_an_archived_scene_up_brings_it_back() -> None:
    world = World(extractor=Summing())
    summed(world)
    change(world, "atlas", archived=True)
    summed(world, "Nothing that a rule would find.")
    assert list(listed(world)) == ["atlas"]
