"""Looks at what is masked or at another person's memory, and the owner's list of them. A look is on record before its answer exists."""

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Refused, SealBroken, Unavailable
from shared.domain.ids import ulid, ulid_time
from shared.domain.memory import REFERENCE
from shared.domain.times import epoch_seconds, moment
from shared.keeping.cursors import Cursors
from shared.keeping.memories.memories import Memories
from shared.ports import Check, Condition, Item, Page, Put
from shared.storage import bodies, names
from shared.storage.items import full_text
from shared.storage.vaults import Opened, Vaults

KIND: Final = "audit"
OWNER: Final = "owner"
AUDITOR: Final = "auditor:"
"""Before the subject of the auditor's token, so that no subject can pass for the owner."""
LAST: Final = names.AUDIT
"""The place behind every look, where the last erasure stands: what was before it went with it."""


class Action(StrEnum):
    """What is on record in an owner's list."""

    READ = "read"
    REVEAL = "reveal"
    EXPORT = "export"
    CREDENTIALS_IN_CONTEXT = "credentials_in_context"
    ERASE = "erase"


@dataclass(frozen=True, slots=True)
class Look:
    """One look on record: who (`owner`, or an auditor) did what, to which memory or for which agent if it was one, and why."""

    id: str
    at: datetime
    by: str
    action: str
    memory_id: str | None = None
    reason: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Looks:
    """A page of looks, newest first; `damaged` of its entries did not open."""

    entries: list[Look]
    next_cursor: str | None
    damaged: int


@dataclass(frozen=True, slots=True)
class Auditing:
    """Reveals and their record."""

    memories: Memories
    cursors: Cursors

    def reveal(self, owner: str, memory_id: str) -> str:
        """Return the whole text of a memory with its secrets; a reference, as agents are given, is as good as an id.

        Raises NotFound; Unavailable when it cannot be recorded.
        """
        memory_id = memory_id.removeprefix(REFERENCE)
        opened, stored = self.memories.read(owner, memory_id)
        self._record(opened.keys, {"by": OWNER, "action": Action.REVEAL, "memory": memory_id})
        return full_text(stored.memory)

    def exported(self, owner: str) -> None:
        """Put an export with credentials on the list. Raises Unavailable when it cannot be recorded."""
        opened = self.memories.commits.vaults.open(owner)
        if opened is not None:
            self._record(opened.keys, {"by": OWNER, "action": Action.EXPORT})

    def looks(self, owner: str, limit: int, cursor: str | None, action: Action | None = None) -> Looks:
        """Return the owner's audit list, newest first; of one action only, where one is named. Last comes the last erasure, which
        ended the life before. A page may hold fewer than asked for and still have a cursor. Raises InvalidCursor."""
        vaults = self.memories.commits.vaults
        opened = vaults.open(owner)
        if opened is None:
            self.cursors.refuse(cursor)
            return Looks(_erasure(vaults, owner, action), None, 0)
        purpose = json.dumps([KIND, action])
        after = self.cursors.read(opened.keys, purpose, cursor)
        page = _page(vaults, opened, after, action, limit)
        looks = _opened(opened, page, action)
        place = page.after
        if place is None:
            erasure = _erasure(vaults, owner, action)
            if len(looks.entries) + len(erasure) <= limit:
                looks.entries.extend(erasure)
            else:
                place = LAST
        return Looks(looks.entries, self.cursors.write(opened.keys, purpose, place), looks.damaged)

    def _record(self, keys: OwnerKeys, detail: dict[str, str]) -> None:
        record(self.memories.commits.vaults, keys, detail)


def record(vaults: Vaults, keys: OwnerKeys, detail: dict[str, str]) -> None:
    """Put a look on the list of that partition, sealed. Raises Unavailable when it cannot be: then nothing may be shown."""
    now = vaults.clock()
    look_id = ulid(now, vaults.random)
    item: Item = {
        "sk": names.AUDIT + look_id,
        "gen": keys.generation,
        "sealed": keys.seal(KIND, look_id, 1, bodies.pack(detail), vaults.random),
        "ttl": epoch_seconds(now + limits.AUDIT_KEPT),
    }
    same_life = Condition(equals={"epoch": keys.epoch, "gen": keys.generation})
    try:
        vaults.table.write(keys.owner, [Put(item, Condition(absent=True)), Check(names.HEAD, same_life)])
    except Refused:
        vaults.forget(keys.owner)
        raise Unavailable from None


def read(keys: OwnerKeys, item: Item) -> Look:
    """Open an entry. Raises SealBroken."""
    look_id = str(item["sk"]).removeprefix(names.AUDIT)
    sealed = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    detail = bodies.unpack(keys.unseal(KIND, look_id, 1, int(item["gen"]), sealed))
    told = (detail["by"], detail["action"], detail.get("memory"), detail.get("reason"), detail.get("agent"))
    return Look(look_id, ulid_time(look_id), *told)


def _page(vaults: Vaults, opened: Opened, after: str | None, action: Action | None, limit: int) -> Page:
    """Read entries: as many as are asked for, or, where most may be of another action, up to a page's bound."""
    if after == LAST:
        return Page([], None)
    scan = limit if action is None else limits.PAGE_SCAN
    page = vaults.table.query(opened.keys.owner, names.AUDIT, after=after, limit=scan, descending=True)
    if action is None:
        return page
    wanted = 0
    for place, item in enumerate(page.items):
        wanted += _is(opened.keys, item, action)
        if wanted == limit and place + 1 < len(page.items):
            return Page(page.items[: place + 1], str(item["sk"]))
    return page


def _is(keys: OwnerKeys, item: Item, action: Action) -> bool:
    try:
        return read(keys, item).action == action
    except SealBroken:
        return False


def _opened(opened: Opened, page: Page, action: Action | None) -> Looks:
    entries: list[Look] = []
    damaged = 0
    for item in page.items:
        try:
            look = read(opened.keys, item)
        except SealBroken:
            damaged += 1
            continue
        if action is None or look.action == action:
            entries.append(look)
    return Looks(entries, None, damaged)


def _erasure(vaults: Vaults, owner: str, action: Action | None) -> list[Look]:
    """Return the owner's last erasure as an entry, unless another action is asked for. Its record outlives the life that it ended, and
    is read only where it is shown."""
    if action not in (None, Action.ERASE):
        return []
    item = vaults.table.get(owner, [names.ERASURE]).get(names.ERASURE)
    return [Look(f"erasure-{int(item['epoch'])}", moment(str(item["at"])), OWNER, Action.ERASE)] if item else []
