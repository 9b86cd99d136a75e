"""A gateway in front of one sample handler, without sockets, for tests of the local stack."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from local.gateway import Gateway, Request, Response
from local.invocation import Functions
from local.resources import Authorizer, Cors, Deployment, Function, Route
from local.tokens import Issuer

NOW = 1_700_000_000.5
OWN = "sign one for ann"
AUTHORIZER = Authorizer("https://issuer.example", ("client", "other-client"))
CORS = Cors(("https://page.example",), ("GET", "POST"), ("authorization",), ("etag",), 600)
Handler = Callable[[Any, Any], Any]


def now() -> float:
    return NOW


def route(method: str, path: str, *, authorizer: Authorizer | None = AUTHORIZER, scopes: tuple[str, ...] = ()) -> Route:
    return Route(method, path, "function", authorizer, scopes)


def deployment(*routes: Route, timeout: int = 29, cors: Cors = CORS) -> Deployment:
    function = Function("function", "functions.sample.app.handler", timeout, 128, {})
    chosen = routes or (
        route("GET", "/v1/{proxy+}"),
        route("POST", "/v1/{proxy+}"),
        route("ANY", "/{proxy+}", authorizer=None),
    )
    return Deployment({"function": function}, chosen, cors, (), (), ())


@cache
def issuer() -> Issuer:
    """Keys are slow to make; one signs for all tests."""
    return Issuer(AUTHORIZER, now)


class Api:
    """A gateway in front of one handler, with a token issuer of its own."""

    def __init__(self, handler: Handler, plan: Deployment) -> None:
        self.issuer = issuer()
        ids = iter(range(1, 1000))
        self.functions = Functions(plan.functions, {"functions.sample.app.handler": handler})
        self.gateway = Gateway(plan, self.functions, self.issuer.public_keys, now, lambda: f"id-{next(ids)}")

    def send(self, method: str, target: str, body: bytes = b"", *, token: str | None = OWN, **headers: str) -> Response:
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        if token is not None:
            named.append(("Authorization", f"Bearer {self.issuer.token('ann') if token == OWN else token}"))
        return self.gateway.answer(Request(method, target, tuple(named), body))


def api(handler: Handler, *routes: Route, **plan: Any) -> Api:
    return Api(handler, deployment(*routes, **plan))


def echo(event: Any, context: Any) -> Any:
    return event


def event_of(response: Response) -> dict[str, Any]:
    assert response.status == 200, response
    event: dict[str, Any] = json.loads(response.body)
    return event


def header(response: Response, name: str) -> str | None:
    return dict(response.headers).get(name)
