"""Routes of conversations and tasks: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Header, Query

from shared import bootstrap
from shared.bootstrap import keeping
from shared.domain import limits
from shared.http import JSON, Owner, documented, made, routes
from shared.keeping.idempotency import mark
from shared.learning.accepting import Accepting
from shared.learning.consolidation.undoing import Undoing
from shared.learning.tasks import Tasks
from shared.models.forms import Cursor, IdempotencyKey, Limit
from shared.models.learning import AcceptedOut, ConversationIn, TaskOut, TasksOut

router = routes()
Tasking = Annotated[Tasks, Depends(keeping.tasks)]


@router.post(
    "/v1/conversations",
    status_code=202,
    summary="Learn from a conversation",
    **documented(200, 413, 422, 429, 503, 507),
)
def accept(
    new: ConversationIn,
    owner: Owner,
    accepting: Annotated[Accepting, Depends(keeping.accepting)],
    idempotency_key: Annotated[IdempotencyKey | None, Header(alias="Idempotency-Key")] = None,
) -> Response[AcceptedOut]:
    """Take a conversation in, to learn from it in the background."""
    once = mark("conversation", idempotency_key, new.request(), bootstrap.now())
    accepted = accepting.accept(owner, new.conversation(), once)
    if accepted.task_id is None:
        return Response(200, JSON, AcceptedOut(status="skipped", reason=accepted.skipped), {})
    headers = made(accepted.task_id, replayed=accepted.replayed)
    return Response(202, JSON, AcceptedOut(task_id=accepted.task_id, status="queued"), headers)


@router.get("/v1/tasks", summary="List tasks", **documented(422, 503))
def list_tasks(
    owner: Owner,
    tasks: Tasking,
    limit: Annotated[Limit, Query()] = limits.PAGE_DEFAULT,
    cursor: Annotated[Cursor | None, Query()] = None,
) -> Response[TasksOut]:
    """List tasks, newest first."""
    return Response(200, JSON, TasksOut.of(*tasks.list(owner, limit=limit, cursor=cursor)), {})


@router.get("/v1/tasks/<task_id>", summary="Read a task", **documented(404, 503))
def get_task(task_id: str, owner: Owner, tasks: Tasking) -> Response[TaskOut]:
    """Show a task: how far it is, what it learned, why it failed."""
    return Response(200, JSON, TaskOut.of(tasks.get(owner, task_id)), {})


@router.post(
    "/v1/tasks/<task_id>/retry", status_code=202, summary="Try a failed task again", **documented(404, 409, 503)
)
def retry_task(task_id: str, owner: Owner, tasks: Tasking) -> Response[TaskOut]:
    """Queue a failed task again."""
    return Response(202, JSON, TaskOut.of(tasks.retry(owner, task_id)), {"Location": f"/v1/tasks/{task_id}"})


@router.post("/v1/tasks/<task_id>/undo", summary="Undo a consolidation", **documented(404, 409, 503, 507))
def undo_task(task_id: str, owner: Owner, undoing: Annotated[Undoing, Depends(keeping.undoing)]) -> Response[TaskOut]:
    """For seven days: what was merged or dropped is back, as far as nothing was made of it since. Asked for again, it does nothing more."""
    return Response(200, JSON, TaskOut.of(undoing.undo(owner, task_id)), {})
