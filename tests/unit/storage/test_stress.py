"""Six writers, two builders and two searchers at once: no acknowledged write is missed, no deleted or old text is found.

NACRE_LONG=1 makes it run for a minute.
"""

import os
import time

from tests.builders import World
from tests.unit.storage.soundness import assert_counted
from tests.unit.storage.stress import Stress, WallClock

LONG = bool(os.environ.get("NACRE_LONG"))
OPERATIONS = 60
"""Of each writer."""


def test_six_writers_two_builders_and_two_searchers_never_miss_nor_find_what_is_gone() -> None:
    world = World()
    world.clock = WallClock()
    world.restart()
    end = time.monotonic() + 60
    stress = Stress(
        world.owner, world.process, (lambda _: time.monotonic() < end) if LONG else (lambda n: n < OPERATIONS)
    )
    stress.run()
    assert stress.wrong == []
    assert stress.done["writes"] >= 6 * OPERATIONS
    assert stress.done["builds"] >= 5
    assert stress.done["searches"] >= 100
    assert_counted(world)
    world.restart()
    standing = {memory.id: memory.content for memory in world.memories()}
    assert {i: text for i, (_, text) in stress.ledger.present.items()}.items() <= standing.items()
    print(stress.done)
