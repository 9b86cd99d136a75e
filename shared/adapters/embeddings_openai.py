"""Any endpoint that speaks OpenAI's embeddings: OpenAI, vLLM, Ollama, text-embeddings-inference and their kin."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from shared.adapters.api_key import ApiKey
from shared.adapters.attempts import Attempts, FormRefused, Passing
from shared.adapters.embeddings import DOCUMENT_SECONDS, parts, trusted, vectors_of
from shared.adapters.endpoint import Endpoint
from shared.adapters.openai import fault
from shared.adapters.schemas import well_formed
from shared.domain.asking import ModelDown, ModelRefused

PATH: Final = "/embeddings"
TEXTS: Final = 32
_UNREADABLE: Final = (KeyError, RecursionError, TypeError, ValueError)


class OpenAiEmbedder:
    """`model` is the name that the endpoint knows the model by, `length` that of its vectors; queries have `seconds`."""

    def __init__(
        self, endpoint: Endpoint, model: str, length: int, key: ApiKey, seconds: float, attempts: Attempts
    ) -> None:
        self._endpoint, self._model, self._length, self._key = endpoint, model, length, key
        self._seconds, self._attempts = seconds, attempts
        self.name = f"openai {model} {length}"
        self.trust = trusted(model)

    def serves(self, query: str) -> bool:  # noqa: ARG002 - nothing is known of the model
        return True

    def documents(self, texts: Sequence[str]) -> list[list[float]]:
        made: list[list[float]] = []
        for run in parts(texts, TEXTS):
            course = self._attempts.begin(DOCUMENT_SECONDS)
            try:
                made += course.run(partial(self._ask, run))
            except FormRefused as refused:
                raise ModelRefused(refused.answered) from None
        return made

    def query(self, text: str) -> list[float]:
        try:
            return self._ask([text], self._seconds)[0]
        except Passing as passing:
            raise passing.problem from None
        except FormRefused as refused:
            raise ModelRefused(refused.answered) from None

    def _ask(self, texts: Sequence[str], seconds: float) -> list[list[float]]:
        key = self._key.read()
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "nacre"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        asked: dict[str, Any] = {"model": self._model, "input": [well_formed(text) for text in texts]}
        body = json.dumps({**asked, "encoding_format": "float"}, ensure_ascii=False).encode()
        response = self._endpoint.post(PATH, body, headers, seconds)
        if response.status in {401, 403} and self._key.renewed(key):
            raise Passing(ModelRefused(response.status))
        if response.status != 200:
            raise fault(response.status, response.headers, response.body)
        try:
            listed = sorted(json.loads(response.body)["data"], key=lambda one: one["index"])
            found = [one["embedding"] for one in listed]
        except _UNREADABLE:
            raise Passing(ModelDown(response.status)) from None
        return vectors_of(found, len(texts), self._length)
