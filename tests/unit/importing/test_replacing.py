"""Replacing everything by a file: what a refused line is about is neither taken in nor lost."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from shared.domain.errors import Invalid
from shared.domain.memory import Status
from shared.domain.task import TaskStatus
from shared.keeping.importing.course import Mode
from tests.builders import World
from tests.unit.importing.sending import Page, counted, exported, said, send, taken_in
from tests.unit.importing.sending import lines as file_of
from tests.unit.storage.soundness import assert_sound, settle

SECRET, COFFEE = "数据库密码是 hunter2Xy!", "I drink my coffee black."


def test_ones_own_export_with_masked_secrets_replaces_nothing_by_nothing() -> None:
    world = World()
    world.add(SECRET)
    world.add(COFFEE)
    file = exported(world, credentials=False)
    world.add("Made after the export.")
    world.clock.advance(1)
    task = taken_in(world, *file, mode=Mode.REPLACE, visits=3)
    assert task.status is TaskStatus.DONE
    assert counted(task) == {"refused": 1, "forgotten": 1, "kept": 1, "documents": 1}
    assert world.texts() == sorted([COFFEE, SECRET])
    settle(world)
    assert_sound(world)


def test_a_line_that_is_wrong_or_damaged_spares_the_memory_that_it_names_and_no_other() -> None:
    world = World()
    wrong, damaged, _other = (world.add(text).id for text in ("One.", "Two.", "Three."))
    world.clock.advance(1)
    file = file_of(
        said("New."),
        said("One, changed.", id=wrong, importance=99),
        {"kind": "damaged", "id": damaged},
        said("***", id="not an id of ours"),
    )
    task = taken_in(world, file, mode=Mode.REPLACE, visits=3)
    assert counted(task) == {"imported": 1, "refused": 3, "forgotten": 1}
    assert world.texts() == ["New.", "One.", "Two."]


def test_a_masked_line_spares_what_it_says_where_its_id_is_not_known_here() -> None:
    world = World()
    world.add(SECRET)
    world.add(COFFEE)
    world.clock.advance(1)
    masked = said("数据库密码是  ***", id="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    task = taken_in(world, file_of(said("New."), masked), mode=Mode.REPLACE, visits=3)
    assert counted(task) == {"imported": 1, "refused": 1, "forgotten": 1}
    assert world.texts() == sorted(["New.", SECRET])


NOTHING_IN_IT: dict[str, Callable[[World], list[str]]] = {
    "without content": lambda world: exported(world, content=False),
    "refused lines only": lambda _world: [file_of(said("The key is ***."), said("A.", importance=99))],
    "of an empty account": lambda _world: exported(World(owner="b" * 52)),
    "in two pages": lambda _world: [file_of(said("***")), file_of(said("A.", importance=99))],
}


@pytest.mark.parametrize("name", NOTHING_IN_IT)
def test_a_file_of_which_nothing_can_be_taken_in_replaces_nothing(name: str) -> None:
    world = World()
    world.add(SECRET)
    world.add(COFFEE)
    file = NOTHING_IN_IT[name](world)
    with pytest.raises(Invalid):
        send(world, *file, mode=Mode.REPLACE)
    for _ in range(3):
        world.tidy(hours=12)
    assert world.texts() == sorted([COFFEE, SECRET])
    assert [task.error for task in world.now.tasks.list(world.owner, limit=9)[0]] == ["incomplete"] * (len(file) - 1)


def test_saying_that_the_page_before_was_the_last_one_replaces_by_nothing_neither() -> None:
    world = World()
    world.add(COFFEE)
    page = Page(file_of(said("***")), mode=Mode.REPLACE, last=False)
    begun = world.now.importing.receive(world.owner, page)
    with pytest.raises(Invalid):
        world.now.importing.receive(world.owner, replace(page, import_id=begun.task_id, last=True))
    world.tidy(hours=1)
    assert world.texts() == [COFFEE]


@pytest.mark.parametrize(
    "file",
    [
        '[{"id":"1","memory":"pw ***","user_id":"x"},{"id":"2","memory":"Likes tea.","user_id":"x"}]',
        "id,scope,content,status\n1,USER,likes tea,ACTIVE\n2,USER\n",
        "Here is what I know:\n\nAnd so on, as you said.\n- Likes tea.\n- Likes dogs.\n- Likes cats.\n",
    ],
    ids=["mem0", "mao", "text"],
)
def test_another_tools_file_with_a_refused_line_replaces_nothing(file: str) -> None:
    world = World()
    world.add(COFFEE)
    with pytest.raises(Invalid) as refused:
        send(world, file, mode=Mode.REPLACE)
    assert "Line" in repr(refused.value.details)
    assert world.sks("task#") == []
    assert counted(taken_in(world, file)).get("imported", 0) >= 1, "the other modes take in what they can"


def test_what_is_all_over_by_the_owners_own_retention_replaces_nothing() -> None:
    world = World()
    world.choose(retention_days=30)
    world.add(COFFEE)
    world.clock.advance(1)
    file = file_of(said("Old.", created_at="2020-01-01T00:00:00Z"), {"kind": "active", "fields": {"project": "atlas"}})
    task = taken_in(world, file, mode=Mode.REPLACE, visits=3)
    assert (task.status, task.error) == (TaskStatus.FAILED, "nothing_taken_in")
    assert counted(task) == {"refused": 1}
    assert world.texts() == [COFFEE]
    assert b"/imports/" not in world.objects.everything()


@pytest.mark.parametrize(("before", "after"), [(20, 5), (30, 15), (20, 20), (20, 30), (5, 30)])
def test_what_replaces_a_full_account_is_active_in_the_end(
    before: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.domain.limits.IMPORT_BATCH", 4)
    world = World(active=20)
    taken_in(world, file_of(*(f"Old fact {n}." for n in range(before))))
    world.clock.advance(1)
    file = file_of(*(f"New fact {n}." for n in range(after)), said("Dismissed.", status="dismissed"))
    task = taken_in(world, file, mode=Mode.REPLACE, visits=4)
    beyond = max(0, after - 20)
    expected = {"imported": after + 1, "forgotten": before, "archived": beyond}
    assert (task.status, counted(task)) == (TaskStatus.DONE, {name: n for name, n in expected.items() if n})
    assert world.texts(status=Status.ACTIVE) == sorted(f"New fact {n}." for n in range(after - beyond))
    assert world.texts(status=Status.DISMISSED) == ["Dismissed."]
    assert len(world.found("New fact")) == after
    settle(world)
    assert_sound(world)


def test_what_the_file_overwrites_and_has_no_room_for_is_active_in_the_end() -> None:
    world = World(active=2)
    taken_in(world, file_of("One.", "Two.", "Three.", said("Four.", status="archived")))
    world.clock.advance(1)
    file = file_of("Three.", said("Four.", importance=9), said("Five.", status="archived"))
    task = taken_in(world, file, mode=Mode.REPLACE, visits=3)
    assert counted(task) == {"imported": 1, "overwritten": 2, "forgotten": 2}
    assert world.texts(status=Status.ACTIVE) == ["Four.", "Three."]
    assert world.texts(status=Status.ARCHIVED) == ["Five."]


def test_many_become_active_visit_by_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.domain.limits.IMPORT_AT_ONCE", 100)
    world = World(active=250)
    taken_in(world, file_of(*(f"Old fact {n}." for n in range(250))), visits=4)
    world.clock.advance(1)
    task_id = send(world, file_of(*(f"New fact {n}." for n in range(250))), mode=Mode.REPLACE).task_id
    visits = 0
    while world.now.tasks.get(world.owner, task_id).status is not TaskStatus.DONE:
        world.tidy()
        visits += 1
        assert len(world.maintenance.messages) >= 1
    assert 5 <= visits <= 8
    assert world.texts(status=Status.ACTIVE) == sorted(f"New fact {n}." for n in range(250))
