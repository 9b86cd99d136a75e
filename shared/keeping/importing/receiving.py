"""Receiving an import page by page: each is read and checked at the request, sealed, and applied by maintenance once the last one came.

A page that cannot be read is refused and changes nothing. The same page sent twice is one, however late its second copy comes.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import (
    ConfirmationNeeded,
    DamagedFile,
    IdempotencyKeySpent,
    Invalid,
    NotFound,
    NotPossibleNow,
    Refused,
    TooLarge,
    Unavailable,
    VersionMismatch,
)
from shared.domain.ids import is_ulid, ulid
from shared.domain.memory import Scope
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.keeping.foreign.occasion import Occasion
from shared.keeping.idempotency import Mark
from shared.keeping.importing import nacre
from shared.keeping.importing.course import (
    APPLIED,
    COURSE,
    KIND,
    NACRE,
    PAGE,
    PAGES,
    REFUSED,
    Course,
    Held,
    Mode,
    Wanted,
    course_of,
    ended,
    page_name,
    seal_page,
    task_of,
)
from shared.keeping.importing.nacre import Read
from shared.keeping.importing.replacing import refuse_cut, refuse_empty, refuse_lossy
from shared.keeping.importing.thread import Thread
from shared.keeping.importing.told import Settings
from shared.keeping.memories import fields
from shared.ports import Condition, Item, Put, Update
from shared.storage import names
from shared.storage.commit import TRIES, Commits
from shared.storage.preferences import preferences_of
from shared.storage.transactions import Replayed, Stale
from shared.storage.vaults import Opened, Vaults

AUTO = "auto"


class Page(Protocol):
    """What a request says."""

    @property
    def import_id(self) -> str | None: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def format(self) -> str: ...
    @property
    def data(self) -> str: ...
    @property
    def last(self) -> bool: ...
    @property
    def scope(self) -> Scope | None: ...
    @property
    def project(self) -> str | None: ...
    @property
    def confirm(self) -> bool: ...
    @property
    def master_key(self) -> str | None: ...
    @property
    def user_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Received:
    """How far an import is: pages that came, lines read, lines refused. `replayed`: by an earlier request under the same key."""

    task_id: str
    status: TaskStatus
    pages: int
    lines: int
    refused: int
    complete: bool
    replayed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Importing:
    """The use case of `POST /v1/import`. `detect` and `read` know the forms of others; they are given, since few requests need them."""

    commits: Commits
    settings: Settings
    detect: Callable[[str], str]
    read: Callable[[str, str, Thread, Occasion], Read]

    @property
    def _vaults(self) -> Vaults:
        return self.commits.vaults

    def now(self) -> datetime:
        """Return the moment, in UTC."""
        return self._vaults.clock()

    def receive(self, owner: str, page: Page, once: Mark | None = None) -> Received:
        """Take in a page. Four steps with warm keys.

        Raises ConfirmationNeeded, Invalid, DamagedFile (the whole import is given up), NotFound (no such import), NotPossibleNow (it is
        complete), TooLarge, QuotaExceeded, IdempotencyKeyReused, IdempotencyKeySpent, TableLost, Unavailable.
        """
        wanted = _wanted(page)
        if len(page.data) > limits.IMPORT_BYTES or len(page.data.encode()) > limits.IMPORT_BYTES:
            raise TooLarge(details={"limit_bytes": limits.IMPORT_BYTES})
        for _ in range(TRIES):
            sk = names.TASK + page.import_id if page.import_id is not None and is_ulid(page.import_id) else None
            opened = self._vaults.open(owner, [names.SETTINGS, *([sk] if sk else [])])
            item = opened.items.get(sk) if opened and sk else None
            if page.import_id is not None and (item is None or item["kind"] != KIND):
                raise NotFound
            try:
                return self._received(owner, opened, item, page, wanted, once)
            except (Stale, VersionMismatch):  # a new life, or another page was first
                self._vaults.forget(owner)
        raise Unavailable

    def _received(
        self, owner: str, opened: Opened | None, item: Item | None, page: Page, wanted: Wanted, once: Mark | None
    ) -> Received:
        if opened is not None and item is not None:
            name = page_name(opened.keys, task_of(item), page.data)
            latest = name == item[PAGE]
            if latest or name in _names(opened.keys, item):
                again = self._again(opened.keys, item, last=page.last and latest)
                return replace(again, replayed=once is not None)
        course = self._course(opened, item, wanted, page)
        read = self._read(owner, opened, item, course, page)
        keys = (opened or self._vaults.open_or_create(owner)).keys
        return self._store(keys, item, course, read, page, once)

    def _course(self, opened: Opened | None, item: Item | None, wanted: Wanted, page: Page) -> Course:
        """Return the course so far; a new one where this is the first page. Raises Invalid, NotPossibleNow."""
        if opened is None or item is None:
            detected = self._detected(page.data) if wanted.format == AUTO else wanted.format
            return Course(Wanted(wanted.mode, detected, wanted.scope, wanted.project))
        if "finished_at" in item:
            raise NotPossibleNow("This import is over.")
        course = course_of(opened.keys, item)
        if wanted.format not in {AUTO, course.wanted.format}:
            raise Invalid.of("format", "All pages of an import have one format.")
        if (wanted.mode, wanted.scope, wanted.project) != (
            course.wanted.mode,
            course.wanted.scope,
            course.wanted.project,
        ):
            raise Invalid.of("mode", "Mode, scope and project are the same for all pages of an import.")
        if course.complete or len(course.pages) >= limits.IMPORT_PAGES:
            raise NotPossibleNow("The last page of this import came already.")
        return course

    def _detected(self, data: str) -> str:
        """Return the form that a file shows by what is in it. Raises Invalid."""
        return NACRE if nacre.is_ours(data) else self.detect(data)

    def _read(self, owner: str, opened: Opened | None, item: Item | None, course: Course, page: Page) -> Read:
        """Read the page. A file that is not what its manifest says ends its import."""
        try:
            read = self._pages(opened, course, page)
        except DamagedFile:
            if opened is not None and item is not None:
                self._give_up(owner, opened, item)
            raise
        if course.wanted.mode is Mode.REPLACE:
            refuse_lossy(course, read)
            if page.last:
                refuse_cut(read.thread)
                refuse_empty(course, read)
        return read

    def _pages(self, opened: Opened | None, course: Course, page: Page) -> Read:
        """Read a page of any form; times without a zone are the owner's own. What opens CmdCode's texts is forgotten with the request."""
        now, form = self._vaults.clock(), course.wanted.format
        if form == NACRE:
            return nacre.read(page.data, course.thread, now, self.settings)
        zone = ZoneInfo(preferences_of(opened).time_zone)
        occasion = Occasion(now, zone, master_key=page.master_key, user_id=page.user_id)
        return self.read(form, page.data, course.thread, occasion)

    def _store(
        self, keys: OwnerKeys, item: Item | None, course: Course, read: Read, page: Page, once: Mark | None
    ) -> Received:
        vaults, now = self._vaults, self._vaults.clock()
        task_id = page.import_id or ulid(now, vaults.random)
        name = page_name(keys, task_id, page.data)
        records = [course.wanted.placed(record) for record in read.records]
        sealed = seal_page(keys, task_id, name, Held.of(records, read.told, read.refused), vaults.random)
        key = names.imports(keys.owner, keys.epoch, task_id) + name
        vaults.objects.put(key, sealed)
        after = course.after(name, len(records), len(read.told), read.refused, read.thread, last=page.last)
        made = self._item(keys, task_id, after, len(sealed), item)
        transaction = self.commits.transaction(keys)
        if once and item is None:
            transaction.add("once", once(keys, task_id).write(now))
        transaction.add("task", made)
        transaction.head({"bytes": len(sealed)})
        try:
            vaults.table.write(keys.owner, transaction.writes)
        except Refused as refused:
            reason = transaction.explain(refused)
            if (
                item is None
            ):  # a later page may be one that another request sent as well; what is left goes with the task
                vaults.objects.erase(key)
            if isinstance(reason, Replayed):
                return self._replayed(keys, reason.made, page)
            raise reason from None
        if after.complete:
            self._send(keys.owner, task_id)
        return Received(task_id, TaskStatus.QUEUED, len(after.pages), after.thread.lines, after.refused, after.complete)

    def _item(self, keys: OwnerKeys, task_id: str, course: Course, size: int, item: Item | None) -> Put | Update:
        """Return the write that keeps the course after one more page."""
        vaults, now = self._vaults, rfc3339(self._vaults.clock())
        told: Item = {"sk": names.TASK + task_id, PAGES: len(course.pages), "updated_at": now}
        told |= {REFUSED: course.refused, PAGE: course.pages[-1][0], **course.columns(keys, task_id, vaults.random)}
        if item is None:
            first: Item = {"kind": KIND, "status": TaskStatus.QUEUED.value, "created_at": now, "run": 1, "attempts": 0}
            return Put(told | first | {APPLIED: 0, "size": size}, Condition(absent=True))
        before = Condition(exists=True, equals={PAGES: item[PAGES], "finished_at": None})
        columns = {name: value for name, value in told.items() if name != "sk"}
        return Update(str(told["sk"]), set=columns, add={"size": size}, condition=before)

    def _replayed(self, keys: OwnerKeys, task_id: str, page: Page) -> Received:
        """Answer a first page that was sent before under the same key."""
        sk = names.TASK + task_id
        item = self._vaults.table.get(keys.owner, [sk]).get(sk)
        if item is None:
            raise IdempotencyKeySpent
        latest = page_name(keys, task_id, page.data) == item[PAGE]
        return replace(self._again(keys, item, last=page.last and latest), replayed=True)

    def _again(self, keys: OwnerKeys, item: Item, *, last: bool) -> Received:
        """Answer a request that was done before, or that says now that it was the last one. Maintenance is asked again, in case the one
        before died first."""
        task_id, status = task_of(item), TaskStatus(str(item["status"]))
        if COURSE not in item:
            return Received(task_id, status, int(item[PAGES]), 0, int(item[REFUSED]), complete=True)
        course = course_of(keys, item)
        if last and not course.complete:
            if course.wanted.mode is Mode.REPLACE:
                refuse_cut(course.thread)
                refuse_empty(course)
            course = replace(course, complete=True)
            transaction = self.commits.transaction(keys)
            transaction.add("task", self._item(keys, task_id, course, 0, item))
            transaction.head({}, deleting=True)
            try:
                self._vaults.table.write(keys.owner, transaction.writes)
            except Refused as refused:
                raise transaction.explain(refused) from None
        if course.complete:
            self._send(keys.owner, task_id)
        return Received(task_id, status, len(course.pages), course.thread.lines, course.refused, course.complete)

    def _give_up(self, owner: str, opened: Opened, item: Item) -> None:
        """End an import whose file is damaged. Its pages go with the next maintenance, should this end before."""
        with suppress(Refused):
            self._vaults.table.write(owner, ended(item, opened.keys.epoch, self._vaults.clock(), DamagedFile.code))
            prefix = names.imports(owner, opened.keys.epoch, task_of(item))
            for name in list(self._vaults.objects.names(prefix)):
                self._vaults.objects.erase(name.key)

    def _send(self, owner: str, task_id: str) -> None:
        """Ask maintenance to apply it; the owner is due in any case."""
        message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
        with suppress(Unavailable):
            self.commits.maintenance.send(owner, message, deduplication=f"{owner[:40]}-{task_id}")


def _wanted(page: Page) -> Wanted:
    if page.mode is Mode.REPLACE and not page.confirm:
        raise ConfirmationNeeded
    if page.scope is Scope.AGENT:
        raise Invalid.of(
            "scope", "Everything can go to scope user or project; what belongs to an agent says so itself."
        )
    if page.scope is None and page.project is not None:
        raise Invalid.of("project", "It needs scope project.")
    project, _ = fields.place(page.scope, page.project, None) if page.scope else (None, None)
    return Wanted(page.mode, page.format, page.scope, project)


def _names(keys: OwnerKeys, item: Item) -> set[str]:
    """Return the names of the pages that came, as long as the import is not over."""
    return {name for name, _, _ in course_of(keys, item).pages} if COURSE in item else set()
