"""The language model that the environment names, if any."""

import time
from functools import cache
from typing import Any

from botocore.config import Config

from shared import config
from shared.adapters.api_key import ApiKey, GivenKey, SecretKey
from shared.adapters.attempts import Attempts
from shared.adapters.bedrock import BedrockModel
from shared.adapters.endpoint import Endpoint
from shared.adapters.openai import OpenAiModel
from shared.bootstrap import random, session
from shared.config import MissingSetting
from shared.learning.model import Model

_CONNECT_SECONDS = 2.0
_SECRET_SECONDS = 3.0


@cache
def language_model() -> Model | None:
    """Return the model; None for the rules extractor. Raises MissingSetting for a provider or a part that is not there."""
    settings = config.model()
    if settings.provider in {"", "rules"}:
        return None
    attempts = Attempts(time.monotonic, time.sleep, random)
    if not settings.model_id:
        raise MissingSetting("MODEL_ID")
    if settings.provider == "bedrock":
        return BedrockModel(_bedrock, settings.model_id, attempts)
    if settings.provider != "openai":
        raise MissingSetting("MODEL_PROVIDER")
    if not settings.url:
        raise MissingSetting("MODEL_URL")
    return OpenAiModel(Endpoint(settings.url), settings.model_id, _endpoint_key(), attempts)


@cache
def _bedrock(seconds: float) -> Any:
    """Return a client for attempts of so many seconds; `MODEL_URL` may name another address for it."""
    return _once("bedrock-runtime", seconds, config.model().url or None)


@cache
def _secrets() -> Any:
    return _once("secretsmanager", _SECRET_SECONDS)


def _once(service: str, seconds: float, url: str | None = None) -> Any:
    """Return a client that asks once and gives up after so many seconds, connecting included."""
    connect = min(_CONNECT_SECONDS, seconds / 5)
    once = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=connect,
        read_timeout=seconds - connect,
    )
    return session().create_client(service, config=once, endpoint_url=url)


def _endpoint_key() -> ApiKey:
    settings = config.model()
    if settings.api_key or not settings.secret_arn:
        return GivenKey(settings.api_key)
    return SecretKey(_secrets, settings.secret_arn, time.monotonic)
