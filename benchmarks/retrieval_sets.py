"""Labelled sets: one folder each, with `docs.jsonl` {id, user, text, ts} and `queries.jsonl` {id, user, query, ts, rel: [ids]}.

Every user is a store of its own. `ts` may be null; a query's is "now". Ids become ULIDs in the order of the file.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from shared.domain.ids import ulid
from shared.domain.memory import Scope
from shared.recall.index import Entry

UNDATED: Final = datetime(2019, 1, 1, tzinfo=UTC)
USER, PROJECT = bytes(16), bytes([1]) * 16
SCOPES: Final = {USER: Scope.USER, PROJECT: Scope.PROJECT}
DOCS, QUERIES = "docs.jsonl", "queries.jsonl"

Store = dict[str, list[Entry]]


class IllFormed(Exception):
    """A set cannot be read; the message names file, line and what is wrong."""


class _Doc(BaseModel):
    id: str
    user: str
    text: str
    ts: datetime | None = None


class _Query(BaseModel):
    user: str
    query: str
    ts: datetime | None = None
    rel: list[str]


Line = TypeVar("Line", _Doc, _Query)


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled query: who asks, what, when, and the ids that answer it."""

    user: str
    text: str
    now: datetime
    relevant: frozenset[str]


def folders(data: Path) -> list[Path]:
    """The sets of a folder: itself, or those in it. Raises IllFormed when there are none."""
    found = [data] if (data / QUERIES).exists() else sorted(path.parent for path in data.glob(f"*/{QUERIES}"))
    if not found:
        raise IllFormed(f"{data}: there is no {QUERIES} here, nor in a folder of it")
    return found


def read(folder: Path) -> tuple[Store, list[Question]]:
    """Memories by user and the questions of one set; questions without an answer are left out, and that is said. Raises IllFormed."""
    stores: Store = defaultdict(list)
    names: dict[tuple[str, str], str] = {}
    for place, (line, doc) in enumerate(_lines(folder / DOCS, _Doc)):
        if (doc.user, doc.id) in names:
            raise IllFormed(f"{folder / DOCS}, line {line}: the id is there twice")
        at = _moment(doc.ts) or UNDATED + timedelta(seconds=place)
        if not 0 <= at.timestamp() < 2**32:
            raise IllFormed(f"{folder / DOCS}, line {line}: ts is outside the years 1970 to 2105")
        name = names[doc.user, doc.id] = ulid(at, lambda size, place=place: place.to_bytes(size, "big"))  # type: ignore[misc]
        stores[doc.user].append(memory(name, doc.text, int(at.timestamp())))
    questions: list[Question] = []
    for line, asked in _lines(folder / QUERIES, _Query):
        relevant = [names.get((asked.user, name)) for name in asked.rel]
        if None in relevant:
            raise IllFormed(f"{folder / QUERIES}, line {line}: rel names an id that the user has no memory of")
        now = _moment(asked.ts) or UNDATED + timedelta(days=1)
        questions.append(Question(asked.user, asked.query, now, frozenset(name for name in relevant if name)))
    answered = [question for question in questions if question.relevant]
    if len(answered) < len(questions):
        print(
            f"{folder.name}: {len(questions) - len(answered)} questions have no answer and are left out",
            file=sys.stderr,
        )
    if not answered:
        raise IllFormed(f"{folder / QUERIES}: no question has an answer")
    return dict(stores), answered


def memory(name: str, text: str, at: int) -> Entry:
    """A memory as the index sees it, made at `at` (epoch seconds): the user's own, of a middling importance."""
    return Entry(id=name, version=1, text=text, created_at=at, updated_at=at, importance=5, category=5, scope_tag=USER)


def _lines(path: Path, kind: type[Line]) -> Iterator[tuple[int, Line]]:
    """Number and content of each line. Raises IllFormed."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise IllFormed(f"{path}: cannot be read") from error
    if not any(map(bytes.strip, lines)):
        raise IllFormed(f"{path}: is empty")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, kind.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise IllFormed(f"{path}, line {number}: {where + ': ' if where else ''}{first['msg']}") from None


def _moment(at: datetime | None) -> datetime | None:
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)
