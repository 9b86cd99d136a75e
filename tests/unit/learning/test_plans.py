"""What becomes of facts: inserted, touched, revived, left alone, or let in where older ones make room (B10, B12)."""

from dataclasses import dataclass
from typing import Any

import pytest

from shared.domain.memory import Category, Memory, Scope, Source, Status
from shared.domain.task import TaskStatus
from shared.learning.extractor import Extracted
from tests.builders import World
from tests.unit.storage.soundness import assert_counted, assert_sound, settle

FACT, OTHER = "We decided to use PostgreSQL for the backend.", "I prefer tea."


def learned(world: World, *texts: str, **more: Any) -> dict[str, int]:
    """Learn from a conversation and return what its task counted, without zeros."""
    world.clock.advance(60)
    task_id = world.say(*texts, **more)
    world.work_off()
    task = world.now.tasks.get(world.owner, task_id)
    assert task.status is TaskStatus.DONE
    return {name: count for name, count in task.learned.items() if count}


def only(world: World, text: str = FACT) -> Memory:
    (memory,) = [one for one in world.memories() if one.content == text]
    return memory


def test_a_new_fact_is_inserted_with_where_it_comes_from() -> None:
    world = World()
    assert learned(world, FACT, project="atlas", session_id="session-1", agent="coder") == {"inserted": 1}
    memory = only(world)
    assert (memory.source, memory.status, memory.scope, memory.project) == (
        Source.AUTO,
        Status.ACTIVE,
        Scope.PROJECT,
        "atlas",
    )
    task = world.now.tasks.list(world.owner, limit=1)[0][0]
    assert (memory.origin.task_id, memory.origin.session_id) == (task.id, "session-1")
    assert memory.origin.quote == FACT
    assert memory.origin.at is not None
    assert task.memory_ids == (memory.id,)


def test_an_id_is_never_younger_than_the_commit_that_holds_it() -> None:
    world = World()
    learned(world, FACT, OTHER, "I like TypeScript.", project="atlas")
    for memory in world.memories():
        assert memory.id[:10] <= memory.commit[:10]


def test_a_known_fact_is_touched_and_keeps_its_id() -> None:
    world = World()
    learned(world, FACT, project="atlas")
    before = only(world)
    assert learned(world, FACT, project="atlas") == {"touched": 1}
    after = only(world)
    assert (after.id, after.version) == (before.id, 2)
    assert after.updated_at > before.updated_at


def test_a_fact_added_by_hand_is_touched_and_stays_the_persons_own() -> None:
    world = World()
    made = world.add(FACT, scope=Scope.PROJECT, project="atlas", importance=3)
    assert learned(world, FACT, project="atlas") == {"touched": 1}
    after = world.get(made.id)
    assert (after.source, after.importance) == (Source.MANUAL, 3)


def test_a_dismissed_fact_is_never_learned_again_however_it_is_written() -> None:
    world = World()
    learned(world, FACT, project="atlas")
    world.dismiss(only(world).id)
    for text in (FACT, "  We decided   to use PostgreSQL\u3000for the backend. "):
        assert learned(world, text, project="atlas") == {"discarded": 1}
    assert only(world).status is Status.DISMISSED
    assert len(world.memories()) == 1


def test_an_archived_fact_becomes_active_again() -> None:
    world = World()
    learned(world, FACT, project="atlas")
    world.edit(only(world).id, status=Status.ARCHIVED)
    assert learned(world, FACT, project="atlas") == {"updated": 1}
    assert only(world).status is Status.ACTIVE
    assert_counted(world)


def test_the_same_text_in_another_project_is_another_fact() -> None:
    world = World()
    assert learned(world, FACT, project="atlas") == {"inserted": 1}
    assert learned(world, FACT, project="borealis") == {"inserted": 1}
    assert len(world.memories()) == 2


def test_the_same_fact_twice_in_one_conversation_is_one() -> None:
    world = World()
    assert learned(world, FACT, f"  {FACT} ", project="atlas")["inserted"] == 1
    assert len(world.memories()) == 1


def test_the_oldest_automatic_memories_of_the_scope_make_room_and_are_found_still() -> None:
    world = World(active=3)
    learned(world, FACT, project="atlas")
    oldest = only(world)
    learned(world, "We decided to use Redis for the cache.", project="atlas")
    world.add("By hand, and older than nothing.")
    assert learned(world, "We decided to deploy on Fridays.", project="atlas") == {"inserted": 1, "archived": 1}
    assert world.get(oldest.id).status is Status.ARCHIVED
    assert len(world.memories(status=Status.ACTIVE)) == 3
    assert FACT in world.found("PostgreSQL")
    assert_counted(world)
    settle(world)
    assert_sound(world)


def test_what_a_person_wrote_and_what_lives_elsewhere_never_makes_room() -> None:
    world = World(active=2)
    world.add("By hand, in the project.", scope=Scope.PROJECT, project="atlas")
    learned(world, FACT, project="borealis")
    assert learned(world, "We decided to deploy on Fridays.", project="atlas") == {"discarded": 1}
    assert sorted(memory.status for memory in world.memories()) == [Status.ACTIVE, Status.ACTIVE]


def test_of_more_facts_than_there_is_room_for_the_important_ones_are_kept() -> None:
    world = World(active=1)
    counts = learned(world, "My plan is to ship on Friday.", "We must never log tokens in production.", project="atlas")
    assert counts == {"inserted": 1, "discarded": 1}
    assert [memory.category for memory in world.memories()] == [Category.CONSTRAINT]


def test_a_restored_fact_needs_room_like_a_new_one() -> None:
    world = World(active=1)
    learned(world, FACT, project="atlas")
    world.edit(only(world).id, status=Status.ARCHIVED)
    world.add("By hand.")
    assert learned(world, FACT, project="atlas") == {"discarded": 1}
    assert only(world).status is Status.ARCHIVED


@dataclass(frozen=True)
class Silent:
    """An extractor that finds nothing and says so."""

    summary: str | None = "They talked of the weather."

    def extract(self, *_: Any) -> Extracted:
        return Extracted((), 2, "silent/1", self.summary)


def test_a_conversation_without_facts_is_done_with_its_summary_and_leaves_nothing() -> None:
    world = World(extractor=Silent())
    assert learned(world, FACT) == {"discarded": 2}
    task = world.now.tasks.list(world.owner, limit=1)[0][0]
    assert (task.summary, task.memory_ids) == ("They talked of the weather.", ())
    assert world.stored("conversations") == []
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("change", ["edited", "deleted", "made by hand"])
def test_a_fact_that_moved_on_between_plan_and_step_is_discarded_and_nothing_is_overwritten(change: str) -> None:
    from tests.fakes import Steps

    world = World()
    if change != "made by hand":
        learned(world, FACT, project="atlas")
    task_id = world.say(FACT, OTHER, project="atlas")
    (message,) = world.work.receive()

    class Between(Steps):
        def run(self, name: str, call: Any) -> Any:
            if name == "MemoryObjects.put" and name not in self.log:
                meanwhile()
            return super().run(name, call)

    def meanwhile() -> None:
        process = world.process()
        if change == "edited":
            process.edits.edit(world.owner, only(world).id, {"content": "We use MySQL."}, None)
        elif change == "deleted":
            process.edits.delete(world.owner, only(world).id, None)
        else:
            from tests.builders import Draft

            process.memories.add(world.owner, Draft(FACT, Scope.PROJECT, "atlas"))

    world.restart(Between())
    world.deliver(message)
    world.restart()
    task = world.now.tasks.get(world.owner, task_id)
    assert task.status is TaskStatus.DONE
    assert (task.learned["discarded"], task.learned["inserted"]) == (1, 1)
    texts = {"edited": ["I prefer tea.", "We use MySQL."], "deleted": [OTHER], "made by hand": [OTHER, FACT]}
    assert world.texts() == sorted(texts[change])
    assert set(task.memory_ids) == {only(world, OTHER).id}
    settle(world)
    assert_sound(world)
