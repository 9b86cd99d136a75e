"""Requests of one user to a running local stack, and what each cost in AWS calls."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from local.calls import Call, Cost
from local.stack import Stack
from shared.crypto.owners import owner_name


class Failed(Exception):
    """The service answered an error: its figures would say nothing."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The body that was answered and the AWS calls that were made for it."""

    body: Any
    calls: tuple[Call, ...]

    @property
    def cost(self) -> Cost:
        """Steps, calls, units and bytes."""
        return Cost.of(self.calls)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who uses the service."""

    stack: Stack
    name: str

    @property
    def owner(self) -> str:
        """The name of this person's partition."""
        return owner_name(self.issuer, self.name)

    @property
    def issuer(self) -> str:
        """Who signs this person's tokens."""
        return next(route.authorizer.issuer for route in self.stack.deployment.routes if route.authorizer is not None)

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, more: Mapping[str, str] | None = None
    ) -> Measured:
        """Send a request over HTTP, with `more` headers. Raises Failed unless it is answered with a status below 300."""
        connection = http.client.HTTPConnection(urlsplit(self.stack.url).netloc, timeout=60)
        headers = {"authorization": f"Bearer {self.stack.token(self.name)}", "content-type": "application/json"} | dict(
            more or {}
        )
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        answer = connection.getresponse()
        raw, trace = answer.read(), answer.headers["apigw-requestid"]
        connection.close()
        if answer.status >= 300:
            raise Failed(f"{method} {path} was answered {answer.status}")
        return Measured(json.loads(raw) if raw else None, tuple(self.stack.calls.of(trace)))
