"""Undo: for seven days a consolidation can be taken back, merge by merge, as far as nothing came of it since."""

from typing import Any, Literal

import pytest

from shared.domain.errors import ActiveLimitReached, Duplicate, NotFound, NotPossibleNow
from shared.domain.memory import Category, Status
from shared.domain.task import TaskStatus
from shared.learning.consolidation.judging import Refusal
from shared.learning.consolidation.proposing import Unfit
from tests.builders import World, plain
from tests.fakes import Crash, Steps
from tests.unit.consolidation.merging import (
    BOTH,
    GREEN,
    TEA,
    Proposing,
    consolidations,
    counted,
    learned,
    only,
    two_and_more,
)
from tests.unit.learning.finding import Finder, finds
from tests.unit.storage.soundness import assert_counted, assert_sound, rebuilt, settle

DROPPED = "Fact number 1 stands alone"


def consolidated(*, more: bool = False) -> tuple[World, list[Any], str]:
    """Return a world after a consolidation, what it showed before, and the task."""
    merges: list[tuple[tuple[str, ...], str | None]] = [((TEA, GREEN), BOTH), ((DROPPED,), None)]
    world, _, _ = two_and_more(Proposing([*merges, (("One", "Two"), "One, Two")] if more else merges))
    if more:
        learned(world, "One")
        learned(world, "Two")
    before = plain(world.memories())
    world.tidy()
    return world, before, only(consolidations(world)).id


def undo(world: World, task_id: str) -> dict[str, int]:
    world.clock.advance(1)
    return dict(counted(world.now.undoing.undo(world.owner, task_id)))


@pytest.mark.parametrize("settled", [False, True], ids=["at once", "when all is folded"])
def test_undo_brings_every_source_back_and_takes_the_product_away(*, settled: bool) -> None:
    world, before, task_id = consolidated()
    if settled:
        settle(world)
    assert undo(world, task_id) == {"merged": 1, "dropped": 1, "undone": 2}
    assert plain(world.memories()) == before
    assert BOTH not in world.found(BOTH)
    assert {TEA, GREEN} <= set(world.found(BOTH))
    assert_counted(world)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert plain(world.memories()) == before


def test_undo_asked_for_again_does_nothing_more() -> None:
    world, before, task_id = consolidated()
    first = undo(world, task_id)
    commits = world.head()["commits"]
    assert undo(world, task_id) == first
    assert world.head()["commits"] == commits
    assert plain(world.memories()) == before


def test_what_was_confirmed_since_is_taken_back_all_the_same() -> None:
    world, before, task_id = consolidated()
    world.extractor = Finder([lambda _known: [finds(GREEN)]])
    world.restart()
    world.say("我每天喝绿茶")
    world.work_off()
    assert world.hits(BOTH)[0].version == 2
    assert undo(world, task_id)["undone"] == 2
    assert plain(world.memories()) == before


@pytest.mark.parametrize(
    "change",
    [
        {"content": "The user drinks tea every day, 绿茶 most of all"},
        {"importance": 9},
        {"category": Category.DECISION},
        {"status": Status.DISMISSED},
        {"tags": ["#tea"]},
    ],
    ids=str,
)
def test_a_merge_whose_product_was_changed_since_stays_and_the_others_are_taken_back(change: dict[str, Any]) -> None:
    world, _, task_id = consolidated(more=True)
    product = world.edit(world.hits(BOTH)[0].id, **change)
    assert undo(world, task_id) == {"merged": 2, "dropped": 1, "undone": 2, "stayed": 1}
    assert world.get(product.id) == product
    assert {"One", "Two"} <= set(world.texts())
    assert not {TEA, GREEN} & set(world.texts())
    assert_counted(world)


def test_a_merge_whose_product_was_deleted_since_stays_deleted() -> None:
    world, _, task_id = consolidated()
    world.delete(world.hits(BOTH)[0].id)
    assert undo(world, task_id) == {"merged": 1, "dropped": 1, "undone": 1, "stayed": 1}
    assert not {TEA, GREEN, BOTH} & set(world.texts())
    settle(world)
    assert_sound(world)


def test_a_dropped_memory_that_was_written_again_stays_dropped() -> None:
    world, _, task_id = consolidated()
    again = world.add(DROPPED)
    assert undo(world, task_id) == {"merged": 1, "dropped": 1, "undone": 1, "stayed": 1}
    assert [memory.id for memory in world.memories() if memory.content == DROPPED] == [again.id]
    assert_counted(world)


def test_what_was_merged_again_is_taken_back_after_the_later_consolidation() -> None:
    world, before, first = consolidated()
    assert isinstance(world.proposer, Proposing)
    world.proposer.merges = [((BOTH, "One"), f"{BOTH}, One")]
    learned(world, "One")
    world.tidy(hours=25)
    second = consolidations(world)[0].id
    assert undo(world, first)["stayed"] == 1
    assert undo(world, second) == {"merged": 1, "undone": 1}
    assert undo(world, first) == {"merged": 1, "dropped": 1, "undone": 2}
    world.delete(next(memory.id for memory in world.memories() if memory.content == "One"))
    assert plain(world.memories()) == before
    settle(world)
    assert_sound(world)


def test_the_old_words_belong_to_their_memories_again() -> None:
    world, _, task_id = consolidated()
    undo(world, task_id)
    with pytest.raises(Duplicate) as refused:
        world.add(TEA)
    assert isinstance(refused.value.details, dict)
    assert world.get(refused.value.details["id"]).content == TEA
    assert world.add(BOTH).content == BOTH


def test_undo_is_possible_for_seven_days() -> None:
    world, _, task_id = consolidated()
    world.tidy(hours=24 * 7 - 1)
    assert undo(world, task_id)["undone"] == 2
    world, _, task_id = consolidated()
    world.clock.advance(7 * 24 * 3600)
    with pytest.raises(NotPossibleNow):
        undo(world, task_id)


def test_only_a_consolidation_that_was_done_can_be_undone_and_only_ones_own() -> None:
    world, _, _ = two_and_more(Proposing(unfit=Unfit(Refusal.INVENTED)))
    world.tidy()
    refused = only(consolidations(world))
    assert refused.status is TaskStatus.FAILED
    with pytest.raises(NotPossibleNow):
        undo(world, refused.id)
    with pytest.raises(NotPossibleNow):
        world.now.tasks.retry(world.owner, refused.id)
    learning = world.say("We decided to use PostgreSQL.")
    with pytest.raises(NotPossibleNow):
        undo(world, learning)
    for unknown in ("0" * 26, "nonsense"):
        with pytest.raises(NotFound):
            undo(world, unknown)


def test_undo_stops_where_there_is_no_room_and_goes_on_when_there_is() -> None:
    world, before, task_id = consolidated()
    active = int(world.head()["active"])
    world.bounds = type(world.bounds)(world.bounds.quota_bytes, active)
    world.restart()
    with pytest.raises(ActiveLimitReached):
        undo(world, task_id)
    world.bounds = type(world.bounds)(world.bounds.quota_bytes, active + 2)
    world.restart()
    assert undo(world, task_id)["undone"] == 2
    assert plain(world.memories()) == before


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_undo_that_dies_at_any_step_and_is_asked_for_again_is_the_undo_of_no_crash(
    when: Literal["before", "after"],
) -> None:
    world, before, task_id = consolidated()
    steps = world.restart()
    undo(world, task_id)
    for at in range(1, steps.count + 1):
        world, before, task_id = consolidated()
        world.restart(Steps(at=at, when=when))
        with pytest.raises(Crash):
            undo(world, task_id)
        world.restart()
        assert_counted(world)
        assert undo(world, task_id) == {"merged": 1, "dropped": 1, "undone": 2}, f"died {when} {at}"
        assert plain(world.memories()) == before
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert plain(world.memories()) == before
