"""Imports and requests to forget come in an order, and it is theirs: what is asked for later is not undone by what was asked for before."""

import pytest

from shared.domain.task import TaskStatus
from shared.keeping.importing.course import Mode
from tests.builders import World
from tests.unit.importing.sending import exported, lines, said, send
from tests.unit.keeping.forgetting.test_forgetting import forget
from tests.unit.storage.soundness import assert_sound, settle

OLD = "2026-01-01T00:00:00Z"


def visits(world: World, count: int = 6) -> None:
    for _ in range(count):
        world.tidy()


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("wish", [{"all": True}, {"query": "tea"}], ids=str)
def test_what_is_forgotten_comes_back_by_an_import_that_is_asked_for_afterwards(
    wish: dict[str, object], mode: Mode
) -> None:
    world = World()
    world.add("I drink tea.")
    file = exported(world)
    task_id = forget(world, **wish)
    import_id = send(world, *file, mode=mode).task_id
    visits(world)
    assert [world.now.tasks.get(world.owner, one).status for one in (task_id, import_id)] == [TaskStatus.DONE] * 2
    assert world.texts() == ["I drink tea."]
    settle(world)
    assert_sound(world)


def test_a_file_taken_in_after_one_that_replaces_stays_whatever_its_times() -> None:
    world = World()
    world.add("Goes.")
    world.clock.advance(1)
    send(world, lines("Replaces."), mode=Mode.REPLACE)
    send(world, lines(said("Comes after.", created_at=OLD, updated_at=OLD)))
    visits(world)
    assert world.texts() == ["Comes after.", "Replaces."]


def test_a_file_that_comes_after_a_long_one_that_replaces_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.domain.limits.IMPORT_AT_ONCE", 100)
    world = World()
    world.add("In both.")
    world.clock.advance(1)
    send(world, lines(*(f"Replaces {number}." for number in range(150))), mode=Mode.REPLACE)
    send(world, lines("In both."))
    visits(world)
    assert "In both." in world.texts()
    assert len(world.texts()) == 151


def test_an_import_that_waits_for_a_forget_is_taken_in_by_the_visits_that_follow_at_once() -> None:
    world = World()
    world.add("I drink tea.")
    forget(world, all=True)
    import_id = send(world, lines("I drink tea.")).task_id
    for _ in range(10):
        for message in world.maintenance.receive():
            world.clock.advance(1)
            world.now.tidying.tidy(world.owner)
            world.maintenance.delete(message.receipt)
    assert world.now.tasks.get(world.owner, import_id).status is TaskStatus.DONE
    assert world.texts() == ["I drink tea."]


def test_a_forget_that_cannot_end_keeps_no_later_import_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.add("I drink tea.")
    task_id = forget(world, all=True)
    send(world, lines("I drink tea."))

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(type(world.now.builder), "build", fails)
    visits(world)
    assert world.now.tasks.get(world.owner, task_id).status is not TaskStatus.DONE
    assert world.texts() == ["I drink tea."]
