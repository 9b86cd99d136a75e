"""Looks at what is usually masked, and the owner's list of them. The look is on record before its answer exists."""

from dataclasses import dataclass
from datetime import datetime

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Refused, SealBroken, Unavailable
from shared.domain.ids import ulid, ulid_time
from shared.domain.times import epoch_seconds
from shared.keeping.cursors import Cursors
from shared.keeping.memories import Memories
from shared.ports import Check, Condition, Item, Put
from shared.storage import bodies, names
from shared.storage.items import full_text

KIND = "audit"
OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Look:
    """One look on record: who (`owner`, or an auditor's name) did what, to which memory if it was one, and why."""

    id: str
    at: datetime
    by: str
    action: str
    memory_id: str | None
    reason: str | None


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
        """Return the whole text of a memory with its secrets. Raises NotFound; Unavailable when it cannot be recorded."""
        opened, stored = self.memories.read(owner, memory_id)
        self._record(opened.keys, {"by": OWNER, "action": "reveal", "memory": memory_id})
        return full_text(stored.memory)

    def exported(self, owner: str) -> None:
        """Put an export with credentials on the list. Raises Unavailable when it cannot be recorded."""
        opened = self.memories.commits.vaults.open(owner)
        if opened is not None:
            self._record(opened.keys, {"by": OWNER, "action": "export"})

    def looks(self, owner: str, limit: int, cursor: str | None) -> Looks:
        """Return the owner's audit list, newest first. Raises InvalidCursor."""
        vaults = self.memories.commits.vaults
        opened = vaults.open(owner)
        if opened is None:
            self.cursors.refuse(cursor)
            return Looks([], None, 0)
        after = self.cursors.read(opened.keys, KIND, cursor)
        page = vaults.table.query(owner, names.AUDIT, after=after, limit=limit, descending=True)
        entries: list[Look] = []
        damaged = 0
        for item in page.items:
            try:
                entries.append(_look(opened.keys, item))
            except SealBroken:
                damaged += 1
        return Looks(entries, self.cursors.write(opened.keys, KIND, page.after), damaged)

    def _record(self, keys: OwnerKeys, detail: dict[str, str]) -> None:
        vaults = self.memories.commits.vaults
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


def _look(keys: OwnerKeys, item: Item) -> Look:
    look_id = str(item["sk"]).removeprefix(names.AUDIT)
    sealed = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    detail = bodies.unpack(keys.unseal(KIND, look_id, 1, int(item["gen"]), sealed))
    return Look(look_id, ulid_time(look_id), detail["by"], detail["action"], detail.get("memory"), detail.get("reason"))
