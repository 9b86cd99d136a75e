"""What endpoints that speak OpenAI's protocol do differently, each as a test over real HTTP."""

import gzip
import json
import threading
import zlib
from collections.abc import Mapping
from typing import Any

import pytest

from shared.adapters.api_key import GivenKey
from shared.adapters.attempts import REPEATS
from shared.adapters.endpoint import Endpoint
from shared.adapters.openai import Form, OpenAiModel
from shared.learning.model import (
    Answer,
    Ask,
    ModelDown,
    ModelRefused,
    ModelThrottled,
    ModelTimeout,
    ModelUnavailable,
)
from tests.contract.models import NAME, Waiting, over_openai, question
from tests.scripted_model import Fails, Raw, Reply, Says, ScriptedModel, Sends

JSON = {"content-type": "application/json"}
CHOICE = {"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def completion(**changed: Any) -> bytes:
    return json.dumps({"choices": [CHOICE], **changed}).encode()


def message(**fields: Any) -> bytes:
    return completion(choices=[{"message": {"role": "assistant", **fields}, "finish_reason": "stop"}])


def refusal(text: str, status: int = 400, **fields: Any) -> Sends:
    return Sends(json.dumps({"error": {"message": text, **fields}}).encode(), status)


def asked(*replies: Reply, waiting: Waiting | None = None) -> tuple[Answer, list[dict[str, Any]]]:
    """Ask once; return the answer and the bodies of all requests."""
    with ScriptedModel(*replies) as server:
        answer = over_openai(server.url, waiting or Waiting()).ask(question())
        return answer, [one.json for one in server.requests]


def failed(*replies: Reply, waiting: Waiting | None = None) -> tuple[type[ModelUnavailable], int]:
    """Ask once; return the error's type and the number of requests."""
    with ScriptedModel(*replies, otherwise=replies[-1]) as server:
        with pytest.raises(ModelUnavailable) as caught:
            over_openai(server.url, waiting or Waiting()).ask(question())
        return type(caught.value), len(server.requests)


def test_openai_gets_the_schema_the_key_and_a_bound_on_tokens() -> None:
    with ScriptedModel(Says("{}")) as server:
        over_openai(server.url + "/v1/", Waiting()).ask(question())
        received = server.requests[0]

    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == "Bearer key-1"
    assert (received.json["max_tokens"], received.json["temperature"], received.json["stream"]) == (700, 0, False)
    wanted = received.json["response_format"]["json_schema"]
    assert received.json["response_format"]["type"] == "json_schema"
    assert (wanted["name"], wanted["strict"]) == ("answer", False)
    assert wanted["schema"]["properties"]["facts"]["items"]["required"] == ["content"]


def test_a_closed_schema_is_asked_for_strictly() -> None:
    with ScriptedModel(Says("{}"), Says("{}")) as server:
        model = over_openai(server.url, Waiting())
        model.ask(Ask("s", "u", CLOSED, 10, 9.0))
        model.ask(Ask("s", "u", {**CLOSED, "properties": {"a": {"type": "object"}}}, 10, 9.0))

    assert [one.json["response_format"]["json_schema"]["strict"] for one in server.requests] == [True, False]


def test_openais_refusal_stands_in_a_field_of_its_own() -> None:
    answer, _ = asked(Says(None, extra={"refusal": "I cannot help with that."}))

    assert (answer.text, answer.stop) == ("", "refused")


def test_openais_newer_models_count_completion_tokens_and_take_no_temperature() -> None:
    tokens = refusal(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param="max_tokens",
    )
    temperature = refusal("Unsupported value: 'temperature' does not support 0 with this model.", param="temperature")
    answer, bodies = asked(tokens, temperature, Says("{}"))

    assert answer.text == "{}"
    assert bodies[-1]["max_completion_tokens"] == 700
    assert bodies[-1]["response_format"]["type"] == "json_schema"
    assert not {"max_tokens", "temperature"} & set(bodies[-1])


def test_openais_account_without_credit_is_refused_not_throttled() -> None:
    assert failed(refusal("You exceeded your current quota", 429, code="insufficient_quota")) == (ModelRefused, 1)


@pytest.mark.parametrize("status", [400, 422])
def test_deepseek_takes_json_object_with_the_word_json_in_the_prompt(status: int) -> None:
    unavailable = refusal("This response_format type is unavailable now", status, code="invalid_request_error")
    with ScriptedModel(unavailable, Says("{}"), Says("{}")) as server:
        model = over_openai(server.url, Waiting())
        model.ask(question(system="Regeln"))
        model.ask(question(system="Regeln"))
        formats = [one.json["response_format"]["type"] for one in server.requests]

    assert formats == ["json_schema", "json_object", "json_object"]
    assert ["JSON" in one.system for one in server.requests] == [False, True, True]


def test_deepseeks_reasoning_is_no_answer() -> None:
    answer, _ = asked(Says("", stop="length", extra={"reasoning_content": '{"facts":["WRONG"]}'}))

    assert (answer.text, answer.stop) == ("", "length")


def test_deepseek_out_of_resources_is_asked_again() -> None:
    answer, bodies = asked(Says("half", stop="insufficient_system_resource"), Says("whole"))

    assert (answer.text, len(bodies)) == ("whole", 2)


def test_deepseek_without_balance_is_refused() -> None:
    assert failed(refusal("Insufficient Balance", 402)) == (ModelRefused, 1)


def test_ollama_needs_no_key_and_keeps_its_think_tags() -> None:
    with ScriptedModel(Says('<think>{"facts":["WRONG"]}</think>{"facts":[]}')) as server:
        model = OpenAiModel(Endpoint(server.url + "/v1"), "qwen3:8b", GivenKey(""), Waiting().attempts())
        answer = model.ask(question())

    assert "authorization" not in server.requests[0].headers
    assert answer.text == '<think>{"facts":["WRONG"]}</think>{"facts":[]}'


def test_ollamas_reasoning_field_is_no_answer() -> None:
    assert asked(Says("{}", extra={"reasoning": "let me think"}))[0].text == "{}"


def test_a_server_without_any_format_gets_the_schema_as_text() -> None:
    unknown = refusal("Unrecognized request argument supplied: response_format")
    answer, bodies = asked(unknown, unknown, Says("{}"))

    assert answer.text == "{}"
    assert "response_format" not in bodies[-1]
    assert '"facts"' in bodies[-1]["messages"][0]["content"]


def test_vllms_extra_fields_do_not_matter() -> None:
    body = completion(
        choices=[{**CHOICE, "index": 0, "logprobs": None, "stop_reason": 151645, "token_ids": None}],
        usage={"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None},
        prompt_logprobs=None,
        kv_transfer_params=None,
    )
    assert asked(Sends(body))[0] == Answer("ok", "end", 7, 3, NAME)


def test_vllms_aborted_answer_is_asked_again() -> None:
    assert asked(Says("ha", stop="abort"), Says("whole"))[0].text == "whole"


@pytest.mark.parametrize(
    ("fields", "text", "stop"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", "end"),
        (
            {"content": [{"type": "thinking", "text": "no"}, {"text": "b"}, "c", {"type": "text", "text": 4}]},
            "b",
            "end",
        ),
        ({"content": [{"type": "refusal", "refusal": "no"}]}, "", "refused"),
        ({"content": None, "tool_calls": [{"function": {"name": "answer", "arguments": '{"a":1}'}}]}, '{"a":1}', "end"),
        ({"content": None, "tool_calls": [{"function": {"arguments": {"a": "茶"}}}]}, '{"a": "茶"}', "end"),
        ({"content": None, "tool_calls": [{"function": None}]}, "", "end"),
        ({"content": None, "tool_calls": [None]}, "", "end"),
        ({"content": None}, "", "end"),
        ({"content": 7}, "", "end"),
        ({}, "", "end"),
    ],
)
def test_content_in_other_shapes(fields: Mapping[str, Any], text: str, stop: str) -> None:
    answer, _ = asked(Sends(message(**fields)))

    assert (answer.text, answer.stop) == (text, stop)


def test_a_tool_call_says_so() -> None:
    calls = [{"type": "function", "function": {"name": "answer", "arguments": "{}"}}]
    answer, _ = asked(Says(None, stop="tool_calls", extra={"tool_calls": calls}))

    assert (answer.text, answer.stop) == ("{}", "tool")


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": None}, {"prompt_tokens": "7"}, {"prompt_tokens": -7}])
def test_a_count_that_is_none_is_zero(usage: Any) -> None:
    answer, _ = asked(Sends(completion(usage=usage)))

    assert (answer.tokens_in, answer.tokens_out) == (0, 0)


def test_a_chunked_answer_is_read_whole() -> None:
    body = message(content="茶" * 50_000)
    pieces = [body[start : start + 7_000] for start in range(0, len(body), 7_000)]
    raw = [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"]
    raw += [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces]

    assert asked(Raw([*raw, b"0\r\n\r\n"]))[0].text == "茶" * 50_000


def test_a_chunked_answer_that_ends_early_is_asked_again() -> None:
    raw = Raw([b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"])

    assert asked(raw, Says("whole"))[0].text == "whole"


def test_an_answer_shorter_than_announced_is_asked_again_even_if_it_reads_well() -> None:
    cut = Raw([b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n" + completion()])

    assert asked(cut, Says("whole"))[0].text == "whole"


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_packed_answer_is_unpacked(coding: str, pack: Any) -> None:
    assert asked(Sends(pack(completion()), headers={**JSON, "content-encoding": coding}))[0].text == "ok"


@pytest.mark.parametrize(
    "reply",
    [
        Sends(gzip.compress(b" " * 5_000_000, mtime=0), headers={"content-encoding": "gzip"}),
        Sends(gzip.compress(completion(), mtime=0)[:-9], headers={"content-encoding": "gzip"}),
        Sends(b"no gzip", headers={"content-encoding": "gzip"}),
        Sends(completion(), headers={"content-encoding": "br"}),
        Sends(b"<!doctype html><title>Sign in</title>", headers={"content-type": "text/html"}),
        Sends(b"[" * 200_000),
        Sends(b"\xff\xfe"),
        Sends(b""),
        Sends(b"[1]"),
        Sends(b"null"),
        Sends(b"{}"),
        Sends(completion(choices=[])),
        Sends(completion(choices=[None])),
        Sends(completion(choices=[{"message": None}])),
        Sends(completion(), 201),
        Raw([b"SSH-2.0-OpenSSH_9.6\r\n"]),
        Raw([b"HTTP/1.1 200 OK\r\n" + b"x-long: " + b"a" * 70_000 + b"\r\n\r\n"]),
    ],
    ids=lambda reply: repr(reply)[:60],
)
def test_what_is_not_the_protocol_is_a_model_that_is_down(reply: Reply) -> None:
    assert failed(reply) == (ModelDown, 1 + REPEATS)


def test_a_body_that_does_not_end_is_left() -> None:
    read = 0

    def endless() -> Any:
        nonlocal read
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        for _ in range(2_000):
            read += 65_536
            yield b" " * 65_536

    answer, _ = asked(Raw(endless()), Says("whole"))

    assert answer.text == "whole"
    assert read < 60_000_000


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nx-slow: ",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n",
    ],
    ids=["header", "body", "body without length"],
)
def test_what_comes_byte_by_byte_ends_with_the_deadline(head: bytes) -> None:
    gate, sent = threading.Event(), 0

    def drip() -> Any:
        nonlocal sent
        yield head
        while sent < 200 and not gate.wait(0.05):
            sent += 1
            yield b"a"

    with ScriptedModel(Raw(drip())) as server:
        with pytest.raises(ModelTimeout):
            over_openai(server.url, Waiting()).ask(question(deadline=0.6))
        gate.set()

    assert sent < 150


def test_retry_after_is_waited_for() -> None:
    waiting = Waiting()
    asked(Fails("throttled", headers={"retry-after": "7"}), Says("x"), waiting=waiting)

    assert 7 <= waiting.slept[0] <= 8


@pytest.mark.parametrize("after", ["86400", "1e400"])
def test_a_wait_beyond_the_deadline_is_not_begun(after: str) -> None:
    waiting = Waiting()

    assert failed(Fails("throttled", headers={"retry-after": after}), waiting=waiting) == (ModelThrottled, 1)
    assert waiting.slept == []


@pytest.mark.parametrize("after", ["-5", "nan", "Wed, 21 Oct 2026 07:28:00 GMT", ""])
def test_a_wait_that_is_no_number_is_our_own_pause(after: str) -> None:
    waiting = Waiting()
    asked(Fails("throttled", headers={"retry-after": after}), Says("x"), waiting=waiting)

    assert 0 <= waiting.slept[0] <= 1


@pytest.mark.parametrize(
    ("error", "kind", "requests"),
    [
        ({"message": "x", "code": 429}, ModelThrottled, 1 + REPEATS),
        ({"message": "x", "code": 502}, ModelDown, 1 + REPEATS),
        ({"message": "x", "code": 401}, ModelRefused, 1),
        ({"message": "x", "code": 400}, ModelRefused, 3),
        ({"message": "x", "code": "odd"}, ModelDown, 1 + REPEATS),
        ({"message": "x", "code": True}, ModelDown, 1 + REPEATS),
        ("overloaded", ModelDown, 1 + REPEATS),
    ],
)
def test_an_error_under_status_200_is_an_error(error: Any, kind: type[ModelUnavailable], requests: int) -> None:
    assert failed(Sends(json.dumps({"error": error}).encode())) == (kind, requests)


def test_an_empty_error_beside_an_answer_is_none() -> None:
    assert asked(Sends(completion(error=None)))[0].text == "ok"


@pytest.mark.parametrize(
    ("status", "kind", "requests"),
    [
        (301, ModelRefused, 1),
        (307, ModelRefused, 1),
        (401, ModelRefused, 1),
        (403, ModelRefused, 1),
        (404, ModelRefused, 1),
        (408, ModelTimeout, 1),
        (413, ModelRefused, 1),
        (425, ModelDown, 1 + REPEATS),
        (500, ModelDown, 1 + REPEATS),
        (502, ModelDown, 1 + REPEATS),
        (503, ModelDown, 1 + REPEATS),
        (504, ModelTimeout, 1),
        (529, ModelDown, 1 + REPEATS),
    ],
)
def test_each_status_has_its_meaning(status: int, kind: type[ModelUnavailable], requests: int) -> None:
    assert failed(Sends(b"<html>", status)) == (kind, requests)


def test_a_redirect_is_not_followed() -> None:
    with ScriptedModel(otherwise=Says("elsewhere")) as other:
        moved = Sends(b"", 307, {"location": f"{other.url}/chat/completions"})
        assert failed(moved) == (ModelRefused, 1)
        assert other.requests == []


def test_the_strongest_form_is_where_it_starts() -> None:
    assert Form() == Form("schema", "max_tokens", temperature=True)
