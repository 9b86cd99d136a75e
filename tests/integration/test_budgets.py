"""AWS calls per request, exactly: how many steps, which calls share one, and what they cost, at three sizes of an owner's store.

The steps before the answer's content is known are budgeted in docs/architecture.md: search and context 2 (3 with cold keys), add 2,
edit and delete 3, accept 4. Counting what was found is one more step. No budget grows with the store.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from benchmarks.facts import facts
from benchmarks.filling import conversations, fill
from benchmarks.growth import ACTIVE_LIMIT, BUDGET, World
from benchmarks.requests import Measured, Person
from local.stack import Stack
from shared import bootstrap
from shared.bootstrap import recall
from shared.domain import limits
from shared.ports import Put, Update
from shared.recall.building import Builder
from shared.storage import lines, names, scenes
from shared.storage.basis import Basis
from shared.storage.document_commits import DocumentCommits
from shared.storage.documents import Document
from shared.storage.vaults import Opened

SIZES = (0, 40, 400)
QUERY = {"query": "which city did the platform team move to? 平台组在哪个城市"}
READ_ALL = [("BatchGetItem", "Query"), ("BatchGetItem",), ("UpdateItem",)]
KEYS = [("BatchGetItem", "GetObject"), ("Decrypt",)]
COMMIT = [("PutObject",), ("TransactWriteItems",)]
NUMBERS = count()
ADD_UNITS = 9
"""Write units of adding one short memory by hand: docs/benchmarks.md."""
AT_ONCE = 40
"""Memories per journal object: few objects are quickly tidied."""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False, environment={"ACTIVE_LIMIT": "0"}) as running:
        yield running


@pytest.fixture(params=SIZES, scope="module")
def person(stack: Stack, request: pytest.FixtureRequest) -> Person:
    return person_of(stack, request.param)


def person_of(stack: Stack, size: int) -> Person:
    """Person new with that many learned memories, an index of them, and warm keys and index in the process."""
    made = Person(stack, f"person-{next(NUMBERS)}")
    fill(bootstrap.vaults(), made.owner, conversations(random.Random(size), size, datetime.now(UTC), at_once=AT_ONCE))
    if size:
        assert Builder(recall.indexes()).build(made.owner) is not None
    return made


def changed(person: Person, some: int) -> None:
    """Mark some memories as changed since the index was built."""
    table = bootstrap.vaults().table
    stored = table.query(person.owner, names.MEMORY, limit=some).items
    rows = [Put({"sk": names.CHANGE + str(item["sk"]).removeprefix(names.MEMORY), "version": 1}) for item in stored]
    for at in range(0, some, 50):
        table.write(person.owner, rows[at : at + 50])


def indexed(person: Person) -> bool:
    return "index" in bootstrap.vaults().table.get(person.owner, [names.HEAD])[names.HEAD]


def cold(person: Person) -> list[tuple[str, ...]]:
    """Start every function anew and return the steps that then open the owner: the index is fetched beside the key, if there is one."""
    second = ("Decrypt", "GetObject") if indexed(person) else ("Decrypt",)
    person.stack.functions.reload()
    return [("BatchGetItem", "GetObject", "Query"), second]


def shape(measured: Measured) -> list[tuple[str, ...]]:
    """The kinds of calls of each step."""
    steps = range(1, measured.cost.steps + 1)
    return [tuple(sorted({call.operation for call in measured.calls if call.step == step})) for step in steps]


def add(person: Person, content: str = "I like tea") -> Measured:
    """Add a memory that nobody else has: people are shared between tests, and none may depend on another."""
    return person.send("POST", "/v1/memories", {"content": f"{content}, {next(NUMBERS)}"})


def accept(person: Person) -> Measured:
    said = f"We decided to keep ledger {next(NUMBERS)} in Postgres. 我喜欢早上喝深烘咖啡{next(NUMBERS)}。"
    chat = {"messages": [{"role": "user", "content": said}], "trigger": "manual"}
    return person.send("POST", "/v1/conversations", chat)


def search(person: Person) -> Measured:
    """Search; most tests do so once before they measure, so that keys and index are warm whichever test ran before."""
    return person.send("POST", "/v1/search", QUERY)


def context(person: Person, asked: dict[str, Any]) -> Measured:
    return person.send("POST", "/v1/context", asked)


def test_a_search_reads_in_two_steps_and_counts_in_one_more(person: Person) -> None:
    add(person, "The platform team moved to Lisbon")
    search(person)
    found = search(person)
    assert shape(found) == READ_ALL
    counted = [call for call in found.calls if call.operation == "UpdateItem"]
    assert len(counted) == len(found.body["memories"]) > 0


def test_a_search_with_cold_keys_and_index_reads_in_three_steps(person: Person) -> None:
    add(person, "The platform team moved to Lisbon")
    opening = cold(person)
    assert shape(search(person)) == opening + READ_ALL[1:]


def test_a_search_after_many_changes_asks_for_a_new_index_beside_its_reading(stack: Stack) -> None:
    person = person_of(stack, 400)
    changed(person, limits.CHANGE_ROWS)
    found = search(person)
    assert shape(found) == [READ_ALL[0], ("BatchGetItem", "SendMessage"), READ_ALL[2]]
    assert stack.wait_until_idle()
    assert shape(search(person)) == READ_ALL


def test_a_search_that_finds_nothing_has_nothing_to_count(stack: Stack) -> None:
    nobody = Person(stack, "nobody")
    assert search(nobody).cost.steps == 2  # a keyring without a head would be a lost table, so it is looked for
    empty = person_of(stack, 0)
    assert shape(search(empty)) == READ_ALL[:1]
    opening = cold(empty)
    assert shape(search(empty)) == opening


@pytest.mark.parametrize(
    "asked", [{"message": QUERY["query"]}, {"message": "你还记得我的偏好吗？"}, {"message": "Who am I?"}, {}]
)
def test_a_context_reads_in_two_steps_and_three_when_cold(person: Person, asked: dict[str, Any]) -> None:
    add(person, "The platform team moved to Lisbon, 平台组的偏好是靠窗座位")
    search(person)
    assert shape(context(person, asked)) == READ_ALL
    opening = cold(person)
    assert shape(context(person, asked)) == opening + READ_ALL[1:]


def test_a_message_that_asks_for_no_memory_reads_none(person: Person) -> None:
    search(person)
    assert shape(context(person, {"message": "thanks!", "new_session": False})) == READ_ALL[:1]


@pytest.mark.parametrize("message", [QUERY["query"], "thanks!"])
def test_the_scene_of_a_project_costs_no_step(stack: Stack, message: str) -> None:
    person = person_of(stack, 400)
    kept = add(person).body["id"]
    person.send("POST", "/v1/memories", {"content": "It is in Lisbon", "scope": "project", "project": "atlas"})
    vaults = bootstrap.vaults()

    def told(_opened: Opened, _standing: Document) -> dict[str, Any]:
        return {"project": "atlas", **scenes.written(scenes.SUMMARY, "The team moves.", Basis((kept,)))}

    DocumentCommits(bootstrap.commits()).write(
        person.owner, lambda opened: (lines.SCENE, scenes.tag_of(opened.keys, "atlas")), told
    )
    asked = {"message": message, "project": "atlas", "new_session": False, "force": message != "thanks!"}
    search(person)
    warm = context(person, asked)
    assert "The team moves." in warm.body["text"]
    assert vaults.warm(person.owner) is not None
    assert shape(warm)[:2] == READ_ALL[:2]
    opening = cold(person)
    assert shape(context(person, asked))[: len(opening) + 1] == opening + READ_ALL[1:2]


def test_adding_takes_two_steps_and_four_with_cold_keys(person: Person) -> None:
    search(person)
    assert shape(add(person)) == COMMIT
    person.stack.functions.reload()
    assert shape(add(person)) == KEYS + COMMIT


def test_the_writer_who_finds_many_changes_asks_for_an_index_and_writes_in_two_steps_more(stack: Stack) -> None:
    person = person_of(stack, 40)
    search(person)
    full = Update(names.HEAD, set={"rows": limits.CHANGE_ROWS})
    bootstrap.vaults().table.write(person.owner, [full])
    assert shape(add(person)) == [*COMMIT, ("SendMessage",), ("TransactWriteItems",)]
    assert shape(add(person)) == COMMIT
    assert stack.wait_until_idle()
    head = bootstrap.vaults().table.get(person.owner, [names.HEAD])[names.HEAD]
    assert int(head["rows"]) <= 1, "the build left no more than what was written while it ran"


def test_a_search_without_an_index_reads_the_table_once_and_asks_for_another_meanwhile(stack: Stack) -> None:
    person = person_of(stack, 40)
    add(person, "The platform team moved to Lisbon")
    vaults = bootstrap.vaults()
    head = vaults.table.get(person.owner, [names.HEAD])[names.HEAD]
    vaults.objects.erase(names.index(person.owner, int(head["epoch"]), str(head["index"])))
    stack.functions.reload()
    opening = [("BatchGetItem", "GetObject", "Query"), ("Decrypt", "GetObject")]
    assert shape(search(person)) == [*opening, ("Query", "SendMessage"), ("BatchGetItem",), ("UpdateItem",)]
    assert stack.wait_until_idle()
    assert shape(search(person))[-2:] == [("BatchGetItem",), ("UpdateItem",)]
    assert shape(search(person)) == READ_ALL


def test_the_very_first_memory_of_an_owner_makes_head_and_keyring_once(stack: Stack) -> None:
    newcomer = Person(stack, "newcomer")
    assert add(newcomer).cost.steps == 10
    assert shape(add(newcomer)) == COMMIT


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("PATCH", ({"content": "I like rice"}, {"content": "I like noodles"})),
        ("PATCH", ({"status": "dismissed"}, {"status": "dismissed"})),
        ("DELETE", (None, None)),
    ],
)
def test_editing_dismissing_and_deleting_take_three_steps(
    person: Person, method: str, changes: tuple[dict[str, str] | None, dict[str, str] | None]
) -> None:
    paths = [f"/v1/memories/{add(person).body['id']}" for _ in changes]
    assert shape(person.send(method, paths[0], changes[0])) == [("BatchGetItem",), *COMMIT]
    person.stack.functions.reload()
    assert shape(person.send(method, paths[1], changes[1])) == KEYS + COMMIT


def test_accepting_a_conversation_takes_four_steps(person: Person) -> None:
    search(person)
    assert shape(accept(person)) == [("BatchGetItem",), *COMMIT, ("SendMessage",)]
    assert person.stack.wait_until_idle()
    person.stack.functions.reload()
    assert shape(accept(person)) == [*KEYS, *COMMIT, ("SendMessage",)]
    assert person.stack.wait_until_idle()


def test_learning_takes_as_many_steps_in_a_large_store_as_in_an_empty_one(stack: Stack) -> None:
    shapes = []
    for size in SIZES:
        person = person_of(stack, size)
        stack.calls.clear()
        accept(person)
        assert stack.wait_until_idle()
        learned = [call for call in stack.calls.all() if "Extraction" in call.function]
        shapes.append(shape(Measured(None, tuple(learned))))
    assert shapes[0] == shapes[1] == shapes[2]
    assert shapes[0].count(("TransactWriteItems",)) == 3  # two facts, and the task that is done


def test_reading_one_memory_takes_one_step_and_listing_three(person: Person) -> None:
    made = add(person)
    assert shape(person.send("GET", f"/v1/memories/{made.body['id']}")) == [("BatchGetItem",)]
    page = [("BatchGetItem", "Query"), ("BatchGetItem", "Query"), ("BatchGetItem",)]
    everything_changed = not indexed(person)
    assert shape(person.send("GET", "/v1/memories")) == (page[:2] if everything_changed else page)


@pytest.mark.parametrize("size", SIZES)
def test_no_request_scans_and_none_costs_more_units_than_documented(stack: Stack, size: int) -> None:
    person = person_of(stack, size)
    stack.calls.clear()
    first, second = add(person), add(person)
    assert (first.cost.read_units, first.cost.write_units) == (
        0,
        ADD_UNITS + 1,
    )  # the owner becomes due for maintenance
    assert (second.cost.read_units, second.cost.write_units) == (0, ADD_UNITS)
    found = search(person)
    assert found.cost.read_units <= 2 + limits.CANDIDATES + 2
    assert found.cost.write_units == len(found.body["memories"]) <= limits.RESULTS_DEFAULT
    person.send("GET", "/v1/memories")
    context(person, {})
    accept(person)
    assert stack.wait_until_idle()
    made = {call.operation for call in stack.calls.all()}
    assert "TransactWriteItems" in made
    assert not made & {"Scan", "ListObjectsV2", "ListTables"}


@pytest.mark.parametrize("active_limit", [0, ACTIVE_LIMIT])
def test_fifty_facts_a_day_take_less_than_thirty_megabytes_a_year(active_limit: int) -> None:
    grown = World(active_limit).live(14, facts(random.Random(3)))
    assert grown.memories == 14 * 50
    assert 0 < grown.journal < grown.unfolded / 2
    assert grown.a_year < BUDGET


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "k"}], ids=["plain", "keyed"])
def test_the_steps_of_a_session_and_its_key_costs_none_but_where_it_is_repeated(
    stack: Stack, key: dict[str, str]
) -> None:
    person = person_of(stack, 0)
    add(person)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/v1/sessions", {}),
        ("/v1/sessions/current/notes", {"user_message": "Remember this: the port is 8443."}),
        ("/v1/sessions/current/finalize", {}),
    ]
    read, write = ("BatchGetItem",), ("TransactWriteItems",)
    begin, note, end = (shape(person.send("POST", path, body, key)) for path, body in asked)
    assert begin[:2] == [read, write]
    assert note == [read, write]
    assert end[:5] == [read, ("Query",), ("PutObject",), write, ("SendMessage",)]
    if key:
        again = shape(person.send("POST", "/v1/sessions/current/finalize", {}, key))
        assert again == [read, read]
