"""Persona and suggestions through a consolidation, the end of its product, its undo, and a full storage, over HTTP (D8, D23, D24, B13)."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from local.stack import Stack
from shared.domain import limits
from tests.e2e.client import MEMORIES, Person
from tests.e2e.model import answer, asking, fact
from tests.e2e.test_consolidation import EN, TIDIES, ZH, Tongue, operations, tidied
from tests.scripted_model import Learns, Received, Reply, ScriptedModel

CONCISE = "I prefer concise answers"
SHORT = (
    "The user prefers short answers with code samples",
    "The user prefers answers that are short, with code examples",
    "Code snippets with short answers are what the user prefers",
)
ALL_SHORT = "The user prefers short answers with code samples, examples and snippets"
MERGES = ([(EN.first, EN.second)], EN.both), ([(ZH.first, ZH.second)], ZH.both), ([SHORT], ALL_SHORT)
SAYS = {EN.first: "Drinks green tea every morning.", ZH.first: "每天早上喝绿茶。", CONCISE: "Prefers concise answers."}


def aliases(request: Received) -> dict[str, str]:
    """The aliases of what a prompt shows with its day, by text."""
    lines = [line.partition("): ") for line in request.user.split("\n")]
    return {text: head.partition(" ")[0] for head, found, text in lines if found}


def mind(request: Received) -> Reply:
    """Learn every line; merge what says the same; portray what is known; word a pattern."""
    shown = aliases(request)
    if any(words in request.body.decode() or words in request.system for words in TIDIES):
        merges = [(sources, text) for (sources,), text in MERGES if all(one in shown for one in sources)]
        told = [
            {"op": "merge", "sources": [shown[one] for one in sources], "content": text} for sources, text in merges
        ]
        return operations(*told)
    if "p1: " in request.user:
        (pattern,) = [line.partition(":")[0] for line in request.user.split("\n") if SHORT[0] in line]
        named = {"pattern": pattern, "kind": "skill", "title": "Short answers with code", "text": SHORT[0]}
        return Learns({"suggestions": [named]})
    if "user [" not in request.user:
        told = [{"part": "traits", "text": text, "facts": [shown[one]]} for one, text in SAYS.items() if one in shown]
        return Learns({"statements": told})
    said = [line.partition("]: ")[2] for line in request.user.split("\n") if line.startswith("user [")]
    lines = [line.strip() for line in request.user.split("\n") if line.startswith("    ")]
    return Learns(answer(*(fact(text, category="preference") for text in [*said, *lines])))


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(otherwise=mind) as running:
        yield running


@pytest.fixture(scope="module")
def stack(model: ScriptedModel) -> Iterator[Stack]:
    with asking(model, ACTIVE_LIMIT="0", QUOTA_MEGABYTES="1") as running:
        yield running


def learned(person: Person, *texts: str, fill: tuple[int, int], tongue: Tongue = EN) -> None:
    told = [*texts, *(tongue.others(number) for number in range(*fill))]
    assert len(told) == 20
    assert person.learn("\n".join(told))["learned"]["inserted"] == 20


def statements(person: Person) -> list[tuple[str, list[str]]]:
    found = person.ok("GET", "/v1/persona")["statements"]
    return [(one["text"], one["memory_ids"]) for one in found]


def portrayed(person: Person, tongue: Tongue) -> list[tuple[str, list[str]]]:
    """Let a persona be made of what is about to be merged, and return its statements."""
    learned(person, tongue.first, tongue.second, fill=(1, 19), tongue=tongue)
    person.task(person.ok("POST", "/v1/persona/refresh")["task_id"])
    found = statements(person)
    assert [text for text, _ in found] == [SAYS[tongue.first]]
    learned(person, fill=(20, 40), tongue=tongue)
    return found


@pytest.fixture
def no_persona(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test asks for is portrayed."""
    monkeypatch.setattr(limits, "PERSONA_NEWS", 1_000)


@pytest.mark.usefixtures("no_persona")
@pytest.mark.parametrize("tongue", [ZH, EN], ids=["zh", "en"])
def test_an_undo_leaves_the_persona_as_it_was(ann: Person, tongue: Tongue) -> None:
    before = portrayed(ann, tongue)
    task = tidied(ann)
    assert task["consolidation"]["merged"] == 1
    (product,) = [memory["id"] for memory in ann.kept() if memory["content"] == tongue.both]
    assert statements(ann) == [(SAYS[tongue.first], [product])]
    ann.ok("POST", f"/v1/tasks/{task['id']}/undo")
    for _ in range(2):
        assert statements(ann) == before
        assert SAYS[tongue.first] in ann.context("so be it", new_session=False)["text"]
        ann.maintain()


@pytest.mark.usefixtures("no_persona")
@pytest.mark.parametrize("deed", ["DELETE", "PATCH"])
def test_what_was_consolidated_is_told_no_more_once_its_product_is_gone_or_says_something_else(
    ann: Person, deed: str
) -> None:
    portrayed(ann, EN)
    tidied(ann)
    (product,) = [memory["id"] for memory in ann.kept() if memory["content"] == EN.both]
    ann.ok(deed, f"{MEMORIES}/{product}", None if deed == "DELETE" else {"content": "The user drinks water"})
    for _ in range(2):
        assert statements(ann) == []
        assert "green tea" not in ann.context("so be it", new_session=False)["text"]
        ann.maintain()


@pytest.mark.usefixtures("no_persona")
def test_an_undo_leaves_an_accepted_suggestion_accepted(ann: Person) -> None:
    learned(ann, *SHORT, fill=(1, 18))
    ann.maintain()
    (one,) = ann.ok("GET", "/v1/suggestions")["suggestions"]
    ann.ok("PATCH", f"/v1/suggestions/{one['id']}", {"status": "accepted"})
    learned(ann, fill=(20, 40))
    task = tidied(ann)
    assert task["consolidation"]["merged"] == 1
    ann.ok("POST", f"/v1/tasks/{task['id']}/undo")
    for _ in range(2):
        (still,) = ann.ok("GET", "/v1/suggestions")["suggestions"]
        assert (still["id"], still["status"], still["memory_ids"]) == (one["id"], "accepted", one["memory_ids"])
        assert one["text"] in ann.context("so be it", new_session=False)["text"]
        ann.maintain()


def test_a_full_storage_asks_no_model_for_a_persona_and_says_so(ann: Person, model: ScriptedModel) -> None:
    mine = secrets.token_hex(20)  # the other owners of this module are maintained meanwhile
    for text in (CONCISE, mine):
        ann.add(text, category="preference")
    big: dict[str, Any] = {"metadata": {"x": secrets.token_urlsafe(2_800)}}
    made: list[str] = []
    while (added := ann.call("POST", MEMORIES, {"content": secrets.token_hex(100), **big})).status == 201:
        made.append(added.json["id"])
    assert (added.status, added.code) == (507, "quota_exceeded")
    for _ in range(2):
        ann.maintain()
    while ann.call("POST", MEMORIES, {"content": secrets.token_hex(100), **big}).status == 201:
        pass
    task = ann.task(ann.ok("POST", "/v1/persona/refresh")["task_id"])
    assert (task["status"], task["error"]) == ("failed", "quota_exceeded")
    asked = any(mine.encode() in request.body for request in model.requests)
    assert (asked, ann.ok("GET", "/v1/usage")["today"]["calls"]) == (False, 0)
    for memory_id in made[:20]:
        ann.ok("DELETE", f"{MEMORIES}/{memory_id}")
    ann.task(ann.ok("POST", "/v1/persona/refresh")["task_id"])
    assert statements(ann)[0][0] == SAYS[CONCISE]
    assert any(mine.encode() in request.body for request in model.requests)
    assert ann.ok("GET", "/v1/usage")["today"]["calls"] == 1
