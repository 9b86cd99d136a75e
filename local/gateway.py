"""An HTTP API of API Gateway: requests become payload format 2.0 events, answers of functions become responses.

Decisions, where the developer guide is silent: paths arrive decoded and end at a decoded question mark, as captures of
live HTTP APIs show; bodies of text, JSON, XML and JavaScript stay text when they are UTF-8, all others are base64.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from local.authorizer import PublicKeys, Refused, authorize
from local.invocation import FunctionFailed, Functions, FunctionTimedOut
from local.resources import ACCOUNT, Cors, Deployment, Route
from local.routes import match

REQUEST_BYTES = 10 * 1024 * 1024
PAYLOAD_BYTES = 6 * 1024 * 1024
INTEGRATION_SECONDS = 30.0
_TEXT = re.compile(r"(text/.*|application/(.*\+)?(json|xml)|application/javascript)", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """One HTTP request as it came: `target` is path and query as sent, headers in order with repeats."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    source: str = "127.0.0.1"
    protocol: str = "HTTP/1.1"

    def header(self, name: str) -> str | None:
        """All values of one header joined by commas, or None."""
        values = [value for key, value in self.headers if key.lower() == name]
        return ",".join(values) if values else None


@dataclass(frozen=True)
class Response:
    """What goes back: status, headers in order with repeats, body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def message(status: int, text: str, *headers: tuple[str, str]) -> Response:
    """One of the gateway's own answers."""
    body = json.dumps({"message": text}, separators=(",", ":")).encode()
    return Response(status, (("content-type", "application/json"), *headers), body)


def _query(raw: str) -> dict[str, str]:
    joined: dict[str, list[str]] = {}
    for name, value in parse_qsl(raw, keep_blank_values=True):
        joined.setdefault(name, []).append(value)
    return {name: ",".join(values) for name, values in joined.items()}


def _body(request: Request) -> tuple[str, bool]:
    kind = (request.header("content-type") or "").split(";")[0].strip()
    if _TEXT.fullmatch(kind):
        try:
            return request.body.decode("utf-8"), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(request.body).decode(), True


def _headers(request: Request) -> tuple[dict[str, str], list[str]]:
    joined: dict[str, list[str]] = {}
    cookies: list[str] = []
    for name, value in request.headers:
        if name.lower() == "cookie":
            cookies += [part.strip() for part in value.split(";") if part.strip()]
        else:
            joined.setdefault(name.lower(), []).append(value)
    joined["x-forwarded-for"] = [request.source]
    joined["x-forwarded-proto"] = ["http"]
    return {name: ",".join(values) for name, values in joined.items()}, cookies


class Gateway:
    """Answers requests for one deployment.

    `clock` returns Unix seconds; `new_id` makes request ids; `keys` are the token issuer's public keys by id.
    """

    def __init__(
        self,
        deployment: Deployment,
        functions: Functions,
        keys: PublicKeys,
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._deployment = deployment
        self._functions = functions
        self._keys = keys
        self._clock = clock
        self._new_id = new_id

    def answer(self, request: Request) -> Response:
        """The response to one request; never raises for anything a client sends."""
        request_id = self._new_id()
        response = self._answer(request, request_id)
        headers = (*response.headers, ("apigw-requestid", request_id))
        return _with_cors(self._deployment.cors, request, Response(response.status, headers, response.body))

    def _answer(self, request: Request, request_id: str) -> Response:
        if len(request.body) > REQUEST_BYTES:
            return message(413, "Request Too Long")
        raw_path, _, raw_query = request.target.partition("?")
        path = unquote(raw_path, errors="replace").partition("?")[0]
        found = match(self._deployment.routes, request.method, path)
        if _is_preflight(self._deployment.cors, request) and (found is None or found[0].authorizer is None):
            return Response(204, (), b"")
        if found is None:
            return message(404, "Not Found")
        route, parameters = found
        identity = None
        if route.authorizer is not None:
            header = request.header("authorization")
            try:
                identity = authorize(route, route.authorizer, header, self._keys, self._clock)
            except Refused as refusal:
                text = "Unauthorized" if refusal.status == 401 else "Forbidden"
                return message(refusal.status, text, ("www-authenticate", refusal.challenge))
        event = self.event(request, route, path, raw_query, parameters, identity, request_id)
        if len(json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")) > PAYLOAD_BYTES:
            return message(413, "Request Too Long")
        return self._invoke(route, event, request_id)

    def event(
        self,
        request: Request,
        route: Route,
        path: str,
        raw_query: str,
        parameters: Mapping[str, str],
        identity: Mapping[str, Any] | None,
        request_id: str,
    ) -> dict[str, Any]:
        """The payload format 2.0 event of a request."""
        headers, cookies = _headers(request)
        key = "$default" if route.path == "$default" else f"{route.method} {route.path}"
        context = self._context(request, path, headers, key, request_id)
        if identity is not None:
            context["authorizer"] = {"jwt": identity}
        event: dict[str, Any] = {
            "version": "2.0",
            "routeKey": key,
            "rawPath": path,
            "rawQueryString": raw_query,
            "headers": headers,
            "requestContext": context,
            "isBase64Encoded": False,
        }
        if cookies:
            event["cookies"] = cookies
        if raw_query:
            event["queryStringParameters"] = _query(raw_query)
        if parameters:
            event["pathParameters"] = dict(parameters)
        if request.body:
            event["body"], event["isBase64Encoded"] = _body(request)
        return event

    def _context(
        self, request: Request, path: str, headers: Mapping[str, str], key: str, request_id: str
    ) -> dict[str, Any]:
        now = self._clock()
        return {
            "accountId": ACCOUNT,
            "apiId": "local",
            "domainName": headers.get("host", "localhost"),
            "domainPrefix": "local",
            "http": {
                "method": request.method,
                "path": path,
                "protocol": request.protocol,
                "sourceIp": request.source,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": request_id,
            "routeKey": key,
            "stage": "$default",
            "time": datetime.fromtimestamp(now, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "timeEpoch": int(now * 1000),
        }

    def _invoke(self, route: Route, event: Mapping[str, Any], request_id: str) -> Response:
        try:
            answer = self._functions.invoke(route.function, event, request_id, INTEGRATION_SECONDS)
        except FunctionTimedOut:
            patient = self._deployment.functions[route.function].timeout >= INTEGRATION_SECONDS
            return message(503, "Service Unavailable") if patient else message(500, "Internal Server Error")
        except FunctionFailed:
            return message(500, "Internal Server Error")
        if len(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass")) > PAYLOAD_BYTES:
            return message(500, "Internal Server Error")
        try:
            return _response(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            return message(500, "Internal Server Error")


def _response(answer: Any) -> Response:
    """A function's answer as a response: format 2.0, which also takes a bare value as a JSON body."""
    if not isinstance(answer, dict) or "statusCode" not in answer:
        bare = answer if isinstance(answer, str) else json.dumps(answer)
        return Response(200, (("content-type", "application/json"),), bare.encode())
    status = int(answer["statusCode"])
    if not 200 <= status <= 599:
        raise ValueError(status)
    text = answer.get("body") or ""
    body = base64.b64decode(text, validate=True) if answer.get("isBase64Encoded") else str(text).encode()
    headers: list[tuple[str, str]] = []
    for name, value in (answer.get("headers") or {}).items():
        headers.append((name.lower(), json.dumps(value) if isinstance(value, bool) else str(value)))
    for name, values in (answer.get("multiValueHeaders") or {}).items():
        headers.append((name.lower(), ",".join(map(str, values))))
    if body and not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain;charset=utf-8"))
    headers += [("set-cookie", cookie) for cookie in answer.get("cookies") or []]
    if any("\r" in value or "\n" in value for _, value in headers):
        raise ValueError("a header holds a line break")
    return Response(status, tuple(one for one in headers if one[0] not in {"content-length", "connection"}), body)


def _is_preflight(cors: Cors, request: Request) -> bool:
    asked = request.header("origin") is not None and request.header("access-control-request-method") is not None
    return bool(cors.origins) and request.method == "OPTIONS" and asked


def _allowed(cors: Cors, origin: str) -> str | None:
    for allowed in cors.origins:
        if allowed == "*":
            return origin if cors.credentials else "*"
        if allowed.lower() == origin.lower() or (allowed.endswith("://*") and origin.startswith(allowed[:-1])):
            return origin
    return None


def _cors_headers(cors: Cors, request: Request, allowed: str) -> Iterable[tuple[str, str]]:
    yield "access-control-allow-origin", allowed
    if allowed != "*":
        yield "vary", "origin"
    if cors.credentials:
        yield "access-control-allow-credentials", "true"
    if _is_preflight(cors, request):
        if cors.methods:
            yield "access-control-allow-methods", ",".join(cors.methods)
        if cors.headers:
            yield "access-control-allow-headers", ",".join(cors.headers)
        if cors.max_age is not None:
            yield "access-control-max-age", str(cors.max_age)
    elif cors.exposed:
        yield "access-control-expose-headers", ",".join(cors.exposed)


def _with_cors(cors: Cors, request: Request, response: Response) -> Response:
    """Add the API's CORS headers; like API Gateway, drop those that a function wrote itself."""
    origin = request.header("origin")
    if not cors.origins or origin is None:
        return response
    kept = tuple(one for one in response.headers if not one[0].startswith("access-control-"))
    allowed = _allowed(cors, origin)
    added = () if allowed is None else tuple(_cors_headers(cors, request, allowed))
    return Response(response.status, (*kept, *added), response.body)
