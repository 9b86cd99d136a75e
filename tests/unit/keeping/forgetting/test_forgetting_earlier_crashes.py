"""Whoever dies while earlier versions are forgotten, or died before: the same is left, each is counted once, nothing comes back."""

from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from shared.domain.errors import Unavailable
from shared.domain.memory import Scope
from shared.domain.task import TaskStatus
from shared.keeping.forgetting import earlier
from shared.ports import Update
from shared.storage import items, names
from shared.storage.journal import Journal
from shared.storage.transactions import Change
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.consolidation.merging import BOTH, GREEN, TEA, Proposing, two_and_more
from tests.unit.keeping.forgetting.test_forgetting import OTHER, forget, forgotten, status
from tests.unit.keeping.forgetting.test_forgetting_earlier import ENGLISH, edited, history, preview, told_of
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, opened, rebuilt, settle
from tests.unit.storage.test_crash_and_leave import add_and_die, dying


def test_no_index_of_before_is_kept_though_the_visit_that_removed_it_built_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    memory = world.add(ENGLISH[1])
    world.build()
    world.edit(memory.id, content=ENGLISH[2])
    task_id = forget(world, query=ENGLISH[0])
    with monkeypatch.context() as broken:
        broken.setattr(type(world.now.builder), "build", lambda *_a, **_n: (_ for _ in ()).throw(Unavailable()))
        world.tidy()
    world.tidy()
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1})
    assert len(world.stored("index")) == 1


def lived() -> tuple[World, list[str]]:
    """Return a world with a word in folded and in fresh versions, in a memory of its own and in a text that was made of one."""
    world = World()
    told = world.add("花生 zero", scope=Scope.PROJECT, project="atlas")
    told_of(world, told, "花生")
    folded = edited(world, "花生 one", "花生 two", OTHER, hours=2)
    fresh = edited(world, "Nothing", "花生 three", "Nothing again")
    world.edit(told.id, content="Honey")
    world.add("花生 is what this one says still.")
    return world, [told.id, folded.id, fresh.id]


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_leaves_the_same_and_counts_each_version_once(when: str) -> None:
    world, ids = lived()
    forget(world, query="花生")
    steps = world.restart()
    world.tidy()
    whole = [history(world, one) for one in ids]
    assert [len(versions) for versions in whole] == [1, 1, 2]
    for at in range(1 if when == "before" else 2, steps.count + 1, 3):
        world, ids = lived()
        task_id = forget(world, query="花生")
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.tidy()
        world.restart()
        for hours in (LEASE_AND_MORE, 0, 0):  # too early to fold, which would remove what a dead run left behind
            world.tidy(hours=hours)
        assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1, "earlier": 4, "texts": 3}), at
        assert "花生" not in everything_said(world), at
        assert [history(world, one) for one in ids] == whole, at
        if at % 5 == 0:
            settle(world)
            assert_sound(world)
            rebuilt(world)
            assert [history(world, one) for one in ids] == whole, at


@pytest.mark.parametrize("at", range(1, 40))
def test_what_a_run_that_died_had_superseded_goes_though_its_object_has_nothing_left_to_lose(at: int) -> None:
    world = World()
    edited(world, ENGLISH[1], ENGLISH[2], hours=2)
    task_id = forget(world, query=ENGLISH[0])
    world.restart(Steps(at=at, when="after"))
    with suppress(Crash):
        world.tidy()
    world.restart()
    for hours in (LEASE_AND_MORE, 0):
        world.tidy(hours=hours)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1})
    assert ENGLISH[0] not in everything_said(world)


@pytest.mark.parametrize("retried", [False, True], ids=["never retried", "retried"])
def test_a_dead_writer_of_the_same_text_brings_nothing_back(*, retried: bool) -> None:
    world = World()
    world.add(OTHER)
    add_and_die(world, ENGLISH[1])
    assert ENGLISH[0] in everything_said(world)
    assert world.texts() == [OTHER]
    if retried:
        edited(world, ENGLISH[1], ENGLISH[2])
    task_id = forget(world, query=ENGLISH[0])
    for hours in (0, 0, LEASE_AND_MORE, 0, 0):
        world.tidy(hours=hours)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1} if retried else {"forgotten": 1})
    assert ENGLISH[0] not in everything_said(world)
    settle(world)
    assert world.texts() == sorted([OTHER, ENGLISH[2]] if retried else [OTHER])
    assert_sound(world)


def test_a_dead_edit_to_those_words_is_waited_for() -> None:
    world = World()
    memory = world.add(OTHER)
    dying(world, "MemoryTable.write")
    with pytest.raises(Crash):
        world.edit(memory.id, content=ENGLISH[1])
    world.restart()
    task_id = forget(world, query=ENGLISH[0])
    world.tidy()
    assert status(world, task_id)[0] is not TaskStatus.DONE
    for _ in range(3):
        world.tidy(hours=LEASE_AND_MORE)
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert ENGLISH[0] not in everything_said(world)


def test_a_dead_edit_that_another_one_overtook_is_no_earlier_version() -> None:
    world = World()
    memory = world.add(OTHER)
    dying(world, "MemoryTable.write")
    with pytest.raises(Crash):
        world.edit(memory.id, content=ENGLISH[1])
    world.restart()
    world.edit(memory.id, content=ENGLISH[2])
    world.edit(memory.id, content=ENGLISH[3])
    assert preview(world, query=ENGLISH[0]).earlier_count == 0
    task_id = forget(world, query=ENGLISH[0])
    for hours in (0, LEASE_AND_MORE, 0):
        world.tidy(hours=hours)
    assert status(world, task_id) == (TaskStatus.DONE, {})
    assert ENGLISH[0] not in everything_said(world)
    assert len(history(world, memory.id)) == 3


def test_a_merge_of_which_the_first_product_is_forgotten_was_applied_whatever_a_dead_writer_says() -> None:
    world, tea, _ = two_and_more(Proposing([((TEA, GREEN), f"{BOTH}, at Wilhelmina")]))
    found = items.from_item(opened(world).keys, world.table.partition(world.owner)[names.MEMORY + tea])
    world.tidy()
    (product,) = [memory for memory in world.memories() if memory.sources]
    world.edit(product.id, content=BOTH)
    dying(world, "MemoryTable.write")
    with pytest.raises(Crash):
        world.now.commits.commit(world.owner, Change(found, replace(found.memory, content="The user drinks milk")))
    world.restart()
    task_id = forget(world, query="wilhelmina")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1})
    rebuilt(world)
    assert BOTH in world.texts()
    assert GREEN not in world.texts()


@pytest.mark.parametrize("seed", range(12))
def test_whatever_was_written_folded_and_lost_only_what_says_it_is_gone(seed: int) -> None:
    choose, world = Random(seed), World(seed=seed)
    said: dict[str, list[str]] = {}
    for number in range(60):
        memory_id = choose.choice([*said, ""]) if len(said) > 4 else ""
        text = f"{choose.choice(['Wilhelmina', 'Bolt', '博尔特'])} {number}"
        match choose.randrange(8):
            case 0:
                world.tidy(hours=choose.choice([0.1, 0.3, 1.2]))
            case 1 if memory_id:
                world.delete(memory_id)
                del said[memory_id]
            case 2:
                world.restart(Steps(at=choose.randrange(1, 60), when="after"))
                with suppress(Crash):
                    world.tidy()
                world.restart()
                world.clock.advance(3600)
            case _ if memory_id:
                world.edit(memory_id, content=text)
                said[memory_id].append(text)
            case _:
                said[world.add(text).id] = [text]
    left = {one: [text for text in texts if "Wil" not in text] for one, texts in said.items() if "Wil" not in texts[-1]}
    gone = sum(len(texts) - len(left[one]) for one, texts in said.items() if one in left)
    assert preview(world, query="wilhelmina").earlier_count == gone
    task_id = forget(world, query="wilhelmina")
    for hours in (LEASE_AND_MORE, 0, 0):
        world.tidy(hours=hours)
    counts = {"forgotten": len(said) - len(left), "earlier": gone}
    assert status(world, task_id) == (TaskStatus.DONE, {name: count for name, count in counts.items() if count})
    assert "Wilhelmina" not in everything_said(world)
    for lost in (False, True):
        if lost:
            settle(world)
            assert_sound(world)
            rebuilt(world)
        shown = {one.id: [text for _, text in reversed(history(world, one.id))] for one in world.memories()}
        assert shown == left


def test_a_removal_whose_task_is_over_meanwhile_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    memory = edited(world, ENGLISH[1], ENGLISH[2])
    task_id = forget(world, query=ENGLISH[0])
    planned = earlier.planned

    def ended(*given: Any) -> Any:
        found = planned(*given)
        world.table.write(world.owner, [Update(names.TASK + task_id, set={"finished_at": "now"})])
        return found

    monkeypatch.setattr(earlier, "planned", ended)
    counts = world.tidy()
    assert counts is not None
    assert counts["failed_steps"] == 1
    assert len(history(world, memory.id)) == 2


def test_an_object_that_is_gone_by_now_has_nothing_to_lose() -> None:
    world = World()
    memory = world.add(ENGLISH[1])
    journal = Journal(world.objects, opened(world).keys, world.random)
    (listed,) = journal.listing()
    for _ in range(2):
        journal.remove(listed, {(memory.id, memory.commit)}, world.clock())
    assert journal.listing() == []
