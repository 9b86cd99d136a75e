"""Search over HTTP: whose memories, which of them, in what order and why (C18 to C22)."""

import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.stack import Stack
from shared.recall.ranking import PRESETS
from tests.e2e.client import MEMORIES, SEARCH, Person
from tests.e2e.faults import before_each, refused, tidied
from tests.e2e.storage import objects


def place(project: str) -> dict[str, str]:
    return {"scope": "project", "project": project}


def experience(agent: str) -> dict[str, str]:
    return {"scope": "agent", "agent": agent}


@pytest.mark.parametrize("built", [False, True])
def test_a_project_sees_itself_and_the_person_and_a_star_sees_all(stack: Stack, ann: Person, built: bool) -> None:
    ann.add("release notes of shop", **place("商店"))
    ann.add("release notes of blog", **place("blog"))
    ann.add("release notes of mine")
    if built:
        assert tidied(stack, ann.sub)
    assert set(ann.found("release notes", project="商店")) == {"release notes of shop", "release notes of mine"}
    assert ann.found("release notes") == ["release notes of mine"]
    assert ann.found("release notes", project="nowhere") == ["release notes of mine"]
    assert ann.found("release notes", project="default") == ["release notes of mine"]
    assert len(ann.found("release notes", project="*")) == 3
    answer = ann.call("POST", SEARCH, {"query": "release notes", "project": "商店 "})
    assert (answer.status, answer.fields) == (422, ["project"])


@pytest.mark.parametrize("built", [False, True])
def test_agents_see_no_other_agents_memories(stack: Stack, ann: Person, built: bool) -> None:
    ann.add("retry of the build helps, says one", **experience("builder"))
    ann.add("retry of the build hurts, says two", **experience("critic"))
    if built:
        assert tidied(stack, ann.sub)
    assert ann.found("retry of the build", agent="builder") == ["retry of the build helps, says one"]
    assert ann.found("retry of the build") == ann.found("retry of the build", project="*") == []
    assert ann.found("retry of the build", agent="*") == []
    assert "critic" not in ann.context("retry of the build", agent="builder")["text"]
    assert "says two" not in ann.context("retry of the build", agent="builder")["text"]


@pytest.mark.parametrize("built", [False, True])
def test_people_see_nobody_elses_memories(stack: Stack, ann: Person, bob: Person, built: bool) -> None:
    ann.add("the quiet harbour opens at nine")
    bob.add("the loud harbour opens at ten")
    if built:
        assert tidied(stack, ann.sub)
        assert tidied(stack, bob.sub)
    assert ann.found("harbour opens", project="*") == ["the quiet harbour opens at nine"]
    assert bob.found("harbour opens", project="*") == ["the loud harbour opens at ten"]
    assert Person(stack, "carl").found("harbour opens") == []


def test_dismissed_ones_are_never_found_and_come_back_when_restored(stack: Stack, ann: Person) -> None:
    made = ann.add("the harbour opens at nine")
    for built in (False, True):
        for status, found in (("dismissed", 0), ("active", 1)):
            ann.ok("PATCH", f"{MEMORIES}/{made['id']}", {"status": status})
            if built:
                assert tidied(stack, ann.sub)
            assert len(ann.found("harbour")) == found
            assert len(ann.context("when does the harbour open")["memory_ids"]) == found


@pytest.mark.parametrize("built", [False, True])
def test_what_has_ended_hides_nothing(stack: Stack, ann: Person, built: bool) -> None:
    ann.add("I have met the walrus in the harbour of a small town, and it was asleep")
    soon = datetime.now(UTC) + timedelta(seconds=20)
    for number in range(105):
        ann.add(f"walrus {number}", expires_at=soon.isoformat())
    assert not built or tidied(stack, ann.sub)
    while datetime.now(UTC) <= soon + timedelta(seconds=1):  # the index knows whole seconds
        time.sleep(0.1)
    assert ann.found("walrus") == ["I have met the walrus in the harbour of a small town, and it was asleep"]


def test_an_edit_is_found_by_its_new_words_only(stack: Stack, ann: Person) -> None:
    made = ann.add("the harbour opens at nine")
    assert tidied(stack, ann.sub)
    ann.ok("PATCH", f"{MEMORIES}/{made['id']}", {"content": "the museum opens at ten"})
    for _ in range(2):
        assert ann.found("harbour") == []
        assert ann.found("museum") == ["the museum opens at ten"]
        assert tidied(stack, ann.sub)


def recomputed(signals: dict[str, float], preset: str, hits: list[dict[str, Any]]) -> float:
    """The score that a reader of the explanation would come to."""
    weights = PRESETS[preset]
    if weights.fusion == "product":
        fused = signals["coverage"] * signals["recency"]
    elif weights.fusion == "rrf":
        ordered = {
            name: sorted((hit["signals"] for hit in hits), key=lambda one: (-one[name], -one["text"]))
            for name in ("text", "recency", "popularity")
        }
        fused = sum(1 / (60 + 1 + places.index(signals)) for places in ordered.values())
    elif weights.fusion == "sum":
        fused = sum(getattr(weights, name) * signals[name] for name in ("text", "semantic", "recency", "popularity"))
    else:
        fused = sum(weight * signals[name] for name, weight in hits[0]["weights"].items())
    return fused * signals["category"] * signals["source"]


@pytest.mark.parametrize("preset", ["default", "rrf", "skill", "blend"])
def test_an_explanation_adds_up_to_the_score_and_scores_fall(ann: Person, preset: str) -> None:
    ann.add("we deploy the shop with blue-green releases", category="decision")
    ann.add("deploy windows are on Tuesdays")
    ann.add("部署之前要跑迁移脚本 deploy", category="constraint", importance=9)
    hits = ann.ok("POST", SEARCH, {"query": "deploy releases 部署", "explain": True, "preset": preset})["memories"]
    assert len(hits) == 3
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    for hit in hits:
        signals = hit["signals"]
        assert set(signals) >= {"text", "recency", "popularity", "coverage"}
        assert set(hit["matched"]) <= {"deploy", "releases", "部署"}
        assert "deploy" in hit["matched"]
        assert hit["score"] == pytest.approx(recomputed(signals, preset, hits), rel=1e-3)
        assert hit["score"] == pytest.approx(sum(hit["added"].values()), abs=5e-6)
        assert set(hit["added"]) <= set(hit["weights"]) <= set(hit["ranks"]) <= set(signals)
    assert [hit["ranks"]["text"] for hit in sorted(hits, key=lambda hit: -hit["signals"]["text"])] == [1, 2, 3]
    plain = ann.ok("POST", SEARCH, {"query": "deploy releases 部署", "preset": preset})["memories"]
    assert [hit["id"] for hit in plain] == [hit["id"] for hit in hits]
    assert {hit[part] for hit in plain for part in ("signals", "ranks", "weights", "added", "matched")} == {None}


def test_a_limit_is_kept_and_an_owners_own_limit_holds_without_one(ann: Person) -> None:
    for number in range(52):
        ann.add(f"harbour fact number {number}")
    assert len(ann.found("harbour fact")) == 10
    assert len(ann.found("harbour fact", limit=1)) == 1
    assert len(ann.found("harbour fact", limit=50)) == 50
    ann.ok("PATCH", "/v1/settings", {"max_results": 4})
    assert len(ann.found("harbour fact")) == 4
    assert len(ann.found("harbour fact", limit=7)) == 7
    assert len(ann.found("harbour fact", preset="skill")) == 3


@pytest.mark.parametrize("limit", [0, -1, 51, 1.5, 10.0, "3", True, 10**9, [], {}])
def test_a_limit_out_of_bounds_is_refused(ann: Person, limit: Any) -> None:
    answer = ann.call("POST", SEARCH, {"query": "harbour", "limit": limit})
    assert (answer.status, answer.fields) == (422, ["limit"])


def test_categories_narrow_a_search(ann: Person) -> None:
    ann.add("the harbour is a constraint", category="constraint")
    ann.add("the harbour is a decision", category="decision")
    ann.add("the harbour is knowledge")
    assert ann.found("harbour", categories=["decision"]) == ["the harbour is a decision"]
    assert len(ann.found("harbour", categories=["decision", "constraint"])) == 2
    assert len(ann.found("harbour", categories=[])) == 3
    assert ann.call("POST", SEARCH, {"query": "harbour", "categories": ["boats"]}).status == 422


def test_newer_beats_outdated(ann: Person) -> None:
    ann.add("the staging server is called Mars")
    ann.add("the staging server is called Venus")
    assert ann.found("what is the staging server called")[0] == "the staging server is called Venus"


@pytest.mark.parametrize("built", [False, True])
def test_newer_beats_outdated_in_peoples_own_words_and_however_often_the_old_one_was_read(
    stack: Stack, ann: Person, built: bool
) -> None:
    versions = (
        ("who is my manager", "My manager is Carla", "My manager is Dmitri now"),
        ("when is our standup", "Our standup is at 9:30", "Standup moved to 10:15"),
        ("我住在哪里", "我住在杭州", "现在我住在上海"),
        ("部署日是哪天", "部署日是周一", "部署日改到周四了"),
    )
    for ask, old, _ in versions:
        ann.add(old)
        for _ in range(6):
            assert ann.found(ask)[0] == old
    for _, _, new in versions:
        ann.add(new)
    if built:
        assert tidied(stack, ann.sub)
    assert [ann.found(ask)[0] for ask, *_ in versions] == [new for *_, new in versions]


def test_a_newer_fact_about_something_else_stays_behind_what_is_asked_for(ann: Person) -> None:
    apart = (
        ("does Ann like tea", "Ann likes tea", "Ann likes coffee in the morning"),
        ("错误码E17表示什么", "错误码E17表示磁盘满了", "错误码E42表示风扇停了"),
        ("which port is the admin console on", "The admin console is on port 8443", "The metrics page is on port 9443"),
    )
    for _, old, new in apart:
        ann.add(old)
        ann.add(new)
    assert [ann.found(ask)[0] for ask, *_ in apart] == [old for _, old, _ in apart]


def test_a_search_counts_as_an_access_of_what_it_found(ann: Person) -> None:
    found, other = ann.add("the harbour opens at nine"), ann.add("the museum opens at ten")
    for _ in range(3):
        ann.found("harbour")
    after = ann.ok("GET", f"{MEMORIES}/{found['id']}")
    assert (after["access_count"], after["version"], after["updated_at"]) == (3, 1, found["updated_at"])
    assert after["last_accessed_at"] >= found["created_at"]
    assert ann.ok("GET", f"{MEMORIES}/{other['id']}")["access_count"] == 0


def test_memory_that_is_off_is_not_searched_but_managed(ann: Person) -> None:
    ann.add("the harbour opens at nine")
    ann.ok("PATCH", "/v1/settings", {"enabled": False})
    answer = ann.ok("POST", SEARCH, {"query": "harbour"})
    assert (answer["memories"], answer["reason"]) == ([], "disabled")
    assert ann.context("harbour", force=True)["reason"] == "disabled"
    assert ann.texts() == ["the harbour opens at nine"]
    ann.add("managing goes on")


def test_what_is_a_credential_is_found_by_its_label_and_never_shown(ann: Person) -> None:
    ann.add("数据库密码是 Zq9!w3-xKd7")
    (hit,) = ann.ok("POST", SEARCH, {"query": "数据库密码"})["memories"]
    assert (hit["content"], hit["masked"], hit["category"]) == ("数据库密码是 ***", True, "credential")
    assert ann.found("Zq9!w3-xKd7") == ann.found("xKd7") == []


def test_an_index_that_is_lost_or_damaged_is_done_without(stack: Stack, ann: Person) -> None:
    ann.add("the harbour opens at nine")
    assert tidied(stack, ann.sub)
    (key,) = [key for key in objects(stack, ann.sub) if "/index/" in key]
    bucket, s3 = os.environ["BUCKET_NAME"], stack.clients.s3
    body = objects(stack, ann.sub)[key]
    for broken in (b"", body[:-1], bytes([body[0] ^ 1]) + body[1:], body[: len(body) // 2], b"x" * 100):
        s3.put_object(Bucket=bucket, Key=key, Body=broken)
        stack.functions.reload()
        assert ann.found("harbour") == ["the harbour opens at nine"]
    assert tidied(stack, ann.sub)
    s3.delete_object(Bucket=bucket, Key=key)
    stack.functions.reload()
    assert ann.found("harbour") == ["the harbour opens at nine"]


@pytest.mark.parametrize(
    ("service", "call", "code", "status"),
    [
        ("dynamodb", "Query", "InternalServerError", 500),
        ("dynamodb", "BatchGetItem", "ThrottlingException", 400),
        ("s3", "GetObject", "SlowDown", 503),
        ("kms", "Decrypt", "ThrottlingException", 400),
    ],
)
def test_a_store_that_fails_fails_a_search_and_no_chat(
    stack: Stack, ann: Person, service: str, call: str, code: str, status: int
) -> None:
    ann.add("the harbour opens at nine")
    assert tidied(stack, ann.sub)
    stack.functions.reload()
    with refused(service, call, code, status=status):
        answer = ann.call("POST", SEARCH, {"query": "harbour"})
        context = ann.context("when does the harbour open")
    if answer.status != 200:
        assert answer.status == 503
        assert answer.code in {"unavailable", "busy"}
        assert (context["text"], context["memory_ids"]) == ("", [])
        # Whoever asks a throttled table again and again runs out of time.
        assert context["reason"] in {"unavailable", "busy", "timeout"}
    assert ann.found("harbour") == ["the harbour opens at nine"]


def test_an_error_that_nobody_foresaw_gives_an_empty_context(stack: Stack, ann: Person) -> None:
    ann.add("the harbour opens at nine")

    def surprise() -> None:
        raise RuntimeError("CANARY")

    with before_each("dynamodb", "Query", surprise):
        context = ann.context("when does the harbour open")
        answer = ann.call("POST", SEARCH, {"query": "harbour"})
    assert (context["text"], context["reason"]) == ("", "unavailable")
    assert (answer.status, answer.code) == (500, "internal")
    assert "CANARY" not in answer.text
