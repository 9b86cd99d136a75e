"""A context over HTTP while the services below do not answer: empty within its time, whoever is waited for."""

from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.e2e.client import Person
from tests.e2e.faults import held


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False, environment={"CONTEXT_MILLISECONDS": "50"}) as running:
        yield running


@pytest.mark.parametrize(
    ("service", "call"),
    [("dynamodb", "Query"), ("dynamodb", "BatchGetItem"), ("s3", "GetObject"), ("kms", "Decrypt")],
)
@pytest.mark.parametrize("asked", [{"message": "when does the harbour open", "project": "atlas"}, {}])
def test_who_waits_for_nobody_gets_an_empty_context_and_the_reason(
    stack: Stack, ann: Person, service: str, call: str, asked: dict[str, str]
) -> None:
    ann.add("the harbour opens at nine")
    stack.functions.reload()
    with held(service, call):
        context = ann.ok("POST", "/v1/context", asked)
    assert (context["text"], context["tokens"], context["recalled"], context["memory_ids"]) == ("", 0, False, [])
    assert context["reason"] == "timeout"
