"""Powertools keeps the current request on a class: right in Lambda, where a process has one, wrong here."""

import threading
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import api_gateway

from local.emulation.patches import Patches

_current = threading.local()


def _per_thread(name: str) -> property:
    def read(_: Any) -> Any:
        return getattr(_current, name)

    def write(_: Any, value: Any) -> None:
        setattr(_current, name, value)

    return property(read, write)


def _resolve(self: Any, event: Any, context: Any) -> Any:
    self.current_event = self._to_proxy_event(event)
    self.lambda_context = context
    try:
        return self._build_response(self._resolve())
    finally:
        self.clear_context()


def install(patches: Patches) -> None:
    """Give each invocation, which has a thread of its own, its own current request."""
    reason = "one class attribute holds the request of all resolvers: threads would answer with each other's owner"
    resolve: Callable[..., Any] = _resolve
    patches.replace(api_gateway.BaseRouter, "current_event", _per_thread("event"), reason)
    patches.replace(api_gateway.BaseRouter, "lambda_context", _per_thread("context"), reason)
    patches.replace(api_gateway.ApiGatewayResolver, "resolve", resolve, reason)
