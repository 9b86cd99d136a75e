"""Consolidation and its undo over real HTTP, with a scripted model, in both languages (D23)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from local.stack import Stack
from shared.domain import limits
from tests.e2e.client import MEMORIES, Person
from tests.e2e.model import answer, asking, fact, offered
from tests.scripted_model import Learns, Received, Reply, Says, ScriptedModel

TASKS = "/v1/tasks"
TIDIES = ("You tidy the notes", "你整理关于某一个人的笔记")


@dataclass(frozen=True)
class Tongue:
    """What is learned and merged in one language."""

    first: str
    second: str
    both: str
    dropped: str
    says_it: str
    new: str
    others: Callable[[int], str]


ZH = Tongue(
    "用户每天早上喝绿茶",
    "用户喝茶不放糖",
    "用户每天早上喝绿茶，不放糖",
    "用户每周三晚上打羽毛球",
    "用户每周三晚上在体育馆打羽毛球",
    "用户周末在西湖边跑步",
    lambda number: f"用户读过第 {number} 本小说",
)
EN = Tongue(
    "The user drinks green tea every morning",
    "The user drinks tea without any sugar",
    "The user drinks green tea without any sugar every morning",
    "The user plays chess on Wednesdays",
    "The user plays chess on Wednesdays at the club",
    "The user runs along the lake at weekends",
    lambda number: f"The user has read novel number {number}",
)


@dataclass
class Mind:
    """The model: it learns every line that it is told, and proposes what a test wants when it is to tidy."""

    tidies: Callable[[Received], Reply] = lambda _request: Says("[]")
    asked: list[Received] = field(default_factory=list)

    def __call__(self, request: Received) -> Reply:
        if any(words in request.body.decode() for words in TIDIES) or any(words in request.system for words in TIDIES):
            self.asked.append(request)
            return self.tidies(request)
        said = [line.partition("]: ")[2] for line in request.user.split("\n") if line.startswith("user [")]
        lines = [line.strip() for line in request.user.split("\n") if line.startswith("    ")]
        return Learns(answer(*(fact(text, category="preference") for text in [*said, *lines])))


@pytest.fixture(scope="module")
def mind() -> Mind:
    return Mind()


@pytest.fixture(scope="module")
def stack(mind: Mind) -> Iterator[Stack]:
    with ScriptedModel(otherwise=mind) as model, asking(model, ACTIVE_LIMIT="0") as running:
        yield running


@pytest.fixture(autouse=True)
def no_persona(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty new facts ask for maintenance at once; here the test says when it comes."""
    monkeypatch.setattr(limits, "PERSONA_NEWS", 1_000)


def alias(request: Received, text: str) -> str:
    """The alias under which a line is shown; each has its day."""
    (found,) = [line.partition(" (")[0] for line in request.user.split("\n") if line.endswith(f"): {text}")]
    return found


def operations(*told: dict[str, Any]) -> Learns:
    return Learns({"operations": list(told)})


def merges(tongue: Tongue) -> Callable[[Received], Reply]:
    def reply(request: Received) -> Reply:
        sources = [alias(request, tongue.first), alias(request, tongue.second)]
        return operations(
            {"op": "merge", "sources": sources, "content": tongue.both},
            {"op": "drop", "sources": [alias(request, tongue.dropped)], "content": ""},
        )

    return reply


def learned(person: Person, tongue: Tongue) -> Person:
    """Let the person have more learned memories than one should."""
    texts = [tongue.first, tongue.second, tongue.dropped, tongue.says_it]
    texts += [tongue.others(number) for number in range(1, 37)]
    for start in range(0, len(texts), 20):
        task = person.learn("\n".join(texts[start : start + 20]))
        assert task["learned"]["inserted"] == 20, task
    return person


def tidied(person: Person) -> dict[str, Any]:
    """Run maintenance and return the person's consolidation."""
    person.maintain()
    found = [task for task in person.ok("GET", TASKS)["tasks"] if task["kind"] == "consolidation"]
    made: dict[str, Any] = found[0]
    return made


def visible(person: Person) -> list[tuple[Any, ...]]:
    names = ("id", "content", "scope", "category", "importance", "source", "status", "updated_at")
    return sorted(tuple(memory[name] for name in names) for memory in person.kept(status="all"))


@pytest.mark.parametrize("tongue", [ZH, EN], ids=["zh", "en"])
def test_what_says_the_same_becomes_one_and_an_undo_brings_it_all_back(ann: Person, mind: Mind, tongue: Tongue) -> None:
    person, mind.tidies = learned(ann, tongue), merges(tongue)
    before = visible(person)
    ids = {content: memory_id for memory_id, content, *_ in before}
    task = tidied(person)
    assert (task["status"], task["error"]) == ("done", None)
    did = task["consolidation"]
    assert (did["scope"], did["merged"], did["dropped"], did["skipped"]) == ("user", 1, 1, 0)
    assert (did["undone"], did["stayed"], did["undo_until"] > task["updated_at"]) == (0, 0, True)
    assert task["usage"]["calls"] == 1
    (product,) = [memory for memory in person.kept() if memory["content"] == tongue.both]
    assert (product["source"], product["category"], product["version"]) == ("consolidated", "preference", 1)
    assert product["origin"]["task_id"] == task["id"]
    assert product["origin"]["model"] == "model-1 consolidate/1"
    gone = {tongue.first, tongue.second, tongue.dropped}
    assert not gone & set(person.texts(status="all"))
    assert not gone & set(person.found(tongue.both, limit=50))
    assert not any(text in person.context(tongue.both, force=True)["text"].split("\n") for text in gone)
    refused = person.call("GET", f"{MEMORIES}/{ids[tongue.first]}")
    assert (refused.status, refused.json["error"]["details"]) == (404, {"replaced_by": product["id"]})
    for method, path, body in (
        ("PATCH", "", {"importance": 9}),
        ("DELETE", "", None),
        ("GET", "/history", None),
        ("POST", "/reveal", None),
    ):
        assert person.call(method, f"{MEMORIES}/{ids[tongue.second]}{path}", body).status == 404
    history = person.ok("GET", f"{MEMORIES}/{product['id']}/history")
    assert [source["content"] for source in history["sources"]] == [tongue.first, tongue.second]
    again = person.call("POST", MEMORIES, {"content": tongue.first})
    assert (again.status, again.json["error"]["details"]) == (409, {"id": product["id"]})
    assert person.learn(tongue.second)["learned"]["touched"] == 1
    undone = person.ok("POST", f"{TASKS}/{task['id']}/undo")
    assert (undone["consolidation"]["undone"], undone["consolidation"]["stayed"]) == (2, 0)
    assert visible(person) == before
    assert person.ok("POST", f"{TASKS}/{task['id']}/undo") == person.ok("GET", f"{TASKS}/{task['id']}")
    assert person.call("GET", f"{MEMORIES}/{product['id']}").status == 404
    assert tongue.first in person.found(tongue.both)
    assert visible(person) == before


def everything(request: Received) -> list[str]:
    return [line.partition(" (")[0] for line in request.user.split("\n") if line.startswith("m") and ": " in line]


def drops_everything(request: Received) -> Reply:
    return operations({"op": "drop", "sources": everything(request), "content": ""})


def merges_all(request: Received) -> Reply:
    return operations({"op": "merge", "sources": everything(request), "content": EN.both})


def invents(request: Received) -> Reply:
    sources = [alias(request, EN.first), alias(request, EN.second)]
    return operations({"op": "merge", "sources": sources, "content": "The user drinks green tea with Bob"})


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (lambda _request: Says("Sorry, as an AI I would rather not."), "consolidation_unreadable"),
        (drops_everything, "consolidation_too_much"),
        (merges_all, "consolidation_too_much"),
        (invents, "consolidation_invented"),
    ],
    ids=["garbage", "drops everything", "merges all", "invents"],
)
def test_an_unsound_answer_changes_nothing_and_is_reported(
    ann: Person, mind: Mind, reply: Callable[[Received], Reply], code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    person, mind.tidies = learned(ann, EN), reply
    before = visible(person)
    task = tidied(person)
    assert (task["status"], task["error"], task["usage"]["calls"]) == ("failed", code, 1)
    assert visible(person) == before
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines() if '"task_failed"' in line]
    told = [(line["error"], line["level"]) for line in lines if line.get("kind") == "consolidation"]
    assert told == [(code, "ERROR")]
    undo = person.call("POST", f"{TASKS}/{task['id']}/undo")
    assert (undo.status, undo.code) == (409, "not_possible_now")
    retry = person.call("POST", f"{TASKS}/{task['id']}/retry")
    assert (retry.status, retry.code) == (409, "not_possible_now")


def test_what_a_person_wrote_or_refused_is_never_shown_and_what_is_new_survives(ann: Person, mind: Mind) -> None:
    person = learned(ann, EN)
    mine = person.add("The user drinks green tea, written by hand")
    refused = next(memory for memory in person.kept() if memory["content"] == EN.others(1))
    person.ok("PATCH", f"{MEMORIES}/{refused['id']}", {"status": "dismissed"})
    edited = next(memory for memory in person.kept() if memory["content"] == EN.dropped)

    def meanwhile(request: Received) -> Reply:
        person.add(EN.new)
        person.ok("PATCH", f"{MEMORIES}/{edited['id']}", {"importance": 9})
        return merges(EN)(request)

    mind.tidies = meanwhile
    task = tidied(person)
    request = mind.asked[-1]
    assert len(everything(request)) == 39
    assert mine["content"] not in request.user
    assert not any(
        f"): {refused['content']}" == line[-len(refused["content"]) - 3 :] for line in request.user.split("\n")
    )
    assert not offered(request)
    assert not any(memory["id"] in request.user for memory in person.kept(status="all"))
    assert (task["consolidation"]["merged"], task["consolidation"]["skipped"]) == (1, 1)
    texts = set(person.texts())
    assert {EN.both, EN.new, EN.dropped, mine["content"]} <= texts
    assert person.texts(status="dismissed") == [refused["content"]]


def test_undo_is_refused_for_what_is_no_consolidation_of_ones_own(ann: Person, bob: Person, mind: Mind) -> None:
    person, mind.tidies = learned(ann, ZH), merges(ZH)
    task = tidied(person)
    assert bob.call("POST", f"{TASKS}/{task['id']}/undo").status == 404
    assert person.call("POST", f"{TASKS}/nothing/undo").status == 404
    (learning, *_) = [one for one in person.ok("GET", TASKS)["tasks"] if one["kind"] == "extraction"]
    refused = person.call("POST", f"{TASKS}/{learning['id']}/undo")
    assert (refused.status, refused.code) == (409, "not_possible_now")
    product = next(memory for memory in person.kept() if memory["content"] == ZH.both)
    person.ok("PATCH", f"{MEMORIES}/{product['id']}", {"content": "用户改喝红茶了"})
    told = person.ok("POST", f"{TASKS}/{task['id']}/undo")["consolidation"]
    assert (told["undone"], told["stayed"]) == (1, 1)
    assert {"用户改喝红茶了", ZH.dropped} <= set(person.texts())


def test_deleting_what_was_consolidated_deletes_what_it_was_made_of(ann: Person, mind: Mind) -> None:
    person, mind.tidies = learned(ann, EN), merges(EN)
    tidied(person)
    product = next(memory for memory in person.kept() if memory["content"] == EN.both)
    person.ok("DELETE", f"{MEMORIES}/{product['id']}")
    person.maintain()
    assert person.ok("GET", "/v1/usage")["memories"] == len(person.kept(status="all")) + 1
    assert person.add(EN.first)["content"] == EN.first
