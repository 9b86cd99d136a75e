"""A person's day on the local stack, with every AWS call of every function judged by its role."""

import http.client
import json
import urllib.parse
from typing import Any

import pytest

from local.stack import Stack
from tests.contract.roles import Roles, Watch


def send(stack: Stack, method: str, path: str, body: Any = None) -> Any:
    """Send a request as ann; return what came back, None for an empty answer. Asserts success."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(stack.url).netloc, timeout=60)
    headers = {"authorization": f"Bearer {stack.token('ann')}", "content-type": "application/json"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    assert answer.status < 300, (method, path, answer.status, text)
    return json.loads(text) if text else None


def manage(stack: Stack) -> None:
    """Add, read, list, edit and delete."""
    kept = send(stack, "POST", "/v1/memories", {"content": "I drink green tea in the morning"})
    gone = send(stack, "POST", "/v1/memories", {"content": "我对花生过敏", "project": "kitchen", "scope": "project"})
    send(stack, "GET", f"/v1/memories/{kept['id']}")
    send(stack, "GET", "/v1/memories")
    send(stack, "PATCH", f"/v1/memories/{kept['id']}", {"content": "I drink black tea in the morning"})
    send(stack, "DELETE", f"/v1/memories/{gone['id']}")


def test_memories_needs_no_more_than_its_role() -> None:
    watch = Watch(Roles.of_the_template())
    with pytest.MonkeyPatch.context() as patch:
        watch.start(patch)
        with Stack.start(schedule=False) as stack:
            manage(stack)

    assert watch.refused == []
    assert {
        ("Memories", action) for action in ("dynamodb:UpdateItem", "kms:GenerateDataKey", "s3:PutObject")
    } <= watch.seen
