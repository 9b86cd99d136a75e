"""The model that the environment names is the one that is asked."""

import json
from collections.abc import Callable, Iterator

import boto3
import pytest
from moto import mock_aws

from shared import config
from shared.bootstrap import models
from shared.config import MissingSetting
from shared.learning.model import Ask, ModelRefused
from tests.scripted_model import Fails, Learns, Says, ScriptedModel

NAMES = ("MODEL_PROVIDER", "MODEL_ID", "MODEL_URL", "MODEL_API_KEY", "MODEL_SECRET_ARN")
QUESTION = Ask("rules", "I drink tea.", {"type": "object", "properties": {}}, 100, 20.0)
Environment = Callable[..., None]


def forget() -> None:
    for kept in (config.model, models.language_model, models._bedrock, models._secrets):
        kept.cache_clear()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """Set the model's variables; those not named are empty."""

    def fill(**given: str) -> None:
        account = {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "eu-central-1",
        }
        for name, value in {**dict.fromkeys(NAMES, ""), **account, **given}.items():
            monkeypatch.setenv(name, value)
        forget()

    fill()
    yield fill
    forget()


@pytest.mark.parametrize("provider", ["", "rules"])
def test_without_a_provider_there_is_no_model(environment: Environment, provider: str) -> None:
    environment(MODEL_PROVIDER=provider, MODEL_ID="m")

    assert models.language_model() is None


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"MODEL_PROVIDER": "bedrock"}, "MODEL_ID"),
        ({"MODEL_PROVIDER": "openai", "MODEL_URL": "https://127.0.0.1"}, "MODEL_ID"),
        ({"MODEL_PROVIDER": "openai", "MODEL_ID": "m"}, "MODEL_URL"),
        ({"MODEL_PROVIDER": "other", "MODEL_ID": "m"}, "MODEL_PROVIDER"),
    ],
)
def test_what_a_provider_needs_is_named_when_it_is_missing(
    environment: Environment, given: dict[str, str], missing: str
) -> None:
    environment(**given)
    with pytest.raises(MissingSetting) as caught:
        models.language_model()

    assert caught.value.name == missing


def test_an_endpoint_is_asked_with_the_key_of_the_environment(environment: Environment) -> None:
    with ScriptedModel(Says("ok")) as server:
        environment(MODEL_PROVIDER="openai", MODEL_ID="m", MODEL_URL=server.url, MODEL_API_KEY="key-1")
        model = models.language_model()
        assert model is not None
        assert model.ask(QUESTION).text == "ok"
        assert models.language_model() is model

    assert server.requests[0].headers["authorization"] == "Bearer key-1"


def test_an_endpoint_is_asked_with_the_key_of_the_secret(environment: Environment) -> None:
    with ScriptedModel(Says("ok")) as server, mock_aws():
        vault = boto3.client("secretsmanager", region_name="eu-central-1")
        arn = vault.create_secret(Name="model", SecretString='{"api_key": "key-2"}')["ARN"]
        environment(MODEL_PROVIDER="openai", MODEL_ID="m", MODEL_URL=server.url, MODEL_SECRET_ARN=arn)
        model = models.language_model()
        assert model is not None
        model.ask(QUESTION)

    assert server.requests[0].headers["authorization"] == "Bearer key-2"


def test_an_address_without_tls_is_refused_when_it_is_asked(environment: Environment) -> None:
    environment(MODEL_PROVIDER="openai", MODEL_ID="m", MODEL_URL="http://192.0.2.1/v1")
    model = models.language_model()
    assert model is not None
    with pytest.raises(ModelRefused):
        model.ask(QUESTION)


@pytest.mark.parametrize("emulated", [False, True], ids=["by itself", "beside the emulated account"])
def test_bedrock_is_asked_at_the_address_that_is_given(environment: Environment, emulated: bool) -> None:
    with ScriptedModel(Learns({"facts": []})) as server:
        environment(MODEL_PROVIDER="bedrock", MODEL_ID="vendor.m-v1:0", MODEL_URL=server.url)
        model = models.language_model()
        assert model is not None
        if emulated:
            with mock_aws():
                answer = model.ask(QUESTION)
        else:
            answer = model.ask(QUESTION)

    assert json.loads(answer.text) == {"facts": []}
    assert server.requests[0].model == "vendor.m-v1:0"
    assert server.requests[0].headers["authorization"].startswith("AWS4-HMAC-SHA256 ")


def test_the_sdk_itself_repeats_nothing(environment: Environment) -> None:
    with ScriptedModel(otherwise=Fails("throttled")) as server:
        environment(MODEL_PROVIDER="bedrock", MODEL_ID="m", MODEL_URL=server.url)
        with pytest.raises(Exception, match="ThrottlingException"):
            models._bedrock(5.0).converse(modelId="m", messages=[{"role": "user", "content": [{"text": "x"}]}])
        assert len(server.requests) == 1

    settings = models._bedrock(30.0).meta.config
    assert (settings.connect_timeout, settings.read_timeout) == (2.0, 28.0)
