"""What Bedrock's Converse does in its own way, over real HTTP; the contract itself stands in test_models_port.py."""

import json
from typing import Any

import pytest
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from shared.adapters.attempts import REPEATS
from shared.adapters.bedrock import STEPS, BedrockModel, Form
from shared.learning.model import ModelDown, ModelRefused, ModelThrottled, ModelTimeout, ModelUnavailable
from tests.contract.models import NAME, Waiting, over_bedrock, question
from tests.scripted_model import Fails, Learns, Reply, Says, ScriptedModel, Sends

ANSWER = {"summary": "", "facts": [{"content": "喜欢茶", "importance": 0.5}]}


def converse(*content: Any, stop: str = "end_turn", **changed: Any) -> Sends:
    body = {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": stop, **changed}
    return Sends(json.dumps(body).encode())


def exception(name: str, status: int) -> Sends:
    return Sends(b'{"message": "x"}', status, {"content-type": "application/json", "x-amzn-errortype": name})


def used(name: str, answer: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": "t1", "name": name, "input": answer}}


def failed(reply: Reply) -> tuple[type[ModelUnavailable], int]:
    with ScriptedModel(otherwise=reply) as server:
        with pytest.raises(ModelUnavailable) as caught:
            over_bedrock(server.url, Waiting()).ask(question())
        return type(caught.value), len(server.requests)


def said(reply: Reply) -> tuple[str, str]:
    with ScriptedModel(reply) as server:
        answer = over_bedrock(server.url, Waiting()).ask(question())
    return answer.text, answer.stop


class Broken:
    """A client whose call fails before there is an answer."""

    def __init__(self, fault: Exception) -> None:
        self.fault = fault
        self.calls = 0

    def converse(self, **request: Any) -> Any:
        self.calls += 1
        raise self.fault


def test_the_answers_schema_is_a_tool_that_must_be_used() -> None:
    with ScriptedModel(Learns(ANSWER)) as server:
        answer = over_bedrock(server.url, Waiting()).ask(question())
        received = server.requests[0]

    assert received.path == "/model/vendor.model-v1%3A0/converse"
    assert received.json["inferenceConfig"] == {"maxTokens": 700, "temperature": 0.0}
    config = received.json["toolConfig"]
    assert config["toolChoice"] == {"tool": {"name": "answer"}}
    assert config["tools"][0]["toolSpec"]["inputSchema"]["json"]["properties"]["facts"]["items"]["type"] == "object"
    assert (json.loads(answer.text), answer.stop) == (ANSWER, "tool")


def test_a_model_that_takes_no_choice_of_tool_is_offered_it() -> None:
    complaint = "This model doesn't support the toolConfig.toolChoice.tool field. Remove it and try again."
    with ScriptedModel(Fails("invalid", complaint), Learns(ANSWER)) as server:
        answer = over_bedrock(server.url, Waiting()).ask(question())

    assert json.loads(answer.text) == ANSWER
    assert "toolChoice" not in server.requests[1].json["toolConfig"]
    assert server.requests[1].system == question().system


def test_a_model_without_tools_gets_the_schema_as_text() -> None:
    complaint = Fails("invalid", "This model doesn't support tool use.")
    with ScriptedModel(complaint, complaint, Learns(ANSWER)) as server:
        answer = over_bedrock(server.url, Waiting()).ask(question())

    assert json.loads(answer.text) == ANSWER
    assert "toolConfig" not in server.requests[2].json
    assert server.requests[2].system.startswith(question().system)
    assert '"facts"' in server.requests[2].system


def test_reasoning_and_blocks_of_other_kinds_are_left_out() -> None:
    reasoning = {"reasoningContent": {"reasoningText": {"text": '{"facts":["WRONG"]}', "signature": "s"}}}

    assert said(converse(reasoning, {"text": "a"}, {"text": "b"})) == ("ab", "end")
    assert said(converse(reasoning, stop="max_tokens")) == ("", "length")


def test_the_tools_input_wins_over_text_and_over_other_tools() -> None:
    blocks = {"text": "I will save this."}, used("search", {"q": 1}), used("answer", ANSWER), used("answer", {})
    text, stop = said(converse(*blocks, stop="tool_use"))

    assert (json.loads(text), stop) == (ANSWER, "tool")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("tool_use", "tool"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "refused"),
        ("content_filtered", "refused"),
        ("malformed_model_output", "end"),
        ("malformed_tool_use", "end"),
        ("of_tomorrow", "end"),
    ],
)
def test_each_reason_to_stop_has_its_meaning(reason: str, stop: str) -> None:
    assert said(converse({"text": "x"}, stop=reason)) == ("x", stop)


@pytest.mark.parametrize(
    ("name", "status", "kind", "requests"),
    [
        ("ThrottlingException", 429, ModelThrottled, 1 + REPEATS),
        ("ServiceQuotaExceededException", 400, ModelThrottled, 1 + REPEATS),
        ("ModelTimeoutException", 408, ModelTimeout, 1),
        ("ModelNotReadyException", 429, ModelDown, 1 + REPEATS),
        ("ModelErrorException", 424, ModelDown, 1 + REPEATS),
        ("InternalServerException", 500, ModelDown, 1 + REPEATS),
        ("ServiceUnavailableException", 503, ModelDown, 1 + REPEATS),
        ("OfTomorrowException", 502, ModelDown, 1 + REPEATS),
        ("AccessDeniedException", 403, ModelRefused, 1),
        ("ResourceNotFoundException", 404, ModelRefused, 1),
        ("UnrecognizedClientException", 403, ModelRefused, 1),
        ("ExpiredTokenException", 403, ModelRefused, 1),
        ("ValidationException", 400, ModelRefused, 3),
    ],
)
def test_each_exception_has_its_meaning(name: str, status: int, kind: type[ModelUnavailable], requests: int) -> None:
    assert failed(exception(name, status)) == (kind, requests)


@pytest.mark.parametrize(
    "body", [b"<html>", b"", b"[1]", b"null", b"{}", b'{"output": {}}', b'{"output": {"message": null}}', b"\xff"]
)
def test_what_is_not_the_protocol_is_a_model_that_is_down(body: bytes) -> None:
    assert failed(Sends(body)) == (ModelDown, 1 + REPEATS)


@pytest.mark.parametrize("status", [500, 503])
def test_a_page_of_a_gateway_is_a_model_that_is_down(status: int) -> None:
    assert failed(Sends(b"<html>", status, {"content-type": "text/html"})) == (ModelDown, 1 + REPEATS)


def test_an_answer_without_content_is_empty() -> None:
    assert said(Sends(b'{"output": {"message": {"role": "assistant"}}, "stopReason": "end_turn"}')) == ("", "end")


@pytest.mark.parametrize(
    ("fault", "kind", "calls"),
    [
        (ReadTimeoutError(endpoint_url="e"), ModelTimeout, 1),
        (ConnectTimeoutError(endpoint_url="e"), ModelDown, 1 + REPEATS),
        (EndpointConnectionError(endpoint_url="e"), ModelDown, 1 + REPEATS),
        (NoCredentialsError(), ModelRefused, 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_call_without_an_answer_has_its_meaning(fault: Exception, kind: type[ModelUnavailable], calls: int) -> None:
    client = Broken(fault)
    with pytest.raises(kind):
        BedrockModel(lambda _: client, NAME, Waiting().attempts()).ask(question())

    assert client.calls == calls


def test_every_attempt_has_a_client_of_its_length() -> None:
    assert list(STEPS) == sorted(STEPS, reverse=True)
    assert Form() == Form("chosen", temperature=True)


def test_a_model_that_only_says_something_says_it() -> None:
    assert said(Says("没有值得记住的内容")) == ("没有值得记住的内容", "end")
