"""A model that is down, slow, throttled, cut off, off-schema, unwilling or refuses the key: the task fails visibly, nothing is lost, and
when the model is back it is learned once. Both wire formats (B16; cases 93, 100, 101)."""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from local.invocation import FunctionFailed
from local.stack import Stack
from shared.adapters import attempts
from shared.learning import model_extractor
from tests.e2e.client import Person
from tests.e2e.faults import before_each, dead_bodies, deliver, held_messages, outlive_visibility, record
from tests.e2e.model import answer, asking, counts, fact
from tests.e2e.storage import objects
from tests.scripted_model import Fails, Learns, Raw, Received, Reply, Says, ScriptedModel, Waits

SAID = "I drink tea, 每天都喝茶 KANARIE"
TEA = Learns(answer(fact("Ann drinks tea")))
NEVER = threading.Event()


@pytest.fixture(scope="module", params=["openai", "bedrock"])
def stack(request: pytest.FixtureRequest, model: ScriptedModel) -> Iterator[Stack]:
    with asking(model, request.param) as running:
        yield running


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not sleep: the pauses between attempts are chosen from nothing."""
    monkeypatch.setattr(attempts, "PAUSE_BASE", 0.0)


@dataclass(frozen=True)
class Broken:
    """How a model breaks: what it answers in one delivery, how often the queue delivers, and the code that its owner reads."""

    code: str
    replies: tuple[Reply, ...]
    deliveries: int = 3
    answered: Mapping[str, int] = field(default_factory=dict)
    """The HTTP status that the operator reads, by wire format."""


BROKEN = {
    "throttled": Broken(
        "model_throttled", (Fails("throttled", "KANARIE"),) * 3, answered={"openai": 429, "bedrock": 429}
    ),
    "down": Broken("model_down", (Fails("down", "KANARIE"),) * 3, answered={"openai": 500, "bedrock": 503}),
    "cut off": Broken("model_down", (Raw((b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{",)),) * 3),
    "slow": Broken("model_timeout", (Waits(NEVER, TEA),)),
    "cut off in its answer": Broken(
        "model_unreadable", (Says('{"facts": [{"content": "Ann dr', stop="length"),) * 2, 1
    ),
    "off-schema": Broken("model_unreadable", (Says("KANARIE is noted!"),) * 2, 1),
    "unwilling": Broken("model_unreadable", (Says("", stop="content_filter"),), 1),
    "a wrong key": Broken("model_rejected", (Fails("rejected", "KANARIE"),), 1, {"openai": 401, "bedrock": 403}),
}


@pytest.mark.case(100)
@pytest.mark.parametrize("how", BROKEN.values(), ids=BROKEN.keys())
def test_case_100_a_broken_model_fails_the_task_with_its_code_and_a_retry_learns_once(
    stack: Stack,
    ann: Person,
    model: ScriptedModel,
    how: Broken,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if how.code == "model_timeout":
        monkeypatch.setattr(attempts, "ATTEMPT_SECONDS", 1.0)
    asked, dead = len(model.requests), len(dead_bodies(stack))
    model.script(*how.replies * how.deliveries)
    task_id = ann.hand_in(SAID).json["task_id"]
    outlive_visibility(stack, 3, seconds=31)
    task = ann.task(task_id)
    assert (task["status"], task["error"], task["attempts"]) == ("failed", how.code, how.deliveries)
    assert len(model.requests) - asked == len(how.replies) * how.deliveries
    letters = [json.loads(body) for body in dead_bodies(stack)[dead:]]
    assert [(one["task"], set(one)) for one in letters] == (
        [(task_id, {"v", "owner", "epoch", "task", "run"})] if how.deliveries == 3 else []
    )
    out = capsys.readouterr()
    failed = [json.loads(line) for line in out.out.split("\n") if '"event":"task_failed"' in line]
    answered = how.answered.get(os.environ["MODEL_PROVIDER"])
    assert [(line["level"], line["error"], line.get("provider_status")) for line in failed] == [
        ("ERROR", how.code, answered)
    ]
    assert "KANARIE" not in out.out + out.err
    (kept,) = [body for key, body in objects(stack, ann.sub).items() if "/conversations/" in key]
    assert b"KANARIE" not in kept
    assert ann.texts(status="all") == []
    model.script(TEA)
    assert ann.call("POST", f"/v1/tasks/{task_id}/retry").status == 202
    assert counts(ann.task(task_id)) == {"inserted": 1}
    assert ann.texts(status="all") == ["Ann drinks tea"]
    assert not [key for key in objects(stack, ann.sub) if "/conversations/" in key]


@pytest.mark.case(100)
def test_case_100_a_fault_that_passes_costs_one_call_more_and_no_delivery(ann: Person, model: ScriptedModel) -> None:
    asked = len(model.requests)
    model.script(Fails("throttled"), Fails("down"), TEA)
    task = ann.learn(SAID)
    assert (counts(task), task["attempts"], task["usage"]["calls"]) == ({"inserted": 1}, 1, 1)
    assert len(model.requests) - asked == 3


@pytest.mark.case(100)
def test_case_100_all_calls_of_a_delivery_share_one_budget_below_the_functions_time(
    stack: Stack, ann: Person, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (function,) = [one for one in stack.deployment.functions.values() if ".extraction." in f".{one.handler}"]
    assert function.timeout >= model_extractor.BUDGET_SECONDS + attempts.ATTEMPT_SECONDS
    monkeypatch.setattr(model_extractor, "BUDGET_SECONDS", model_extractor.LEAST_SECONDS)
    asked = len(model.requests)
    task_id = ann.hand_in(SAID).json["task_id"]
    outlive_visibility(stack, 3, seconds=31)
    task = ann.task(task_id)
    assert (task["status"], task["error"], task["attempts"]) == ("failed", "model_timeout", 3)
    assert len(model.requests) == asked


def test_what_an_interrupted_model_cost_is_counted(stack: Stack, ann: Person, model: ScriptedModel) -> None:
    model.script(Says("no JSON", usage=(50, 5)), *[Fails("down")] * 3, TEA)
    task_id = ann.hand_in(SAID).json["task_id"]
    outlive_visibility(stack, 1, seconds=31)
    task = ann.task(task_id)
    assert (counts(task), task["attempts"]) == ({"inserted": 1}, 2)
    assert task["usage"] == {"calls": 2, "tokens_in": 150, "tokens_out": 25}
    assert ann.ok("GET", "/v1/usage")["today"]["tokens_in"] == 150


@pytest.mark.case(93)
def test_case_93_a_redelivery_applies_the_first_plan_and_asks_no_model(
    stack: Stack, ann: Person, model: ScriptedModel
) -> None:
    with held_messages() as held:
        assert ann.hand_in(SAID).status == 202
    one = record(held[0]["MessageBody"], held[0]["MessageGroupId"], number=1)
    model.script(Learns(answer(fact("Ann drinks tea"), fact("Ann drinks green tea"))))
    asked = len(model.requests)
    steps: list[int] = []

    def die() -> None:
        steps.append(1)
        if len(steps) == 3:  # what was spent, the first step of the plan, the second
            raise SystemExit

    with before_each("dynamodb", "TransactWriteItems", die), pytest.raises(FunctionFailed):
        deliver(stack, "extraction", one)
    assert ann.texts() == ["Ann drinks tea"]
    assert deliver(stack, "extraction", one) == []
    assert sorted(ann.texts()) == ["Ann drinks green tea", "Ann drinks tea"]
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    assert (counts(task), task["attempts"], task["usage"]["calls"]) == ({"inserted": 2}, 2, 1)
    assert len(model.requests) - asked == 1


@pytest.mark.case(93)
def test_case_93_of_two_answers_at_once_one_becomes_the_plan(stack: Stack, ann: Person, model: ScriptedModel) -> None:
    with held_messages() as held:
        assert ann.hand_in(SAID).status == 202
    one = record(held[0]["MessageBody"], held[0]["MessageGroupId"], number=1)
    asked = len(model.requests)

    def differs(text: str) -> Learns:
        assert model.wait_for(asked + 2)
        return Learns(answer(fact(text)))

    def first(_: Received) -> Learns:
        return differs("Ann drinks tea")

    def second(_: Received) -> Learns:
        return differs("Ann drinks green tea")

    model.script(first, second)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: deliver(stack, "extraction", one), range(2)))
    if any(answers):  # two that met may ask to come again, as the queue would let them
        assert deliver(stack, "extraction", one) == []
    (task,) = ann.ok("GET", "/v1/tasks")["tasks"]
    assert counts(task) == {"inserted": 1}
    assert len(ann.texts(status="all")) == 1


@pytest.mark.case(51)
def test_case_51_another_owners_conversation_opens_under_no_task_and_no_model_sees_it(
    stack: Stack, ann: Person, bob: Person, model: ScriptedModel
) -> None:
    asked = len(model.requests)
    bucket, s3 = os.environ["BUCKET_NAME"], stack.clients.s3
    with held_messages() as held:
        assert ann.hand_in(SAID).status == 202
        task_id = bob.hand_in("I drink coffee, not tea").json["task_id"]
    ((_, hers),) = [one for one in objects(stack, ann.sub).items() if "/conversations/" in one[0]]
    (his,) = [key for key in objects(stack, bob.sub) if "/conversations/" in key]
    s3.put_object(Bucket=bucket, Key=his, Body=hers)
    deliver(stack, "extraction", record(held[1]["MessageBody"], held[1]["MessageGroupId"], number=1))
    task = bob.ok("GET", f"/v1/tasks/{task_id}")
    assert (task["status"], task["error"]) == ("failed", "conversation_damaged")
    assert bob.texts(status="all") == []
    assert len(model.requests) == asked


@pytest.mark.case(101)
def test_case_101_no_request_waits_for_the_model(stack: Stack, ann: Person, model: ScriptedModel) -> None:
    let_go, failed = threading.Event(), len(stack.functions.failures)
    asked = len(model.requests)
    model.script(Waits(let_go, TEA))
    made = ann.hand_in(SAID)
    assert made.status == 202
    assert model.wait_for(asked + 1)
    assert ann.ok("GET", f"/v1/tasks/{made.json['task_id']}")["status"] == "processing"
    assert ann.add("By hand meanwhile")["version"] == 1
    let_go.set()
    assert counts(ann.task(made.json["task_id"])) == {"inserted": 1}
    assert not stack.functions.failures[failed:]
