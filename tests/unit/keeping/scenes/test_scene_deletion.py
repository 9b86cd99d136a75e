"""Deleting a scene: nothing goes without confirmation, nothing is left when it is done, whoever died or wrote meanwhile."""

from functools import partial
from typing import Any, Literal

import pytest

from shared.domain import limits
from shared.domain.errors import ConfirmationNeeded, NacreError, NotFound
from shared.domain.ids import ulid
from shared.domain.memory import Scope
from shared.keeping.scenes.deletion import Deleted
from shared.keeping.scenes.scenes import Which
from shared.ports import Put, Update, Value
from shared.storage import lines, names, scenes
from tests.builders import Draft, World
from tests.fakes import Steps
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_counted, assert_sound, died, opened, rebuilt, records, settle
from tests.unit.storage.test_writers_at_once import at_once

WHEN: tuple[Literal["before", "after"], ...] = ("before", "after")
KEPT = ["Deploys of the other need nobody.", "I drink my coffee black."]


def begun(memories: int = 3) -> World:
    """Return a world with two scenes, the active one of which is to be deleted; parts of it are folded already."""
    world = World(extractor=Summing())
    world.add(KEPT[1])
    world.add(KEPT[0], scope=Scope.PROJECT, project="borealis")
    for number in range(memories):
        world.add(f"Atlas has part number {number}.", scope=Scope.PROJECT, project="atlas")
    world.say("We decided to use Redis for the cache.", project="atlas")
    world.work_off()
    world.tidy(hours=2)
    world.now.scenes.switch(world.owner, "atlas")
    world.clock.advance(1)
    return world


def delete(world: World, *, confirm: bool = True) -> Deleted:
    world.clock.advance(1)
    return world.now.scene_deletion.delete(world.owner, "atlas", confirm=confirm)


def again(world: World) -> None:
    """Ask as a client does who got no answer: until it is gone."""
    try:
        assert delete(world).done
    except NotFound:
        return


def all_scenes(world: World) -> list[str]:
    page = world.process().scenes.page(world.owner, Which.ALL, 50, None)
    return sorted(seen.scene.project for seen in page.scenes)


def active(world: World) -> str | None:
    return scenes.active_project(world.process().vaults.open(world.owner, [names.ACTIVE]))


def assert_gone(world: World, *more: str) -> None:
    kept = sorted([*KEPT, *more])
    assert world.texts() == kept
    assert (all_scenes(world), active(world)) == (["borealis"], None)
    assert world.found("atlas part Redis") == []
    settle(world)
    assert_sound(world)
    said = str([record.body for record in records(world)])
    assert not any(word in said for word in ("atlas", "Atlas", "Redis"))
    rebuilt(world)
    assert (world.texts(), all_scenes(world)) == (kept, ["borealis"])


def test_without_confirmation_nothing_is_deleted_and_the_refusal_counts_what_would_be() -> None:
    world = begun()
    before = world.table.partition(world.owner)
    with pytest.raises(ConfirmationNeeded) as refused:
        delete(world, confirm=False)
    assert refused.value.details == {"memories": 4}
    assert world.table.partition(world.owner) == before


def test_a_scene_goes_with_its_memories_and_nothing_of_it_is_left() -> None:
    world = begun()
    assert delete(world) == Deleted(4)
    with pytest.raises(NotFound):
        delete(world)
    assert_gone(world)


def test_one_run_of_maintenance_takes_it_out_of_the_journal() -> None:
    world = begun()
    world.now.scenes.change(world.owner, "atlas", {"name": "The Atlas", "context": "About Atlas."}, None)
    delete(world)
    world.tidy()
    said = str([record.body for record in records(world)])
    assert not any(word in said for word in ("atlas", "Atlas", "Redis"))


def test_a_scene_without_memories_goes_too() -> None:
    world = World()
    world.now.scenes.switch(world.owner, "atlas")
    assert delete(world) == Deleted(0)
    assert (all_scenes(world), active(world)) == ([], None)


def test_another_active_project_stays_active() -> None:
    world = begun()
    world.now.scenes.switch(world.owner, "borealis")
    delete(world)
    assert active(world) == "borealis"


def test_many_memories_go_in_batches_and_few_journal_objects() -> None:
    world = begun(memories=100)
    before = len(world.stored("journal"))
    assert delete(world) == Deleted(101)
    assert len(world.stored("journal")) - before <= 8
    assert_counted(world)
    assert_gone(world)


def test_what_does_not_fit_into_one_request_is_left_for_the_next() -> None:
    world = begun()
    fill: dict[str, Value] = {"scope": "another", "fill": b"x" * 1_000}
    for _ in range(2_000):  # more than one page of the table lies between the older memories and the newer ones
        world.table.write(world.owner, [Put({"sk": names.MEMORY + ulid(world.clock(), world.random), **fill})])
    world.add("Atlas has a later part.", scope=Scope.PROJECT, project="atlas")

    class Slow(Steps):
        """A batch takes as long as a request may."""

        def run(self, name: str, call: Any) -> Any:
            if name == "MemoryObjects.put" and self.log[-1] == "MemoryTable.query":
                world.clock.advance(limits.DELETING_TIME.total_seconds())
            return super().run(name, call)

    world.restart(Slow())
    assert delete(world) == Deleted(1, remaining=4)
    assert (all_scenes(world), active(world)) == (["atlas", "borealis"], None)
    again(world)
    assert all_scenes(world) == ["borealis"]


@pytest.mark.no_cover
def test_dying_at_any_step_and_asking_again_deletes_everything_once() -> None:
    world = begun()
    steps = world.restart()
    delete(world)
    count = steps.count
    assert count > 10
    for at in range(1, count + 1):
        for when in WHEN:
            world = begun()
            assert died(world, Steps(at=at, when=when), partial(delete, world))
            again(world)
            assert_gone(world)


@pytest.mark.no_cover
def test_dying_at_any_step_and_leaving_it_loses_no_other_memory_and_leaves_a_sound_state() -> None:
    world = begun()
    steps = world.restart()
    delete(world)
    for at in range(1, steps.count + 1):
        world = begun()
        assert died(world, Steps(at=at, when="after"), partial(delete, world))
        settle(world)
        assert set(KEPT) <= set(world.texts())
        assert active(world) in {"atlas", None}
        assert_sound(world)
        again(world)
        assert_gone(world)


def test_memories_that_come_in_meanwhile_are_deleted_or_keep_the_scene() -> None:
    for seed in range(4):
        world = begun()

        def deed(process: Any, number: int, world: World = world) -> Any:
            if number == 0:
                return process.scene_deletion.delete(world.owner, "atlas", confirm=True)
            draft = Draft(f"Atlas grew meanwhile by {number}.", scope=Scope.PROJECT, project="atlas")
            return process.memories.add(world.owner, draft)

        answers = at_once(world, deed, 5)
        assert all(isinstance(one, NacreError) for one in answers if isinstance(one, Exception)), (seed, answers)
        assert_counted(world)
        left = [text for text in world.texts() if "Atlas" in text]
        assert ("atlas" in all_scenes(world)) == bool(left)
        assert all("meanwhile" in text for text in left if not isinstance(answers[0], Exception))
        settle(world)
        assert_sound(world)


def test_deleting_and_switching_at_once_leaves_no_active_project_without_a_scene() -> None:
    for _ in range(4):
        world = begun()

        def deed(process: Any, number: int, world: World = world) -> Any:
            if number % 2:
                return process.scenes.switch(world.owner, "atlas")
            return process.scene_deletion.delete(world.owner, "atlas", confirm=True)

        answers = at_once(world, deed, 4)
        assert all(isinstance(one, NacreError) for one in answers if isinstance(one, Exception)), answers
        assert active(world) is None or active(world) in all_scenes(world)
        settle(world)
        assert_sound(world)


def test_a_summary_that_was_on_its_way_does_not_bring_a_deleted_scene_back() -> None:
    of_the_person = "I prefer to be called by my first name."
    world = begun()
    world.say(of_the_person, project="atlas")
    (message,) = world.work.receive()
    steps = world.restart()
    world.deliver(message)
    last = max(at for at, name in enumerate(steps.log, 1) if name == "MemoryTable.write")
    world = begun()
    world.say(of_the_person, project="atlas")
    (message,) = world.work.receive()
    assert died(world, Steps(at=last), lambda: world.deliver(message))
    assert delete(world).done
    world.deliver(message)
    assert_gone(world, of_the_person)


def test_a_memory_that_does_not_open_is_deleted_with_its_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    world = begun()
    memory = next(memory for memory in world.memories() if memory.project == "atlas")
    world.table.write(world.owner, [Update(names.MEMORY + memory.id, set={"sealed": b"tampered"})])
    deleted = delete(world)
    assert (deleted.memories, deleted.remaining, deleted.done) == (4, 0, True)
    assert "atlas" not in all_scenes(world)


def test_the_end_of_a_scene_takes_its_sealed_name_with_it() -> None:
    world = begun()
    delete(world)
    item = world.table.partition(world.owner)[scenes.sk_of(opened(world).keys, "atlas")]
    assert "sealed" not in item
    assert [record.kind for record in records(world) if record.kind == lines.SCENE]
