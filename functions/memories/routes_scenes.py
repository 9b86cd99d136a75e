"""Routes of scenes: each parses, calls one use case and returns a model.

The rest of the path is the project's name. A gateway cuts a path at a question mark and clients take `.` and `..` out of it, so the same
routes stand under /v1/scene with the name as a parameter, which takes any.
"""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Header, Path, Query

from shared.bootstrap import keeping
from shared.domain import limits
from shared.http import JSON, Owner, documented, etag, routes, tags
from shared.keeping.scenes.deletion import SceneDeletion
from shared.keeping.scenes.scenes import Scenes, Seen, Which
from shared.models.forms import Cursor, Limit, Project
from shared.models.scenes import SceneDeletedOut, SceneDetailOut, ScenePatch, ScenesOut, SwitchIn, SwitchOut

router = routes()
Staging = Annotated[Scenes, Depends(keeping.scenes)]
Deleting = Annotated[SceneDeletion, Depends(keeping.scene_deletion)]
Named = Annotated[Project, Path(description="the project's key, percent-encoded once; all of the rest of the path")]
Asked = Annotated[Project, Query(description="the project's key, whatever signs it has")]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="change only this state, by its ETag")]
Confirm = Annotated[bool, Query(description="true: delete for good; else 422 says how many memories would go")]
CHANGING = documented(404, 409, 412, 422, 503, 507)
DELETING = documented(202, 404, 422, 503)


@router.get("/v1/scenes", summary="List scenes", **documented(422, 503))
def listed(
    owner: Owner,
    scenes: Staging,
    status: Annotated[Which, Query(description="active: those that are not archived")] = Which.ACTIVE,
    limit: Annotated[Limit, Query()] = limits.PAGE_DEFAULT,
    cursor: Annotated[Cursor | None, Query()] = None,
) -> Response[ScenesOut]:
    """What is known about each project, in no telling order."""
    return Response(200, JSON, ScenesOut.of(scenes.page(owner, status, limit, cursor)), {})


@router.post("/v1/scenes/switch", summary="Switch to a project", **documented(422, 503, 507))
def switch(sent: SwitchIn, owner: Owner, scenes: Staging) -> Response[SwitchOut]:
    """Make a project the active one: it is meant where a request names none. A new name makes its scene; an archived one comes back."""
    seen, is_new = scenes.switch(owner, sent.project)
    return Response(200, JSON, SwitchOut.switched(seen, is_new=is_new), {})


@router.get("/v1/scene", summary="Read a scene", **documented(404, 422, 503))
def asked_for(project: Asked, owner: Owner, scenes: Staging) -> Response[SceneDetailOut]:
    """As GET /v1/scenes/{project}, for any name."""
    return _shown(scenes.get(owner, project))


@router.patch("/v1/scene", summary="Change a scene", **CHANGING)
def change_asked_for(
    project: Asked, sent: ScenePatch, owner: Owner, scenes: Staging, if_match: IfMatch = None
) -> Response[SceneDetailOut]:
    """As PATCH /v1/scenes/{project}, for any name."""
    return _shown(scenes.change(owner, project, sent.sent(), tags(if_match)))


@router.delete("/v1/scene", summary="Delete a scene and its memories", **DELETING)
def delete_asked_for(
    project: Asked, owner: Owner, deletion: Deleting, confirm: Confirm = False
) -> Response[SceneDeletedOut]:
    """As DELETE /v1/scenes/{project}, for any name."""
    return _deleted(deletion, owner, project, confirm=confirm)


@router.get("/v1/scenes/<project>", summary="Read a scene", **documented(404, 422, 503))
def get(project: Named, owner: Owner, scenes: Staging) -> Response[SceneDetailOut]:
    """With the ids of its newest memories."""
    return _shown(scenes.get(owner, project))


@router.patch("/v1/scenes/<project>", summary="Change a scene", **CHANGING)
def change(
    project: Named, sent: ScenePatch, owner: Owner, scenes: Staging, if_match: IfMatch = None
) -> Response[SceneDetailOut]:
    """Rename it, write its summary or context by hand, archive it or bring it back. The project's key stays."""
    return _shown(scenes.change(owner, project, sent.sent(), tags(if_match)))


@router.delete("/v1/scenes/<project>", summary="Delete a scene and its memories", **DELETING)
def delete(project: Named, owner: Owner, deletion: Deleting, confirm: Confirm = False) -> Response[SceneDeletedOut]:
    """Nothing of it is shown or found from then on, and the next maintenance takes it out of the journal. 202: some are left, send it
    again."""
    return _deleted(deletion, owner, project, confirm=confirm)


def _shown(seen: Seen) -> Response[SceneDetailOut]:
    return Response(200, JSON, SceneDetailOut.of(seen), etag(seen.scene.document.latest))


def _deleted(deletion: SceneDeletion, owner: str, project: str, *, confirm: bool) -> Response[SceneDeletedOut]:
    deleted = deletion.delete(owner, project, confirm=confirm)
    return Response(200 if deleted.done else 202, JSON, SceneDeletedOut.of(deleted), {})
