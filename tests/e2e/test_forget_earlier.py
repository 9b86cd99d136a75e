"""Forgetting by words what a memory said before, over real HTTP: nothing says it any more, and a lost table brings nothing back."""

import json
import os
from typing import Any

import pytest

from local.stack import Stack
from shared import bootstrap
from shared.storage import lines, names
from shared.storage.journal import Journal
from tests.e2e.client import MEMORIES, Person
from tests.e2e.faults import tidied
from tests.e2e.storage import items_of, objects, owner_of
from tests.e2e.test_maintenance import exported, later, night_shift, wipe

SAID = {
    "en": ("Wilhelmina", "Ann works at Wilhelmina.", "Ann works at Bolt.", "Ann's employer is the hotel Wilhelmina."),
    "zh": ("威廉敏娜", "安在威廉敏娜上班", "安在博尔特上班", "安的雇主是威廉敏娜酒店"),
}
LANGUAGES = ["en", "zh"]


def said_to(person: Person) -> str:
    """Return, byte for byte, what the person can read of everything."""
    ids = [memory["id"] for memory in person.kept(status="all")]
    paths = [MEMORIES, *(f"{MEMORIES}/{one}{part}" for one in ids for part in ("", "/history"))]
    answers = [
        person.call("GET", path).text for path in (*paths, "/v1/tasks", "/v1/scenes", "/v1/persona", "/v1/audit")
    ]
    asked = person.context("where does Ann work, 安在哪里上班", force=True)["text"]
    return "\n".join([*answers, exported(person), asked, json.dumps(person.kept(status="all"), ensure_ascii=False)])


def kept_of(stack: Stack, sub: str) -> str:
    """Return what every version of every object of the person's journal says, opened with the person's keys."""
    vaults, owner = bootstrap.vaults(), owner_of(stack, sub)
    opened = vaults.open(owner)
    assert opened is not None
    journal, found = Journal(vaults.objects, opened.keys, vaults.random), []
    s3, bucket = stack.clients.s3, os.environ["BUCKET_NAME"]
    pages = s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=journal.prefix)
    for version in (one for page in pages for one in page.get("Versions", [])):
        body = s3.get_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])["Body"].read()
        found += [json.dumps(one.body, ensure_ascii=False) for one in journal.records(lines.decode(body), "")]
    return "\n".join(found)


def contents(person: Person, memory_id: str) -> list[tuple[int, str]]:
    versions = person.ok("GET", f"{MEMORIES}/{memory_id}/history")["versions"]
    return [(version["version"], version["content"]) for version in versions]


def edit(person: Person, memory_id: str, **sent: Any) -> None:
    person.ok("PATCH", f"{MEMORIES}/{memory_id}", sent)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("folded", [False, True], ids=["fresh", "folded"])
def test_what_a_memory_said_before_is_gone_everywhere_and_the_memory_stays(
    stack: Stack, ann: Person, bob: Person, language: str, *, folded: bool
) -> None:
    word, before, now, whole = SAID[language]
    memory = ann.add(before)["id"]
    edit(ann, memory, content=now)
    edit(ann, memory, importance=9)
    gone = ann.add(whole)["id"]
    theirs = bob.add(before)["id"]
    edit(bob, theirs, content=now)
    if folded:
        with later(hours=2):
            assert tidied(stack, ann.sub)
        assert any(names.FOLDED in key.rsplit("/", 1)[1] for key in objects(stack, ann.sub) if "/journal/" in key)
    assert word in said_to(ann)
    assert word in kept_of(stack, ann.sub)

    shown = ann.ok("POST", "/v1/forget", {"query": word, "dry_run": True})
    assert (shown["count"], shown["earlier_count"], shown["damaged"], shown["complete"]) == (1, 1, 0, True)
    assert [one["id"] for one in shown["memories"]] == [gone]
    assert [(one["id"], one["version"], one["content"]) for one in shown["earlier"]] == [(memory, 1, before)]
    assert contents(ann, memory) == [(3, now), (2, now), (1, before)]

    answer = ann.call("POST", "/v1/forget", {"query": word, "confirm": True})
    assert answer.status == 202, answer.text
    night_shift(stack)
    task = ann.task(answer.json["task_id"])
    assert (task["status"], task["progress"]) == ("done", {"forgotten": 1, "earlier": 1})
    assert contents(ann, memory) == [(3, now), (2, now)]
    refused = ann.call("POST", f"{MEMORIES}/{memory}/revert", {"version": 1})
    assert (refused.status, refused.code) == (404, "not_found")
    assert word not in said_to(ann)
    assert word not in kept_of(stack, ann.sub)
    assert ann.ok("POST", "/v1/forget", {"query": word, "dry_run": True})["earlier_count"] == 0
    assert contents(bob, theirs) == [(2, now), (1, before)]

    wipe(stack, ann.sub)
    stack.functions.reload()
    night_shift(stack)
    assert (ann.texts(), contents(ann, memory)) == ([now], [(3, now), (2, now)])
    assert word not in said_to(ann)
    reverted = ann.ok("POST", f"{MEMORIES}/{memory}/revert", {"version": 2})
    assert (reverted["content"], reverted["version"]) == (now, 4)


def test_a_secret_of_before_is_found_by_its_words_and_shown_masked(stack: Stack, ann: Person) -> None:
    memory = ann.add("My wifi password is rosebud77.")["id"]
    edit(ann, memory, content="The wifi is open.", category="knowledge")
    answer = ann.call("POST", "/v1/forget", {"query": "rosebud77", "dry_run": True})
    assert [(one["version"], one["masked"]) for one in answer.json["earlier"]] == [(1, True)]
    assert "rosebud77" not in answer.text
    assert ann.call("POST", "/v1/forget", {"query": "rosebud77", "confirm": True}).status == 202
    night_shift(stack)
    assert "rosebud77" not in kept_of(stack, ann.sub)


def test_what_does_not_open_is_counted_and_goes_where_its_line_opens(stack: Stack, ann: Person) -> None:
    ann.add("Ann works at Wilhelmina.")
    for item in items_of(stack, ann.sub, names.MEMORY):
        key = {"pk": item["pk"], "sk": item["sk"]}
        stack.clients.dynamodb.update_item(
            TableName=os.environ["TABLE_NAME"],
            Key=key,
            UpdateExpression="SET sealed = :other",
            ExpressionAttributeValues={":other": {"B": b"damaged"}},
        )
    shown = ann.ok("POST", "/v1/forget", {"query": "Wilhelmina", "dry_run": True})
    assert (shown["count"], shown["earlier_count"], shown["damaged"]) == (0, 0, 1)
    answer = ann.call("POST", "/v1/forget", {"query": "Wilhelmina", "confirm": True})
    night_shift(stack)
    task = ann.task(answer.json["task_id"])
    assert (task["status"], task["progress"]) == ("done", {"forgotten": 1})
