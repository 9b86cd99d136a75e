"""What a scene says: by hand within its bounds, learned while its memories stand, sealed at rest."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import Invalid
from shared.storage import scenes
from shared.storage.basis import NOTHING
from tests.builders import World
from tests.unit.keeping.scenes.staging import DECIDED, change, in_project, listed, made, summed
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_sound, records, settle


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


def test_a_learned_summary_is_cut_to_what_a_scene_may_hold_and_masked() -> None:
    told = scenes.summarised(
        "atlas", "密码是 hunter2-Zebra9。" + "的" * 1_000, NOTHING, datetime(2026, 3, 1, tzinfo=UTC), "01A"
    )
    summary = str(told.get(scenes.SUMMARY))
    assert "hunter2" not in summary
    assert limits.SCENE_TEXT_BYTES - 3 < len(summary.encode()) <= limits.SCENE_TEXT_BYTES


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


def test_names_and_texts_are_stored_sealed_only() -> None:
    world = World()
    made(world, "CANARY-project")
    change(world, "CANARY-project", name="CANARY-name", summary="CANARY-summary", context="CANARY-context")
    world.tidy(hours=2)
    stored = repr(world.table.partition(world.owner)).encode() + world.objects.everything()
    assert b"CANARY" not in stored
    assert b"CANARY" not in repr([world.work.messages, world.maintenance.messages]).encode()
