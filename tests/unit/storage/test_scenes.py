"""The summary of a project: the latest task's, once, in table and journal alike, whoever died or came late."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import Unavailable
from shared.domain.task import TaskStatus
from shared.ports import Update
from shared.storage import lines, names
from shared.storage.journal import Journal
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_sound, opened, rebuilt, records, settle, told

FIRST, SECOND = "We decided to use Redis for the cache.", "I prefer small commits, always."


class AtTheEnd(Steps):
    """Ends the process at the second write of a task with one fact: the one that ends the task."""

    def __init__(self, error: type[BaseException] = Crash) -> None:
        super().__init__(error=error)
        self.writes = 0

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        self.writes += name == "MemoryTable.write"
        if self.at is None and self.writes == 2:
            self.at = self.count + 1
        return super().run(name, call)


@pytest.fixture
def world() -> World:
    return World(extractor=Summing())


def summaries(world: World) -> dict[str, str | None]:
    page = world.process().overview.projects(world.owner, limit=50, cursor=None)
    assert page.damaged == 0
    return {project.name: project.summary for project in page.projects}


def of(text: str) -> str:
    return f"It was about: {text}"


def learn(world: World, text: str, project: str | None = "atlas") -> None:
    world.say(text, project=project)
    world.work_off()


def scenes_in_journal(world: World) -> list[str]:
    return [str(record.document().get("summary")) for record in records(world) if record.kind == lines.SCENE]


def test_a_projects_summary_is_the_last_tasks_and_no_other_projects(world: World) -> None:
    learn(world, FIRST)
    learn(world, SECOND, "borealis")
    assert summaries(world) == {"atlas": of(FIRST), "borealis": of(SECOND)}
    learn(world, "Nothing that a rule would find.")
    assert summaries(world)["atlas"] == of("Nothing that a rule would find.")
    assert {record.document().get("project") for record in records(world) if record.kind == lines.SCENE} == {
        "atlas",
        "borealis",
    }
    settle(world)
    assert_sound(world)
    assert sorted(scenes_in_journal(world)) == [of(SECOND), of("Nothing that a rule would find.")]
    before = summaries(world)
    rebuilt(world)
    assert summaries(world) == before
    settle(world)
    assert_sound(world)


def test_a_rebuild_takes_the_latest_of_lines_that_are_not_folded_yet(world: World) -> None:
    for text in (FIRST, SECOND):
        learn(world, text)
    assert sorted(scenes_in_journal(world)) == sorted([of(FIRST), of(SECOND)])
    rebuilt(world)
    assert summaries(world) == {"atlas": of(SECOND)}


@pytest.mark.parametrize("project", [None, "default"])
def test_without_a_real_project_there_is_no_summary_to_keep(world: World, project: str | None) -> None:
    learn(world, FIRST, project)
    assert (summaries(world), scenes_in_journal(world)) == ({}, [])
    (task,) = world.now.tasks.list(world.owner, limit=1)[0]
    assert task.summary == of(FIRST)


def test_a_project_may_have_a_summary_and_no_memory(world: World) -> None:
    learn(world, "Nothing that a rule would find.")
    assert summaries(world) == {"atlas": of("Nothing that a rule would find.")}
    learn(world, FIRST)
    (project,) = world.now.overview.projects(world.owner, limit=50, cursor=None).projects
    assert (project.memories, project.summary) == (1, of(FIRST))


def test_a_task_that_ends_after_a_later_one_does_not_bring_its_summary_back(world: World) -> None:
    world.say(FIRST, project="atlas")
    (late,) = world.work.receive()
    world.restart(AtTheEnd(Unavailable))
    with pytest.raises(Unavailable):
        world.deliver(late)
    world.restart()
    world.clock.advance(60)
    task_id = world.say(SECOND, project="atlas")
    body = {"v": 1, "owner": world.owner, "epoch": 1, "task": task_id, "run": 1}
    world.now.delivery.learn(json.dumps(body), "receipt", 1)
    assert summaries(world) == {"atlas": of(SECOND)}
    world.deliver(late)
    assert summaries(world) == {"atlas": of(SECOND)}
    journal = Journal(world.objects, opened(world).keys, world.random)
    assert world.head()["journal_bytes"] == sum(listed.size for listed in journal.listing())
    settle(world)
    assert {task.status for task in world.now.tasks.list(world.owner, limit=9)[0]} == {TaskStatus.DONE}
    assert scenes_in_journal(world) == [of(SECOND)]
    assert_sound(world)


def test_the_summary_of_a_task_that_never_ended_goes_with_it(world: World) -> None:
    learn(world, FIRST)
    world.say(SECOND, project="atlas")
    (message,) = world.work.receive()
    world.restart(AtTheEnd())
    with pytest.raises(Crash):
        world.deliver(message)
    world.restart()
    world.work.delete(message.receipt)
    assert summaries(world) == {"atlas": of(FIRST)}
    assert sorted(scenes_in_journal(world)) == sorted([of(FIRST), of(SECOND)])
    for wait in (timedelta(hours=2), limits.FAILED_KEPT + timedelta(hours=2), timedelta(hours=2)):
        world.tidy(hours=wait.total_seconds() / 3600)
    assert summaries(world) == {"atlas": of(FIRST)}
    assert scenes_in_journal(world) == [of(FIRST)]


def test_a_summary_is_sealed_counted_and_refused_when_it_was_tampered_with(world: World) -> None:
    learn(world, FIRST)
    ((sk, scene),) = told(world).items()
    commit = scene.latest
    stored = world.objects.get(names.journal(world.owner, 1, commit))
    assert stored is not None
    assert b"Redis" not in stored.body
    assert opened(world).head["journal_bytes"] == len(stored.body)
    world.table.write(world.owner, [Update(sk, set={"document": b"tampered"})])
    assert world.process().overview.projects(world.owner, limit=50, cursor=None).damaged == 1
