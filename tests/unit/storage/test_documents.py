"""Documents: fields of the latest commit each, joined in any order; what a document does not say any more leaves the journal."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.errors import QuotaExceeded, SealBroken, VersionMismatch
from shared.ports import Update
from shared.storage import documents, lines, names
from shared.storage.document_commits import END, DocumentCommits, End
from shared.storage.documents import Document
from tests.builders import World
from tests.unit.storage.deeds import persona
from tests.unit.storage.soundness import assert_sound, opened, rebuilt, records, settle, told
from tests.unit.storage.test_writers_at_once import at_once

COMMITS = st.sampled_from(["01A", "01B", "01C", "01D", "01E"])
PARTS = st.builds(
    Document,
    st.dictionaries(st.sampled_from("abc"), COMMITS.map(lambda commit: (f"said by {commit}", commit))),
    st.just("") | COMMITS,
)


def write(world: World, wanted: dict[str, Any] | End | None, etags: frozenset[str] | None = None) -> Document:
    return DocumentCommits(world.now.commits).write(world.owner, persona, lambda _opened, _standing: wanted, etags)


def standing(world: World) -> Document:
    return told(world).get(names.PERSONA, Document())


def journaled(world: World) -> str:
    return str([record.body for record in records(world) if record.kind == lines.PERSONA])


@given(st.lists(PARTS, max_size=4))
def test_parts_joined_in_any_order_and_more_than_once_give_the_same_document(parts: list[Document]) -> None:
    ends = set()
    for order in permutations(parts):
        whole = Document()
        for part in (*order, *order[:2]):
            whole = whole.joined(part)
        ends.add(str(sorted(whole.fields.items())) + whole.ended)
        assert all(whole.joined(part) == whole for part in parts)
        assert all(part.within(whole).joined(whole) == whole for part in parts)
    assert len(ends) == 1


def test_fields_are_set_one_by_one_and_a_later_write_wins_whatever_the_clock_says() -> None:
    world = World()
    first = write(world, {"traits": "likes coffee", "role": "nurse"})
    world.clock.advance(-3600)
    second = write(world, {"traits": "likes tea"})
    assert second.latest > first.latest
    assert (second.get("traits"), second.get("role")) == ("likes tea", "nurse")
    assert standing(world) == second
    assert write(world, {"traits": "likes tea"}) == second
    assert write(world, None) == second


def test_an_etag_of_before_is_refused_and_changes_nothing() -> None:
    world = World()
    first = write(world, {"traits": "likes coffee"}, frozenset({""}))
    second = write(world, {"traits": "likes tea"}, frozenset({first.latest}))
    with pytest.raises(VersionMismatch):
        write(world, {"traits": "likes milk"}, frozenset({first.latest}))
    assert standing(world) == second
    settle(world)
    assert_sound(world)


def test_what_a_document_does_not_say_any_more_leaves_the_journal_folded_or_not() -> None:
    world = World()
    write(world, {"traits": "likes coffee", "role": "nurse"})
    world.add("Something to keep.")
    world.tidy(hours=2)
    write(world, {"traits": "likes milk"})
    write(world, {"traits": "likes tea"})
    world.tidy(hours=0.1)
    assert ("milk" in journaled(world), "coffee" in journaled(world)) == (False, True)
    write(world, END)
    world.tidy(hours=0.1)
    assert not any(word in journaled(world) for word in ("tea", "nurse", "coffee", "milk"))
    assert not standing(world)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert not standing(world)
    assert standing(world).ended
    assert write(world, {"traits": "begins anew"}).get("role") is None


def test_twenty_writers_of_one_document_lose_no_field() -> None:
    world = World()
    world.add("The first of them.")

    def one(process: Any, number: int) -> Any:
        commits = DocumentCommits(process.commits)
        return commits.write(world.owner, persona, lambda _opened, _standing: {f"field {number}": number})

    answers = at_once(world, one, 6)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert {name: value for name, (value, _) in standing(world).fields.items()} == {f"field {n}": n for n in range(6)}
    settle(world)
    assert_sound(world)


def test_a_full_memory_takes_no_document_but_lets_one_end() -> None:
    world = World(quota=400)
    write(world, {"traits": "likes coffee"})
    with pytest.raises(QuotaExceeded):
        write(world, {"traits": "likes tea" * 500})
    assert standing(world).get("traits") == "likes coffee"
    assert not write(world, END)


@pytest.mark.parametrize("column", [documents.SEALED, documents.COMMIT])
def test_a_document_that_was_tampered_with_does_not_open_and_comes_back_from_its_line(column: str) -> None:
    world = World()
    write(world, {"traits": "likes coffee"})
    value = b"tampered" if column == documents.SEALED else "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    world.table.write(world.owner, [Update(names.PERSONA, set={column: value})])
    item = world.table.partition(world.owner)[names.PERSONA]
    with pytest.raises(SealBroken):
        documents.from_item(opened(world).keys, lines.PERSONA, lines.PERSONA, item)
    tidied = world.tidy(hours=2)
    assert tidied is not None
    assert (tidied["repair_damaged"], tidied["repair_compared_documents"]) == (1, 1)
    assert standing(world).get("traits") == "likes coffee"
    settle(world)
    assert_sound(world)
