"""Routes of single memories: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Header

from shared import bootstrap
from shared.http import JSON, REPLAYED, Owner, routes
from shared.keeping.memories import Memories
from shared.models import IdempotencyKey, MemoryIn, MemoryOut

router = routes()
Keeping = Annotated[Memories, Depends(bootstrap.memories)]


@router.post("/v1/memories", status_code=201)
def add(
    new: MemoryIn,
    owner: Owner,
    memories: Keeping,
    idempotency_key: Annotated[IdempotencyKey | None, Header(alias="Idempotency-Key")] = None,
) -> Response[MemoryOut]:
    added = memories.add(owner, new, idempotency_key)
    memory = added.memory
    headers: dict[str, str | list[str]] = {"ETag": f'"{memory.version}"', "Location": f"/v1/memories/{memory.id}"}
    if added.replayed:
        headers[REPLAYED] = "true"
    return Response(201, JSON, MemoryOut.of(memory), headers)


@router.get("/v1/memories/<memory_id>")
def get(memory_id: str, owner: Owner, memories: Keeping) -> Response[MemoryOut]:
    memory = memories.get(owner, memory_id)
    return Response(200, JSON, MemoryOut.of(memory), {"ETag": f'"{memory.version}"'})
