"""What becomes of matches: a plan decided on one state and applied to another, twice, or over its own earlier steps (B10)."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from shared.domain.errors import Unavailable
from shared.domain.ids import ulid
from shared.domain.memory import Category, Memory, Origin, Scope, Source, Status
from shared.domain.task import Task, TaskStatus
from shared.learning.answers.answers import Action
from shared.learning.extractor import Known
from shared.storage.transactions import Change
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.learning.finding import Find, Finder, finds, matches
from tests.unit.storage.soundness import assert_counted, assert_sound, settle

TEA, GREEN, MILK = "Ann drinks tea", "Ann drinks green tea", "Ann drinks milk"


class DiesAtPut(Steps):
    """Ends the process at the first object that it stores: the plan."""

    def __init__(self, when: Literal["before", "after"], error: type[BaseException] = Crash) -> None:
        super().__init__(when=when, error=error)

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        if self.at is None and name == "MemoryObjects.put":
            self.at = self.count + 1
        return super().run(name, call)


@pytest.fixture
def finder() -> Finder:
    return Finder()


@pytest.fixture
def world(finder: Finder) -> World:
    return World(extractor=finder)


def hear(world: World, finder: Finder, find: Find, **more: str) -> Task:
    """Let the extractor find that in the next conversation; return its task."""
    finder.coming.append(find)
    world.clock.advance(60)
    task_id = world.say("Listen.", **more)
    world.work_off()
    task = world.now.tasks.get(world.owner, task_id)
    assert task.status is TaskStatus.DONE
    return task


def counted(task: Task) -> dict[str, int]:
    return {name: count for name, count in task.learned.items() if count}


def only(world: World) -> Memory:
    (memory,) = world.memories()
    return memory


def test_an_update_rewrites_text_category_importance_and_origin_and_keeps_the_place(
    world: World, finder: Finder
) -> None:
    hear(world, finder, lambda _: [finds(TEA, scope=Scope.PROJECT)], project="p")
    before = only(world)
    task = hear(
        world,
        finder,
        lambda known: [matches(known, TEA, GREEN, category=Category.PREFERENCE, importance=8, scope=Scope.USER)],
        project="p",
    )
    after = only(world)
    assert counted(task) == {"updated": 1}
    assert (after.id, after.version, after.content) == (before.id, 2, GREEN)
    assert (after.category, after.importance, after.scope, after.project) == (
        Category.PREFERENCE,
        8,
        Scope.PROJECT,
        "p",
    )
    assert (after.origin.task_id, after.source, task.memory_ids) == (task.id, Source.AUTO, (after.id,))
    settle(world)
    assert world.found("green") == [GREEN]
    assert_sound(world)


@pytest.mark.parametrize("new", [TEA, f"  {TEA} ", ""])
def test_an_update_that_changes_no_word_is_a_touch(world: World, finder: Finder, new: str) -> None:
    hear(world, finder, lambda _: [finds(TEA)])
    before = only(world)
    task = hear(world, finder, lambda known: [matches(known, TEA, new, importance=9)])
    assert counted(task) == {"touched": 1}
    assert (only(world).content, only(world).importance) == (TEA, before.importance)
    assert only(world).updated_at > before.updated_at


def test_the_second_candidate_for_one_target_is_discarded(world: World, finder: Finder) -> None:
    hear(world, finder, lambda _: [finds(TEA)])
    task = hear(
        world, finder, lambda known: [matches(known, TEA, GREEN), matches(known, TEA, MILK), finds(TEA, importance=1)]
    )
    assert counted(task) == {"updated": 1, "discarded": 2}
    assert only(world).content == GREEN


def test_two_targets_that_want_the_same_new_words_stay_two(world: World, finder: Finder) -> None:
    hear(world, finder, lambda _: [finds(TEA), finds(MILK)])
    task = hear(world, finder, lambda known: [matches(known, TEA, GREEN), matches(known, MILK, GREEN)])
    assert counted(task) == {"updated": 1, "touched": 1}
    assert sorted(memory.content for memory in world.memories()) == [GREEN, TEA]
    settle(world)
    assert_sound(world)


def test_a_new_fact_with_the_new_words_of_an_update_is_no_second_memory(world: World, finder: Finder) -> None:
    hear(world, finder, lambda _: [finds(TEA)])
    task = hear(world, finder, lambda known: [matches(known, TEA, GREEN), finds(GREEN)])
    assert counted(task) == {"updated": 1, "discarded": 1}
    assert only(world).content == GREEN
    assert task.memory_ids == (only(world).id,)
    settle(world)
    assert_sound(world)
    assert_counted(world)


@pytest.mark.parametrize("action", [Action.TOUCH, Action.UPDATE])
@pytest.mark.parametrize("target", ["", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "m1"])
def test_a_target_that_is_no_memory_is_discarded_whole(
    world: World, finder: Finder, action: Action, target: str
) -> None:
    hear(world, finder, lambda _: [finds(TEA)])
    task = hear(world, finder, lambda _: [finds(GREEN, action=action, target=target)])
    assert counted(task) == {"discarded": 1}
    assert (only(world).content, only(world).version) == (TEA, 1)


def test_a_target_of_the_person_is_never_changed_even_if_it_is_named(world: World, finder: Finder) -> None:
    made = world.add(MILK)
    task = hear(world, finder, lambda _: [finds(GREEN, action=Action.UPDATE, target=made.id)])
    assert counted(task) == {"discarded": 1}
    assert (only(world).content, only(world).version) == (MILK, 1)


def imported(world: World, content: str) -> Memory:
    """Put a memory there as an import does."""
    now = world.clock()
    memory = Memory(
        id=ulid(now, world.random),
        version=1,
        content=content,
        scope=Scope.USER,
        project=None,
        agent=None,
        category=Category.KNOWLEDGE,
        importance=5,
        source=Source.IMPORTED,
        status=Status.ACTIVE,
        created_at=now,
        updated_at=now,
        origin=Origin(),
    )
    made = world.now.commits.commit(world.owner, Change(None, memory))
    assert made is not None
    return made


def test_an_imported_memory_is_neither_offered_nor_changed_and_makes_no_room(finder: Finder) -> None:
    world = World(extractor=finder, active=2)
    hear(world, finder, lambda _: [])
    made = imported(world, MILK)
    hear(world, finder, lambda _: [finds(TEA)])
    task = hear(world, finder, lambda _: [finds(GREEN), finds("Ann", action=Action.UPDATE, target=made.id)])
    assert MILK not in [text for known in finder.offered for _, text in known.offered]
    assert counted(task) == {"inserted": 1, "archived": 1, "discarded": 1}
    assert (world.get(made.id).content, world.get(made.id).status) == (MILK, Status.ACTIVE)


@pytest.mark.parametrize("meanwhile", ["edited", "dismissed", "deleted"])
def test_what_the_person_does_between_plan_and_step_wins(world: World, finder: Finder, meanwhile: str) -> None:
    hear(world, finder, lambda _: [finds(TEA)])
    memory = only(world)
    finder.coming.append(lambda known: [matches(known, TEA, GREEN), finds(MILK)])
    world.clock.advance(60)
    task_id = world.say("Listen.")
    (message,) = world.work.receive()
    quiet = world.now
    world.restart(DiesAtPut("after"))
    with pytest.raises(Crash):
        world.deliver(message)
    world.restart()
    if meanwhile == "deleted":
        world.delete(memory.id)
    else:
        world.edit(memory.id, **({"content": "Ann drinks rum"} if meanwhile == "edited" else {"status": "dismissed"}))
    world.deliver(message)
    task = quiet.tasks.get(world.owner, task_id)
    assert counted(task) == {"inserted": 1, "discarded": 1}
    kept = {one.content: one.status for one in world.memories()}
    assert (
        kept
        == {
            "edited": {"Ann drinks rum": Status.ACTIVE, MILK: Status.ACTIVE},
            "dismissed": {TEA: Status.DISMISSED, MILK: Status.ACTIVE},
            "deleted": {MILK: Status.ACTIVE},
        }[meanwhile]
    )
    settle(world)
    assert_sound(world)


def test_an_experience_belongs_to_the_agent_and_is_learned_once(world: World, finder: Finder) -> None:
    finder.more = {"experiences": ("tests failed → ran them alone → passed",)}
    nothing: Find = lambda _: []  # noqa: E731 - the smallest answer
    assert counted(hear(world, finder, nothing, agent="coder")) == {"inserted": 1}
    assert counted(hear(world, finder, nothing, agent="coder")) == {"touched": 1}
    assert counted(hear(world, finder, nothing, agent="other")) == {"inserted": 1}
    assert counted(hear(world, finder, nothing)) == {"discarded": 1}
    assert {(one.scope, one.agent, one.category) for one in world.memories()} == {
        (Scope.AGENT, "coder", Category.EXPERIENCE),
        (Scope.AGENT, "other", Category.EXPERIENCE),
    }


def test_a_plan_that_could_not_be_stored_is_decided_anew_and_counted_once(world: World, finder: Finder) -> None:
    finder.coming += [lambda _: [finds(TEA)], lambda _: [finds(MILK)]]
    task_id = world.say("Listen.")
    (message,) = world.work.receive()
    quiet = world.now
    world.restart(DiesAtPut("before", Unavailable))
    with pytest.raises(Unavailable):
        world.deliver(message)
    world.restart()
    world.deliver(message)
    assert counted(quiet.tasks.get(world.owner, task_id)) == {"inserted": 1}
    assert only(world).content == MILK
    assert [known for known in finder.offered if known != Known()] == []
