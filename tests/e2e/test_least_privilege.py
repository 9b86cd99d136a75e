"""A person's day on the local stack, with every AWS call of every function judged by its role."""

import http.client
import json
import os
import urllib.parse
from typing import Any

import pytest

from local.stack import Stack
from tests.contract.roles import Roles, Watch


def send(stack: Stack, method: str, path: str, body: Any = None, *, refused: int = 0) -> Any:
    """Send a request as ann; return what came back, None for an empty answer. Asserts success, or the status it is to be refused with."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(stack.url).netloc, timeout=60)
    headers = {"authorization": f"Bearer {stack.token('ann')}", "content-type": "application/json"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    assert answer.status == refused or (not refused and answer.status < 300), (method, path, answer.status, text)
    return json.loads(text) if text else None


def manage(stack: Stack) -> None:
    """Add, read, list, edit and delete."""
    kept = send(stack, "POST", "/v1/memories", {"content": "I drink green tea in the morning"})
    gone = send(stack, "POST", "/v1/memories", {"content": "我对花生过敏", "project": "kitchen", "scope": "project"})
    send(stack, "GET", f"/v1/memories/{kept['id']}")
    send(stack, "GET", "/v1/memories")
    send(stack, "PATCH", f"/v1/memories/{kept['id']}", {"content": "I drink black tea in the morning"})
    send(stack, "DELETE", f"/v1/memories/{gone['id']}")


def learn(stack: Stack) -> None:
    """Hand a conversation in and read what became of it."""
    messages = [
        {
            "role": "user",
            "content": "We decided to use PostgreSQL for the orders service. 记住：部署之前一定要先跑迁移脚本。",
        },
        {"role": "assistant", "content": "Understood."},
    ]
    accepted = send(stack, "POST", "/v1/conversations", {"messages": messages, "trigger": "manual"})
    assert stack.wait_until_idle()
    task = send(stack, "GET", f"/v1/tasks/{accepted['task_id']}")
    assert task["status"] == "done"
    assert task["memory_ids"]


def move(stack: Stack) -> None:
    """Export everything, import it once whole and once damaged."""
    first, *rest = send(stack, "GET", "/v1/export")["data"].splitlines(keepends=True)
    for wrong in ([], [first]):
        begun = send(stack, "POST", "/v1/import", {"data": first, "last": False})
        page = {"data": "".join([*wrong, *rest]), "import_id": begun["task_id"]}
        send(stack, "POST", "/v1/import", page, refused=422 if wrong else 0)
    damaged = send(stack, "POST", "/v1/import", {"data": first, "last": False})
    send(stack, "POST", "/v1/import", {"data": rest[-1], "import_id": damaged["task_id"]}, refused=422)


def recall(stack: Stack) -> None:
    """Search and ask for a context, in both languages."""
    assert send(stack, "POST", "/v1/search", {"query": "which tea in the morning"})["memories"]
    assert send(stack, "POST", "/v1/search", {"query": "部署之前要做什么"})["memories"]
    send(stack, "POST", "/v1/context", {"message": "which database does the orders service use"})


def tidy(stack: Stack) -> None:
    """Run maintenance for everyone, which rebuilds whose table is lost."""
    assert stack.run_maintenance()["idle"]


def lose_the_table(stack: Stack) -> None:
    """Delete every item, as an accident would."""
    table = os.environ["TABLE_NAME"]
    for page in stack.clients.dynamodb.get_paginator("scan").paginate(TableName=table):
        for item in page["Items"]:
            stack.clients.dynamodb.delete_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]})


def test_no_function_needs_more_than_its_role_on_a_whole_day() -> None:
    watch = Watch(Roles.of_the_template())
    with pytest.MonkeyPatch.context() as patch:
        watch.start(patch)
        with Stack.start(schedule=False) as stack:
            for step in (manage, learn, move, tidy, recall, lose_the_table, tidy, recall):
                stack.functions.reload()
                step(stack)

    assert watch.refused == []
    assert {
        ("Memories", "kms:GenerateDataKey"),
        ("Memories", "sqs:SendMessage"),
        ("Memories", "s3:DeleteObjectVersion"),
        ("Recall", "dynamodb:UpdateItem"),
        ("Recall", "kms:Decrypt"),
        ("Recall", "s3:GetObject"),
        ("Extraction", "s3:DeleteObjectVersion"),
        ("Maintenance", "s3:PutObject"),
        ("Maintenance", "s3:ListBucket"),
    } <= watch.seen
