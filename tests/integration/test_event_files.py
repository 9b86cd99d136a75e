"""Every file in events/ is a payload as AWS sends it, and the real handler of its folder takes it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.stack import Stack

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "events").glob("*/*.json"))
HTTP_ALWAYS = {"version", "routeKey", "rawPath", "rawQueryString", "headers", "requestContext", "isBase64Encoded"}
HTTP_SOMETIMES = {"body", "cookies", "pathParameters", "queryStringParameters"}
RECORD = {
    "messageId",
    "receiptHandle",
    "body",
    "attributes",
    "messageAttributes",
    "md5OfBody",
    "eventSource",
    "eventSourceARN",
    "awsRegion",
}


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False) as running:
        yield running


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def function_of(stack: Stack, folder: str) -> str:
    path = f"functions.{folder}.app.handler"
    return next(name for name, function in stack.deployment.functions.items() if function.handler == path)


def test_every_function_of_the_template_has_event_files(stack: Stack) -> None:
    folders = {function.handler.split(".")[1] for function in stack.deployment.functions.values()}
    assert {path.parent.name for path in FILES} == folders


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_file_has_the_shape_of_its_source(path: Path) -> None:
    event: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "requestContext" in event:
        assert HTTP_ALWAYS <= set(event) <= HTTP_ALWAYS | HTTP_SOMETIMES
        assert all(name == name.lower() for name in event["headers"])
        assert all(isinstance(value, str) for value in event["requestContext"]["authorizer"]["jwt"]["claims"].values())
    elif "Records" in event:
        assert [set(record) for record in event["Records"]] == [RECORD] * len(event["Records"])
    else:
        assert event["kind"] in {"schedule", "rebuild"}


@pytest.mark.parametrize("path", FILES, ids=named)
def test_the_real_handler_takes_a_file(stack: Stack, path: Path) -> None:
    event: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    answer = stack.functions.invoke(function_of(stack, path.parent.name), event, "request-1")
    if "requestContext" in event:
        assert 200 <= answer["statusCode"] < 300, answer["body"]
    elif "Records" in event:
        assert answer == {"batchItemFailures": []}
    else:
        assert answer == {"owners": 0}
