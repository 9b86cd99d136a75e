"""Routes of memories: each parses, calls one use case and returns a model."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Header, Query

from shared.bootstrap import keeping
from shared.http import JSON, REPLAYED, Owner, documented, etag, routes, versions
from shared.keeping.audit.auditing import Auditing
from shared.keeping.memories.as_of import AsOf
from shared.keeping.memories.edits import Edits
from shared.keeping.memories.listing import Listing
from shared.keeping.memories.memories import Memories
from shared.models.forms import IdempotencyKey
from shared.models.memories import (
    HistoryOut,
    ListQuery,
    MemoriesOut,
    MemoryIn,
    MemoryOut,
    MemoryPatch,
    RevealOut,
    RevertIn,
)

router = routes()
Keeping = Annotated[Memories, Depends(keeping.memories)]
Editing = Annotated[Edits, Depends(keeping.edits)]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="change only this version, by its ETag")]
OnceKey = Annotated[
    IdempotencyKey | None,
    Header(alias="Idempotency-Key", description="a repeated request is answered with what the first one made"),
]


@router.post("/v1/memories", status_code=201, summary="Add a memory", **documented(409, 422, 503, 507))
def add(new: MemoryIn, owner: Owner, memories: Keeping, idempotency_key: OnceKey = None) -> Response[MemoryOut]:
    """A detected secret is cut out and sealed apart; the memory becomes a credential of importance 10."""
    added = memories.add(owner, new, idempotency_key)
    headers = etag(added.memory.version) | {"Location": f"/v1/memories/{added.memory.id}"}
    if added.replayed:
        headers[REPLAYED] = "true"
    return Response(201, JSON, MemoryOut.of(added.memory), headers)


@router.get("/v1/memories", summary="List memories", **documented(422, 503))
def listed(
    query: Annotated[ListQuery, Query()],
    owner: Owner,
    listing: Annotated[Listing, Depends(keeping.listing)],
    as_of: Annotated[AsOf, Depends(keeping.as_of)],
) -> Response[MemoriesOut]:
    """Newest-updated first, or by creation. Expired memories are not shown."""
    if query.as_of is not None:
        return Response(
            200, JSON, MemoriesOut.of(as_of.page(owner, query.filters(), query.as_of, query.limit, query.cursor))
        )
    return Response(200, JSON, MemoriesOut.of(listing.page(owner, query.filters(), query.limit, query.cursor)))


@router.get("/v1/memories/<memory_id>", summary="Read a memory", **documented(404, 503))
def get(memory_id: str, owner: Owner, memories: Keeping) -> Response[MemoryOut]:
    """Another person's memory and one that does not exist are the same 404."""
    memory = memories.get(owner, memory_id)
    return Response(200, JSON, MemoryOut.of(memory), etag(memory.version))


@router.patch("/v1/memories/<memory_id>", summary="Change a memory", **documented(404, 409, 412, 422, 503, 507))
def patch(
    memory_id: str, sent: MemoryPatch, owner: Owner, edits: Editing, if_match: IfMatch = None
) -> Response[MemoryOut]:
    """`status` dismisses (dismissed) or restores (active). What changes nothing makes no new version."""
    memory = edits.edit(owner, memory_id, sent.sent(), versions(if_match))
    return Response(200, JSON, MemoryOut.of(memory), etag(memory.version))


@router.delete("/v1/memories/<memory_id>", status_code=204, summary="Delete a memory", **documented(404, 412, 503))
def delete(memory_id: str, owner: Owner, edits: Editing, if_match: IfMatch = None) -> Response[None]:
    """It is not found from now on; the same text may be added or learned again."""
    edits.delete(owner, memory_id, versions(if_match))
    return Response(204)


@router.get("/v1/memories/<memory_id>/history", summary="List a memory's versions", **documented(404, 503))
def history(memory_id: str, owner: Owner, edits: Editing) -> Response[HistoryOut]:
    """Newest first, contents masked; the last 20 earlier versions are kept. A consolidated memory also lists what it was made of."""
    return Response(200, JSON, HistoryOut.of(edits.history(owner, memory_id), edits.sources(owner, memory_id)))


@router.post(
    "/v1/memories/<memory_id>/revert", summary="Bring a version back", **documented(404, 409, 412, 422, 503, 507)
)
def revert(
    memory_id: str, wanted: RevertIn, owner: Owner, edits: Editing, if_match: IfMatch = None
) -> Response[MemoryOut]:
    """A new version with the text, category, importance, tags and metadata of an earlier one."""
    memory = edits.revert(owner, memory_id, wanted.version, versions(if_match))
    return Response(200, JSON, MemoryOut.of(memory), etag(memory.version))


@router.post("/v1/memories/<memory_id>/reveal", summary="Show a memory's secrets", **documented(404, 503))
def reveal(
    memory_id: str, owner: Owner, auditing: Annotated[Auditing, Depends(keeping.auditing)]
) -> Response[RevealOut]:
    """The whole text. The look is in the owner's audit list before it is answered."""
    return Response(200, JSON, RevealOut(id=memory_id, content=auditing.reveal(owner, memory_id)))
