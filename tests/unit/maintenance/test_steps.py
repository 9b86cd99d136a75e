"""The order of a visit's steps, what a failing one may and may not stop, the visit's time, and what maintenance remembers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from shared.domain import limits
from shared.domain.errors import NotFound, SealBroken, Unavailable
from shared.domain.memory import Category
from shared.domain.task import TaskStatus
from shared.domain.times import moment, rfc3339
from shared.keeping.maintenance.tidying import Tidying
from shared.keeping.maintenance.visits import OutOfTime, Step, Visit, begun
from shared.ports import Delete, Put, Update
from shared.storage import names
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.keeping.forgetting.test_forgetting import forget
from tests.unit.storage.soundness import assert_sound, settle

TEXT, OTHER = "The deploy day is Monday.", "部署日是星期五"


@dataclass
class Doing:
    """A step that keeps a diary and then does what a test wants."""

    name: str
    diary: list[str] = field(default_factory=list)
    do: Callable[[Visit], Mapping[str, int]] = lambda _visit: {}

    def run(self, visit: Visit) -> Mapping[str, int]:
        self.diary.append(self.name)
        return self.do(visit)


def failing(error: Exception) -> Callable[[Visit], Mapping[str, int]]:
    def fail(_visit: Visit) -> Mapping[str, int]:
        raise error

    return fail


def with_steps(world: World, *steps: Step, clearing: tuple[Step, ...] = ()) -> None:
    """Give the present process these steps."""
    now = world.now
    now.tidying = Tidying(world.now.commits, now.rebuild, now.waiting, now.builder, steps, clearing)


def logged(capsys: pytest.CaptureFixture[str], event: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if line["event"] == event]


def test_steps_are_taken_in_their_order_and_clearing_ones_after_the_new_index_is_in_use() -> None:
    world = World()
    world.add(TEXT)
    diary: list[str] = []

    def cleared(visit: Visit) -> Mapping[str, int]:
        diary.append(f"index {'index' in world.head()} rows {len(visit.opened.changes)}")
        return {}

    steps = [Doing(name, diary) for name in ("consolidation", "persona", "scenes")]
    with_steps(world, *steps, clearing=(Doing("clear", diary, cleared),))
    world.tidy()
    assert diary == ["consolidation", "persona", "scenes", "clear", "index True rows 1"]
    assert world.sks(names.CHANGE) == []


@pytest.mark.parametrize("error", [SealBroken(), Unavailable(), ZeroDivisionError("the deploy day")])
def test_a_step_that_fails_stops_no_other_is_told_of_by_its_class_and_makes_its_owner_due(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()
    world.add(TEXT)
    world.tidy(hours=2)
    world.tidy(hours=2)
    world.add(OTHER)
    diary: list[str] = []
    with_steps(world, Doing("persona", diary, failing(error)), Doing("scenes", diary))
    counts = world.tidy(hours=2) or {}
    assert diary == ["persona", "scenes"]
    assert (counts["failed_steps"], counts["index_built"], counts["fold_folded"]) == (1, 1, 1)
    (line,) = logged(capsys, "step_failed")
    assert (line["level"], line["step"], line["kind"]) == ("ERROR", "persona", type(error).__name__)
    assert "deploy" not in json.dumps(line)
    assert world.head()["due_at"] == rfc3339(world.clock() + limits.STEP_AGAIN)
    world.restart()
    settle(world)
    assert_sound(world)


def next_visit(world: World) -> float:
    """Return in how many hours the owner is due."""
    partition = world.table.partition(world.owner)
    marks = [str(item["due_at"]) for item in partition.values() if "due_at" in item]
    return (moment(min(marks)) - world.clock()).total_seconds() / 3600


def test_a_step_that_fails_each_time_is_tried_more_and_more_rarely_and_at_once_after_a_write() -> None:
    world = World()
    world.add(TEXT)
    settle(world)
    waits = []
    for _ in range(8):
        with_steps(world, Doing("persona", do=failing(Unavailable())))
        world.tidy()
        waits.append(next_visit(world))
        world.clock.advance(waits[-1] * 3600)
    assert waits == [0.5, 1, 2, 4, 8, 16, 24, 24]
    world.add(OTHER)
    assert next_visit(world) <= limits.MAINTENANCE_DELAY.total_seconds() / 3600
    with_steps(world)
    assert "failed_steps" not in (world.tidy() or {})
    with_steps(world, Doing("persona", do=failing(Unavailable())))
    world.tidy(hours=30)
    assert next_visit(world) == 0.5


def test_what_never_comes_to_an_end_does_not_run_for_ever() -> None:
    world = World()
    world.add(TEXT)
    settle(world)
    visits = 0
    with_steps(world, Doing("consolidation", do=failing(OutOfTime())))
    world.tidy()
    while received := world.maintenance.receive():
        visits += 1
        world.clock.advance(limits.VISIT.total_seconds())
        world.now.duties = replace(world.now.duties, tidying=world.now.tidying)
        world.now.duties.do(json.dumps(received[0].body), received[0].receipt)
        world.maintenance.delete(received[0].receipt)
    assert visits == 10
    assert next_visit(world) == 24


def test_a_repair_that_fails_leaves_the_journal_alone_and_the_index_is_built(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = World()
    gone = world.add(TEXT)
    world.add(OTHER)
    world.tidy(hours=2)
    world.tidy(hours=2)
    world.delete(gone.id)
    before = world.stored("journal")
    world.restart(Steps(at=8, error=Unavailable))
    with_steps(world)
    counts = world.tidy(hours=2) or {}
    assert [line["step"] for line in logged(capsys, "step_failed")] == ["repair"]
    assert counts["index_built"] == 1
    assert world.stored("journal") == before
    world.restart()
    settle(world)
    assert_sound(world)


def test_a_clearing_step_that_fails_keeps_the_change_rows_until_it_has_done_its_work() -> None:
    world = World()
    memory = world.add(TEXT)
    world.tidy(hours=2)
    world.delete(memory.id)
    diary: list[str] = []
    broken, fine = Doing("persona", diary, failing(Unavailable())), Doing("scenes", diary)
    with_steps(world, clearing=(broken, fine))
    counts = world.tidy() or {}
    assert diary == ["persona", "scenes"], "one failure keeps the others from nothing"
    assert (counts["failed_steps"], world.sks(names.CHANGE)) == (2, [memory.id])
    with pytest.raises(NotFound):
        world.get(memory.id)
    with_steps(world, clearing=(fine,))
    world.tidy()
    assert world.sks(names.CHANGE) == []


def test_dying_between_the_new_index_and_the_clearing_keeps_the_change_rows() -> None:
    world = World()
    memory = world.add(TEXT)
    world.tidy(hours=2)
    world.delete(memory.id)

    def die(_visit: Visit) -> Mapping[str, int]:
        raise Crash

    with_steps(world, clearing=(Doing("persona", do=die),))
    with pytest.raises(Crash):
        world.tidy()
    assert world.sks(names.CHANGE) == [memory.id]
    cleared: list[str] = []
    world.restart()
    with_steps(world, clearing=(Doing("persona", cleared),))
    world.tidy(hours=1)
    assert (cleared, world.sks(names.CHANGE)) == (["persona"], [])


def test_when_the_time_is_over_later_steps_wait_for_the_next_visit_which_is_asked_for_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = World()
    world.add(TEXT)
    diary: list[str] = []

    def long(visit: Visit) -> Mapping[str, int]:
        assert visit.time_left() == limits.VISIT.total_seconds()
        world.clock.advance(limits.VISIT.total_seconds())
        visit.check_time({"merged": 3})
        return {}

    with_steps(world, Doing("consolidation", diary, long), Doing("persona", diary))
    counts = world.tidy() or {}
    assert diary == ["consolidation"]
    assert (counts["consolidation_merged"], counts["unfinished"], counts["index_built"]) == (3, 1, 1)
    assert counts["consolidation_ms"] == limits.VISIT.total_seconds() * 1000
    assert [(line["step"], line["level"]) for line in logged(capsys, "step_unfinished")] == [("consolidation", "WARN")]
    (message,) = world.maintenance.receive()
    assert message.body == {"v": 1, "kind": "tidy", "owner": world.owner}
    assert world.head()["due_at"] == rfc3339(world.clock() + timedelta(minutes=1))
    with_steps(world, Doing("consolidation", diary), Doing("persona", diary))
    world.now.duties.do(json.dumps(message.body), message.receipt)


def test_a_step_may_say_so_itself_that_there_is_more_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    world.add(TEXT)
    with_steps(world, Doing("consolidation", do=failing(OutOfTime({"merged": 1}))))
    assert (world.tidy() or {}).items() >= {"consolidation_merged": 1, "unfinished": 1}.items()
    assert [line["level"] for line in logged(capsys, "step_unfinished")] == ["INFO"], "nothing went wrong"


def test_what_is_noted_is_there_in_the_next_visit_and_not_written_twice() -> None:
    world = World()
    world.add(TEXT)
    seen: list[object] = []
    at = world.clock() - timedelta(hours=1)

    def noting(visit: Visit) -> Mapping[str, int]:
        seen.append((visit.moment("persona_at"), visit.state.get("persona_facts")))
        visit.note(persona_at=at, persona_facts=7)
        return {}

    with_steps(world, Doing("persona", do=noting))
    world.tidy()
    steps = world.restart()
    with_steps(world, Doing("persona", do=noting))
    world.tidy()
    assert seen == [(None, None), (at, 7)]
    silent = steps.log.count("MemoryTable.write")
    steps = world.restart()
    with_steps(world)
    world.tidy()
    assert steps.log.count("MemoryTable.write") == silent


def test_nothing_is_noted_of_a_life_that_ended() -> None:
    world = World()
    world.add(TEXT)
    visit = begun(world.now.vaults, world.owner, world.clock())
    assert visit is not None
    world.table.write(world.owner, [Update(names.HEAD, set={"gen": 0})])
    with pytest.raises(Unavailable):
        visit.note(persona_facts=1)
    with pytest.raises(Unavailable):
        visit.refresh()
    assert world.sks(names.UPKEEP) == []


def test_what_maintenance_remembers_may_be_lost() -> None:
    world = World()
    world.choose(retention_days=3)
    world.add(TEXT)
    world.tidy(hours=2)
    world.table.write(world.owner, [Delete(names.UPKEEP)])
    world.clock.advance(days=3)
    assert (world.tidy() or {})["retention_deleted"] == 1


def test_what_an_owner_asked_for_is_done_though_what_maintenance_remembers_was_lost() -> None:
    world = World()
    world.add(TEXT)
    world.add("I prefer Rust for tools.", category=Category.PREFERENCE)
    persona, forgotten = world.now.portrait.ask(world.owner).task_id, forget(world, query="deploy day")
    world.table.write(world.owner, [Delete(names.UPKEEP)])
    for _ in range(2):
        world.tidy()
    tasks = {task.id: task.status for task in world.now.tasks.list(world.owner, limit=10)[0]}
    assert tasks == {persona: TaskStatus.DONE, forgotten: TaskStatus.DONE}
    assert world.texts() == ["I prefer Rust for tools."]


def test_a_step_asks_for_a_visit_on_a_day_to_come_and_a_write_in_between_is_not_kept_waiting() -> None:
    world = World()
    world.add(TEXT)
    settle(world)
    at = world.clock() + timedelta(days=7)

    def waiting(visit: Visit) -> Mapping[str, int]:
        visit.look_again(at)
        return {}

    with_steps(world, Doing("persona", do=waiting))
    world.tidy()
    assert "due_at" not in world.head()
    assert world.table.partition(world.owner)[names.UPKEEP]["due_at"] == rfc3339(at)
    world.clock.advance(days=6)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 0}
    world.add(OTHER)
    world.clock.advance(301)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}
    world.tidy()
    world.tidy(hours=1)
    assert world.table.partition(world.owner)[names.UPKEEP]["due_at"] == rfc3339(at)
    world.clock.advance(days=2)
    assert world.now.duties.ask({"kind": "schedule"}) == {"owners": 1}


def test_what_is_written_after_a_visits_survey_is_looked_at_within_the_hour() -> None:
    """Its change row is taken in by the index of the very same visit, so only the head's count of commits tells of it."""
    world = World()
    memory = world.add(TEXT)
    settle(world)
    other = world.process()

    def deleting(_visit: Visit) -> Mapping[str, int]:
        other.edits.delete(world.owner, memory.id, None)
        return {}

    with_steps(world, Doing("persona", do=deleting))
    world.add(OTHER)
    world.tidy(hours=2)
    assert world.sks(names.CHANGE) == []
    assert world.head()["due_at"] <= rfc3339(world.clock() + limits.FOLD_AFTER)
    world.restart()
    settle(world)
    assert_sound(world)


def test_a_second_visit_changes_nothing() -> None:
    world = World()
    world.choose(retention_days=300)
    gone = world.add(TEXT)
    world.add(OTHER, expires_at=world.clock() + timedelta(days=100))
    world.say("We decided to use PostgreSQL.", "我喜欢用 TypeScript", project="atlas")
    world.work_off()
    world.delete(gone.id)
    settle(world)
    before = world.table.everything(), world.objects.everything()
    world.restart()
    world.clock.advance(7200)
    assert world.tidy() == {}
    assert (world.table.everything(), world.objects.everything()) == before


def test_a_foreign_item_is_no_reason_to_stop() -> None:
    world = World()
    world.add(TEXT)
    world.table.write(world.owner, [Put({"sk": names.MEMORY + "x", "what": "ever"})])
    assert (world.tidy(hours=2) or {})["index_built"] == 1
