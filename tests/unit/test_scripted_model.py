"""The scripted model keeps to its script, records what it is asked and never holds a test up."""

import http.client
import json
import threading
from typing import Any

import pytest

from tests.scripted_model import Fails, Learns, Raw, Received, Reply, Says, ScriptedModel, Sends, Waits

CHAT = {"model": "m", "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "你好"}]}
CONVERSE = {"system": [{"text": "rules"}], "messages": [{"role": "user", "content": [{"text": "你好"}]}]}
TOOL = {"toolConfig": {"tools": [{"toolSpec": {"name": "remember", "inputSchema": {"json": {}}}}]}}


def post(model: ScriptedModel, path: str, body: Any) -> tuple[int, Any, str]:
    connection = http.client.HTTPConnection("127.0.0.1", int(model.url.rsplit(":", 1)[1]), timeout=10)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers.get("x-amzn-errortype", "")
    finally:
        connection.close()


def chat(model: ScriptedModel) -> tuple[int, Any, str]:
    return post(model, "/chat/completions", CHAT)


def test_replies_come_in_order_then_the_last_resort() -> None:
    with ScriptedModel(Says("one"), Says("two"), otherwise=Says("later")) as model:
        said = [chat(model)[1]["choices"][0]["message"]["content"] for _ in range(4)]

    assert said == ["one", "two", "later", "later"]
    assert model.unscripted == 0


def test_a_request_beyond_the_script_is_counted_and_fails() -> None:
    with ScriptedModel() as model:
        assert chat(model)[0] == 500
        assert model.unscripted == 1


def test_one_script_is_spoken_in_both_formats() -> None:
    answer = {"facts": ["喜欢茶"]}
    with ScriptedModel(otherwise=Learns(answer)) as model:
        completion = chat(model)[1]
        plain = post(model, "/model/a%3A0/converse", CONVERSE)[1]
        tool = post(model, "/model/a%3A0/converse", CONVERSE | TOOL)[1]

    assert json.loads(completion["choices"][0]["message"]["content"]) == answer
    assert json.loads(plain["output"]["message"]["content"][0]["text"]) == answer
    assert tool["output"]["message"]["content"][0]["toolUse"]["input"] == answer
    assert (plain["stopReason"], tool["stopReason"]) == ("end_turn", "tool_use")
    assert completion["usage"]["prompt_tokens"] == plain["usage"]["inputTokens"] == 100


def test_errors_have_each_providers_form() -> None:
    with ScriptedModel(otherwise=Fails("throttled")) as model:
        status, body, _ = chat(model)
        aws_status, _, exception = post(model, "/model/a/converse", CONVERSE)

    assert (status, body["error"]["code"]) == (429, "rate_limit_exceeded")
    assert (aws_status, exception) == (429, "ThrottlingException")


def test_requests_are_recorded_with_their_prompts() -> None:
    with ScriptedModel(otherwise=Says("")) as model:
        chat(model)
        post(model, "/model/a%3A0/converse", CONVERSE)

    assert [(one.model, one.system, one.user) for one in model.requests] == [
        ("m", "rules", "你好"),
        ("a:0", "rules", "你好"),
    ]
    assert "你好".encode() in model.everything_received()


def test_a_reply_may_depend_on_the_request() -> None:
    def echo(request: Received) -> Reply:
        return Says(request.user)

    with ScriptedModel(echo) as model:
        assert chat(model)[1]["choices"][0]["message"]["content"] == "你好"


def test_an_answer_is_held_back_until_its_event() -> None:
    gate, answers = threading.Event(), list[int]()
    with ScriptedModel(Waits(gate, Says("late"))) as model:
        caller = threading.Thread(target=lambda: answers.append(chat(model)[0]))
        caller.start()
        assert model.wait_for(1)
        assert answers == []
        gate.set()
        caller.join(10)

    assert answers == [200]


def test_closing_lets_go_of_answers_that_are_held_back() -> None:
    broken = list[bool]()

    def ask() -> None:
        with pytest.raises((http.client.HTTPException, OSError)):
            chat(model)
        broken.append(True)

    with ScriptedModel(Waits(threading.Event(), Says("never"))) as model:
        caller = threading.Thread(target=ask)
        caller.start()
        assert model.wait_for(1)
    caller.join(10)

    assert broken == [True]


def test_bytes_and_responses_are_sent_as_they_are() -> None:
    with ScriptedModel(Sends(b"[1]", 418), Raw()) as model:
        assert chat(model)[:2] == (418, [1])
        with pytest.raises(http.client.RemoteDisconnected):
            chat(model)
