"""What every table must do: the fake and DynamoDB's adapter under one suite."""

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from shared.domain.errors import Refused
from shared.ports import Check, Condition, Delete, Due, Item, Put, Table, Update, Write

OWNER, OTHER = "a" * 52, "b" * 52
ITEM: Item = {"sk": "m#1", "version": 3, "status": "active", "sealed": b"\x00\xff", "ttl": 100}


def stored(table: Table, sk: str = "m#1", owner: str = OWNER) -> Item | None:
    return table.get(owner, [sk]).get(sk)


def refused(table: Table, *writes: Write) -> Mapping[int, Mapping[str, Any] | None]:
    with pytest.raises(Refused) as caught:
        table.write(OWNER, writes)
    return caught.value.items


def test_an_item_comes_back_with_text_numbers_and_bytes_as_they_were(table: Table) -> None:
    item: Item = {
        "sk": "m#1",
        "text": "a\u2028b\u2029c\x85d 中文",
        "zero": 0,
        "minus": -7,
        "big": 10**30,
        "raw": bytes(range(256)),
    }
    table.write(OWNER, [Put(item)])
    assert stored(table) == item


def test_empty_text_and_empty_bytes_are_kept(table: Table) -> None:
    table.write(OWNER, [Put({"sk": "m#1", "text": "", "raw": b""})])
    assert stored(table) == {"sk": "m#1", "text": "", "raw": b""}


def test_attribute_names_that_are_reserved_words_do_no_harm(table: Table) -> None:
    table.write(OWNER, [Put({"sk": "m#1", "status": "a", "size": 1, "name": "n"})])
    changed = table.update(
        OWNER, Update("m#1", set={"status": "b"}, add={"size": 1}, condition=Condition(equals={"name": "n"}))
    )
    assert changed == {"sk": "m#1", "status": "b", "size": 2, "name": "n"}


def test_owners_do_not_see_each_other(table: Table) -> None:
    table.write(OWNER, [Put(ITEM)])
    assert stored(table, owner=OTHER) is None
    assert table.query(OTHER, "").items == []
    table.write(OTHER, [Delete("m#1")])
    assert stored(table) == ITEM


def test_only_existing_items_are_returned_and_a_key_asked_twice_is_read_once(table: Table) -> None:
    table.write(OWNER, [Put(ITEM)])
    assert table.get(OWNER, ["m#1", "m#2", "m#1"]) == {"m#1": ITEM}
    assert table.get(OWNER, []) == {}


def test_more_than_a_hundred_keys_are_all_read(table: Table) -> None:
    for start in range(0, 250, 50):
        table.write(OWNER, [Put({"sk": f"m#{n:03d}", "n": n}) for n in range(start, start + 50)])
    found = table.get(OWNER, [f"m#{n:03d}" for n in range(260)])
    assert [found[f"m#{n:03d}"]["n"] for n in range(250)] == list(range(250))
    assert len(found) == 250


HOLDS = [
    Condition(exists=True),
    Condition(equals={"version": 3}),
    Condition(equals={"version": 3, "status": "active", "gone": None}),
    Condition(equals={"sealed": b"\x00\xff"}),
    Condition(at_most={"version": 3}),
    Condition(at_most={"version": 4}, exists=True),
    Condition(absent_or_expired=100),
    Condition(absent_or_expired=101, equals={"version": 3}),
    Condition(),
]
FAILS = [
    Condition(absent=True),
    Condition(equals={"version": 2}),
    Condition(equals={"version": "3"}),
    Condition(equals={"version": 3, "status": None}),
    Condition(equals={"missing": 1}),
    Condition(at_most={"version": 2}),
    Condition(at_most={"missing": 9}),
    Condition(absent_or_expired=99),
    Condition(exists=True, equals={"version": 4}),
    Condition(absent_or_expired=100, equals={"version": 4}),
]


@pytest.mark.parametrize("condition", HOLDS, ids=repr)
def test_a_condition_that_holds_lets_every_kind_of_write_happen(table: Table, condition: Condition) -> None:
    table.write(OWNER, [Put(ITEM)])
    if condition != Condition():
        table.write(OWNER, [Check("m#1", condition)])
    table.write(OWNER, [Update("m#1", set={"seen": 1}, condition=condition)])
    table.write(OWNER, [Put({**ITEM, "new": 1}, condition)])
    assert stored(table) == {**ITEM, "new": 1}
    table.write(OWNER, [Delete("m#1", condition)])
    assert stored(table) is None


@pytest.mark.parametrize("condition", FAILS, ids=repr)
def test_a_condition_that_fails_stops_every_kind_of_write_and_shows_what_stood_there(
    table: Table, condition: Condition
) -> None:
    table.write(OWNER, [Put(ITEM)])
    writes: list[Write] = [
        Put({"sk": "m#1"}, condition),
        Update("m#1", set={"seen": 1}, condition=condition),
        Delete("m#1", condition),
        Check("m#1", condition),
    ]
    for write in writes:
        assert refused(table, write) == {0: ITEM}
        assert refused(table, Put({"sk": "z"}), write) == {1: ITEM}
    with pytest.raises(Refused):
        table.update(OWNER, Update("m#1", set={"seen": 1}, condition=condition))
    assert stored(table) == ITEM
    assert stored(table, "z") is None


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Condition(absent=True), True),
        (Condition(equals={"version": None}), True),
        (Condition(absent_or_expired=1), True),
        (Condition(exists=True), False),
        (Condition(equals={"version": 1}), False),
        (Condition(at_most={"version": 1}), False),
    ],
    ids=repr,
)
def test_conditions_on_an_item_that_is_not_there(table: Table, condition: Condition, holds: bool) -> None:
    if holds:
        table.write(OWNER, [Check("m#1", condition), Put({"sk": "z"})])
        table.write(OWNER, [Put({"sk": "m#1"}, condition)])
        assert stored(table) == {"sk": "m#1"}
    else:
        assert refused(table, Put({"sk": "m#1"}, condition)) == {0: None}
        assert refused(table, Check("m#1", condition), Put({"sk": "z"})) == {0: None}
        assert table.query(OWNER, "").items == []


def test_an_item_without_ttl_does_not_count_as_expired(table: Table) -> None:
    table.write(OWNER, [Put({"sk": "m#1"})])
    assert refused(table, Put({"sk": "m#1", "new": 1}, Condition(absent_or_expired=10**12))) == {0: {"sk": "m#1"}}


def test_a_transaction_is_done_whole_or_not_at_all(table: Table) -> None:
    guard: Item = {"sk": "guard", "memories": 1}
    table.write(OWNER, [Put(ITEM), Put({"sk": "head", "memories": 1}), Put(guard)])
    late = Condition(equals={"version": 2})
    writes: list[Write] = [
        Update("head", add={"memories": -1}),
        Put({"sk": "d#x"}, Condition(absent=True)),
        Delete("m#1", late),
        Check("guard", Condition(equals={"memories": 9})),
    ]
    assert refused(table, *writes) == {2: ITEM, 3: guard}
    assert stored(table, "head") == {"sk": "head", "memories": 1}
    assert stored(table, "d#x") is None
    assert stored(table) == ITEM


def test_an_update_sets_once_adds_and_removes(table: Table) -> None:
    change = Update("u", set={"a": "x"}, set_once={"b": 1}, add={"n": 5}, remove=["gone"])
    assert table.update(OWNER, change) == {"sk": "u", "a": "x", "b": 1, "n": 5}
    again = Update("u", set={"a": b"y"}, set_once={"b": 2, "c": 3}, add={"n": -7}, remove=["a2"])
    assert table.update(OWNER, again) == {"sk": "u", "a": b"y", "b": 1, "c": 3, "n": -2}
    assert table.update(OWNER, Update("u", remove=["a", "c"])) == {"sk": "u", "b": 1, "n": -2}


def test_an_update_with_a_condition_makes_no_item(table: Table) -> None:
    assert refused(table, Update("u", add={"n": 1}, condition=Condition(exists=True))) == {0: None}
    assert stored(table, "u") is None


def test_deleting_what_is_not_there_is_fine(table: Table) -> None:
    table.write(OWNER, [Delete("nothing")])
    table.write(OWNER, [Delete("nothing"), Put({"sk": "z"})])
    table.write(OWNER, [])
    assert table.query(OWNER, "").items == [{"sk": "z"}]


@pytest.mark.parametrize(
    "writes",
    [
        [Put({"sk": "a"}), Delete("a")],
        [Put({"sk": f"a{n}"}) for n in range(101)],
        [Put({"sk": "a", "sealed": bytes(400 * 1024)})],
        [Put({"sk": f"a{n}", "sealed": bytes(390_000)}) for n in range(11)],
        [Update("a")],
        [Update("a", set={"n": 1}, add={"n": 1})],
        [Update("a", set={"sk": "b"})],
        [Put({"sk": ""})],
        [Check("a", Condition())],
    ],
    ids=[
        "same item twice",
        "101 writes",
        "400 KB",
        "over 4 MB",
        "no change",
        "attribute twice",
        "sort key",
        "no key",
        "empty check",
    ],
)
def test_what_dynamodb_would_never_take_fails_before_the_call(table: Table, writes: list[Write]) -> None:
    with pytest.raises(ValueError, match=r"^(two|an?|\d+) [\w ;:.,]+$"):
        table.write(OWNER, writes)
    assert table.query(OWNER, "").items == []


def fill(table: Table, *sks: str) -> None:
    for sk in sks:
        table.write(OWNER, [Put({"sk": sk})])


def keys(items: list[Item]) -> list[str]:
    return [str(item["sk"]) for item in items]


def test_a_query_gives_the_prefix_in_key_order_both_ways(table: Table) -> None:
    fill(table, "m#2", "m#1", "head", "head#1", "n#1", "m", "m#é", "m#z")
    assert keys(table.query(OWNER, "m#").items) == ["m#1", "m#2", "m#z", "m#é"]
    assert keys(table.query(OWNER, "m#", descending=True).items) == ["m#é", "m#z", "m#2", "m#1"]
    assert keys(table.query(OWNER, "head", descending=True).items) == ["head#1", "head"]
    assert keys(table.query(OWNER, "").items) == ["head", "head#1", "m", "m#1", "m#2", "m#z", "m#é", "n#1"]
    assert table.query(OWNER, "x").items == []


@pytest.mark.parametrize("descending", [False, True])
def test_pages_join_to_the_whole_list_at_every_limit(table: Table, descending: bool) -> None:
    names = [f"m#{n}" for n in range(7)]
    fill(table, "l", *names, "n")
    for limit in range(1, 9):
        seen: list[str] = []
        after = None
        while True:
            page = table.query(OWNER, "m#", after=after, limit=limit, descending=descending)
            assert len(page.items) <= limit
            seen += keys(page.items)
            after = page.after
            if after is None:
                break
        assert seen == (names[::-1] if descending else names)


def test_a_page_goes_on_after_a_key_that_is_gone_or_outside_of_the_prefix(table: Table) -> None:
    fill(table, "m#1", "m#3")
    assert keys(table.query(OWNER, "m#", after="m#2").items) == ["m#3"]
    assert keys(table.query(OWNER, "m#", after="a").items) == ["m#1", "m#3"]
    assert keys(table.query(OWNER, "m#", after="z").items) == []
    assert keys(table.query(OWNER, "m#", after="z", descending=True).items) == ["m#3", "m#1"]
    assert keys(table.query(OWNER, "m#", after="a", descending=True).items) == []
    assert keys(table.query(OWNER, "m#", after="m#2", descending=True).items) == ["m#1"]


def test_a_page_needs_a_limit_of_one_at_least(table: Table) -> None:
    with pytest.raises(ValueError, match="one item"):
        table.query(OWNER, "m#", limit=0)


def test_a_page_ends_at_one_megabyte_and_the_pages_hold_every_item(table: Table) -> None:
    names = [f"m#{n:02d}" for n in range(12)]
    for name in names:
        table.write(OWNER, [Put({"sk": name, "sealed": bytes(390_000)})])
    seen: list[str] = []
    after: str | None = None
    pages = 0
    while pages == 0 or after is not None:
        page = table.query(OWNER, "m#", after=after)
        seen += keys(page.items)
        after, pages = page.after, pages + 1
        assert len(page.items) <= 3
    assert seen == names
    assert pages >= 4


def memory(number: int, *, updated: str, status: str = "active", owner: str = OWNER) -> Put:
    attributes: Item = {"owner_status": f"{owner}#{status}", "updated": updated, "sealed": b"x"}
    return Put({"sk": f"m#{number}", **attributes})


def test_by_update_lists_newest_first_between_its_bounds(table: Table) -> None:
    for number in range(5):
        table.write(OWNER, [memory(number, updated=f"2026-01-0{number + 1}#{number}")])
    table.write(OWNER, [memory(7, updated="2026-01-09#7", status="archived")])
    table.write(OTHER, [memory(8, updated="2026-01-09#8", owner=OTHER)])
    days = [f"2026-01-0{number + 1}#{number}" for number in range(5)][::-1]
    assert table.by_update(OWNER, "active", limit=9) == days
    assert table.by_update(OWNER, "active", limit=2) == days[:2]
    assert table.by_update(OWNER, "active", before=days[1], limit=2) == days[2:4]
    assert table.by_update(OWNER, "active", after=days[2], limit=9) == days[:3]
    assert table.by_update(OWNER, "active", before=days[0], after=days[2], limit=9) == days[1:3]
    assert table.by_update(OWNER, "active", before=days[0], after=days[2], limit=1) == days[1:2]
    assert table.by_update(OWNER, "active", before=days[2], after=days[2], limit=9) == []
    assert table.by_update(OWNER, "active", before=days[2], after=days[0], limit=9) == []
    assert table.by_update(OWNER, "dismissed", limit=9) == []


def test_by_update_follows_a_memory_that_changes_its_status(table: Table) -> None:
    table.write(OWNER, [memory(1, updated="2026-01-01#1")])
    change = Update("m#1", set={"owner_status": f"{OWNER}#archived", "updated": "2026-01-02#1"})
    table.write(OWNER, [change])
    assert table.by_update(OWNER, "active", limit=9) == []
    assert table.by_update(OWNER, "archived", limit=9) == ["2026-01-02#1"]


def test_due_lists_the_owners_of_a_shard_oldest_first_and_those_not_due_never(table: Table) -> None:
    for owner, at in ((OWNER, "2026-01-03"), (OTHER, "2026-01-01"), ("c" * 52, "2026-01-02")):
        table.write(owner, [Put({"sk": "head", "due_shard": "due#3", "due_at": at})])
    table.write("d" * 52, [Put({"sk": "head", "due_shard": "due#4", "due_at": "2026-01-01"})])
    table.write("e" * 52, [Put({"sk": "head"})])
    found = table.due(3, before="2026-01-03", limit=9)
    assert found == [Due(OTHER, "2026-01-01", "head"), Due("c" * 52, "2026-01-02", "head")]
    assert table.due(3, before="2026-01-04", limit=2) == found
    table.write(OTHER, [Update("head", remove=["due_shard", "due_at"])])
    assert [due.owner for due in table.due(3, before="2027", limit=9)] == ["c" * 52, OWNER]


def test_of_many_writers_at_once_one_wins_each_version(table: Table) -> None:
    table.write(OWNER, [Put({"sk": "m#1", "version": 1})])
    wins: list[int] = []
    gate = threading.Barrier(20)

    def write(number: int) -> None:
        gate.wait()
        try:
            table.write(
                OWNER, [Put({"sk": "m#1", "version": 2}, Condition(equals={"version": 1})), Put({"sk": f"w{number}"})]
            )
            wins.append(number)
        except Refused:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keys(table.query(OWNER, "w").items) == [f"w{wins[0]}"]
    assert len(wins) == 1
