"""Lines, sizes, names and steps at once: the small rules that everything else stands on."""

import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.errors import Invalid, SealBroken
from shared.domain.ids import ulid
from shared.ports import Item
from shared.storage import lines, names, objects, sizes
from shared.storage.lines import Line
from shared.storage.together import each, together
from shared.storage.transactions import Change
from tests.builders import World
from tests.fakes import SeededRandom
from tests.unit.storage.soundness import opened

OWNER = "a" * 52


@pytest.mark.parametrize("text", ["", " \u3000", "\u200b"])
def test_no_memory_that_says_nothing_is_committed_whoever_makes_it(text: str) -> None:
    world = World()
    world.add("I drink tea.")
    (memory,) = world.memories()
    said = replace(memory, id=ulid(world.clock(), SeededRandom()), content=text)
    with pytest.raises(Invalid):
        world.now.commits.commit(world.owner, Change(None, said))
    before = world.now.memories.read(world.owner, memory.id)[1]
    with pytest.raises(Invalid):
        world.now.commits.commit(world.owner, Change(before, replace(memory, content=text)))
    assert world.texts() == ["I drink tea."]
    assert world.now.commits.commit(world.owner, Change(before, replace(memory, importance=9)))


@given(
    st.lists(
        st.builds(
            Line,
            st.sampled_from([lines.MEMORY, lines.PLAN, lines.SETTINGS, lines.BLOCK]),
            st.text(max_size=30).filter(lambda text: text.isprintable()),
            st.integers(0, 10**9),
            st.integers(0, 100),
            st.binary(max_size=200),
        )
        | st.builds(
            Line,
            st.just(lines.TOMBSTONE),
            st.just("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            st.integers(1, 99),
            tag=st.text("abc234", min_size=26, max_size=26),
            at=st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001 - made aware below
                lambda at: at.replace(tzinfo=UTC, microsecond=at.microsecond // 1000 * 1000)
            ),
        ),
        max_size=5,
    )
)
def test_lines_come_back_as_they_were(written: list[Line]) -> None:
    assert lines.decode(lines.encode(written)) == written


@pytest.mark.parametrize(
    "body",
    [
        b"{}\n",
        b'{"v":1}\n',
        b'{"v":2,"kind":"memory","id":"a","version":1,"gen":1,"sealed":""}\n',
        b'{"v":1,"kind":"memory","id":"a","version":1,"gen":1,"sealed":"?"}\n',
        b'{"v":1,"kind":"memory","id":"a","version":1,"gen":1,"sealed":""}',
        b'{"v":1,"kind":"memory","id":"a","version":"x","gen":1,"sealed":""}\n',
        b'{"v":1,"kind":"tombstone","id":"a","version":1,"tag":"t","at":"yesterday"}\n',
        b'{"v":1,"kind":"tombstone","id":"a","version":1,"tag":"t"}\n',
        b"[]\n",
        b"null\n",
        b"\xff\n",
        b"\n",
    ],
)
def test_a_damaged_cut_or_unknown_line_is_refused(body: bytes) -> None:
    with pytest.raises(SealBroken):
        lines.decode(body)


def test_an_empty_object_has_no_lines() -> None:
    assert lines.decode(b"") == []


def test_a_tombstone_says_nothing_of_the_text() -> None:
    world = World()
    world.delete(world.add("The deploy day is Monday.", tags=["#secret"]).id)
    key = f"o/{world.owner}/1/journal/{world.stored('journal')[-1]}"
    stored = world.objects.get(key)
    assert stored is not None
    (line,) = lines.decode(stored.body)
    assert (line.kind, line.version, line.sealed) == (lines.TOMBSTONE, 2, b"")


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({"sk": "a"}, 2 + 1),
        ({"sk": "a", "name": "abc"}, 3 + 4 + 3),
        ({"sk": "a", "名": "中文"}, 3 + 3 + 6),
        ({"sk": "a", "b": bytes(10)}, 3 + 1 + 10),
        ({"sk": "a", "n": 0}, 3 + 1 + 1),
        ({"sk": "a", "n": 7}, 3 + 1 + 2),
        ({"sk": "a", "n": 42}, 3 + 1 + 2),
        ({"sk": "a", "n": 123}, 3 + 1 + 3),
        ({"sk": "a", "n": 1000}, 3 + 1 + 2),
        ({"sk": "a", "n": 12345678}, 3 + 1 + 5),
        ({"sk": "a", "reads": 999, "read_at": "2026-01-01T00:00:00.000Z"}, 3),
    ],
)
def test_an_item_counts_by_names_and_values_as_dynamodb_counts_them(item: Item, size: int) -> None:
    """Numbers: a byte for two significant digits and one more; the access columns count as an allowance instead."""
    assert sizes.item_bytes(OWNER, item) == len("pk") + len("o#") + len(OWNER) + size


def test_everything_of_a_life_lies_under_its_epoch() -> None:
    assert names.keyring(OWNER) == f"o/{OWNER}/keyring"
    for key in (names.journal(OWNER, 7, "c"), names.index(OWNER, 7, "i"), names.conversation(OWNER, 7, "t")):
        assert key.startswith(names.life(OWNER, 7))
    assert names.life(OWNER, 7) == f"o/{OWNER}/7/"


def test_owners_spread_over_the_shards_of_the_due_index() -> None:
    random = SeededRandom(1)
    owners = [random(26).hex() for _ in range(400)]
    shards = {names.due_shard(owner, 8) for owner in owners}
    assert shards == {f"due#{number}" for number in range(8)}
    assert names.due_shard(owners[0], 8) == names.due_shard(owners[0], 8)


def test_calls_made_together_overlap_and_answer_in_order() -> None:
    gate = threading.Barrier(3, timeout=10)

    def waiting(answer: int) -> int:
        gate.wait()
        return answer

    assert together(lambda: waiting(1), lambda: waiting(2), lambda: waiting(3)) == [1, 2, 3]
    assert together(lambda: 1) == [1]
    assert each(lambda number: number * 2, range(5)) == [0, 2, 4, 6, 8]
    assert each(lambda number: number, []) == []


def test_the_first_error_is_raised_when_all_calls_have_ended() -> None:
    ended: list[int] = []

    def failing(number: int) -> None:
        ended.append(number)
        raise ValueError(number)

    with pytest.raises(ValueError, match="1"):
        together(lambda: failing(1), lambda: failing(2), lambda: ended.append(3))
    assert sorted(ended) == [1, 2, 3]
    with pytest.raises(ValueError, match="9"):
        together(lambda: ended.append(4), lambda: failing(9))
    assert 4 in ended


def test_whole_objects_open_under_their_own_kind_and_id_only() -> None:
    world = World()
    world.add("It is there.")
    keys = opened(world).keys
    sealed = objects.seal(keys, "index", "one", b"plain", world.random)
    assert objects.unseal(keys, "index", "one", sealed) == b"plain"
    for kind, name, body in (
        ("conversation", "one", sealed),
        ("index", "two", sealed),
        ("index", "one", sealed[:-1]),
        ("index", "one", b"\0\0\0\2" + sealed[4:]),
        ("index", "one", b""),
    ):
        with pytest.raises(SealBroken):
            objects.unseal(keys, kind, name, body)


def test_ids_of_one_millisecond_differ() -> None:
    random, now = SeededRandom(1), datetime(2026, 3, 1, tzinfo=UTC)
    assert len({ulid(now, random) for _ in range(1000)}) == 1000
