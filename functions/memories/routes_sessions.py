"""Routes of sessions: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends

from shared import bootstrap
from shared.bootstrap import keeping
from shared.http import JSON, Owner, documented, routes
from shared.keeping.sessions.sessions import Sessions
from shared.models.sessions import BegunOut, EndedOut, FinalizeIn, NotedOut, NoteIn, SessionIn, SessionOut

router = routes()
Sessioning = Annotated[Sessions, Depends(keeping.sessions)]


@router.post("/v1/sessions", status_code=201, summary="Begin a session", **documented(422, 503, 507))
def begin(new: SessionIn, owner: Owner, sessions: Sessioning) -> Response[BegunOut]:
    """One session is open at a time: the last one, if it still is, ends and its notes become memories."""
    return Response(201, JSON, BegunOut.of(sessions.open(owner, new.meant(), new.agent)), {})


@router.get("/v1/sessions/current", summary="Look at the open session", **documented(503))
def current(owner: Owner, sessions: Sessioning) -> Response[SessionOut]:
    """Its notes are counted, not shown: they become memories when it ends."""
    return Response(200, JSON, SessionOut.of(sessions.current(owner)), {})


@router.post("/v1/sessions/current/notes", summary="Note what was said", **documented(409, 422, 503, 507))
def note(sent: NoteIn, owner: Owner, sessions: Sessioning) -> Response[NotedOut]:
    """Kept at once where it has key points or words that ask for it ("remember", 决定 …), never where it says not to ("don't save",
    不要保存). A message that is nothing but thanks or a goodbye ends the session. Without an open session one begins."""
    return Response(200, JSON, NotedOut.of(sessions.note(owner, sent.note(bootstrap.now()))), {})


@router.post("/v1/sessions/current/finalize", summary="End the session", **documented(404, 422, 503))
def finalize(sent: FinalizeIn, owner: Owner, sessions: Sessioning) -> Response[EndedOut]:
    """Its notes are handed over to a task: notes that are alike become one, each distinct key point one memory."""
    ended = sessions.end(owner, discard=sent.discard)
    assert ended is not None  # noqa: S101 - `must` says so
    return Response(200, JSON, EndedOut.of(ended), {})
