"""What a person manages, over HTTP: this module only gathers the routes."""

from typing import Any

from functions.memories import (
    routes_account,
    routes_forgetting,
    routes_learning,
    routes_memories,
    routes_owner,
    routes_persona,
    routes_portability,
    routes_scenes,
    routes_sessions,
)
from shared import bootstrap
from shared.http import Edge

app = Edge(bootstrap.random)
app.include_router(routes_memories.router)
app.include_router(routes_owner.router)
app.include_router(routes_learning.router)
app.include_router(routes_scenes.router)
app.include_router(routes_persona.router)
app.include_router(routes_account.router)
app.include_router(routes_forgetting.router)
app.include_router(routes_portability.router)
app.include_router(routes_sessions.router)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one API Gateway event (payload format 2.0)."""
    return app.resolve(event, context)
