"""Cases from the field at the edge: what is sent, how it is refused, and in what shape."""

import json
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import NotFound
from shared.text.schedules import FORMS
from tests.integration.service import ISSUER, Service, event, started

MEMORIES = "/v1/memories"
NO_ROUTE = "There is no such route."


@pytest.mark.case(13)
@pytest.mark.parametrize(
    "body",
    [
        r'{"content":"hi \ud83d"}',
        r'{"content":"hi","tags":["#\udc00"]}',
        r'{"content":"hi","metadata":{"\ud83d":1}}',
        r'{"content":"hi","metadata":{"a":[{"b":"\ud83d"}]}}',
        r'{"content":"hi","\ud83d":1}',
    ],
)
def test_case_13_half_a_character_is_refused(service: Service, body: str) -> None:
    answer = service.call("POST", MEMORIES, body)
    assert (answer.status, answer.code) == (422, "invalid")
    assert service.add(json.loads(r'"hi \ud83d\ude00"'))["content"] == "hi 😀"


@pytest.mark.case(16)
@pytest.mark.parametrize("sign", ["\u200b", "\u202e", "\u2066", "\ufeff", "\x00", "\u2028"])
def test_case_16_invisible_signs_are_refused_in_names_and_kept_in_texts(service: Service, sign: str) -> None:
    for wrong in (
        {"tags": [f"#user{sign}"]},
        {"scope": "project", "project": f"user{sign}x"},
        {"scope": "agent", "agent": f"a{sign}b"},
    ):
        answer = service.call("POST", MEMORIES, {"content": "a fact"} | wrong)
        assert answer.status == 422, wrong
        assert sign not in answer.text
    text = f"a{sign}b c"
    assert service.add(text)["content"] == text
    assert service.call("GET", MEMORIES, query={"project": f"x{sign}y"}).status == 422


@pytest.mark.case(17)
def test_case_17_separators_inside_a_text_come_back_as_they_went(service: Service) -> None:
    text = "a\u2028b\u2029c\x85d\r\ne\x0bf\x1cg"
    made = service.add(text, metadata={"k\u2028": text})
    assert made["content"] == text
    found = service.call("GET", MEMORIES).json["memories"]
    assert [(one["content"], one["metadata"]) for one in found] == [(text, {"k\u2028": text})]
    service.call("PATCH", f"{MEMORIES}/{made['id']}", {"importance": 9})
    versions = service.call("GET", f"{MEMORIES}/{made['id']}/history").json["versions"]
    assert [version["content"] for version in versions] == [text, text]


@pytest.mark.case(61)
@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999", "9223372036854775808", "1" * 5000]
)
def test_case_61_numbers_that_json_cannot_carry_are_refused(service: Service, number: str) -> None:
    answer = service.call("POST", MEMORIES, f'{{"content":"a fact","metadata":{{"s":{number}}}}}')
    assert (answer.status, answer.code) == (422, "invalid")
    assert "1111" not in answer.text


def test_numbers_that_json_can_carry_come_back_as_they_went(service: Service) -> None:
    sent = {"a": 9223372036854775807, "b": -9223372036854775808, "c": 0.1, "d": 1e300, "e": True, "f": None}
    assert service.add("a fact", metadata=sent)["metadata"] == sent


def test_a_name_that_stands_twice_and_deep_nesting_are_refused(service: Service) -> None:
    assert service.call("POST", MEMORIES, '{"content":"a","content":"b"}').status == 422
    for depth, status in ((limits.JSON_DEPTH - 2, 201), (limits.JSON_DEPTH - 1, 422), (100_000, 422)):
        nested = "[" * depth + "]" * depth
        answer = service.call("POST", MEMORIES, f'{{"content":"depth {depth}","metadata":{{"a":{nested}}}}}')
        assert answer.status == status, depth


@pytest.mark.parametrize(
    "body", ["{", "", "{'a':1}", '{"content":"a"} x', "[]", "null", "1", '"text"', '[{"content":"a"}]']
)
def test_a_body_that_is_no_json_object_is_refused(service: Service, body: str) -> None:
    answer = service.call("POST", MEMORIES, body)
    assert answer.status in (400, 422)
    assert answer.code in ("bad_request", "invalid")
    assert service.call("GET", MEMORIES).json["memories"] == []


@pytest.mark.case(62)
def test_case_62_a_text_too_long_and_a_body_too_large_are_refused(service: Service) -> None:
    answer = service.call("POST", MEMORIES, {"content": "字" * 100_000})
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, "content")
    answer = service.call("POST", MEMORIES, {"content": "a" * limits.BODY_BYTES})
    assert (answer.status, answer.code, answer.json["error"]["details"]) == (
        413,
        "too_large",
        {"limit_bytes": limits.BODY_BYTES},
    )


@pytest.mark.case(76)
@pytest.mark.parametrize("content", [None, "", " ", "\u200b ", "\u2060\ufeff", 7, ["a"], {"a": 1}, True])
def test_case_76_an_empty_content_is_not_stored(service: Service, content: Any) -> None:
    answer = service.call("POST", MEMORIES, {"content": content} if content is not None else {})
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, "content")
    assert service.call("GET", "/v1/usage").json["memories"] == 0


@pytest.mark.case(79)
@pytest.mark.parametrize("path", [MEMORIES, "/v1/projects", "/v1/audit"])
@pytest.mark.parametrize(
    "limit", ["0", "-1", "1.5", "abc", "", "1000000000", "true", "1_0", " 1", "+1", "٣", "201", "1e2"]
)
def test_case_79_a_limit_out_of_bounds_is_refused_and_the_bounds_are_named(
    service: Service, path: str, limit: str
) -> None:
    answer = service.call("GET", path, query={"limit": limit})
    assert (answer.status, answer.code) == (422, "invalid")
    (detail,) = answer.json["error"]["details"]
    assert detail["field"] == "limit"
    if limit.lstrip("-").isdecimal() and limit.isascii():
        assert detail["problem"] == ("This must be at most 200." if int(limit) > 1 else "This must be at least 1.")


@pytest.mark.case(79)
def test_case_79_the_bounds_themselves_are_taken(service: Service) -> None:
    for limit in ("1", "200"):
        assert service.call("GET", MEMORIES, query={"limit": limit}).status == 200


@pytest.mark.case(84)
def test_case_84_a_base64_body_is_read_and_one_that_is_no_utf8_is_refused(service: Service) -> None:
    answer = service.call("POST", MEMORIES, '{"content":"喝茶"}'.encode())
    assert (answer.status, answer.json["content"]) == (201, "喝茶")
    for body in (b"\xff\xfe", b'{"content":"\xff"}', b""):
        assert service.call("POST", MEMORIES, body).status in (400, 422)
    broken = event("POST", MEMORIES, body="@@@", headers={"Content-Type": "application/json"}, claims=ann())
    assert service.send(broken | {"isBase64Encoded": True}).status == 400


@pytest.mark.case(87)
def test_case_87_a_preflight_is_answered_and_a_route_that_raises_answers_an_opaque_id(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    preflight = service.call("OPTIONS", MEMORIES, headers={"Origin": "https://page.example"}, claims={})
    assert (preflight.status, preflight.text) == (204, "")
    from functions.memories.app import app
    from shared.bootstrap import keeping

    def broken() -> None:
        raise RuntimeError("CANARY-7f3 in an exception")

    overrides: dict[Any, Any] = app.dependency_overrides
    monkeypatch.setitem(overrides, keeping.memories, broken)
    answer = service.call("GET", f"{MEMORIES}/{'0' * 26}")
    assert (answer.status, answer.code) == (500, "internal")
    error_id = answer.json["error"]["details"]["error_id"]
    assert set(answer.json["error"]) == {"code", "message", "details"}
    out = capsys.readouterr().out
    assert error_id in out
    assert "RuntimeError" in out
    assert "CANARY" not in out + answer.text


@pytest.mark.case(88)
@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories/a%2Fb",
        "/v1/memories/a/b",
        "/v1/memories/😀",
        "/v1/memories/x/",
        "/v1/memories/",
        "/v1/memories/#",
        "/v1/memories/..",
        "/v1/memories/%2e%2e%2f",
        "/v1/memories/a\\b",
        "/v1/memories/a\x00b",
        "/v1/memories/01ARZ3NDEKTSV4RRFFQ69G5FAv",
        "/v1/memories/01ARZ3NDEKTSV4RRFFQ69G5FAV/nothing",
        "/v1/nothing",
        "/",
        "/v2/memories",
    ],
)
def test_case_88_a_path_that_names_nothing_is_404(service: Service, path: str) -> None:
    answer = service.call("GET", path)
    assert (answer.status, answer.code) == (404, "not_found")
    assert answer.headers["Content-Type"] == "application/json"


def test_an_address_that_no_route_has_is_told_from_a_memory_that_is_not_there(service: Service) -> None:
    for path in ("/", "/v2/memories", "/v1/nothing", f"{MEMORIES}/01ARZ3NDEKTSV4RRFFQ69G5FAV/nothing"):
        assert service.call("GET", path).json["error"] == {"code": "not_found", "message": NO_ROUTE}
    missing = service.call("GET", f"{MEMORIES}/01ARZ3NDEKTSV4RRFFQ69G5FAV").json["error"]
    assert missing == {"code": "not_found", "message": NotFound.message}


@pytest.mark.case(88)
@pytest.mark.parametrize(
    ("method", "path"), [("PUT", MEMORIES), ("DELETE", MEMORIES), ("POST", "/v1/usage"), ("HEAD", MEMORIES)]
)
def test_case_88_a_wrong_method_is_404(service: Service, method: str, path: str) -> None:
    for answer in (service.call(method, path, {}), service.call(method, path)):
        assert (answer.status, answer.json["error"]) == (404, {"code": "not_found", "message": NO_ROUTE})


@pytest.mark.case(88)
def test_case_88_a_line_end_after_a_path_is_not_overlooked(service: Service) -> None:
    made = service.add("a fact")
    assert service.call("GET", f"{MEMORIES}/{made['id']}\n").status == 404
    assert service.call("GET", f"{MEMORIES}\n").status == 404


@pytest.mark.case(89)
@pytest.mark.parametrize(
    ("media_type", "status"),
    [
        ("application/json", 201),
        ("Application/JSON; charset=UTF-8", 201),
        ('application/json;charset="utf-8"', 201),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/json; charset=utf-16", 415),
        ("application/jsonx", 415),
        ("application/json, text/plain", 415),
        ("", 415),
        (None, 415),
    ],
)
def test_case_89_only_json_in_utf8_is_read(service: Service, media_type: str | None, status: int) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    answer = service.send(event("POST", MEMORIES, body='{"content":"a fact"}', headers=headers, claims=ann()))
    assert answer.status == status
    if status == 415:
        assert answer.code == "unsupported_media_type"


def test_unknown_fields_and_parameters_are_refused_by_name(service: Service) -> None:
    answer = service.call("POST", MEMORIES, {"content": "a fact", "colour": "CANARY"})
    assert answer.json["error"]["details"] == [{"field": "colour", "problem": "There is no such field."}]
    answer = service.call("GET", MEMORIES, query={"limits": "CANARY"})
    assert answer.json["error"]["details"] == [{"field": "limits", "problem": "There is no such parameter."}]
    answer = service.call("GET", MEMORIES, query="status=active&status=dismissed")
    assert answer.status == 422


@pytest.mark.parametrize(
    ("method", "path", "sent", "field", "problem"),
    [
        ("POST", MEMORIES, {"content": ""}, "content", "This must not be empty."),
        ("POST", MEMORIES, {"content": "a fact", "project": ""}, "project", "This must not be empty."),
        ("POST", MEMORIES, {}, "content", "This is needed."),
        ("POST", MEMORIES, {"content": "a fact", "importance": 0}, "importance", "This must be at least 1."),
        ("POST", MEMORIES, {"content": "a fact", "importance": 11}, "importance", "This must be at most 10."),
        ("PATCH", "/v1/settings", {"max_results": 0}, "max_results", "This must be at least 1."),
        (
            "PATCH",
            "/v1/settings",
            {"schedule": "*/5 * * * *"},
            "schedule",
            f"Once an hour is the most; write a schedule {FORMS}.",
        ),
        (
            "PATCH",
            "/v1/settings",
            {"schedule": "每半小时"},
            "schedule",
            f"Once an hour is the most; write a schedule {FORMS}.",
        ),
        ("PATCH", "/v1/settings", {"custom_keywords": ["orchid"]}, "custom_keywords", "A JSON object is needed."),
        ("POST", "/v1/forget", {"ids": ["01ABC"]}, "ids.0", "This is not an id."),
        ("POST", "/v1/forget", {"date": "30.11.2026"}, "date", "Write a day such as 2026-11-30."),
        ("POST", "/v1/forget", {"date": "2026-11-30T10:00:00Z"}, "date", "Write a day such as 2026-11-30."),
        ("POST", "/v1/forget", {"date": "2026-11-30T00:00:00Z"}, "date", "Write a day such as 2026-11-30."),
        ("POST", "/v1/forget", {"date": "2026-02-30"}, "date", "Write a day such as 2026-11-30."),
        ("POST", "/v1/conversations", {"messages": [], "trigger": "manual"}, "messages", "This must not be empty."),
    ],
)
def test_a_problem_is_said_in_words_that_say_what_to_send(
    service: Service, method: str, path: str, sent: dict[str, Any], field: str, problem: str
) -> None:
    answer = service.call(method, path, sent)
    assert (answer.status, answer.json["error"]["details"]) == (422, [{"field": field, "problem": problem}])


@pytest.mark.parametrize(
    "wrong",
    [
        {"importance": 0},
        {"importance": 11},
        {"importance": "5"},
        {"importance": 5.0},
        {"importance": True},
        {"category": "CANARY"},
        {"scope": "CANARY"},
        {"tags": "CANARY"},
        {"tags": ["CANARY without mark"]},
        {"tags": ["#two words CANARY"]},
        {"tags": ["#t"] * 21},
        {"metadata": ["CANARY"]},
        {"expires_at": "CANARY"},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"expires_at": "2999-01-01T00:00:00"},
        {"expires_at": "0001-01-01T00:00:00+23:59"},
        {"expires_at": 4102444800},
        {"project": "x" * 129},
        {"project": " CANARY"},
    ],
)
def test_a_wrong_field_is_named_and_its_value_is_not_repeated(service: Service, wrong: dict[str, Any]) -> None:
    answer = service.call("POST", MEMORIES, {"content": "a fact"} | wrong)
    assert (answer.status, answer.code) == (422, "invalid")
    assert answer.json["error"]["details"][0]["field"].partition(".")[0] == next(iter(wrong))
    assert "CANARY" not in answer.text


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 256, "a\tb"])
def test_an_idempotency_key_is_visible_ascii(service: Service, key: str) -> None:
    answer = service.call("POST", MEMORIES, {"content": "a fact"}, headers={"Idempotency-Key": key})
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, "idempotency-key")


def test_an_idempotency_key_with_commas_is_one_key(service: Service) -> None:
    for key in ("a,b", "a, b"):
        answer = service.call("POST", MEMORIES, {"content": "a fact"}, headers={"Idempotency-Key": key})
        assert answer.status == (201 if key == "a,b" else 422)


def test_a_repeated_request_says_that_it_is_one(service: Service) -> None:
    headers = {"Idempotency-Key": "key-1"}
    first = service.call("POST", MEMORIES, {"content": "a fact"}, headers=headers)
    again = service.call("POST", MEMORIES, {"content": "a fact"}, headers=headers)
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert ("Idempotency-Replayed" in first.headers, again.headers["Idempotency-Replayed"]) == (False, "true")
    other = service.call("POST", MEMORIES, {"content": "another"}, headers=headers)
    assert (other.status, other.code) == (422, "idempotency_key_reused")
    service.call("DELETE", f"{MEMORIES}/{first.json['id']}")
    spent = service.call("POST", MEMORIES, {"content": "a fact"}, headers=headers)
    assert (spent.status, spent.code) == (409, "idempotency_key_spent")


def test_every_answer_says_that_it_is_not_to_be_kept_and_which_request_it_answers(service: Service) -> None:
    for answer in (
        service.call("GET", MEMORIES),
        service.call("GET", "/nothing"),
        service.call("POST", MEMORIES, "{"),
        service.call("GET", MEMORIES, claims={}),
    ):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Request-Id"] == "request-1"


def test_a_lost_table_is_said_to_be_rebuilding_and_told_to_the_operator(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    service.add("a fact")
    for item in service.aws.dynamodb.scan(TableName="table")["Items"]:
        service.aws.dynamodb.delete_item(TableName="table", Key={"pk": item["pk"], "sk": item["sk"]})
    for answer in (service.call("POST", MEMORIES, {"content": "another"}), service.call("GET", MEMORIES)):
        assert (answer.status, answer.code) == (503, "rebuilding")
        assert int(answer.headers["Retry-After"]) > 0
    told = [line for line in capsys.readouterr().out.splitlines() if '"event":"damaged"' in line]
    assert len(told) == 2
    assert all('"rows":"lost"' in line and '"owner":"' in line for line in told)


def test_a_missing_variable_is_named_in_the_log_of_the_first_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with started(monkeypatch, TABLE_NAME="") as service:
        answer = service.call("GET", MEMORIES)
    assert (answer.status, answer.code) == (500, "internal")
    assert '"setting":"TABLE_NAME"' in capsys.readouterr().out


def ann() -> dict[str, str]:
    return {"iss": ISSUER, "sub": "ann"}
