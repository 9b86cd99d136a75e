"""A person's day on the local stack, with every AWS call of every function judged by its role."""

import http.client
import json
import os
import urllib.parse
from collections.abc import Sequence
from typing import Any

import pytest

from local.stack import Stack
from tests.contract.roles import Roles, Watch


def send(
    stack: Stack, method: str, path: str, body: Any = None, *, refused: int = 0, groups: Sequence[str] = ()
) -> Any:
    """Send a request as ann, or as an official of those groups; return what came back, None for an empty answer.

    Asserts success, or the status it is to be refused with.
    """
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(stack.url).netloc, timeout=60)
    headers = {
        "authorization": f"Bearer {stack.token('olga' if groups else 'ann', groups)}",
        "content-type": "application/json",
    }
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


def administer(stack: Stack) -> None:
    """Look at ann's memories, write notes for an agent and take them away, and let a context tell them."""
    auditor, operator = ["memory:read"], ["agents:write"]
    assert send(stack, "GET", "/v1/admin/memories?user_id=ann&reason=a+complaint", groups=auditor)["memories"]
    assert not send(stack, "GET", "/v1/admin/memories?user_id=nobody&reason=a+complaint", groups=auditor)["memories"]
    for notes in ("Be brief.", "", "先查工单。"):
        send(stack, "PUT", "/v1/admin/agents/pilot/notes", {"notes": notes}, groups=operator)
        assert send(stack, "GET", "/v1/admin/agents/pilot/notes", groups=operator)["notes"] == notes
    assert (
        "先查工单。"
        in send(stack, "POST", "/v1/context", {"message": "what do you know about me", "agent": "pilot"})["text"]
    )
    assert send(stack, "GET", "/v1/audit")["entries"]


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
            day = (manage, learn, move, administer, tidy, recall, administer, lose_the_table, tidy, recall, administer)
            for step in day:
                stack.functions.reload()
                step(stack)

    assert watch.refused == []
    assert {
        ("Memories", "kms:GenerateDataKey"),
        ("Memories", "sqs:SendMessage"),
        ("Memories", "s3:DeleteObjectVersion"),
        ("Recall", "dynamodb:UpdateItem"),
        ("Admin", "dynamodb:PutItem"),
        ("Admin", "dynamodb:UpdateItem"),
        ("Admin", "kms:GenerateDataKey"),
        ("Admin", "s3:PutObject"),
        ("Recall", "kms:Decrypt"),
        ("Recall", "s3:GetObject"),
        ("Extraction", "s3:DeleteObjectVersion"),
        ("Maintenance", "s3:PutObject"),
        ("Maintenance", "s3:ListBucket"),
    } <= watch.seen
