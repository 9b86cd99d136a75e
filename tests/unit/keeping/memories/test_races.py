"""What another process does between the steps of a change, and what an operator does to stored bytes."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any, cast

import pytest

from shared.domain.errors import Busy, NotFound, VersionMismatch
from shared.domain.memory import Category, Scope
from shared.ports import Table
from shared.storage.names import journal
from tests.fakes import SeededRandom
from tests.unit.keeping.world import OWNER, World

SEEDS = count(100)
"""Every process draws its own ids."""


class Interrupted:
    """A table on which others write before each of the next writes."""

    def __init__(self, table: Table, other: Callable[[], Any], times: int) -> None:
        self._table, self._other, self.left = table, other, times

    def write(self, owner: str, writes: Any) -> None:
        if self.left:
            self.left -= 1
            self._other()
        self._table.write(owner, writes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)


def interrupt(world: World, other: Callable[[World], Any], times: int) -> None:
    """Let another process of the same account act before each of the world's next writes."""
    process = World()
    process.table, process.objects, process.keys = world.table, world.objects, world.keys
    process.clock, process.random = world.clock, SeededRandom(next(SEEDS))
    process.process()
    world.vaults.table = cast("Table", Interrupted(world.vaults.table, lambda: other(process), times))


def retagged() -> Callable[[str], Callable[[World], Any]]:
    """Return a change that is another one every time."""
    numbers = count()
    return lambda made: lambda other: other.edits.edit(OWNER, made, {"tags": [f"#t{next(numbers)}"]}, None)


def test_an_edit_that_met_another_one_is_made_again_on_top_of_it() -> None:
    world = World()
    made = world.add("a fact").id
    interrupt(world, retagged()(made), 3)
    memory = world.edits.edit(OWNER, made, {"importance": 9}, None)
    assert (memory.version, memory.importance, memory.tags) == (5, 9, ("#t2",))


def test_an_edit_of_one_version_that_met_another_one_is_refused() -> None:
    world = World()
    made = world.add("a fact").id
    other = retagged()(made)
    for change in (
        lambda: world.edits.edit(OWNER, made, {"importance": 9}, frozenset(range(1, 100))),
        lambda: world.edits.delete(OWNER, made, frozenset(range(1, 100))),
    ):
        world.process()
        interrupt(world, other, 1)
        with pytest.raises(VersionMismatch):
            change()
    assert world.memories.get(OWNER, made).importance == 5


def test_a_change_that_always_meets_another_one_gives_up_and_leaves_no_line() -> None:
    world = World()
    made = world.add("a fact").id
    interrupt(world, retagged()(made), 1_000)
    with pytest.raises(Busy):
        world.edits.edit(OWNER, made, {"importance": 9}, None)
    world.process()
    memory = world.memories.get(OWNER, made)
    assert memory.importance == 5
    lines = [name.key for name in world.objects.names(journal(OWNER, 1))]
    assert len(lines) == memory.version


def test_a_memory_deleted_in_between_is_not_there() -> None:
    world = World()
    made = world.add("a fact").id
    interrupt(world, lambda other: other.edits.delete(OWNER, made, None), 1)
    with pytest.raises(NotFound):
        world.edits.edit(OWNER, made, {"importance": 9}, None)
    assert world.overview.usage(OWNER).memories == 0


def test_settings_changed_in_between_keep_both_changes_or_are_refused() -> None:
    world = World()
    world.add("a fact")
    interrupt(world, lambda other: other.choices.change(OWNER, {"max_results": 7}, None), 1)
    chosen = world.choices.change(OWNER, {"enabled": False}, None)
    assert (chosen.version, chosen.max_results, chosen.enabled) == (2, 7, False)
    interrupt(world, lambda other: other.choices.change(OWNER, {"max_results": 8}, None), 1)
    with pytest.raises(VersionMismatch):
        world.choices.change(OWNER, {"enabled": True}, frozenset({2}))
    numbers = count(1)
    interrupt(world, lambda other: other.choices.change(OWNER, {"retention_days": next(numbers)}, None), 1_000)
    with pytest.raises(Busy):
        world.choices.change(OWNER, {"enabled": True}, None)


def test_a_version_that_is_lost_cannot_be_brought_back_and_the_others_can() -> None:
    world = World()
    made = world.add("first")
    world.edits.edit(OWNER, made.id, {"content": "second"}, None)
    world.edits.edit(OWNER, made.id, {"content": "third"}, None)
    world.objects.erase(journal(OWNER, 1, made.commit))
    assert [memory.content for memory in world.edits.history(OWNER, made.id)] == ["third", "second"]
    with pytest.raises(NotFound):
        world.edits.revert(OWNER, made.id, 1, None)
    assert world.edits.revert(OWNER, made.id, 2, None).content == "second"


def test_the_last_twenty_earlier_versions_are_kept() -> None:
    world = World()
    made = world.add("fact 1").id
    for number in range(2, 26):
        world.edits.edit(OWNER, made, {"content": f"fact {number}"}, None)
    assert [memory.version for memory in world.edits.history(OWNER, made)] == list(range(25, 4, -1))
    with pytest.raises(NotFound):
        world.edits.revert(OWNER, made, 4, None)
    assert world.edits.revert(OWNER, made, 5, None).content == "fact 5"


def test_a_revert_to_a_text_that_another_memory_took_is_refused_like_any_edit() -> None:
    world = World()
    made = world.add("first").id
    world.edits.edit(OWNER, made, {"content": "second"}, None)
    other = world.add("first")
    with pytest.raises(Exception, match="already one of your memories") as refused:
        world.edits.revert(OWNER, made, 1, None)
    assert refused.value.details == {"id": other.id}  # type: ignore[attr-defined]


def test_a_category_alone_may_change_while_no_secret_is_held() -> None:
    world = World()
    made = world.add("a fact", category=Category.EVENT).id
    assert world.edits.edit(OWNER, made, {"category": Category.DECISION}, None).category is Category.DECISION


def test_an_end_can_be_set_moved_and_taken_away() -> None:
    world = World()
    made = world.add("a fact").id
    soon = world.clock() + timedelta(days=1)
    assert world.edits.edit(OWNER, made, {"expires_at": soon}, None).expires_at == soon
    assert world.edits.edit(OWNER, made, {"expires_at": None}, None).expires_at is None
    world.edits.edit(OWNER, made, {"expires_at": soon}, None)
    world.clock.advance(days=1)
    with pytest.raises(NotFound):
        world.memories.get(OWNER, made)


@pytest.mark.parametrize("damage", ["flip", "drop"])
def test_damaged_looks_and_projects_are_counted_and_the_rest_is_served(
    damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "ERROR")
    world = World()
    made = [world.add(f"fact {name}", scope=Scope.PROJECT, project=name).id for name in ("shop", "site")]
    for memory_id in made:
        world.auditing.reveal(OWNER, memory_id)
    for prefix in ("a#", "s#"):
        sk = next(sk for sk in world.table.partition(OWNER) if sk.startswith(prefix))
        item = world.table.partition(OWNER)[sk]
        sealed = item.pop("sealed")
        assert isinstance(sealed, bytes)
        if damage == "flip":
            item["sealed"] = bytes((sealed[0], sealed[1] ^ 1)) + sealed[2:]
        world.table._store(OWNER, item)
    looks, projects = world.auditing.looks(OWNER, 50, None), world.overview.projects(OWNER, 50, None)
    assert (len(looks.entries), looks.damaged) == (1, 1)
    assert (len(projects.projects), projects.damaged) == (1, 1)
