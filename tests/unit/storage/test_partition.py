"""One owner's partition page by page: every item once, in order, and no page that nobody asked for."""

from collections.abc import Iterator
from itertools import islice

import pytest

from shared.ports import Delete, Item, Page, Put
from shared.storage.partition import each_item, latest_updates, pages
from tests.fakes import MemoryTable

OWNER, OTHER = "a" * 52, "b" * 52
MEMORIES = [f"m#{number}" for number in range(7)]
ACTIVE = "active"


class CountingTable(MemoryTable):
    """Notes each page that was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str | None, int | None]] = []

    def query(
        self,
        owner: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> Page:
        self.asked.append((after, limit))
        return super().query(owner, prefix, after=after, limit=limit, descending=descending)

    def by_update(
        self, owner: str, status: str, *, before: str | None = None, after: str | None = None, limit: int
    ) -> list[str]:
        self.asked.append((before, limit))
        return super().by_update(owner, status, before=before, after=after, limit=limit)


@pytest.fixture
def table() -> CountingTable:
    made = CountingTable()
    for sk in [*MEMORIES, "head", "n#1"]:
        made.write(OWNER, [Put({"sk": sk})])
    made.write(OTHER, [Put({"sk": "m#others"})])
    return made


def listed(table: MemoryTable, count: int) -> list[str]:
    """Make memories that the index of updates lists, and return what it says of them, newest first."""
    made = [f"2026-01-0{number}T00:00:00.000Z#{number}" for number in range(1, count + 1)]
    for place, updated in enumerate(made):
        columns: Item = {"owner_status": f"{OWNER}#{ACTIVE}", "updated": updated}
        table.write(OWNER, [Put({"sk": f"u#{place}", **columns})])
    return made[::-1]


def keys(items: Iterator[Item]) -> list[str]:
    return [str(item["sk"]) for item in items]


@pytest.mark.parametrize("limit", [None, 1, 2, 3, 7, 8])
def test_every_item_comes_once_and_in_order_whatever_a_page_holds(table: CountingTable, limit: int | None) -> None:
    assert keys(each_item(table, OWNER, "m#", limit=limit)) == MEMORIES
    assert keys(each_item(table, OWNER, "m#", limit=limit, descending=True)) == MEMORIES[::-1]


def test_it_goes_on_after_a_key(table: CountingTable) -> None:
    assert keys(each_item(table, OWNER, "m#", after="m#4", limit=1)) == MEMORIES[5:]
    assert keys(each_item(table, OWNER, "m#", after="m#2", limit=1, descending=True)) == MEMORIES[1::-1]


def test_each_page_is_asked_for_once_and_with_the_same_limit(table: CountingTable) -> None:
    assert [[str(item["sk"]) for item in page] for page in pages(table, OWNER, "m#", limit=3)] == [
        MEMORIES[:3],
        MEMORIES[3:6],
        MEMORIES[6:],
    ]
    assert table.asked == [(None, 3), ("m#2", 3), ("m#5", 3)]


def test_where_there_is_nothing_one_empty_page_says_so(table: CountingTable) -> None:
    assert list(pages(table, OWNER, "x#")) == [[]]
    assert table.asked == [(None, None)]


@pytest.mark.parametrize(("wanted", "pages_read"), [(0, 0), (1, 1), (3, 1), (4, 2), (7, 3)])
def test_who_stops_early_reads_no_further(table: CountingTable, wanted: int, pages_read: int) -> None:
    assert keys(islice(each_item(table, OWNER, "m#", limit=3), wanted)) == MEMORIES[:wanted]
    assert len(table.asked) == pages_read


def test_what_goes_while_it_is_walked_stops_nobody(table: CountingTable) -> None:
    seen: list[str] = []
    for item in each_item(table, OWNER, "m#", limit=2):
        seen.append(str(item["sk"]))
        table.write(OWNER, [Delete(str(item["sk"]))])

    assert seen == MEMORIES
    assert keys(each_item(table, OWNER, "m#")) == []


def test_a_page_is_read_when_it_is_wanted_and_sees_what_was_written_before(table: CountingTable) -> None:
    walk = each_item(table, OWNER, "m#", limit=3)
    first = next(walk)
    table.write(OWNER, [Put({"sk": "m#0a"})])  # lies on the page that was read
    table.write(OWNER, [Put({"sk": "m#9"})])

    assert [str(first["sk"]), *keys(walk)] == [*MEMORIES, "m#9"]


@pytest.mark.parametrize(("count", "asked"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3)])
def test_updates_are_listed_until_a_page_is_not_full(count: int, asked: int) -> None:
    table = CountingTable()
    made = listed(table, count)

    assert [key for page in latest_updates(table, OWNER, ACTIVE, limit=2) for key in page] == made
    assert table.asked == [(before, 2) for before in [None, *made[1::2]][:asked]]


def test_who_has_seen_enough_updates_asks_for_no_more() -> None:
    table = CountingTable()
    made = listed(table, 6)

    assert next(latest_updates(table, OWNER, ACTIVE, limit=2)) == made[:2]
    assert len(table.asked) == 1
