"""A model server on 127.0.0.1 that says what a test wrote down, over the wire formats of OpenAI and of Bedrock Converse.

    with ScriptedModel(Learns({"summary": "", "facts": []}), Fails("throttled"), Says("no JSON")) as model:
        ...                                  # MODEL_PROVIDER=openai or bedrock, MODEL_URL=model.url
    model.requests[0].body                   # the bytes of the first prompt

Each request takes the next reply; after the last one `otherwise` answers, and without that a 500 that `unscripted` counts.
A reply may be a function of the request. Nothing here sleeps: `Waits` holds an answer back until an event, or until the server closes.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import unquote

Fault = Literal["throttled", "down", "rejected", "invalid"]
STATUSES: Mapping[Fault, tuple[int, str, int, str]] = {
    "throttled": (429, "rate_limit_exceeded", 429, "ThrottlingException"),
    "down": (500, "server_error", 503, "ServiceUnavailableException"),
    "rejected": (401, "invalid_api_key", 403, "AccessDeniedException"),
    "invalid": (400, "invalid_request_error", 400, "ValidationException"),
}
"""Status and code at OpenAI, status and exception at Bedrock."""
CONVERSE_STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "content_filtered",
    "tool_calls": "tool_use",
}


@dataclass(frozen=True)
class Received:
    """One request as it arrived; header names in lower case, `body` without transfer coding."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def converse(self) -> bool:
        """Whether it speaks Bedrock's format."""
        return self.path.endswith("/converse")

    @property
    def bedrock(self) -> bool:
        """Whether it is meant for Bedrock, in whichever of its formats."""
        return self.path.endswith(("/converse", "/invoke"))

    @cached_property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return unquote(self.path.split("/")[-2]) if self.bedrock else str(self.json["model"])

    @property
    def system(self) -> str:
        """The system prompt."""
        if self.converse:
            return "".join(block["text"] for block in self.json["system"])
        return str(self.json["messages"][0]["content"])

    @property
    def user(self) -> str:
        """The last message."""
        content = self.json["messages"][-1]["content"]
        return "".join(block["text"] for block in content) if self.converse else str(content)


@dataclass(frozen=True)
class Says:
    """The model answers with text. `stop` in OpenAI's words; `usage` None leaves the count out; `extra` adds to the message."""

    text: str | None
    stop: str = "stop"
    usage: tuple[int, int] | None = (100, 20)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Learns:
    """The model answers as it was asked to: through the tool where there is one, else as text."""

    answer: Any
    usage: tuple[int, int] | None = (100, 20)


@dataclass(frozen=True)
class Fails:
    """The provider answers with one of its errors, in its own format."""

    fault: Fault
    message: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sends:
    """Any HTTP response."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


@dataclass(frozen=True)
class Raw:
    """Pieces of bytes instead of a response, as they are; then the connection is closed. None of them: it is closed at once."""

    pieces: Iterable[bytes] = ()


@dataclass(frozen=True)
class Waits:
    """The answer is held back until the event is set or the server closes."""

    until: threading.Event
    then: "Reply"


Reply = Says | Learns | Fails | Sends | Raw | Waits
Script = Reply | Callable[[Received], Reply]


class ScriptedModel:
    """The server; a context manager. `url` is the base address for both formats."""

    def __init__(self, *replies: Script, otherwise: Script | None = None) -> None:
        self._replies = list(replies)
        self._otherwise = otherwise
        self._arrived = threading.Condition()
        self._closing = threading.Event()
        self._waits: set[threading.Event] = set()
        self.requests: list[Received] = []
        self.unscripted = 0
        self._listener = _Listener(("127.0.0.1", 0), type("Connection", (_Connection,), {"model": self}))
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,), name="model", daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    def script(self, *replies: Script) -> None:
        """Add replies to those that are left."""
        with self._arrived:
            self._replies += replies

    def wait_for(self, requests: int, timeout: float = 10.0) -> bool:
        """Block until so many requests have arrived; False when they do not within `timeout` seconds."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.requests) >= requests, timeout)

    def everything_received(self) -> bytes:
        """All paths, headers and bodies, to search for what must not be in them; JSON escapes are undone beside the raw bytes."""
        with self._arrived:
            received = list(self.requests)
        parts = [f"{one.path} {dict(one.headers)}".encode() + one.body for one in received]
        parts += [json.dumps(one.json, ensure_ascii=False).encode("utf-8", "surrogatepass") for one in received]
        return b"\n".join(parts)

    def reply_to(self, request: Received) -> Reply:
        """Record a request and take its reply."""
        with self._arrived:
            self.requests.append(request)
            if self._replies:
                script: Script | None = self._replies.pop(0)
            else:
                script = self._otherwise
                self.unscripted += script is None
            self._arrived.notify_all()
        if script is None:
            return Fails("down", "the script is over")
        return script(request) if callable(script) else script

    def hold(self, event: threading.Event) -> bool:
        """Wait for the event; False when the server closed first."""
        with self._arrived:
            self._waits.add(event)
            closing = self._closing.is_set()
        return not closing and event.wait() and not self._closing.is_set()

    def close(self) -> None:
        """Let go of every answer that is held back, stop, free the port."""
        with self._arrived:
            self._closing.set()
            for event in self._waits:
                event.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        """Start answering."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    model: ScriptedModel

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (its base class names them)
        """Say nothing."""

    def do_POST(self) -> None:
        """Take the next reply."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        request = Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        reply = self.model.reply_to(request)
        while isinstance(reply, Waits):
            if not self.model.hold(reply.until):
                self.close_connection = True
                return
            reply = reply.then
        if isinstance(reply, Raw):
            self.close_connection = True
            for piece in reply.pieces:
                self.wfile.write(piece)
            return
        sends = rendered(reply, request)
        self.send_response(sends.status)
        for name, value in {**sends.headers, "content-length": str(len(sends.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sends.body)


def rendered(reply: Says | Learns | Fails | Sends, request: Received) -> Sends:
    """Return a reply in the format that the request speaks."""
    if isinstance(reply, Sends):
        return reply
    if isinstance(reply, Fails):
        return _failure(reply, request)
    if isinstance(reply, Learns) and not request.converse:
        return rendered(Says(json.dumps(reply.answer, ensure_ascii=False), usage=reply.usage), request)
    return _json(_converse(reply, request) if request.converse else _completion(reply, request))


def _failure(fails: Fails, request: Received) -> Sends:
    status, code, aws_status, exception = STATUSES[fails.fault]
    if request.bedrock:
        headers = {"x-amzn-errortype": exception, **fails.headers}
        return _json({"message": fails.message}, aws_status, headers)
    return _json(
        {"error": {"message": fails.message, "type": code, "code": code, "param": None}}, status, fails.headers
    )


def _completion(says: Says | Learns, request: Received) -> dict[str, Any]:
    assert isinstance(says, Says)
    message = {"role": "assistant", "content": says.text, **says.extra}
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": says.stop}],
    }
    if says.usage is not None:
        sent, made = says.usage
        body["usage"] = {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}
    return body


def _converse(reply: Says | Learns, request: Received) -> dict[str, Any]:
    tools = request.json.get("toolConfig", {}).get("tools", [])
    content: list[dict[str, Any]]
    if isinstance(reply, Learns) and tools:
        name = tools[0]["toolSpec"]["name"]
        content, stop = [{"toolUse": {"toolUseId": "tool-1", "name": name, "input": reply.answer}}], "tool_use"
    elif isinstance(reply, Learns):
        content, stop = [{"text": json.dumps(reply.answer, ensure_ascii=False)}], "end_turn"
    else:
        stop = CONVERSE_STOPS.get(reply.stop, reply.stop)
        content = [*reply.extra.get("content", []), *([{"text": reply.text}] if reply.text is not None else [])]
    body = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop,
        "metrics": {"latencyMs": 1},
    }
    if reply.usage is not None:
        sent, made = reply.usage
        body["usage"] = {"inputTokens": sent, "outputTokens": made, "totalTokens": sent + made}
    return body


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Sends:
    return Sends(json.dumps(value).encode(), status, {"content-type": "application/json", **(headers or {})})
