"""Both adapters to a language model, over real HTTP to a scripted server, with a clock that only their own waiting moves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.config import Config

from shared.adapters.api_key import GivenKey
from shared.adapters.attempts import Attempts
from shared.adapters.bedrock import BedrockModel
from shared.adapters.endpoint import Endpoint
from shared.adapters.openai import OpenAiModel
from shared.domain.ids import Random
from shared.learning.model import Ask, Model
from tests.fakes import SeededRandom

NAME = "vendor.model-v1:0"
SCHEMA = {
    "$defs": {"Fact": {"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]}},
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "facts": {"type": "array", "items": {"$ref": "#/$defs/Fact"}},
    },
    "required": ["summary", "facts"],
}


@dataclass
class Waiting:
    """Time that passes only by sleeping."""

    now: float = 1_000.0
    slept: list[float] = field(default_factory=list)
    random: Random = field(default_factory=lambda: SeededRandom(5))

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def attempts(self) -> Attempts:
        return Attempts(self.clock, self.sleep, self.random)


def question(
    *, system: str = "You keep memories.", user: str = "我住在奥胡斯。I drink tea.", deadline: float = 90.0
) -> Ask:
    return Ask(system, user, SCHEMA, max_tokens=700, deadline=deadline)


def over_openai(url: str, waiting: Waiting) -> Model:
    return OpenAiModel(Endpoint(url), NAME, GivenKey("key-1"), waiting.attempts())


def over_bedrock(url: str, waiting: Waiting) -> Model:
    return BedrockModel(clients(url), NAME, waiting.attempts())


def clients(url: str) -> Callable[[float], Any]:
    """Clients as shared/bootstrap/models.py makes them, for an account that is not there."""

    def client(seconds: float) -> Any:
        return boto3.client(
            "bedrock-runtime",
            endpoint_url=url,
            region_name="eu-central-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(
                retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=0.5, read_timeout=seconds
            ),
        )

    return client


ADAPTERS = {"openai": over_openai, "bedrock": over_bedrock}
