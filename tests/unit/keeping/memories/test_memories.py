"""Single memories: steps, crashes at every step, idempotency, quota, and the rules of fields."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import (
    Busy,
    Duplicate,
    IdempotencyKeyReused,
    IdempotencyKeySpent,
    Invalid,
    NotFound,
    QuotaExceeded,
    TableLost,
    Unavailable,
    VersionMismatch,
)
from shared.domain.memory import Category, Scope
from shared.storage.names import journal as journal_of
from tests.fakes import Crash, Steps
from tests.unit.keeping.world import OWNER, New, World

ACTIONS: dict[str, Callable[[World, str], Any]] = {
    "add": lambda world, _: world.memories.add(OWNER, New("a new fact"), "key-1").memory.content,
    "edit": lambda world, made: world.edits.edit(OWNER, made, {"content": "an edited fact"}, None).content,
    "dismiss": lambda world, made: world.edits.edit(OWNER, made, {"status": "dismissed"}, None).status,
    "delete": lambda world, made: world.edits.delete(OWNER, made, None),
}


@pytest.mark.parametrize(("action", "calls"), [("add", 2), ("edit", 3), ("dismiss", 3), ("delete", 3)])
def test_a_change_takes_as_many_steps_as_budgeted_with_warm_keys(action: str, calls: int) -> None:
    world = World()
    made = world.add("a fact").id
    steps = world.process()
    world.memories.get(OWNER, made)
    before = steps.count
    ACTIONS[action](world, made)
    assert steps.count - before == calls, steps.log[before:]


def test_reveal_takes_two_steps_and_writes_before_it_answers() -> None:
    world = World()
    made = world.add("password: hunter2Xy!").id
    steps = world.process(Steps())
    world.memories.get(OWNER, made)
    before = steps.count
    assert world.auditing.reveal(OWNER, made) == "password: hunter2Xy!"
    assert steps.log[before:] == ["MemoryTable.get", "MemoryTable.write"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("action", ["add", "edit", "dismiss", "delete"])
def test_a_crash_at_any_step_and_a_retry_end_in_the_same_state(action: str, when: Any) -> None:
    expected = World()
    made = expected.add("a fact").id
    steps = expected.process()
    ACTIONS[action](expected, made)
    for at in range(1, steps.count + 1):
        world = World()
        made = world.add("a fact").id
        world.process(Steps(at=at, when=when))
        with pytest.raises(Crash):
            ACTIONS[action](world, made)
        world.process()
        try:
            ACTIONS[action](world, made)
        except NotFound:
            assert action == "delete"
        assert world.stand() == expected.stand(), (at, when)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_any_step_of_an_owners_first_add_and_a_retry_end_in_one_memory(when: Any) -> None:
    expected = World()
    steps = expected.process()
    expected.memories.add(OWNER, New("a new fact"), "key-1")
    for at in range(1, steps.count + 1):
        world = World()
        world.process(Steps(at=at, when=when))
        with pytest.raises(Crash):
            world.memories.add(OWNER, New("a new fact"), "key-1")
        world.process()
        assert world.memories.add(OWNER, New("a new fact"), "key-1").memory.content == "a new fact"
        assert world.stand() == expected.stand(), (at, when)


def test_a_repeated_request_is_answered_with_what_the_first_one_made() -> None:
    world = World()
    first = world.memories.add(OWNER, New("a fact", tags=["#a"]), "key")
    again = world.memories.add(OWNER, New("a fact", tags=["#a"]), "key")
    assert (first.replayed, again.replayed) == (False, True)
    assert again.memory == first.memory
    with pytest.raises(IdempotencyKeyReused):
        world.memories.add(OWNER, New("a fact"), "key")
    with pytest.raises(IdempotencyKeyReused):
        world.memories.add(OWNER, New("a fact", tags=["#a"], expires_at=world.clock() + timedelta(days=1)), "key")
    world.edits.delete(OWNER, first.memory.id, None)
    with pytest.raises(IdempotencyKeySpent):
        world.memories.add(OWNER, New("a fact", tags=["#a"]), "key")


@pytest.mark.case(98)
def test_case_98_an_expired_idempotency_key_counts_as_absent_and_of_many_retries_one_runs() -> None:
    world = World()
    first = world.memories.add(OWNER, New("a fact"), "key").memory
    world.edits.delete(OWNER, first.id, None)
    world.clock.now += limits.IDEMPOTENCY_KEPT
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda _: world.memories.add(OWNER, New("a fact"), "key"), range(8)))
    assert [one.replayed for one in added].count(False) == 1
    assert len({one.memory.id for one in added}) == 1


def test_the_same_idempotency_key_of_two_owners_is_two_keys() -> None:
    world = World()
    mine = world.memories.add(OWNER, New("mine"), "key").memory
    theirs = world.memories.add("b" * 52, New("theirs"), "key")
    assert (theirs.replayed, theirs.memory.content) == (False, "theirs")
    assert mine.id != theirs.memory.id


def test_many_writers_of_one_memory_lose_nothing() -> None:
    world = World()
    made = world.add("a fact").id
    with ThreadPoolExecutor(6) as pool:
        list(
            pool.map(lambda n: patiently(lambda: world.edits.edit(OWNER, made, {"tags": [f"#t{n}"]}, None)), range(12))
        )
    memory = world.memories.get(OWNER, made)
    assert memory.version == 13
    assert len(world.edits.history(OWNER, made)) == 13


def test_of_two_writers_with_the_same_etag_one_is_refused() -> None:
    world = World()
    made = world.add("a fact").id
    world.edits.edit(OWNER, made, {"importance": 9}, frozenset({1}))
    with pytest.raises(VersionMismatch):
        world.edits.edit(OWNER, made, {"importance": 2}, frozenset({1}))
    with pytest.raises(VersionMismatch):
        world.edits.delete(OWNER, made, frozenset({1}))
    assert world.memories.get(OWNER, made).importance == 9


def test_a_full_quota_refuses_writes_with_advice_and_lets_read_and_delete_go_on() -> None:
    world = World(quota=3_000)
    made = world.add("a fact that stays")
    while world.overview.usage(OWNER).used_bytes < 2_300:
        world.add(f"fact {world.clock()}")
    with pytest.raises(QuotaExceeded) as full:
        world.add("x" * 900)
    assert full.value.details is not None
    assert set(full.value.details) == {"used_bytes", "limit_bytes", "suggestion"}
    with pytest.raises(QuotaExceeded):
        world.edits.edit(OWNER, made.id, {"content": "x" * 900}, None)
    assert world.memories.get(OWNER, made.id).content == "a fact that stays"
    world.edits.delete(OWNER, made.id, None)
    assert world.overview.usage(OWNER).memories == len(world.table.query(OWNER, "m#").items)


def test_a_lost_table_refuses_to_write_and_to_read() -> None:
    world = World()
    made = world.add("a fact").id
    world.table.wipe()
    world.process()
    for call in (
        lambda: world.memories.add(OWNER, New("another")),
        lambda: world.memories.get(OWNER, made),
        lambda: world.choices.read(OWNER),
    ):
        with pytest.raises(TableLost):
            call()
    assert world.table.owners() == []


def test_reads_of_who_never_stored_anything_make_nothing() -> None:
    world = World()
    assert world.choices.read(OWNER).version == 0
    assert world.overview.usage(OWNER).used_bytes == 0
    assert world.overview.projects(OWNER, 50, None).projects == []
    assert world.auditing.looks(OWNER, 50, None).entries == []
    for call in (world.memories.get, world.auditing.reveal):
        with pytest.raises(NotFound):
            call(OWNER, "01" + "0" * 24)
    assert world.table.owners() == []
    assert world.objects.keys() == []


def test_a_reveal_that_cannot_be_recorded_shows_nothing() -> None:
    world = World()
    made = world.add("password: hunter2Xy!").id
    world.memories.get(OWNER, made)
    held = world.vaults.warm(OWNER)
    assert held is not None
    world.table.contention = 1
    with pytest.raises(Busy):
        world.auditing.reveal(OWNER, made)
    opened = world.vaults.open
    world.vaults.open = lambda *args, **more: _then(opened(*args, **more), lambda: bump(world))  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        world.auditing.reveal(OWNER, made)


def test_usage_counts_bytes_as_they_are() -> None:
    world = World()
    for n in range(5):
        world.add(f"fact {n}", scope=Scope.PROJECT, project="shop")
    usage = world.overview.usage(OWNER)
    journal = sum(name.size for name in world.objects.names(journal_of(OWNER, 1)))
    assert (usage.memories, usage.active, usage.journal_bytes) == (5, 5, journal)
    assert usage.used_bytes == usage.journal_bytes + usage.table_bytes + usage.index_bytes
    for memory in world.table.query(OWNER, "m#").items:
        world.edits.delete(OWNER, str(memory["sk"])[2:], None)
    assert (world.overview.usage(OWNER).memories, world.overview.usage(OWNER).table_bytes) == (0, 0)


def test_projects_are_listed_while_they_have_memories() -> None:
    world = World()
    made = [
        world.add(f"fact {n}", scope=Scope.PROJECT, project=name) for n, name in enumerate(["商店", "site", "site"])
    ]
    found = []
    cursor = None
    for _ in range(3):
        page = world.overview.projects(OWNER, 1, cursor)
        found += page.projects
        cursor = page.next_cursor
    assert cursor is None
    assert {(p.name, p.memories) for p in found} == {("商店", 1), ("site", 2)}
    assert max(p.last_at for p in found) == made[-1].created_at
    world.edits.delete(OWNER, made[0].id, None)
    assert [p.name for p in world.overview.projects(OWNER, 50, None).projects] == ["site"]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"content": ""}, "content"),
        ({"content": "\u200b \u2060"}, "content"),
        ({"content": "字" * 501}, "content"),
        ({"content": "a" * 1001}, "content"),
        ({"content": "password: ***"}, "content"),
        ({"scope": Scope.PROJECT}, "project"),
        ({"scope": Scope.PROJECT, "project": "default"}, "project"),
        ({"scope": Scope.AGENT}, "agent"),
        ({"project": "shop"}, "project"),
        ({"agent": "research"}, "agent"),
        ({"scope": Scope.AGENT, "agent": "a", "project": "b"}, "project"),
        ({"scope": Scope.PROJECT, "project": "AKIAIOSFODNN7EXAMPL2"}, "project"),
        ({"tags": ["#AKIAIOSFODNN7EXAMPL2"]}, "tags"),
        ({"metadata": {"user_id": "b"}}, "metadata"),
        ({"metadata": {"PK": 1}}, "metadata"),
        ({"metadata": {"note": "x" * 4096}}, "metadata"),
        ({"metadata": {"deep": [{"password": "hunter2Xy!"}]}}, "metadata"),
    ],
)
def test_what_no_memory_may_be_is_refused_by_field_and_nothing_is_stored(wrong: dict[str, Any], field: str) -> None:
    world = World()
    with pytest.raises(Invalid) as refused:
        world.memories.add(OWNER, New(**{"content": "a fact"} | wrong))
    assert isinstance(refused.value.details, list)
    assert [detail["field"] for detail in refused.value.details] == [field]
    assert world.table.owners() == []


def test_the_largest_texts_are_taken() -> None:
    world = World()
    assert len(world.add("字" * 500).content) == 500
    assert len(world.add("a " * 500).content) == 1000


def test_an_end_in_the_past_is_refused() -> None:
    world = World()
    with pytest.raises(Invalid):
        world.memories.add(OWNER, New("a fact", expires_at=world.clock()))


def test_a_memory_whose_time_is_over_keeps_no_other_one_out() -> None:
    world = World()
    made = world.add("a fact", expires_at=world.clock() + timedelta(days=1))
    other = world.add("another fact")
    world.clock.advance(days=2)
    assert world.memories.add(OWNER, New("a fact"), "key").memory.id != made.id
    end = world.clock() + timedelta(days=1)
    world.edits.edit(OWNER, other.id, {"expires_at": end}, None)
    world.clock.advance(days=2)
    third = world.add("a third fact")
    assert world.edits.edit(OWNER, third.id, {"content": "another fact"}, None).version == 2
    assert world.overview.usage(OWNER).memories == 2


def test_one_text_may_stand_once_in_every_scope() -> None:
    world = World()
    world.add("a fact")
    world.add("a fact", scope=Scope.PROJECT, project="shop")
    world.add("a fact", scope=Scope.PROJECT, project="site")
    world.add("a fact", scope=Scope.AGENT, agent="shop")
    with pytest.raises(Duplicate):
        world.add("a  fact", category=Category.DECISION)


def test_settings_are_changed_by_name_and_version() -> None:
    world = World()
    first = world.choices.change(OWNER, {"auto_capture": True, "custom_keywords": {"zh": ["选型"]}}, frozenset({0}))
    assert (first.version, first.auto_capture, first.custom_keywords) == (1, True, {"zh": ["选型"], "en": []})
    second = world.choices.change(OWNER, {"custom_keywords": {"en": ["pick"]}}, None)
    assert second.custom_keywords == {"zh": ["选型"], "en": ["pick"]}
    assert world.choices.change(OWNER, {"auto_capture": True}, None).version == 2
    with pytest.raises(VersionMismatch):
        world.choices.change(OWNER, {"enabled": False}, frozenset({1}))
    assert world.choices.read(OWNER) == second


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_any_step_of_a_change_of_settings_and_a_retry_end_in_one_version(when: Any) -> None:
    expected = World()
    expected.add("a fact")
    steps = expected.process()
    expected.choices.change(OWNER, {"enabled": False}, None)
    for at in range(1, steps.count + 1):
        world = World()
        world.add("a fact")
        world.process(Steps(at=at, when=when))
        with pytest.raises(Crash):
            world.choices.change(OWNER, {"enabled": False}, None)
        world.process()
        assert world.choices.change(OWNER, {"enabled": False}, None).version == 1
        assert world.stand() == expected.stand()


def patiently(call: Callable[[], Any]) -> Any:
    """Do what a client does that is told to try again."""
    for _ in range(50):
        try:
            return call()
        except Busy:
            continue
    raise AssertionError("busy for ever")


def bump(world: World) -> None:
    """Move the owner's key generation on, as a rotation would."""
    head = world.table.partition(OWNER)["head"]
    world.table._store(OWNER, head | {"gen": int(head["gen"]) + 1})


def _then(value: Any, act: Callable[[], None]) -> Any:
    act()
    return value
