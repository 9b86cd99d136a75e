"""Amazon Bedrock's Converse: the port `Model` over boto3 clients whose own retries are off.

The answer's schema is offered as a tool that must be used; models that take no choice of tool are offered it, and models without tools get
the schema as text. A ValidationException weakens the form; a form that was answered is remembered for the life of the process.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, Protocol

from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from shared.adapters.attempts import LEAST_SECONDS, Attempts, FormRefused, Passing
from shared.adapters.faults import FAULTS, LOST, THROTTLED, code
from shared.adapters.schemas import TOOL, inlined, spelled, well_formed
from shared.domain.asking import Answer, Ask, ModelDown, ModelRefused, ModelThrottled, ModelTimeout, Stop

STEPS: Final = (30.0, 25.0, 20.0, 15.0, 10.0, 5.0, 2.0, 1.0, LEAST_SECONDS)
"""Seconds that an attempt may take: a client has one time-out for good, so there is one client for each of these that is needed."""
_THROTTLED: Final = THROTTLED | {"ServiceQuotaExceededException"}
_DOWN: Final = frozenset(
    {
        "InternalFailure",
        "InternalServerException",
        "ModelErrorException",
        "ModelNotReadyException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    }
)
_STOPS: Final[Mapping[str, Stop]] = {
    "content_filtered": "refused",
    "guardrail_intervened": "refused",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool",
}
_UNREADABLE: Final = (ResponseParserError, AttributeError, KeyError, TypeError, ValueError)
"""What the SDK's parser raises for a body that is not the protocol: whatever goes wrong first."""


class Client(Protocol):
    """A boto3 client of `bedrock-runtime`."""

    def converse(self, **request: Any) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Form:
    """How a question is put."""

    tool: Literal["chosen", "offered", "none"] = "chosen"
    temperature: bool = True


class BedrockModel:
    """`clients(seconds)` gives a client without retries of its own that gives up after so many seconds, connecting included.

    `model` is the id of a model or of an inference profile.
    """

    def __init__(self, clients: Callable[[float], Client], model: str, attempts: Attempts) -> None:
        self._clients = clients
        self._model = model
        self._attempts = attempts
        self._form = Form()

    def ask(self, ask: Ask) -> Answer:
        course = self._attempts.begin(ask.deadline)
        answer, self._form = course.settle(self._form, partial(self._attempt, ask), weaker)
        return answer

    def _attempt(self, ask: Ask, form: Form, seconds: float) -> Answer:
        step = next(step for step in STEPS if step <= seconds)
        try:
            answer = self._clients(step).converse(modelId=self._model, **question(ask, form))
        except FAULTS as fault:
            raise translated(fault) from None
        except _UNREADABLE:
            raise Passing(ModelDown()) from None
        return self._read(answer)

    def _read(self, answer: Mapping[str, Any]) -> Answer:
        message = answer.get("output", {}).get("message")
        if message is None:
            raise Passing(ModelDown())
        usage = answer.get("usage", {})
        return Answer(
            said(message.get("content", [])),
            _STOPS.get(answer.get("stopReason", ""), "end"),
            usage.get("inputTokens", 0),
            usage.get("outputTokens", 0),
            self._model,
        )


def question(ask: Ask, form: Form) -> dict[str, Any]:
    """Return the request without its model."""
    system = ask.system if form.tool != "none" else ask.system + spelled(ask.schema)
    limits: dict[str, Any] = {"maxTokens": ask.max_tokens}
    if form.temperature:
        limits["temperature"] = 0.0
    request: dict[str, Any] = {
        "system": [{"text": well_formed(system)}],
        "messages": [{"role": "user", "content": [{"text": well_formed(ask.user)}]}],
        "inferenceConfig": limits,
    }
    if form.tool != "none":
        described = {"name": TOOL, "description": "The answer.", "inputSchema": {"json": inlined(ask.schema)}}
        request["toolConfig"] = {"tools": [{"toolSpec": described}]}
    if form.tool == "chosen":
        request["toolConfig"]["toolChoice"] = {"tool": {"name": TOOL}}
    return request


def weaker(form: Form, complaint: str) -> Form | None:
    """Return the form to try next; None when the weakest was refused too."""
    if form.temperature and "temperature" in complaint:
        return replace(form, temperature=False)
    if form.tool == "none":
        return None
    return replace(form, tool="offered" if form.tool == "chosen" else "none")


def translated(fault: Exception) -> Exception:
    """Return what to raise for a fault; ModelRefused for all that asking again does not change."""
    name, status = code(fault), _status(fault)
    if isinstance(fault, ReadTimeoutError) or name == "ModelTimeoutException":
        return ModelTimeout(status)
    if isinstance(fault, (ConnectTimeoutError, *LOST)) or name in _DOWN or (status or 0) >= 500:
        return Passing(ModelDown(status))
    if name in _THROTTLED:
        return Passing(ModelThrottled(status))
    if name == "ValidationException":
        return FormRefused(str(fault).lower(), status or 400)
    return ModelRefused(status)


def said(content: list[Mapping[str, Any]]) -> str:
    """Return the tool's input as JSON, else the text. Reasoning, citations and other tools are left out."""
    inputs = [block["toolUse"].get("input") for block in content if block.get("toolUse", {}).get("name") == TOOL]
    if inputs:
        return json.dumps(inputs[0], ensure_ascii=False)
    return "".join(block["text"] for block in content if isinstance(block.get("text"), str))


def _status(fault: Exception) -> int | None:
    """Return the HTTP status of the answer; None when none came."""
    if not isinstance(fault, ClientError):
        return None
    return int(fault.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) or None
