"""Every route × every way to name somebody else: one refusal, nothing changed, nothing told.

The routes are those of docs/openapi.json, so a new one is in the matrix as soon as it is described. What changed is compared byte by
byte: ann's partition of the table and her prefix of the bucket.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from local.stack import Stack
from tests.e2e.client import MEMORIES, Answer, Person, request
from tests.e2e.storage import items_of, versions_of

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text(encoding="utf-8"))
Operation = tuple[str, str]
OPERATIONS: list[Operation] = sorted(
    (method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods
)
CANARY = "zanzibar"
"""Stands in every text and name of ann's."""
KEY = "the-key-that-ann-used"
ELSEWHERE = "01" + "0" * 24
BODIES: dict[str, Any] = {
    "RevertIn": {"version": 1},
    "FinalizeIn": {},
    "SettingsPatch": {"language": "zh"},
    "ReceiptIn": {
        "epoch": 1, "erased_at": "2026-11-30T00:00:00.000Z", "cleared_at": "2026-11-30T00:00:00.000Z", "objects": 0, "items": 0,
        "signature": "eA==",
    },
}  # fmt: skip
"""Of the bodies whose schema has no example."""
PERMITTED = "/v1/admin/"


def described(operation: Operation) -> dict[str, Any]:
    method, path = operation
    found: dict[str, Any] = DOCUMENT["paths"][path][method.lower()]
    return found


def parameters(operation: Operation, where: str) -> set[str]:
    return {one["name"] for one in described(operation).get("parameters", []) if one["in"] == where}


def body_of(operation: Operation) -> Any:
    """A body that the route takes, None where it takes none."""
    content = described(operation).get("requestBody", {}).get("content")
    if content is None:
        return None
    name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
    examples = DOCUMENT["components"]["schemas"][name].get("examples")
    assert name in BODIES or examples, f"{name} has no example: write a body for it into BODIES"
    return BODIES[name] if name in BODIES else examples[0]


def having(where: str, name: str) -> list[Operation]:
    """Routes with that parameter, but for those that want a permission first."""
    return [one for one in OPERATIONS if name in parameters(one, where) and PERMITTED not in one[1]]


def with_body() -> list[Operation]:
    return [one for one in OPERATIONS if body_of(one) is not None and PERMITTED not in one[1]]


@dataclass(frozen=True)
class Things:
    """What somebody has, by the names that paths and queries give it."""

    person: Person
    memory_id: str
    task_id: str
    project: str
    suggestion_id: str
    agent: str
    memory_etag: str
    scene_etag: str
    settings_etag: str
    cursors: Mapping[str, str]
    file: str

    def state(self) -> tuple[list[str], list[tuple[str, str]]]:
        """Every byte of theirs: the items, and all versions of objects, whose bytes never change."""
        stack, sub = self.person.stack, self.person.sub
        items = sorted(repr(item) for item in items_of(stack, sub))
        assert len(items) > 10
        return items, sorted(versions_of(stack, sub))


def lived(person: Person, word: str) -> Things:
    """A life with something of everything, told apart by a word."""
    memory = person.add(f"The {word} harbour opens at nine.")
    for number in range(5):
        memory = person.ok("PATCH", f"{MEMORIES}/{memory['id']}", {"content": f"The {word} harbour opens at {number}."})
    person.add(f"{word} password: hunter2Xy!")
    for number in (1, 2):
        person.add(f"The {word} crane number {number} is red.", scope="project", project=f"{word} {number}")
        person.ok("POST", f"{MEMORIES}/{memory['id']}/reveal")
    person.add(f"The {word} pilot flies low.", scope="agent", agent=f"{word} pilot")
    for number in (1, 2):
        task = person.learn(f"Remember: the {word} tide number {number} turns at noon.", project=f"{word} 1")
    person.ok("POST", "/v1/scenes/switch", {"project": f"{word} 1"})
    person.ok("PATCH", "/v1/scene", {"summary": f"All about {word}."}, query={"project": f"{word} 1"})
    person.ok("PATCH", "/v1/settings", {"max_results": 7})
    person.ok("PATCH", "/v1/settings", {"max_results": 8})
    lists = ("/v1/audit", MEMORIES, "/v1/projects", "/v1/scenes", "/v1/tasks")
    cursors = {path: str(person.ok("GET", path, query={"limit": 1})["next_cursor"]) for path in lists}
    scene = person.call("GET", "/v1/scene", query={"project": f"{word} 1"})
    settings = person.call("GET", "/v1/settings")
    stored = person.call("GET", f"{MEMORIES}/{memory['id']}")
    return Things(
        person=person,
        memory_id=memory["id"],
        task_id=task["id"],
        project=f"{word} 1",
        suggestion_id=memory["id"],
        agent=f"{word} pilot",
        memory_etag=stored.headers["etag"],
        scene_etag=scene.headers["etag"],
        settings_etag=settings.headers["etag"],
        cursors=cursors,
        file=person.ok("GET", "/v1/export", query={"include_credentials": "true"})["data"],
    )


@pytest.fixture(scope="module")
def ann(stack: Stack) -> Things:
    things = lived(Person(stack, "ann"), CANARY)
    assert None not in things.cursors.values()
    assert stack.wait_until_idle()
    return things


@pytest.fixture(scope="module")
def bob(stack: Stack) -> Things:
    things = lived(Person(stack, "bob"), "kilimanjaro")
    assert stack.wait_until_idle()
    return things


@dataclass(frozen=True)
class Sent:
    """A request for one route: with whose things, and what else is sent."""

    operation: Operation
    of: Things
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None

    @classmethod
    def to(cls, operation: Operation, of: Things, **more: Any) -> "Sent":
        query = {"project": of.project} if operation[1] == "/v1/scene" else {}
        query |= {"confirm": "true"} if "confirm" in parameters(operation, "query") else {}
        if operation == ("GET", "/v1/admin/memories"):
            query |= {"user_id": of.person.sub, "reason": "to look at it"}
        return cls(
            operation, of, query | more.pop("query", {}), more.pop("headers", {}), more.pop("body", body_of(operation))
        )

    @property
    def target(self) -> str:
        path = self.operation[1]
        for name in ("memory_id", "task_id", "suggestion_id", "project", "agent"):
            path = path.replace(f"{{{name}}}", quote(getattr(self.of, name), safe=""))
        return f"{path}?{urlencode(self.query)}" if self.query else path

    def by(self, stack: Stack, token: str | None) -> Answer:
        raw = None if self.body is None else json.dumps(self.body).encode()
        headers = {"authorization": f"Bearer {token}"} if token else {}
        headers |= {"content-type": "application/json"} if raw is not None else {}
        return request(stack, self.operation[0], self.target, raw, headers | dict(self.headers))


def token(things: Things) -> str:
    return things.person.stack.token(things.person.name, sub=things.person.sub)


def refused(stack: Stack, ann: Things, bob: Things, sent: Sent) -> Answer:
    """Let bob send it; ann's bytes are the same afterwards, and nothing of hers is in the answer."""
    before = ann.state()
    answer = sent.by(stack, token(bob))
    assert answer.status >= 300 or stack.wait_until_idle()
    assert ann.state() == before, answer.text
    assert CANARY not in answer.text
    assert CANARY not in str(answer.headers)
    return answer


def test_the_matrix_knows_a_body_for_every_route_that_takes_one() -> None:
    taking = [one for one in OPERATIONS if "requestBody" in described(one)]
    assert [one for one in taking if body_of(one) is None] == []
    assert len(OPERATIONS) > 40


@pytest.mark.parametrize("operation", OPERATIONS, ids=" ".join)
def test_without_a_valid_token_nothing_is_answered(stack: Stack, ann: Things, operation: Operation) -> None:
    person = ann.person
    expired = stack.token(person.name, ["memory:read", "agents:write"], sub=person.sub, lifetime=-1)
    before = ann.state()
    for sent in (None, expired, token(ann)[:-6] + "AAAAAA"):
        answer = Sent.to(operation, ann).by(stack, sent)
        assert (answer.status, answer.json) == (401, {"message": "Unauthorized"})
    assert ann.state() == before


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if PERMITTED in one[1]], ids=" ".join)
@pytest.mark.parametrize("groups", [[], ["agents"], ["memory:write", "admin", "memory:readers"]])
def test_without_the_permission_it_is_403_whatever_is_sent(
    stack: Stack, ann: Things, operation: Operation, groups: list[str]
) -> None:
    before = ann.state()
    for sent in (Sent.to(operation, ann), Sent.to(operation, ann, query={"owner": "x"}, body={"owner": 1})):
        answer = sent.by(stack, stack.token("bob", groups))
        assert (answer.status, answer.code) == (403, "forbidden")
        assert CANARY not in answer.text
    assert ann.state() == before


NAMED = [one for name in ("memory_id", "task_id", "suggestion_id", "project") for one in having("path", name)]
NAMED += [one for one in having("query", "project") if one[1] == "/v1/scene"]


@pytest.mark.parametrize("operation", NAMED, ids=" ".join)
@pytest.mark.parametrize("tag", [None, "ann's", "*"])
def test_anothers_id_is_the_same_as_one_that_never_was(
    stack: Stack, ann: Things, bob: Things, operation: Operation, tag: str | None
) -> None:
    etag = ann.scene_etag if "scene" in operation[1] else ann.memory_etag
    headers = (
        {"If-Match": etag if tag == "ann's" else tag} if tag and "if-match" in parameters(operation, "header") else {}
    )
    answer = refused(stack, ann, bob, Sent.to(operation, ann, headers=headers))
    nowhere = replace(ann, memory_id=ELSEWHERE, task_id=ELSEWHERE, suggestion_id=ELSEWHERE, project="nowhere")
    other = refused(stack, ann, bob, Sent.to(operation, nowhere, headers=headers))
    assert (answer.status, answer.code) == (404, "not_found")
    assert (other.status, other.json) == (answer.status, answer.json)


@pytest.mark.parametrize("operation", having("query", "cursor"), ids=" ".join)
def test_anothers_cursor_is_none(stack: Stack, ann: Things, bob: Things, operation: Operation) -> None:
    for cursor in (ann.cursors.get(operation[1], ann.cursors[MEMORIES]), bob.cursors[MEMORIES][:-2] + "AA"):
        answer = refused(stack, ann, bob, Sent.to(operation, bob, query={"cursor": cursor}))
        assert (answer.status, answer.code) == (422, "invalid_cursor")


@pytest.mark.parametrize("operation", having("header", "if-match"), ids=" ".join)
def test_anothers_etag_opens_nothing_of_ones_own(stack: Stack, ann: Things, bob: Things, operation: Operation) -> None:
    """Bob sends ann's ETags for what is his; where they are the same number, his must be another one first."""
    path = operation[1]
    if "{suggestion_id}" in path:
        assert refused(stack, ann, bob, Sent.to(operation, bob, headers={"If-Match": ann.scene_etag})).status == 404
        return
    etag = ann.scene_etag if path in {"/v1/scene", "/v1/scenes/{project}", "/v1/persona"} else '"77"'
    before = bob.state()
    answer = refused(stack, ann, bob, Sent.to(operation, bob, headers={"If-Match": etag}))
    assert (answer.status, answer.code) == (412, "version_mismatch")
    assert bob.state() == before


@pytest.mark.parametrize("operation", with_body(), ids=" ".join)
def test_a_body_that_says_whose_it_is_is_refused(stack: Stack, ann: Things, bob: Things, operation: Operation) -> None:
    before = ann.state(), bob.state()
    foreign = {"user_id"} if operation == ("POST", "/v1/import") else set()  # there it is a part of another tool's key
    for name in sorted({"owner", "owner_id", "sub", "iss", "tenant_id", "pk", "life", "user_id"} - foreign):
        body = body_of(operation) | {name: ann.person.sub}
        answer = Sent.to(operation, bob, body=body).by(stack, token(bob))
        assert (answer.status, answer.code) == (422, "invalid"), answer.text
        assert CANARY not in answer.text
    assert (ann.state(), bob.state()) == before


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if PERMITTED not in one[1]], ids=" ".join)
def test_a_query_that_says_whose_it_is_is_refused(stack: Stack, ann: Things, bob: Things, operation: Operation) -> None:
    before = bob.state()
    for name in ("owner", "user_id", "sub"):
        answer = refused(stack, ann, bob, Sent.to(operation, bob, query={name: ann.person.sub}))
        assert (answer.status, answer.code, answer.fields) == (422, "invalid", [name])
    assert bob.state() == before


@pytest.mark.parametrize("operation", having("header", "idempotency-key"), ids=" ".join)
def test_anothers_idempotency_key_is_ones_own(stack: Stack, operation: Operation) -> None:
    people = [Person(stack, "ann"), Person(stack, "bob")]
    word = {"POST /v1/memories": {"content": f"The {CANARY} tide"}}.get(" ".join(operation), body_of(operation))
    answers = []
    for person in people:
        person.add("Something to begin with.")
        person.ok("POST", "/v1/sessions", {})
        answers.append(person.call(*operation, word, headers={"Idempotency-Key": KEY}))
        assert stack.wait_until_idle()
    first, second = answers
    assert first.status == second.status < 300
    assert "idempotency-replayed" not in second.headers
    assert ids_of(first.json).isdisjoint(ids_of(second.json))


def ids_of(answer: Any) -> set[str]:
    return {str(answer[name]) for name in ("id", "task_id", "import_id") if answer.get(name)}


def test_a_forget_by_anothers_ids_or_names_forgets_nothing(stack: Stack, ann: Things, bob: Things) -> None:
    forget = ("POST", "/v1/forget")
    for meant in ({"ids": [ann.memory_id]}, {"project": ann.project}, {"agent": ann.agent}, {"query": CANARY}):
        for how in ({"dry_run": True}, {"confirm": True}):
            answer = sent_by(stack, ann, bob, forget, {**meant, **how})
            assert answer.status < 300, answer.text
            if "confirm" in how and answer.json.get("task_id"):
                assert bob.person.task(answer.json["task_id"])["progress"].get("forgotten", 0) == 0


def sent_by(stack: Stack, ann: Things, bob: Things, operation: Operation, body: Any) -> Answer:
    """Let bob send a body that names ann's things; what he sent himself may be said back to him, but none of her texts."""
    before = ann.state()
    answer = Sent.to(operation, bob, body=body).by(stack, token(bob))
    assert stack.wait_until_idle()
    assert ann.state() == before
    assert f"The {CANARY}" not in answer.text
    assert "hunter2" not in answer.text
    return answer


def test_search_and_context_find_nothing_by_anothers_names_and_words(stack: Stack, ann: Things, bob: Things) -> None:
    where = {"project": ann.project, "agent": ann.agent}
    search = sent_by(stack, ann, bob, ("POST", "/v1/search"), {"query": f"{CANARY} harbour", **where})
    assert all("kilimanjaro" in memory["content"] for memory in search.json["memories"])
    for message in (f"What did we say about {CANARY} last time?", None):
        context = sent_by(stack, ann, bob, ("POST", "/v1/context"), {"message": message, "force": True, **where})
        assert CANARY not in context.json["text"]


def test_a_session_and_a_conversation_of_anothers_name_are_ones_own(stack: Stack, ann: Things, bob: Things) -> None:
    said = {"messages": [{"role": "user", "content": "Remember: gulls are loud."}], "trigger": "manual"}
    answer = sent_by(stack, ann, bob, ("POST", "/v1/conversations"), {**said, "session_id": ann.task_id})
    assert answer.json["task_id"] != ann.task_id
    sent_by(stack, ann, bob, ("POST", "/v1/sessions"), {"project": ann.project})


@pytest.mark.parametrize(("method", "path"), [("POST", MEMORIES), ("PATCH", f"{MEMORIES}/{{memory_id}}")])
def test_metadata_that_says_whose_it_is_is_refused(
    stack: Stack, ann: Things, bob: Things, method: str, path: str
) -> None:
    for name in ("user_id", "owner", "pk", "sk", "sub"):
        operation, content = (method, path), {"content": "gulls"} if method == "POST" else {}
        body = content | {"metadata": {name: ann.person.sub}}
        answer = refused(stack, ann, bob, Sent.to(operation, bob, body=body))
        assert (answer.status, answer.fields) == (422, ["metadata"])


@pytest.mark.parametrize("mode", ["merge", "overwrite", "replace"])
def test_a_file_of_anothers_ids_makes_ones_own(stack: Stack, ann: Things, mode: str) -> None:
    carl = Person(stack, "carl")
    before = ann.state()
    body = {"data": ann.file, "mode": mode, "confirm": True}
    answer = carl.call("POST", "/v1/import", body)
    assert answer.status < 300, answer.text
    assert stack.wait_until_idle()
    stack.run_maintenance()
    assert [text for text in carl.texts(status="all") if "harbour opens" in text] == [
        f"The {CANARY} harbour opens at 4."
    ]
    mine = {memory["id"] for memory in carl.kept(status="all")}
    carl.ok("DELETE", f"{MEMORIES}/{next(iter(mine))}")
    assert without_upkeep(ann.state()) == without_upkeep(before)


def without_upkeep(state: tuple[list[str], list[tuple[str, str]]]) -> list[str]:
    """Maintenance tidies everybody: her memories and what is known stay, byte by byte."""
    return [item for item in state[0] if "'sk': {'S': 'm#" in item or "'sk': {'S': 'd#" in item]


def test_anothers_import_goes_on_for_nobody_else(stack: Stack, ann: Things, bob: Things) -> None:
    eve = Person(stack, "eve")
    begun = eve.ok("POST", "/v1/import", {"data": ann.file, "last": False})
    body = {"data": "{}\n", "import_id": begun["task_id"]}
    answer = refused(stack, ann, bob, Sent.to(("POST", "/v1/import"), bob, body=body))
    other = refused(stack, ann, bob, Sent.to(("POST", "/v1/import"), bob, body={**body, "import_id": ELSEWHERE}))
    assert answer.status in {404, 422}
    assert (answer.status, answer.json) == (other.status, other.json)
    assert eve.texts() == []
