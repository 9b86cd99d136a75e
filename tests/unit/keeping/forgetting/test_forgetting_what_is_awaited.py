"""What was begun before a request to forget and tells only later what it says is forgotten when it does; the request is done before."""

from contextlib import suppress
from typing import Any

import pytest

from shared.domain.memory import Category, Scope
from shared.domain.task import TaskStatus
from shared.keeping.forgetting.asking import SELECTION, WAITING
from shared.storage import names
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.importing.sending import Page, lines
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, status
from tests.unit.keeping.forgetting.test_forgetting_what_waits import THEME, handed_over
from tests.unit.keeping.sessions.speaking import begin, end, note
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, settle

BY_MEMORY: list[dict[str, Any]] = [
    {"scope": Scope.USER},
    {"category": Category.PREFERENCE},
    {"importance_below": 10},
    {"scope": Scope.USER, "query": "theme"},
]


def begun(world: World, *pages: str) -> str:
    """Send pages of which none is the last."""
    import_id = None
    for data in pages:
        world.clock.advance(1)
        import_id = world.now.importing.receive(world.owner, Page(data, import_id, last=False)).task_id
    assert import_id is not None
    return import_id


def go_on(world: World, import_id: str, data: str) -> None:
    world.clock.advance(1)
    world.now.importing.receive(world.owner, Page(data, import_id))


def kept(world: World, task_id: str) -> bool:
    """Tell whether a task holds its selection still."""
    partition = world.table.partition(world.owner)
    waits = int(partition[names.UPKEEP].get(WAITING, 0))
    holds = SELECTION in partition[names.TASK + task_id]
    assert waits == int(holds)
    return holds


def test_an_import_without_its_last_page_holds_no_request_up() -> None:
    world = World()
    world.add("forget me please")
    begun(world, "- a b\n- c d\n")
    task_id = forget(world, query="forget me")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1})


@pytest.mark.parametrize("wish", [{"query": "forget me"}, {"all": True}, {"scope": Scope.USER}], ids=str)
def test_what_an_import_holds_that_was_begun_before_is_forgotten_when_it_is_taken_in(wish: dict[str, Any]) -> None:
    world = World()
    import_id = begun(world, lines("forget me, says a file", "Something else"))
    task_id = forget(world, **wish)
    forgotten(world)
    assert (status(world, task_id)[0], kept(world, task_id)) == (TaskStatus.DONE, True)
    go_on(world, import_id, lines("forget me, it says again"))
    forgotten(world)
    world.tidy()
    assert world.texts() == (["Something else"] if "query" in wish else [])
    assert "forget me, " not in everything_said(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 2 if "query" in wish else 3})
    assert not kept(world, task_id)
    settle(world)
    assert_sound(world)


def test_an_import_that_never_comes_is_awaited_for_a_day() -> None:
    world = World()
    begun(world, "- a b\n- c d\n")
    task_id = forget(world, query="forget me")
    forgotten(world)
    for hours in (25, 0, 0):
        world.tidy(hours=hours)
    assert not kept(world, task_id)


def test_an_import_that_begins_after_the_request_is_not_awaited() -> None:
    world = World()
    task_id = forget(world, query="forget me")
    import_id = begun(world, lines("forget me not"))
    forgotten(world)
    assert not kept(world, task_id)
    go_on(world, import_id, lines("another"))
    forgotten(world)
    assert world.texts() == ["another", "forget me not"]


@pytest.mark.parametrize("wish", BY_MEMORY, ids=str)
def test_what_was_noted_before_is_forgotten_when_its_session_ends(wish: dict[str, Any]) -> None:
    world = World()
    begin(world, None)
    note(world, THEME)
    task_id = forget(world, **wish)
    forgotten(world)
    assert (status(world, task_id)[0], kept(world, task_id)) == (TaskStatus.DONE, True)
    note(world, "I prefer green tea with the theme of spring")
    world.clock.advance(1)
    world.now.sessions.end(world.owner)
    forgotten(world)  # it waits to be learned from
    world.work_off()
    forgotten(world)
    world.tidy()
    assert world.texts() == ["I prefer green tea with the theme of spring"]
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1})
    assert not kept(world, task_id)
    assert THEME not in everything_said(world)
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("learned_first", [True, False])
def test_a_conversation_that_waits_is_judged_when_it_is_learned(*, learned_first: bool) -> None:
    world = World()
    handed_over(world, THEME)
    task_id = forget(world, category=Category.PREFERENCE)
    if not learned_first:
        forgotten(world)
        assert kept(world, task_id)
    world.work_off()
    forgotten(world)
    world.tidy()
    assert world.texts() == []
    assert not kept(world, task_id)


def test_a_session_that_is_dropped_and_a_task_that_fails_are_awaited_no_longer_than_they_last() -> None:
    world = World()
    failed = handed_over(world, THEME)
    world.now.extraction.fail(world.owner, failed, 1, "internal")
    (message,) = world.work.receive()
    world.work.delete(message.receipt)
    begin(world, None)
    note(world, THEME)
    task_id = forget(world, category=Category.PREFERENCE)
    forgotten(world)
    end(world, discard=True)
    forgotten(world)
    assert kept(world, task_id)
    for hours in (24 * 8, 0, 1, 0):
        world.tidy(hours=hours)
    assert not kept(world, task_id)


def test_a_table_that_lost_its_state_of_maintenance_finds_it_again() -> None:
    world = World()
    begin(world, None)
    note(world, THEME)
    task_id = forget(world, category=Category.PREFERENCE)
    forgotten(world)
    world.table.partition(world.owner).pop(names.UPKEEP)
    end(world)
    forgotten(world)
    world.tidy()
    assert world.texts() == []
    assert not kept(world, task_id)


def awaiting() -> tuple[World, str]:
    world = World()
    import_id = begun(world, lines("forget me, says a file", "Something else"))
    begin(world, None)
    note(world, "I prefer to forget me")
    task_id = forget(world, scope=Scope.USER, query="forget me")
    forgotten(world)
    end(world)
    go_on(world, import_id, lines("forget me, it says again"))
    return world, task_id


@pytest.mark.parametrize("when", ["before", "after"])
def test_whoever_dies_forgets_it_later_and_counts_it_once(when: str) -> None:
    world, _ = awaiting()
    steps = world.restart()
    world.tidy()
    for at in range(1 if when == "before" else 2, steps.count + 1, 3):
        world, task_id = awaiting()
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.tidy()
        world.restart()
        for hours in (LEASE_AND_MORE, 0, 0, 0):
            world.tidy(hours=hours)
        assert world.texts() == ["Something else"], at
        assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 3}), at
        assert not kept(world, task_id), at
