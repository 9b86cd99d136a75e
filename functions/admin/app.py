"""The auditor's view and the operator's notes for agents, over HTTP. Each route needs a permission of the token."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Header, Path, Query

from shared import bootstrap
from shared.bootstrap import admin
from shared.domain.permissions import Permission
from shared.http import JSON, Calling, Edge, documented, etag, needs, routes, tags
from shared.keeping.audit.agent_notes import AgentNotes
from shared.keeping.audit.auditing import AUDITOR
from shared.keeping.audit.view import AuditView
from shared.models.admin import LookedAtOut, LookQuery, NotesIn, NotesOut
from shared.models.forms import Name

router = routes()
Noting = Annotated[AgentNotes, Depends(admin.agent_notes)]
Agent = Annotated[Name, Path(description="the agent's name, percent-encoded once")]


@router.get("/v1/admin/memories", summary="Look at a person's memories", **documented(403, 422, 503))
@needs(Permission.READ_MEMORIES)
def look(
    query: Annotated[LookQuery, Query()], caller: Calling, view: Annotated[AuditView, Depends(admin.audit_view)]
) -> Response[LookedAtOut]:
    """For audit, read-only, secrets masked. The look is in that person's audit list before it is answered."""
    page = view.look(caller, query.user_id, query.reason, query.filters(), query.limit, query.cursor)
    return Response(200, JSON, LookedAtOut.of(page), {})


@router.get("/v1/admin/agents/<agent>/notes", summary="Read an agent's notes", **documented(403, 422, 503))
@needs(Permission.WRITE_AGENTS)
def notes(agent: Agent, noting: Noting) -> Response[NotesOut]:
    """What every context of that agent says first, whoever it works for; empty where there is nothing."""
    found = noting.read(agent)
    return Response(200, JSON, NotesOut.of(found), etag(found.etag))


@router.put("/v1/admin/agents/<agent>/notes", summary="Write an agent's notes", **documented(403, 412, 422, 503, 507))
@needs(Permission.WRITE_AGENTS)
def write_notes(
    agent: Agent,
    sent: NotesIn,
    caller: Calling,
    noting: Noting,
    if_match: Annotated[str | None, Header(alias="If-Match", description="change only this state, by its ETag")] = None,
) -> Response[NotesOut]:
    """Told to the agent within a minute. The change is on record before it is made."""
    written = noting.write(agent, sent.notes, AUDITOR + caller.subject, tags(if_match))
    return Response(200, JSON, NotesOut.of(written), etag(written.etag))


app = Edge(bootstrap.random, admin.permission_claim)
app.include_router(router)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one API Gateway event (payload format 2.0)."""
    return app.resolve(event, context)
