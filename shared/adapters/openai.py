"""Any endpoint that speaks OpenAI's chat completions: OpenAI, DeepSeek, vLLM, Ollama and their kin.

They differ in what they take. Each question is put in the strongest form first; a 400 or 422 weakens the form, and a form that was answered
is remembered for the life of the process. What they answer is read without trusting any field.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

from shared.adapters.api_key import ApiKey
from shared.adapters.attempts import LEAST_SECONDS, Attempts, FormRefused, Passing
from shared.adapters.endpoint import Endpoint, Response
from shared.adapters.schemas import TOOL, inlined, spelled, strict, well_formed
from shared.domain.asking import Answer, Ask, ModelDown, ModelRefused, ModelThrottled, ModelTimeout, Stop

PATH: Final = "/chat/completions"
MOST_PATIENCE: Final = 3_600.0
_STOPS: Final[Mapping[str, Stop]] = {
    "length": "length",
    "content_filter": "refused",
    "tool_calls": "tool",
    "function_call": "tool",
}
_BROKEN_OFF: Final = frozenset({"abort", "error", "insufficient_system_resource"})
"""Reasons of vLLM, of routers, and of DeepSeek, with which the answer is no answer."""
_SPENT: Final = "insufficient_quota"
"""OpenAI's 429 for an account without credit, which passes for nobody who waits."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a question is put."""

    answer: Literal["schema", "object", "text"] = "schema"
    tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True


class OpenAiModel:
    """The port `Model` over one endpoint; `model` is the name that it knows the model by."""

    def __init__(self, endpoint: Endpoint, model: str, key: ApiKey, attempts: Attempts) -> None:
        self._endpoint = endpoint
        self._model = model
        self._key = key
        self._attempts = attempts
        self._form = Form()

    def ask(self, ask: Ask) -> Answer:
        course = self._attempts.begin(ask.deadline)
        answer, self._form = course.settle(self._form, partial(self._attempt, ask), weaker)
        return answer

    def _attempt(self, ask: Ask, form: Form, seconds: float) -> Answer:
        end = self._attempts.clock() + seconds
        key = self._key.read()
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "nacre"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        left = end - self._attempts.clock()
        if left < LEAST_SECONDS:
            raise ModelTimeout
        response = self._endpoint.post(PATH, question(ask, self._model, form), headers, left)
        if response.status in {401, 403} and self._key.renewed(key):
            raise Passing(ModelRefused(response.status))
        return self._read(response)

    def _read(self, response: Response) -> Answer:
        if response.status != 200:
            raise fault(response.status, response.headers, response.body)
        body = _parsed(response)
        error = body.get("error")
        if error:
            named = _status_of(error)
            if named is None:
                raise Passing(ModelDown(response.status), patience(response.headers.get("retry-after", "")))
            raise fault(named, response.headers, response.body)
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
        if choice is None or not isinstance(choice.get("message"), dict):
            raise Passing(ModelDown(response.status))
        reason = str(choice.get("finish_reason"))
        if reason in _BROKEN_OFF:
            raise Passing(ModelDown(response.status))
        text, stop = _said(choice["message"], _STOPS.get(reason, "end"))
        usage = body.get("usage")
        tokens = usage if isinstance(usage, dict) else {}
        return Answer(text, stop, _count(tokens, "prompt_tokens"), _count(tokens, "completion_tokens"), self._model)


def question(ask: Ask, model: str, form: Form) -> bytes:
    """Return the body of a request."""
    schema = inlined(ask.schema)
    system = ask.system if form.answer == "schema" else ask.system + spelled(ask.schema)
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": well_formed(system)},
            {"role": "user", "content": well_formed(ask.user)},
        ],
        form.tokens: ask.max_tokens,
        "stream": False,
    }
    if form.temperature:
        body["temperature"] = 0
    if form.answer == "schema":
        described = {"name": TOOL, "schema": schema, "strict": strict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    elif form.answer == "object":
        body["response_format"] = {"type": "json_object"}
    return json.dumps(body, ensure_ascii=False).encode()


def weaker(form: Form, complaint: str) -> Form | None:
    """Return the form to try next; None when the weakest was refused too."""
    if form.tokens == "max_tokens" and "max_completion_tokens" in complaint:
        return replace(form, tokens="max_completion_tokens")
    if form.temperature and "temperature" in complaint:
        return replace(form, temperature=False)
    if form.answer == "text":
        return None
    return replace(form, answer="object" if form.answer == "schema" else "text")


def fault(status: int, headers: Mapping[str, str], body: bytes) -> Exception:
    """Return what to raise for an answer that is none; a redirect is one of them."""
    if status in {400, 422}:
        return FormRefused(body.decode("utf-8", "replace").lower(), status)
    if status == 429 and _SPENT.encode() not in body:
        return Passing(ModelThrottled(status), patience(headers.get("retry-after", "")))
    if status in {408, 504}:
        return ModelTimeout(status)
    if status >= 500 or status in {409, 425}:
        return Passing(ModelDown(status), patience(headers.get("retry-after", "")))
    return ModelRefused(status) if status >= 300 else Passing(ModelDown(status))


def patience(header: str) -> float:
    """Return the seconds of a Retry-After header; a date there, which no known endpoint sends, is no number and gives 0."""
    try:
        seconds = float(header)
    except ValueError:
        return 0.0
    return min(seconds, MOST_PATIENCE) if seconds >= 0 else 0.0


def _parsed(response: Response) -> dict[str, Any]:
    try:
        parsed = json.loads(response.body)
    except (ValueError, RecursionError):
        raise Passing(ModelDown(response.status)) from None
    if not isinstance(parsed, dict):
        raise Passing(ModelDown(response.status))
    return parsed


def _status_of(error: Any) -> int | None:
    """Return the HTTP status that an error object under status 200 names."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 300 <= code < 600 else None


def _said(message: Mapping[str, Any], stop: Stop) -> tuple[str, Stop]:
    """Return the text of a message and why it ended there."""
    text, refused = _text(message.get("content"))
    if refused or (isinstance(message.get("refusal"), str) and message["refusal"]):
        return text, "refused"
    calls = message.get("tool_calls")
    if not text and isinstance(calls, list) and calls and isinstance(calls[0], dict):
        called = calls[0].get("function")
        return _argued(called.get("arguments") if isinstance(called, dict) else None), stop
    return text, stop


def _text(content: Any) -> tuple[str, bool]:
    """Return the text of a content, which may be a list of parts, and whether a part is a refusal."""
    if isinstance(content, str):
        return content, False
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str) and part.get("type") in {None, "text"}]
    return "".join(texts), any(part.get("type") == "refusal" for part in parts)


def _argued(arguments: Any) -> str:
    """Return a tool call's arguments as JSON text; some servers send an object."""
    if isinstance(arguments, dict | list):
        return json.dumps(arguments, ensure_ascii=False)
    return arguments if isinstance(arguments, str) else ""


def _count(tokens: Mapping[str, Any], name: str) -> int:
    value = tokens.get(name)
    return value if isinstance(value, int) and value > 0 else 0
