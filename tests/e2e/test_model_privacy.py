"""With a model: no secret leaves, no text stays in the clear (case 47)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from local.demo import remains
from local.demo.remains import Piece, Wire
from shared.adapters import attempts
from tests.e2e.client import Person
from tests.e2e.faults import outlive_visibility
from tests.e2e.model import KEY, answer, asking, counts, fact
from tests.e2e.test_canaries import written
from tests.scripted_model import Fails, Learns, Received, Reply, Says, ScriptedModel

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAzq1KANARIEkey0123456789abcdefgh\n-----END RSA PRIVATE KEY-----"
SPOKEN, TOKEN, IN_TOOL, IN_CALL, CHINESE = (
    "Quokka!7719-x",
    "sk-test-0a1B2c3D4e5F6g7H8i9J0kLmNoPq",
    "AKIAIOSFODNN7EXAMPLE",
    "hunter2Xy!Wombat",
    "Zq9!w3-xKd7",
)
SECRETS = (SPOKEN, TOKEN, IN_TOOL, IN_CALL, CHINESE, "KANARIEkey0123456789")
INVENTED = "Gnu#Invented4411"
TEXTS = {
    "said": "Wilhelmina the warbler lives in mineshaft four",
    "said in Chinese": "我决定把金丝雀放进第四号矿井",
    "assistant": "A nightingale could answer that instead",
    "summary": "A canary of summaries was talked about",
    "experience": "the hoopoe test was flaky",
    "project": "project-kiwikanarie",
    "agent": "agent-zeisig",
    "model's prose": "PARROTPROSE I shall remember",
    "failed": "The goldfinch prefers sunflower kernels",
    "provider's error": "PROVIDERERROR quotes the woodpecker",
}


@dataclass(frozen=True)
class Seen:
    """What is left when everything has happened."""

    prompts: list[Piece]
    elsewhere: dict[str, list[Piece]]
    tasks: list[dict[str, Any]]
    revealed: set[str]
    contents: list[str]


def learns_secrets(request: Received) -> Reply:
    """Keep one placeholder in its sentence, drop one, make one up, and make up a secret."""
    line = next(line for line in request.user.split("\n") if "kiwi database" in line)
    name = next(word.strip(".,") for word in line.split() if word.startswith("NACRE_SECRET"))
    secret = {"category": "credential", "importance": 10}
    return Learns(
        answer(
            fact(f"The password of the kiwi database is {name}", **secret),
            fact("The password of the kiwi database is known", **secret),
            fact("The password of the kiwi database is NACRE_SECRET_77", **secret),
            fact(f"The password of the kiwi database is {INVENTED}", **secret),
            fact(TEXTS["said"]),
            summary=f"{TEXTS['summary']}, and {name} was given.",
            experiences=[{"situation": TEXTS["experience"], "action": f"ran it with {name}", "outcome": "green"}],
        )
    )


def talk(ann: Person, model: ScriptedModel) -> list[dict[str, Any]]:
    """Let secrets and marked texts in through every role, and let one conversation fail for good."""
    call = {"id": "1", "type": "function", "function": {"name": "connect", "arguments": f'{{"password": "{IN_CALL}"}}'}}
    model.script(learns_secrets)
    first = ann.learn(
        f"{TEXTS['said']}. The password of the kiwi database is {SPOKEN}. My api key is {TOKEN}.",
        {"role": "assistant", "content": TEXTS["assistant"], "tool_calls": [call]},
        {"role": "tool", "content": f"AWS_ACCESS_KEY_ID={IN_TOOL}\n{PEM}", "tool_call_id": "1"},
        project=TEXTS["project"],
        agent=TEXTS["agent"],
    )
    model.script(Says(TEXTS["model's prose"]), Learns(answer(fact(TEXTS["said in Chinese"]))))
    second = ann.learn(f"{TEXTS['said in Chinese']}。数据库密码是 {CHINESE}。", project=TEXTS["project"])
    model.script(*[Fails("down", TEXTS["provider's error"])] * 9)
    failed = ann.hand_in(f"{TEXTS['failed']}, password: {SPOKEN}").json["task_id"]
    outlive_visibility(ann.stack, 3, seconds=31)
    return [first, second, ann.task(failed)]


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    with (
        pytest.MonkeyPatch.context() as patch,
        Wire() as wire,
        written() as lines,
        ScriptedModel() as model,
        asking(model, LOG_LEVEL="DEBUG") as stack,
    ):
        patch.setattr(attempts, "PAUSE_BASE", 0.0)
        ann = Person(stack)
        tasks = talk(ann, model)
        assert stack.run_maintenance()["idle"]
        sent, told = list(wire.pieces), lines()
        stored = [*remains.bucket(stack), *remains.table(stack)]
        kept = ann.kept(status="all")
        revealed = {ann.ok("POST", f"/v1/memories/{one['id']}/reveal")["content"] for one in kept if one["masked"]}
        headers = [Piece("header", f"{one.path} {dict(one.headers)}".encode()) for one in model.requests]
        yield Seen(
            prompts=[Piece("prompt", model.everything_received()), *headers],
            elsewhere={
                "bucket and table": stored,
                "queues and dead letters": remains.queues(stack),
                "requests to AWS": sent,
                "logs and output": [Piece("log", line.encode()) for line in told.split("\n")],
            },
            tasks=tasks,
            revealed=revealed,
            contents=[one["content"] for one in kept],
        )


def test_what_was_learned_is_what_was_said_with_its_secret_inside_the_seal(seen: Seen) -> None:
    assert [(task["status"], task["error"]) for task in seen.tasks] == [
        ("done", None),
        ("done", None),
        ("failed", "model_down"),
    ]
    assert counts(seen.tasks[0]) == {"inserted": 3, "discarded": 3}
    assert seen.revealed == {f"The password of the kiwi database is {SPOKEN}"}
    assert sorted(seen.contents) == sorted(
        [
            "The password of the kiwi database is ***",
            TEXTS["said"],
            f"{TEXTS['experience']} → ran it with *** → green",
            TEXTS["said in Chinese"],
        ]
    )
    assert seen.tasks[0]["summary"] == f"{TEXTS['summary']}, and *** was given."


@pytest.mark.case(47)
def test_case_47_no_secret_is_in_any_prompt(seen: Seen) -> None:
    assert remains.search(seen.prompts, SECRETS) == []
    shown = {one.text for one in remains.search(seen.prompts, TEXTS.values())}
    assert shown >= {TEXTS[name] for name in ("said", "said in Chinese", "assistant", "project", "failed")}
    assert not shown & {TEXTS["model's prose"], TEXTS["provider's error"]}


@pytest.mark.case(47)
@pytest.mark.parametrize("place", ["bucket and table", "queues and dead letters", "requests to AWS", "logs and output"])
def test_case_47_neither_secret_nor_text_is_readable_anywhere_else(seen: Seen, place: str) -> None:
    pieces = seen.elsewhere[place]
    assert pieces
    assert remains.search(pieces, [*SECRETS, INVENTED, KEY, *TEXTS.values()]) == []


def test_only_the_header_that_needs_it_carries_the_endpoints_key(seen: Seen) -> None:
    assert {one.place for one in remains.search(seen.prompts[1:], [KEY])} == {"header"}
    assert all(f"'authorization': 'Bearer {KEY}'".encode() in one.raw for one in seen.prompts[1:])
