"""Which memories are too many, when they are looked at, and what of them is offered."""

from datetime import UTC, datetime, timedelta

from shared.domain import limits
from shared.domain.memory import Category, Scope, Source, Status
from shared.domain.times import moment
from shared.storage import names
from tests.builders import World, plain
from tests.unit.consolidation.merging import (
    BOTH,
    ENOUGH,
    GREEN,
    TEA,
    Proposing,
    asked,
    fill,
    learned,
    two_and_more,
)


def test_thirty_are_not_too_many_and_thirty_one_are() -> None:
    world = World(proposer=Proposing())
    fill(world, ENOUGH - 1)
    world.tidy()
    assert asked(world) == 0
    learned(world, "One more")
    world.tidy()
    assert asked(world) == 1


def test_a_project_may_have_sixty() -> None:
    world = World(proposer=Proposing())
    fill(world, 60, scope=Scope.PROJECT, project="atlas")
    world.tidy()
    assert asked(world) == 0
    learned(world, "One more", scope=Scope.PROJECT, project="atlas")
    world.tidy()
    assert asked(world) == 1


def test_more_than_a_hundred_and_fifty_in_all_are_too_many_for_every_group_but_those_of_agents() -> None:
    world = World(proposer=Proposing())
    for project in ("atlas", "borealis", "项目三"):
        fill(world, 45, scope=Scope.PROJECT, project=project)
    fill(world, 12, scope=Scope.AGENT, agent="reviewer")
    world.tidy()
    assert asked(world) == 0
    fill(world, 4)
    world.tidy()
    assert isinstance(world.proposer, Proposing)
    assert sorted(group.project or "" for group in world.proposer.groups) == ["", "atlas", "borealis", "项目三"]


def test_it_waits_a_day_and_for_something_new() -> None:
    world = World(proposer=Proposing())
    fill(world)
    world.tidy()
    learned(world, "Something new")
    world.tidy(hours=23)
    assert asked(world) == 1
    world.tidy(hours=2)
    assert asked(world) == 2
    world.tidy(hours=48)
    assert asked(world) == 2
    learned(world, "Something newer")
    world.tidy()
    assert asked(world) == 3


def test_what_came_in_within_the_day_is_looked_at_when_it_is_over_though_nobody_writes_any_more() -> None:
    world = World(proposer=Proposing())
    fill(world)
    world.tidy()
    over = world.clock() + limits.CONSOLIDATE_AFTER
    learned(world, "Something new")
    for _ in range(3):
        world.tidy(hours=2)
    due = moment(str(world.table.partition(world.owner)[names.UPKEEP]["due_at"]))
    assert abs(due - over) < timedelta(minutes=1)
    assert asked(world) == 1
    world.clock.advance((due - world.clock()).total_seconds())
    world.tidy()
    assert asked(world) == 2
    world.tidy(hours=25)
    assert "due_at" not in world.head()
    assert "due_at" not in world.table.partition(world.owner)[names.UPKEEP], "an owner with nothing new rests"


def test_a_rebuild_gives_back_what_stood_and_consolidates_nothing_before_a_day_is_over() -> None:
    world, *_ = two_and_more(Proposing())
    world.tidy()
    before = plain(world.memories())
    world.proposer.merges = [((TEA, GREEN), BOTH)]  # type: ignore[union-attr]
    world.table.wipe()
    world.restart()
    world.tidy(hours=1)
    assert (plain(world.memories()), asked(world)) == (before, 1)
    world.tidy(hours=25)
    assert (BOTH in world.texts(), asked(world)) == (True, 2)


def test_while_memory_is_off_no_model_is_shown_anything() -> None:
    world = World(proposer=Proposing())
    fill(world)
    world.choose(enabled=False)
    world.tidy()
    assert asked(world) == 0
    world.choose(enabled=True)
    world.tidy()
    assert asked(world) == 1


def test_only_what_was_learned_is_offered_and_nothing_else_is_touched() -> None:
    world = World(proposer=Proposing())
    fill(world)
    ends = datetime(2099, 1, 1, tzinfo=UTC)
    world.add("By hand")
    learned(world, "Imported", source=Source.IMPORTED)
    world.dismiss(learned(world, "Dismissed"))
    learned(world, "Archived", status=Status.ARCHIVED)
    learned(world, "The key is ***", category=Category.CREDENTIAL, secrets=((11, "s3cret-value"),))
    learned(world, "It ends", expires_at=ends)
    learned(world, "It has metadata", metadata='{"from":"the wiki"}')
    learned(world, "Of an agent", scope=Scope.AGENT, agent="reviewer")
    learned(world, "Consolidated before", source=Source.CONSOLIDATED)
    before = plain(world.memories())
    world.tidy()
    assert isinstance(world.proposer, Proposing)
    (group,) = world.proposer.groups
    offered = {member.content for member in group.members}
    assert {text for text in offered if not text.startswith("Fact")} == {"Consolidated before"}
    assert plain(world.memories()) == before


def test_at_most_two_hundred_are_offered_the_last_changed_ones_oldest_first() -> None:
    world = World(proposer=Proposing())
    fill(world, 205)
    world.tidy()
    assert isinstance(world.proposer, Proposing)
    (group,) = world.proposer.groups
    assert [member.content for member in group.members][::199] == [
        "Fact number 5 stands alone",
        "Fact number 204 stands alone",
    ]
    assert group.active == 205
