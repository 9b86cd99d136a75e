"""A process dies before or after every single call of an operation; the retry gives the state that no crash would have given."""

from typing import Any, Literal

import pytest

from tests.fakes import Crash, Steps
from tests.unit.storage.deeds import DEEDS, Deed, end, prepared
from tests.unit.storage.soundness import assert_counted


def _without_crash(deed: Deed) -> tuple[int, dict[str, Any]]:
    """Return how many calls the deed makes in a new process, and the state in the end."""
    world, memory_id = prepared(deed)
    steps = world.restart()
    deed.do(world, memory_id)
    return steps.count, end(world)


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name)
def test_dying_at_any_step_and_asking_again_gives_the_state_of_no_crash(
    deed: Deed, when: Literal["before", "after"]
) -> None:
    count, expected = _without_crash(deed)
    assert count >= 4
    for at in range(1, count + 1):
        world, memory_id = prepared(deed)
        world.restart(Steps(at=at, when=when))
        with pytest.raises(Crash):
            deed.do(world, memory_id)
        world.restart()
        if "head" in world.table.partition(world.owner):
            assert_counted(world)
        (deed.again or deed.do)(world, memory_id)
        assert end(world) == expected, f"{deed.name}: died {when} step {at} of {count}"
