"""A person's HTTP client on the local stack, which also reads what each request cost."""

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from local.calls import Cost
from local.stack import Stack


@dataclass(frozen=True)
class Answer:
    """A response: status, headers by lower-case name, parsed body (None: empty), milliseconds seen here, AWS calls."""

    status: int
    headers: dict[str, str]
    body: Any
    milliseconds: float
    cost: Cost


class Client:
    """Sends one user's requests."""

    def __init__(self, stack: Stack, user: str) -> None:
        self._stack = stack
        self._token = stack.token(user)

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """Send a request; `body` travels as JSON. An error status is an answer like any other."""
        request = urllib.request.Request(  # noqa: S310 - the stack's own address on this machine
            self._stack.url + path,
            method=method,
            data=None if body is None else json.dumps(body, ensure_ascii=False).encode(),
            headers={"authorization": f"Bearer {self._token}", "content-type": "application/json", **(headers or {})},
        )
        started = time.perf_counter()
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - as above
                status, got, raw = response.status, response.headers, response.read()
        except urllib.error.HTTPError as refused:
            with refused:
                status, got, raw = refused.code, refused.headers, refused.read()
        milliseconds = (time.perf_counter() - started) * 1000
        names = {name.lower(): value for name, value in got.items()}
        cost = self._stack.calls.cost(names.get("apigw-requestid", ""))
        return Answer(status, names, json.loads(raw) if raw else None, milliseconds, cost)
