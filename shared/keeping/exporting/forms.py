"""How each kind of thing is written into an export. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from shared.domain.memory import Memory, Scope
from shared.domain.settings import Preferences
from shared.domain.times import rfc3339
from shared.storage.documents import Document
from shared.storage.items import full_text
from shared.storage.preferences import to_body


def memory_form(memory: Memory, versions: Iterable[Memory] | None, *, content: bool, secrets: bool) -> dict[str, Any]:
    """Return a memory: its texts only with `content`, its secrets in them only with `secrets`, earlier versions where they are given."""
    form = {
        "id": memory.id,
        "uri": uri_of(memory),
        **_version_form(memory, content=content, secrets=secrets),
        "scope": memory.scope.value,
        "project": memory.project,
        "agent": memory.agent,
        "created_at": rfc3339(memory.created_at),
        "access_count": memory.access_count,
        "last_accessed_at": _shown(memory.last_accessed_at),
    }
    if versions is not None:
        form["history"] = [_version_form(version, content=content, secrets=secrets) for version in versions]
    return form


def document_form(document: Document, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return a document's fields by name, but for the hidden ones."""
    return {"fields": {name: value for name, (value, _) in document.fields.items() if name not in hidden}}


def settings_form(preferences: Preferences) -> Mapping[str, Any]:
    """Return the settings by name."""
    return {"settings": to_body(preferences)}


def uri_of(memory: Memory) -> str:
    """Return `agent://{agent}/{type}/{category}`; what every agent sees has `*` for the agent."""
    agent = memory.agent if memory.scope is Scope.AGENT and memory.agent else "*"
    return f"agent://{agent}/{memory.scope.value}/{memory.category.value}"


def _version_form(memory: Memory, *, content: bool, secrets: bool) -> dict[str, Any]:
    origin = memory.origin
    text = full_text(memory) if secrets else memory.content
    return {
        "version": memory.version,
        "content": text if content else None,
        "masked": bool(memory.secrets) and not secrets,
        "category": memory.category.value,
        "importance": memory.importance,
        "source": memory.source.value,
        "status": memory.status.value,
        "tags": list(memory.tags) if content else [],
        "metadata": json.loads(memory.metadata) if content else {},
        "updated_at": rfc3339(memory.updated_at),
        "expires_at": _shown(memory.expires_at),
        "origin": {
            "task_id": origin.task_id,
            "session_id": origin.session_id,
            "at": _shown(origin.at),
            "quote": origin.quote if content else None,
            "model": origin.model,
        },
    }


def _shown(at: Any) -> str | None:
    return rfc3339(at) if at else None
