"""Routes of export and import: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Query

from functions.memories.routes_memories import OnceKey
from shared.bootstrap import keeping
from shared.http import JSON, Owner, documented, made, routes
from shared.keeping.exporting.pages import Exporting
from shared.keeping.idempotency import mark
from shared.keeping.importing.receiving import Importing
from shared.models.portability import ExportOut, ExportQuery, ImportIn, ImportOut

router = routes()


@router.get("/v1/export", summary="Take everything along", **documented(422, 503))
def export(
    query: Annotated[ExportQuery, Query()], owner: Owner, exporting: Annotated[Exporting, Depends(keeping.exporting)]
) -> Response[ExportOut]:
    """Pages of at most 3.5 MB, made when they are asked for; nothing of them is stored. docs/portability.md says what each line holds."""
    return Response(200, JSON, ExportOut.of(exporting.page(owner, query.wish(), query.cursor)), {})


@router.post("/v1/import", status_code=202, summary="Bring memories along", **documented(404, 409, 413, 422, 503, 507))
def take_in(
    sent: ImportIn,
    owner: Owner,
    importing: Annotated[Importing, Depends(keeping.importing)],
    idempotency_key: OnceKey = None,
) -> Response[ImportOut]:
    """Page by page: each is read and checked at once, and a task takes everything in when the last one came. A record is taken in whole or
    refused with a line in the task's report. docs/portability.md says what may be in a file."""
    once = mark("POST /v1/import", idempotency_key, sent.request(), importing.now())
    received = importing.receive(owner, sent, once)
    return Response(202, JSON, ImportOut.of(received), made(received.task_id, replayed=received.replayed))
