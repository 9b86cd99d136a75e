"""Consolidation as a step of maintenance: what is offered, when, what becomes of it, and that nothing else is touched."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from shared.domain import limits
from shared.domain.errors import Duplicate, NotFound
from shared.domain.memory import Category, Scope, Source, Status
from shared.domain.task import TaskStatus
from shared.domain.times import moment
from shared.learning.consolidation.judging import Refusal
from shared.learning.consolidation.proposing import Unfit
from shared.learning.extractor import Cost
from shared.learning.tasks import result_of
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
    consolidations,
    counted,
    fill,
    learned,
    only,
    two_and_more,
)
from tests.unit.learning.finding import Finder, finds
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_counted, assert_sound, rebuilt, settle

ALMOST = timedelta(hours=23)


def asked(world: World) -> int:
    assert isinstance(world.proposer, Proposing)
    return len(world.proposer.groups)


def test_a_merge_replaces_its_sources_and_the_owner_sees_what_was_done() -> None:
    world, first, second = two_and_more()
    counts = world.tidy()
    assert counts is not None
    assert (counts["consolidation_groups"], counts["consolidation_merged"]) == (1, 1)
    product = world.hits(BOTH)[0]
    assert (product.content, product.source, product.status) == (BOTH, Source.CONSOLIDATED, Status.ACTIVE)
    assert TEA not in world.texts()
    task = only(consolidations(world))
    assert (task.status, counted(task), task.usage) == (
        TaskStatus.DONE,
        {"merged": 1},
        {"calls": 1, "tokens_in": 100, "tokens_out": 20},
    )
    assert task.consolidation is not None
    assert (task.consolidation.scope, task.consolidation.merges[0].sources) == ("user", (first, second))
    assert product.origin.task_id == task.id
    assert product.origin.model == "proposing consolidate/1"
    assert_counted(world)
    settle(world)
    assert_sound(world)


def test_the_product_is_as_important_as_the_most_important_source_and_was_confirmed_with_the_last() -> None:
    world = World(proposer=Proposing([((TEA, GREEN), BOTH)]))
    learned(world, TEA, importance=9, category=Category.CONSTRAINT, tags=("#tea",))
    fill(world)
    last = world.get(learned(world, GREEN, importance=3, tags=("#茶", "#tea")))
    world.tidy()
    product = world.hits(BOTH)[0]
    assert (product.importance, product.category) == (9, Category.CONSTRAINT)
    assert product.tags == ("#tea", "#茶")
    assert product.updated_at == last.updated_at


def test_learning_the_old_words_again_touches_the_product() -> None:
    world, _, _ = two_and_more()
    world.tidy()
    world.extractor = Finder([lambda _known: [finds(GREEN)]])
    world.restart()
    task_id = world.say("我每天喝绿茶")
    world.work_off()
    assert world.now.tasks.get(world.owner, task_id).learned["touched"] == 1
    product = world.hits(BOTH)[0]
    assert (product.content, product.version) == (BOTH, 2)
    settle(world)
    assert_sound(world)


def test_a_drop_leaves_what_says_it_already() -> None:
    world, first, _ = two_and_more(Proposing([((TEA,), None)]))
    world.tidy()
    assert counted(only(consolidations(world))) == {"dropped": 1}
    assert TEA not in world.texts()
    with pytest.raises(NotFound) as refused:
        world.get(first)
    assert refused.value.details == {"replaced_by": None}
    assert world.add(TEA).content == TEA
    settle(world)
    assert_sound(world)


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


def test_an_answer_that_is_not_sound_changes_nothing_and_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    unfit = Unfit(Refusal.TOO_MUCH, Cost(1, 500, 9))
    world, _, _ = two_and_more(Proposing(unfit=unfit))
    before = plain(world.memories())
    counts = world.tidy()
    assert counts is not None
    assert counts["consolidation_refused"] == 1
    assert plain(world.memories()) == before
    task = only(consolidations(world))
    assert (task.status, task.error, task.usage["tokens_in"]) == (TaskStatus.FAILED, "consolidation_too_much", 500)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = only_event(lines, "task_failed")
    assert (told["error"], told["level"]) == ("consolidation_too_much", "ERROR")
    learned(world, "Something new")
    world.tidy(hours=1)
    assert asked(world) == 1, "it is not asked again on the same day"


def only_event(lines: list[dict[str, Any]], event: str) -> dict[str, Any]:
    (line,) = [line for line in lines if line["event"] == event]
    return line


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.DISMISSED])
def test_a_text_that_is_the_owners_already_or_was_dismissed_is_refused(status: Status) -> None:
    world, _, _ = two_and_more()
    world.edit(world.add(BOTH).id, status=status)
    before = plain(world.memories())
    world.tidy()
    assert plain(world.memories()) == before
    assert only(consolidations(world)).error == "consolidation_known_text"


def test_no_text_stays_on_a_task_that_is_done() -> None:
    world, _, _ = two_and_more()
    world.tidy()
    task_id = only(consolidations(world)).id
    opened = world.now.vaults.open(world.owner, [f"t#{task_id}"])
    assert opened is not None
    assert "绿茶" not in json.dumps(result_of(opened.keys, opened.items[f"t#{task_id}"]), ensure_ascii=False)


def test_what_it_cost_is_counted_for_the_day() -> None:
    world, _, _ = two_and_more()
    world.tidy()
    assert world.now.overview.usage(world.owner).today.tokens_in == 100


def test_without_a_model_only_equal_texts_are_merged_and_no_task_tells_of_nothing() -> None:
    world = World()
    fill(world)
    learned(world, "I really like black tea, personally.")
    world.tidy()
    assert consolidations(world) == []
    learned(world, "The user likes black tea")
    learned(world, "The user likes green tea")
    world.tidy(hours=25)
    assert counted(only(consolidations(world))) == {"merged": 1}
    assert sorted(text for text in world.texts() if "tea" in text) == [
        "I really like black tea, personally.",
        "The user likes green tea",
    ]
    settle(world)
    assert_sound(world)


def test_a_second_run_changes_nothing() -> None:
    world, _, _ = two_and_more()
    settle(world)
    table, objects = world.table.everything(), world.objects.everything()
    assert world.tidy() is not None
    assert (world.table.everything(), world.objects.everything()) == (table, objects)


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


@pytest.mark.case(55)
def test_the_sources_are_gone_for_good_after_seven_days_and_the_old_words_still_lead_to_the_product() -> None:
    world, _, _ = two_and_more()
    settle(world)
    assert world.head()["retired"] == 2
    world.tidy(hours=24 * 7 + 1)
    settle(world)
    assert world.head()["retired"] == 0
    assert_sound(world)
    with pytest.raises(Duplicate):
        world.add(TEA)
    rebuilt(world)
    with pytest.raises(Duplicate):
        world.add(TEA)


def test_deleting_a_product_takes_its_sources_along() -> None:
    world, _, _ = two_and_more()
    world.tidy()
    world.delete(world.hits(BOTH)[0].id)
    assert TEA not in world.texts()
    settle(world)
    assert world.head()["retired"] == 0
    assert_sound(world)


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
