"""Consolidation as a step of maintenance: what becomes of sources and products, what it costs, and that nothing else is touched."""

import json
from typing import Any

import pytest

from shared.domain.errors import Duplicate, NotFound
from shared.domain.memory import Category, Source, Status
from shared.domain.task import TaskStatus
from shared.learning.consolidation.judging import Refusal
from shared.learning.consolidation.proposing import Unfit
from shared.learning.extractor import Cost
from shared.learning.tasks import result_of
from tests.builders import World, plain
from tests.unit.consolidation.merging import (
    BOTH,
    GREEN,
    TEA,
    Proposing,
    asked,
    consolidations,
    counted,
    fill,
    learned,
    only,
    two_and_more,
)
from tests.unit.learning.finding import Finder, finds
from tests.unit.storage.soundness import assert_counted, assert_sound, rebuilt, settle


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
