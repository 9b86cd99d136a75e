"""Lists: order, pages, filters, and an index that lags."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain import limits
from shared.domain.errors import Invalid, InvalidCursor
from shared.domain.memory import Category, Memory, Scope, Source, Status
from shared.keeping.memories.filters import CREATED, Filters, with_uri
from shared.models.memories import ListQuery
from tests.unit.keeping.world import OWNER, New, World

ALL = Filters(status=None)


def listed(world: World, filters: Filters, limit: int = 200) -> list[str]:
    """Return the texts of all pages."""
    return [memory.content for memory in memories(world, filters, limit)]


def memories(world: World, filters: Filters, limit: int = 200) -> list[Memory]:
    found: list[Memory] = []
    cursor = None
    for _ in range(500):
        page = world.listing.page(OWNER, filters, limit, cursor)
        found += page.memories
        assert len(page.memories) <= limit
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise AssertionError("the list does not end")


def test_an_owner_who_stored_nothing_has_an_empty_list_and_gets_no_items() -> None:
    world = World()
    page = world.listing.page(OWNER, Filters(), 50, None)
    assert (page.memories, page.next_cursor, page.damaged) == ([], None, 0)
    assert world.table.owners() == []
    assert world.objects.keys() == []
    with pytest.raises(InvalidCursor):
        world.listing.page(OWNER, Filters(), 50, "abc")


@pytest.mark.case(67)
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 200])
@pytest.mark.parametrize("order", ["updated", CREATED])
def test_case_67_each_memory_is_listed_once_over_pages_though_all_were_made_at_one_moment(
    limit: int, order: str
) -> None:
    world = World()
    made = [world.memories.add(OWNER, New(f"fact {n}")).memory for n in range(10)]
    assert {memory.updated_at for memory in made} == {world.clock()}
    assert sorted(listed(world, Filters(order=order), limit)) == sorted(memory.content for memory in made)


def test_the_newest_updated_comes_first_and_creation_keeps_its_order() -> None:
    world = World()
    first, *_ = [world.add(f"fact {n}") for n in range(3)]
    world.clock.advance(1)
    world.edits.edit(OWNER, first.id, {"importance": 9}, None)
    assert listed(world, Filters()) == ["fact 0", "fact 2", "fact 1"]
    assert listed(world, Filters(order=CREATED)) == ["fact 2", "fact 1", "fact 0"]


def test_a_lagging_index_neither_hides_nor_repeats_nor_shows_what_was() -> None:
    world = World()
    made = [world.add(f"fact {n}") for n in range(6)]
    world.table.lag()
    world.clock.advance(1)
    world.edits.edit(OWNER, made[0].id, {"content": "fact zero"}, None)
    world.edits.edit(OWNER, made[1].id, {"status": "dismissed"}, None)
    world.edits.delete(OWNER, made[2].id, None)
    world.add("fact new")
    assert listed(world, Filters(), 2) == ["fact new", "fact zero", "fact 5", "fact 4", "fact 3"]
    assert listed(world, Filters(status=Status.DISMISSED), 2) == ["fact 1"]
    assert listed(world, ALL, 2) == ["fact new", "fact 1", "fact zero", "fact 5", "fact 4", "fact 3"]


def test_a_wholly_lagging_index_is_made_up_for_by_change_rows() -> None:
    world = World()
    world.table.lag()
    for n in range(5):
        world.add(f"fact {n}")
    assert listed(world, Filters(), 2) == [f"fact {n}" for n in (4, 3, 2, 1, 0)]


def test_more_memories_than_one_read_of_the_index_are_all_listed() -> None:
    world = World()
    for n in range(230):
        world.add(f"fact {n}")
    drop_change_rows(world)
    assert listed(world, Filters(), 7) == [f"fact {n}" for n in reversed(range(230))]
    assert listed(world, ALL, 200) == [f"fact {n}" for n in reversed(range(230))]


def test_a_filter_on_a_sealed_field_is_bounded_per_page_and_the_cursor_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    monkeypatch.setattr(limits, "PAGE_SCAN", 10)
    world.add("the one decision", category=Category.DECISION)
    for n in range(25):
        world.add(f"fact {n}")
    filters = Filters(category=Category.DECISION)
    for wanted in (filters, Filters(category=Category.DECISION, order=CREATED)):
        first = world.listing.page(OWNER, wanted, 50, None)
        assert (first.memories, first.next_cursor is not None) == ([], True)
        assert listed(world, wanted) == ["the one decision"]


@pytest.mark.case(65)
@pytest.mark.parametrize("order", ["updated", CREATED])
def test_case_65_a_page_that_the_table_cuts_short_is_not_the_end(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    monkeypatch.setattr("tests.fake_table.PAGE_BYTES", 5_000)
    world.add("the one decision", category=Category.DECISION)
    for n in range(60):
        world.add(f"fact {n}", metadata={"noise": world.random(900).hex()})
    assert len(world.table.query(OWNER, "m#", limit=100).items) < 10
    assert len(world.table.query(OWNER, "head").items) < 61
    page = world.listing.page(OWNER, Filters(category=Category.DECISION, order=order), 50, None)
    assert [memory.content for memory in page.memories] == ["the one decision"]
    assert len(listed(world, Filters(order=order))) == 61


def test_every_filter_keeps_what_it_names_and_nothing_else() -> None:
    world = World()
    world.add("mine")
    world.add("in shop", scope=Scope.PROJECT, project="商店", category=Category.DECISION)
    world.add("in site", scope=Scope.PROJECT, project="site")
    world.add("of research", scope=Scope.AGENT, agent="research", category=Category.EXPERIENCE)
    assert listed(world, Filters(scope=Scope.USER)) == ["mine"]
    assert listed(world, Filters(scope=Scope.PROJECT)) == ["in site", "in shop"]
    assert listed(world, Filters(project="商店")) == ["in shop"]
    assert listed(world, Filters(agent="research")) == ["of research"]
    assert listed(world, Filters(agent="other")) == []
    assert listed(world, Filters(category=Category.DECISION)) == ["in shop"]
    assert listed(world, Filters(source=Source.AUTO)) == []
    assert len(listed(world, Filters(source=Source.MANUAL))) == 4
    assert listed(world, with_uri(Filters(), "agent://research/agent/experience")) == ["of research"]
    assert listed(world, with_uri(Filters(), "agent://research")) == ["of research"]
    assert listed(world, with_uri(Filters(), "agent://*/project/decision")) == ["in shop"]
    assert listed(world, with_uri(Filters(), "agent://research/user/*")) == ["mine"]


@pytest.mark.parametrize("order", ["updated", CREATED])
def test_from_is_inside_and_to_is_outside_of_the_time_the_list_is_ordered_by(order: str) -> None:
    world = World()
    made = [world.add(f"fact {n}") for n in range(4)]
    filters = Filters(since=made[1].updated_at, until=made[3].updated_at, order=order)
    assert listed(world, filters, 1) == ["fact 2", "fact 1"]
    drop_change_rows(world)
    assert listed(world, filters, 1) == ["fact 2", "fact 1"]


def test_an_expired_memory_is_neither_listed_nor_read() -> None:
    world = World()
    made = world.add("for a day", expires_at=world.clock() + timedelta(days=1))
    assert listed(world, Filters()) == ["for a day"]
    world.clock.advance(days=1)
    assert listed(world, Filters()) == []
    assert listed(world, Filters(order=CREATED)) == []
    assert not [m for m in memories(world, ALL) if m.id == made.id]


def test_a_damaged_memory_is_counted_and_named_in_the_log_and_the_rest_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "ERROR")
    world = World()
    good, bad = world.add("CANARY good"), world.add("CANARY bad")
    flip(world, bad.id)
    page = world.listing.page(OWNER, Filters(), 50, None)
    assert ([memory.id for memory in page.memories], page.damaged) == ([good.id], 1)
    line = capsys.readouterr().out
    assert bad.id in line
    assert "CANARY" not in line


@pytest.mark.parametrize(
    "other", [Filters(scope=Scope.USER), Filters(order=CREATED), Filters(status=None), Filters(category=Category.EVENT)]
)
def test_a_cursor_belongs_to_its_list(other: Filters) -> None:
    world = World()
    for n in range(3):
        world.add(f"fact {n}")
    cursor = world.listing.page(OWNER, Filters(), 1, None).next_cursor
    assert cursor is not None
    with pytest.raises(InvalidCursor):
        world.listing.page(OWNER, other, 1, cursor)


def test_a_cursor_belongs_to_its_owner_and_no_altered_one_opens() -> None:
    world = World()
    stranger = "b" * 52
    for owner in (OWNER, stranger):
        for n in range(3):
            world.memories.add(owner, New(f"fact {n}"))
    cursor = world.listing.page(OWNER, Filters(), 1, None).next_cursor
    assert cursor is not None
    altered = [cursor[:-2], cursor[1:], cursor.swapcase(), "", "=", "雨", "a" * 600, cursor + "A"]
    for wrong in altered:
        with pytest.raises(InvalidCursor):
            world.listing.page(OWNER, Filters(), 1, wrong)
    with pytest.raises(InvalidCursor):
        world.listing.page(stranger, Filters(), 1, cursor)


@pytest.mark.parametrize(
    "uri",
    [
        "research",
        "agent://",
        "agent:///user",
        "agent://a/b/c/d",
        "agent://a/group",
        "agent://a/user/nothing",
        "agent://a%00",
    ],
)
def test_what_is_no_agent_uri_is_refused(uri: str) -> None:
    with pytest.raises(Invalid):
        with_uri(Filters(), uri)


def test_filters_that_contradict_each_other_are_refused() -> None:
    world = World()
    now = world.clock()
    for wrong in (
        {"project": "a", "agent": "b"},
        {"project": "a", "scope": Scope.USER},
        {"agent": "a", "scope": Scope.PROJECT},
        {"since": now, "until": now},
    ):
        with pytest.raises(Invalid):
            Filters(**wrong)
    with pytest.raises(Invalid):
        with_uri(Filters(category=Category.EVENT), "agent://a")


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_history_lists_as_a_plain_dictionary_says(data: st.DataObject) -> None:
    world = World()
    standing: dict[str, Memory] = {}
    for step in range(data.draw(st.integers(1, 25))):
        action = data.draw(st.sampled_from(["add", "add", "edit", "dismiss", "restore", "delete", "lag", "build"]))
        world.clock.advance(data.draw(st.sampled_from([0, 0.001, 1])))
        if action == "add":
            made = world.memories.add(OWNER, New(f"fact {step}")).memory
            standing[made.id] = made
        elif action == "lag":
            world.table.lag()
        elif action == "build":
            world.table.catch_up()
            drop_change_rows(world)
        elif standing:
            chosen = data.draw(st.sampled_from(sorted(standing)))
            if action == "delete":
                world.edits.delete(OWNER, chosen, None)
                del standing[chosen]
            else:
                sent: dict[str, dict[str, Any]] = {
                    "edit": {"importance": step % 9 + 1},
                    "dismiss": {"status": "dismissed"},
                    "restore": {"status": "active"},
                }
                standing[chosen] = world.edits.edit(OWNER, chosen, sent[action], None)
    limit = data.draw(st.integers(1, 6))
    for status in (Status.ACTIVE, Status.DISMISSED, None):
        found = memories(world, Filters(status=status), limit)
        expected = [memory for memory in standing.values() if status is None or memory.status is status]
        assert sorted(memory.id for memory in found) == sorted(memory.id for memory in expected)
        keys = [(memory.updated_at, memory.id) for memory in found]
        assert all(earlier > later for earlier, later in pairwise(keys))


def drop_change_rows(world: World) -> None:
    """Do what a build of the index does at its end."""
    for sk in [sk for sk in world.table.partition(OWNER) if sk.startswith("head#")]:
        world.table._remove(OWNER, sk)


def flip(world: World, memory_id: str) -> None:
    """Alter one byte of a stored memory, as an operator could."""
    item = world.table.partition(OWNER)[f"m#{memory_id}"]
    sealed = item["sealed"]
    assert isinstance(sealed, bytes)
    item["sealed"] = sealed[:-1] + bytes((sealed[-1] ^ 1,))
    world.table._store(OWNER, item)


@pytest.mark.parametrize("order", ["updated", CREATED])
def test_a_day_that_never_was_has_no_memories(order: str) -> None:
    never, now = Filters(day=date(2011, 12, 30), order=order, status=None), datetime(2026, 3, 1, tzinfo=UTC)
    dated = never.dated("Pacific/Apia", now)
    assert (dated.day, dated.since) == (None, None)
    world = World()
    world.add("something")
    assert listed(world, dated) == []
    assert never.dated("Pacific/Auckland", now).since is not None


@pytest.mark.parametrize(
    ("sent", "order"),
    [
        ({}, "updated"),
        ({"date": "2026-03-08"}, CREATED),
        ({"last_days": 3}, CREATED),
        ({"last_days": 3, "order": "updated"}, "updated"),
        ({"order": CREATED}, CREATED),
    ],
    ids=str,
)
def test_days_mean_when_a_memory_was_made_unless_an_order_is_sent(sent: dict[str, Any], order: str) -> None:
    assert ListQuery(**sent).filters().order == order
