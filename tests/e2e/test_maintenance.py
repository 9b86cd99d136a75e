"""Retention, rebuild and repair as a person meets them: over HTTP, with `POST /local/maintenance` as the night shift."""

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from local.stack import Stack
from shared import bootstrap
from shared.storage import names
from tests.e2e.client import MEMORIES, Person
from tests.e2e.faults import deliver, record, tidied
from tests.e2e.storage import items_of, objects, owner_of, raw_bytes

CODE = {"en": "The door code changes on Friday.", "zh": "门禁密码每周五更换"}
KEPT = {"en": "The deploy day is Monday.", "zh": "部署日是每周一"}
ASKED = {"en": "when does the door code change", "zh": "门禁密码什么时候更换"}
LANGUAGES = ["en", "zh"]


@contextmanager
def later(**by: float) -> Iterator[None]:
    """Let the service's clock be so much ahead."""
    vaults, real = bootstrap.vaults(), bootstrap.vaults().clock
    object.__setattr__(vaults, "clock", lambda: real() + timedelta(**by))
    try:
        yield
    finally:
        object.__setattr__(vaults, "clock", real)


def night_shift(stack: Stack) -> None:
    """Run everybody's maintenance as a person on this machine does."""
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=150)
    try:
        connection.request("POST", "/local/maintenance", b"")
        answer = connection.getresponse()
        said = json.loads(answer.read())
    finally:
        connection.close()
    assert (answer.status, said["idle"], said["dead_letters"]) == (200, True, 0), said


def tended(person: Person) -> None:
    """Run the person's part of a night shift."""
    assert person.maintain()["dead_letters"] == 0


def seen(person: Person, memory: dict[str, Any], query: str) -> set[str]:
    """Return by which reads the memory can be seen."""
    path, text = f"{MEMORIES}/{memory['id']}", memory["content"]
    reads = {
        "list": text in person.texts(status="all"),
        "list by creation": text in person.texts(status="all", order="created"),
        "search": text in person.found(query, project="*"),
        "context": text in person.context(query, force=True)["text"],
        "get": person.call("GET", path).status == 200,
        "history": person.call("GET", f"{path}/history").status == 200,
        "reveal": person.call("POST", f"{path}/reveal").status == 200,
        "edit": person.call("PATCH", path, {"importance": 5}).status == 200,
    }
    return {name for name, found in reads.items() if found}


ALL = {"list", "list by creation", "search", "context", "get", "history", "reveal", "edit"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_expired_memory_vanishes_from_every_read_at_once_and_from_storage_at_the_next_run(
    stack: Stack, ann: Person, language: str
) -> None:
    end = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    memory = ann.add(CODE[language], expires_at=end)
    ann.add(KEPT[language])
    assert tidied(stack, ann.sub)
    assert seen(ann, memory, ASKED[language]) == ALL
    with later(hours=1, seconds=5):
        assert seen(ann, memory, ASKED[language]) == set()
        night_shift(stack)
        assert items_of(stack, ann.sub, f"m#{memory['id']}") == []
        usage = ann.ok("GET", "/v1/usage")
        assert (usage["memories"], usage["active"]) == (1, 1)
    with later(hours=4):
        night_shift(stack)
        assert ann.texts(status="all") == [KEPT[language]]
        journal = [key for key in objects(stack, ann.sub) if "/journal/" in key]
        assert all(names.FOLDED in key.rsplit("/", 1)[1] for key in journal)


@pytest.mark.parametrize("language", LANGUAGES)
def test_retention_counts_from_the_last_change_for_memories_of_every_kind(
    stack: Stack, ann: Person, language: str
) -> None:
    old = ann.add(CODE[language], scope="project", project="house")
    secret = ann.add("My wifi password is rosebud77.", category="credential")
    kept = ann.add(KEPT[language])
    ann.ok("PATCH", "/v1/settings", {"retention_days": 30})
    assert tidied(stack, ann.sub)
    with later(days=29):
        assert old["content"] in ann.texts()
        ann.ok("PATCH", f"{MEMORIES}/{kept['id']}", {"importance": 9})
    with later(days=31):
        assert ann.texts(status="all") == [KEPT[language]]
        assert ann.found(ASKED[language], project="*") in ([], [KEPT[language]])
        for gone in (old, secret):
            assert ann.call("GET", f"{MEMORIES}/{gone['id']}").status == 404
            assert ann.call("POST", f"{MEMORIES}/{gone['id']}/reveal").status == 404
        night_shift(stack)
        assert {item["sk"]["S"] for item in items_of(stack, ann.sub, "m#")} == {f"m#{kept['id']}"}
        assert ann.ok("GET", "/v1/projects")["projects"] == []
        again = ann.add(CODE[language], scope="project", project="house")
        assert again["id"] != old["id"]


def everything(person: Person) -> dict[str, Any]:
    """Return what every read answers, but for what a rebuild may change: counts of access, and the tasks that a table has."""
    memories = person.kept(status="all")
    answers: dict[str, Any] = {
        "list": memories,
        "by creation": person.kept(status="all", order="created"),
        "each": [person.ok("GET", f"{MEMORIES}/{one['id']}") for one in memories],
        "histories": [person.ok("GET", f"{MEMORIES}/{one['id']}/history") for one in memories],
        "revealed": [person.ok("POST", f"{MEMORIES}/{one['id']}/reveal") for one in memories],
        "found": {
            query: sorted(person.found(query, project="*")) for query in ("deploy", "绿茶", "PostgreSQL", "password")
        },
        "context": person.context("when is the deploy day", force=True, project="atlas")["text"],
        "settings": person.ok("GET", "/v1/settings"),
        "scenes": person.ok("GET", "/v1/scenes"),
        "usage": {name: person.ok("GET", "/v1/usage")[name] for name in ("memories", "active")},
    }
    return json.loads(json.dumps(answers), object_hook=_still)  # type: ignore[no-any-return]


def _still(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in {"access_count", "last_accessed_at"}}


def exported(person: Person) -> str:
    """Return the export with every version and secret, without its header (the time) and manifest (the digest of the header too)."""
    pages: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        query = {"history": "true", "include_credentials": "true", **cursor}
        page = person.ok("GET", "/v1/export", query=query)
        pages.append(page["data"])
        if page["next_cursor"] is None:
            return "\n".join("".join(pages).split("\n")[1:-2])
        cursor = {"cursor": page["next_cursor"]}


def lived_in(stack: Stack, person: Person) -> None:
    """Memories of both languages: edited, dismissed, deleted, secret, learned, of projects; half of them folded and indexed."""
    first = person.add("The deploy day is Monday.")
    person.add("我每天喝绿茶", tags=["#tea"])
    person.add("My wifi password is rosebud77.")
    gone = person.add("This one is deleted.")
    person.ok("PATCH", "/v1/settings", {"max_results": 20, "language": "zh"})
    assert tidied(stack, person.sub)
    with later(hours=2):
        assert tidied(stack, person.sub)
    person.ok("PATCH", f"{MEMORIES}/{first['id']}", {"content": "The deploy day is Friday.", "importance": 9})
    refused = person.add("Nobody wants to know this.")
    person.ok("PATCH", f"{MEMORIES}/{refused['id']}", {"status": "dismissed"})
    person.ok("DELETE", f"{MEMORIES}/{gone['id']}")
    person.learn("We decided to use PostgreSQL for the backend.", project="atlas")
    person.add("Deploys need two reviewers.", scope="project", project="atlas")
    assert tidied(
        stack, person.sub
    )  # words weigh as the index counts them: it is to know everything, as after a rebuild


def wipe(stack: Stack, sub: str) -> None:
    for item in items_of(stack, sub):
        key = {"pk": item["pk"], "sk": item["sk"]}
        stack.clients.dynamodb.delete_item(TableName=os.environ["TABLE_NAME"], Key=key)


def test_after_the_table_was_lost_and_rebuilt_every_read_answers_as_before(
    stack: Stack, ann: Person, bob: Person
) -> None:
    lived_in(stack, ann)
    bob.add("bob's own")
    taken_along = exported(ann)  # before anything is searched: counts of access are lost with a table
    assert all(text in taken_along for text in ("rosebud77", "我每天喝绿茶", "The deploy day is Monday.", "PostgreSQL"))
    before = everything(ann)
    wipe(stack, ann.sub)
    stack.functions.reload()
    lost = ann.call("POST", MEMORIES, {"content": "one more"})
    assert (lost.status, lost.code) == (503, "rebuilding")
    assert bob.texts() == ["bob's own"]
    night_shift(stack)
    assert exported(ann) == taken_along
    assert everything(ann) == before
    ann.add("one more")


def test_one_owner_is_rebuilt_on_command(stack: Stack, ann: Person) -> None:
    lived_in(stack, ann)
    before = everything(ann)
    wipe(stack, ann.sub)
    stack.functions.reload()
    function = next(name for name, one in stack.deployment.functions.items() if ".maintenance." in one.handler)
    command = {"kind": "rebuild", "owner": owner_of(stack, ann.sub)}
    assert stack.functions.invoke(function, command, "request") == {"owners": 1}
    assert stack.wait_until_idle()
    assert everything(ann) == before


@pytest.mark.parametrize("how", ["flipped", "deleted"])
def test_an_index_that_was_broken_hides_nothing_and_is_mended_by_the_next_run(
    stack: Stack, ann: Person, how: str
) -> None:
    lived_in(stack, ann)
    assert tidied(stack, ann.sub)
    before = everything(ann)
    bucket, s3 = os.environ["BUCKET_NAME"], stack.clients.s3
    broken = [key for key in objects(stack, ann.sub) if "/index/" in key]
    for key in broken:
        body = objects(stack, ann.sub)[key]
        if how == "deleted":
            s3.delete_object(Bucket=bucket, Key=key)
        else:
            s3.put_object(Bucket=bucket, Key=key, Body=body[:-2] + bytes([body[-2] ^ 1]) + body[-1:])
    stack.functions.reload()
    assert everything(ann) == before
    tended(ann)
    mended = {key for key in objects(stack, ann.sub) if "/index/" in key}
    assert mended
    assert not mended & set(broken)
    stack.functions.reload()
    assert everything(ann) == before


def test_a_journal_object_that_was_flipped_is_told_of_by_its_id_and_the_rest_is_served(
    stack: Stack, ann: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        ann.add(f"The harbour has pier number {number}.")
    texts = ann.texts()
    bucket, s3 = os.environ["BUCKET_NAME"], stack.clients.s3
    broken, *_ = sorted(key for key in objects(stack, ann.sub) if "/journal/" in key)
    body = objects(stack, ann.sub)[broken]
    s3.put_object(Bucket=bucket, Key=broken, Body=body[:-9] + bytes([body[-9] ^ 1]) + body[-8:])
    capsys.readouterr()
    tended(ann)
    log = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    told = [line for line in log if line["event"] == "damaged"]
    assert {(line["level"], line["journal"]) for line in told} == {("ERROR", broken.rsplit("/", 1)[1])}
    assert ann.texts() == texts, "the table has it still"
    wipe(stack, ann.sub)
    stack.functions.reload()
    tended(ann)
    assert ann.texts() == texts[:3], "only what stood in that one object is lost"
    assert sorted(ann.found("harbour pier")) == sorted(texts[:3])
    with later(hours=2):
        tended(ann)
        assert broken in objects(stack, ann.sub), "what does not open is left for who may be able to mend it"
        assert ann.texts() == texts[:3]


def test_a_message_twice_and_a_second_run_change_nothing(stack: Stack, ann: Person) -> None:
    lived_in(stack, ann)
    body = json.dumps({"v": 1, "kind": "tidy", "owner": owner_of(stack, ann.sub)})
    message = record(body, owner_of(stack, ann.sub), number=1)
    with later(hours=5):
        for _ in range(2):
            assert deliver(stack, "maintenance", message) == []
    with later(hours=8):
        assert deliver(stack, "maintenance", message) == []
        before = raw_bytes(stack)
        assert deliver(stack, "maintenance", message, message) == []
        assert raw_bytes(stack) == before
