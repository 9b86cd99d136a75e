"""The embedding model that the environment names, if any. Nothing of it is imported unless it is chosen."""

import time
from functools import cache
from pathlib import Path
from typing import Any

from botocore.config import Config

from shared import config
from shared.bootstrap import random, session
from shared.config import Embeddings, MissingSetting
from shared.ports import Embedder
from shared.recall.meaning import Meaning

LAYER = "/opt/e5-small-q4.bin"
"""Where Lambda lays the file of the local model."""


@cache
def meaning() -> Meaning | None:
    """Return what compares meanings; None where nothing is chosen. Raises MissingSetting for a provider or a part that is not there."""
    settings = config.embeddings()
    if not settings.provider:
        return None
    makers = {"bedrock": _on_bedrock, "openai": _at_an_endpoint, "local": _in_this_process}
    if settings.provider not in makers:
        raise MissingSetting("EMBEDDING_PROVIDER")
    return Meaning(makers[settings.provider](settings), settings.seconds, time.monotonic)


def _on_bedrock(settings: Embeddings) -> Embedder:
    from shared.adapters.attempts import Attempts  # noqa: PLC0415
    from shared.adapters.embeddings_bedrock import LENGTHS, BedrockEmbedder, known  # noqa: PLC0415

    model = known(settings.model)
    if model is None:
        raise MissingSetting("EMBEDDING_MODEL")
    length = settings.length or LENGTHS[model][0]
    if length not in LENGTHS[model]:
        raise MissingSetting("EMBEDDING_LENGTH")
    attempts = Attempts(time.monotonic, time.sleep, random)
    return BedrockEmbedder(_embedding_client, settings.model, length, settings.seconds, attempts)


def _at_an_endpoint(settings: Embeddings) -> Embedder:
    from shared.adapters.api_key import GivenKey, SecretKey  # noqa: PLC0415
    from shared.adapters.attempts import Attempts  # noqa: PLC0415
    from shared.adapters.embeddings_openai import OpenAiEmbedder  # noqa: PLC0415
    from shared.adapters.endpoint import Endpoint  # noqa: PLC0415
    from shared.bootstrap import models  # noqa: PLC0415

    for name, given in (("MODEL", settings.model), ("LENGTH", settings.length), ("URL", settings.url)):
        if not given:
            raise MissingSetting(f"EMBEDDING_{name}")
    given_key = settings.api_key or not settings.secret_arn
    key = GivenKey(settings.api_key) if given_key else SecretKey(models._secrets, settings.secret_arn, time.monotonic)
    attempts = Attempts(time.monotonic, time.sleep, random)
    return OpenAiEmbedder(Endpoint(settings.url), settings.model, settings.length, key, settings.seconds, attempts)


def _in_this_process(settings: Embeddings) -> Embedder:
    from shared.adapters.embeddings_local import LENGTH, LocalEmbedder  # noqa: PLC0415

    if settings.length not in {0, LENGTH}:
        raise MissingSetting("EMBEDDING_LENGTH")
    return LocalEmbedder(Path(settings.model or LAYER))


@cache
def _embedding_client(seconds: float) -> Any:
    """Return a client that asks once; `EMBEDDING_URL` may name another address for it."""
    once = Config(
        retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=seconds / 2, read_timeout=seconds
    )
    return session().create_client("bedrock-runtime", config=once, endpoint_url=config.embeddings().url or None)
