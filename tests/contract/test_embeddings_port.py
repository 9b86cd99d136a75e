"""One contract for every embedding model: over real HTTP to a scripted provider, and the one that runs in this process."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from shared.adapters.api_key import GivenKey
from shared.adapters.attempts import REPEATS
from shared.adapters.embeddings import TRUST, UNMEASURED
from shared.adapters.embeddings_bedrock import AT_ONCE, COHERE, COHERE_TEXTS, TITAN, BedrockEmbedder, known
from shared.adapters.embeddings_local import LocalEmbedder
from shared.adapters.embeddings_openai import TEXTS, OpenAiEmbedder
from shared.adapters.endpoint import Endpoint
from shared.adapters.multilingual_e5 import MultilingualE5
from shared.domain.asking import ModelDown, ModelRefused, ModelThrottled, ModelTimeout, ModelUnavailable
from shared.ports import Embedder
from tests import tiny_e5
from tests.contract.models import Waiting, clients
from tests.scripted_embeddings import COHERE_LENGTH, OPENAI_LENGTH, embeds, filled, texts_of
from tests.scripted_model import Fails, Received, Reply, ScriptedModel, Sends, Waits

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "embeddings.json").read_text("utf-8"))
SECRET = "ein Geheimnis 秘密"
LENGTHS = {"titan": 256, "cohere": COHERE_LENGTH, "openai": OPENAI_LENGTH, "local": tiny_e5.LENGTH}
REMOTE = ("titan", "cohere", "openai")


class Provider:
    """A scripted provider and the adapter that asks it."""

    def __init__(self, kind: str, server: ScriptedModel, path: Path) -> None:
        self.kind, self.server, self.waiting = kind, server, Waiting()
        self.embedder = self._embedder(path)

    def _embedder(self, path: Path) -> Embedder:
        attempts = self.waiting.attempts()
        if self.kind == "local":
            return LocalEmbedder(path)
        if self.kind == "openai":
            key = GivenKey("key-1")
            return OpenAiEmbedder(Endpoint(self.server.url), "minilm", OPENAI_LENGTH, key, 5.0, attempts)
        model = f"{TITAN}:0" if self.kind == "titan" else COHERE[0]
        return BedrockEmbedder(clients(self.server.url), model, LENGTHS[self.kind], 5.0, attempts)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_e5.write(tmp_path_factory.mktemp("model") / "tiny.bin")


@pytest.fixture
def provider(request: pytest.FixtureRequest, path: Path) -> Iterator[Provider]:
    with ScriptedModel(otherwise=embeds) as server:
        yield Provider(request.param, server, path)


everyone = pytest.mark.parametrize("provider", LENGTHS, indirect=True)
remote = pytest.mark.parametrize("provider", REMOTE, indirect=True)


@everyone
def test_each_text_has_a_vector_in_its_place(provider: Provider) -> None:
    texts = ["I drink tea", "咖啡 please", "I drink tea"] + [f"tea {number}" for number in range(TEXTS)]
    vectors = provider.embedder.documents(texts)
    assert [len(vector) for vector in vectors] == [LENGTHS[provider.kind]] * len(texts)
    assert vectors[0] == pytest.approx(vectors[2], abs=1e-5)
    assert vectors[0] != pytest.approx(vectors[1], abs=1e-3)
    assert all(math.isfinite(number) for vector in vectors for number in vector)
    assert provider.embedder.documents([]) == []


@everyone
def test_a_query_has_a_vector_of_the_same_length_whatever_its_signs(provider: Provider) -> None:
    for text in ("tea?", "茶", "\ud800 lone", "a\0b", "ﷺ" * 3_000, "😀", "x" * 4_000):
        vector = provider.embedder.query(text)
        assert len(vector) == LENGTHS[provider.kind]
        assert any(vector)


@everyone
def test_a_model_has_a_name_that_tells_its_length_and_a_measured_or_a_careful_weight(provider: Provider) -> None:
    embedder = provider.embedder
    embedder.query("tea")
    assert embedder.name.endswith("384" if provider.kind == "local" else f" {LENGTHS[provider.kind]}")
    assert embedder.trust == (TRUST["multilingual-e5-small"] if provider.kind == "local" else UNMEASURED)
    assert embedder.serves("which tea?")
    assert embedder.serves("哪种茶")


@remote
@pytest.mark.parametrize(
    ("fails", "raised", "tries"),
    [
        (Fails("throttled", SECRET), ModelThrottled, 1 + REPEATS),
        (Fails("down", SECRET), ModelDown, 1 + REPEATS),
        (Fails("rejected", SECRET), ModelRefused, 1),
        (Fails("invalid", SECRET), ModelRefused, 1),
    ],
)
def test_a_build_asks_again_what_may_pass_and_a_query_never(
    provider: Provider, fails: Reply, raised: type[ModelUnavailable], tries: int
) -> None:
    provider.server.script(*[fails] * tries)
    with pytest.raises(raised) as caught:
        provider.embedder.documents([SECRET])
    assert SECRET not in repr(caught.value)
    assert len(provider.server.requests) == tries
    provider.server.script(fails)
    with pytest.raises(raised) as caught:
        provider.embedder.query(SECRET)
    assert SECRET not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert len(provider.server.requests) == tries + 1


@remote
def test_what_passes_in_time_is_as_if_it_had_not_been(provider: Provider) -> None:
    provider.server.script(Fails("throttled"))
    assert len(provider.embedder.documents(["tea"])) == 1
    assert len(provider.waiting.slept) == 1


def spoilt(request: Received, change: Callable[[list[Any]], Any]) -> Sends:
    """The right answer with its first vector changed."""
    answer = json.loads(embeds(request).body)
    if "embedding" in answer:
        answer["embedding"] = change(answer["embedding"])
    elif "embeddings" in answer:
        answer["embeddings"][0] = change(answer["embeddings"][0])
    else:
        answer["data"][-1]["embedding"] = change(answer["data"][-1]["embedding"])
    return Sends(json.dumps(answer).encode())


@remote
@pytest.mark.parametrize(
    "change",
    [
        lambda vector: vector[:-1],
        lambda vector: [0.0] * len(vector),
        lambda vector: [float("nan"), *vector[1:]],
        lambda vector: ["1.0", *vector[1:]],
        lambda vector: [True, *vector[1:]],
        str,
        lambda vector: {"float": vector},
    ],
)
def test_an_answer_that_holds_no_such_vector_is_none(provider: Provider, change: Callable[[list[Any]], Any]) -> None:
    provider.server.script(lambda request: spoilt(request, change))
    with pytest.raises(ModelDown):
        provider.embedder.query("tea")


@remote
@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"null", b'{"embedding":1,"embeddings":[],"data":[]}', b"[" * 9_000]
)
def test_an_answer_that_is_not_the_protocol_is_none(provider: Provider, body: bytes) -> None:
    provider.server.script(Sends(body))
    with pytest.raises(ModelDown):
        provider.embedder.query("tea")


@pytest.mark.parametrize("kind", REMOTE)
def test_a_query_gives_up_by_itself(kind: str, path: Path) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(ScriptedModel(Waits(Event(), Sends(b"{}"))))
        waiting = Waiting()
        embedder: Embedder
        if kind == "openai":
            embedder = OpenAiEmbedder(Endpoint(server.url), "m", 8, GivenKey(""), 0.2, waiting.attempts())
        else:
            model = TITAN if kind == "titan" else COHERE[0]
            embedder = BedrockEmbedder(clients(server.url), model, LENGTHS[kind], 0.2, waiting.attempts())
        with pytest.raises(ModelTimeout):
            embedder.query("tea")


@pytest.mark.parametrize("provider", ["titan"], indirect=True)
def test_titan_is_asked_for_a_length_and_one_text_at_a_time(provider: Provider) -> None:
    texts = [f"tea {number}" for number in range(3 * AT_ONCE)]
    assert provider.embedder.documents(texts) == [filled(text, 256) for text in texts]
    assert sorted(texts_of(request)[0] for request in provider.server.requests) == sorted(texts)
    request = provider.server.requests[0]
    assert request.model == f"{TITAN}:0"
    assert request.path.endswith("/invoke")
    assert {name: request.json[name] for name in ("dimensions", "normalize")} == {"dimensions": 256, "normalize": True}
    assert set(request.json) == {"inputText", "dimensions", "normalize"}


@pytest.mark.parametrize("provider", ["cohere"], indirect=True)
def test_cohere_is_told_what_is_a_document_and_what_a_query(provider: Provider) -> None:
    provider.embedder.documents(["tea"] * (COHERE_TEXTS + 1))
    provider.embedder.query("x" * 5_000)
    *documents, query = [request.json for request in provider.server.requests]
    assert sorted(len(asked["texts"]) for asked in documents) == [1, COHERE_TEXTS]
    assert {asked["input_type"] for asked in documents} == {"search_document"}
    assert query == {"texts": ["x" * 2_048], "input_type": "search_query", "truncate": "END"}


@pytest.mark.parametrize("provider", ["cohere"], indirect=True)
def test_coheres_answer_by_type_is_read_too(provider: Provider) -> None:
    body = json.dumps({"embeddings": {"float": [filled("tea", COHERE_LENGTH)]}, "response_type": "embeddings_by_type"})
    provider.server.script(Sends(body.encode()))
    assert provider.embedder.query("tea") == filled("tea", COHERE_LENGTH)


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
def test_an_endpoint_is_asked_with_key_and_model_and_read_by_index(provider: Provider) -> None:
    texts = ["tea", "咖啡"]
    assert provider.embedder.documents(texts) == [filled(text, OPENAI_LENGTH) for text in texts]
    (request,) = provider.server.requests
    assert request.path == "/embeddings"
    assert request.headers["authorization"] == "Bearer key-1"
    assert request.json == {"model": "minilm", "input": texts, "encoding_format": "float"}


def test_the_models_of_bedrock_are_known_by_their_ids() -> None:
    assert known("amazon.titan-embed-text-v2:0") == TITAN
    assert known("cohere.embed-multilingual-v3") == COHERE[0]
    for other in ("amazon.titan-embed-text-v1", "amazon.titan-embed-text-v20", "cohere.embed-v4:0", ""):
        assert known(other) is None


def test_an_english_model_is_left_alone_by_other_scripts() -> None:
    english = BedrockEmbedder(clients("http://127.0.0.1:9"), COHERE[1], 1_024, 1.0, Waiting().attempts())
    assert english.serves("which tea?")
    assert not english.serves("哪种茶")


@pytest.mark.parametrize("known_answer", VECTORS["texts"], ids=lambda one: one["text"])
def test_the_local_model_answers_as_the_program_it_comes_with(known_answer: dict[str, Any], path: Path) -> None:
    model = MultilingualE5(path)
    assert model._pieces.cut(known_answer["text"]) == known_answer["pieces"]
    (vector,) = model.embed([known_answer["text"]]).tolist()
    cosine = sum(a * b for a, b in zip(vector, known_answer["vector"], strict=True))
    assert cosine > 0.9999


def test_texts_embedded_together_are_as_when_each_stands_alone(path: Path) -> None:
    model = MultilingualE5(path)
    texts = [one["text"] for one in VECTORS["texts"]]
    for text, vector in zip(texts, model.embed(texts).tolist(), strict=True):
        assert model.embed([text])[0].tolist() == pytest.approx(vector, abs=1e-5)


def test_a_text_longer_than_the_model_reads_counts_with_its_beginning(path: Path) -> None:
    model = MultilingualE5(path)
    once, twice = model.embed(["query: " + "tea us " * 20, "query: " + "tea us " * 40]).tolist()
    assert once == pytest.approx(twice, abs=1e-5)


@pytest.mark.parametrize("there", [True, False])
def test_the_first_query_does_not_wait_until_the_model_is_read(there: bool, path: Path, tmp_path: Path) -> None:
    embedder = LocalEmbedder(path if there else tmp_path / "none")
    with embedder._lock:
        assert not embedder.serves("tea")
        assert not embedder.serves("tea")
    embedder._reader.join()
    assert embedder.serves("tea"), "a model that cannot be read must be asked, so that it is said"
    if there:
        assert len(embedder.query("tea")) == tiny_e5.LENGTH
    else:
        with pytest.raises(ModelRefused):
            embedder.query("tea")


@pytest.mark.parametrize("body", [None, b"", b"E5S1", b"nothing of the kind" * 9, b"E5S1" + bytes(400)])
def test_a_file_that_is_not_the_model_is_refused_when_it_is_needed(body: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    if body is not None:
        file.write_bytes(body)
    with pytest.raises(ModelRefused):
        LocalEmbedder(file).query("tea")
