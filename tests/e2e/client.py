"""A person who talks to the local stack over real HTTP."""

import http.client
import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from local.stack import Stack
from tests.e2e.storage import owner_of

MEMORIES, CONVERSATIONS, SEARCH, CONTEXT = "/v1/memories", "/v1/conversations", "/v1/search", "/v1/context"
LONG_ENOUGH = "好的，谢谢你的解释，我这边都看明白了，先这样。"
"""Chatter of more than the twenty characters below which nothing is learned."""


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def code(self) -> str:
        """The code of our own errors; the answer must have our shape."""
        error = self.json["error"]
        assert set(error) <= {"code", "message", "details"}, error
        assert isinstance(error["message"], str)
        code: str = error["code"]
        return code

    @property
    def fields(self) -> list[str]:
        """The fields that an answer 422 names."""
        return [detail["field"] for detail in self.json["error"]["details"]]


def request(
    stack: Stack, method: str, target: str, body: bytes | None, headers: Mapping[str, str], timeout: float = 30.0
) -> Answer:
    """Send one request on a connection of its own; an answer that does not come within `timeout` seconds raises."""
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=timeout)
    try:
        with suppress(BrokenPipeError):  # a server that refuses a body answers before it has read it
            connection.request(method, target, body, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


@dataclass(frozen=True)
class Person:
    """Somebody with a token. The name is made unique, so that no test meets another's memories."""

    stack: Stack
    name: str = "ann"
    sub: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "sub", self.sub or f"{self.name}-{uuid.uuid4().hex}")

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send a request; a body that is not bytes is sent as JSON."""
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        sent = {"authorization": f"Bearer {self.stack.token(self.name, sub=self.sub)}"}
        if raw is not None:
            sent["content-type"] = "application/json"
        target = f"{path}?{urlencode(query)}" if query else path
        return request(self.stack, method, target, raw, sent | dict(headers or {}))

    def ok(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a request that must succeed; return its JSON, None for an empty answer."""
        answer = self.call(method, path, body, **more)
        assert answer.status < 300, (method, path, answer.status, answer.text)
        return answer.json if answer.body else None

    def add(self, content: str, **more: Any) -> dict[str, Any]:
        """Add a memory."""
        made: dict[str, Any] = self.ok("POST", MEMORIES, {"content": content, **more})
        return made

    def found(self, query: str, **more: Any) -> list[str]:
        """The texts that a search finds, best first."""
        return [hit["content"] for hit in self.ok("POST", SEARCH, {"query": query, **more})["memories"]]

    def context(self, message: str | None = None, **more: Any) -> dict[str, Any]:
        """The context of a message."""
        made: dict[str, Any] = self.ok("POST", CONTEXT, ({"message": message} if message else {}) | more)
        return made

    def kept(self, **query: Any) -> list[dict[str, Any]]:
        """All memories of a list, over its pages."""
        memories: list[dict[str, Any]] = []
        cursor: dict[str, Any] = {}
        while True:
            page = self.ok("GET", MEMORIES, query={"limit": 200, **query, **cursor})
            memories += page["memories"]
            if page["next_cursor"] is None:
                return memories
            cursor = {"cursor": page["next_cursor"]}

    def texts(self, **query: Any) -> list[str]:
        """The texts of a list."""
        return [memory["content"] for memory in self.kept(**query)]

    def hand_in(self, *messages: Any, trigger: str = "manual", **more: Any) -> Answer:
        """Send a conversation; a text is said by the user."""
        said = [{"role": "user", "content": one} if isinstance(one, str) else one for one in messages]
        return self.call("POST", CONVERSATIONS, {"messages": said, "trigger": trigger, **more})

    def learn(self, *messages: Any, trigger: str = "manual", **more: Any) -> dict[str, Any]:
        """Send a conversation and wait until its task is over."""
        answer = self.hand_in(*messages, trigger=trigger, **more)
        assert answer.status == 202, (answer.status, answer.text)
        return self.task(answer.json["task_id"])

    def task(self, task_id: str) -> dict[str, Any]:
        """A task, once the queues are idle."""
        assert self.stack.wait_until_idle()
        made: dict[str, Any] = self.ok("GET", f"/v1/tasks/{task_id}")
        return made

    def maintain(self) -> dict[str, Any]:
        """Run this person's maintenance, due or not, and return its report; all other people of the module are left alone."""
        report = self.stack.run_maintenance(owner_of(self.stack, self.sub))
        assert report["idle"]
        return report

    def capture(self) -> None:
        """Switch automatic learning on."""
        self.ok("PATCH", "/v1/settings", {"auto_capture": True})


def assistant(text: str) -> dict[str, str]:
    """A message of the assistant."""
    return {"role": "assistant", "content": text}
