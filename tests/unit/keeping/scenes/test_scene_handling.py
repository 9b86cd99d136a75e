"""Scenes as their owner handles them: names of any script, one active project, twenty at most, texts that fall with their memories."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import Invalid, NacreError, NotFound, NotPossibleNow, QuotaExceeded, VersionMismatch
from shared.domain.memory import Scope
from shared.domain.naming import ACTIVE_PROJECT
from shared.keeping.scenes.scenes import Seen, Which
from shared.ports import Update
from shared.recall.context import Moment
from shared.recall.search import Question
from shared.storage import names, scenes
from shared.storage.basis import NOTHING
from tests.builders import Draft, World
from tests.fakes import Steps
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_sound, died, opened, rebuilt, records, settle
from tests.unit.storage.test_writers_at_once import at_once

NAMES = ["a/b", "项目一", "🦊 fox", "%2F", "..", "two words", "x" * 128, "Почему?", "#1"]
DECIDED = "We decided to use Redis for the cache."


def switch(world: World, project: str | None) -> tuple[Seen | None, bool]:
    world.clock.advance(1)
    return world.now.scenes.switch(world.owner, project)


def made(world: World, project: str) -> Seen:
    seen, _ = switch(world, project)
    assert seen is not None
    return seen


def change(world: World, project: str, etags: frozenset[str] | None = None, **sent: Any) -> Seen:
    world.clock.advance(1)
    return world.now.scenes.change(world.owner, project, sent, etags)


def listed(world: World, which: Which = Which.ACTIVE) -> dict[str, Seen]:
    page = world.now.scenes.page(world.owner, which, 200, None)
    assert (page.next_cursor, page.damaged) == (None, 0)
    return {seen.scene.project: seen for seen in page.scenes}


def in_project(world: World, text: str, project: str = "atlas") -> str:
    return world.add(text, scope=Scope.PROJECT, project=project).id


def active(world: World) -> str | None:
    return scenes.active_project(world.process().vaults.open(world.owner, [names.ACTIVE]))


def summed(world: World, text: str = DECIDED, project: str | None = "atlas") -> None:
    world.say(text, project=project)
    world.work_off()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_any_script_makes_one_scene_and_is_found_again(name: str) -> None:
    world = World()
    seen, new = switch(world, name)
    assert (seen and seen.scene.project, new) == (name, True)
    seen, new = switch(world, name)
    assert (seen and seen.scene.name, new) == (name, False)
    in_project(world, "It is there.", name)
    assert world.now.scenes.get(world.owner, name).scene.memories == 1
    assert list(listed(world)) == [name]
    settle(world)
    assert_sound(world)


def test_names_that_a_slug_would_make_one_are_two_scenes() -> None:
    world = World()
    for name in ("นโยบาย", "ตารางก", "a b", "a-b", "A-B"):
        made(world, name)
    assert len(listed(world)) == 5


def test_a_scene_is_there_as_soon_as_a_memory_of_its_project_is() -> None:
    world = World()
    memory_id = in_project(world, "Deploys need two reviewers.")
    seen = world.now.scenes.get(world.owner, "atlas")
    assert (seen.scene.memories, seen.memory_ids, seen.summary, seen.active) == (1, (memory_id,), None, False)
    world.delete(memory_id)
    with pytest.raises(NotFound):
        world.now.scenes.get(world.owner, "atlas")


@pytest.mark.parametrize("project", ["default", "nothing of this name"])
def test_what_is_no_scene_is_not_found(project: str) -> None:
    world = World()
    for deed in (world.now.scenes.get, lambda owner, one: world.now.scenes.change(owner, one, {"name": "x"}, None)):
        with pytest.raises(NotFound):
            deed(world.owner, project)
    assert world.table.partition(world.owner) == {}
    world.add("The owner exists now.")
    with pytest.raises(NotFound):
        world.now.scenes.get(world.owner, project)


def test_one_project_is_active_until_another_is_or_none() -> None:
    world = World()
    made(world, "atlas")
    made(world, "borealis")
    assert {name: seen.active for name, seen in listed(world).items()} == {"atlas": False, "borealis": True}
    assert switch(world, "default") == (None, False)
    assert not any(seen.active for seen in listed(world).values())
    assert active(world) is None


def test_who_never_stored_anything_has_no_project_to_switch_off() -> None:
    world = World()
    assert switch(world, None) == (None, False)
    assert world.table.partition(world.owner) == {}


def test_a_scene_is_switched_to_by_its_shown_name_when_only_it_has_that() -> None:
    world = World()
    made(world, "atlas")
    made(world, "borealis")
    change(world, "atlas", name="商城后端")
    seen, new = switch(world, "商城后端")
    assert (seen and seen.scene.project, new) == ("atlas", False)
    change(world, "borealis", name="商城后端")
    with pytest.raises(Invalid):
        switch(world, "商城后端")
    change(world, "borealis", name="atlas")
    assert made(world, "atlas").scene.name == "商城后端"


def test_a_rename_keeps_the_key_and_null_takes_it_back() -> None:
    world = World()
    memory_id = in_project(world, "Deploys need two reviewers.")
    seen = change(world, "atlas", name="Das Kartenprojekt")
    assert (seen.scene.project, seen.scene.name, seen.memory_ids) == ("atlas", "Das Kartenprojekt", (memory_id,))
    assert change(world, "atlas", name=None).scene.name == "atlas"


@pytest.mark.parametrize("name", ["default", "*"])
def test_no_scene_is_shown_under_the_words_for_none_and_for_all(name: str) -> None:
    world = World()
    made(world, "atlas")
    with pytest.raises(Invalid, match="valid"):
        change(world, "atlas", name=name)
    assert world.now.scenes.get(world.owner, "atlas").scene.name == "atlas"


def test_an_etag_of_before_is_refused_and_what_changes_nothing_makes_no_new_one() -> None:
    world = World()
    in_project(world, "Deploys need two reviewers.")
    first = change(world, "atlas", frozenset({""}), name="one").scene.document.latest
    assert change(world, "atlas", name="one").scene.document.latest == first
    change(world, "atlas", frozenset({first}), name="two")
    with pytest.raises(VersionMismatch):
        change(world, "atlas", frozenset({first}), name="three")
    assert world.now.scenes.get(world.owner, "atlas").scene.name == "two"


@pytest.mark.parametrize("field", ["summary", "context"])
def test_a_text_by_hand_has_two_kilobytes_and_no_secret(field: str) -> None:
    world = World()
    made(world, "atlas")
    fits, too_long = "的" * 682 + "ab", "的" * 683

    def by_hand(text: str | None) -> str | None:
        sent: dict[str, Any] = {field: text}
        written: str | None = getattr(change(world, "atlas", **sent), field)
        return written

    assert by_hand(fits) == fits
    with pytest.raises(Invalid):
        by_hand(too_long)
    assert getattr(world.now.scenes.get(world.owner, "atlas"), field) == fits
    assert by_hand("数据库密码: hunter2-Zebra9") == "数据库密码: ***"
    assert by_hand(None) is None


@pytest.mark.parametrize("deed", [switch, lambda world, name: change(world, "atlas", name=name)])
def test_a_name_that_holds_a_credential_is_refused(deed: Any) -> None:
    world = World()
    made(world, "atlas")
    with pytest.raises(Invalid):
        deed(world, "password: hunter2-Zebra9")
    assert list(listed(world)) == ["atlas"]


def test_a_learned_summary_is_cut_to_what_a_scene_may_hold_and_masked() -> None:
    told = scenes.summarised(
        "atlas", "密码是 hunter2-Zebra9。" + "的" * 1_000, NOTHING, datetime(2026, 3, 1, tzinfo=UTC), "01A"
    )
    summary = str(told.get(scenes.SUMMARY))
    assert "hunter2" not in summary
    assert limits.SCENE_TEXT_BYTES - 3 < len(summary.encode()) <= limits.SCENE_TEXT_BYTES


# What is meant where no project is named.


def test_an_omitted_project_is_the_active_one_for_conversations_and_searches() -> None:
    world = World()
    in_project(world, "The deploy day is Monday.")
    assert world.found("deploy", project=ACTIVE_PROJECT) == []
    made(world, "atlas")
    assert world.found("deploy", project=ACTIVE_PROJECT) == ["The deploy day is Monday."]
    assert world.found("deploy", project=None) == []
    assert world.found("deploy", project="default") == []
    world.say(DECIDED, project=ACTIVE_PROJECT)
    world.work_off()
    assert {memory.project for memory in world.memories()} == {"atlas"}
    world.say("I decided to drink green tea.", project=None)
    world.work_off()
    assert {memory.project for memory in world.memories()} == {"atlas", None}


def test_the_active_project_costs_a_search_no_step() -> None:
    world = World()
    in_project(world, "The deploy day is Monday.")
    made(world, "atlas")
    calls = []
    for project in ("atlas", ACTIVE_PROJECT):
        steps = world.warm()
        assert world.now.searcher.search(world.owner, Question("deploy", project=project)).hits
        calls.append(sorted(steps.log))
    assert calls[0] == calls[1]


def test_an_active_project_that_does_not_open_is_none() -> None:
    world = World()
    made(world, "atlas")
    world.table.write(world.owner, [Update(names.ACTIVE, set={"document": b"tampered"})])
    assert active(world) is None
    assert not listed(world)["atlas"].active


# What texts rest on.


@pytest.mark.parametrize("taking", [World.delete, World.dismiss])
def test_a_summary_is_hidden_at_once_when_a_memory_it_rests_on_is_taken_away(taking: Any) -> None:
    world = World(extractor=Summing())
    summed(world)
    (memory,) = world.memories()
    in_project(world, "Another memory keeps the project.")
    assert listed(world)["atlas"].summary == f"It was about: {DECIDED}"
    taking(world, memory.id)
    assert listed(world)["atlas"].summary is None
    assert world.now.scenes.get(world.owner, "atlas").summary is None
    (project,) = world.now.overview.projects(world.owner, limit=9, cursor=None).projects
    assert project.summary is None
    world.tidy(hours=2)
    world.tidy(hours=2)
    assert "Redis" not in str([record.body for record in records(world) if record.kind == "scene"])
    settle(world)
    assert_sound(world)


def test_a_dismissed_memory_that_comes_back_before_maintenance_brings_its_summary_back() -> None:
    world = World(extractor=Summing())
    summed(world)
    (memory,) = world.memories()
    world.dismiss(memory.id)
    world.restore(memory.id)
    assert listed(world)["atlas"].summary is not None


def test_a_summary_ends_with_the_time_of_its_memories() -> None:
    world = World(extractor=Summing())
    summed(world)
    (memory,) = world.memories()
    world.edit(memory.id, expires_at=world.clock() + timedelta(hours=1))
    world.clock.advance(3_601)
    assert listed(world)["atlas"].summary is None
    world = World(extractor=Summing())
    summed(world)
    world.choose(retention_days=3)
    world.clock.advance(days=3)
    assert listed(world)["atlas"].summary is None


def test_what_a_person_wrote_rests_on_no_memory() -> None:
    world = World(extractor=Summing())
    summed(world)
    (memory,) = world.memories()
    change(world, "atlas", summary="By hand.")
    world.delete(memory.id)
    assert listed(world)["atlas"].summary == "By hand."


# Twenty scenes.


def test_the_coldest_scene_makes_room_and_comes_back_by_use() -> None:
    world = World()
    for number in range(limits.SCENES):
        made(world, f"p{number}")
    in_project(world, "It is used again.", "p0")
    made(world, "one more")
    assert list(listed(world, Which.ARCHIVED)) == ["p1"]
    assert len(listed(world)) == limits.SCENES
    in_project(world, "A memory of an archived scene.", "p1")
    assert "p1" in listed(world)
    world.tidy()
    assert list(listed(world, Which.ARCHIVED)) == ["p2"]
    made(world, "p2")
    assert list(listed(world, Which.ARCHIVED)) == ["p3"]
    before = {which: sorted(listed(world, which)) for which in Which}
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert {which: sorted(listed(world, which)) for which in Which} == before


def test_the_active_scene_is_never_archived_however_cold_it_is() -> None:
    world = World()
    made(world, "atlas")
    for number in range(limits.SCENES + 2):
        in_project(world, f"Fact {number}.", f"p{number}")
    world.tidy()
    assert sorted(listed(world, Which.ARCHIVED)) == ["p0", "p1", "p2"]
    with pytest.raises(NotPossibleNow):
        change(world, "atlas", archived=True)
    world.tidy()
    assert len(listed(world)) == limits.SCENES


def test_memories_of_an_archived_scene_are_found() -> None:
    world = World()
    in_project(world, "The deploy day is Monday.")
    change(world, "atlas", archived=True)
    assert (list(listed(world)), list(listed(world, Which.ARCHIVED))) == ([], ["atlas"])
    assert world.found("deploy", project="atlas") == ["The deploy day is Monday."]
    change(world, "atlas", name="still archived")
    assert list(listed(world, Which.ALL)) == list(listed(world, Which.ARCHIVED)) == ["atlas"]
    change(world, "atlas", archived=False)
    assert list(listed(world)) == ["atlas"]


def test_an_archived_scene_is_told_where_its_project_is_named() -> None:
    world = World()
    made(world, "atlas")
    change(world, "atlas", summary="Written by hand.")
    moment = Moment("How do we deploy?", project=ACTIVE_PROJECT)
    assert "Written by hand." in world.now.contexts.context(world.owner, moment).text
    switch(world, None)
    change(world, "atlas", archived=True)
    assert "Written by hand." not in world.now.contexts.context(world.owner, moment).text
    named = Moment("How do we deploy?", project="atlas")
    assert "Written by hand." in world.now.contexts.context(world.owner, named).text


def test_a_conversation_that_sums_an_archived_scene_up_brings_it_back() -> None:
    world = World(extractor=Summing())
    summed(world)
    change(world, "atlas", archived=True)
    summed(world, "Nothing that a rule would find.")
    assert list(listed(world)) == ["atlas"]


# Lists and memory ids.


def test_a_scene_shows_the_newest_five_hundred_memories_that_stand_and_is_right_at_once() -> None:
    world = World()
    ids = [in_project(world, f"Fact number {number}.") for number in range(5)]
    in_project(world, "Of another project.", "borealis")
    world.dismiss(ids[1])
    world.delete(ids[3])
    expiring = world.add(
        "Soon over.", scope=Scope.PROJECT, project="atlas", expires_at=world.clock() + timedelta(hours=1)
    )
    assert world.now.scenes.get(world.owner, "atlas").memory_ids == (expiring.id, ids[4], ids[2], ids[0])
    world.clock.advance(3_601)
    seen = world.now.scenes.get(world.owner, "atlas")
    assert (seen.memory_ids, seen.scene.memories) == ((ids[4], ids[2], ids[0]), 5)


def test_no_more_than_the_newest_ids_are_shown() -> None:
    world = World()
    ids = [in_project(world, f"Fact number {number}.") for number in range(limits.SCENE_MEMORIES + 2)]
    assert world.now.scenes.get(world.owner, "atlas").memory_ids == tuple(reversed(ids[2:]))


def test_pages_of_scenes_hold_each_once_and_cursors_fit_their_list_only() -> None:
    world = World()
    for number in range(5):
        made(world, f"p{number}")
    found: list[str] = []
    cursor = None
    while True:
        page = world.now.scenes.page(world.owner, Which.ALL, 2, cursor)
        found += [seen.scene.project for seen in page.scenes]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(found) == [f"p{number}" for number in range(5)]
    first = world.now.scenes.page(world.owner, Which.ALL, 2, None).next_cursor
    with pytest.raises(Invalid):
        world.now.scenes.page(world.owner, Which.ARCHIVED, 2, first)
    with pytest.raises(Invalid):
        World().now.scenes.page("b" * 52, Which.ALL, 2, first)


def test_a_scene_that_does_not_open_is_counted_and_the_others_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    world = World()
    made(world, "atlas")
    made(world, "borealis")
    sk = scenes.sk_of(opened(world).keys, "atlas")
    world.table.write(world.owner, [Update(sk, set={"document": b"tampered"})])
    page = world.now.scenes.page(world.owner, Which.ALL, 50, None)
    assert ([seen.scene.project for seen in page.scenes], page.damaged) == (["borealis"], 1)


def test_names_and_texts_are_stored_sealed_only() -> None:
    world = World()
    made(world, "CANARY-project")
    change(world, "CANARY-project", name="CANARY-name", summary="CANARY-summary", context="CANARY-context")
    world.tidy(hours=2)
    stored = repr(world.table.partition(world.owner)).encode() + world.objects.everything()
    assert b"CANARY" not in stored
    assert b"CANARY" not in repr([world.work.messages, world.maintenance.messages]).encode()


def test_a_full_memory_takes_no_new_scene() -> None:
    world = World(quota=500)
    made(world, "atlas")
    with pytest.raises(QuotaExceeded):
        made(world, "borealis")
    assert list(listed(world)) == ["atlas"]


def test_a_rebuild_gives_the_same_scenes() -> None:
    world = World(extractor=Summing())
    summed(world)
    in_project(world, "Deploys need two reviewers.", "borealis")
    change(world, "borealis", name="Nordlicht", context="By hand.", archived=True)
    made(world, "empty one")
    made(world, "atlas")
    settle(world)
    before = listed(world, Which.ALL)
    rebuilt(world)
    assert listed(world, Which.ALL) == before
    assert active(world) == "atlas"


# Whoever dies, and whoever else is at it.


def begun() -> World:
    """Return a world with as many scenes as there may be, the coldest of which a switch will archive."""
    world = World()
    for number in range(limits.SCENES):
        in_project(world, f"Fact {number}.", f"p{number}")
    made(world, "p0")
    world.tidy(hours=2)
    return world


def test_dying_at_any_step_of_a_switch_loses_nothing_and_asking_again_does_it() -> None:
    world = begun()
    steps = world.restart()
    made(world, "new one")
    assert steps.count > 10
    for at in range(1, steps.count + 1):
        world = begun()
        assert died(world, Steps(at=at, when="after"), partial(switch, world, "new one"))
        assert active(world) in {"p0", "new one"}
        left = set(listed(world, Which.ALL))
        assert left - {"new one"} == {f"p{number}" for number in range(limits.SCENES)}
        assert active(world) in left
        assert made(world, "new one").active
        settle(world)
        assert_sound(world)
        assert list(listed(world, Which.ARCHIVED)) == ["p1"]


def test_many_switches_at_once_leave_one_active_scene_of_those_asked_for() -> None:
    world = World()
    asked = ["atlas", "borealis", "atlas", "cygnus", "atlas", "borealis"]
    answers = at_once(world, lambda process, number: process.scenes.switch(world.owner, asked[number]), len(asked))
    assert all(isinstance(one, NacreError) for one in answers if isinstance(one, Exception)), answers
    news = [seen.scene.project for seen, new in (one for one in answers if not isinstance(one, Exception)) if new]
    assert len(news) == len(set(news))
    assert set(listed(world)) >= {
        seen.scene.project for seen, _ in (a for a in answers if not isinstance(a, Exception))
    }
    assert active(world) in listed(world)
    settle(world)
    assert_sound(world)


def test_twenty_five_scenes_made_at_once_are_twenty_after_the_next_maintenance() -> None:
    world = World()
    world.add("The first of them.")

    def deed(process: Any, number: int) -> Any:
        draft = Draft(f"Fact {number}.", scope=Scope.PROJECT, project=f"p{number}")
        return process.memories.add(world.owner, draft)

    answers = at_once(world, deed, limits.SCENES + 5)
    assert not [one for one in answers if isinstance(one, Exception)]
    assert len(listed(world)) == limits.SCENES + 5
    world.tidy()
    assert (len(listed(world)), len(listed(world, Which.ARCHIVED))) == (limits.SCENES, 5)
