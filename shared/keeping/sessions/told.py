"""What sessions answer, and how an answer is remembered under an Idempotency-Key: by ids, counts and its reason, without any text."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from shared.domain import limits
from shared.domain.ids import ulid_time
from shared.domain.memory import Memory
from shared.storage.transactions import Once

Told = Callable[[str], Once]
"""Makes the mark of a request from what it answers."""
_NONE = "-"


@dataclass(frozen=True, slots=True)
class Session:
    """A session: `size` are the sealed bytes of its notes. `ended`: it is over by now, and only its id and its beginning are known."""

    id: str
    started_at: datetime
    last_at: datetime
    notes: int
    size: int
    project: str | None
    agent: str | None
    ended: bool = False

    def silent(self, now: datetime) -> bool:
        """Whether nobody has said anything for half an hour: whoever comes next ends it."""
        return self.last_at + limits.SESSION_SILENCE <= now


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that ended: how many notes it had, and the task that learns from them (None: there were none, or they were dropped)."""

    session_id: str
    notes: int
    task_id: str | None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that begins: what became of the one before, and what was confirmed last of its project and of the person. `reason` says
    why there is nothing of the latter ("disabled": memory is switched off, and notes that lie in the session wait)."""

    session: Session
    ended: Ended | None
    digest: list[Memory]
    reason: str | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """What became of a note: whether it is kept, why, and the session that it ended, if it did."""

    saved: bool
    reason: str
    session_id: str | None
    ended: Ended | None = None
    replayed: bool = False


def ended_as(ended: Ended | None) -> str:
    """Return an end as it is remembered."""
    return " ".join((ended.session_id, str(ended.notes), ended.task_id or _NONE)) if ended else ""


def as_ended(made: str) -> Ended | None:
    """Read what `ended_as` wrote."""
    if not made:
        return None
    session_id, notes, task_id = made.split(" ")
    return Ended(session_id, int(notes), None if task_id == _NONE else task_id, replayed=True)


def noted_as(noted: Noted) -> str:
    """Return what became of a note as it is remembered."""
    return "|".join(
        (noted.reason if noted.saved else f"!{noted.reason}", noted.session_id or "", ended_as(noted.ended))
    )


def as_noted(made: str) -> Noted:
    """Read what `noted_as` wrote."""
    reason, session_id, ended = made.split("|")
    return Noted(not reason.startswith("!"), reason.lstrip("!"), session_id or None, as_ended(ended), replayed=True)


def begun_as(session_id: str, ended: Ended | None) -> str:
    """Return a beginning as it is remembered."""
    return f"{session_id}|{ended_as(ended)}"


def as_begun(made: str) -> tuple[Session, Ended | None]:
    """Read what `begun_as` wrote: the session as one that has ended."""
    session_id, ended = made.split("|")
    at = ulid_time(session_id)
    return Session(session_id, at, at, 0, 0, None, None, ended=True), as_ended(ended)
