"""Imports of our own form: what is taken in, kept, overwritten and refused."""

from shared.domain.task import TaskStatus
from tests.builders import World, plain
from tests.unit.importing.sending import counted, exported, lines, taken_in
from tests.unit.storage.soundness import assert_sound, settle


def test_what_was_exported_comes_back_whole() -> None:
    world = World()
    world.add("我对花生过敏", importance=9, tags=["#健康"])
    world.add("The password is hunter2Xy!")
    before = plain(world.memories())
    other = World(owner="b" * 52, seed=9)
    task = taken_in(other, *exported(world))
    assert (task.status, task.kind, counted(task)) == (TaskStatus.DONE, "import", {"imported": 2})
    assert [one[:7] for one in plain(other.memories())] == [one[:7] for one in before]
    assert {memory.source.value for memory in other.memories()} == {"imported"}
    assert other.found("花生") == ["我对花生过敏"]
    assert b"/imports/" not in other.objects.everything()
    settle(other)
    assert_sound(other)


def test_the_same_text_is_kept() -> None:
    world = World()
    world.add("Tea.")
    task = taken_in(world, lines("Tea.", "Coffee.", "Coffee."))
    assert counted(task) == {"imported": 1, "kept": 2}
    assert world.texts() == ["Coffee.", "Tea."]
