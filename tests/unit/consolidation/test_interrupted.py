"""A consolidation that dies, runs out of time, loses its memory or meets fifty writers."""

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest

from shared.domain.memory import Status
from shared.domain.task import TaskStatus
from shared.ports import Delete, Update
from shared.storage import names
from tests.builders import Draft, World, plain
from tests.fakes import Crash, Steps
from tests.unit.consolidation.merging import (
    BOTH,
    ENOUGH,
    GREEN,
    TEA,
    Proposing,
    asked,
    consolidations,
    counted,
    fill,
    learned,
    only,
    two_and_more,
)
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_counted, assert_sound, rebuilt, settle


@pytest.mark.parametrize("change", ["edit", "dismiss", "delete"])
def test_a_source_that_was_changed_while_the_model_thought_is_left_alone_and_new_facts_survive(change: str) -> None:
    proposer = Proposing([((TEA, GREEN), BOTH), (("One", "Two"), "One, Two")])
    world, first, second = two_and_more(proposer)
    learned(world, "One")
    learned(world, "Two")

    def meanwhile() -> None:
        if change == "edit":
            world.edit(first, content="The user drinks no tea")
        else:
            getattr(world, change)(first)
        world.add("Said while the model thought")

    proposer.meanwhile = meanwhile
    world.tidy()
    assert counted(only(consolidations(world))) == {"merged": 1, "skipped": 1}
    texts = world.texts(status=Status.ACTIVE)
    assert {GREEN, "One, Two", "Said while the model thought"} <= set(texts)
    assert BOTH not in texts
    assert world.get(second).status is Status.ACTIVE
    settle(world)
    assert_sound(world)


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_and_running_again_gives_the_state_of_no_crash(when: Literal["before", "after"]) -> None:
    def begun() -> World:
        proposer = Proposing([((TEA, GREEN), BOTH), ((f"Fact number {1} stands alone",), None)])
        return two_and_more(proposer)[0]

    world = begun()
    steps = world.restart()
    world.now.tidying.tidy(world.owner)
    count, first = steps.count, steps.log.index("MemoryTable.query")
    settle(world)
    expected, done = plain(world.memories()), counted(only(consolidations(world)))
    assert done == {"merged": 1, "dropped": 1}
    for at in range(first, count + 1):
        world = begun()
        world.restart(Steps(at=at, when=when))
        with pytest.raises(Crash):
            world.now.tidying.tidy(world.owner)
        world.restart()
        assert_counted(world)
        world.tidy(hours=LEASE_AND_MORE)
        assert plain(world.memories()) == expected, f"died {when} {at} of {count}"
        assert counted(only(consolidations(world))) == done
        assert asked(world) <= 2
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert plain(world.memories()) == expected


def test_a_visit_without_time_goes_on_with_the_same_plan() -> None:
    proposer = Proposing([((TEA, GREEN), BOTH), (("One", "Two"), "One, Two")])
    world, _, _ = two_and_more(proposer)
    learned(world, "One")
    learned(world, "Two")
    proposer.meanwhile = lambda: world.clock.advance(600)
    counts = world.tidy()
    assert counts is not None
    assert counts["unfinished"] == 1
    assert only(consolidations(world)).status is TaskStatus.PROCESSING
    proposer.meanwhile = None
    world.tidy(hours=LEASE_AND_MORE)
    assert counted(only(consolidations(world))) == {"merged": 2}
    assert asked(world) == 1


def test_a_plan_is_carried_out_though_what_maintenance_remembers_was_lost() -> None:
    proposer = Proposing([((TEA, GREEN), BOTH)])
    world, _, _ = two_and_more(proposer)
    proposer.meanwhile = lambda: world.clock.advance(600)
    world.tidy()
    world.table.write(world.owner, [Delete(names.UPKEEP)])
    proposer.meanwhile = None
    world.tidy(hours=LEASE_AND_MORE)
    (task, *_) = [one for one in consolidations(world) if counted(one)]
    assert (task.status, counted(task)) == (TaskStatus.DONE, {"merged": 1})


def test_a_plan_that_somebody_damaged_is_given_up_and_holds_up_nothing() -> None:
    proposer = Proposing([((TEA, GREEN), BOTH)])
    world, _, _ = two_and_more(proposer)
    proposer.meanwhile = lambda: world.clock.advance(600)
    world.tidy()
    (task,) = consolidations(world)
    assert task.status is TaskStatus.PROCESSING
    world.table.write(world.owner, [Update(names.TASK + task.id, set={"sealed": b"damaged"})])
    proposer.meanwhile = None
    counts = world.tidy(hours=LEASE_AND_MORE)
    assert counts is not None
    assert "failed_steps" not in counts
    (given_up,) = consolidations(world)
    assert (given_up.status, given_up.error) == (TaskStatus.FAILED, "damaged")
    assert {TEA, GREEN} <= set(world.texts())
    learned(world, "Something new")
    world.tidy(hours=25)
    assert BOTH in world.texts()


def test_fifty_writers_during_a_consolidation_lose_nothing_and_bring_nothing_back() -> None:
    facts = [f"Pair {number} {half}" for number in range(8) for half in ("one", "two")]
    pairs = list(zip(facts[::2], facts[1::2], strict=True))
    proposer = Proposing([(pair, f"Pair {number} whole") for number, pair in enumerate(pairs)])
    world = World(proposer=proposer)
    filling = fill(world)
    ids = [learned(world, fact) for fact in facts]
    deleted, edited = [ids[0], ids[3], *filling[:8]], [ids[5], *filling[8:16]]

    def write(number: int) -> None:
        process = world.process()
        if number < len(deleted):
            process.edits.delete(world.owner, deleted[number], None)
        elif number < len(deleted) + len(edited):
            process.edits.edit(world.owner, edited[number - len(deleted)], {"importance": 8}, None)
        else:
            process.memories.add(world.owner, Draft(f"Written meanwhile: {number}"))

    def meanwhile() -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(50)))

    proposer.meanwhile = meanwhile
    world.tidy()
    assert counted(only(consolidations(world))) == {"merged": 5, "skipped": 3}
    texts = {f"Pair {number} whole" for number in range(3, 8)} | {facts[1], facts[2], facts[4], facts[5]}
    texts |= {f"Fact number {number} stands alone" for number in range(8, ENOUGH)}
    texts |= {f"Written meanwhile: {number}" for number in range(len(deleted) + len(edited), 50)}
    assert set(world.texts()) == texts
    assert_counted(world)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert set(world.texts()) == texts
