"""A lost table refuses writes until it is rebuilt from the journal, and then says what it said before."""

import json
from typing import Any

import pytest

from shared.domain.errors import NotFound, TableLost
from shared.domain.memory import Category, Scope, Status
from shared.domain.task import TaskStatus
from shared.storage import names
from shared.storage.rebuild import Rebuilt
from tests.builders import World, plain
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import assert_counted, assert_sound, records, settle, visible

WORDS = ("deploy", "PostgreSQL", "密码", "atlas")
SAID = ("We decided to use PostgreSQL for the backend.", "我喜欢用 TypeScript")


def lived_in() -> World:
    """Return a world with everything in it: folded, not folded, edited, dismissed, archived, learned, deleted, settings."""
    world = World()
    first = world.add("The deploy day is Monday.", tags=["#deploy"], metadata={"from": "the wiki"})
    world.add("Atlas deploys on Tuesday.", scope=Scope.PROJECT, project="atlas", importance=9)
    world.add("数据库密码是 hunter2x", category=Category.CREDENTIAL)
    world.add("It reviews code.", scope=Scope.AGENT, agent="reviewer")
    world.say(*SAID, project="atlas")
    world.work_off()
    world.choose(language="zh")
    world.tidy(hours=2)
    world.edit(first.id, content="The deploy day is Friday.", importance=7)
    world.dismiss(world.add("I do not want to see this deploy note.").id)
    world.edit(world.add("It made room.").id, status=Status.ARCHIVED)
    world.delete(world.add("It is gone.").id)
    world.choose(max_results=7)
    return world


@pytest.mark.parametrize("warm", [False, True], ids=["a new process", "a process with warm keys"])
def test_a_wiped_table_refuses_every_write_until_it_is_rebuilt(*, warm: bool) -> None:
    world = lived_in()
    memory = world.memories()[0]
    world.warm() if warm else world.restart()
    world.table.wipe()
    for deed in (
        lambda: world.add("It must not be written."),
        lambda: world.edit(memory.id, importance=1),
        lambda: world.delete(memory.id),
        lambda: world.choose(language="en"),
        lambda: world.say("We decided to use MySQL."),
        lambda: world.found("deploy"),
        world.memories,
    ):
        with pytest.raises(TableLost):
            deed()
    assert world.table.partition(world.owner) == {}
    written = {record.id for record in rebuilt_and(world)}
    assert memory.id in written
    world.add("Now it may be written.")


def rebuilt_and(world: World) -> Any:
    world.restart()
    world.tidy()
    return records(world)


@pytest.mark.parametrize("what", ["everything", "the head", "the head and half of the rest"])
def test_a_rebuild_gives_the_state_before(what: str) -> None:
    world = lived_in()
    world.build()  # words weigh as the index counts them, so both searches need one that knows everything
    before, memories = visible(world, WORDS), {memory.id: memory for memory in world.memories()}
    if what == "everything":
        world.table.wipe()
    else:
        sks = list(world.table.partition(world.owner))
        for sk in ["head", *([] if what == "the head" else sks[::2])]:
            world.table._remove(world.owner, sk)
    world.restart()
    tidied = world.tidy()
    assert tidied is not None
    assert tidied["rebuild_memories"] == len(memories)
    after = visible(world, WORDS)
    assert after | {"tasks": before["tasks"]} == before
    for memory in world.memories():
        old = memories[memory.id]
        assert (memory.version, memory.commit, memory.prior) == (old.version, old.commit, old.prior)
        assert (memory.created_at, memory.updated_at, memory.origin) == (old.created_at, old.updated_at, old.origin)
    assert_counted(world)
    settle(world)
    assert_sound(world)


def test_history_outlives_the_table() -> None:
    world = lived_in()
    memory = next(memory for memory in world.memories() if memory.version == 2 and "Friday" in memory.content)
    world.table.wipe()
    world.restart()
    world.tidy(hours=2)
    assert [version.content for version in world.now.edits.history(world.owner, memory.id)] == [
        "The deploy day is Friday.",
        "The deploy day is Monday.",
    ]


def test_a_rebuild_queues_waiting_conversations_again_and_relearns_nothing() -> None:
    world = World()
    learned = world.say(*SAID, project="atlas")
    world.work_off()
    key = f"o/{world.owner}/1/conversations/{learned}"
    waiting = world.say("I prefer tea.", project="atlas")
    kept = world.objects.get(f"o/{world.owner}/1/conversations/{waiting}")
    assert kept is not None
    world.objects.put(key, kept.body)
    world.work.messages.clear()
    texts = world.texts()
    world.table.wipe()
    world.restart()
    world.tidy()
    assert world.stored("conversations") == [waiting]
    assert [message.body["task"] for message in world.work.messages] == [waiting]
    assert world.work_off() == [{"inserted": 1}]
    assert world.texts() == sorted([*texts, "I prefer tea."])
    with pytest.raises(NotFound):
        world.now.tasks.get(world.owner, learned)
    settle(world)
    assert_sound(world)


def test_a_worker_that_goes_on_after_a_rebuild_neither_learns_twice_nor_drops_what_stands() -> None:
    """Only the head was lost, so its task is still there: it would take its own memories for another's."""
    world = World()
    world.say(*SAID, project="atlas")
    (message,) = world.work.receive()
    world.restart(Steps(at=9, when="after"))
    with pytest.raises(Crash):
        world.deliver(message)
    world.table._remove(world.owner, "head")
    world.restart()
    world.tidy()
    texts = world.texts()
    assert len(texts) == 2
    world.now.delivery.learn(json.dumps(message.body), message.receipt, 2)
    world.work.delete(message.receipt)
    world.work_off()
    assert world.texts() == texts
    settle(world)
    assert_sound(world)
    world.table.wipe()
    world.restart()
    world.tidy()
    assert world.texts() == texts


def test_a_finished_task_stays_when_only_the_head_was_lost() -> None:
    world = World()
    task_id = world.say(*SAID, project="atlas")
    world.work_off()
    world.table._remove(world.owner, "head")
    world.restart()
    world.tidy()
    assert world.now.tasks.get(world.owner, task_id).status is TaskStatus.DONE


def test_there_is_nothing_to_rebuild_for_a_stranger_or_an_owner_with_a_head() -> None:
    world = World()
    assert world.now.rebuild.run(world.owner) is None
    assert world.tidy() is None
    world.add("It is there.")
    assert world.now.rebuild.run(world.owner) is None


def test_a_damaged_journal_object_is_counted_and_the_rest_rebuilt() -> None:
    world = World()
    world.add("The first.")
    world.add("The second.")
    world.objects.put(f"o/{world.owner}/1/journal/{world.stored('journal')[0]}", b"not a line\n")
    world.table.wipe()
    world.restart()
    result = world.now.rebuild.run(world.owner)
    assert isinstance(result, Rebuilt)
    assert (result.memories, result.damaged) == (1, 1)
    assert world.texts() == ["The second."]


def refused_and_dead(world: World, deed: Any) -> None:
    """Let a deed be refused and its process die before it removes its line."""

    class At(Steps):
        def run(self, name: str, call: Any) -> Any:
            if name == "MemoryObjects.erase":
                self.at = len(self.log) + 1
            return super().run(name, call)

    world.restart(At())
    with pytest.raises(Crash):
        deed()
    world.restart()


def test_of_two_lines_with_one_text_the_one_that_surely_held_it_stands() -> None:
    world = World()
    memory = world.add("We ship on Friday.")
    world.dismiss(memory.id)
    refused_and_dead(world, lambda: world.add("We ship on Friday."))
    world.table.wipe()
    world.restart()
    world.tidy()
    assert [(one.id, one.status) for one in world.memories()] == [(memory.id, Status.DISMISSED)]


def test_an_edit_that_was_refused_for_anothers_text_takes_nothing_from_either() -> None:
    world = World()
    kept, edited = world.add("We ship on Friday."), world.add("We rest on Sunday.")
    refused_and_dead(world, lambda: world.edit(edited.id, content="We ship on Friday."))
    world.table.wipe()
    world.restart()
    result = world.now.rebuild.run(world.owner)
    assert result is not None
    assert result.doubles == 1
    assert {one.id: one.content for one in world.memories()} == {
        kept.id: "We ship on Friday.",
        edited.id: "We rest on Sunday.",
    }
    settle(world)
    assert_sound(world)


def test_a_text_deleted_while_a_crashed_attempt_to_learn_it_waited_is_kept_when_it_is_learned_after_all() -> None:
    """The plan's commit is of its first attempt, older than the tombstone of that text; what it made is not."""
    world = World()
    world.say("We decided to use PostgreSQL.")
    (message,) = world.work.receive()
    world.restart(Steps(at=5, when="after"))
    with pytest.raises(Crash):
        world.deliver(message)
    world.restart()
    world.delete(world.add("We decided to use PostgreSQL.").id)
    world.clock.advance(world.work.visibility.total_seconds() + 1)
    assert world.work_off() == [{"inserted": 1}]
    texts = world.texts()
    assert len(texts) == 1
    world.table.wipe()
    world.restart()
    world.tidy()
    assert world.texts() == texts
    settle(world)
    assert_sound(world)


def test_everyone_is_asked_for_and_each_owner_rebuilt_by_the_duty_of_maintenance() -> None:
    world = lived_in()
    before = plain(world.memories())
    world.table.wipe()
    world.restart()
    assert world.now.duties.ask({"kind": "rebuild"}) == {"owners": 1, "percent": 100}
    (message,) = world.maintenance.receive()
    assert world.now.duties.do(json.dumps(message.body), message.receipt)["rebuild_memories"] == len(before)
    assert plain(world.memories()) == before


def test_two_runs_do_not_rebuild_one_owner_at_the_same_time() -> None:
    world = lived_in()
    world.table.wipe()
    world.restart(Steps(at=20))
    with pytest.raises(Crash):
        world.tidy()
    world.restart()
    assert names.LEASE in world.table.partition(world.owner)
    assert world.tidy() is None
    assert world.tidy(hours=0.3) is not None


def test_what_is_folded_surely_stood_whatever_else_became_of_its_text() -> None:
    """Planned, then added and deleted by hand, then applied by a redelivery: the line is older than the tombstone of its text."""
    world = World()
    world.say("We decided to use PostgreSQL.", "I prefer tea.")
    (message,) = world.work.receive()
    world.restart(Steps(at=7, when="after"))
    with pytest.raises(Crash):
        world.deliver(message)
    world.restart()
    for text in ("We decided to use PostgreSQL.", "I prefer tea."):
        world.delete(world.add(text).id)
    world.clock.advance(world.work.visibility.total_seconds() + 1)
    assert world.work_off() == [{"inserted": 2}]
    settle(world)
    assert_sound(world)
    world.table.wipe()
    world.restart()
    world.tidy()
    assert len(world.texts()) == 2
