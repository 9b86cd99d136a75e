"""What a token allows beyond its own owner's memory, read from one claim of it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Permission(StrEnum):
    """What a group or a scope may be called; nothing else grants anything."""

    READ_MEMORIES = "memory:read"
    WRITE_AGENTS = "agents:write"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking, as the verified token names them."""

    issuer: str
    subject: str


def granted(claims: Mapping[str, Any], claim: str) -> frozenset[Permission]:
    """Return the permissions that the named claim grants.

    A gateway hands lists on as text, `[a b]`, and scopes are text with spaces, `a b`. So a group whose name has a space in it counts as
    two; Cognito allows none.
    """
    value = claims.get(claim)
    if isinstance(value, str):
        inner = value[1:-1] if value.startswith("[") and value.endswith("]") else value
        named: frozenset[object] = frozenset(inner.split())
    else:
        named = frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()
    return frozenset(permission for permission in Permission if permission.value in named)
