"""Routes of export and import: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Query

from shared.bootstrap import keeping
from shared.http import JSON, Owner, documented, routes
from shared.keeping.exporting.pages import Exporting
from shared.models.portability import ExportOut, ExportQuery

router = routes()


@router.get("/v1/export", summary="Take everything along", **documented(422, 503))
def export(
    query: Annotated[ExportQuery, Query()], owner: Owner, exporting: Annotated[Exporting, Depends(keeping.exporting)]
) -> Response[ExportOut]:
    """Pages of at most 3.5 MB, made when they are asked for; nothing of them is stored. docs/portability.md says what each line holds."""
    return Response(200, JSON, ExportOut.of(exporting.page(owner, query.wish(), query.cursor)), {})
