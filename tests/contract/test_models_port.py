"""The contract of the port to a model, held by both adapters over real HTTP."""

import json
import socket
import threading
import traceback
from collections.abc import Callable

import pytest

from shared.adapters.attempts import ATTEMPT_SECONDS, PAUSE_BASE, PAUSE_MOST, REPEATS
from shared.adapters.bedrock import BedrockModel, Client
from shared.learning.model import (
    Answer,
    Model,
    ModelDown,
    ModelRefused,
    ModelThrottled,
    ModelTimeout,
    ModelUnavailable,
)
from tests.contract.models import ADAPTERS, NAME, Waiting, clients, question
from tests.scripted_model import Fails, Fault, Learns, Raw, Reply, Says, ScriptedModel, Waits

Adapter = Callable[[str, Waiting], Model]
ANSWER = {"summary": "喝茶", "facts": [{"content": "The user lives in Aarhus"}]}
PASSING: list[tuple[Reply, type[ModelUnavailable]]] = [
    (Fails("throttled"), ModelThrottled),
    (Fails("down"), ModelDown),
    (Raw(), ModelDown),
    (Raw([b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"]), ModelDown),
]
names = ["throttled", "down", "disconnected", "cut off"]


@pytest.fixture(params=list(ADAPTERS))
def adapter(request: pytest.FixtureRequest) -> Adapter:
    return ADAPTERS[str(request.param)]


def failed(adapter: Adapter, server: ScriptedModel, waiting: Waiting, deadline: float = 90.0) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        adapter(server.url, waiting).ask(question(deadline=deadline))
    return caught.value


def test_an_answer_comes_with_its_reason_to_stop_its_tokens_and_the_model(adapter: Adapter) -> None:
    with ScriptedModel(Says("好的", usage=(321, 12))) as server:
        answer = adapter(server.url, Waiting()).ask(question())

    assert answer == Answer("好的", "end", 321, 12, NAME)


def test_the_question_arrives_whole(adapter: Adapter) -> None:
    with ScriptedModel(Says("")) as server:
        adapter(server.url, Waiting()).ask(question(system="规则", user='a\u2028b "quoted" \x00 😀'))
        received = server.requests[0]

    assert (received.model, received.system, received.user) == (NAME, "规则", 'a\u2028b "quoted" \x00 😀')
    assert "$ref" not in received.body.decode()
    assert "$defs" not in received.body.decode()


@pytest.mark.case(13)
def test_a_lone_surrogate_is_not_sent_on(adapter: Adapter) -> None:
    with ScriptedModel(Says("")) as server:
        adapter(server.url, Waiting()).ask(question(system="a\udfff", user="hi \ud83d"))
        received = server.requests[0]

    assert (received.system, received.user) == ("a?", "hi ?")


def test_a_structured_answer_arrives_as_json_text(adapter: Adapter) -> None:
    with ScriptedModel(Learns(ANSWER)) as server:
        answer = adapter(server.url, Waiting()).ask(question())

    assert json.loads(answer.text) == ANSWER
    assert "喝茶" in answer.text


@pytest.mark.parametrize(("said", "stop"), [("length", "length"), ("content_filter", "refused"), ("stop", "end")])
def test_reasons_to_stop_are_translated(adapter: Adapter, said: str, stop: str) -> None:
    with ScriptedModel(Says("x", stop=said)) as server:
        assert adapter(server.url, Waiting()).ask(question()).stop == stop


@pytest.mark.case(22)
def test_an_empty_answer_is_an_answer_and_says_that_it_was_cut(adapter: Adapter) -> None:
    with ScriptedModel(Says("", stop="length")) as server:
        answer = adapter(server.url, Waiting()).ask(question())

    assert (answer.text, answer.stop) == ("", "length")


def test_tokens_that_the_provider_does_not_count_are_none(adapter: Adapter) -> None:
    with ScriptedModel(Says("x", usage=None)) as server:
        answer = adapter(server.url, Waiting()).ask(question())

    assert (answer.tokens_in, answer.tokens_out) == (0, 0)


@pytest.mark.parametrize(("reply", "error"), PASSING, ids=names)
def test_what_may_pass_is_asked_again_twice_with_growing_pauses(
    adapter: Adapter, reply: Reply, error: type[ModelUnavailable]
) -> None:
    waiting = Waiting()
    with ScriptedModel(otherwise=reply) as server:
        assert type(failed(adapter, server, waiting)) is error
        assert len(server.requests) == 1 + REPEATS

    assert len(waiting.slept) == REPEATS
    assert all(0 <= pause <= min(PAUSE_MOST, PAUSE_BASE * 2**turn) for turn, pause in enumerate(waiting.slept))


@pytest.mark.parametrize(("reply", "error"), PASSING, ids=names)
def test_what_passes_is_answered(adapter: Adapter, reply: Reply, error: type[ModelUnavailable]) -> None:
    with ScriptedModel(reply, Says("at last")) as server:
        assert adapter(server.url, Waiting()).ask(question()).text == "at last"
        assert len(server.requests) == 2


def test_what_does_not_pass_is_asked_once(adapter: Adapter) -> None:
    waiting = Waiting()
    with ScriptedModel(otherwise=Fails("rejected")) as server:
        assert type(failed(adapter, server, waiting)) is ModelRefused
        assert len(server.requests) == 1

    assert waiting.slept == []


@pytest.mark.case(100)
def test_a_slow_model_is_given_up_and_not_asked_again(adapter: Adapter) -> None:
    with ScriptedModel(otherwise=Waits(threading.Event(), Says("late"))) as server:
        assert type(failed(adapter, server, Waiting(), deadline=0.6)) is ModelTimeout
        assert len(server.requests) == 1


@pytest.mark.case(100)
def test_no_repeat_begins_that_the_deadline_has_no_room_for(adapter: Adapter) -> None:
    waiting = Waiting(random=lambda count: b"\xff" * count)
    with ScriptedModel(otherwise=Fails("down")) as server:
        assert type(failed(adapter, server, waiting, deadline=0.9)) is ModelDown
        assert type(failed(adapter, server, waiting, deadline=1.6)) is ModelDown
        assert len(server.requests) == 1 + 2

    assert len(waiting.slept) == 1


def test_without_time_nothing_is_sent(adapter: Adapter) -> None:
    with ScriptedModel(Says("x")) as server:
        assert type(failed(adapter, server, Waiting(), deadline=0.1)) is ModelTimeout
        assert server.requests == []


def test_nobody_listening_is_a_model_that_is_down(adapter: Adapter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ModelDown):
        adapter(f"http://127.0.0.1:{port}", Waiting()).ask(question())


def test_one_attempt_gets_thirty_seconds_however_much_is_left() -> None:
    given: list[float] = []

    with ScriptedModel(Says("x"), Says("y")) as server:

        def noted(seconds: float) -> Client:
            given.append(seconds)
            client: Client = clients(server.url)(seconds)
            return client

        model = BedrockModel(noted, NAME, Waiting().attempts())
        model.ask(question(deadline=500.0))
        model.ask(question(deadline=17.0))

    assert given == [ATTEMPT_SECONDS, 15.0]


def test_a_form_that_is_not_taken_is_weakened_until_one_is(adapter: Adapter) -> None:
    with ScriptedModel(Fails("invalid"), Fails("invalid"), Says("{}"), Says("{}")) as server:
        model = adapter(server.url, Waiting())
        model.ask(question())
        model.ask(question())
        forms = [(b"toolConfig" in one.body or b"response_format" in one.body) for one in server.requests]

    assert forms == [True, True, False, False]
    assert "JSON schema" in server.requests[-1].system
    assert "JSON schema" not in server.requests[0].system


def test_a_question_that_no_form_saves_is_refused_and_leaves_the_form_as_it_was(adapter: Adapter) -> None:
    with ScriptedModel(Fails("invalid"), Fails("invalid"), Fails("invalid"), Says("{}")) as server:
        model = adapter(server.url, Waiting())
        with pytest.raises(ModelRefused):
            model.ask(question())
        model.ask(question())

    assert server.requests[0].body == server.requests[3].body
    assert server.requests[0].body != server.requests[1].body


def test_a_model_that_takes_no_temperature_is_asked_without(adapter: Adapter) -> None:
    complaint = Fails("invalid", "Unsupported value: 'temperature' does not support 0 with this model.")
    with ScriptedModel(complaint, Learns(ANSWER), Learns(ANSWER)) as server:
        model = adapter(server.url, Waiting())
        model.ask(question())
        model.ask(question())

    assert [b'"temperature"' in one.body for one in server.requests] == [True, False, False]
    assert all(b"toolChoice" in one.body or b"json_schema" in one.body for one in server.requests)


def test_repeats_are_counted_over_all_forms(adapter: Adapter) -> None:
    down, invalid = Fails("down"), Fails("invalid")
    with ScriptedModel(down, invalid, down, invalid, down, Says("never")) as server:
        assert type(failed(adapter, server, Waiting())) is ModelDown
        assert len(server.requests) == 5


@pytest.mark.parametrize("fault", ["throttled", "down", "rejected", "invalid"])
@pytest.mark.case(48)
def test_an_error_shows_neither_key_nor_words_nor_what_the_provider_wrote(adapter: Adapter, fault: Fault) -> None:
    with ScriptedModel(otherwise=Fails(fault, "CANARY you sent: 我住在奥胡斯。")) as server:
        error = failed(adapter, server, Waiting())
        shown = "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)

        assert not [word for word in ("CANARY", "奥胡斯", "key-1", server.url) if word in shown]
