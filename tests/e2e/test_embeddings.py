"""Search by meaning through the whole service: each provider's wire format, the budget of steps, failures, and what leaves the account."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from benchmarks import requests
from local.stack import Stack
from tests import tiny_e5
from tests.e2e.client import Person
from tests.e2e.test_canaries import written
from tests.scripted_embeddings import embeds, texts_of
from tests.scripted_model import Fails, ScriptedModel, Waits

COFFEE, HOME = "Wilhelmina cannot start without espresso", "威廉明娜住在奥胡斯"
PASSWORD = "hunter2Xy!Wombat"
MODELS = {
    "titan": {"EMBEDDING_PROVIDER": "bedrock", "EMBEDDING_MODEL": "amazon.titan-embed-text-v2:0"},
    "cohere": {"EMBEDDING_PROVIDER": "bedrock", "EMBEDDING_MODEL": "cohere.embed-multilingual-v3"},
    "openai": {"EMBEDDING_PROVIDER": "openai", "EMBEDDING_MODEL": "multilingual-e5-small", "EMBEDDING_LENGTH": "8"},
}
"""The last is trusted: its name is one that was measured."""
READ = [("BatchGetItem", "Query"), ("BatchGetItem",)]


@contextmanager
def embedding(model: str, server: ScriptedModel, **more: str) -> Iterator[Stack]:
    """A stack that compares meanings with a scripted provider; queries wait long enough for a busy machine."""
    given = {**MODELS[model], "EMBEDDING_URL": server.url, "EMBEDDING_MILLISECONDS": "10000", **more}
    with Stack.start(schedule=False, environment=given) as running:
        yield running


def taught(person: Person) -> None:
    """Two memories in an index."""
    person.add(COFFEE)
    person.add(HOME)
    person.stack.run_maintenance()


def asked_for(server: ScriptedModel) -> list[str]:
    return sorted(text for request in server.requests for text in texts_of(request))


@pytest.mark.parametrize("model", MODELS)
def test_each_provider_embeds_memories_once_and_every_query(model: str) -> None:
    with ScriptedModel(otherwise=embeds) as server, embedding(model, server) as stack:
        ann = Person(stack)
        taught(ann)
        assert asked_for(server) == sorted([COFFEE, HOME])
        assert ann.found("Wilhelmina 咖啡")[0] == COFFEE
        hits = ann.ok("POST", "/v1/search", {"query": "Wilhelmina caffeine", "explain": True})["memories"]
        assert hits[0]["signals"]["semantic"] > 0
        ann.add("Releases happen on Friday")
        stack.run_maintenance()
        assert asked_for(server).count(COFFEE) == 1
        assert server.unscripted == 0


def test_a_trusted_model_finds_what_shares_no_word_in_another_language() -> None:
    with ScriptedModel(otherwise=embeds) as server, embedding("openai", server) as stack:
        ann = Person(stack)
        taught(ann)
        assert ann.found("提神") == [COFFEE]
        assert ann.found("apartment") == [HOME]
        assert ann.found("violin") == []
        assert COFFEE in ann.context("还记得我靠什么提神吗？", force=True)["text"]


@pytest.mark.parametrize("model", ["titan", "openai"])
def test_the_meaning_of_a_query_costs_no_step(model: str) -> None:
    with ScriptedModel(otherwise=embeds) as server, embedding(model, server) as stack:
        ann = requests.Person(stack, "ann")
        ann.send("POST", "/v1/memories", {"content": COFFEE})
        stack.run_maintenance()
        for path, body in (("/v1/search", {"query": "espresso"}), ("/v1/context", {"message": "还记得 espresso 吗？"})):
            ann.send("POST", path, body)
            warm = ann.send("POST", path, body)
            assert steps(warm) == [*READ, ("UpdateItem",)], path
            stack.functions.reload()
            cold = ann.send("POST", path, body)
            assert steps(cold) == [
                ("BatchGetItem", "GetObject", "Query"),
                ("Decrypt", "GetObject"),
                READ[1],
                ("UpdateItem",),
            ]


def steps(measured: requests.Measured) -> list[tuple[str, ...]]:
    """The kinds of calls of each step; the question to the model is beside the first."""
    found: list[tuple[str, ...]] = []
    for step in range(1, measured.cost.steps + 1):
        kinds = {call.operation for call in measured.calls if call.step == step}
        assert "InvokeModel" not in kinds or step == 1
        found.append(tuple(sorted(kinds - {"InvokeModel"})))
    return found


def test_a_provider_that_fails_or_hangs_means_words_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel(otherwise=embeds) as server:
        with embedding("openai", server, EMBEDDING_MILLISECONDS="50", LOG_LEVEL="INFO") as stack:
            ann = Person(stack)
            taught(ann)
            server.script(Fails("down"), Waits(Event(), Fails("down")))
            assert ann.found("Wilhelmina espresso") == [COFFEE]
            answer = ann.call("POST", "/v1/search", {"query": "Wilhelmina espresso"})
            assert (answer.status, len(answer.json["memories"])) == (200, 1)
            assert answer.json["took_ms"] < 5_000
        events = [json.loads(line) for line in capsys.readouterr().out.split("\n") if line.startswith("{")]
        failed = [event for event in events if event["event"] == "embedding_failed"]
        assert [event["of"] for event in failed] == ["query", "query"]


def test_no_word_and_no_secret_goes_anywhere_but_the_provider() -> None:
    with (
        ScriptedModel(otherwise=embeds) as server,
        written() as lines,
        embedding("openai", server, LOG_LEVEL="DEBUG", EMBEDDING_API_KEY="KEYCANARY") as stack,
    ):
        ann = Person(stack)
        ann.add(f"The password of the kiwi database is {PASSWORD}")
        taught(ann)
        server.script(Fails("down", f"PROVIDERERROR {COFFEE}"))
        ann.found("Wilhelmina QUERYCANARY")
        ann.found("Wilhelmina QUERYCANARY")
        logged = lines()
        assert PASSWORD.encode() not in server.everything_received()
        assert b"QUERYCANARY" in server.everything_received()
        assert server.requests[0].headers["authorization"] == "Bearer KEYCANARY"
    assert logged.count("embedding_failed") == 1
    for word in ("Wilhelmina", "威廉明娜", "QUERYCANARY", "PROVIDERERROR", "kiwi", PASSWORD, "KEYCANARY"):
        assert word not in logged


def test_the_model_in_the_process_serves_the_whole_service(tmp_path: Path) -> None:
    file = tiny_e5.write(tmp_path / "tiny.bin")
    given: dict[str, Any] = {
        "EMBEDDING_PROVIDER": "local",
        "EMBEDDING_MODEL": str(file),
        "EMBEDDING_MILLISECONDS": "10000",
    }
    with Stack.start(schedule=False, environment=given) as stack:
        ann = Person(stack)
        taught(ann)
        hits = ann.ok("POST", "/v1/search", {"query": "espresso", "explain": True})["memories"]
        assert hits[0]["content"] == COFFEE
        assert hits[0]["signals"]["semantic"] > 0
