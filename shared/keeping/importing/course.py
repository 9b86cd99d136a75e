"""The course of one import: what was asked for and which pages came. Sealed in its task, for it holds names and sums of the file.

Columns of a task of the kind `import`: `pages` that came, the name of the last `page`, `size` of them in bytes, `applied` (records
that maintenance took in), and the `did_*` that its owner sees. Each page is an object of its own until the end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import SealBroken
from shared.domain.ids import Random
from shared.domain.memory import Scope
from shared.domain.task import PROGRESS, TaskStatus
from shared.domain.times import epoch_seconds, rfc3339
from shared.keeping.importing.records import Record, Refusal
from shared.keeping.importing.thread import Thread
from shared.keeping.importing.told import Told
from shared.learning.tasks import RESULT
from shared.ports import Condition, Item, Update, Write
from shared.storage import bodies, names, objects

KIND: Final = "import"
NACRE: Final = "nacre"
"""Our own form, among those that files have."""
COURSE: Final = "course"
"""The column, and what the course is called in its seal."""
_SEALED_PAGE: Final = "import page"
PAGES, PAGE, APPLIED = "pages", "page", "applied"
IMPORTED, KEPT, OVERWRITTEN, REFUSED, ARCHIVED, DOCUMENTS = (
    f"{PROGRESS}{what}" for what in ("imported", "kept", "overwritten", "refused", "archived", "documents")
)


class Mode(StrEnum):
    """What becomes of a record whose text is a memory already, and of memories that the file does not hold."""

    MERGE = "merge"
    """What stands stays as it is."""
    OVERWRITE = "overwrite"
    """The file's fields win."""
    REPLACE = "replace"
    """The file's fields win, and what it does not hold is forgotten."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for, the same with each page. `scope` and `project` are where everything is to go; None: where the file says."""

    mode: Mode
    format: str
    scope: Scope | None = None
    project: str | None = None

    def placed(self, record: Record) -> Record:
        """Return the record where it is to go."""
        return record if self.scope is None else replace(record, scope=self.scope, project=self.project, agent=None)


@dataclass(frozen=True, slots=True)
class Course:
    """`pages` are their names, each with its number of records and of what else it tells; `report` tells of the first refused lines."""

    wanted: Wanted
    pages: tuple[tuple[str, int, int], ...] = ()
    thread: Thread = field(default_factory=Thread)
    refused: int = 0
    report: tuple[dict[str, Any], ...] = ()
    complete: bool = False

    def after(self, page: str, records: int, told: int, refused: list[Refusal], thread: Thread, *, last: bool) -> Self:
        """Return the course after one more page."""
        pages = (*self.pages, (page, records, told))
        return replace(self.telling(refused), pages=pages, thread=thread, complete=last)

    def telling(self, refused: Sequence[Refusal]) -> Self:
        """Return the course with more refused lines, of which it tells as many as it may."""
        report = [refusal.to_body() for refusal in refused[: limits.IMPORT_REPORT - len(self.report)]]
        return replace(self, refused=self.refused + len(refused), report=(*self.report, *report))

    def columns(self, keys: OwnerKeys, task_id: str, random: Random) -> Item:
        """Return the sealed columns of its task: the course itself, and the report that the owner sees."""
        columns: Item = {COURSE: self.seal(keys, task_id, random), "gen": keys.generation}
        if not self.report:
            return columns
        return columns | {"sealed": keys.seal(RESULT, task_id, 1, bodies.pack({"report": list(self.report)}), random)}

    def seal(self, keys: OwnerKeys, task_id: str, random: Random) -> bytes:
        """Return what the task holds of it."""
        wanted = self.wanted
        body = {
            "mode": wanted.mode.value,
            "format": wanted.format,
            "scope": wanted.scope,
            "project": wanted.project,
            "pages": [list(page) for page in self.pages],
            "thread": self.thread.to_body(),
            "refused": self.refused,
            "report": list(self.report),
            "complete": self.complete,
        }
        return keys.seal(COURSE, task_id, len(self.pages), bodies.pack(body), random)


@dataclass(frozen=True, slots=True)
class Held:
    """What a page holds: records, what else is told, and the memories that its refused lines name, by id or by what they say."""

    records: list[Record]
    told: list[Told]
    named: list[str]
    texts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, records: list[Record], told: list[Told], refused: Iterable[Refusal]) -> Self:
        """Return what a page holds that was read like this."""
        refused = list(refused)
        named = [refusal.old_id for refusal in refused if refusal.old_id is not None]
        return cls(records, told, named, [refusal.text for refusal in refused if refusal.text is not None])


def task_of(item: Item) -> str:
    """Return the id of a task's item."""
    return str(item["sk"]).removeprefix(names.TASK)


def course_of(keys: OwnerKeys, item: Item) -> Course:
    """Open the course of a task that is not over. Raises SealBroken."""
    sealed = item.get(COURSE)
    if not isinstance(sealed, bytes):
        raise SealBroken
    body = bodies.unpack(keys.unseal(COURSE, task_of(item), int(item[PAGES]), int(item["gen"]), sealed))
    try:
        scope = Scope(body["scope"]) if body["scope"] else None
        return Course(
            Wanted(Mode(body["mode"]), body["format"], scope, body["project"]),
            tuple((str(name), int(records), int(told)) for name, records, told in body["pages"]),
            Thread.from_body(body["thread"]),
            body["refused"],
            tuple(body["report"]),
            body["complete"],
        )
    except (KeyError, TypeError, ValueError):
        raise SealBroken from None


def page_name(keys: OwnerKeys, task_id: str, data: str) -> str:
    """Return the name of a page, which equal pages of an import share, and which says nothing of them."""
    return keys.tag(_SEALED_PAGE, task_id, data)


def seal_page(keys: OwnerKeys, task_id: str, page: str, held: Held, random: Random) -> bytes:
    """Return a page as it is stored."""
    body = {
        "records": [record.to_body() for record in held.records],
        "told": [one.to_body() for one in held.told],
        "named": list(held.named),
        "texts": list(held.texts),
    }
    return objects.seal(keys, _SEALED_PAGE, f"{task_id}/{page}", bodies.pack(body), random)


def open_page(keys: OwnerKeys, task_id: str, page: str, stored: bytes) -> Held:
    """Open a stored page. Raises SealBroken."""
    plain = objects.unseal(keys, _SEALED_PAGE, f"{task_id}/{page}", stored)
    body = bodies.unpack(plain, limit=4 * limits.BODY_BYTES)
    try:
        records, told = [Record.from_body(one) for one in body["records"]], [Told(**one) for one in body["told"]]
        return Held(records, told, body.get("named", []), body.get("texts", []))
    except (KeyError, TypeError, ValueError):
        raise SealBroken from None


def ended(
    item: Item, epoch: int, now: datetime, error: str | None = None, add: Mapping[str, int] | None = None
) -> list[Write]:
    """Return the writes that end a task once and give the bytes of its pages back; nothing of the file is kept in it."""
    status = TaskStatus.FAILED if error else TaskStatus.DONE
    told = {"status": status.value, "updated_at": rfc3339(now), "finished_at": rfc3339(now)}
    end = Update(
        str(item["sk"]),
        set=told | ({"error": error} if error else {}) | {"ttl": epoch_seconds(now + limits.TASK_KEPT)},
        add=add or {},
        remove=(COURSE, "size"),
        condition=Condition(exists=True, equals={"finished_at": None, PAGES: item[PAGES]}),
    )
    smaller = Update(names.HEAD, add={"bytes": -int(item["size"])}, condition=Condition(equals={"epoch": epoch}))
    return [end, smaller]
