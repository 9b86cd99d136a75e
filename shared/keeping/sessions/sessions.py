"""Sessions: notes are kept, sealed, as they are made; when a session ends they are handed over as a conversation to be learned from.

One session per owner is open at a time. Its item counts its notes, and ends in the same transaction that hands over exactly so many: no
note is lost and none is learned twice, whoever dies and however many ask at once.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Busy, NotFound, NotPossibleNow, Refused, SealBroken
from shared.domain.ids import ulid
from shared.domain.memory import Memory, Scope
from shared.domain.naming import ACTIVE_PROJECT
from shared.domain.task import Trigger
from shared.domain.times import moment, rfc3339
from shared.keeping.memories import fields
from shared.keeping.memories.filters import Filters
from shared.keeping.memories.listing import Listing
from shared.learning.accepting import Accepting
from shared.learning.conversation import Conversation, Message
from shared.learning.notes import Note, body_of, judged, note_of
from shared.observability import alarm
from shared.ports import Condition, Delete, Item, Put, Update, Write
from shared.storage import bodies, names, scenes
from shared.storage.partition import each_item
from shared.storage.preferences import preferences_of
from shared.storage.transactions import Limits, Stale, Transaction
from shared.storage.vaults import Opened, Vaults
from shared.text.endings import ends, sums_up

KIND, NOTE = "session", "note"
TRIES = 8
BATCH = 50
_WANTED = (names.SESSION, names.SETTINGS, names.ACTIVE)


@dataclass(frozen=True, slots=True)
class Session:
    """An open session: `size` are the sealed bytes of its notes."""

    id: str
    started_at: datetime
    last_at: datetime
    notes: int
    size: int
    project: str | None
    agent: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that ended: how many notes it had, and the task that learns from them (None: there were none, or they were dropped)."""

    session_id: str
    notes: int
    task_id: str | None


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that begins: what became of the one before, and what was confirmed last of its project and of the person."""

    session: Session
    ended: Ended | None
    digest: list[Memory]


@dataclass(frozen=True, slots=True)
class Noted:
    """What became of a note: whether it is kept, why, and the session that it ended, if it did."""

    saved: bool
    reason: str
    session_id: str | None
    ended: Ended | None = None


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions of owners."""

    vaults: Vaults
    bounds: Limits
    accepting: Accepting
    listing: Listing

    def open(self, owner: str, project: str | None, agent: str | None) -> Begun:
        """Begin a session; the last one, if it is still open, ends first. Raises Invalid, QuotaExceeded, TableLost, Busy."""
        fields.no_credential(project=project, agent=agent)
        before = self.end(owner, must=False)
        for _ in range(TRIES):
            opened = self._opened(owner)
            if names.SESSION in opened.items:
                before = self.end(owner, must=False) or before
                continue
            meant = scenes.chosen(project, opened)
            session = self._begin(opened, meant, agent)
            if session is not None:
                return Begun(session, before, self._digest(owner, meant))
        raise Busy

    def current(self, owner: str) -> Session | None:
        """Return the open session."""
        opened = self.vaults.open(owner, [names.SESSION])
        return (
            session_of(opened.keys, opened.items[names.SESSION]) if opened and names.SESSION in opened.items else None
        )

    def note(self, owner: str, note: Note) -> Noted:
        """Keep a note where its words ask for it, or end the session where they say so. Without an open session one begins.

        Raises Invalid, NotPossibleNow beyond NOTES of a session, QuotaExceeded, TableLost, Busy.
        """
        fields.no_credential(topic=note.topic)
        fields.tags(note.tags)
        for point in note.key_points:
            fields.content(point, "key_info")
        if ends(note.message) or sums_up(note.message):
            ended = self.end(owner, must=False)
            return Noted(saved=False, reason="ended", session_id=ended.session_id if ended else None, ended=ended)
        for _ in range(TRIES):
            opened = self._opened(owner)
            preferences = preferences_of(opened)
            if not preferences.enabled:
                return Noted(saved=False, reason="disabled", session_id=None)
            verdict = judged(note.message, note.key_points, preferences)
            item = opened.items.get(names.SESSION)
            if item is None and not verdict.saved:
                return Noted(saved=False, reason=verdict.reason, session_id=None)
            if item is None:
                self._begin(opened, scenes.chosen(ACTIVE_PROJECT, opened), None)
                continue
            session = session_of(opened.keys, item)
            if session.last_at + limits.SESSION_SILENCE <= self.vaults.clock():
                self.end(owner, must=False)
                continue
            if verdict.saved and session.notes >= limits.NOTES:
                raise NotPossibleNow(f"This session has {limits.NOTES} notes; finalize it first.")
            if self._keep(opened, session, note if verdict.saved else None):
                return Noted(verdict.saved, verdict.reason, session.id)
        raise Busy

    def end(self, owner: str, *, must: bool = True, discard: bool = False) -> Ended | None:
        """End the open session and hand its notes over, or drop them; None when none is open. Raises NotFound when one `must` be; Busy."""
        for _ in range(TRIES):
            opened = self.vaults.open(owner, _WANTED)
            item = opened.items.get(names.SESSION) if opened else None
            if opened is None or item is None:
                if must:
                    raise NotFound("No session is open.")
                return None
            session = session_of(opened.keys, item)
            kept, notes = self._notes(opened.keys, session.id)
            ending = Delete(names.SESSION, Condition(equals={"id": session.id, "notes": session.notes}))
            if kept > session.notes:
                continue
            try:
                ended = self._end(opened, session, [] if discard else notes, ending)
            except Stale:
                self.vaults.forget(owner)
                continue
            if ended is not None:
                if kept < session.notes:  # the notes were read after their count: somebody took one away
                    alarm("damaged", session=session.id)
                self.sweep(owner)
                return ended
        raise Busy

    def sweep(self, owner: str) -> int:
        """Remove notes of sessions that have ended: those were handed over whole. Return how many there were."""
        table, swept = self.vaults.table, 0
        while True:
            page = table.query(owner, names.NOTE, limit=BATCH, after=None)
            item = table.get(owner, [names.SESSION]).get(
                names.SESSION
            )  # after them: whose notes these are has begun by now
            living = f"{names.NOTE}{item['id']!s}#" if item else None
            old = [str(note["sk"]) for note in page.items if living is None or not str(note["sk"]).startswith(living)]
            if not old:
                return swept
            table.write(owner, [Delete(sk) for sk in old])
            swept += len(old)

    def _end(self, opened: Opened, session: Session, notes: list[Note], ending: Write) -> Ended | None:
        if not notes:
            return Ended(session.id, session.notes, None) if self._drop(opened, session, ending) else None
        conversation = Conversation(
            messages=tuple(Message("user", "\n".join((note.message, *note.key_points)), note.at) for note in notes),
            trigger=Trigger.MANUAL,
            project=session.project,
            agent=session.agent,
            session_id=session.id,
            notes=tuple(body_of(note) for note in notes),
        )
        task_id = self.accepting.hand_over(opened, conversation, [ending], session.size)
        return Ended(session.id, session.notes, task_id) if task_id else None

    def _drop(self, opened: Opened, session: Session, ending: Write) -> bool:
        transaction = self._transaction(opened.keys)
        transaction.add("also", ending)
        transaction.head({"bytes": -session.size} if session.size else {}, deleting=True)
        return self._written(opened.keys, transaction)

    def _begin(self, opened: Opened, project: str | None, agent: str | None) -> Session | None:
        """Store a new session; None when another one was first."""
        keys, now = opened.keys, self.vaults.clock()
        session_id = ulid(now, self.vaults.random)
        sealed = keys.seal(KIND, session_id, 1, bodies.pack({"project": project, "agent": agent}), self.vaults.random)
        item: Item = {"sk": names.SESSION, "id": session_id, "started_at": rfc3339(now), "last_at": rfc3339(now)}
        item |= {"notes": 0, "size": 0, "gen": keys.generation, "sealed": sealed}
        transaction = self._transaction(keys)
        transaction.add("also", Put(item, Condition(absent=True)))
        transaction.head({}, deleting=True)
        return session_of(keys, item) if self._written(keys, transaction) else None

    def _keep(self, opened: Opened, session: Session, note: Note | None) -> bool:
        """Store a note, or only that something was said; False when the session is another one by now."""
        keys, now = opened.keys, self.vaults.clock()
        transaction = self._transaction(keys)
        same = Condition(equals={"id": session.id})
        heard = Update(names.SESSION, set={"last_at": rfc3339(now)}, condition=same)
        size = 0
        if note is not None:
            note_id = ulid(now, self.vaults.random)
            place = f"{session.id}#{note_id}"
            sealed = keys.seal(NOTE, place, 1, bodies.pack(body_of(note)), self.vaults.random)
            item: Item = {"sk": names.NOTE + place, "gen": keys.generation, "sealed": sealed}
            size = len(sealed)
            heard = replace(heard, add={"notes": 1, "size": size})
            transaction.add("also", Put(item, Condition(absent=True)))
        transaction.add("also", heard)
        transaction.head({"bytes": size} if size else {}, deleting=not size)
        return self._written(keys, transaction)

    def _written(self, keys: OwnerKeys, transaction: Transaction) -> bool:
        """Do the transaction; False when the session is not the one that was read. Raises QuotaExceeded."""
        try:
            self.vaults.table.write(keys.owner, transaction.writes)
        except Refused as refused:
            if any(transaction.roles[place] == "also" for place in refused.items):
                return False
            reason = transaction.explain(refused)
            if isinstance(reason, Stale):
                self.vaults.forget(keys.owner)
                return False
            raise reason from None
        return True

    def _notes(self, keys: OwnerKeys, session_id: str) -> tuple[int, list[Note]]:
        """Return how many notes a session has, and those that open."""
        kept = 0
        notes: list[Note] = []
        for item in each_item(self.vaults.table, keys.owner, f"{names.NOTE}{session_id}#"):
            kept += 1
            try:
                notes.append(_note(keys, item))
            except SealBroken:
                alarm("damaged", note=str(item["sk"]).removeprefix(names.NOTE))
        return kept, notes

    def _digest(self, owner: str, project: str | None) -> list[Memory]:
        """Return what was confirmed last of the person and of the project."""
        asked = [Filters(scope=Scope.USER)] + ([Filters(scope=Scope.PROJECT, project=project)] if project else [])
        found = [memory for one in asked for memory in self.listing.page(owner, one, limits.DIGEST, None).memories]
        return sorted(found, key=lambda memory: memory.updated_at, reverse=True)[: limits.DIGEST]

    def _opened(self, owner: str) -> Opened:
        return self.vaults.open_or_create(owner, _WANTED)

    def _transaction(self, keys: OwnerKeys) -> Transaction:
        return Transaction(keys, self.bounds, self.vaults.clock(), self.vaults.random)


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


def _note(keys: OwnerKeys, item: Item) -> Note:
    place = str(item["sk"]).removeprefix(names.NOTE)
    return note_of(bodies.unpack(keys.unseal(NOTE, place, 1, int(item["gen"]), _bytes(item))))


def _bytes(item: Item) -> bytes:
    sealed: Any = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    return sealed
