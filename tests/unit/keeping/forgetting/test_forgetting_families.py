"""What comes back when a source of a consolidated memory is forgotten: what the person decided of the product holds for it."""

from contextlib import suppress

import pytest

from shared.domain.memory import Status
from shared.domain.task import TaskStatus
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.consolidation.merging import BOTH, GREEN, TEA, two_and_more
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, status
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, settle


def product_with(wanted: Status) -> tuple[World, str]:
    """Return a world with a product of that status, and the id of one of its sources."""
    world, first, _ = two_and_more()
    world.tidy()
    product = next(memory for memory in world.memories() if memory.content == BOTH)
    if wanted is not Status.ACTIVE:
        world.edit(product.id, status=wanted)
    return world, first


@pytest.mark.parametrize("wanted", [Status.ACTIVE, Status.DISMISSED, Status.ARCHIVED])
def test_the_other_source_comes_back_with_the_status_of_the_product(wanted: Status) -> None:
    world, first = product_with(wanted)
    task_id = forget(world, ids=[first])
    forgotten(world)
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert [memory.status for memory in world.memories() if memory.content == GREEN] == [wanted]
    assert not {TEA, BOTH} & set(world.texts())
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("at", range(1, 40, 3))
def test_a_dismissed_one_stays_dismissed_whoever_dies(at: int) -> None:
    world, first = product_with(Status.DISMISSED)
    forget(world, ids=[first])
    world.restart(Steps(at=at, when="after"))
    with suppress(Crash):
        world.tidy()
    world.restart()
    for _ in range(2):
        world.tidy(hours=LEASE_AND_MORE)
    assert [memory.status for memory in world.memories() if memory.content == GREEN] == [Status.DISMISSED]
