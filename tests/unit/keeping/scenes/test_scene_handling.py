"""Scenes as their owner handles them: names of any script, one active project, lists, and what a rebuild gives back."""

from datetime import timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import Invalid, NotFound, QuotaExceeded, VersionMismatch
from shared.domain.memory import Scope
from shared.domain.naming import ACTIVE_PROJECT
from shared.keeping.scenes.scenes import Which
from shared.ports import Update
from shared.recall.search import Question
from shared.storage import names, scenes
from tests.builders import World
from tests.unit.keeping.scenes.staging import DECIDED, active, change, in_project, listed, made, summed, switch
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_sound, opened, rebuilt, settle

NAMES = ["a/b", "项目一", "🦊 fox", "%2F", "..", "two words", "x" * 128, "Почему?", "#1"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_any_script_makes_one_scene_and_is_found_again(name: str) -> None:
    world = World()
    seen, new = switch(world, name)
    assert (seen and seen.scene.project, new) == (name, True)
    seen, new = switch(world, name)
    assert (seen and seen.scene.name, new) == (name, False)
    in_project(world, "It is there.", name)
    assert world.now.scenes.get(world.owner, name).scene.memories == 1
    assert list(listed(world)) == [name]
    settle(world)
    assert_sound(world)


def test_names_that_a_slug_would_make_one_are_two_scenes() -> None:
    world = World()
    for name in ("นโยบาย", "ตารางก", "a b", "a-b", "A-B"):
        made(world, name)
    assert len(listed(world)) == 5


def test_a_scene_is_there_as_soon_as_a_memory_of_its_project_is() -> None:
    world = World()
    memory_id = in_project(world, "Deploys need two reviewers.")
    seen = world.now.scenes.get(world.owner, "atlas")
    assert (seen.scene.memories, seen.memory_ids, seen.summary, seen.active) == (1, (memory_id,), None, False)
    world.delete(memory_id)
    with pytest.raises(NotFound):
        world.now.scenes.get(world.owner, "atlas")


@pytest.mark.parametrize("project", ["default", "nothing of this name"])
def test_what_is_no_scene_is_not_found(project: str) -> None:
    world = World()
    for deed in (world.now.scenes.get, lambda owner, one: world.now.scenes.change(owner, one, {"name": "x"}, None)):
        with pytest.raises(NotFound):
            deed(world.owner, project)
    assert world.table.partition(world.owner) == {}
    world.add("The owner exists now.")
    with pytest.raises(NotFound):
        world.now.scenes.get(world.owner, project)


def test_one_project_is_active_until_another_is_or_none() -> None:
    world = World()
    made(world, "atlas")
    made(world, "borealis")
    assert {name: seen.active for name, seen in listed(world).items()} == {"atlas": False, "borealis": True}
    assert switch(world, "default") == (None, False)
    assert not any(seen.active for seen in listed(world).values())
    assert active(world) is None


def test_who_never_stored_anything_has_no_project_to_switch_off() -> None:
    world = World()
    assert switch(world, None) == (None, False)
    assert world.table.partition(world.owner) == {}


def test_a_scene_is_switched_to_by_its_shown_name_when_only_it_has_that() -> None:
    world = World()
    made(world, "atlas")
    made(world, "borealis")
    change(world, "atlas", name="商城后端")
    seen, new = switch(world, "商城后端")
    assert (seen and seen.scene.project, new) == ("atlas", False)
    change(world, "borealis", name="商城后端")
    with pytest.raises(Invalid):
        switch(world, "商城后端")
    change(world, "borealis", name="atlas")
    assert made(world, "atlas").scene.name == "商城后端"


def test_a_rename_keeps_the_key_and_null_takes_it_back() -> None:
    world = World()
    memory_id = in_project(world, "Deploys need two reviewers.")
    seen = change(world, "atlas", name="Das Kartenprojekt")
    assert (seen.scene.project, seen.scene.name, seen.memory_ids) == ("atlas", "Das Kartenprojekt", (memory_id,))
    assert change(world, "atlas", name=None).scene.name == "atlas"


@pytest.mark.parametrize("name", ["default", "*"])
def test_no_scene_is_shown_under_the_words_for_none_and_for_all(name: str) -> None:
    world = World()
    made(world, "atlas")
    with pytest.raises(Invalid, match="valid"):
        change(world, "atlas", name=name)
    assert world.now.scenes.get(world.owner, "atlas").scene.name == "atlas"


def test_an_etag_of_before_is_refused_and_what_changes_nothing_makes_no_new_one() -> None:
    world = World()
    in_project(world, "Deploys need two reviewers.")
    first = change(world, "atlas", frozenset({""}), name="one").scene.document.latest
    assert change(world, "atlas", name="one").scene.document.latest == first
    change(world, "atlas", frozenset({first}), name="two")
    with pytest.raises(VersionMismatch):
        change(world, "atlas", frozenset({first}), name="three")
    assert world.now.scenes.get(world.owner, "atlas").scene.name == "two"


@pytest.mark.parametrize("deed", [switch, lambda world, name: change(world, "atlas", name=name)])
def test_a_name_that_holds_a_credential_is_refused(deed: Any) -> None:
    world = World()
    made(world, "atlas")
    with pytest.raises(Invalid):
        deed(world, "password: hunter2-Zebra9")
    assert list(listed(world)) == ["atlas"]


# What is meant where no project is named.


def test_an_omitted_project_is_the_active_one_for_conversations_and_searches() -> None:
    world = World()
    in_project(world, "The deploy day is Monday.")
    assert world.found("deploy", project=ACTIVE_PROJECT) == []
    made(world, "atlas")
    assert world.found("deploy", project=ACTIVE_PROJECT) == ["The deploy day is Monday."]
    assert world.found("deploy", project=None) == []
    assert world.found("deploy", project="default") == []
    world.say(DECIDED, project=ACTIVE_PROJECT)
    world.work_off()
    assert {memory.project for memory in world.memories()} == {"atlas"}
    world.say("I decided to drink green tea.", project=None)
    world.work_off()
    assert {memory.project for memory in world.memories()} == {"atlas", None}


def test_the_active_project_costs_a_search_no_step() -> None:
    world = World()
    in_project(world, "The deploy day is Monday.")
    made(world, "atlas")
    calls = []
    for project in ("atlas", ACTIVE_PROJECT):
        steps = world.warm()
        assert world.now.searcher.search(world.owner, Question("deploy", project=project)).hits
        calls.append(sorted(steps.log))
    assert calls[0] == calls[1]


def test_an_active_project_that_does_not_open_is_none() -> None:
    world = World()
    made(world, "atlas")
    world.table.write(world.owner, [Update(names.ACTIVE, set={"document": b"tampered"})])
    assert active(world) is None
    assert not listed(world)["atlas"].active


# Lists and memory ids.


def test_a_scene_shows_the_newest_five_hundred_memories_that_stand_and_is_right_at_once() -> None:
    world = World()
    ids = [in_project(world, f"Fact number {number}.") for number in range(5)]
    in_project(world, "Of another project.", "borealis")
    world.dismiss(ids[1])
    world.delete(ids[3])
    expiring = world.add(
        "Soon over.", scope=Scope.PROJECT, project="atlas", expires_at=world.clock() + timedelta(hours=1)
    )
    assert world.now.scenes.get(world.owner, "atlas").memory_ids == (expiring.id, ids[4], ids[2], ids[0])
    world.clock.advance(3_601)
    seen = world.now.scenes.get(world.owner, "atlas")
    assert (seen.memory_ids, seen.scene.memories) == ((ids[4], ids[2], ids[0]), 5)


def test_no_more_than_the_newest_ids_are_shown() -> None:
    world = World()
    ids = [in_project(world, f"Fact number {number}.") for number in range(limits.SCENE_MEMORIES + 2)]
    assert world.now.scenes.get(world.owner, "atlas").memory_ids == tuple(reversed(ids[2:]))


def test_pages_of_scenes_hold_each_once_and_cursors_fit_their_list_only() -> None:
    world = World()
    for number in range(5):
        made(world, f"p{number}")
    found: list[str] = []
    cursor = None
    while True:
        page = world.now.scenes.page(world.owner, Which.ALL, 2, cursor)
        found += [seen.scene.project for seen in page.scenes]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(found) == [f"p{number}" for number in range(5)]
    first = world.now.scenes.page(world.owner, Which.ALL, 2, None).next_cursor
    with pytest.raises(Invalid):
        world.now.scenes.page(world.owner, Which.ARCHIVED, 2, first)
    with pytest.raises(Invalid):
        World().now.scenes.page("b" * 52, Which.ALL, 2, first)


def test_a_scene_that_does_not_open_is_counted_and_the_others_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    world = World()
    made(world, "atlas")
    made(world, "borealis")
    sk = scenes.sk_of(opened(world).keys, "atlas")
    world.table.write(world.owner, [Update(sk, set={"document": b"tampered"})])
    page = world.now.scenes.page(world.owner, Which.ALL, 50, None)
    assert ([seen.scene.project for seen in page.scenes], page.damaged) == (["borealis"], 1)


def test_a_full_memory_takes_no_new_scene() -> None:
    world = World(quota=500)
    made(world, "atlas")
    with pytest.raises(QuotaExceeded):
        made(world, "borealis")
    assert list(listed(world)) == ["atlas"]


def test_a_rebuild_gives_the_same_scenes() -> None:
    world = World(extractor=Summing())
    summed(world)
    in_project(world, "Deploys need two reviewers.", "borealis")
    change(world, "borealis", name="Nordlicht", context="By hand.", archived=True)
    made(world, "empty one")
    made(world, "atlas")
    settle(world)
    before = listed(world, Which.ALL)
    rebuilt(world)
    assert listed(world, Which.ALL) == before
    assert active(world) == "atlas"
