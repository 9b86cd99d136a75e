"""The edge alone: many invocations at once, bodies of every kind, tags of versions."""

import base64
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from aws_lambda_powertools.event_handler import Response
from hypothesis import given
from hypothesis import strategies as st

from shared import config, observability
from shared.crypto.owners import owner_name
from shared.domain import limits
from shared.domain.errors import BadRequest, Invalid, TooLarge
from shared.http import JSON, Edge, Owner, routes, versions
from shared.models.forms import Given
from shared.strict_json import read_object
from tests.fakes import SeededRandom
from tests.integration.service import ISSUER, event

Json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Said(Given):
    """A body with one word."""

    word: str


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    for cached in (config.logs, observability._settings):
        cached.cache_clear()
    yield
    for cached in (config.logs, observability._settings):
        cached.cache_clear()


@pytest.mark.usefixtures("logs")
def test_invocations_at_once_in_one_process_do_not_mix() -> None:
    people = 6
    meeting = threading.Barrier(people)
    router = routes()

    @router.post("/v1/say")
    def say(said: Said, owner: Owner) -> Response[dict[str, str]]:
        meeting.wait(timeout=30)
        return Response(200, JSON, {"owner": owner, "word": said.word, "path": router.current_event.path})

    edge = Edge(SeededRandom(1))
    edge.include_router(router)

    def ask(number: int) -> dict[str, Any]:
        claims = {"iss": ISSUER, "sub": f"user {number}"}
        body = json.dumps({"word": f"word {number}"})
        made = event("POST", "/v1/say", body=body, headers={"Content-Type": JSON}, claims=claims)
        read: dict[str, Any] = json.loads(edge.resolve(made, None)["body"])
        return read

    with ThreadPoolExecutor(people) as pool:
        for _ in range(20):
            answers = list(pool.map(ask, range(people)))
            for number, answer in enumerate(answers):
                assert answer["owner"] == owner_name(ISSUER, f"user {number}")
                assert answer["word"] == f"word {number}"


@pytest.mark.usefixtures("logs")
def test_an_answer_that_is_not_what_was_promised_is_our_fault_and_not_the_callers() -> None:
    router = routes()

    @router.get("/v1/say")
    def say(owner: Owner) -> Response[Said]:
        return Response(200, JSON, {"word": 7}, {})  # type: ignore[arg-type]

    edge = Edge(SeededRandom(1))
    edge.include_router(router)
    answer = edge.resolve(event("GET", "/v1/say", claims={"iss": ISSUER, "sub": "ann"}), None)
    assert answer["statusCode"] == 500
    assert json.loads(answer["body"])["error"]["code"] == "internal"


@given(Json)
def test_what_is_read_can_be_written_again(value: Any) -> None:
    text = json.dumps({"value": value}, ensure_ascii=False)
    assert read_object(text, is_base64=False, content_type=JSON) == {"value": value}
    escaped = json.dumps({"value": value})
    assert read_object(escaped, is_base64=False, content_type=JSON) == {"value": value}


@given(st.text() | st.text(alphabet='{}[]":,0123456789.eE+-\\ud83dNaInfity \n', max_size=60))
def test_any_text_is_read_strictly_or_refused(text: str) -> None:
    try:
        read = read_object(text, is_base64=False, content_type=JSON)
    except (BadRequest, Invalid):
        return
    assert json.dumps(read, ensure_ascii=False, allow_nan=False).encode()


@given(st.binary(max_size=80))
def test_any_bytes_as_base64_are_read_strictly_or_refused(raw: bytes) -> None:
    body = base64.b64encode(raw).decode()
    try:
        read = read_object(body, is_base64=True, content_type=JSON)
    except (BadRequest, Invalid):
        return
    assert json.loads(raw) == read


def test_the_largest_body_is_read_and_one_byte_more_is_not() -> None:
    room = limits.BODY_BYTES - len('{"a":""}')
    assert read_object(f'{{"a":"{"x" * room}"}}', is_base64=False, content_type=JSON)
    with pytest.raises(TooLarge):
        read_object(f'{{"a":"{"x" * (room + 1)}"}}', is_base64=False, content_type=JSON)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("*", None),
        (" * ", None),
        ('"3"', {3}),
        ('"3","4"', {3, 4}),
        (' "3" , W/"4" ', {3}),
        ('W/"3"', set()),
        ('"x"', set()),
        ('""', set()),
        ('"٣"', None),
        ('"³"', None),
        ("3", None),
        ('"3', None),
        ('"3" "4"', None),
        ('"3",', None),
    ],
)
def test_if_match_is_a_list_of_strong_tags(header: str | None, expected: set[int] | None) -> None:
    if header is None or header.strip() == "*":
        assert versions(header) is None
    elif expected is None:
        with pytest.raises(Invalid):
            versions(header)
    else:
        assert set(versions(header) or ()) == expected
