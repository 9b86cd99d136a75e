"""The edge: an API Gateway event becomes one call of a route, and whatever happens becomes one answer in one shape.

Errors are always {"error": {"code", "message", "details"?}}. Who is asking comes from the verified token's claims and from nowhere
else. Why it is built like this: docs/decisions/http-edge.md.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import ResponseBuilder, Route, Router
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.middlewares.openapi_validation import OpenAPIRequestValidationMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.request import Request

from shared import problems
from shared.config import MissingSetting
from shared.crypto.owners import owner_name
from shared.domain.errors import (
    Busy,
    DailyLimitReached,
    Damaged,
    Forbidden,
    Invalid,
    KeysBroken,
    NacreError,
    NotFound,
    SealBroken,
    TableLost,
    Unauthorized,
    Unavailable,
)
from shared.domain.ids import Random
from shared.domain.permissions import Caller, Permission, granted
from shared.models.errors import ErrorOut
from shared.observability import alarm, concerning, note
from shared.strict_json import read_object

JSON: Final = "application/json"
REPLAYED: Final = "Idempotency-Replayed"
_RETRY_SECONDS: Final = {Busy: 1, TableLost: 60, Damaged: 300, Unavailable: 5}
_NAMED: Final = re.compile(r"<(project|agent)>")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_TAG: Final = re.compile(r'(?<!W/)"[^"]*"')
_TAGS: Final = re.compile(r'\s*(W/)?"[\x21\x23-\x7e]{0,64}"(\s*,\s*(W/)?"[\x21\x23-\x7e]{0,64}")*\s*')
_serialize = partial(json.dumps, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

_state: ContextVar[dict[str, Any]] = ContextVar("invocation")
_Handler = TypeVar("_Handler", bound=Callable[..., Any])


class _StrictBodies(OpenAPIRequestValidationMiddleware):
    """Validates as Powertools does, but only what `read_object` lets through, and {} where a POST that needs no field has no body."""

    def _get_body(self, app: Any) -> dict[str, Any]:
        event = app.current_event
        if not event.body and may_be_empty(app.context["_route"]):
            return {}
        return read_object(
            event.body, is_base64=bool(event.is_base64_encoded), content_type=event.headers.get("content-type")
        )


class Edge(APIGatewayHttpResolver):
    """Powertools' resolver with our answers.

    Its state belongs to the invocation and not to the process: the local stack runs many invocations in one process at once.
    """

    def __init__(self, random: Random, permission_claim: Callable[[], str] | None = None) -> None:
        """`permission_claim` says which claim grants permissions; needed where a route needs one (`needs`)."""
        self._random, self._permission_claim = random, permission_claim
        self._building = threading.Lock()
        self._outside: dict[str, Any] = {"context": {}}
        super().__init__(
            enable_validation=True,
            debug=False,
            serializer=_serialize,
            response_validation_error_http_code=500,
        )
        self._request_validation_middleware = _StrictBodies()  # type: ignore[no-untyped-call]
        self.exception_handler_manager.exception_handler(Exception)(self._answer)
        self.use(middlewares=[_refuse_unknown_parameters])

    def resolve(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Answer one event; never raises for anything a request can cause."""
        started = time.perf_counter()
        proxy = self._to_proxy_event(dict(event))
        token = _state.set({"event": proxy, "lambda": context, "context": {}})
        try:
            builder = self._first_checks(proxy) or self._resolved()
            builder.response.headers.update(_common_headers(proxy))
            answer = self._build_response(builder)
            self._note(builder.response, started)
            return answer
        finally:
            _state.reset(token)

    def _resolved(self) -> ResponseBuilder[Any]:
        with concerning(owner=self.context["owner"]):
            return self._resolve()

    def _first_checks(self, proxy: Any) -> ResponseBuilder[Any] | None:
        """Answer what needs no route: a preflight, and a caller who is nobody."""
        if proxy.http_method == "OPTIONS":
            return ResponseBuilder(Response(204, headers={}), self._serializer)
        try:
            self.context["owner"] = owner_of(proxy.raw_event)
            self.context["caller"] = caller_of(proxy.raw_event)
            if _CONTROL.search(proxy.path):
                raise NotFound  # a route's pattern would overlook a line end behind it
        except NacreError as error:
            return ResponseBuilder(self._answer(error), self._serializer)
        return None

    @staticmethod
    def _compile_regex(rule: str, base_regex: str = "^{}$") -> re.Pattern[str]:
        """Let the name of a project or an agent in a path be all that stands there, for the gateway decodes paths and a name may hold any
        sign; other parameters have the signs of ids."""
        named = _NAMED.search(rule)
        if named:
            before, after = re.escape(rule[: named.start()]), re.escape(rule[named.end() :])
            return re.compile(f"^{before}(?P<{named[1]}>.+){after}$")
        compiled: re.Pattern[str] = APIGatewayHttpResolver._compile_regex(rule, base_regex)
        return compiled

    def _call_route(self, route: Route, route_arguments: dict[str, str]) -> ResponseBuilder[Any]:
        if not self._allowed(route):
            return ResponseBuilder(self._answer(Forbidden()), self._serializer)
        with self._building:
            if not route._middleware_stack_built:  # two first calls at once would build it twice
                route._build_middleware_stack(router_middlewares=self._router_middlewares, app=self)
        return super()._call_route(route, route_arguments)

    def _allowed(self, route: Route) -> bool:
        """Tell whether the token carries the permission that the route needs: before anything of the request is looked at."""
        needed: Permission | None = getattr(route.func, "needed", None)
        if needed is None:
            return True
        claims = claims_of(self.current_event.raw_event)
        return self._permission_claim is not None and needed in granted(claims, self._permission_claim())

    def _answer(self, error: Exception) -> Response[Any]:
        if isinstance(error, NotFoundError):
            error = NotFound("There is no such route.")
        elif isinstance(error, RequestValidationError):
            error = Invalid(details=problems.told(error.errors()))
        elif isinstance(error, SealBroken) and not isinstance(error, KeysBroken):
            alarm("damaged", at=_where(error))
            error = Damaged()
        elif isinstance(error, TableLost):  # nothing else tells an operator, who alone can ask for the rebuild
            alarm("damaged", rows="lost")
        if not isinstance(error, NacreError):
            return self._unexpected(error)
        body: dict[str, Any] = {"code": error.code, "message": str(error)}
        if error.details is not None:
            body["details"] = error.details
        seconds = next((wait for kind, wait in _RETRY_SECONDS.items() if isinstance(error, kind)), None)
        if isinstance(error, DailyLimitReached) and isinstance(error.details, Mapping):
            seconds = error.details["retry_after_seconds"]
        headers: dict[str, str | list[str]] = {"Retry-After": str(seconds)} if seconds else {}
        self.context["error"] = error.code
        return Response(error.status, JSON, {"error": body}, headers)

    def _unexpected(self, error: Exception) -> Response[Any]:
        """Answer what nobody foresaw. The log gets its type and where it came from, never its text or values."""
        error_id = self._random(8).hex()
        setting = error.name if isinstance(error, MissingSetting) else None
        alarm("unexpected", error_id=error_id, kind=type(error).__name__, at=_where(error), setting=setting)
        self.context["error"] = NacreError.code
        body = {"code": NacreError.code, "message": NacreError.message, "details": {"error_id": error_id}}
        return Response(500, JSON, {"error": body}, {})

    def _note(self, response: Response[Any], started: float) -> None:
        route: Route | None = self.context.get("_route")
        known = route in routes_of(self)
        note(
            "request",
            route=f"{route.method} {route.openapi_path}" if route is not None and known else None,
            status=response.status_code,
            error=self.context.get("error"),
            ms=round((time.perf_counter() - started) * 1000, 1),
            request_id=_request_id(self.current_event),
        )

    @property
    def context(self) -> dict[str, Any]:
        found: dict[str, Any] = _state.get(self._outside)["context"]
        return found

    @context.setter
    def context(self, value: dict[str, Any]) -> None:
        _state.get(self._outside)["context"] = value

    @property
    def current_event(self) -> Any:  # type: ignore[override]
        return _state.get()["event"]

    @property
    def lambda_context(self) -> Any:  # type: ignore[override]
        return _state.get()["lambda"]


def routes() -> Router:
    """Return a router to register routes with; an Edge includes it."""
    return Router()  # type: ignore[no-untyped-call]


def routes_of(edge: Edge) -> list[Route]:
    """Return the routes of an edge, in the order they are tried."""
    return [*edge._static_routes, *edge._dynamic_routes]


def may_be_empty(route: Route) -> bool:
    """Tell whether a route takes no body for {}: a POST all of whose fields may be left out. A change without a body is a mistake."""
    models = [getattr(field.field_info.annotation, "model_fields", {}) for field in route.dependant.body_params]
    return route.method == "POST" and not any(info.is_required() for fields in models for info in fields.values())


def documented(*statuses: int) -> dict[str, Any]:
    """Return the arguments of a route that name its errors in the OpenAPI document; 401 and 500 are every route's.

    A status of success is named only where a route has another one beside its own.
    """
    answers: dict[int, dict[str, Any]] = {}
    for status in sorted({401, 500, *statuses}):
        answers[status] = {"description": HTTPStatus(status).phrase}
        if status >= 400:
            answers[status]["content"] = {JSON: {"model": ErrorOut}}
    return {"responses": answers}


def needs(permission: Permission) -> Callable[[_Handler], _Handler]:
    """Mark a route: without that permission in the token it answers 403."""

    def mark(handler: _Handler) -> _Handler:
        handler.needed = permission  # type: ignore[attr-defined]
        return handler

    return mark


def claims_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the claims of the token that the gateway has verified; none without a token."""
    authorizer = event["requestContext"].get("authorizer") or {}
    claims: Mapping[str, Any] = (authorizer.get("jwt") or {}).get("claims") or {}
    return claims


def caller_of(event: Mapping[str, Any]) -> Caller:
    """Return whom the gateway's verified claims name. Raises Unauthorized when they name nobody."""
    claims = claims_of(event)
    issuer, subject = claims.get("iss"), claims.get("sub")
    if not isinstance(issuer, str) or not isinstance(subject, str):
        raise Unauthorized
    return Caller(issuer, subject)


def owner_of(event: Mapping[str, Any]) -> str:
    """Return the owner that the gateway's verified claims name. Raises Unauthorized when there are none."""
    caller = caller_of(event)
    try:
        return owner_name(caller.issuer, caller.subject)
    except Forbidden:
        raise Unauthorized from None


def _caller(request: Request) -> Caller:
    caller: Caller = request.context["caller"]
    return caller


Calling = Annotated[Caller, Depends(_caller)]
"""A route's parameter: who is asking, where another one's memory is looked at."""


def _owner(request: Request) -> str:
    owner: str = request.context["owner"]
    return owner


Owner = Annotated[str, Depends(_owner)]
"""A route's parameter: who is asking."""


def tags(if_match: str | None) -> frozenset[str] | None:
    """Return the tags that an If-Match allows; None: any, because the header is absent or `*`.

    Weak tags never match (RFC 9110, 13.1.1). Raises Invalid when it is no list of tags.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    if not _TAGS.fullmatch(if_match):
        raise Invalid.of("if-match", 'Send the ETag as it was given, such as "3", or *.')
    return frozenset(tag[1:-1] for tag in _TAG.findall(if_match))


def versions(if_match: str | None) -> frozenset[int] | None:
    """Return the versions that an If-Match allows; None: any. Tags that we never gave match nothing. Raises what `tags` does."""
    allowed = tags(if_match)
    return None if allowed is None else frozenset(int(tag) for tag in allowed if tag.isdecimal() and tag.isascii())


def etag(version: int | str) -> dict[str, str | list[str]]:
    """Return the header that names a version, or the latest commit of a document."""
    return {"ETag": f'"{version}"'}


def made(task_id: str, *, replayed: bool) -> dict[str, str | list[str]]:
    """Return the headers that name a task, and say whether an earlier request under the same key made it."""
    headers: dict[str, str | list[str]] = {"Location": f"/v1/tasks/{task_id}"}
    return headers | {REPLAYED: "true"} if replayed else headers


def _refuse_unknown_parameters(app: Any, next_middleware: Any) -> Any:
    """A misspelt filter must not silently return everything."""
    route: Route = app.context["_route"]
    known = {name for field in route.dependant.query_params for name in _names(field)}
    sent = [name for name, _ in parse_qsl(app.current_event.raw_query_string, keep_blank_values=True)]
    wrong = {name: "There is no such parameter." for name in sent if name not in known}
    wrong |= {name: "It is sent twice." for name in known if sent.count(name) > 1}
    if wrong:
        raise Invalid(details=[{"field": name[: problems.NAME_SHOWN], "problem": why} for name, why in wrong.items()])
    return next_middleware(app)


def _names(field: Any) -> Sequence[str]:
    model = getattr(field.field_info.annotation, "model_fields", None)
    return [info.alias or name for name, info in model.items()] if model else [field.alias]


def _common_headers(proxy: Any) -> dict[str, str | list[str]]:
    return {"Cache-Control": "no-store", "X-Request-Id": _request_id(proxy), "X-Content-Type-Options": "nosniff"}


def _request_id(proxy: Any) -> str:
    return str(proxy.raw_event["requestContext"].get("requestId", ""))


def _where(error: BaseException) -> list[str]:
    """Return file names and lines of the last frames: code, never values."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return frames[-5:]
