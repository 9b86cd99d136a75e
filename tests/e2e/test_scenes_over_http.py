"""Scenes over HTTP, in both languages: named, switched to, archived, deleted, and telling nothing that has lost its memories (D25, C22)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from local.stack import Stack
from shared.domain import limits
from tests.e2e.client import CONTEXT, SEARCH, Answer, Person
from tests.e2e.faults import tidied
from tests.e2e.model import answer, asking, fact, taught
from tests.e2e.storage import raw_bytes
from tests.scripted_model import Learns, Received, ScriptedModel

NAMES = ["a/b", "项目一", "🦊 fox", "%2F", "..", "two words", "x" * 128, "Was nun?", "#1", "a//b/", "100%"]
OUT_OF_PATHS = {"..", "Was nun?"}
WORDS = {
    "en": ("Kestrel", "Kestrel deploys on Tuesdays.", "deploys on which day", "Which project is Kestrel?"),
    "zh": ("红隼", "红隼项目每周二发布。", "哪天发布", "红隼是什么项目？"),
}
LANGUAGES = list(WORDS)


@pytest.fixture(scope="module")
def stack(model: ScriptedModel) -> Iterator[Stack]:
    with asking(model) as running:
        yield running


def scene(person: Person, name: str) -> Any:
    return person.ok("GET", "/v1/scene", query={"project": name})


def listed(person: Person, status: str = "active") -> list[str]:
    return sorted(one["project"] for one in person.ok("GET", "/v1/scenes", query={"status": status})["scenes"])


def switch(person: Person, name: str | None) -> Any:
    return person.ok("POST", "/v1/scenes/switch", {"project": name})


def delete(person: Person, name: str, **query: str) -> Answer:
    return person.call("DELETE", "/v1/scene", query={"project": name, **query})


def patch(person: Person, project: str, /, **sent: Any) -> Any:
    return person.ok("PATCH", "/v1/scene", sent, query={"project": project})


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_addressable(ann: Person, name: str) -> None:
    assert switch(ann, name)["is_new"] is True
    memory = ann.add("It has a memory.", scope="project", project=name)
    ways: list[tuple[str, dict[str, str]]] = [("/v1/scene", {"project": name})]
    if name not in OUT_OF_PATHS:
        ways.append((f"/v1/scenes/{quote(name, safe='')}", {}))
    for path, query in ways:
        got = ann.ok("GET", path, query=query)
        assert (got["project"], got["memory_ids"], got["active"]) == (name, [memory["id"]], True)
        assert ann.ok("PATCH", path, {"name": f"shown {len(path)}"}, query=query)["name"] == f"shown {len(path)}"
    path, query = ways[-1]
    assert ann.call("DELETE", path, query=query).json["error"]["details"] == {"memories": 1}
    assert ann.ok("DELETE", path, query=query | {"confirm": "true"}) == {"deleted": 1, "remaining": 0, "done": True}
    assert (listed(ann, "all"), ann.texts()) == ([], [])


@pytest.mark.parametrize("name", ["", " ", "x" * 129, "*", "a\u202eb", "password: hunter2-Zebra9"])
def test_what_is_no_name_is_refused_and_changes_nothing(ann: Person, name: str) -> None:
    refused = ann.call("POST", "/v1/scenes/switch", {"project": name})
    assert (refused.status, refused.fields) == (422, ["project"])
    assert listed(ann, "all") == []


def test_another_persons_scene_and_one_that_is_not_there_are_the_same_404(ann: Person, bob: Person) -> None:
    switch(ann, "kestrel")
    for path in ("/v1/scenes/kestrel", "/v1/scenes/nothing", "/v1/scenes/default"):
        for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
            assert (bob.call(method, path, body).status, bob.call(method, path, body).code) == (404, "not_found")
    assert listed(ann) == ["kestrel"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_omitted_project_is_the_active_one_everywhere(ann: Person, model: ScriptedModel, language: str) -> None:
    name, text, query, _ = WORDS[language]
    taught(ann, model, fact(text, type="project"), project=name)
    assert (ann.found(query), ann.context(query, force=True)["memory_ids"]) == ([], [])
    assert switch(ann, name)["active"] is True
    assert ann.found(query) == [text]
    assert text in ann.context(query, force=True)["text"]
    for none in (None, "default"):
        assert ann.ok("POST", SEARCH, {"query": query, "project": none})["memories"] == []
        assert ann.ok("POST", CONTEXT, {"message": query, "project": none, "force": True})["memory_ids"] == []
    more = f"{text} 100"
    taught(ann, model, fact(more, type="project"))
    assert {memory["project"] for memory in ann.kept()} == {name}
    refused = ann.call("POST", "/v1/memories", {"content": "By hand.", "scope": "project"})
    assert (refused.status, refused.fields) == (422, ["project"])
    assert switch(ann, "default") | {"active": True} == switch(ann, None)
    assert ann.found(query) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_summary_is_shown_while_its_memories_stand_and_leaves_storage_after(
    ann: Person, stack: Stack, model: ScriptedModel, language: str
) -> None:
    name, text, query, about = WORDS[language]
    model.script(Learns(answer(fact(text, type="project"), summary=about)))
    ann.learn(text, project=name)
    assert (scene(ann, name)["summary"], ann.ok("GET", "/v1/projects")["projects"][0]["summary"]) == (about, about)
    assert about in ann.context(query, project=name, force=True)["text"]
    (memory,) = ann.kept()
    ann.add("Another one.", scope="project", project=name)
    ann.ok("DELETE", f"/v1/memories/{memory['id']}")
    assert (scene(ann, name)["summary"], ann.ok("GET", "/v1/projects")["projects"][0]["summary"]) == (None, None)
    assert about not in ann.context(query, project=name, force=True)["text"]
    tidied(stack, ann.sub)
    assert scene(ann, name)["summary"] is None
    assert scene(ann, name)["memories"] == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_context_is_written_by_maintenance_from_ten_facts(
    ann: Person, stack: Stack, model: ScriptedModel, language: str
) -> None:
    name, text, query, _ = WORDS[language]
    for number in range(limits.SCENE_NEWS):
        ann.add(f"{text} {number}", scope="project", project=name)

    def describes(request: Received) -> Learns:
        assert request.user.count(text) == limits.SCENE_NEWS
        return Learns({"context": f"{text}"})

    model.script(describes)
    tidied(stack, ann.sub)
    assert scene(ann, name)["context"] == text
    assert text in ann.context(query, project=name, force=True)["text"]
    ann.ok("PATCH", f"/v1/memories/{ann.kept()[0]['id']}", {"status": "dismissed"})
    assert scene(ann, name)["context"] is None


def test_the_twenty_first_scene_archives_the_coldest_which_comes_back_by_use(ann: Person, stack: Stack) -> None:
    for number in range(limits.SCENES + 1):
        switch(ann, f"p{number:02}")
    assert (len(listed(ann)), listed(ann, "archived")) == (limits.SCENES, ["p00"])
    ann.add("The deploy day is Monday.", scope="project", project="p00")
    assert "p00" in listed(ann)
    tidied(stack, ann.sub)
    assert listed(ann, "archived") == ["p01"]
    assert switch(ann, "p01")["is_new"] is False
    assert "p01" in listed(ann)


def test_an_etag_guards_a_scene(ann: Person) -> None:
    switch(ann, "kestrel")
    etag = ann.call("GET", "/v1/scenes/kestrel").headers["etag"]
    assert ann.call("PATCH", "/v1/scenes/kestrel", {"name": "one"}, headers={"if-match": etag}).status == 200
    refused = ann.call("PATCH", "/v1/scenes/kestrel", {"name": "two"}, headers={"if-match": etag})
    assert (refused.status, refused.code) == (412, "version_mismatch")
    assert scene(ann, "kestrel")["name"] == "one"


@pytest.mark.parametrize(
    "sent", [{"summary": "的" * 683}, {"context": 7}, {"title": "x"}, {"name": "password: hunter2-Zebra9"}]
)
def test_a_wrong_change_is_refused_whole(ann: Person, sent: dict[str, Any]) -> None:
    switch(ann, "kestrel")
    before = scene(ann, "kestrel")
    refused = ann.call("PATCH", "/v1/scenes/kestrel", {"archived": True} | sent)
    assert refused.status == 422
    assert scene(ann, "kestrel") == before


@pytest.mark.parametrize("language", LANGUAGES)
def test_deleting_a_scene_leaves_nothing_of_it(ann: Person, stack: Stack, model: ScriptedModel, language: str) -> None:
    name, text, query, about = WORDS[language]
    ann.add("It stays.")
    model.script(Learns(answer(fact(text, type="project"), summary=about)))
    ann.learn(text, project=name)
    for number in range(40):
        ann.add(f"{text} {number}", scope="project", project=name)
    switch(ann, name)
    refused = delete(ann, name)
    assert (refused.status, refused.code, refused.json["error"]["details"]) == (
        422,
        "confirmation_needed",
        {"memories": 41},
    )
    done = delete(ann, name, confirm="true")
    assert (done.status, done.json) == (200, {"deleted": 41, "remaining": 0, "done": True})
    assert (ann.texts(status="all"), listed(ann, "all"), ann.found(query, project="*")) == (["It stays."], [], [])
    assert ann.call("GET", "/v1/scene", query={"project": name}).status == 404
    assert ann.ok("GET", "/v1/projects")["projects"] == []
    assert delete(ann, name, confirm="true").status == 404
    tidied(stack, ann.sub)
    assert listed(ann, "all") == []
    assert switch(ann, name)["is_new"] is True


def test_names_and_texts_of_scenes_are_sealed_wherever_they_lie(ann: Person, stack: Stack) -> None:
    switch(ann, "CANARY-key")
    patch(ann, "CANARY-key", name="CANARY-name", summary="CANARY-summary", context="CANARY-context")
    tidied(stack, ann.sub)
    assert b"CANARY-" not in raw_bytes(stack).replace(b"key-CANARY-", b"")
