"""Bringing memories along, over real HTTP: what was exported answers as before, and a file of somebody else or of nobody does no harm."""

import json
import os
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.facts import facts, queries
from local.stack import Stack
from tests.e2e.client import Person
from tests.e2e.storage import raw_bytes

IMPORT, EXPORT = "/v1/import", "/v1/export"
PAGE = Path(__file__).parents[2] / "docs" / "portability.md"


def exported(person: Person, **query: Any) -> list[str]:
    """Return the pages of an export."""
    pages: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = person.ok("GET", EXPORT, query={"include_credentials": "true", **query, **cursor})
        pages.append(page["data"])
        if page["next_cursor"] is None:
            return pages
        cursor = {"cursor": page["next_cursor"]}


def imported(person: Person, *pages: str, **more: Any) -> dict[str, Any]:
    """Send a file, let it be taken in, and return its task."""
    import_id = None
    for number, data in enumerate(pages, 1):
        page = {"data": data, "import_id": import_id, "last": number == len(pages), **more}
        import_id = person.ok("POST", IMPORT, page)["task_id"]
    person.maintain()
    return person.task(str(import_id))


def cut(file: str, size: int) -> list[str]:
    """Return a file in pages of so many lines."""
    lines = file.splitlines(keepends=True)
    return ["".join(lines[at : at + size]) for at in range(0, len(lines), size)]


def answers(person: Person, asked: list[str]) -> list[list[str]]:
    return [sorted(person.found(query, project="*", limit=50)) for query in asked]


def lists(person: Person) -> list[Any]:
    """Return what lists show, but for ids and what is counted."""
    shown = ["content", "scope", "project", "agent", "category", "importance", "status", "tags", "metadata", "masked"]
    shown += ["created_at", "updated_at", "expires_at"]
    memories = [[one[name] for name in shown] for one in person.kept(status="all", order="created")]
    scenes = person.ok("GET", "/v1/scenes", query={"limit": 200})["scenes"]
    told = sorted([one[name] for name in ("project", "name", "summary", "context", "active")] for one in scenes)
    settings = {name: one for name, one in person.ok("GET", "/v1/settings").items() if name != "version"}
    return [memories, told, settings, person.ok("GET", "/v1/days")]


def test_what_was_exported_answers_the_same_to_fifty_queries_after_an_erasure(ann: Person) -> None:
    rng = random.Random(6)
    told = facts(rng)
    where: list[dict[str, Any]] = [
        {},
        {"scope": "project", "project": "商城"},
        {"scope": "project", "project": "atlas"},
        {"scope": "agent", "agent": "coder"},
    ]
    texts = [next(told) for _ in range(80)]
    for number, text in enumerate(texts):
        ann.add(text, importance=1 + number % 10, tags=[f"#{number % 7}"], **where[number % 4])
    ann.add("数据库密码是 hunter2Xy!")
    ann.ok("PATCH", f"/v1/memories/{ann.kept()[5]['id']}", {"status": "dismissed"})
    ann.ok("PATCH", "/v1/scenes/atlas", {"name": "Atlas 地图", "summary": "All about maps."})
    ann.ok("POST", "/v1/scenes/switch", {"project": "商城"})
    ann.ok("PATCH", "/v1/settings", {"time_zone": "Asia/Shanghai", "language": "zh"})
    ann.maintain()
    asked = [*queries(texts, rng), "密码", "maps"][-50:]
    file = "".join(exported(ann))
    before, listed = answers(ann, asked), lists(ann)
    assert sum(bool(found) for found in before) > 40
    ann.call("POST", "/v1/account/erase", {"confirm": True})
    ann.maintain()
    assert ann.texts(status="all") == []
    task = imported(ann, *cut(file, 50))
    assert (task["status"], task["kind"], task["error"]) == ("done", "import", None)
    assert task["progress"] == {"imported": 81, "documents": file.count('"fields":') + 1, "refused": 0}
    assert lists(ann) == listed
    assert answers(ann, asked) == before
    secret = ann.kept(category="credential")[0]
    assert (secret["content"], secret["source"]) == ("数据库密码是 ***", "imported")
    assert ann.ok("POST", f"/v1/memories/{secret['id']}/reveal")["content"] == "数据库密码是 hunter2Xy!"


def test_the_commands_of_the_page_take_everything_along(ann: Person, bob: Person, tmp_path: Path) -> None:
    texts = [f"Fact 事实 {number}" for number in range(5)]
    for text in texts:
        ann.add(text)
    scripts = re.findall(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for person, script in zip((ann, bob), scripts, strict=True):
        environment = {**os.environ, "URL": person.stack.url, "TOKEN": person.stack.token(person.name, sub=person.sub)}
        command = ["bash", "-euo", "pipefail", "-c", script.replace("2000", "3")]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)  # noqa: S603 - the page's own
    bob.maintain()
    assert sorted(bob.texts()) == texts
    assert [
        task["progress"]["imported"] for task in bob.ok("GET", "/v1/tasks")["tasks"] if task["kind"] == "import"
    ] == [5]


def test_an_import_of_somebody_else_is_not_there(ann: Person, bob: Person) -> None:
    line = json.dumps({"kind": "memory", "content": "Ann's own."}) + "\n"
    begun = ann.ok("POST", IMPORT, {"data": line, "last": False})
    assert (begun["status"], begun["pages"], begun["complete"]) == ("queued", 1, False)
    theirs = bob.call("POST", IMPORT, {"data": line, "import_id": begun["task_id"]})
    assert (theirs.status, theirs.code) == (404, "not_found")
    assert bob.call("GET", f"/v1/tasks/{begun['task_id']}").status == 404
    assert imported(ann, line, import_id=begun["task_id"])["progress"]["imported"] == 1
    assert (ann.texts(), bob.texts()) == (["Ann's own."], [])


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ({}, 422, "invalid"),
        ({"data": "nothing of ours", "format": "nacre"}, 422, "invalid"),
        ({"data": "1,2\n3"}, 422, "invalid"),
        ({"data": '{"kind":"header","nacre":2}\n'}, 422, "invalid"),
        ({"data": "x", "format": "zip"}, 422, "invalid"),
        ({"data": "x", "mode": "steal"}, 422, "invalid"),
        ({"data": "x", "owner": "b"}, 422, "invalid"),
        ({"data": "x", "import_id": "../../o"}, 422, "invalid"),
        ({"data": "x", "import_id": "0" * 26}, 404, "not_found"),
        ({"data": "x", "last": "yes"}, 422, "invalid"),
        ({"data": "x", "mode": "replace"}, 422, "confirmation_needed"),
        ({"data": '{"kind":"header","nacre":1}\n{"kind":"manifest","counts":{},"sha256":"0"}\n'}, 422, "damaged_file"),
        ({"data": "x" * 5_600_000}, 413, "too_large"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_cannot_be_read_is_refused_at_once(ann: Person, sent: dict[str, Any], status: int, code: str) -> None:
    refused = ann.call("POST", IMPORT, sent)
    assert (refused.status, refused.code) == (status, code)
    assert ann.ok("GET", "/v1/tasks")["tasks"] == []


def test_refused_lines_are_named_and_no_word_of_them_is_kept_in_the_clear(ann: Person, stack: Stack) -> None:
    canary = "kanarienvogel"
    said = [{"content": f"{canary} one", "project": canary, "scope": "project"}, {"content": canary, canary: canary}]
    data = "".join(json.dumps({"kind": "memory"} | one) + "\n" for one in said)
    begun = ann.ok("POST", IMPORT, {"data": data, "last": False}, headers={"idempotency-key": "first"})
    assert ann.ok("POST", IMPORT, {"data": data, "last": False}, headers={"idempotency-key": "first"}) == begun
    assert canary.encode() not in raw_bytes(stack)
    task = imported(ann, "", import_id=begun["task_id"])
    assert (task["status"], task["progress"]) == ("done", {"imported": 1, "refused": 1, "documents": 0})
    assert task["report"] == [{"line": 2, "reason": "unknown_field", "field": canary}]
    assert canary.encode() not in raw_bytes(stack)
    assert ann.found(canary, project=canary) == [f"{canary} one"]


def test_replacing_leaves_what_the_file_holds(ann: Person) -> None:
    for text in ("留下 this", "Kept too"):
        ann.add(text)
    file = exported(ann)
    ann.add("Not in the file")
    task = imported(ann, *file, mode="replace", confirm=True)
    assert (task["status"], task["progress"]) == ("done", {"kept": 2, "forgotten": 1, "refused": 0, "documents": 1})
    assert sorted(ann.texts()) == ["Kept too", "留下 this"]
    assert ann.found("file") == []
