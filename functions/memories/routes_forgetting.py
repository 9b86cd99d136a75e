"""The route that forgets many memories: it parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends

from functions.memories.routes_memories import OnceKey
from shared.bootstrap import keeping
from shared.http import JSON, Owner, documented, made, routes
from shared.keeping.forgetting.asking import Forgetting
from shared.keeping.idempotency import mark
from shared.models.forgetting import ForgetIn, ForgetOut

router = routes()


@router.post("/v1/forget", status_code=202, summary="Forget many memories", **documented(200, 409, 422, 503))
def forget(
    sent: ForgetIn,
    owner: Owner,
    forgetting: Annotated[Forgetting, Depends(keeping.forgetting)],
    idempotency_key: OnceKey = None,
) -> Response[ForgetOut]:
    """A task does it in the background. It is done when nothing is left of them: not in the journal and its old versions, the table,
    the index, and no text that rests on them."""
    selection = forgetting.selection(owner, sent)
    if sent.dry_run:
        return Response(200, JSON, ForgetOut.of(forgetting.preview(owner, selection)), {})
    once = mark("POST /v1/forget", idempotency_key, sent.request(), forgetting.now())
    asked = forgetting.ask(owner, selection, confirm=sent.confirm, once=once)
    headers = made(asked.task_id, replayed=asked.replayed)
    return Response(202, JSON, ForgetOut(status=asked.status, task_id=asked.task_id), headers)
