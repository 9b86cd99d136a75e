"""What an operator or an accident does to rows: they are lost, flipped or put back from a copy; and the comparison with the journal."""

from typing import Any

from shared.ports import Put
from shared.storage.document_commits import DocumentCommits
from tests.builders import World
from tests.unit.storage.deeds import persona

FIRST, SECOND, THIRD = "The deploy day is Monday.", "中文资料五月归档", "I prefer tea."
OLD, LATER = 0.4, 2
"""Hours: until a line counts as old, and until it is folded."""


def lose(world: World, *prefixes: str) -> None:
    """Lose rows behind the service's back."""
    for sk in list(world.table.partition(world.owner)):
        if sk.startswith(prefixes):
            world.table._remove(world.owner, sk)


def flip(world: World, sk: str, column: str = "sealed") -> None:
    item = world.table.partition(world.owner)[sk]
    body = bytes(item[column])  # type: ignore[arg-type]
    world.table.write(world.owner, [Put(item | {column: body[:-1] + bytes([body[-1] ^ 1])})])


def compared(world: World, *, hours: float = 0.0) -> dict[str, int]:
    """Do the operator's comparison."""
    world.clock.advance(1 + hours * 3600)
    counts = world.now.tidying.tidy(world.owner, compare=True)
    assert counts is not None
    return {name.removeprefix("repair_compared_"): count for name, count in counts.items() if "compared" in name}


def copied(world: World) -> dict[str, Any]:
    """Return a copy of the owner's rows, as point-in-time recovery has one."""
    return world.table.partition(world.owner)


def put_back(world: World, copy: dict[str, Any]) -> None:
    world.table.wipe(world.owner)
    for item in copy.values():
        world.table.write(world.owner, [Put(item)])


def portray(world: World, **fields: Any) -> None:
    DocumentCommits(world.now.commits).write(world.owner, persona, lambda _opened, _standing: fields)
