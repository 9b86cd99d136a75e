"""Imports of our own form: what is taken in, kept, overwritten, forgotten and refused, and what else a file tells."""

from datetime import timedelta
from typing import Any

import pytest

from shared.domain.memory import Category, Memory, Scope, Status
from shared.domain.task import TaskStatus
from shared.keeping.importing.course import Mode
from shared.storage import names
from tests.builders import World, plain
from tests.unit.importing.sending import counted, exported, lines, said, send, taken_in
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_sound, settle

PEANUTS, TEA = "我对花生过敏", "I drink tea."


def lived() -> World:
    """Return a world with memories of every kind, a scene that rests on one, settings, an active project."""
    world = World(extractor=Summing())
    world.add(PEANUTS, category=Category.CONSTRAINT, importance=9, tags=["#健康"], metadata={"from": "doctor"})
    world.add("The password is hunter2Xy!")
    world.add("We deploy on Monday.", scope=Scope.PROJECT, project="atlas", category=Category.DECISION)
    world.add("Tried pytest, it worked.", scope=Scope.AGENT, agent="coder", category=Category.EXPERIENCE)
    world.dismiss(world.add("Not this.").id)
    world.say("Remember: I prefer butter on bread.", project="atlas")
    world.work_off()
    world.now.scenes.change(world.owner, "atlas", {"name": "Atlas 项目", "context": "A map of everything."}, None)
    world.now.scenes.switch(world.owner, "atlas")
    world.choose(time_zone="Asia/Shanghai", max_results=7)
    return world


def another(seed: int = 9, **more: Any) -> World:
    """Return the world of somebody else, a day later."""
    world = World(owner="b" * 52, seed=seed, **more)
    world.clock.advance(days=1)
    return world


def shown(memory: Memory) -> tuple[Any, ...]:
    return (
        *plain([memory])[0][:7],
        memory.created_at,
        memory.updated_at,
        memory.tags,
        memory.metadata,
        memory.expires_at,
        memory.origin.quote,
        memory.origin.at,
    )


def test_what_was_exported_comes_back_whole() -> None:
    world, other = lived(), another()
    before = sorted(shown(memory) for memory in world.memories())
    task = taken_in(other, *exported(world))
    assert (task.status, task.kind, task.report) == (TaskStatus.DONE, "import", None)
    assert counted(task) == {"imported": len(before), "documents": 3}
    assert sorted(shown(memory) for memory in other.memories()) == before
    assert {memory.source.value for memory in other.memories()} == {"imported"}
    assert {memory.origin.task_id for memory in other.memories()} == {task.id}
    assert other.found("花生") == [PEANUTS]
    scene = other.now.scenes.get(other.owner, "atlas")
    assert (scene.scene.name, scene.context, scene.active) == ("Atlas 项目", "A map of everything.", True)
    assert scene.summary == world.now.scenes.get(world.owner, "atlas").summary is not None
    settings = other.now.choices.read(other.owner)
    assert (settings.time_zone, settings.max_results) == ("Asia/Shanghai", 7)
    assert b"/imports/" not in other.objects.everything()
    settle(other)
    assert_sound(other)


def test_what_a_scene_rests_on_is_what_says_the_same_now() -> None:
    world, other = lived(), another()
    taken_in(other, *exported(world))
    (basis,) = other.now.scenes.get(other.owner, "atlas").scene.rests_on
    assert other.get(basis).content == "I prefer butter on bread."
    other.delete(basis)
    assert other.now.scenes.get(other.owner, "atlas").summary is None


def test_a_text_that_rests_on_what_is_not_in_the_file_is_left_out() -> None:
    file = [
        line for line in exported(lived())[0].splitlines(keepends=True) if "butter" not in line or '"scene"' in line
    ]
    other = another()
    taken_in(other, *("".join(line for line in file if '"manifest"' not in line),))
    scene = other.now.scenes.get(other.owner, "atlas")
    assert (scene.summary, scene.context) == (None, "A map of everything.")


def test_merging_keeps_what_stands() -> None:
    world = lived()
    file = exported(world)
    peanuts = next(memory for memory in world.memories() if memory.content == PEANUTS)
    world.edit(peanuts.id, importance=3)
    world.choose(max_results=9)
    world.now.scenes.change(world.owner, "atlas", {"name": "Mine"}, None)
    before = world.memories()
    task = taken_in(world, *file)
    assert counted(task) == {"kept": len(before), "documents": 3}
    assert world.memories() == before
    assert world.now.choices.read(world.owner).max_results == 9
    assert world.now.scenes.get(world.owner, "atlas").scene.name == "Mine"


def test_overwriting_lets_the_file_win_as_a_new_version() -> None:
    world = lived()
    file = exported(world)
    peanuts = next(memory for memory in world.memories() if memory.content == PEANUTS)
    text = next(memory for memory in world.memories() if memory.content == "We deploy on Monday.")
    world.edit(peanuts.id, importance=3, tags=["#else"])
    world.edit(text.id, content="We deploy on Tuesday.")
    world.choose(max_results=9)
    world.now.scenes.change(world.owner, "atlas", {"name": "Mine", "context": None}, None)
    task = taken_in(world, *file, mode=Mode.OVERWRITE)
    assert counted(task) == {"overwritten": 2, "kept": 4, "documents": 3}
    after = world.get(peanuts.id)
    assert (after.importance, after.tags, after.version) == (9, ("#健康",), 3)
    assert world.get(text.id).content == "We deploy on Monday."
    assert world.now.choices.read(world.owner).max_results == 7
    scene = world.now.scenes.get(world.owner, "atlas")
    assert (scene.scene.name, scene.context) == ("Atlas 项目", "A map of everything.")
    assert [one.importance for one in world.now.edits.history(world.owner, peanuts.id)] == [9, 3, 9]
    settle(world)
    assert_sound(world)


def test_replacing_forgets_what_the_file_does_not_hold_and_nothing_made_since() -> None:
    world = lived()
    file = exported(world)
    world.clock.advance(1)
    world.add("Made after the export.")
    task_id = send(world, *file, mode=Mode.REPLACE).task_id
    world.add("Made after the request.")
    world.tidy()
    world.tidy()
    task = world.now.tasks.get(world.owner, task_id)
    assert task.status is TaskStatus.DONE
    assert counted(task) == {"kept": 6, "forgotten": 1, "documents": 3}
    assert "Made after the request." in world.texts()
    assert "Made after the export." not in world.texts()
    assert len(world.texts()) == 7
    assert b"/imports/" not in world.objects.everything()
    settle(world)
    assert_sound(world)


def test_a_file_with_equal_lines_is_taken_in_once() -> None:
    world = World()
    world.add("Tea.")
    task = taken_in(world, lines(*["Tea."] * 30, *["Coffee."] * 10_000))
    assert counted(task) == {"imported": 1, "kept": 10_029}
    assert world.texts() == ["Coffee.", "Tea."]


def test_equal_lines_that_differ_otherwise_overwrite_each_other_in_their_order() -> None:
    world = World()
    task = taken_in(world, lines(*(said("Coffee.", importance=n) for n in range(1, 10))), mode=Mode.OVERWRITE)
    assert counted(task) == {"imported": 1, "overwritten": 8}
    assert [memory.importance for memory in world.memories()] == [9]


def test_what_is_beyond_the_limit_of_active_memories_is_archived() -> None:
    world = World(active=3)
    world.add("Tea.")
    task = taken_in(world, lines("A.", "B.", said("Dismissed.", status="dismissed"), "C.", "D."))
    assert counted(task) == {"imported": 5, "archived": 2}
    assert world.texts(status=Status.ACTIVE) == ["A.", "B.", "Tea."]
    assert world.texts(status=Status.ARCHIVED) == ["C.", "D."]
    assert world.texts(status=Status.DISMISSED) == ["Dismissed."]


def test_a_full_quota_ends_an_import_and_what_is_in_stays() -> None:
    world = World(quota=200_000)
    task = taken_in(world, lines(*(f"Fact number {n} of many, with {n:064x}." for n in range(1_000))))
    assert (task.status, task.error) == (TaskStatus.FAILED, "quota_exceeded")
    assert 0 < counted(task)["imported"] < 1_000
    assert len(world.texts()) == counted(task)["imported"]
    assert b"/imports/" not in world.objects.everything()
    settle(world)
    assert_sound(world)


def test_everything_can_go_to_one_place() -> None:
    world = another()
    file = exported(lived())
    taken_in(world, *file, scope=Scope.PROJECT, project="here")
    assert {(memory.scope, memory.project, memory.agent) for memory in world.memories()} == {
        (Scope.PROJECT, "here", None)
    }


def test_secrets_are_cut_out_anew_whatever_the_file_says() -> None:
    world = World()
    task = taken_in(
        world, lines(said("My password is hunter2Xy!", masked=False, category="knowledge"), "The key is ***")
    )
    assert counted(task) == {"imported": 1, "refused": 1}
    assert task.report == [{"line": 2, "reason": "masked_credential"}]
    (memory,) = world.memories()
    assert (memory.content, memory.category) == ("My password is ***", Category.CREDENTIAL)
    assert world.texts() == ["My password is hunter2Xy!"]


def test_times_are_kept_but_those_of_the_future() -> None:
    world = World()
    past, future = world.clock() - timedelta(days=400), world.clock() + timedelta(days=400)
    told = [said("Old.", created_at=past.isoformat()), said("New.", created_at=future.isoformat())]
    taken_in(world, lines(*told))
    found = {memory.content: memory for memory in world.memories()}
    assert (found["Old."].created_at, found["Old."].updated_at) == (past, past)
    assert found["New."].created_at < world.clock()
    assert [memory.content for memory in world.memories()] == ["New.", "Old."]


def test_an_id_of_the_file_is_never_used_so_that_what_was_deleted_here_may_come_back() -> None:
    world = World()
    memory = world.add(TEA)
    file = exported(world)
    world.delete(memory.id)
    taken_in(world, *file)
    (again,) = world.memories()
    assert (again.content, again.created_at) == (TEA, memory.created_at)
    assert again.id != memory.id
    settle(world)
    assert world.texts() == [TEA]
    assert_sound(world)


def test_what_expired_here_keeps_no_record_out() -> None:
    world = World()
    world.add(TEA, expires_at=world.clock() + timedelta(hours=1))
    world.clock.advance(7200)
    task = taken_in(world, lines(TEA))
    assert counted(task) == {"imported": 1}
    assert world.texts() == [TEA]


def test_what_is_over_by_the_owners_own_retention_is_refused() -> None:
    world = World()
    world.choose(retention_days=30)
    old = (world.clock() - timedelta(days=31)).isoformat()
    task = taken_in(
        world,
        lines(said("A.", importance=99), said("Old.", created_at=old), "New."),
        lines(said("Older.", created_at=old)),
    )
    assert counted(task) == {"imported": 1, "refused": 3}
    assert task.report == [
        {"line": 1, "reason": "invalid", "field": "importance"},
        {"line": 2, "reason": "expired"},
        {"line": 4, "reason": "expired"},
    ]


def test_what_is_over_is_told_of_as_far_as_a_report_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.domain.limits.IMPORT_REPORT", 150)
    monkeypatch.setattr("shared.domain.limits.IMPORT_AT_ONCE", 100)
    world = World()
    world.choose(retention_days=30)
    dated = "".join(f"- [2020-01-01] - likes tea number {n}\n" for n in range(250))
    new = "".join(f"- [2026-11-30] - likes coffee number {n}\n" for n in range(150))
    task = taken_in(world, dated + new, visits=3)
    assert (task.status, counted(task)) == (TaskStatus.DONE, {"imported": 150, "refused": 250})
    assert task.report == [{"line": n, "reason": "expired"} for n in range(1, 151)]


def test_two_imports_at_once_are_both_taken_in() -> None:
    world = World()
    first, second = send(world, lines("A.", "B.")), send(world, lines("B.", "C."))
    world.tidy()
    counts = [counted(world.now.tasks.get(world.owner, one.task_id)) for one in (first, second)]
    assert counts == [{"imported": 2}, {"imported": 1, "kept": 1}]


def test_a_large_import_is_taken_in_visit_by_visit_and_searched_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.domain.limits.IMPORT_AT_ONCE", 200)
    world = World()
    task_id = send(world, lines(*(f"Fact number {n}." for n in range(450)))).task_id
    visits = 0
    while world.now.tasks.get(world.owner, task_id).status is not TaskStatus.DONE:
        world.tidy()
        visits += 1
        assert world.sks(names.CHANGE) == []
        assert len(world.maintenance.messages) >= 1
    assert visits == 3
    assert len(world.texts()) == 450
