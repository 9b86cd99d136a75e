"""The embedding model that the environment names is the one that compares meanings."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from local import embeddings as local_embeddings
from shared import config
from shared.bootstrap import embeddings, models
from shared.config import MissingSetting
from tests import tiny_e5
from tests.scripted_embeddings import embeds
from tests.scripted_model import ScriptedModel

NAMES = (
    "EMBEDDING_PROVIDER",
    "EMBEDDING_MODEL",
    "EMBEDDING_URL",
    "EMBEDDING_API_KEY",
    "EMBEDDING_SECRET_ARN",
)
Environment = Callable[..., None]
TITAN, COHERE = "amazon.titan-embed-text-v2:0", "cohere.embed-multilingual-v3"
OPENAI = {"PROVIDER": "openai", "MODEL": "m", "LENGTH": "8", "URL": "https://127.0.0.1/v1"}


def forget() -> None:
    for kept in (config.embeddings, embeddings.meaning, embeddings._embedding_client, models._secrets):
        kept.cache_clear()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """Set the variables, named without their EMBEDDING_; those not named are empty or 0."""

    def fill(**given: str) -> None:
        account = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "eu-central-1"}
        numbers = {"EMBEDDING_LENGTH": "0", "EMBEDDING_MILLISECONDS": "300"}
        named = {f"EMBEDDING_{name}": value for name, value in given.items()}
        for name, value in {**dict.fromkeys(NAMES, ""), **numbers, **account, **named}.items():
            monkeypatch.setenv(name, value)
        forget()

    fill()
    yield fill
    forget()


def test_without_a_provider_nothing_compares_meanings(environment: Environment) -> None:
    environment(MODEL="m", URL="https://127.0.0.1")
    assert embeddings.meaning() is None


def test_without_a_provider_no_adapter_is_imported() -> None:
    asked = "import sys; from shared.bootstrap import recall; print([name for name in sys.modules if 'embeddings_' in name])"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)  # noqa: S603
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"PROVIDER": "other"}, "PROVIDER"),
        ({"PROVIDER": "bedrock"}, "MODEL"),
        ({"PROVIDER": "bedrock", "MODEL": "amazon.titan-embed-text-v1"}, "MODEL"),
        ({"PROVIDER": "bedrock", "MODEL": TITAN, "LENGTH": "300"}, "LENGTH"),
        ({"PROVIDER": "bedrock", "MODEL": COHERE, "LENGTH": "256"}, "LENGTH"),
        ({**OPENAI, "MODEL": ""}, "MODEL"),
        ({**OPENAI, "LENGTH": "0"}, "LENGTH"),
        ({**OPENAI, "URL": ""}, "URL"),
        ({"PROVIDER": "local", "LENGTH": "256"}, "LENGTH"),
        ({"PROVIDER": "local", "MILLISECONDS": "soon"}, "MILLISECONDS"),
    ],
)
def test_what_a_provider_needs_is_named_when_it_is_missing(
    environment: Environment, given: dict[str, str], missing: str
) -> None:
    environment(**given)
    with pytest.raises(MissingSetting) as caught:
        embeddings.meaning()
    assert caught.value.name == f"EMBEDDING_{missing}"


@pytest.mark.parametrize(
    ("model", "length", "name"),
    [
        (TITAN, "0", f"bedrock {TITAN} 256"),
        (TITAN, "1024", f"bedrock {TITAN} 1024"),
        (COHERE, "0", f"bedrock {COHERE} 1024"),
    ],
)
def test_bedrock_is_asked_at_the_address_that_is_given(
    environment: Environment, model: str, length: str, name: str
) -> None:
    with ScriptedModel(otherwise=embeds) as server:
        environment(PROVIDER="bedrock", MODEL=model, LENGTH=length, URL=server.url)
        meaning = embeddings.meaning()
        assert meaning is not None
        assert (meaning.embedder.name, meaning.seconds) == (name, 0.3)
        meaning.embedder.query("tea")
    assert server.requests[0].model == model
    assert server.requests[0].headers["authorization"].startswith("AWS4-HMAC-SHA256 ")
    once = embeddings._embedding_client(0.3).meta.config
    assert (once.connect_timeout, once.read_timeout, once.retries["total_max_attempts"]) == (0.15, 0.3, 1)


def test_an_endpoint_is_asked_with_the_key_of_the_environment_or_of_the_secret(environment: Environment) -> None:
    with ScriptedModel(otherwise=embeds) as server, mock_aws():
        vault = boto3.client("secretsmanager", region_name="eu-central-1")
        arn = vault.create_secret(Name="embeddings", SecretString='{"api_key": "key-2"}')["ARN"]
        for given in ({"API_KEY": "key-1"}, {"SECRET_ARN": arn}, {}):
            environment(**{**OPENAI, "URL": server.url, **given})
            meaning = embeddings.meaning()
            assert meaning is not None
            meaning.embedder.query("tea")
    keys = [request.headers.get("authorization") for request in server.requests]
    assert keys == ["Bearer key-1", "Bearer key-2", None]


def test_the_model_in_the_process_comes_from_the_file_that_is_named_or_from_the_layer(
    environment: Environment, tmp_path: Path
) -> None:
    environment(PROVIDER="local", MODEL=str(tiny_e5.write(tmp_path / "tiny.bin")))
    meaning = embeddings.meaning()
    assert meaning is not None
    assert len(meaning.embedder.query("tea")) == tiny_e5.LENGTH
    assert embeddings.LAYER == "/opt/e5-small-q4.bin"


HALF_NAMED = [
    ({"PROVIDER": "Local"}, "EMBEDDING_PROVIDER"),
    ({"PROVIDER": "local", "MODEL": "CANARY"}, "EMBEDDING_MODEL"),
    ({**OPENAI, "MODEL": ""}, "EMBEDDING_MODEL"),
    ({**OPENAI, "LENGTH": ""}, "EMBEDDING_LENGTH"),
    ({**OPENAI, "URL": ""}, "EMBEDDING_URL"),
    ({**OPENAI, "URL": "http://CANARY.example/v1"}, "EMBEDDING_URL"),
    ({"PROVIDER": "bedrock", "MODEL": TITAN}, "EMBEDDING_URL"),
    ({"ID": "CANARY"}, "EMBEDDING_ID"),
    ({**OPENAI, "ID": "CANARY"}, "EMBEDDING_ID"),
    ({"MODEL": "CANARY"}, "EMBEDDING_PROVIDER"),
    ({"URL": "CANARY"}, "EMBEDDING_PROVIDER"),
]


@pytest.mark.parametrize(("given", "named"), HALF_NAMED)
def test_a_half_named_model_is_refused_before_the_local_stack_starts(given: dict[str, str], named: str) -> None:
    refusal = local_embeddings.problem({f"EMBEDDING_{name}": value for name, value in given.items()})
    assert refusal is not None
    assert named in refusal
    assert "CANARY" not in refusal


def test_a_whole_model_is_told_in_a_few_words(tmp_path: Path) -> None:
    file = tiny_e5.write(tmp_path / "tiny.bin")
    for given, told in (
        ({}, "words"),
        ({"PROVIDER": "", "MODEL": "", "ID": "", "LENGTH": "384"}, "words"),
        (OPENAI, "words and meaning (openai · m at https://127.0.0.1/v1)"),
        ({"PROVIDER": "local", "MODEL": str(file)}, "words and meaning (multilingual-e5-small in this process)"),
    ):
        environment = {f"EMBEDDING_{name}": value for name, value in given.items()}
        assert (local_embeddings.problem(environment), local_embeddings.described(environment)) == (None, told)


def test_the_local_stack_looks_for_the_local_model_where_it_is_fetched_to() -> None:
    chosen = local_embeddings.chosen({"EMBEDDING_PROVIDER": "local", "PATH": "x"})
    assert chosen == {"EMBEDDING_PROVIDER": "local", "EMBEDDING_MODEL": str(local_embeddings.FILE)}
    assert local_embeddings.chosen({}) == {}
