"""Embedding models of Amazon Bedrock over InvokeModel: Titan Text Embeddings V2 and Cohere Embed v3.

Wire formats: the Bedrock user guide, "Amazon Titan Embeddings G1 - Text" (V2 request) and "Cohere Embed v3".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, Literal, Protocol

from shared.adapters.attempts import Attempts, FormRefused, Passing
from shared.adapters.bedrock import translated
from shared.adapters.embeddings import DOCUMENT_SECONDS, parts, trusted, vectors_of
from shared.adapters.faults import FAULTS
from shared.adapters.schemas import well_formed
from shared.domain.asking import ModelDown, ModelRefused

TITAN: Final = "amazon.titan-embed-text-v2"
COHERE: Final = ("cohere.embed-multilingual-v3", "cohere.embed-english-v3")
LENGTHS: Final[Mapping[str, tuple[int, ...]]] = {TITAN: (256, 512, 1024), **dict.fromkeys(COHERE, (1024,))}
"""Lengths of vectors that a model offers, the one it has when nobody says first."""
AT_ONCE: Final = 8
"""Requests side by side: Titan takes one text each."""
COHERE_TEXTS: Final = 96
COHERE_CHARACTERS: Final = 2_048
MOST_BYTES: Final = 8_000_000
_UNREADABLE: Final = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

Kind = Literal["search_document", "search_query"]


class Client(Protocol):
    """A client of `bedrock-runtime`."""

    def invoke_model(self, **request: Any) -> Mapping[str, Any]: ...


def known(model: str) -> str | None:
    """Return which of the models a Bedrock id names, whatever its version; None for any other."""
    return next((name for name in LENGTHS if model == name or model.startswith(f"{name}:")), None)


class BedrockEmbedder:
    """`clients(seconds)` gives a client without retries of its own that gives up after so many seconds; `model` is a known id.

    `length` is one of the model's; queries have `seconds`.
    """

    def __init__(
        self, clients: Callable[[float], Client], model: str, length: int, seconds: float, attempts: Attempts
    ) -> None:
        self._clients, self._model, self._length = clients, model, length
        self._seconds, self._attempts = seconds, attempts
        self._titan = known(model) == TITAN
        self.name = f"bedrock {model} {length}"
        self.trust = trusted(model)

    def serves(self, query: str) -> bool:
        """All scripts but for the English model."""
        return known(self._model) != COHERE[1] or query.isascii()

    def documents(self, texts: Sequence[str]) -> list[list[float]]:
        runs = parts(texts, 1 if self._titan else COHERE_TEXTS)
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="embedding") as pool:
            return [vector for made in pool.map(self._patiently, runs) for vector in made]

    def query(self, text: str) -> list[float]:
        try:
            return self._ask([text], "search_query", self._seconds)[0]
        except Passing as fault:
            raise fault.problem from None
        except FormRefused as refused:
            raise ModelRefused(refused.answered) from None

    def _patiently(self, texts: Sequence[str]) -> list[list[float]]:
        course = self._attempts.begin(DOCUMENT_SECONDS)
        try:
            return course.run(partial(self._ask, texts, "search_document"))
        except FormRefused as refused:
            raise ModelRefused(refused.answered) from None

    def _ask(self, texts: Sequence[str], kind: Kind, seconds: float) -> list[list[float]]:
        client = self._clients(min(seconds, DOCUMENT_SECONDS / 2))
        try:
            answer = client.invoke_model(
                modelId=self._model,
                body=self._body(texts, kind),
                contentType="application/json",
                accept="application/json",
            )
            read = json.loads(answer["body"].read(MOST_BYTES))
            found = [read["embedding"]] if self._titan else _floats(read["embeddings"])
        except FAULTS as fault:
            raise translated(fault) from None
        except _UNREADABLE:
            raise Passing(ModelDown()) from None
        return vectors_of(found, len(texts), self._length)

    def _body(self, texts: Sequence[str], kind: Kind) -> bytes:
        clean = [well_formed(text) for text in texts]
        asked: dict[str, Any] = {"inputText": clean[0], "dimensions": self._length, "normalize": True}
        if not self._titan:
            cut = [text[:COHERE_CHARACTERS] for text in clean]
            asked = {"texts": cut, "input_type": kind, "truncate": "END"}
        return json.dumps(asked, ensure_ascii=False).encode()


def _floats(embeddings: Any) -> Any:
    """Return Cohere's vectors, which come by type when a type was asked for."""
    return embeddings["float"] if isinstance(embeddings, dict) else embeddings
