"""Many writers of one owner at once: nothing acknowledged is lost, nothing happens twice."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.domain.errors import ActiveLimitReached, Busy, Duplicate, QuotaExceeded, VersionMismatch
from shared.domain.memory import Status
from tests.builders import Draft, World, conversation
from tests.unit.storage.soundness import assert_counted, assert_sound, rebuilt, settle

WRITERS = 20


def at_once(world: World, deed: Any, count: int = WRITERS) -> list[Any]:
    """Let that many processes do `deed(process, number)` at once; return results or errors."""
    gate = threading.Barrier(count)

    def one(number: int) -> Any:
        process = world.process()
        gate.wait()
        try:
            return deed(process, number)
        except Exception as error:  # noqa: BLE001 - the test judges it
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.mark.parametrize("known", [False, True], ids=["a new owner", "a known owner"])
def test_twenty_writers_of_one_owner_lose_nothing(*, known: bool) -> None:
    world = World()
    if known:
        world.add("The first of them.")
    texts = [f"Fact number {number} of the day." for number in range(WRITERS)]
    answers = at_once(world, lambda process, n: process.memories.add(world.owner, Draft(texts[n])))
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert world.texts() == sorted([*texts, *(["The first of them."] if known else [])])
    assert sorted(world.found("fact")) == sorted(texts)
    assert_counted(world)
    rebuilt(world)
    assert world.texts() == sorted([*texts, *(["The first of them."] if known else [])])
    settle(world)
    assert_sound(world)


def test_of_twenty_who_write_the_same_text_one_makes_it_and_all_others_learn_its_id() -> None:
    world = World()
    answers = at_once(world, lambda process, _: process.memories.add(world.owner, Draft("  We ship on Friday.")))
    made = [answer for answer in answers if not isinstance(answer, Exception)]
    refused = [answer for answer in answers if isinstance(answer, Duplicate)]
    assert (len(made), len(refused)) == (1, WRITERS - 1)
    assert {error.details["id"] for error in refused if isinstance(error.details, dict)} == {made[0].memory.id}
    settle(world)
    assert_sound(world)


def test_the_same_request_twenty_times_at_once_happens_once() -> None:
    world = World()
    answers = at_once(world, lambda process, _: process.memories.add(world.owner, Draft("Once."), "key"))
    assert {answer.memory.id for answer in answers} == {world.memories()[0].id}
    assert sum(1 for answer in answers if not answer.replayed) == 1


def test_twenty_edits_with_if_match_let_one_through() -> None:
    world = World()
    memory = world.add("Version one.")

    def edit(process: Any, number: int) -> Any:
        return process.edits.edit(world.owner, memory.id, {"content": f"Edit {number}."}, frozenset({1}))

    answers = at_once(world, edit)
    won = [answer for answer in answers if not isinstance(answer, Exception)]
    assert len(won) == 1
    assert all(isinstance(answer, VersionMismatch) for answer in answers if answer is not won[0])
    assert world.texts() == [won[0].content]
    assert world.head()["commits"] == 2
    settle(world)
    assert_sound(world)


def test_edits_without_if_match_all_end_or_say_that_there_were_too_many() -> None:
    world = World()
    memory = world.add("Version one.", importance=1)
    answers = at_once(world, lambda process, n: process.edits.edit(world.owner, memory.id, {"tags": [f"#{n}"]}, None))
    made = [answer for answer in answers if not isinstance(answer, Exception)]
    assert all(isinstance(answer, Busy) for answer in answers if isinstance(answer, Exception))
    assert world.get(memory.id).version == 1 + len(made)
    assert len(world.stored("journal")) == 1 + len(made)


def test_the_active_limit_holds_against_twenty_writers() -> None:
    world = World(active=7)
    answers = at_once(world, lambda process, n: process.memories.add(world.owner, Draft(f"Fact {n}.")))
    assert sum(1 for answer in answers if isinstance(answer, ActiveLimitReached)) == WRITERS - 7
    assert len(world.memories(status=Status.ACTIVE)) == 7
    assert len(world.stored("journal")) == 7


def test_the_quota_holds_against_twenty_writers_and_deleting_goes_on() -> None:
    world = World(quota=4_000)
    answers = at_once(world, lambda process, n: process.memories.add(world.owner, Draft(f"Fact {n}.")))
    assert any(isinstance(answer, QuotaExceeded) for answer in answers)
    assert world.head()["bytes"] <= 4_000
    for memory in world.memories():
        world.delete(memory.id)
    assert world.memories() == []


def test_the_same_conversation_twenty_times_at_once_is_one_task() -> None:
    world = World()
    heard = conversation("We decided to use PostgreSQL.")
    answers = at_once(world, lambda process, _: process.accepting.accept(world.owner, heard))
    assert len({answer.task_id for answer in answers}) == 1
    assert len(world.stored("conversations")) == 1
    assert world.work_off() == [{"inserted": 1}]


def test_delete_against_edit_never_leaves_half_of_either() -> None:
    for seed in range(5):
        world = World(seed=seed)
        memory = world.add("It is there.")

        def deed(process: Any, number: int, world: World = world, memory_id: str = memory.id) -> Any:
            if number % 2:
                return process.edits.delete(world.owner, memory_id, None)
            return process.edits.edit(world.owner, memory_id, {"content": f"It is edit {number}."}, None)

        at_once(world, deed, 4)
        assert world.memories() == []
        assert_counted(world)
        settle(world)
        assert_sound(world)
