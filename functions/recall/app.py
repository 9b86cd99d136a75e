"""Search and context over HTTP."""

import time
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Query

from shared import bootstrap
from shared.bootstrap import recall
from shared.http import JSON, Edge, Owner, documented, routes
from shared.models.days import DaysOut, DaysQuery
from shared.models.recall import ContextIn, ContextOut, HitOut, SearchIn, SearchOut
from shared.recall.context import Contexts
from shared.recall.days import ByDay
from shared.recall.search import Searcher

router = routes()


@router.post("/v1/search", summary="Search memories", **documented(422, 503))
def search(
    asked: SearchIn, owner: Owner, searcher: Annotated[Searcher, Depends(recall.searcher)]
) -> Response[SearchOut]:
    """Find memories by words, best first; what is found counts as accessed."""
    started = time.perf_counter()
    found = searcher.search(owner, asked.question())
    hits = [HitOut.found(hit) for hit in found.hits]
    took = round((time.perf_counter() - started) * 1000, 1)
    return Response(200, JSON, SearchOut(memories=hits, took_ms=took, reason=found.reason), {})


@router.post("/v1/context", summary="Recall for a message", **documented(422))
def context(
    asked: ContextIn, owner: Owner, contexts: Annotated[Contexts, Depends(recall.contexts)]
) -> Response[ContextOut]:
    """Decide whether to recall, and pack what fits the message into a text for the agent. Never fails for the memory's sake."""
    return Response(200, JSON, ContextOut.of(contexts.context(owner, asked.moment())), {})


@router.get("/v1/days", summary="List the days that have memories", **documented(422, 503))
def days(
    query: Annotated[DaysQuery, Query()], owner: Owner, by_day: Annotated[ByDay, Depends(recall.by_day)]
) -> Response[DaysOut]:
    """Latest first, in your time zone."""
    asked = query.checked()
    return Response(200, JSON, DaysOut.of(by_day.days(owner, asked.since, asked.until, asked.project)), {})


app = Edge(bootstrap.random)
app.include_router(router)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one API Gateway event (payload format 2.0)."""
    return app.resolve(event, context)
