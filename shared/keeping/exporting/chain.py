"""What makes an export checkable: each line's digest goes into the next one's, so that a lost, changed or moved line shows. Pure."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

FORMAT = 1
HEADER, MEMORY, SCENE, PERSONA, SUGGESTION, ACTIVE, SETTINGS, DAMAGED, MANIFEST = (
    *("header", "memory", "scene", "persona", "suggestion"),
    *("active", "settings", "damaged", "manifest"),
)


def line_of(kind: str, said: Mapping[str, Any]) -> str:
    """Return a line without its end: one JSON object, `kind` first. Signs beyond ASCII stay as they are, line ends in texts are escaped."""
    return json.dumps({"kind": kind, **said}, ensure_ascii=False, separators=(",", ":"))


def chained(before: str, line: str) -> str:
    """Return SHA-256(before ‖ SHA-256(line)) in hex; `before` is hex too, and empty before the first line."""
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).digest()
    return hashlib.sha256(bytes.fromhex(before) + digest).hexdigest()
