"""When the persona is made anew: by thirty new facts, by the owner's schedule, and by request."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.domain import limits
from shared.domain.errors import IdempotencyKeyReused, IdempotencyKeySpent, NotPossibleNow, Unavailable
from shared.domain.memory import Category
from shared.domain.task import TaskStatus
from shared.keeping.idempotency import Asked, mark
from shared.ports import Delete
from shared.storage import names
from shared.storage.persona import Persona
from tests.builders import World
from tests.fakes import Steps
from tests.unit.persona.portraying import (
    CHINESE,
    ENGLISH,
    PROJECT,
    asked,
    fill,
    persona,
    preferred,
    task,
    texts,
)
from tests.unit.storage.soundness import assert_sound, died, rebuilt, settle


def test_who_has_none_is_given_an_empty_one_and_a_life_is_not_begun_by_reading_or_deleting() -> None:
    world = World()
    assert world.now.portrait.get(world.owner) == (Persona(), "")
    world.now.portrait.delete(world.owner)
    assert world.head() == {}
    world.add("A single fact.")
    world.tidy()
    assert persona(world) == Persona()


@pytest.mark.parametrize(("said", "role"), [(ENGLISH, ENGLISH[0]), (CHINESE, CHINESE[0])])
def test_the_thirtieth_new_fact_makes_it_and_rules_invent_no_prose(said: tuple[str, ...], role: str) -> None:
    world = World()
    facts = preferred(world, *said)
    fill(world, limits.PERSONA_NEWS - len(said) - 1)
    world.tidy()
    assert persona(world) == Persona()
    world.add("One more fact.", **PROJECT)
    world.tidy()
    found = texts(world)
    assert found["role"] == [role]
    assert (found["languages"], found["tools"]) == (["TypeScript"], ["Docker"])
    assert found["communication"] == [said[2]]
    assert found["active_projects"] == ["atlas"]
    assert "traits" not in found
    told_of = persona(world)
    assert (told_of.fact_count, told_of.last_scene, told_of.model) == (30, "atlas", "rules persona/1")
    assert {one.basis for one in told_of.statements if one.text == "TypeScript"} == {(facts[1].id,)}
    settle(world)
    assert_sound(world)
    before = persona(world)
    rebuilt(world)
    assert persona(world) == before


@pytest.mark.parametrize("more", ["We decided to use Redis for the cache.", "我们决定缓存用 Redis。"])
def test_the_thirtieth_fact_that_is_learned_asks_for_maintenance_at_once(more: str) -> None:
    world = World()
    world.say("We decided to use PostgreSQL for the ledger.")
    world.work_off()
    assert world.maintenance.receive() == []
    fill(world, limits.PERSONA_NEWS - 2)
    world.say(more)
    world.work_off()
    (message,) = world.maintenance.receive()
    assert message.body == {"v": 1, "kind": "tidy", "owner": world.owner}
    world.tidy()
    assert persona(world).fact_count == limits.PERSONA_NEWS
    world.say("We decided to use Kafka for events.")
    world.work_off()
    assert world.maintenance.receive() == []


def test_learning_is_done_whether_or_not_maintenance_can_be_asked() -> None:
    world = World()
    fill(world, limits.PERSONA_NEWS - 1)
    world.say("We decided to use PostgreSQL for the ledger.")
    steps = world.restart()
    world.work_off()
    (sent,) = [number for number, name in enumerate(steps.log, 1) if name == "MemoryQueue.send"]
    again = World()
    fill(again, limits.PERSONA_NEWS - 1)
    again.say("We decided to use PostgreSQL for the ledger.")
    again.restart(Steps(at=sent, error=Unavailable))
    again.work_off()
    assert task(again).status is TaskStatus.DONE


def test_it_is_made_again_after_thirty_more_facts_and_not_before() -> None:
    world = World()
    fill(world)
    world.tidy()
    first = persona(world).refreshed_at
    fill(world, 0)
    for number in range(limits.PERSONA_NEWS - 1):
        world.add(f"Later {number}.")
    world.tidy(hours=2)
    assert persona(world).refreshed_at == first
    world.add("The thirtieth.")
    world.tidy(hours=2)
    assert persona(world).fact_count == 2 * limits.PERSONA_NEWS
    assert persona(world).refreshed_at != first


def test_edits_are_no_new_facts() -> None:
    world = World()
    memory = world.add("Edited again and again.")
    for number in range(2 * limits.PERSONA_NEWS):
        world.edit(memory.id, content=f"Edited {number} times.")
    world.tidy()
    assert persona(world) == Persona()


def test_the_owners_schedule_makes_it_of_whatever_is_new_and_of_nothing_else() -> None:
    world = World()
    world.choose(schedule="每天凌晨3点")
    preferred(world, *CHINESE)
    world.tidy()
    assert persona(world) == Persona()
    world.tidy(hours=24)
    first = persona(world)
    assert first.fact_count == len(CHINESE)
    world.tidy(hours=24)
    assert persona(world).refreshed_at == first.refreshed_at
    world.add("我用 Rust 写工具", category=Category.PREFERENCE)
    world.tidy(hours=24)
    assert texts(world)["languages"] == ["Rust", "TypeScript"]


def test_a_request_is_a_task_and_no_more_than_one_waits() -> None:
    world = World()
    preferred(world, *ENGLISH)
    first = world.now.portrait.ask(world.owner)
    world.clock.advance(1)
    assert world.now.portrait.ask(world.owner) == first
    assert world.maintenance.receive()[0].body == {"v": 1, "kind": "tidy", "owner": world.owner}
    assert task(world).status is TaskStatus.QUEUED
    world.tidy()
    done = task(world)
    assert (done.id, done.kind, done.status) == (first.task_id, "persona", TaskStatus.DONE)
    assert done.progress["facts"] == len(ENGLISH)
    world.clock.advance(1)
    assert world.now.portrait.ask(world.owner) != first


def test_a_task_that_an_operator_deleted_is_not_waited_for() -> None:
    world = World()
    first = world.now.portrait.ask(world.owner).task_id
    world.table.write(world.owner, [Delete(names.TASK + first)])
    assert (world.tidy() or {}).get("failed_steps") is None
    assert asked(world).status is TaskStatus.DONE


def test_many_requests_at_once_are_one_task() -> None:
    world = World()
    world.add("A fact.")
    processes = [world.process() for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        asked_for = set(pool.map(lambda process: process.portrait.ask(world.owner).task_id, processes))
    assert len(asked_for) == 1
    assert {one.id for one in world.now.tasks.list(world.owner, limit=9)[0]} == asked_for


def test_a_request_under_a_key_happens_once() -> None:
    world = World()
    world.add("A fact.")

    def ask(request: str, key: str = "key") -> Asked:
        once = mark("refresh", key, {"request": request}, world.clock())
        return world.now.portrait.ask(world.owner, once)

    def answered(asked: Asked) -> tuple[str, TaskStatus, bool]:
        return asked.task_id, asked.status, asked.replayed

    first = ask("one")
    assert answered(first) == (first.task_id, TaskStatus.QUEUED, False)
    assert answered(ask("one")) == (first.task_id, TaskStatus.QUEUED, True)
    assert answered(ask("one", "another key")) == (first.task_id, TaskStatus.QUEUED, False)
    with pytest.raises(IdempotencyKeyReused):
        ask("another")
    world.tidy()
    for key in ("key", "another key"):
        assert answered(ask("one", key)) == (first.task_id, TaskStatus.DONE, True)
    with pytest.raises(IdempotencyKeyReused):
        ask("another")
    world.table.write(world.owner, [Delete(names.TASK + first.task_id)])
    with pytest.raises(IdempotencyKeySpent):
        ask("one")


def test_who_asks_with_no_facts_at_all_is_answered_with_nothing() -> None:
    world = World()
    assert asked(world).status is TaskStatus.DONE
    made = persona(world)
    assert (made.statements, made.fact_count, made.model) == ((), 0, None)
    assert made.refreshed_at is not None


def test_while_memory_is_off_nothing_is_asked_for_or_made() -> None:
    world = World()
    fill(world)
    task_id = world.now.portrait.ask(world.owner).task_id
    world.choose(enabled=False)
    world.tidy()
    assert world.now.tasks.get(world.owner, task_id).error == "memory_off"
    assert persona(world) == Persona()
    with pytest.raises(NotPossibleNow):
        world.now.portrait.ask(world.owner)


def test_killing_a_request_at_every_step_leaves_one_task_or_none() -> None:
    world = World()
    preferred(world, "I write Zig")
    steps = world.restart()
    world.now.portrait.ask(world.owner)
    for at in range(1, steps.count + 1):
        for when in ("before", "after"):
            world = World()
            preferred(world, "I write Zig")
            died(world, Steps(at=at, when=when), lambda: world.now.portrait.ask(world.owner))  # noqa: B023 - called at once
            again = world.now.portrait.ask(world.owner)
            assert [one.id for one in world.now.tasks.list(world.owner, limit=9)[0]] == [again.task_id], (at, when)
