"""What is told of consolidated memories: it goes with their product, stays while that stands, and comes through an undo (D8, B13)."""

import pytest

from shared.domain.memory import Category, Status
from shared.keeping.maintenance.visits import begun
from tests.builders import World
from tests.unit.consolidation.merging import BOTH, GREEN, TEA, Proposing, consolidations, learned, only, two_and_more
from tests.unit.keeping.resting import ALL, basis_shown, memory_of, shown, stored, tell
from tests.unit.storage.soundness import assert_sound, rebuilt, settle

DROPPED = "Fact number 1 stands alone"


def merge_by_hand(world: World) -> None:
    """Consolidate and die before anything else is done: the moment at which nothing has followed yet."""
    step = next(one for one in world.now.tidying.steps if one.name == "consolidation")
    visit = begun(world.now.vaults, world.owner, world.clock())
    assert visit is not None
    step.run(visit)


def rested(*, dropped: bool = False, beside: bool = False) -> tuple[World, list[str]]:
    """Return a world in which texts rest on what is about to be consolidated, with those ids."""
    if dropped:
        world, _, _ = two_and_more(Proposing([((DROPPED,), None)]))
        ids = [memory.id for memory in world.memories() if memory.content == DROPPED]
    else:
        world, first, second = two_and_more()
        ids = [first, second]
    tell(world, [*ids, learned(world, "Something beside")] if beside else ids)
    assert shown(world) == ALL
    return world, ids


def product(world: World) -> str:
    (found,) = [memory.id for memory in world.memories() if memory.content == BOTH]
    return found


def undo(world: World) -> None:
    world.clock.advance(1)
    world.now.undoing.undo(world.owner, only(consolidations(world)).id)


CHANGES = {
    "deleted": lambda world, one: world.delete(one),
    "dismissed": lambda world, one: world.dismiss(one),
    "edited": lambda world, one: world.edit(one, content="The user drinks coffee"),
}


@pytest.mark.parametrize("cleared", [False, True], ids=["before maintenance looked", "after"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_becomes_of_the_product_hides_at_once_what_rested_on_its_sources(change, *, cleared: bool) -> None:  # type: ignore[no-untyped-def]
    world, _ = rested()
    merge_by_hand(world)
    if cleared:
        world.tidy()
    assert shown(world) == ALL
    assert basis_shown(world) == [product(world)]
    change(world, product(world))
    assert shown(world) == set()
    world.tidy()
    assert shown(world) == set()
    assert "Says it" not in stored(world)


def test_a_product_that_was_only_confirmed_keeps_what_rests_on_it() -> None:
    world, _ = rested()
    merge_by_hand(world)
    world.edit(product(world), importance=9)
    assert shown(world) == set(), "nobody but the journal knows what it said before"
    world.tidy()
    assert shown(world) == ALL
    world.edit(product(world), tags=["tea"], category=Category.KNOWLEDGE)
    assert shown(world) == ALL


@pytest.mark.parametrize("visits", [1, 2])
def test_an_undo_leaves_every_text_and_what_it_rests_on_as_they_were(visits: int) -> None:
    world, ids = rested()
    for _ in range(visits):
        world.tidy(hours=1)
    undo(world)
    assert (shown(world), basis_shown(world)) == (ALL, ids)
    settle(world)
    assert (shown(world), basis_shown(world)) == (ALL, ids)
    assert_sound(world)
    world.edit(ids[0], content="The user drinks coffee")
    assert shown(world) == set()


def test_what_was_made_of_the_product_rests_on_its_sources_after_an_undo() -> None:
    world, first, second = two_and_more()
    world.tidy()
    tell(world, [product(world)])
    assert basis_shown(world) == [product(world)]
    undo(world)
    assert (shown(world), basis_shown(world)) == (ALL, [first, second])
    world.tidy()
    assert (shown(world), basis_shown(world)) == (ALL, [first, second])
    world.edit(second, content="The user drinks coffee")
    assert shown(world) == set()


def test_what_was_made_of_the_product_goes_when_that_is_deleted() -> None:
    world, _, _ = two_and_more()
    world.tidy()
    tell(world, [product(world)])
    world.tidy(hours=1)
    world.delete(product(world))
    assert shown(world) == set()
    settle(world)
    assert "Says it" not in stored(world)


def test_after_seven_days_only_the_product_is_left_in_the_basis() -> None:
    world, ids = rested()
    world.tidy()
    made = product(world)
    assert all(one in stored(world) for one in ids)
    world.tidy(hours=24 * 7 + 1)
    assert (shown(world), basis_shown(world)) == (ALL, [made])
    settle(world)
    assert (shown(world), basis_shown(world)) == (ALL, [made])
    assert not any(one in stored(world) for one in ids)
    assert_sound(world)
    world.edit(made, content="The user drinks coffee")
    assert shown(world) == set()


def test_when_the_sources_go_before_maintenance_looks_at_the_documents() -> None:
    world, _ = rested()
    world.tidy()
    made = product(world)
    world.clock.advance(days=7, seconds=10)
    assert (shown(world), basis_shown(world)) == (ALL, [made])


def test_what_rests_on_a_dropped_memory_and_others_rests_on_the_others() -> None:
    world, (dropped,) = rested(dropped=True, beside=True)
    world.tidy()
    assert memory_of(world, dropped).status is Status.RETIRED
    assert shown(world) == ALL
    assert dropped not in basis_shown(world)
    undo(world)
    assert dropped in basis_shown(world)
    world.tidy(hours=1)
    assert dropped in basis_shown(world)


def test_what_rests_on_a_dropped_memory_alone_is_hidden_and_comes_back_with_an_undo() -> None:
    world, _ = rested(dropped=True)
    world.tidy()
    assert shown(world) == set()
    world.tidy(hours=2)
    undo(world)
    assert shown(world) == ALL
    world.tidy()
    assert shown(world) == ALL


@pytest.mark.parametrize("beside", [False, True])
def test_a_dropped_memory_leaves_the_basis_when_it_is_gone_for_good(*, beside: bool) -> None:
    world, (dropped,) = rested(dropped=True, beside=beside)
    world.tidy()
    world.tidy(hours=24 * 7 + 1)
    settle(world)
    assert shown(world) == (ALL if beside else set())
    assert dropped not in stored(world)
    assert ("Says it" in stored(world)) is beside


def test_a_product_that_is_merged_again() -> None:
    more = "The user drinks tea every day, 绿茶 too, and water"
    proposer = Proposing([((TEA, GREEN), BOTH), ((BOTH, "The user drinks water"), more)])
    world, first, second = two_and_more(proposer)
    tell(world, [first, second])
    world.tidy()
    made = product(world)
    learned(world, "The user drinks water")
    world.tidy(hours=25)
    (last,) = [memory.id for memory in world.memories() if memory.content == more]
    assert (shown(world), basis_shown(world)) == (ALL, [last])
    newest, oldest = consolidations(world)
    world.now.undoing.undo(world.owner, newest.id)
    world.tidy()
    assert (shown(world), basis_shown(world)) == (ALL, [made])
    world.now.undoing.undo(world.owner, oldest.id)
    world.tidy()
    assert basis_shown(world) in ([first, second], [])
    settle(world)
    assert_sound(world)


def test_a_lost_table_changes_nothing_of_it() -> None:
    world, _ = rested()
    world.tidy()
    made = product(world)
    settle(world)
    rebuilt(world)
    assert (shown(world), basis_shown(world)) == (ALL, [made])


def reads(world: World) -> int:
    """How often the table is read for the persona, with warm keys."""
    steps = world.warm()
    world.now.portrait.get(world.owner)
    return steps.log.count("MemoryTable.get")


def test_a_consolidation_costs_one_read_more_until_maintenance_looked_and_none_after() -> None:
    world, _ = rested()
    assert reads(world) == 2
    merge_by_hand(world)
    assert reads(world) == 3
    world.tidy()
    assert reads(world) == 2
    world.tidy(hours=24 * 7 + 1)
    assert reads(world) == 2
