"""Routes of the persona and of suggestions: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Header, Query

from functions.memories.routes_memories import OnceKey
from shared import bootstrap
from shared.bootstrap import keeping
from shared.domain import limits
from shared.http import JSON, Owner, documented, etag, made, routes, tags
from shared.keeping.idempotency import mark
from shared.keeping.portrait import Portrait
from shared.keeping.suggesting import Suggestions
from shared.models.forms import Cursor, Limit
from shared.models.persona import PersonaOut, RefreshOut, SuggestionOut, SuggestionPatch, SuggestionsOut
from shared.storage.suggestions import Decision

router = routes()
Portraying = Annotated[Portrait, Depends(keeping.portrait)]
Suggesting = Annotated[Suggestions, Depends(keeping.suggestions)]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="change only this state, by its ETag")]


@router.get("/v1/persona", summary="Read the persona", **documented(503))
def get(owner: Owner, portrait: Portraying) -> Response[PersonaOut]:
    """What is known of the person. Every statement names the memories that it rests on."""
    persona, latest = portrait.get(owner)
    return Response(200, JSON, PersonaOut.of(persona), etag(latest) if latest else {})


@router.post("/v1/persona/refresh", status_code=202, summary="Make the persona anew", **documented(409, 422, 503))
def refresh(owner: Owner, portrait: Portraying, idempotency_key: OnceKey = None) -> Response[RefreshOut]:
    """A task does it in the background, from the newest 200 facts. Where one waits already, it is that one."""
    asked = portrait.ask(owner, mark("POST /v1/persona/refresh", idempotency_key, {}, bootstrap.now()))
    headers = made(asked.task_id, replayed=asked.replayed)
    return Response(202, JSON, RefreshOut(task_id=asked.task_id, status=asked.status), headers)


@router.delete("/v1/persona", status_code=204, summary="Delete the persona", **documented(412, 422, 503))
def delete(owner: Owner, portrait: Portraying, if_match: IfMatch = None) -> Response[None]:
    """Memories stay. The next refresh makes another one of the facts that stand then."""
    portrait.delete(owner, tags(if_match))
    return Response(204)


@router.get("/v1/suggestions", summary="List suggestions", **documented(422, 503))
def listed(
    owner: Owner,
    suggestions: Suggesting,
    status: Annotated[Decision | None, Query(description="left out: of every status")] = None,
    limit: Annotated[Limit, Query()] = limits.PAGE_DEFAULT,
    cursor: Annotated[Cursor | None, Query()] = None,
) -> Response[SuggestionsOut]:
    """Ways of working that repeat over experiences and preferences, newest first."""
    return Response(200, JSON, SuggestionsOut.of(*suggestions.page(owner, status, limit, cursor)), {})


@router.patch(
    "/v1/suggestions/<suggestion_id>", summary="Decide on a suggestion", **documented(404, 412, 422, 503, 507)
)
def decide(
    suggestion_id: str, sent: SuggestionPatch, owner: Owner, suggestions: Suggesting, if_match: IfMatch = None
) -> Response[SuggestionOut]:
    """An accepted one is told in contexts. Nothing like a dismissed one is suggested again."""
    one = suggestions.decide(owner, suggestion_id, sent.status, tags(if_match))
    return Response(200, JSON, SuggestionOut.of(one), etag(one.commit))
