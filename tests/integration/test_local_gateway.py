"""The local gateway as an HTTP API: routes, events, answers, CORS, limits. No sockets, sample handlers."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from local import powertools
from local.emulation.patches import Patches
from local.gateway import Request
from local.routes import match
from tests.integration.local_api import (
    CORS,
    OWN,
    Api,
    Handler,
    api,
    deployment,
    echo,
    event_of,
    header,
    route,
)


def test_an_event_has_the_shape_of_payload_format_two() -> None:
    response = api(echo).send(
        "POST", "/v1/a?x=1", b'{"a":1}', content_type="application/json", user_agent="me", Host="h"
    )
    event = event_of(response)
    assert set(event) == {
        "version",
        "routeKey",
        "rawPath",
        "rawQueryString",
        "headers",
        "queryStringParameters",
        "requestContext",
        "body",
        "pathParameters",
        "isBase64Encoded",
    }
    assert (event["version"], event["routeKey"], event["body"]) == ("2.0", "POST /v1/{proxy+}", '{"a":1}')
    context = event["requestContext"]
    assert context["http"] == {
        "method": "POST",
        "path": "/v1/a",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "me",
    }
    assert (context["stage"], context["requestId"]) == ("$default", "id-1")
    assert (context["time"], context["timeEpoch"]) == ("14/Nov/2023:22:13:20 +0000", 1700000000500)
    assert header(response, "apigw-requestid") == "id-1"


def test_absent_parts_are_absent_and_not_null() -> None:
    event = event_of(api(echo, route("GET", "/v1/a", authorizer=None)).send("GET", "/v1/a", token=None))
    assert not {"body", "cookies", "queryStringParameters", "pathParameters", "stageVariables"} & set(event)
    assert event["rawQueryString"] == ""
    assert "authorizer" not in event["requestContext"]


def test_headers_are_lower_case_joined_by_commas_and_cookies_stand_apart() -> None:
    headers = (("X-Tag", "a"), ("x-tag", "b"), ("Cookie", "c=1; d=2"))
    ours = api(echo, route("GET", "/v1/a", authorizer=None))
    event = event_of(ours.gateway.answer(Request("GET", "/v1/a", headers, b"")))
    assert event["headers"]["x-tag"] == "a,b"
    assert "cookie" not in event["headers"]
    assert event["cookies"] == ["c=1", "d=2"]


def test_queries_are_decoded_joined_by_commas_and_kept_raw() -> None:
    event = event_of(api(echo).send("GET", "/v1/a?x=1&x=2&y=%E4%B8%AD+b&z="))
    assert event["rawQueryString"] == "x=1&x=2&y=%E4%B8%AD+b&z="
    assert event["queryStringParameters"] == {"x": "1,2", "y": "中 b", "z": ""}


@pytest.mark.parametrize(
    ("target", "path", "proxy"),
    [
        ("/v1/scenes/%E4%B8%AD%E6%96%87", "/v1/scenes/中文", "scenes/中文"),
        ("/v1/scenes/a%2Fb", "/v1/scenes/a/b", "scenes/a/b"),
        ("/v1/scenes/a+b%25", "/v1/scenes/a+b%", "scenes/a+b%"),
        ("/v1/scenes/a%3Fb=c", "/v1/scenes/a", "scenes/a"),
        ("/v1/scenes/%FF", "/v1/scenes/�", "scenes/�"),
    ],
)
def test_paths_arrive_decoded_and_end_at_a_decoded_question_mark(target: str, path: str, proxy: str) -> None:
    event = event_of(api(echo).send("GET", target))
    assert event["rawPath"] == event["requestContext"]["http"]["path"] == path
    assert event["pathParameters"] == {"proxy": proxy}


@pytest.mark.parametrize(
    ("kind", "body", "plain"),
    [
        ("application/json; charset=utf-8", "中".encode(), True),
        ("application/problem+json", b"{}", True),
        ("text/plain", b"a", True),
        ("application/octet-stream", b"a", False),
        ("application/x-www-form-urlencoded", b"a=1", False),
        ("application/json", b"\xff", False),
        ("", b"a", False),
    ],
)
def test_text_stays_text_and_everything_else_is_base64(kind: str, body: bytes, plain: bool) -> None:
    event = event_of(api(echo).send("POST", "/v1/a", body, content_type=kind))
    assert event["isBase64Encoded"] is not plain
    assert event["body"] == (body.decode() if plain else base64.b64encode(body).decode())


def test_the_most_specific_route_wins_and_default_comes_last() -> None:
    routes = [
        route("ANY", "$default"),
        route("ANY", "/{proxy+}"),
        route("GET", "/pets/{proxy+}"),
        route("GET", "/pets/dog/{id}"),
        route("ANY", "/pets/dog/1"),
        route("GET", "/pets/dog/1"),
    ]

    def taken(method: str, path: str) -> tuple[str, str, dict[str, str]]:
        found = match(routes, method, path)
        assert found is not None
        return found[0].method, found[0].path, found[1]

    assert taken("GET", "/pets/dog/1") == ("GET", "/pets/dog/1", {})
    assert taken("PUT", "/pets/dog/1") == ("ANY", "/pets/dog/1", {})
    assert taken("GET", "/pets/dog/2") == ("GET", "/pets/dog/{id}", {"id": "2"})
    assert taken("GET", "/pets/cat/1") == ("GET", "/pets/{proxy+}", {"proxy": "cat/1"})
    assert taken("POST", "/pets/dog/2") == ("ANY", "/{proxy+}", {"proxy": "pets/dog/2"})
    assert taken("GET", "/") == ("ANY", "$default", {})
    assert match(routes[3:], "GET", "/other") is None


def test_what_no_route_takes_is_not_found() -> None:
    response = api(echo, route("GET", "/v1/a")).send("GET", "/v1/b")
    assert (response.status, response.body) == (404, b'{"message":"Not Found"}')


def answering(answer: Any) -> Api:
    return api(lambda _event, _context: answer)


def test_an_answer_with_a_status_is_taken_as_it_is() -> None:
    answer = {"statusCode": 201, "headers": {"ETag": '"1"'}, "body": "中", "cookies": ["a=1", "b=2"]}
    response = answering(answer).send("GET", "/v1/a")
    assert (response.status, response.body.decode(), header(response, "etag")) == (201, "中", '"1"')
    assert [value for name, value in response.headers if name == "set-cookie"] == ["a=1", "b=2"]


def test_an_answer_without_body_gets_no_content_type() -> None:
    response = answering({"statusCode": 204}).send("GET", "/v1/a")
    assert (response.status, response.body, header(response, "content-type")) == (204, b"", None)


def test_a_handler_that_cannot_be_imported_is_a_server_error_every_time() -> None:
    plan = deployment(route("GET", "/v1/a"))
    absent = replace(plan.functions["function"], handler="functions.absent.app.handler")
    ours = Api(echo, replace(plan, functions={"function": absent}))
    assert [ours.send("GET", "/v1/a").status for _ in range(20)] == [500] * 20


def test_a_base64_answer_is_decoded_and_a_bare_value_is_a_json_body() -> None:
    packed = {"statusCode": 200, "body": base64.b64encode(b"\x00\xff").decode(), "isBase64Encoded": True}
    assert answering(packed).send("GET", "/v1/a").body == b"\x00\xff"
    bare = answering({"a": 1}).send("GET", "/v1/a")
    assert (bare.body, header(bare, "content-type")) == (b'{"a": 1}', "application/json")


def failing(event: Any, context: Any) -> Any:
    raise ValueError("the password is hunter2")


@pytest.mark.parametrize(
    "handler",
    [
        failing,
        lambda _event, _context: {"statusCode": "none"},
        lambda _event, _context: {"statusCode": 200, "body": "%%%", "isBase64Encoded": True},
        lambda _event, _context: {"statusCode": 200, "headers": {"a": "b\r\nc: d"}},
        lambda _event, _context: {"statusCode": 200, "body": "x" * (6 * 1024 * 1024)},
        lambda _event, _context: {"statusCode": 200, "body": object()},
    ],
)
def test_whatever_goes_wrong_in_a_function_the_caller_learns_nothing(
    handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    response = api(handler).send("GET", "/v1/a")
    assert (response.status, response.body) == (500, b'{"message":"Internal Server Error"}')
    assert "hunter2" not in caplog.text


@pytest.fixture
def never() -> Iterator[Handler]:
    over = threading.Event()

    def wait(event: Any, context: Any) -> Any:
        over.wait()

    yield wait
    over.set()


def test_a_function_that_outlasts_its_own_limit_is_a_server_error(never: Handler) -> None:
    assert api(never, timeout=0).send("GET", "/v1/a").status == 500


def test_a_function_that_outlasts_the_gateway_is_unavailable(never: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.gateway.INTEGRATION_SECONDS", 0.01)
    response = api(never, timeout=60).send("GET", "/v1/a")
    assert (response.status, response.body) == (503, b'{"message":"Service Unavailable"}')


@pytest.mark.parametrize("size", [10 * 1024 * 1024 + 1, 6 * 1024 * 1024])
def test_requests_above_the_limits_never_reach_the_function(size: int) -> None:
    ours = api(failing)
    response = ours.send("POST", "/v1/a", b"x" * size, content_type="text/plain")
    assert (response.status, response.body) == (413, b'{"message":"Request Too Long"}')
    assert ours.functions.failures == []


def test_a_handler_gets_a_context_like_lambdas() -> None:
    def look(event: Any, context: Any) -> Any:
        return [
            context.function_name,
            context.memory_limit_in_mb,
            context.aws_request_id,
            0 < context.get_remaining_time_in_millis() <= 29_000,
            context.invoked_function_arn.endswith(":function:function"),
        ]

    assert json.loads(api(look).send("GET", "/v1/a").body) == ["function", "128", "id-1", True, True]


def test_invocations_at_the_same_time_never_share_an_environment() -> None:
    gate = threading.Barrier(8)

    def meet(event: Any, context: Any) -> Any:
        gate.wait(10)
        return event["rawPath"]

    ours = api(meet)
    answers: dict[int, bytes] = {}

    def call(place: int) -> None:
        answers[place] = ours.send("GET", f"/v1/{place}").body

    threads = [threading.Thread(target=call, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {place: f"/v1/{place}".encode() for place in range(8)}


def test_powertools_keeps_the_requests_of_threads_apart() -> None:
    gate = threading.Barrier(8)
    app = APIGatewayHttpResolver()

    @app.get("/v1/<name>")
    def name_after_all_have_come(name: str) -> dict[str, Any]:
        gate.wait(10)
        claims = app.current_event.request_context.authorizer.jwt_claim
        return {
            "name": name,
            "path": app.current_event.path,
            "sub": claims["sub"],
            "id": app.lambda_context.aws_request_id,
        }

    patches = Patches()
    powertools.install(patches)
    try:
        ours = api(app.resolve)
        answers: dict[str, Any] = {}

        def call(sub: str) -> None:
            response = ours.send("GET", f"/v1/{sub}", token=ours.issuer.token(sub))
            answers[sub] = (json.loads(response.body), header(response, "apigw-requestid"))

        threads = [threading.Thread(target=call, args=(f"user-{place}",)) for place in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        patches.undo()
    assert len(answers) == 8
    for sub, (answer, request_id) in answers.items():
        assert answer == {"name": sub, "path": f"/v1/{sub}", "sub": sub, "id": request_id}


PREFLIGHT: dict[str, Any] = {"origin": "https://page.example", "access_control_request_method": "POST"}


def test_a_preflight_is_answered_by_the_gateway_without_a_token() -> None:
    ours = api(failing, route("OPTIONS", "/{proxy+}", authorizer=None), route("ANY", "$default"))
    response = ours.send("OPTIONS", "/v1/a", token=None, **PREFLIGHT)
    assert (response.status, response.body) == (204, b"")
    assert header(response, "access-control-allow-origin") == "https://page.example"
    assert header(response, "access-control-allow-methods") == "GET,POST"
    assert header(response, "access-control-allow-headers") == "authorization"
    assert header(response, "access-control-max-age") == "600"
    assert ours.functions.failures == []


def test_a_preflight_that_only_a_guarded_route_takes_is_refused_as_on_aws() -> None:
    assert api(echo, route("ANY", "$default")).send("OPTIONS", "/v1/a", token=None, **PREFLIGHT).status == 401


@pytest.mark.parametrize(("token", "status"), [(OWN, 500), (None, 401)])
def test_error_answers_carry_cors_headers_too(token: str | None, status: int) -> None:
    response = api(failing).send("GET", "/v1/a", token=token, origin="https://page.example")
    assert response.status == status
    assert header(response, "access-control-allow-origin") == "https://page.example"
    assert header(response, "access-control-expose-headers") == "etag"


def test_strange_origins_get_no_cors_headers_and_a_function_cannot_write_its_own() -> None:
    answer = {"statusCode": 200, "headers": {"Access-Control-Allow-Origin": "*"}}
    response = answering(answer).send("GET", "/v1/a", origin="https://evil.example")
    assert header(response, "access-control-allow-origin") is None


def test_a_star_allows_every_origin() -> None:
    response = api(echo, cors=replace(CORS, origins=("*",))).send("GET", "/v1/a", origin="https://any.example")
    assert header(response, "access-control-allow-origin") == "*"
