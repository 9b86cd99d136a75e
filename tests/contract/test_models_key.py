"""The key of a model endpoint: read late, kept for minutes, asked for again when it is refused, shown nowhere."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from shared.adapters.api_key import KEPT_SECONDS, ApiKey, GivenKey, SecretKey
from shared.adapters.attempts import REPEATS, Passing
from shared.adapters.endpoint import Endpoint
from shared.adapters.openai import OpenAiModel
from shared.learning.model import Model, ModelDown, ModelRefused
from tests.contract.models import NAME, Waiting, question
from tests.scripted_model import Fails, Received, Reply, Says, ScriptedModel


class Vault:
    """A Secrets Manager that counts how often it is read, and may fail."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.fault: Exception | None = None
        self.reads = 0

    def __call__(self) -> Any:
        return self

    def get_secret_value(self, **request: Any) -> dict[str, str]:
        assert request == {"SecretId": "arn"}
        self.reads += 1
        if self.fault is not None:
            raise self.fault
        return {"SecretString": self.secret}


def over(server: ScriptedModel, key: ApiKey, waiting: Waiting) -> Model:
    return OpenAiModel(Endpoint(server.url), NAME, key, waiting.attempts())


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "arn CANARY"}}, "GetSecretValue")


@contextmanager
def stored(secret: str) -> Iterator[tuple[Any, str]]:
    with mock_aws():
        client = boto3.client(
            "secretsmanager", region_name="eu-central-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        yield client, client.create_secret(Name="model", SecretString=secret)["ARN"]


@pytest.mark.parametrize(
    ("secret", "key"),
    [("k-1", "k-1"), (" k-1\n", "k-1"), ('{"api_key": "k-1", "note": "x"}', "k-1"), ('{"api_key": 12}', "12")],
)
def test_a_secret_is_the_key_or_holds_it(secret: str, key: str) -> None:
    with stored(secret) as (client, arn):
        assert SecretKey(lambda: client, arn, Waiting().clock).read() == key


@pytest.mark.parametrize("secret", [" ", "{", '{"key": "k"}', '{"api_key": ""}', "k\ney", "schlüssel"])
def test_a_secret_without_a_key_is_refused(secret: str) -> None:
    with pytest.raises(ModelRefused):
        SecretKey(Vault(secret), "arn", Waiting().clock).read()


def test_a_secret_that_is_not_there_is_refused() -> None:
    with stored("k") as (client, arn), pytest.raises(ModelRefused):
        SecretKey(lambda: client, arn + "x", Waiting().clock).read()


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (refused("AccessDeniedException"), ModelRefused),
        (refused("ThrottlingException"), Passing),
        (refused("InternalServiceError"), Passing),
        (EndpointConnectionError(endpoint_url="e"), Passing),
    ],
)
def test_a_secret_that_cannot_be_read_now_may_be_read_later(fault: Exception, error: type[Exception]) -> None:
    vault = Vault("k")
    vault.fault = fault
    with pytest.raises(error) as caught:
        SecretKey(vault, "arn", Waiting().clock).read()

    assert "CANARY" not in "".join(traceback.format_exception(caught.value))


def test_the_vault_is_asked_again_like_a_model_that_is_down() -> None:
    vault, waiting = Vault("k"), Waiting()
    vault.fault = refused("InternalServiceError")
    with ScriptedModel() as server, pytest.raises(ModelDown):
        over(server, SecretKey(vault, "arn", waiting.clock), waiting).ask(question())

    assert vault.reads == 1 + REPEATS
    assert server.requests == []


def test_nothing_is_read_before_the_first_question_and_then_once_in_five_minutes() -> None:
    vault, waiting = Vault("k-1"), Waiting()
    with ScriptedModel(otherwise=Says("x")) as server:
        model = over(server, SecretKey(vault, "arn", waiting.clock), waiting)
        reads = [vault.reads]
        for later in (0.0, KEPT_SECONDS - 1, 1.0):
            waiting.now += later
            model.ask(question())
            reads.append(vault.reads)

    assert reads == [0, 1, 1, 2]


def test_a_key_that_was_changed_in_the_vault_is_used_at_once_when_the_old_one_is_refused() -> None:
    def door(request: Received) -> Reply:
        return Says("in") if request.headers["authorization"] == "Bearer new" else Fails("rejected")

    vault, waiting = Vault("old"), Waiting()
    with ScriptedModel(otherwise=door) as server:
        key = SecretKey(vault, "arn", waiting.clock)
        key.read()
        vault.secret = "new"
        assert over(server, key, waiting).ask(question()).text == "in"
        assert len(server.requests) == 2


def test_a_key_that_is_refused_and_not_changed_is_not_tried_again() -> None:
    vault, waiting = Vault("old"), Waiting()
    with ScriptedModel(otherwise=Fails("rejected")) as server:
        with pytest.raises(ModelRefused):
            over(server, SecretKey(vault, "arn", waiting.clock), waiting).ask(question())
        assert len(server.requests) == 1

    assert vault.reads == 2


def test_a_slow_vault_takes_its_time_from_the_question() -> None:
    waiting = Waiting()

    class Slow(Vault):
        def get_secret_value(self, **request: Any) -> dict[str, str]:
            waiting.now += 40
            return super().get_secret_value(**request)

    with ScriptedModel() as server:
        with pytest.raises(Exception, match="in time"):
            over(server, SecretKey(Slow("k"), "arn", waiting.clock), waiting).ask(question(deadline=30.0))
        assert server.requests == []


@pytest.mark.parametrize("key", ["k\r\nx-other: 1", "schlüssel", "密钥"])
@pytest.mark.case(48)
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    with ScriptedModel() as server:
        with pytest.raises(ModelRefused) as caught:
            over(server, GivenKey(key), Waiting()).ask(question())
        assert server.requests == []

    assert key not in "".join(traceback.format_exception(caught.value))


def test_a_given_key_is_trimmed_and_never_shown_or_renewed() -> None:
    key = GivenKey(" k-1\n")

    assert key.read() == "k-1"
    assert not key.renewed("k-1")
    assert "k-1" not in repr(key) + repr(SecretKey(Vault("k-1"), "arn", Waiting().clock))
