"""Settings, persona and the active project that do not open: what shows goes on, what learns is closed, all of it can be replaced."""

from dataclasses import replace
from typing import Any

import pytest

from shared.domain.errors import SealBroken, VersionMismatch
from shared.domain.memory import Category
from shared.domain.task import TaskStatus
from shared.learning.notes import Note
from shared.recall.days import ByDay
from shared.storage import lines, names
from shared.storage.journal import Journal
from shared.storage.journaled import said_of
from shared.storage.vaults import Opened
from tests.builders import World
from tests.unit.storage.losing import FIRST, flip, lose
from tests.unit.storage.soundness import assert_sound, opened, rebuilt, settle


def with_settings(how: str) -> World:
    world = World()
    world.choose(enabled=True, max_results=3)
    world.add(FIRST)
    settle(world)
    flip(world, names.SETTINGS) if how == "flipped" else lose(world, names.SETTINGS)
    world.restart()
    return world


@pytest.mark.parametrize("how", ["flipped", "lost"])
def test_settings_that_do_not_open_hide_nothing_and_close_what_learns(how: str) -> None:
    world = with_settings(how)
    assert world.texts() == world.found("deploy") == [FIRST]
    assert [count for _, count in ByDay(world.now.searcher).days(world.owner, None, None, None).days] == [1]
    note = Note(message="remember: I like tea", at=world.clock(), key_points=(), topic=None, tags=())
    closed: list[Any] = [
        lambda: world.say("I prefer tea."),
        lambda: world.now.portrait.ask(world.owner),
        lambda: world.now.sessions.note(world.owner, note),
        lambda: world.now.choices.read(world.owner),
    ]
    for deed in closed:
        with pytest.raises(SealBroken):
            deed()
    world.tidy()
    assert world.now.choices.read(world.owner).max_results == 3
    world.say("I prefer tea.")
    world.work_off()
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("how", ["flipped", "lost"])
def test_settings_that_do_not_open_are_replaced_by_what_is_sent_over_the_defaults(how: str) -> None:
    world = with_settings(how)
    with pytest.raises(VersionMismatch):
        world.now.choices.change(world.owner, {"language": "zh"}, frozenset({7}))
    chosen = world.choose(language="zh")
    assert (chosen.version, chosen.language, chosen.max_results) == (2, "zh", replace(chosen).max_results)
    assert world.now.choices.read(world.owner) == chosen
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert world.now.choices.read(world.owner) == chosen


def with_persona() -> World:
    world = World()
    world.add("I am a Python developer and use Docker", category=Category.PREFERENCE)
    world.now.portrait.ask(world.owner)
    world.tidy()
    assert world.now.portrait.get(world.owner)[0].statements
    flip(world, names.PERSONA, "document")
    world.restart()
    with pytest.raises(SealBroken):
        world.now.portrait.get(world.owner)
    return world


def test_a_persona_that_does_not_open_is_deleted_for_good() -> None:
    world = with_persona()
    world.now.portrait.delete(world.owner)
    assert not world.now.portrait.get(world.owner)[0].statements
    settle(world)
    rebuilt(world)
    assert not world.now.portrait.get(world.owner)[0].statements


@pytest.mark.parametrize("line_too", [False, True])
def test_a_refresh_replaces_a_persona_that_does_not_open(*, line_too: bool) -> None:
    world = with_persona()
    if line_too:
        commit = world.table.partition(world.owner)[names.PERSONA]["document_commit"]
        world.objects.put(names.journal(world.owner, 1, str(commit)), b"no line\n")
        assert not said_of(_journal(world), lines.PERSONA, lines.PERSONA)
    task = world.now.portrait.ask(world.owner).task_id
    world.tidy()
    assert world.now.tasks.get(world.owner, task).status is TaskStatus.DONE
    assert world.now.portrait.get(world.owner)[0].statements


def _journal(world: World) -> Any:
    return Journal(world.objects, opened(world).keys, world.random)


def test_an_active_project_that_does_not_open_is_switched_and_deleted_as_any_other() -> None:
    for deed in ("switch", "delete"):
        world = World()
        world.now.scenes.switch(world.owner, "alpha")
        world.clock.advance(1)
        flip(world, names.ACTIVE, "document")
        if deed == "switch":
            world.now.scenes.switch(world.owner, "beta")
        else:
            assert world.now.scene_deletion.delete(world.owner, "alpha", confirm=True).done
        found = world.now.vaults.open(world.owner, [names.ACTIVE])
        assert isinstance(found, Opened)
        document = said_of(_journal(world), lines.ACTIVE, lines.ACTIVE)
        assert document.get("project") == ("beta" if deed == "switch" else None)
        settle(world)
        assert_sound(world)
