"""Routes of what belongs to an owner as a whole: settings, usage, projects, the audit list."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.params import Header, Query

from shared.bootstrap import keeping
from shared.domain import limits
from shared.http import JSON, Owner, documented, etag, routes, versions
from shared.keeping.audit.auditing import Action, Auditing
from shared.keeping.overview import Overview
from shared.keeping.preferences import Choices
from shared.models.forms import Cursor, Limit
from shared.models.owners import AuditOut, ProjectsOut, SettingsOut, SettingsPatch, UsageOut

router = routes()
Choosing = Annotated[Choices, Depends(keeping.choices)]
Counting = Annotated[Overview, Depends(keeping.overview)]
PageLimit = Annotated[Limit, Query()]
PageCursor = Annotated[Cursor | None, Query()]


@router.get("/v1/settings", summary="Read your settings", **documented(503))
def settings(owner: Owner, choices: Choosing) -> Response[SettingsOut]:
    """The defaults, version 0, until the first change."""
    chosen = choices.read(owner)
    return Response(200, JSON, SettingsOut.of(chosen), etag(chosen.version))


@router.patch("/v1/settings", summary="Change your settings", **documented(412, 422, 503))
def change_settings(
    sent: SettingsPatch,
    owner: Owner,
    choices: Choosing,
    if_match: Annotated[str | None, Header(alias="If-Match")] = None,
) -> Response[SettingsOut]:
    """Settings that are not sent stay. `enabled: false` stops learning and recall, never managing."""
    chosen = choices.change(owner, sent.sent(), versions(if_match))
    return Response(200, JSON, SettingsOut.of(chosen), etag(chosen.version))


@router.get("/v1/usage", summary="Read what is stored for you", **documented(503))
def usage(owner: Owner, overview: Counting) -> Response[UsageOut]:
    """Exact bytes against the quota, and counts."""
    return Response(200, JSON, UsageOut.of(overview.usage(owner)))


@router.get("/v1/projects", summary="List your projects", **documented(422, 503))
def projects(
    owner: Owner, overview: Counting, limit: PageLimit = limits.PAGE_DEFAULT, cursor: PageCursor = None
) -> Response[ProjectsOut]:
    """Projects that have memories."""
    return Response(200, JSON, ProjectsOut.of(overview.projects(owner, limit, cursor)))


@router.get("/v1/audit", summary="List who looked at what", **documented(422, 503))
def audit(
    owner: Owner,
    auditing: Annotated[Auditing, Depends(keeping.auditing)],
    action: Annotated[Action | None, Query(description="only entries of this action")] = None,
    limit: PageLimit = limits.PAGE_DEFAULT,
    cursor: PageCursor = None,
) -> Response[AuditOut]:
    """Auditors' reads, reveals, exports with secrets, the last erasure: newest first; kept for 400 days, the erasure for good."""
    return Response(200, JSON, AuditOut.of(auditing.looks(owner, limit, cursor, action)))
