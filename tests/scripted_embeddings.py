"""What a provider of embeddings answers over its wire format: the vectors of tests/fake_embedder.py, filled up to the asked length."""

import json
from typing import Any

from tests.fake_embedder import vector
from tests.scripted_model import Received, Sends

COHERE_LENGTH, OPENAI_LENGTH = 1_024, 8


def texts_of(request: Received) -> list[str]:
    """The texts of a request of any of the formats."""
    body = request.json
    return [body["inputText"]] if "inputText" in body else list(body.get("texts") or body["input"])


def filled(text: str, length: int) -> list[float]:
    """The vector of a text with zeros behind it."""
    found = vector(text)
    return found + [0.0] * (length - len(found))


def embeds(request: Received) -> Sends:
    """Answer as Titan, Cohere on Bedrock or an OpenAI endpoint do, whichever is asked."""
    texts, body = texts_of(request), request.json
    answer: dict[str, Any]
    if "inputText" in body:
        answer = {"embedding": filled(texts[0], body["dimensions"]), "inputTextTokenCount": len(texts[0])}
    elif "texts" in body:
        vectors = [filled(text, COHERE_LENGTH) for text in texts]
        answer = {"embeddings": vectors, "id": "1", "response_type": "embeddings_floats", "texts": texts}
    else:
        listed = [
            {"object": "embedding", "index": place, "embedding": filled(text, OPENAI_LENGTH)}
            for place, text in enumerate(texts)
        ]
        answer = {"object": "list", "data": listed[::-1], "model": body["model"], "usage": {"prompt_tokens": 1}}
    return Sends(json.dumps(answer).encode())
