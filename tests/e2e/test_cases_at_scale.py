"""Cases from the field on finding, asked of somebody with 20,000 memories in both languages: size hides nothing and mixes nothing up.

The memories and their index are put where the service would have put them; everything after that is asked over HTTP.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import pytest

from benchmarks.facts import facts
from benchmarks.filling import conversations, fill
from benchmarks.requests import Person as Issued
from benchmarks.scale import emulated
from local.stack import Stack
from shared import bootstrap
from shared.crypto.owners import owner_name
from shared.domain.ids import ulid
from shared.domain.memory import Memory
from shared.ports import Update
from shared.recall.index import Index
from shared.recall.indexes import INDEX, entry_of
from shared.storage import names, objects
from tests.e2e.client import MEMORIES, SEARCH, Person

MANY = 20_000
PLANTED = (
    "我对花生过敏",
    "下雨天我骑车去上班",
    "配置飞书插件",
    "重跑gen-itgc后50条",
    "Пароль меняем раз в квартал",
    "กินข้าวแล้ว",
    "أفضل القهوة بدون سكر",
    "나는 커피를 좋아한다",
    "We meet at the café on the corner",
    "The greenhouse key hangs behind the blue door",
)


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False, environment={"ACTIVE_LIMIT": "0"}) as running:
        yield running


@pytest.fixture(scope="module")
def ann(stack: Stack) -> Person:
    """Somebody with many memories, the planted ones first, all of them indexed."""
    person, rng = Person(stack), random.Random(20)
    owner = owner_name(Issued(stack, "ann").issuer, person.sub)
    texts = chain(PLANTED, facts(rng))
    made = list(conversations(rng, MANY, datetime.now(UTC), texts=texts, at_once=400))
    fill(bootstrap.vaults(), owner, made, emulated)
    index(owner, [memory for memories in made for memory in memories])
    assert person.ok("GET", "/v1/usage")["memories"] == MANY
    return person


def index(owner: str, memories: list[Memory]) -> None:
    """Store the index of these memories, as a build would that does not have to read them first."""
    vaults = bootstrap.vaults()
    opened = vaults.open(owner)
    assert opened is not None
    keys = opened.keys
    made = Index.build(entry_of(keys, memory) for memory in memories)
    pointer = ulid(vaults.clock(), vaults.random)
    body = objects.seal(keys, INDEX, pointer, made.pack(), vaults.random)
    vaults.objects.put(names.index(owner, keys.epoch, pointer), body, if_absent=True)
    vaults.table.write(owner, [Update(names.HEAD, set={"index": pointer, "index_bytes": len(body)})])


def found(person: Person, query: str, **more: Any) -> list[str]:
    return person.found(query, project="*", **more)


@pytest.mark.case(1)
@pytest.mark.case(2)
@pytest.mark.case(6)
@pytest.mark.case(7)
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("花生过敏", "我对花生过敏"),
        ("骑车", "下雨天我骑车去上班"),
        ("itgc", "重跑gen-itgc后50条"),
        ("пароль", "Пароль меняем раз в квартал"),
        ("ข้าว", "กินข้าวแล้ว"),
        ("القهوة", "أفضل القهوة بدون سكر"),
        ("커피", "나는 커피를 좋아한다"),
        ("cafe corner", "We meet at the café on the corner"),
        ("Where is the key of the greenhouse?", "The greenhouse key hangs behind the blue door"),
    ],
)
def test_one_memory_among_many_is_found_first_in_any_script(ann: Person, query: str, text: str) -> None:
    assert found(ann, query)[0] == text


@pytest.mark.case(2)
@pytest.mark.parametrize("query", ["雨", "过敏", "骑车"])
def test_memories_that_hold_a_word_of_one_or_two_signs_come_before_all_others(ann: Person, query: str) -> None:
    held = [query in text for text in found(ann, query, limit=50)]
    assert held[0]
    assert held == sorted(held, reverse=True)


@pytest.mark.case(4)
def test_words_in_another_order_count_as_words(ann: Person) -> None:
    (best, *_) = ann.ok("POST", SEARCH, {"query": "飞书插件配置", "project": "*", "explain": True})["memories"]
    assert best["content"] == "配置飞书插件"
    assert best["signals"]["text"] == 1
    assert best["matched"]


@pytest.mark.case(45)
def test_nobody_else_finds_any_of_them(ann: Person, stack: Stack) -> None:
    stranger = Person(stack, "bob")
    for query in ("花生过敏", "deploy", "key of the greenhouse"):
        assert found(ann, query) != []
        assert found(stranger, query) == []
    stranger.add("bob keeps bees")
    assert found(stranger, "花生过敏 deploy greenhouse") == []
    assert found(ann, "bees") == []


@pytest.mark.case(54)
@pytest.mark.parametrize("query", ["espresso machine descaling", "咖啡机除垢剂"])
def test_what_is_deleted_is_not_found_though_the_index_is_warm(ann: Person, query: str) -> None:
    kept = ann.ok("GET", "/v1/usage")["memories"]
    indexed = ann.ok("POST", SEARCH, {"query": "deploy 部署", "project": "*"})["memories"][0]
    fresh = ann.add(f"{query} every month")
    for memory, words in ((fresh, query), (indexed, indexed["content"])):
        assert memory["id"] in ids(ann, words)
        assert ann.call("DELETE", f"{MEMORIES}/{memory['id']}").status == 204
        assert memory["id"] not in ids(ann, words)
        assert ann.call("GET", f"{MEMORIES}/{memory['id']}").status == 404
    assert ann.ok("GET", "/v1/usage")["memories"] == kept - 1


def ids(person: Person, query: str) -> list[str]:
    hits = person.ok("POST", SEARCH, {"query": query[:200], "project": "*", "limit": 50})["memories"]
    return [hit["id"] for hit in hits]


@pytest.mark.case(74)
def test_what_was_learned_from_text_parts_is_found_among_many(ann: Person) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    parts = [{"type": "text", "text": "I prefer hiking along the Danube on Sundays"}, picture]
    task = ann.learn({"role": "user", "content": parts})
    assert (task["status"], task["learned"]["inserted"]) == ("done", 1)
    assert found(ann, "hiking along the Danube")[0] == "I prefer hiking along the Danube on Sundays"


@pytest.mark.case(77)
@pytest.mark.parametrize("query", ["", "   ", "？", "\u200b", "!!!", "*", '"', "的"])
def test_a_query_without_words_does_not_return_everything(ann: Person, query: str) -> None:
    answer = ann.call("POST", SEARCH, {"query": query, "project": "*", "limit": 50})
    assert (answer.status == 422 and answer.fields == ["query"]) or answer.json["memories"] == []


@pytest.mark.case(79)
@pytest.mark.parametrize("limit", [0, -1, 1.5, "abc", "", 10**9, True])
def test_a_limit_out_of_bounds_is_refused(ann: Person, limit: Any) -> None:
    answer = ann.call("POST", SEARCH, {"query": "deploy", "limit": limit})
    assert (answer.status, answer.fields) == (422, ["limit"])
    assert ann.call("GET", MEMORIES, query={"limit": limit}).status == 422


@pytest.mark.case(79)
def test_the_largest_limits_are_filled_and_no_memory_comes_twice(ann: Person) -> None:
    hits = ids(ann, "deploy before Friday 部署")
    assert len(hits) == len(set(hits)) == 50
    page = ann.ok("GET", MEMORIES, query={"limit": 200})["memories"]
    assert len({memory["id"] for memory in page}) == 200
