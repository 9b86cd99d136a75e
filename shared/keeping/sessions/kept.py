"""A session and its notes in the table: read, written in one transaction, and what a repeated request was answered before."""

from dataclasses import dataclass
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import IdempotencyKeyReused, Refused, SealBroken
from shared.domain.times import epoch_seconds, moment
from shared.keeping.idempotency import Mark
from shared.keeping.sessions.told import Session
from shared.learning.notes import Note, note_of
from shared.observability import alarm
from shared.ports import Item
from shared.storage import bodies, names
from shared.storage.partition import each_item
from shared.storage.transactions import Limits, Once, Replayed, Stale, Transaction
from shared.storage.vaults import Opened, Vaults

KIND, NOTE = "session", "note"


@dataclass(frozen=True, slots=True)
class Kept:
    """Sessions of owners as they lie in the table."""

    vaults: Vaults
    bounds: Limits

    def transaction(self, keys: OwnerKeys, once: Once | None = None) -> Transaction:
        """Begin a transaction; with the mark of a request that is to happen once."""
        transaction = Transaction(keys, self.bounds, self.vaults.clock(), self.vaults.random)
        if once:
            transaction.add("once", once.write(transaction.now))
        return transaction

    def written(self, keys: OwnerKeys, transaction: Transaction) -> bool:
        """Do the transaction; False when the session is not the one that was read. Raises QuotaExceeded, Replayed, IdempotencyKeyReused."""
        try:
            self.vaults.table.write(keys.owner, transaction.writes)
        except Refused as refused:
            reason = transaction.explain(refused)
            if isinstance(reason, Replayed | IdempotencyKeyReused):
                raise reason from None
            if any(transaction.roles[place] == "also" for place in refused.items):
                return False
            if isinstance(reason, Stale):
                self.vaults.forget(keys.owner)
                return False
            raise reason from None
        return True

    def notes(self, keys: OwnerKeys, session_id: str) -> tuple[int, list[Note]]:
        """Return how many notes a session has, and those that open."""
        kept = 0
        found: list[Note] = []
        for item in each_item(self.vaults.table, keys.owner, f"{names.NOTE}{session_id}#"):
            kept += 1
            try:
                found.append(note_at(keys, item))
            except SealBroken:
                alarm("damaged", note=str(item["sk"]).removeprefix(names.NOTE))
        return kept, found

    def last(self, keys: OwnerKeys, session_id: str) -> Item | None:
        """Return the item of a session's latest note."""
        page = self.vaults.table.query(keys.owner, f"{names.NOTE}{session_id}#", limit=1, descending=True)
        return next((item for item in page.items if isinstance(item.get("sealed"), bytes)), None)

    def made(self, opened: Opened, once: Mark | None) -> str | None:
        """Return what the same request made before; asked only where it would otherwise begin or end a session once more."""
        if once is None:
            return None
        mark = once(opened.keys, "")
        sk = names.ONCE + mark.tag
        item = self.vaults.table.get(opened.keys.owner, [sk]).get(sk)
        if item is None or int(item["ttl"]) <= epoch_seconds(self.vaults.clock()):
            return None
        if item["fingerprint"] != mark.fingerprint:
            raise IdempotencyKeyReused
        return str(item["made"])

    def refuse_again(self, opened: Opened, once: Mark | None) -> None:
        """Raise Replayed where the same request was answered before."""
        made = self.made(opened, once)
        if made is not None:
            raise Replayed(made)


def marked(opened: Opened, once: Mark | None, made: str) -> Once | None:
    """Return the mark of a request that is answered so; None without a key."""
    return once(opened.keys, made) if once else None


def session_of(keys: OwnerKeys, item: Item) -> Session:
    """Read a session. One that does not open has its notes still, but nobody knows of which project and agent it is."""
    session_id = str(item["id"])
    try:
        told = bodies.unpack(keys.unseal(KIND, session_id, 1, int(item["gen"]), _bytes(item)))
    except SealBroken:
        alarm("damaged", session=session_id)
        told = {}
    times = moment(str(item["started_at"])), moment(str(item["last_at"]))
    return Session(session_id, *times, int(item["notes"]), int(item["size"]), told.get("project"), told.get("agent"))


def note_at(keys: OwnerKeys, item: Item) -> Note:
    """Read a note. Raises SealBroken."""
    place = str(item["sk"]).removeprefix(names.NOTE)
    return note_of(bodies.unpack(keys.unseal(NOTE, place, 1, int(item["gen"]), _bytes(item))))


def _bytes(item: Item) -> bytes:
    sealed: Any = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    return sealed
