"""Cases from the field on storage: what is deleted is gone everywhere, what is acknowledged is there, whoever writes at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.stack import Stack
from shared import bootstrap
from shared.bootstrap import recall
from shared.recall.index import Index
from shared.storage import names
from tests.e2e.client import MEMORIES, SEARCH, Person
from tests.e2e.faults import deliver, held_messages, record, refused, tidied
from tests.e2e.storage import items_of, objects, owner_of


def index_of(stack: Stack, person: Person) -> Index:
    """The owner's index as a cold search would open it."""
    owner = owner_of(stack, person.sub)
    indexes = type(recall.indexes())(bootstrap.vaults())
    opened = bootstrap.vaults().open(owner, changes=True, beside=lambda head: indexes.fetch(owner, head))
    assert opened is not None
    assert opened.changes == {}, "the index knows everything"
    index = indexes.open(opened)
    assert index is not None
    return index


def dismiss(person: Person, memory_id: str) -> None:
    person.ok("PATCH", f"{MEMORIES}/{memory_id}", {"status": "dismissed"})


@pytest.mark.case(54)
@pytest.mark.parametrize("built", [False, True])
def test_case_54_what_is_deleted_is_found_by_no_way_and_in_no_warm_process(
    stack: Stack, ann: Person, built: bool
) -> None:
    made = ann.add("我对花生过敏", tags=["#peanut"], project="kitchen", scope="project")
    kept = ann.add("I drink green tea")
    path = f"{MEMORIES}/{made['id']}"
    if built:
        assert tidied(stack, ann.sub)
    assert ann.found("花生过敏", project="kitchen") == ["我对花生过敏"]
    assert ann.call("DELETE", path).status == 204
    for _ in range(2):
        for query in ("花生过敏", "过敏", "peanut", "#peanut"):
            assert ann.found(query, project="kitchen") == ann.found(query, project="*") == []
        assert ann.texts(status="all") == [kept["content"]]
        assert "花生" not in ann.context("我对什么过敏", project="kitchen", force=True)["text"]
        for method, target in (("GET", path), ("DELETE", path), ("GET", f"{path}/history"), ("POST", f"{path}/reveal")):
            assert ann.call(method, target).status == 404
        assert tidied(stack, ann.sub)
    usage = ann.ok("GET", "/v1/usage")
    assert (usage["memories"], usage["active"]) == (1, 1)


@pytest.mark.case(54)
def test_case_54_a_delete_that_deletes_nothing_says_so(ann: Person) -> None:
    made = ann.add("a fact")
    assert ann.call("DELETE", f"{MEMORIES}/{made['id']}").status == 204
    again = ann.call("DELETE", f"{MEMORIES}/{made['id']}")
    assert (again.status, again.code) == (404, "not_found")


@pytest.mark.case(55)
def test_case_55_no_way_of_going_leaves_an_orphan(stack: Stack, ann: Person) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    made = [ann.add(f"fact number {number}") for number in range(6)]
    ann.add("this one ends soon", expires_at=soon)
    assert tidied(stack, ann.sub)
    ann.ok("DELETE", f"{MEMORIES}/{made[0]['id']}")
    dismiss(ann, made[1]["id"])
    ann.ok("PATCH", f"{MEMORIES}/{made[2]['id']}", {"content": "fact number two"})
    ann.ok("DELETE", f"{MEMORIES}/{made[3]['id']}")
    assert tidied(stack, ann.sub)
    memories = {item["sk"]["S"].removeprefix(names.MEMORY): item for item in items_of(stack, ann.sub, names.MEMORY)}
    searchable = {key for key, item in memories.items() if item["status"]["S"] != "dismissed"}
    assert set(index_of(stack, ann).ids()) == searchable
    tags = {item["memory"]["S"] for item in items_of(stack, ann.sub, names.DEDUP)}
    assert tags == set(memories)
    assert len(items_of(stack, ann.sub, names.DEDUP)) == len(memories)
    assert not {made[0]["id"], made[3]["id"]} & set(memories)
    head = items_of(stack, ann.sub, names.HEAD)
    assert len(head) == 1
    usage = ann.ok("GET", "/v1/usage")
    assert usage["memories"] == len(memories)
    stored = {key: body for key, body in objects(stack, ann.sub).items() if "/index/" in key}
    assert sum(map(len, stored.values())) >= usage["index_bytes"] > 0


@pytest.mark.case(58)
def test_case_58_twenty_writers_at_once_of_a_new_person_lose_nothing(stack: Stack) -> None:
    person, barrier = Person(stack, "newcomer"), threading.Barrier(20)

    def write(number: int) -> int:
        barrier.wait()
        for _ in range(20):
            answer = person.call(
                "POST", MEMORIES, {"content": f"fact {number}"}, headers={"Idempotency-Key": f"{number}"}
            )
            if answer.status != 503:
                return answer.status
        return answer.status

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(write, range(20))) == {201}
    assert sorted(person.texts()) == sorted(f"fact {number}" for number in range(20))
    usage = person.ok("GET", "/v1/usage")
    assert (usage["memories"], usage["active"]) == (20, 20)


@pytest.mark.case(58)
def test_case_58_of_writers_with_one_key_one_makes_it_and_all_hear_of_it(stack: Stack, ann: Person) -> None:
    barrier = threading.Barrier(8)

    def write(_: int) -> tuple[int, str]:
        barrier.wait()
        for _attempt in range(20):
            answer = ann.call("POST", MEMORIES, {"content": "one fact"}, headers={"Idempotency-Key": "same"})
            if answer.status != 503:
                return answer.status, answer.json.get("id", answer.text)
        return answer.status, answer.text

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(write, range(8)))
    assert {status for status, _ in answers} == {201}
    assert len(answers) == 1
    assert ann.texts() == ["one fact"]


@pytest.mark.case(58)
def test_case_58_edits_of_one_memory_at_once_are_all_kept_or_refused(stack: Stack, ann: Person) -> None:
    made = ann.add("a fact")
    path, barrier = f"{MEMORIES}/{made['id']}", threading.Barrier(10)

    def edit(number: int) -> int:
        barrier.wait()
        return ann.call("PATCH", path, {"content": f"edited {number}"}, headers={"If-Match": '"1"'}).status

    with ThreadPoolExecutor(10) as pool:
        statuses = sorted(pool.map(edit, range(10)))
    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 412, 503}
    assert ann.ok("GET", path)["version"] == 2


@pytest.mark.case(63)
@pytest.mark.parametrize(
    ("service", "call"), [("dynamodb", "TransactWriteItems"), ("s3", "PutObject"), ("dynamodb", "BatchGetItem")]
)
def test_case_63_a_task_whose_writes_fail_is_not_half_done(stack: Stack, ann: Person, service: str, call: str) -> None:
    ann.add("a fact")
    with held_messages() as held:
        task_id = ann.hand_in("We decided to use PostgreSQL. I prefer tabs over spaces.").json["task_id"]
    (message,) = held
    attempts = [
        record(message["MessageBody"], message["MessageGroupId"], number=1, receives=receives) for receives in (1, 2)
    ]
    with refused(service, call):
        assert deliver(stack, "extraction", attempts[0]) == ["message-1"]
    assert ann.texts() == ["a fact"]
    assert ann.task(task_id)["status"] in {"queued", "processing"}
    assert deliver(stack, "extraction", attempts[1]) == []
    assert ann.task(task_id)["status"] == "done"
    assert sorted(ann.texts()) == ["I prefer tabs over spaces.", "We decided to use PostgreSQL.", "a fact"]


@pytest.mark.case(67)
def test_case_67_memories_of_one_millisecond_come_once_each_over_the_pages(ann: Person) -> None:
    facts = "\n".join(f"We decided to use library {number} for module {number}." for number in range(17))
    assert ann.learn(facts)["learned"]["inserted"] == 17
    for order in ("updated", "created"):
        seen: list[str] = []
        cursor: dict[str, Any] = {}
        while True:
            page = ann.ok("GET", MEMORIES, query={"limit": 3, "order": order, **cursor})
            seen += [memory["id"] for memory in page["memories"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert len(seen) == len(set(seen)) == 17


@pytest.mark.case(77)
@pytest.mark.parametrize("query", ["", "   ", "？", "\u200b", "!!!", "。。。", "\n\t", "——", '"', "*", "()", "的"])
def test_case_77_a_query_without_words_finds_nothing(ann: Person, query: str) -> None:
    ann.add("我对花生过敏")
    answer = ann.call("POST", SEARCH, {"query": query})
    assert answer.status in {200, 422}
    if answer.status == 200:
        assert answer.json["memories"] == []
    else:
        assert answer.fields == ["query"]


@pytest.mark.case(77)
@pytest.mark.parametrize("query", ['"', "a OR b", "NEAR(", "allergic*", "content:x AND", "花生\\", "^~!", "-allergic"])
def test_case_77_signs_of_query_languages_are_just_text(ann: Person, query: str) -> None:
    ann.add("I am allergic to peanuts a b x 花生")
    assert ann.call("POST", SEARCH, {"query": query}).status == 200
