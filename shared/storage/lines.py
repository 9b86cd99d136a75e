"""The journal's lines: one JSON object each, split on the byte `\\n` only.

`str.splitlines` would also cut at U+2028, U+2029 and U+0085, which are text.
"""

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from shared.domain.errors import SealBroken
from shared.domain.times import moment, rfc3339

FORMAT = 1
MEMORY, TOMBSTONE, PLAN, SETTINGS, BLOCK = "memory", "tombstone", "plan", "settings", "block"
WHOLE = "whole"
"""The first line of an object whose lines were applied together or not at all."""
SCENE, PERSONA, SUGGESTION, ACTIVE = "scene", "persona", "suggestion", "active"
AGENT_NOTES = "agent_notes"
DOCUMENTS = frozenset({SCENE, PERSONA, SUGGESTION, ACTIVE, AGENT_NOTES})
"""Kinds of lines that shared/storage/documents.py reads and joins."""


@dataclass(frozen=True, slots=True)
class Line:
    """One record. A tombstone holds the dedup tag and the time instead of sealed bytes: neither says anything of the text."""

    kind: str
    id: str
    version: int
    generation: int = 0
    sealed: bytes = b""
    tag: str = ""
    at: datetime | None = None

    def encode(self) -> bytes:
        """Return the line with its end."""
        record: dict[str, str | int] = {"v": FORMAT, "kind": self.kind, "id": self.id, "version": self.version}
        if self.kind == TOMBSTONE and self.at is not None:
            record |= {"tag": self.tag, "at": rfc3339(self.at)}
        else:
            record |= {"gen": self.generation, "sealed": base64.b64encode(self.sealed).decode()}
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def encode(lines: Iterable[Line]) -> bytes:
    """Return the body of a journal object."""
    return b"".join(line.encode() for line in lines)


def decode(body: bytes) -> list[Line]:
    """Read a journal object. Raises SealBroken when a line is damaged, cut, or of a format we do not know."""
    if body and not body.endswith(b"\n"):
        raise SealBroken
    return [_decode(raw) for raw in body.split(b"\n")[:-1]]


def _decode(raw: bytes) -> Line:
    try:
        record = json.loads(raw)
        if record["v"] != FORMAT:
            raise SealBroken
        kind, line_id, version = str(record["kind"]), str(record["id"]), int(record["version"])
        if kind == TOMBSTONE:
            return Line(kind, line_id, version, tag=str(record["tag"]), at=moment(record["at"]))
        return Line(kind, line_id, version, int(record["gen"]), base64.b64decode(record["sealed"], validate=True))
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise SealBroken from None
