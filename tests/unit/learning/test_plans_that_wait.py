"""Plans between two deliveries: what maintenance, the owner and other deliveries do to them meanwhile."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared.domain.task import TaskStatus
from shared.storage import lines
from tests.builders import World
from tests.fakes import Crash, QueuedMessage, Steps
from tests.unit.storage.soundness import assert_sound, records, settle

FACT, OTHER = "We decided to use PostgreSQL for the backend.", "I prefer tea."


def right_after(wanted: str, count: int, deed: Callable[[], Any]) -> Steps:
    """Return steps that do something right after the n-th call of that name."""

    class After(Steps):
        def run(self, name: str, call: Callable[[], Any]) -> Any:
            answer = super().run(name, call)
            if name == wanted and self.log.count(name) == count:
                deed()
            return answer

    return After()


def planned(world: World, *texts: str) -> QueuedMessage:
    """Accept a conversation and let its worker die right after the plan was stored; return the message."""
    world.say(*texts, project="atlas")
    (message,) = world.work.receive()

    def die() -> None:
        raise Crash("planned")

    world.restart(right_after("MemoryObjects.put", 1, die))
    with pytest.raises(Crash):
        world.deliver(message)
    world.restart()
    return message


def again(world: World) -> dict[str, int]:
    world.clock.advance(world.work.visibility.total_seconds() + 1)
    (counts,) = world.work_off()
    return {name: count for name, count in counts.items() if count}


def test_a_step_whose_memory_was_deleted_and_swept_meanwhile_is_discarded_and_the_others_done() -> None:
    world = World()
    world.say(FACT, project="atlas")
    world.work_off()
    (known,) = world.memories()
    world.clock.advance(60)
    message = planned(world, FACT, OTHER)
    world.delete(known.id)
    world.tidy()
    assert known.id not in {record.id for record in records(world) if record.kind == lines.MEMORY}
    assert again(world) == {"discarded": 1, "inserted": 1}
    task = world.now.tasks.get(world.owner, str(message.body["task"]))
    assert task.status is TaskStatus.DONE
    assert [world.get(memory_id).content for memory_id in task.memory_ids] == [OTHER]
    assert world.texts() == [OTHER]
    settle(world)
    assert_sound(world)


def test_maintenance_leaves_a_plan_alone_while_its_task_is_open() -> None:
    world = World()
    planned(world, FACT, OTHER)
    for hours in (0.0, 0.3, 0.6):
        world.tidy(hours=hours)
        assert world.memories() == []
    assert sum(1 for record in records(world) if record.kind == lines.MEMORY) == 2
    assert again(world) == {"inserted": 2}


def test_a_delivery_that_finds_the_task_finished_by_another_is_over() -> None:
    for name, count in (
        ("MemoryTable.get", 1),
        ("MemoryTable.update", 1),
        ("MemoryObjects.get", 1),
        ("MemoryTable.write", 1),
        ("MemoryTable.write", 2),
        ("MemoryTable.get", 5),
    ):
        one = World()
        one.say(FACT, OTHER, project="atlas")
        (heard,) = one.work.receive()
        body = json.dumps(heard.body)

        def other(one: World = one, body: str = body, receipt: str = heard.receipt) -> None:
            one.process().delivery.learn(body, receipt, 2)

        one.warm(right_after(name, count, other))
        one.now.delivery.learn(body, heard.receipt, 1)
        one.restart()
        task = one.now.tasks.get(one.owner, str(heard.body["task"]))
        assert (task.status, task.learned["inserted"]) == (TaskStatus.DONE, 2)
        assert len(one.memories()) == 2
        one.work.delete(heard.receipt)
        settle(one)
        assert_sound(one)


def test_a_failure_recorded_late_does_not_undo_what_was_done() -> None:
    world = World()
    task_id = world.say(FACT)
    world.work_off()
    world.now.extraction.fail(world.owner, task_id, 1, "internal")
    assert world.now.tasks.get(world.owner, task_id).status is TaskStatus.DONE


def test_a_plan_that_was_lost_after_its_first_step_fails_the_task() -> None:
    world = World()
    task_id = world.say(FACT, OTHER, project="atlas")
    (message,) = world.work.receive()

    def die() -> None:
        raise Crash("one step done")

    world.restart(right_after("MemoryTable.write", 1, die))
    with pytest.raises(Crash):
        world.deliver(message)
    world.restart()
    plan = world.now.tasks.get(world.owner, task_id).plan
    world.objects.erase(f"o/{world.owner}/1/journal/{plan}")
    assert again(world) == {"failed": 1}
    assert world.now.tasks.get(world.owner, task_id).error == "conversation_lost"


def test_tasks_that_wait_in_the_queue_are_sent_again_without_being_learned_twice() -> None:
    world = World()
    world.say(FACT)
    world.tidy(hours=0.2)
    assert len(world.work.messages) == 2
    assert [counts.get("inserted", 0) for counts in world.work_off()] == [1, 0]


def test_a_conversation_whose_task_never_came_to_be_is_deleted_after_an_hour() -> None:
    world = World()
    world.add(OTHER)

    class Dying(Steps):
        def run(self, name: str, call: Callable[[], Any]) -> Any:
            if name == "MemoryTable.write":
                self.at = self.count + 1
            return super().run(name, call)

    world.warm(Dying())
    with pytest.raises(Crash):
        world.say(FACT)
    world.restart()
    assert len(world.stored("conversations")) == 1
    world.tidy(hours=0.5)
    assert len(world.stored("conversations")) == 1
    world.tidy(hours=0.6)
    assert world.stored("conversations") == []
    settle(world)
    assert_sound(world)
