"""Marked texts go in through every field and header, and through every kind of error; then every raw byte and line is read.

Nothing may be readable in bucket (all versions), table, queues, dead-letter queues, logs, or any request to AWS, deleted since or not.
"""

import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

from local.demo import remains
from local.demo.remains import Piece, Wire
from local.stack import Stack
from shared.domain import limits
from shared.keeping.memories.memories import Memories
from shared.learning.conversation import Conversation
from shared.learning.extractor import RulesExtractor
from tests.e2e.client import Person, request

PASSWORD = "Qz7-Kanarie-91x"
CONTENT = "我决定把金丝雀放进第四号矿井"
ENGLISH = "We decided to call the yellow warbler Wilhelmina"
SECRET = f"金丝雀仓库的密码是 {PASSWORD}"
MODEL_TEXT = "We decided that thrushes explode in extractors"
BY_FIELD = {
    "content": CONTENT,
    "english": ENGLISH,
    "password": PASSWORD,
    "edited": "我决定把金丝雀搬到第五号矿井",
    "spoken": "We decided to feed the goldfinch sunflower kernels",
    "assistant": "A nightingale could answer that instead",
    "project": "project-kiwikanarie",
    "agent": "agent-zeisig",
    "tag": "#stieglitz",
    "metadata name": "metaname-gimpel",
    "metadata value": "metavalue-dompfaff",
    "session": "session-rotkehlchen",
    "speaker": "speaker-zaunkoenig",
    "tool": "toolarg-nachtigall",
    "keyword": "triggerword-pirol",
    "query": "where does the hoopoe sleep tonight",
    "message": "Let us continue with the woodpecker migration",
    "idempotency": "once-eisvogel",
    "subject": "subject-blaumeise",
    "name": "username-kohlmeise",
    "model error": MODEL_TEXT,
    "error text": "unexpected-waldkauz",
    "path": "path-schleiereule",
    "unknown parameter": "parameter-uhu",
    "unknown field": "field-steinkauz",
    "bad token": "token-turmfalke",
    "bad json": "json-habicht",
    "cursor": "cursor-sperber",
    "too long": "langer-bussard",
}
POISON = "poison-rotmilan"
"""What a stranger puts into the queue stays in the queue; it must only go nowhere else."""


@dataclass(frozen=True)
class Seen:
    """What is left when everything has happened."""

    token: str
    stored: list[Piece]
    lying: list[Piece]
    wire: list[Piece]
    lines: str
    statuses: dict[str, int]
    dead_letters: int
    task: dict[str, Any]


def give(ann: Person) -> dict[str, Any]:
    """Put texts into every field."""
    field = BY_FIELD
    place = {"scope": "agent", "agent": field["agent"]}
    more = {"tags": [field["tag"]], "metadata": {field["metadata name"]: field["metadata value"]}}
    once = {"idempotency-key": field["idempotency"]}
    added: dict[str, Any] = ann.ok("POST", "/v1/memories", {"content": CONTENT, **place, **more}, headers=once)
    ann.add(ENGLISH)
    ann.add(SECRET, scope="project", project=field["project"])
    keywords = {"custom_keywords": {"zh": [], "en": [field["keyword"]]}, "auto_capture": True}
    ann.ok("PATCH", "/v1/settings", keywords)
    tool = {"id": "call", "type": "function", "function": {"name": "look", "arguments": field["tool"]}}
    said = [
        {"role": "user", "content": field["spoken"], "name": field["speaker"]},
        {"role": "assistant", "content": field["assistant"], "tool_calls": [tool]},
        {"role": "user", "content": f"{SECRET}。"},
    ]
    where = {"project": field["project"], "agent": field["agent"], "session_id": field["session"]}
    ann.learn(*said, trigger="session_end", **where)
    return added


def use(ann: Person, stack: Stack, added: dict[str, Any]) -> None:
    """Find, reveal, edit and delete, before and after the index is built."""
    field = BY_FIELD
    path = f"/v1/memories/{added['id']}"
    for _ in range(2):
        assert ann.found("warbler") == [ENGLISH]
        ann.found(field["query"], project=field["project"], explain=True)
        ann.context(field["message"], project=field["project"], force=True)
        assert ENGLISH in ann.context("What about the yellow warbler?", force=True)["text"]
        ann.kept(project=field["project"])
        assert stack.run_maintenance()["idle"]
    secret = next(one for one in ann.kept() if one["masked"])
    assert PASSWORD in ann.ok("POST", f"/v1/memories/{secret['id']}/reveal")["content"]
    ann.ok("PATCH", path, {"content": field["edited"]})
    ann.ok("GET", f"{path}/history")
    ann.ok("DELETE", path)
    ann.ok("DELETE", f"/v1/memories/{secret['id']}")


def offend(ann: Person, stack: Stack, patch: pytest.MonkeyPatch) -> dict[str, int]:
    """Provoke every kind of error that a text could be quoted in."""
    field = BY_FIELD
    path = f"/v1/memories/{field['path']}"
    long = field["too long"] * 200
    answers = {
        "unknown path": ann.call("GET", path),
        "unknown parameter": ann.call("GET", "/v1/memories", query={field["unknown parameter"]: CONTENT}),
        "unknown field": ann.call("POST", "/v1/memories", {"content": CONTENT, field["unknown field"]: CONTENT}),
        "too long": ann.call("POST", "/v1/memories", {"content": long}),
        "wrong type": ann.call("POST", "/v1/memories", {"content": [CONTENT]}),
        "bad json": ann.call("POST", "/v1/memories", f'{{"content": "{field["bad json"]}'.encode()),
        "not json": ann.call("POST", "/v1/memories", CONTENT.encode(), headers={"content-type": "text/plain"}),
        "cursor": ann.call("GET", "/v1/memories", query={"cursor": field["cursor"]}),
        "duplicate": ann.call("POST", "/v1/memories", {"content": ENGLISH}),
        "key reused": ann.call(
            "POST", "/v1/memories", {"content": "another"}, headers={"idempotency-key": field["idempotency"]}
        ),
        "bad token": request(stack, "GET", path, None, {"authorization": f"Bearer {field['bad token']}"}),
    }

    def quotes(*_: Any) -> NoReturn:
        raise RuntimeError(field["error text"], CONTENT)

    with patch.context() as inner:
        inner.setattr(Memories, "get", quotes)  # nothing of ours raises texts; this stands for a library that does
        answers["unexpected"] = ann.call("GET", path)
    return {name: answer.status for name, answer in answers.items()}


def fail_to_learn(ann: Person, stack: Stack, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let the extractor fail with the conversation in its error, and let a stranger's message fail, until both are dead letters."""

    def quotes(_: Any, conversation: Conversation, *__: Any) -> NoReturn:
        raise RuntimeError([message.text for message in conversation.messages])

    with patch.context() as inner:
        inner.setattr(RulesExtractor, "extract", quotes)  # stands for a model whose error quotes what it was sent
        task_id = ann.hand_in(MODEL_TEXT).json["task_id"]
        stack.clients.sqs.send_message(
            QueueUrl=stack.deployment.outputs["WorkQueueUrl"],
            MessageBody=f'{{"v":1,"owner":"{POISON}"}}',
            MessageGroupId="poison",
            MessageDeduplicationId="poison",
        )
        for _ in range(limits.ATTEMPTS + 1):
            assert stack.wait_until_idle()
            stack.queue_clock.advance(3600)
        assert stack.wait_until_idle()
    return ann.task(task_id)


class Lines(logging.Handler):
    """Everything that is logged, from the finest level on, tracebacks included."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)s"))
        self.parts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.parts.append(self.format(record))


@contextmanager
def written() -> Iterator[Callable[[], str]]:
    """Everything that is logged or printed meanwhile. The root logger is as talkative as Lambda makes it at LOG_LEVEL DEBUG."""
    lines, printed, root = Lines(), io.StringIO(), logging.getLogger()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            yield lambda: "\n".join([*lines.parts, printed.getvalue()])
    finally:
        root.setLevel(level)
        root.removeHandler(lines)


@pytest.fixture(scope="module")
def seen() -> Seen:
    environment = {"LOG_LEVEL": "DEBUG", "MODEL_PROVIDER": "rules"}
    with (
        pytest.MonkeyPatch.context() as patch,
        Wire() as wire,
        written() as lines,
        Stack.start(schedule=False, environment=environment) as stack,
    ):
        ann = Person(stack, BY_FIELD["name"], sub=BY_FIELD["subject"])
        use(ann, stack, give(ann))
        statuses = offend(ann, stack, patch)
        task = fail_to_learn(ann, stack, patch)
        sent, told = list(wire.pieces), lines()
        return Seen(
            token=stack.token(BY_FIELD["name"], sub=BY_FIELD["subject"]),
            stored=[*remains.bucket(stack), *remains.table(stack)],
            lying=remains.queues(stack),
            wire=sent,
            lines=told,
            statuses=statuses,
            dead_letters=stack.dead_letters(),
            task=task,
        )


def found(pieces: list[Piece], *more: str) -> list[remains.Found]:
    return remains.search(pieces, [*BY_FIELD.values(), SECRET, *more])


def test_the_scenario_went_through_every_error(seen: Seen) -> None:
    assert seen.statuses == {
        "unknown path": 404,
        "unknown parameter": 422,
        "unknown field": 422,
        "too long": 422,
        "wrong type": 422,
        "bad json": 400,
        "not json": 415,
        "cursor": 422,
        "duplicate": 409,
        "key reused": 422,
        "bad token": 401,
        "unexpected": 500,
    }
    assert (seen.task["status"], seen.task["error"]) == ("failed", "internal")
    assert seen.dead_letters == 2


def test_nothing_can_be_read_in_bucket_and_table(seen: Seen) -> None:
    assert len(seen.stored) > 100
    assert found(seen.stored, POISON, seen.token) == []


def test_nothing_can_be_read_in_queues_and_dead_letters(seen: Seen) -> None:
    assert len(seen.lying) == seen.dead_letters
    assert found(seen.lying, seen.token) == []


def test_nothing_that_can_be_read_was_ever_sent_to_aws(seen: Seen) -> None:
    assert len(seen.wire) > 300
    assert found(seen.wire, seen.token) == []


def test_nothing_can_be_read_in_what_was_logged_and_printed(seen: Seen) -> None:
    assert '"event":"request"' in seen.lines
    assert '"error":"unexpected"' in seen.lines
    assert found([Piece("log", line.encode()) for line in seen.lines.split("\n")], POISON, seen.token) == []


def test_no_key_of_an_owner_was_logged(seen: Seen) -> None:
    assert "Plaintext" not in seen.lines


@pytest.mark.parametrize("field", sorted(BY_FIELD))
def test_the_same_look_finds_each_text_where_it_stands_in_the_clear(field: str) -> None:
    piece = Piece("log", f"something {BY_FIELD[field]} something".encode())

    assert BY_FIELD[field] in {one.text for one in found([piece])}
