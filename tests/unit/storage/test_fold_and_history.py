"""Folded objects: history stays readable, deleted text leaves every object and version, tombstones and settings grow old."""

from contextlib import suppress
from datetime import timedelta
from typing import Any, Literal

import pytest

from shared.domain import limits
from shared.domain.errors import NotFound, SealBroken
from shared.domain.ids import ulid
from shared.storage import bodies, lines, names
from shared.storage.fold import Fold
from shared.storage.items import full_text
from shared.storage.journal import Journal, Record
from shared.storage.repair import Repair
from shared.storage.survey import Survey
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import assert_sound, opened, records, settle, standing

FIRST, SECOND, THIRD = "The deploy day is Monday.", "The deploy day is Friday.", "部署日是周三"


def journal(world: World) -> Journal:
    return Journal(world.objects, opened(world).keys, world.random)


def texts(world: World) -> list[str]:
    """Return every text that the journal holds, in any version of any object."""
    found: list[str] = []
    log = journal(world)
    for listed in log.listing():
        for body in world.objects.versions(listed.key):
            assert body is not None, "a delete marker is left"
            records = log.records(lines.decode(body), listed.first)
            found += [full_text(record.memory()) for record in records if record.kind == lines.MEMORY]
    return sorted(found)


def test_all_versions_are_read_from_folded_objects() -> None:
    world = World()
    memory = world.add(FIRST)
    world.edit(memory.id, content=SECOND)
    world.tidy(hours=2)
    world.edit(memory.id, content=THIRD)
    world.tidy(hours=2)
    assert all(names.FOLDED in name for name in world.stored("journal"))
    assert [version.content for version in world.now.edits.history(world.owner, memory.id)] == [THIRD, SECOND, FIRST]
    reverted = world.now.edits.revert(world.owner, memory.id, 1, None)
    assert (reverted.content, reverted.version) == (FIRST, 4)


def test_a_line_is_folded_when_it_is_an_hour_old_and_not_before() -> None:
    world = World()
    world.add(FIRST)
    world.tidy(hours=0.9)
    assert not any(names.FOLDED in name for name in world.stored("journal"))
    world.tidy(hours=0.2)
    assert all(names.FOLDED in name for name in world.stored("journal"))


def test_folding_changes_nothing_that_a_person_can_see_and_no_version() -> None:
    world = World()
    before = world.add(FIRST)
    world.tidy(hours=2)
    after = world.get(before.id)
    assert (after.version, after.commit, after.updated_at) == (before.version, before.commit, before.updated_at)


def test_many_lines_become_one_object_and_the_next_ones_join_it() -> None:
    world = World()
    for number in range(12):
        world.add(f"Fact number {number}.")
    world.tidy(hours=2)
    assert len(world.stored("journal")) == 1
    world.add("One more fact.")
    world.tidy(hours=2)
    assert len(world.stored("journal")) == 1
    assert len(texts(world)) == 13


def test_history_keeps_twenty_versions_before_the_present_one() -> None:
    world = World()
    memory = world.add("It is version 1.")
    for number in range(2, 26):
        world.edit(memory.id, content=f"It is version {number}.")
    world.tidy(hours=2)
    history = world.now.edits.history(world.owner, memory.id)
    assert [version.version for version in history] == list(range(25, 4, -1))
    assert len(texts(world)) == limits.HISTORY_VERSIONS + 1
    with pytest.raises(NotFound):
        world.now.edits.revert(world.owner, memory.id, 3, None)
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("folded", [False, True], ids=["before it is folded", "after it was folded"])
@pytest.mark.parametrize("learned", [False, True], ids=["by hand", "learned"])
def test_the_text_of_a_deleted_memory_is_in_no_object_and_no_version_of_one(*, folded: bool, learned: bool) -> None:
    world = World()
    world.add("It stays.")
    if learned:
        world.say("I prefer tea.")
        world.work_off()
        memory = next(one for one in world.memories() if "tea" in one.content)
    else:
        memory = world.add("I prefer tea.")
    world.edit(memory.id, content="I prefer green tea.")
    if folded:
        world.tidy(hours=2)
    world.delete(memory.id)
    world.tidy()
    assert texts(world) == ["It stays."]
    assert memory.id not in {record.id for record in records(world) if record.kind == lines.MEMORY}
    world.tidy()
    assert len(world.stored("index")) == 1


def test_the_last_memory_of_a_folded_object_leaves_it_too() -> None:
    """A plan's commit is made before the ids of its memories, in every millisecond: its object must still be looked into."""
    for seed in range(6):
        world = World(seed=seed)
        world.say("I prefer tea.", "We decided to use PostgreSQL.")
        (message,) = world.work.receive()
        world.restart(Steps(at=6, when="before"))
        with pytest.raises(Crash):
            world.deliver(message)
        world.restart()
        world.clock.advance(world.work.visibility.total_seconds() + 5)
        world.work_off()
        world.tidy(hours=2)
        for memory in world.memories():
            world.delete(memory.id)
        world.tidy()
        assert texts(world) == []


@pytest.mark.parametrize("at", range(1, 40))
def test_a_purge_that_died_leaves_no_superseded_version_after_the_next_run(at: int) -> None:
    world = World()
    world.add("It stays.")
    memory = world.add("I prefer tea.")
    world.tidy(hours=2)
    world.delete(memory.id)
    world.restart(Steps(at=at, when="after"))
    try:
        world.tidy()
    except Crash:
        world.restart()
        world.tidy(hours=0.3)
    assert texts(world) == ["It stays."]


def test_the_text_of_a_deleted_memory_leaves_a_plan_whose_task_failed_and_the_retry_learns_the_rest() -> None:
    world = World()
    task_id = world.say("I prefer tea.", "We decided to use PostgreSQL.", "I like TypeScript.")
    (message,) = world.work.receive()
    world.restart(Steps(at=10, when="after"))
    with pytest.raises(Crash):
        world.deliver(message)
    world.restart()
    world.work.messages.clear()
    (memory,) = world.memories()
    world.delete(memory.id)
    world.tidy(hours=1.1)
    assert memory.content not in texts(world)
    world.now.tasks.retry(world.owner, task_id)
    world.work_off()
    assert memory.content not in world.texts()
    assert len(world.memories()) == 2
    settle(world)
    assert_sound(world)


def test_tombstones_are_kept_thirty_days_and_then_dropped_when_folding() -> None:
    world = World()
    world.delete(world.add(FIRST).id)
    world.tidy(hours=2)
    world.add(SECOND)
    world.tidy(hours=24 * 29)
    assert [record.kind for record in records(world)].count(lines.TOMBSTONE) == 1
    world.add(THIRD)
    world.tidy(hours=24 * 2)
    assert [record.kind for record in records(world)].count(lines.TOMBSTONE) == 0
    settle(world)
    assert_sound(world)


def test_superseded_settings_leave_the_journal() -> None:
    world = World()
    for language in ("en", "zh", "en"):
        world.choose(language=language)
        world.tidy(hours=2)
    assert [record.version for record in records(world)] == [3]


@pytest.mark.parametrize(
    "text", ["one\u2028two", "one\u2029two\u0085three", "one\r\ntwo\x0bthree\x1efour", "日本\u3000語🦪"]
)
def test_line_separators_and_any_script_come_back_from_every_form_of_the_journal(text: str) -> None:
    world = World()
    memory = world.add(text)
    world.edit(memory.id, importance=9)
    world.tidy(hours=2)
    assert texts(world) == [text, text]
    world.table.wipe()
    world.restart()
    world.tidy()
    assert world.texts() == [text]


def big(world: World, number: int) -> Record:
    """Return a record of about 10 KB that does not compress."""
    noise = "".join(chr(0x4E00 + byte) for byte in world.random(6_000))
    world.clock.advance(1)
    return Record(
        lines.MEMORY, ulid(world.clock(), world.random), 1, ulid(world.clock(), world.random), {"content": noise}
    )


def test_a_folded_object_keeps_its_limit_and_one_of_half_that_is_never_opened_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert limits.FOLD_BYTES == 4_000_000
    monkeypatch.setattr(limits, "FOLD_BYTES", 400_000)  # a tenth of everything says the same, sooner
    monkeypatch.setattr(limits, "BLOCK_BYTES", 12_800)
    world = World()
    world.add(FIRST)
    log = journal(world)
    survey = Survey()
    fold = Fold(log, survey, world.clock(), world.table)
    made = list(fold._objects([big(world, number) for number in range(60)]))
    assert len(made) > 1
    assert all(len(body) <= limits.FOLD_BYTES for body, _ in made)
    assert sum(len(held) for _, held in made) == 60
    closed = world.objects.put
    key = f"{log.prefix}{made[0][1][0].commit}{names.FOLDED}{made[0][1][-1].commit}"
    closed(key, made[0][0])
    world.tidy(hours=2)
    assert world.objects.versions(key) == [made[0][0]]
    assert len(world.stored("journal")) == 2


def test_a_damaged_object_under_the_name_of_a_new_one_stops_the_fold_and_nothing_is_lost() -> None:
    world = World()
    memory = world.add(FIRST)
    other = world.add(SECOND)
    key = f"o/{world.owner}/1/journal/{memory.commit}{names.FOLDED}{other.commit}"
    world.objects.put(key, b"damaged\n")
    tidied = world.tidy(hours=2)
    assert tidied is not None
    assert (tidied.get("fold_folded", 0), tidied["fold_damaged"] > 0) == (0, True)
    assert len(world.stored("journal")) == 3
    assert world.texts() == [SECOND, FIRST]


def test_an_object_made_by_a_run_that_died_is_joined_not_doubled() -> None:
    world = World()
    for number in range(5):
        world.add(f"Fact number {number}.")
    world.clock.advance(7200)
    stale = World.process(world)
    survey = Repair(stale.commits, opened(world).keys, journal(world), world.clock()).run()
    Fold(journal(world), survey, world.clock(), world.table).fold()
    before = world.stored("journal")
    Fold(journal(world), survey, world.clock(), world.table).fold()
    assert world.stored("journal") == before
    assert len(texts(world)) == 5


def test_a_version_whose_object_is_lost_or_damaged_is_left_out_of_the_history() -> None:
    world = World()
    memory = world.add(FIRST)
    world.edit(memory.id, content=SECOND)
    world.edit(memory.id, content=THIRD)
    first, second, _ = world.stored("journal")
    world.objects.erase(f"o/{world.owner}/1/journal/{first}")
    world.objects.put(f"o/{world.owner}/1/journal/{second}", b"damaged\n")
    assert [version.content for version in world.now.edits.history(world.owner, memory.id)] == [THIRD]


def test_when_a_record_was_written_is_said_by_the_later_of_its_commit_and_its_body() -> None:
    world = World()
    early = ulid(world.clock(), world.random)
    body = {"updated_at": "2026-03-01T09:30:00.000Z"}
    record = Record(lines.MEMORY, early, 1, early, body)
    assert record.written - world.clock() == timedelta(minutes=30)
    assert Record(lines.TOMBSTONE, early, 2, early, {}).written == world.clock()


def test_a_block_that_is_none_is_refused() -> None:
    world = World()
    world.add(FIRST)
    keys = opened(world).keys
    wrong: list[dict[str, Any]] = [{}, {"records": [1]}, {"records": [{"kind": "memory"}]}, {"records": None}]
    for body in wrong:
        sealed = keys.seal(lines.BLOCK, "block", 1, bodies.pack(body), world.random)
        line = lines.Line(lines.BLOCK, "block", 1, keys.generation, sealed)
        with pytest.raises(SealBroken):
            list(journal(world).records([line], "commit"))


def test_what_maintenance_leaves_is_looked_at_again_when_it_is_time() -> None:
    world = World()
    world.add(FIRST)
    assert world.head()["due_at"] == "2026-03-01T09:05:01.000Z"
    world.tidy(hours=0.1)
    assert world.head()["due_at"] == "2026-03-01T10:00:01.000Z"
    world.tidy(hours=2)
    world.tidy()
    assert "due_at" not in world.head()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_deletion_that_died_long_ago_is_finished_and_leaves_no_words_in_the_journal(
    when: Literal["before", "after"],
) -> None:
    def lived() -> tuple[World, str]:
        world = World()
        world.add("The deploy day is Monday.")
        return world, world.add("门禁密码每周五更换").id

    world, memory_id = lived()
    steps = world.restart()
    world.delete(memory_id)
    for at in range(1, steps.count + 1):
        world, memory_id = lived()
        world.restart(Steps(at=at, when=when))
        with suppress(Crash):
            world.delete(memory_id)
        world.restart()
        for _ in range(3):
            world.tidy(hours=2)
        assert texts(world) == sorted(memory.content for memory in standing(world).values()), at
