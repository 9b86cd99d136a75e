"""Replacing everything by a file: what a refused line is about is neither taken in nor lost."""

from typing import Any

import pytest

from shared.domain.task import TaskStatus
from shared.keeping.importing.course import Mode
from tests.builders import World
from tests.unit.importing.sending import counted, exported, said, taken_in
from tests.unit.importing.sending import lines as file_of
from tests.unit.storage.soundness import assert_sound, settle

SECRET, COFFEE = "数据库密码是 hunter2Xy!", "I drink my coffee black."


@pytest.mark.parametrize(
    ("wish", "refused"), [({"credentials": False}, 1), ({"content": False}, 2)], ids=["masked", "without content"]
)
def test_ones_own_export_that_holds_not_all_words_replaces_nothing_by_nothing(
    wish: dict[str, Any], refused: int
) -> None:
    world = World()
    world.add(SECRET)
    world.add(COFFEE)
    file = exported(world, **wish)
    world.add("Made after the export.")
    world.clock.advance(1)
    task = taken_in(world, *file, mode=Mode.REPLACE, visits=3)
    assert task.status is TaskStatus.DONE
    told = counted(task)
    assert (told["refused"], told["forgotten"], told.get("kept", 0)) == (refused, 1, 2 - refused)
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
