"""The step of maintenance that ends a session in which nobody has said anything for half an hour."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain import limits
from shared.keeping.maintenance.visits import Visit
from shared.keeping.sessions.sessions import Sessions


@dataclass(frozen=True, slots=True)
class SilentSessions:
    """Ends the open session when it has been silent for SESSION_SILENCE, and removes notes that were handed over."""

    sessions: Sessions
    name: str = "sessions"

    def run(self, visit: Visit) -> Mapping[str, int]:
        swept = self.sessions.sweep(visit.owner)
        session = self.sessions.current(visit.owner)
        if session is None:
            return {"swept": swept}
        over = session.last_at + limits.SESSION_SILENCE
        if over > visit.vaults.clock():
            visit.look_again(over)
            return {"swept": swept}
        ended = self.sessions.end(visit.owner, must=False)
        return {"swept": swept, "ended": int(ended is not None)}
