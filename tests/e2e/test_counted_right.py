"""Whoever writes counts: after a write of any kind, maintenance finds no counter to set right."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from local.stack import Stack
from shared import bootstrap
from shared.storage import recount, rows
from shared.storage.journal import Journal
from tests.e2e.client import MEMORIES, Person
from tests.e2e.storage import owner_of
from tests.e2e.test_consolidation_rules import ENOUGH, consolidations, learned
from tests.e2e.test_maintenance import later, night_shift
from tests.e2e.test_night_shift import SAME
from tests.e2e.test_persona import AGENTS, PERSONA, REFRESH, SUGGESTIONS

PLACE = "/v1/scenes/%E5%9C%B0%E5%9B%BE%2Fa"
LIMIT = 60
Deed = tuple[str, Callable[[], Any]]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False, parameters={"ActiveLimit": str(LIMIT)}) as running:
        yield running


def wrong(person: Person) -> dict[str, Any]:
    """What a recount would write: counters of the head, and those of projects."""
    vaults = bootstrap.vaults()
    opened = vaults.open(owner_of(person.stack, person.sub))
    assert opened is not None
    found = rows.read(vaults.table, opened.keys)
    assert found is not None
    heads = dict(recount._wrong(found, Journal(vaults.objects, opened.keys, vaults.random)))
    return heads | {write.sk: write.add for write in recount._projects(vaults, opened.keys, found)}


def by_hand(person: Person) -> Iterator[Deed]:
    made: list[str] = []
    add = {"content": "The kiln runs at 1200 degrees", "scope": "project", "project": "地图/a"}
    yield "add", lambda: made.append(person.add(**add)["id"])
    path = f"{MEMORIES}/{made[0]}"
    yield "edit", lambda: person.ok("PATCH", path, {"content": "窑炉烧到 1300 度", "tags": ["#kiln"]})
    yield "revert", lambda: person.ok("POST", f"{path}/revert", {"version": 1})
    yield "dismiss", lambda: person.ok("PATCH", path, {"status": "dismissed"})
    yield "restore", lambda: person.ok("PATCH", path, {"status": "active"})
    yield "delete", lambda: person.ok("DELETE", path)
    yield "settings", lambda: person.ok("PATCH", "/v1/settings", {"auto_capture": True})
    yield "switch", lambda: person.ok("POST", "/v1/scenes/switch", {"project": "地图/a"})
    yield (
        "rename a scene",
        lambda: person.ok("PATCH", "/v1/scene", {"name": "Map", "summary": "说明"}, query={"project": "地图/a"}),
    )


def by_learning(person: Person, tongue: str) -> Iterator[Deed]:
    wish, novel, *same = SAME[tongue]
    texts = [wish + novel.format(number) for number in range(ENOUGH)]
    yield "learn", lambda: learned(person, *texts, *(wish + text for text in same))
    yield "learn again", lambda: person.learn(texts[0], f"{wish}{novel.format('900')}", project="地图/a")
    yield "learn of nothing", lambda: person.learn("How tall is the tower, what do you think?", trigger="compaction")
    yield "merge", lambda: night_shift(person.stack)
    (task,) = consolidations(person)
    yield "undo", lambda: person.ok("POST", f"/v1/tasks/{task['id']}/undo")
    yield "begin a session", lambda: person.ok("POST", "/v1/sessions", {"project": "地图/a"})
    note = {"user_message": "记住这个：端口是 9999", "key_info": ["The port is 9999.", "The host is kiln."]}
    yield "note", lambda: person.ok("POST", "/v1/sessions/current/notes", note)
    yield "finalize", lambda: person.ok("POST", "/v1/sessions/current/finalize", {})
    for number in range(LIMIT - len(person.kept(status="active"))):
        person.add(f"Fill {number} up")
    archived = len(person.kept(status="archived"))
    yield "archive", lambda: person.learn(f"{wish}{novel.format('901')}", f"{wish}{novel.format('902')}")
    assert len(person.kept(status="archived")) > archived
    gone = [one["id"] for one in person.kept(status="active")[:20]]
    yield "forget", lambda: person.ok("POST", "/v1/forget", {"ids": gone, "confirm": True})


def by_portrait(person: Person, tongue: str) -> Iterator[Deed]:
    for agent in ("pilot", "copilot"):
        for text in AGENTS[tongue]:
            person.add(text, scope="agent", agent=agent, category="experience")
    yield "persona", lambda: person.ok("POST", REFRESH)
    yield "suggest", lambda: night_shift(person.stack)
    for status, one in zip(("accepted", "dismissed"), person.ok("GET", SUGGESTIONS)["suggestions"], strict=False):
        yield status, partial(person.ok, "PATCH", f"{SUGGESTIONS}/{one['id']}", {"status": status})
    yield "no persona", lambda: person.ok("DELETE", PERSONA)


def by_time(person: Person) -> Iterator[Deed]:
    file = "\n".join(f"- 带来的第 {number} 条" for number in range(5))
    yield "import", lambda: person.ok("POST", "/v1/import", {"data": file})
    yield "delete a scene", lambda: person.ok("DELETE", PLACE, query={"confirm": "true"})
    soon = {"content": "Gone by Friday", "expires_at": "2200-01-01T00:00:00Z"}
    yield "expiry", lambda: person.add(**soon)
    yield "retention", lambda: person.ok("PATCH", "/v1/settings", {"retention_days": 30})


def test_after_every_kind_of_write_maintenance_corrects_no_counter(
    stack: Stack, ann: Person, capfd: pytest.CaptureFixture[str]
) -> None:
    for deeds in (by_hand(ann), by_learning(ann, "zh"), by_portrait(ann, "en"), by_time(ann)):
        for what, do in deeds:
            do()
            assert stack.wait_until_idle()
            assert wrong(ann) == {}, what
            night_shift(stack)
            assert wrong(ann) == {}, f"maintenance after: {what}"
    for days in (2, 8, 32):
        with later(days=days):
            night_shift(stack)
            assert wrong(ann) == {}, f"{days} days later"
    assert ann.texts(status="all") == []
    assert '"event":"compared"' not in capfd.readouterr().out
