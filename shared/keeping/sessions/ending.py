"""The end of a session: its notes are handed over as a conversation to be learned from, or dropped.

Its item counts its notes, and ends in the same transaction that hands over exactly so many: no note is lost and none is learned twice,
whoever dies and however many ask at once. Nothing is handed over while memory is off: then the notes wait.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from shared.domain.errors import Busy, NotFound, NotPossibleNow
from shared.domain.task import Trigger
from shared.keeping.idempotency import Mark
from shared.keeping.sessions.kept import Kept, marked, session_of
from shared.keeping.sessions.told import Ended, Session, as_ended, ended_as
from shared.learning.accepting import Accepting
from shared.learning.conversation import Conversation, Message
from shared.learning.notes import Note, body_of
from shared.observability import alarm
from shared.ports import Condition, Delete, Write
from shared.storage import names
from shared.storage.preferences import preferences_of
from shared.storage.transactions import Once, Replayed, Stale
from shared.storage.vaults import Opened

TRIES = 8
BATCH = 50
_OFF = "Memory is switched off: the notes of this session wait until it is on again; `discard` drops them."
_WANTED = (names.SESSION, names.SETTINGS, names.ACTIVE)
Says = Callable[[Ended], str]
"""What is remembered of an end under an Idempotency-Key."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Ends sessions of owners."""

    kept: Kept
    accepting: Accepting

    def end(self, owner: str, *, discard: bool = False, once: Mark | None = None) -> Ended:
        """End the open session and hand its notes over, or drop them.

        Raises NotFound when none is open, NotPossibleNow while memory is off and notes wait; Busy; IdempotencyKeyReused with `once`.
        """
        try:
            ended = self._ended(owner, discard=discard, once=once)
        except Replayed as replayed:
            ended = as_ended(replayed.made)
        if ended is None:
            raise NotFound("No session is open.")
        return ended

    def end_only(
        self, owner: str, session_id: str, once: Mark | None = None, says: Says = ended_as, *, discard: bool = False
    ) -> Ended | None:
        """End that session if it is still open; None when it is not, or when its notes wait. Raises Busy; Replayed with `once`."""
        try:
            return self._ended(owner, discard=discard, only=session_id, once=once, says=says)
        except NotPossibleNow:
            return None

    def _ended(
        self,
        owner: str,
        *,
        discard: bool = False,
        only: str | None = None,
        once: Mark | None = None,
        says: Says = ended_as,
    ) -> Ended | None:
        for _ in range(TRIES):
            opened = self.kept.vaults.open(owner, _WANTED)
            item = opened.items.get(names.SESSION) if opened else None
            if opened is None:
                return None
            session = session_of(opened.keys, item) if item else None
            if session is None or only not in {None, session.id}:
                self.kept.refuse_again(opened, once)
                return None
            ended = self._tried(opened, session, once, says, discard=discard)
            if ended is not None:
                self.sweep(owner)
                return ended
        raise Busy

    def _tried(self, opened: Opened, session: Session, once: Mark | None, says: Says, *, discard: bool) -> Ended | None:
        """End the session as it was read; None when it has moved on."""
        if session.notes and not discard and not preferences_of(opened).enabled:
            raise NotPossibleNow(_OFF)
        count, notes = self.kept.notes(opened.keys, session.id)
        ending = Delete(names.SESSION, Condition(equals={"id": session.id, "notes": session.notes}))
        if count > session.notes:
            return None
        try:
            ended = self._end(
                opened, session, [] if discard else notes, ending, partial(_told, opened, once, session, says)
            )
        except Stale:
            self.kept.vaults.forget(opened.keys.owner)
            return None
        if ended is not None and count < session.notes:  # the notes were read after their count: somebody took one away
            alarm("damaged", session=session.id)
        return ended

    def sweep(self, owner: str) -> int:
        """Remove notes of sessions that have ended: those were handed over whole. Return how many there were."""
        table, swept = self.kept.vaults.table, 0
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

    def _end(
        self,
        opened: Opened,
        session: Session,
        notes: list[Note],
        ending: Write,
        told: Callable[[str | None], Once | None],
    ) -> Ended | None:
        if not notes:
            return Ended(session.id, session.notes, None) if self._drop(opened, session, ending, told(None)) else None
        conversation = as_conversation(notes, session.id, session.project, session.agent)
        task_id = self.accepting.hand_over(opened, conversation, [ending], session.size, told)
        return Ended(session.id, session.notes, task_id) if task_id else None

    def _drop(self, opened: Opened, session: Session, ending: Write, once: Once | None) -> bool:
        transaction = self.kept.transaction(opened.keys, once)
        transaction.add("also", ending)
        transaction.head({"bytes": -session.size} if session.size else {}, deleting=True)
        return self.kept.written(opened.keys, transaction)


def as_conversation(notes: Sequence[Note], session_id: str, project: str | None, agent: str | None) -> Conversation:
    """Return notes as the conversation that they are handed over as."""
    return Conversation(
        messages=tuple(Message("user", "\n".join((note.message, *note.key_points)), note.at) for note in notes),
        trigger=Trigger.MANUAL,
        project=project,
        agent=agent,
        session_id=session_id,
        notes=tuple(body_of(note) for note in notes),
    )


def _told(opened: Opened, once: Mark | None, session: Session, says: Says, task_id: str | None) -> Once | None:
    return marked(opened, once, says(Ended(session.id, session.notes, task_id)))
