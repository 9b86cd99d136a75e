"""The faults that fakes can play, and the crash: what other tests rely on."""

import threading
from datetime import UTC, datetime

import pytest

from shared.domain.errors import Busy, Unavailable
from shared.ports import Due, Item, Put, Update
from tests.fakes import Crash, FakeClock, MemoryObjects, MemoryTable, SeededRandom, Steps, crashing

OWNER = "a" * 52
MEMORY: Item = {"sk": "m#1", "owner_status": f"{OWNER}#active", "updated": "1", "due_shard": "due#1", "due_at": "1"}


def test_the_clock_moves_only_when_moved() -> None:
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    assert clock() == clock()
    clock.advance(1.5, days=1)
    assert clock() == datetime(2026, 1, 2, 0, 0, 1, 500_000, tzinfo=UTC)


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, same, other = SeededRandom(1), SeededRandom(1), SeededRandom(2)
    assert one(16) == same(16) != other(16)
    assert 0 <= one.fraction() < 1


def test_lagging_indexes_answer_with_the_past_and_the_table_with_the_present() -> None:
    table = MemoryTable()
    table.write(OWNER, [Put(MEMORY)])
    table.lag()
    table.write(OWNER, [Update("m#1", set={"updated": "2", "due_at": "2"})])
    assert table.by_update(OWNER, "active", limit=9) == ["1"]
    assert table.due(1, before="9", limit=9) == [Due(OWNER, "1", "m#1")]
    assert table.get(OWNER, ["m#1"])["m#1"]["updated"] == "2"
    table.catch_up()
    assert table.by_update(OWNER, "active", limit=9) == ["2"]
    assert table.due(1, before="9", limit=9) == [Due(OWNER, "2", "m#1")]


def test_unprocessed_keys_are_read_in_the_end_or_the_table_is_busy() -> None:
    table = MemoryTable()
    table.write(OWNER, [Put({"sk": f"m#{n}"}) for n in range(9)])
    table.unprocessed = 3
    assert len(table.get(OWNER, [f"m#{n}" for n in range(9)])) == 9
    assert table.unprocessed == 0
    table.unprocessed = 99
    with pytest.raises(Busy):
        table.get(OWNER, [f"m#{n}" for n in range(9)])


def test_contention_writes_nothing() -> None:
    table = MemoryTable()
    table.contention = 1
    with pytest.raises(Busy):
        table.write(OWNER, [Put(MEMORY)])
    assert table.partition(OWNER) == {}
    table.write(OWNER, [Put(MEMORY)])
    assert table.partition(OWNER) == {"m#1": MEMORY}


def test_expiry_removes_only_what_has_a_ttl_in_the_past() -> None:
    table = MemoryTable()
    table.write(OWNER, [Put({"sk": "t#1", "ttl": 9}), Put({"sk": "t#2", "ttl": 10}), Put({"sk": "m#1"})])
    table.expire(10)
    assert list(table.partition(OWNER)) == ["m#1", "t#2"]


def test_a_wiped_table_holds_nothing() -> None:
    table = MemoryTable()
    for owner in (OWNER, "b" * 52):
        table.write(owner, [Put({"sk": "head"})])
    table.wipe(OWNER)
    assert table.owners() == ["b" * 52]
    table.wipe()
    assert table.owners() == []
    assert table.query("b" * 52, "").items == []


def test_what_a_test_changes_in_an_answer_does_not_reach_the_store() -> None:
    table = MemoryTable()
    item: Item = {"sk": "m#1", "n": 1}
    table.write(OWNER, [Put(item)])
    item["n"] = 2
    table.get(OWNER, ["m#1"])["m#1"]["n"] = 3
    table.query(OWNER, "").items[0]["n"] = 4
    table.update(OWNER, Update("m#1", set={"x": 1}))["n"] = 5
    assert table.get(OWNER, ["m#1"])["m#1"]["n"] == 1


def test_everything_stored_can_be_searched_for_what_must_not_be_there() -> None:
    table, objects = MemoryTable(), MemoryObjects()
    table.write(OWNER, [Put({"sk": "m#密码", "text": "hunter2", "raw": b"hunter3", "n": 4711})])
    objects.put("o/hunter4", b"hunter5")
    objects.put("o/hunter4", b"hunter6")
    everything = table.everything() + objects.everything()
    for text in ("密码", "hunter2", "hunter3", "4711", "hunter4", "hunter5", "hunter6"):
        assert text.encode() in everything


@pytest.mark.parametrize(("when", "stored"), [("before", ["a"]), ("after", ["a", "b"])])
def test_a_process_dies_at_its_step_over_all_ports_and_makes_no_call_after(when: str, stored: list[str]) -> None:
    table, objects = MemoryTable(), MemoryObjects()
    steps = Steps(at=3, when="before" if when == "before" else "after")
    dying_table, dying_objects = crashing(table, steps), crashing(objects, steps)
    dying_objects.put("a", b"")
    dying_table.write(OWNER, [Put({"sk": "a"})])
    with pytest.raises(Crash):
        dying_objects.put("b", b"")
    with pytest.raises(Crash):
        dying_table.write(OWNER, [Put({"sk": "c"})])
    assert objects.keys() == stored
    assert list(table.partition(OWNER)) == ["a"]
    assert steps.log == ["MemoryObjects.put", "MemoryTable.write", "MemoryObjects.put"]


def test_no_handler_of_exceptions_survives_a_crash() -> None:
    assert not issubclass(Crash, Exception)


def test_a_step_may_fail_with_an_error_instead_and_the_process_goes_on() -> None:
    table = MemoryTable()
    failing = crashing(table, steps := Steps(at=1, when="after", error=Unavailable))
    with pytest.raises(Unavailable):
        failing.write(OWNER, [Put({"sk": "a"})])
    assert list(failing.get(OWNER, ["a"])) == ["a"]
    assert steps.count == 2


def test_steps_are_counted_over_threads() -> None:
    steps = Steps()
    table = crashing(MemoryTable(), steps)
    threads = [threading.Thread(target=table.get, args=(OWNER, ["a"])) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert steps.count == 20
