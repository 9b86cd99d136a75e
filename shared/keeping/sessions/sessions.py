"""Sessions: notes are kept, sealed, as they are made; one session per owner is open at a time. How it ends is told in `ending`."""

from dataclasses import dataclass, replace
from functools import partial

from shared.domain import limits
from shared.domain.errors import Busy, NotPossibleNow
from shared.domain.ids import ulid
from shared.domain.memory import Memory, Scope
from shared.domain.naming import ACTIVE_PROJECT
from shared.domain.times import rfc3339
from shared.keeping.idempotency import Mark
from shared.keeping.memories import fields
from shared.keeping.memories.filters import Filters
from shared.keeping.memories.listing import Listing
from shared.keeping.sessions.ending import TRIES, Ending
from shared.keeping.sessions.kept import KIND, NOTE, Kept, marked, session_of
from shared.keeping.sessions.told import Begun, Ended, Noted, Session, as_begun, as_noted, begun_as, noted_as
from shared.learning.accepting import Accepting
from shared.learning.notes import SUPPRESSED, Judged, Note, body_of, judged, takes_back
from shared.ports import Condition, Delete, Item, Put, Update
from shared.storage import bodies, names, scenes
from shared.storage.preferences import preferences_of
from shared.storage.transactions import Limits, Once, Replayed
from shared.storage.vaults import Opened, Vaults
from shared.text.endings import ends, sums_up

DISABLED = "disabled"
_WANTED = (names.SESSION, names.SETTINGS, names.ACTIVE)


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions of owners."""

    vaults: Vaults
    bounds: Limits
    accepting: Accepting
    listing: Listing

    @property
    def kept(self) -> Kept:
        return Kept(self.vaults, self.bounds)

    @property
    def ending(self) -> Ending:
        return Ending(self.kept, self.accepting)

    def open(self, owner: str, project: str | None, agent: str | None, once: Mark | None = None) -> Begun:
        """Begin a session; the last one, if it is still open, ends first. While memory is off, one that has notes stays instead.

        Raises Invalid, QuotaExceeded, TableLost, Busy; IdempotencyKeyReused with `once`.
        """
        fields.no_credential(project=project, agent=agent)
        before: Ended | None = None
        for _ in range(TRIES):
            opened = self._opened(owner)
            off = not preferences_of(opened).enabled
            item = opened.items.get(names.SESSION)
            if item is not None:
                if (made := self.kept.made(opened, once)) is not None:
                    return self._again(opened, made)
                standing = session_of(opened.keys, item)
                if off and standing.notes:
                    return Begun(standing, before, [], DISABLED)
                before = self.ending.end_only(owner, standing.id) or before
                continue
            meant = scenes.chosen(project, opened)
            try:
                session = self._begin(opened, meant, agent, once, before)
            except Replayed as replayed:
                return self._again(opened, replayed.made)
            if session is not None:
                return (
                    Begun(session, before, [], DISABLED) if off else Begun(session, before, self._digest(owner, meant))
                )
        raise Busy

    def current(self, owner: str) -> Session | None:
        """Return the open session."""
        opened = self.vaults.open(owner, [names.SESSION])
        return self._standing(opened) if opened else None

    def end(self, owner: str, *, discard: bool = False, once: Mark | None = None) -> Ended:
        """End the open session and hand its notes over, or drop them. Raises as `Ending.end` does."""
        return self.ending.end(owner, discard=discard, once=once)

    def note(self, owner: str, note: Note, once: Mark | None = None) -> Noted:
        """Keep a note where its words ask for it, and end the session where they say so. Without an open session one begins.

        Raises Invalid, NotPossibleNow beyond NOTES of a session, QuotaExceeded, TableLost, Busy; IdempotencyKeyReused with `once`.
        """
        fields.no_credential(topic=note.topic)
        fields.tags(note.tags)
        for point in note.key_points:
            fields.content(point, "key_info")
        try:
            return self._noted(owner, note, once, over=ends(note.message) or sums_up(note.message))
        except Replayed as replayed:
            return as_noted(replayed.made)

    def _noted(self, owner: str, note: Note, once: Mark | None, *, over: bool) -> Noted:
        ended: Ended | None = None
        for _ in range(TRIES):
            opened = self._opened(owner)
            preferences = preferences_of(opened)
            if not preferences.enabled:
                return Noted(saved=False, reason=DISABLED, session_id=None)
            verdict = judged(note.message, note.key_points, preferences)
            if over and not note.key_points:
                verdict = Judged(saved=False, reason="ended")
            back = takes_back(note.message) if verdict.reason == SUPPRESSED else ""
            session = self._standing(opened)
            silent = session is not None and session.silent(self.vaults.clock())
            if session is None or over or silent:
                self.kept.refuse_again(opened, once)
            if session is None and not verdict.saved:
                of = ended.session_id if over and ended else None
                return Noted(saved=False, reason=verdict.reason, session_id=of, ended=ended)
            if session is None:
                self._begin(opened, scenes.chosen(ACTIVE_PROJECT, opened), None)
            elif silent and not back and (verdict.saved or not over):
                ended = self.ending.end_only(owner, session.id) or ended
            elif noted := self._kept(
                opened,
                session,
                note,
                Noted(verdict.saved, verdict.reason, session.id, ended),
                once,
                over=over,
                back=back,
            ):
                return noted
        raise Busy

    def _kept(
        self, opened: Opened, session: Session, note: Note, noted: Noted, once: Mark | None, *, over: bool, back: str
    ) -> Noted | None:
        """Keep a note that is to be kept, take back what is not, and end the session after a goodbye; None when the session is another
        one by now."""
        if noted.saved and session.notes >= limits.NOTES:
            raise NotPossibleNow(f"This session has {limits.NOTES} notes; finalize it first.")
        says = partial(_last, noted)
        ending = partial(self.ending.end_only, opened.keys.owner, session.id, once, lambda ended: noted_as(says(ended)))
        if back == "all" and session.notes:
            dropped = ending(discard=True)
            return says(dropped) if dropped else None
        if not over:
            mark = marked(opened, once, noted_as(noted))
            last = self.kept.last(opened.keys, session.id) if back and session.notes else None
            return noted if self._keep(opened, session, note if noted.saved else None, mark, gone=last) else None
        if noted.saved and not self._keep(opened, session, note):
            return None
        ended = ending()
        return says(ended) if ended else noted

    def _begin(
        self,
        opened: Opened,
        project: str | None,
        agent: str | None,
        once: Mark | None = None,
        before: Ended | None = None,
    ) -> Session | None:
        """Store a new session; None when another one was first."""
        keys, now = opened.keys, self.vaults.clock()
        session_id = ulid(now, self.vaults.random)
        sealed = keys.seal(KIND, session_id, 1, bodies.pack({"project": project, "agent": agent}), self.vaults.random)
        item: Item = {"sk": names.SESSION, "id": session_id, "started_at": rfc3339(now), "last_at": rfc3339(now)}
        item |= {"notes": 0, "size": 0, "gen": keys.generation, "sealed": sealed}
        transaction = self.kept.transaction(keys, marked(opened, once, begun_as(session_id, before)))
        transaction.add("also", Put(item, Condition(absent=True)))
        transaction.head({}, deleting=True)
        return session_of(keys, item) if self.kept.written(keys, transaction) else None

    def _keep(
        self,
        opened: Opened,
        session: Session,
        note: Note | None,
        once: Once | None = None,
        gone: Item | None = None,
    ) -> bool:
        """Store a note, or only that something was said, which takes one back that is `gone`; False when the session is another one by
        now, or that note is not there any more."""
        keys, now = opened.keys, self.vaults.clock()
        transaction = self.kept.transaction(keys, once)
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
        if gone is not None:
            size = -len(bytes(gone["sealed"]))  # type: ignore[arg-type]
            heard = replace(heard, add={"notes": -1, "size": size})
            transaction.add("also", Delete(str(gone["sk"]), Condition(exists=True)))
        transaction.add("also", heard)
        transaction.head({"bytes": size} if size else {}, deleting=size <= 0)
        return self.kept.written(keys, transaction)

    def _digest(self, owner: str, project: str | None) -> list[Memory]:
        """Return what was confirmed last of the person and of the project."""
        asked = [Filters(scope=Scope.USER)] + ([Filters(scope=Scope.PROJECT, project=project)] if project else [])
        found = [memory for one in asked for memory in self.listing.page(owner, one, limits.DIGEST, None).memories]
        return sorted(found, key=lambda memory: memory.updated_at, reverse=True)[: limits.DIGEST]

    def _standing(self, opened: Opened) -> Session | None:
        item = opened.items.get(names.SESSION)
        return session_of(opened.keys, item) if item else None

    def _opened(self, owner: str) -> Opened:
        return self.vaults.open_or_create(owner, _WANTED)

    def _again(self, opened: Opened, made: str) -> Begun:
        """Answer what a repeated request began: the session as it is now, if it is still open."""
        begun, ended = as_begun(made)
        current = self.current(opened.keys.owner)
        if current is None or current.id != begun.id:
            return Begun(begun, ended, [], replayed=True)
        if not preferences_of(opened).enabled:
            return Begun(current, ended, [], DISABLED, replayed=True)
        return Begun(current, ended, self._digest(opened.keys.owner, current.project), replayed=True)


def _last(noted: Noted, ended: Ended) -> Noted:
    """Return what became of a note that ended its session."""
    return replace(noted, ended=ended)
