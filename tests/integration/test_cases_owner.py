"""Cases from the field on whose memory it is, on faults of what lies below, and on what the logs say."""

import json
import logging
import time
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared import bootstrap
from tests.contract.aws import BUCKET, TABLE, edit_answer, lose_answer, refuse
from tests.integration.service import ISSUER, Service

MEMORIES = "/v1/memories"


def contents(service: Service, user: str, **query: str) -> list[str]:
    """Return the texts of a user's list."""
    return [memory["content"] for memory in service.call("GET", MEMORIES, user=user, query=query).json["memories"]]


@pytest.mark.case(9)
def test_case_9_texts_of_any_script_are_things_of_their_own(service: Service) -> None:
    made = [service.add(text) for text in ("นโยบาย", "ตารางก", "____", "______")]
    assert len({memory["id"] for memory in made}) == 4
    for memory in made:
        assert service.call("GET", f"{MEMORIES}/{memory['id']}").json["content"] == memory["content"]


@pytest.mark.case(15)
def test_case_15_lookalike_people_are_different_people(service: Service) -> None:
    users = [unicodedata.normalize("NFC", "jürgen"), unicodedata.normalize("NFD", "jürgen"), "user①", "user1", "user1 "]
    for number, user in enumerate(users):
        service.add(f"fact {number}", user=user)
    for number, user in enumerate(users):
        assert contents(service, user) == [f"fact {number}"]
    other = service.call("GET", MEMORIES, claims={"iss": f"{ISSUER}/other", "sub": "user1"})
    assert other.json["memories"] == []


@pytest.mark.case(38)
@pytest.mark.parametrize(
    "extra", [{"user_id": "bob"}, {"owner": "bob"}, {"pk": "o#bob"}, {"id": "0" * 26}, {"source": "auto"}]
)
def test_case_38_nobody_is_named_in_a_body(service: Service, extra: dict[str, str]) -> None:
    answer = service.call("POST", MEMORIES, {"content": "a fact"} | extra)
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, next(iter(extra)))
    assert contents(service, "ann") == contents(service, "bob") == []


@pytest.mark.case(39)
def test_case_39_another_persons_memory_is_404_and_stays_as_it_is(service: Service) -> None:
    made = service.add("password: hunter2Xy!")
    path = f"{MEMORIES}/{made['id']}"
    service.add("bob's own", user="bob")
    calls: list[tuple[str, str, Any]] = [
        ("GET", path, None),
        ("PATCH", path, {"importance": 1}),
        ("DELETE", path, None),
        ("GET", f"{path}/history", None),
        ("POST", f"{path}/revert", {"version": 1}),
        ("POST", f"{path}/reveal", None),
    ]
    for user in ("bob", "carl"):
        for method, target, body in calls:
            answer = service.call(method, target, body, user=user)
            assert (answer.status, answer.code) == (404, "not_found"), (user, method, target)
    assert service.call("GET", path).json == made


@pytest.mark.case(41)
@pytest.mark.parametrize("metadata", [{"user_id": "bob"}, {"pk": "USER#bob"}, {"SK": "m#1"}, {"Owner": "bob"}])
def test_case_41_metadata_names_no_owner(service: Service, metadata: dict[str, str]) -> None:
    made = service.add("a fact")
    answer = service.call("PATCH", f"{MEMORIES}/{made['id']}", {"metadata": metadata})
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, "metadata")
    assert service.call("GET", f"{MEMORIES}/{made['id']}").json == made
    assert contents(service, "bob") == []


@pytest.mark.case(42)
@pytest.mark.parametrize("user", ["..", "../bob", "a/b", "%2e%2e%2f", "a\\b", "a\x00b", "用户", "x" * 200])
def test_case_42_no_sign_of_a_subject_reaches_a_key(service: Service, user: str) -> None:
    service.add("a fact", user=user)
    keys = [one["Key"] for one in service.aws.s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
    assert keys
    for key in keys:
        owner = key.split("/")[1]
        assert (key[:2], len(owner), owner.isalnum(), owner.islower()) == ("o/", 52, True, True)
    assert contents(service, user) == ["a fact"]
    assert contents(service, "bob") == []


@pytest.mark.case(45)
def test_case_45_a_write_that_failed_shows_nobody_elses_memory(service: Service) -> None:
    service.add("ann's fact")
    service.add("bob's first", user="bob")
    refuse(bootstrap._client("dynamodb"), "TransactWriteItems", "AccessDeniedException", times=20)
    answer = service.call("POST", MEMORIES, {"content": "bob's second"}, user="bob")
    assert (answer.status, answer.code) == (500, "internal")
    assert contents(service, "bob") == ["bob's first"]
    assert contents(service, "carl") == []


@pytest.mark.case(46)
def test_case_46_one_idempotency_key_of_two_people_is_two_keys(service: Service) -> None:
    headers = {"Idempotency-Key": "7"}
    mine = service.call("POST", MEMORIES, {"content": "a fact"}, headers=headers)
    theirs = service.call("POST", MEMORIES, {"content": "a fact"}, headers=headers, user="bob")
    assert (mine.status, theirs.status) == (201, 201)
    assert "Idempotency-Replayed" not in theirs.headers
    assert mine.json["id"] != theirs.json["id"]


@pytest.mark.case(46)
@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"iss": ISSUER},
        {"sub": "ann"},
        {"iss": ISSUER, "sub": ""},
        {"iss": None, "sub": "a"},
        {"iss": ISSUER, "sub": ["a"]},
    ],
)
def test_who_is_nobody_gets_nothing_and_nothing_replayed(service: Service, claims: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": "7"}
    service.call("POST", MEMORIES, {"content": "a fact"}, headers=headers)
    for method, path in (("POST", MEMORIES), ("GET", MEMORIES), ("GET", "/v1/nothing")):
        answer = service.call(method, path, {"content": "a fact"}, headers=headers, claims=claims)
        assert (answer.status, answer.code) == (401, "unauthorized")


@pytest.mark.case(48)
def test_case_48_no_word_of_a_person_is_in_any_log(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")
    fresh_level()
    with caplog.at_level(logging.DEBUG):
        service.call("GET", "/v1/usage")  # the first line quietens the libraries
        caplog.clear()
        made = service.add("CANARY-7f3 我对花生过敏", scope="project", project="CANARY-project", tags=["#CANARY-tag"])
        path = f"{MEMORIES}/{made['id']}"
        service.call("PATCH", path, {"content": "CANARY-edited password: CANARYhunter2!"})
        service.call("POST", f"{path}/reveal")
        service.call("GET", MEMORIES, query={"project": "CANARY-project"})
        service.call("GET", "/v1/CANARY-path", query={"CANARY": "CANARY"})
        service.call("POST", MEMORIES, {"content": "CANARY", "CANARY-field": 1, "category": "CANARY"})
        service.call("POST", MEMORIES, '{"content":"CANARY')
        service.call("POST", MEMORIES, {"content": "CANARY-key"}, headers={"Idempotency-Key": "CANARY-key"})
        refuse(bootstrap._client("dynamodb"), "TransactWriteItems", "ValidationException")
        assert service.call("POST", MEMORIES, {"content": "CANARY-fault"}, user="CANARY-user").status == 500
    out = capsys.readouterr()
    assert out.out.count("\n") >= 10
    for text in (out.out, out.err, caplog.text):
        assert "CANARY" not in text
        assert "花生" not in text


@pytest.mark.case(49)
def test_case_49_a_line_says_nothing_of_the_invocation_before(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    service.add("a fact", user="ann")
    service.call("GET", MEMORIES, claims={})
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["status"], second["status"]) == (201, 401)
    assert set(second) - set(first) == {"error"}
    assert "ann" not in json.dumps([first, second])


@pytest.mark.case(51)
def test_case_51_an_item_copied_to_another_owner_does_not_open(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    made = service.add("a fact", user="ann")
    service.add("bob's own", user="bob")
    items = service.aws.dynamodb.scan(TableName=TABLE)["Items"]
    owners = {item["pk"]["S"]: item for item in items if item["sk"]["S"] == "head"}
    memory = next(item for item in items if item["sk"]["S"] == f"m#{made['id']}")
    (other,) = set(owners) - {memory["pk"]["S"]}
    moved: dict[str, Any] = {"pk": {"S": other}, "owner_status": {"S": other.removeprefix("o#") + "#active"}}
    service.aws.dynamodb.put_item(TableName=TABLE, Item=memory | moved)
    page = service.call("GET", MEMORIES, user="bob", query={"order": "created"}).json
    assert ([one["content"] for one in page["memories"]], page["damaged"]) == (["bob's own"], 1)
    answer = service.call("GET", f"{MEMORIES}/{made['id']}", user="bob")
    assert (answer.status, answer.code) == (503, "damaged")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    alarms = [line["event"] for line in lines if line["level"] == "ERROR"]
    assert alarms == ["damaged", "damaged"]


@pytest.mark.case(59)
@pytest.mark.parametrize(("client", "call"), [("s3", "PutObject"), ("dynamodb", "TransactWriteItems")])
@pytest.mark.parametrize("times", [1, 2])
def test_case_59_an_answer_that_was_lost_is_no_conflict_with_oneself(
    service: Service, client: str, call: str, times: int
) -> None:
    service.add("a first fact")
    lose_answer(bootstrap._client(client), call, times=times)
    answer = service.call("POST", MEMORIES, {"content": "a fact"}, headers={"Idempotency-Key": "k"})
    if answer.status != 201:
        assert answer.status in (500, 503)
        answer = service.call("POST", MEMORIES, {"content": "a fact"}, headers={"Idempotency-Key": "k"})
    assert answer.status == 201
    assert contents(service, "ann") == ["a fact", "a first fact"]


@pytest.mark.case(63)
@pytest.mark.parametrize(("client", "call"), [("s3", "PutObject"), ("dynamodb", "TransactWriteItems")])
def test_case_63_a_write_is_whole_or_it_is_an_error(service: Service, client: str, call: str) -> None:
    made = service.add("a fact")
    refuse(bootstrap._client(client), call, "InternalServerError", times=50, status=500)
    for answer in (
        service.call("POST", MEMORIES, {"content": "another"}),
        service.call("PATCH", f"{MEMORIES}/{made['id']}", {"importance": 9}),
        service.call("DELETE", f"{MEMORIES}/{made['id']}"),
    ):
        assert answer.status in (500, 503)
    assert service.call("GET", MEMORIES).json["memories"] == [made]
    assert service.call("GET", "/v1/usage").json["memories"] == 1


@pytest.mark.case(64)
def test_case_64_keys_that_were_left_unread_are_asked_for_again(service: Service) -> None:
    for number in range(12):
        service.add(f"fact {number}")

    def leave(parsed: dict[str, Any]) -> None:
        items = parsed["Responses"][TABLE]
        left, parsed["Responses"][TABLE] = items[:5], items[5:]
        keys = [{"pk": item["pk"], "sk": item["sk"]} for item in left]
        parsed["UnprocessedKeys"] = {TABLE: {"Keys": keys, "ConsistentRead": True}}

    edit_answer(bootstrap._client("dynamodb"), "BatchGetItem", leave)
    assert contents(service, "ann") == [f"fact {number}" for number in reversed(range(12))]


@pytest.mark.case(69)
def test_case_69_an_edit_of_the_text_keeps_metadata_and_tags(service: Service) -> None:
    made = service.add("a fact", metadata={"tag": "x"}, tags=["#keep"])
    path = f"{MEMORIES}/{made['id']}"
    edited = service.call("PATCH", path, {"content": "an edited fact"}).json
    assert (edited["metadata"], edited["tags"]) == ({"tag": "x"}, ["#keep"])
    answer = service.call("PATCH", path, {"content": {"a": 1}})
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, "content")
    assert service.call("PATCH", path, {"text": {"a": 1}}).status == 422
    assert service.call("GET", path).json == edited


@pytest.fixture(params=["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.case(71)
def test_case_71_times_are_utc_wherever_the_process_stands(zone: str, service: Service) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    made = service.add("a fact", expires_at="2999-01-01T08:00:00.123456+08:00")
    assert made["expires_at"] == "2999-01-01T00:00:00.123Z"
    for name in ("created_at", "updated_at"):
        assert made[name].endswith("Z")
        assert before <= datetime.fromisoformat(made[name]) <= datetime.now(UTC)
    since = before.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert contents(service, "ann", **{"from": since}) == ["a fact"]
    assert contents(service, "ann", to=since) == []


@pytest.mark.case(40)
def test_case_40_a_new_person_has_nothing_and_looking_makes_nothing(service: Service) -> None:
    service.add("ann's fact", scope="project", project="shop")
    paths = (MEMORIES, "/v1/settings", "/v1/usage", "/v1/projects", "/v1/audit")
    by_path = {path: service.call("GET", path, user="new").json for path in paths}
    assert contents(service, "new", order="created") == []
    assert by_path[MEMORIES] == {"memories": [], "next_cursor": None, "damaged": 0}
    assert by_path["/v1/projects"]["projects"] == by_path["/v1/audit"]["entries"] == []
    assert (by_path["/v1/settings"]["version"], by_path["/v1/usage"]["used_bytes"]) == (0, 0)
    owners = {item["pk"]["S"] for item in service.aws.dynamodb.scan(TableName=TABLE)["Items"]}
    assert len(owners) == 1


def fresh_level() -> None:
    """Let the log read its level again."""
    from shared import config, observability

    config.logs.cache_clear()
    observability._settings.cache_clear()
