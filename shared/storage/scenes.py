"""Scenes: what is known about one project, as a document (shared/storage/documents.py) in the project's item.

Fields: `project` (its key), `name` (shown; absent: the key), `summary` and `context` (texts), `basis` (ids of the memories that the
summary rests on: it is shown only while all of them stand), `told_at` (RFC 3339), `archived` (true or false).
"""

from collections.abc import Sequence
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain.memory import Scope
from shared.domain.times import rfc3339
from shared.ports import Item
from shared.storage import documents, items, lines, names
from shared.storage.documents import PROJECT, Document

NAME, SUMMARY, CONTEXT, BASIS, TOLD_AT, ARCHIVED = "name", "summary", "context", "basis", "told_at", "archived"


def tag_of(keys: OwnerKeys, project: str) -> str:
    """Return the id of a project's scene, which is the tag of its item."""
    return items.scope_tag(keys, Scope.PROJECT, project, None)


def summarised(project: str, summary: str, learned: Sequence[str], at: datetime, commit: str) -> Document:
    """Return what a task's plan says of its project: the summary of the conversation, the memories learned with it, and when it was.
    A project that is talked about is not archived."""
    said = {PROJECT: project, SUMMARY: summary, BASIS: list(learned), TOLD_AT: rfc3339(at), ARCHIVED: False}
    return Document({name: (value, commit) for name, value in said.items()})


def from_item(keys: OwnerKeys, item: Item) -> Document:
    """Return the scene that a project's item holds; an empty one where it holds none. Raises SealBroken."""
    return documents.from_item(keys, lines.SCENE, str(item["sk"]).removeprefix(names.PROJECT), item)
