"""An operator changes columns, swaps bodies, replays old ones: each is refused, the rest is served, nothing falls over."""

from typing import Any

import pytest

from shared.domain.errors import SealBroken
from shared.domain.memory import Category, Status
from shared.domain.task import TaskStatus
from shared.ports import Put, Value
from shared.storage import items, names
from tests.builders import World
from tests.unit.storage.soundness import assert_sound, opened, records, settle

CONTENT, OTHER = "The deploy day is Monday.", "Deploys need two reviewers."


def tampered(world: World, memory_id: str, **columns: Value | None) -> None:
    """Change columns of a memory's item behind the service's back; None removes one."""
    item = world.table.partition(world.owner)[names.MEMORY + memory_id] | columns
    world.table.write(world.owner, [Put({name: value for name, value in item.items() if value is not None})])


def assert_refused(world: World, memory_id: str) -> None:
    """That memory is served to nobody; the other one is, everywhere. Then maintenance brings it back from its line."""
    with pytest.raises(SealBroken):
        world.get(memory_id)
    with pytest.raises(SealBroken):
        world.edit(memory_id, importance=9)
    assert world.texts() == [OTHER]
    assert world.found("deploy") == [OTHER]
    world.build()
    assert world.found("deploy") == [OTHER]
    world.restart()
    assert world.found("deploy") == [OTHER]
    tidied = world.tidy(hours=2)
    assert tidied is not None
    assert memory_id in {record.id for record in records(world)}, "a damaged memory's journal is what can mend it"
    assert tidied["repair_compared_restored"] == 1
    assert world.texts() == sorted([OTHER, CONTENT])
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "dismissed"},
        {"status": "archived"},
        {"source": "auto"},
        {"scope": "a" * 26},
        {"owner_status": "b" * 52 + "#active"},
        {"updated": "2030-01-01T00:00:00.000Z#01ARZ3NDEKTSV4RRFFQ69G5FAV"},
        {"version": 2},
        {"version": 0},
        {"version": "one"},
        {"version": None},
        {"gen": 2},
        {"gen": None},
        {"gen": "x"},
        {"commit": None},
        {"sealed": None},
        {"sealed": b""},
        {"sealed": "text"},
        {"sealed": bytes(200)},
        {"source": None},
        {"read_at": "yesterday"},
        {"reads": "many"},
    ],
    ids=str,
)
@pytest.mark.parametrize("built", [False, True], ids=["not indexed", "indexed"])
def test_an_item_whose_columns_disagree_with_its_seal_is_refused(columns: dict[str, Any], *, built: bool) -> None:
    world = World()
    memory = world.add(CONTENT)
    world.add(OTHER)
    if built:
        world.build()
    tampered(world, memory.id, **columns)
    assert_refused(world, memory.id)


def test_flipping_a_column_unmasks_no_credential() -> None:
    world = World()
    memory = world.add("数据库密码是 hunter2x")
    assert memory.category is Category.CREDENTIAL
    assert "hunter2x" not in world.get(memory.id).content
    tampered(world, memory.id, status="archived", source="imported", owner_status=f"{world.owner}#archived")
    with pytest.raises(SealBroken):
        world.get(memory.id)


def test_flipping_every_column_of_a_dismissed_memory_revives_it_for_nobody() -> None:
    world = World()
    memory = world.add(CONTENT)
    world.add(OTHER)
    world.dismiss(memory.id)
    tampered(world, memory.id, status="active", owner_status=f"{world.owner}#active")
    assert_refused(world, memory.id)


def test_a_body_of_another_memory_or_another_owner_does_not_open() -> None:
    world = World()
    memory, other = world.add(CONTENT), world.add(OTHER)
    stranger = World(owner="b" * 52)
    theirs = stranger.add(CONTENT)
    sealed = stranger.table.partition(stranger.owner)[names.MEMORY + theirs.id]["sealed"]
    tampered(world, memory.id, sealed=sealed)
    with pytest.raises(SealBroken):
        world.get(memory.id)
    tampered(world, memory.id, sealed=world.table.partition(world.owner)[names.MEMORY + other.id]["sealed"])
    assert_refused(world, memory.id)


def test_the_body_of_an_old_version_does_not_open_as_the_new_one() -> None:
    world = World()
    memory = world.add(CONTENT)
    world.add(OTHER)
    old = world.table.partition(world.owner)[names.MEMORY + memory.id]["sealed"]
    world.edit(memory.id, importance=9)
    tampered(world, memory.id, sealed=old)
    assert_refused(world, memory.id)


def test_the_whole_item_of_another_memory_is_refused_under_this_ones_name() -> None:
    world = World()
    memory, other = world.add(CONTENT), world.add(OTHER)
    copy = world.table.partition(world.owner)[names.MEMORY + other.id] | {"sk": names.MEMORY + memory.id}
    world.table.write(world.owner, [Put(copy)])
    assert_refused(world, memory.id)


def test_another_commit_in_the_column_points_into_nothing_and_is_noticed_by_repair() -> None:
    """The commit is not sealed: it is the table's own. What it names wrongly is not taken for the truth of the journal."""
    world = World()
    memory = world.add(CONTENT)
    world.add(OTHER)
    tampered(world, memory.id, commit="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert world.get(memory.id).content == CONTENT
    assert items.from_item(opened(world).keys, world.table.partition(world.owner)[names.MEMORY + memory.id])


def test_tampered_settings_are_refused_everywhere_they_count() -> None:
    world = World()
    world.choose(language="zh")
    item = world.table.partition(world.owner)[names.SETTINGS]
    world.table.write(world.owner, [Put(item | {"version": 7})])
    with pytest.raises(SealBroken):
        world.now.choices.read(world.owner)
    world.table.write(world.owner, [Put(item | {"sealed": "text"})])
    with pytest.raises(SealBroken):
        world.now.choices.read(world.owner)


def test_a_damaged_double_and_a_damaged_memory_cost_a_task_that_fact_only() -> None:
    world = World()
    world.say("We decided to use PostgreSQL.", project="atlas")
    world.work_off()
    (memory,) = world.memories()
    tampered(world, memory.id, sealed=bytes(100))
    task_id = world.say("We decided to use PostgreSQL.", "I prefer tea.", project="atlas")
    world.work_off()
    task = world.now.tasks.get(world.owner, task_id)
    assert task.status is TaskStatus.DONE
    assert (task.learned["inserted"], task.learned["discarded"]) == (1, 1)


def test_a_damaged_journal_line_is_counted_and_left_where_it_is() -> None:
    world = World()
    world.add(CONTENT)
    world.add(OTHER)
    key = f"o/{world.owner}/1/journal/{world.stored('journal')[0]}"
    world.objects.put(key, b'{"v":1,"kind":"memory"}\n')
    tidied = world.tidy(hours=2)
    assert tidied is not None
    assert tidied["repair_damaged"] == 1
    assert key.rsplit("/", 1)[1] in world.stored("journal")
    assert world.texts() == [OTHER, CONTENT]


def test_a_deletion_that_died_is_finished_only_when_its_memory_opens() -> None:
    world = World()
    memory = world.add(CONTENT)
    world.add(OTHER)
    world.delete(memory.id)
    tombstone = [record for record in records(world) if record.kind == "tombstone"]
    assert len(tombstone) == 1
    again = world.add(CONTENT)
    world.dismiss(again.id)
    assert world.get(again.id).status is Status.DISMISSED
