"""What the maintenance function is asked to do: by the schedule, by an operator, by a message."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shared.domain import limits
from shared.domain.times import moment
from shared.keeping.scheduling import Scheduling
from shared.keeping.tidying import Tidying
from shared.storage.erasure import Erasure

MESSAGE = 1


class UnknownDuty(Exception):
    """Nobody of ours asks for this: a message goes to the dead-letter queue, where an alarm tells of it."""


@dataclass(frozen=True, slots=True)
class Duties:
    """Does what is asked."""

    scheduling: Scheduling
    tidying: Tidying
    erasure: Erasure

    def ask(self, event: Mapping[str, Any]) -> int:
        """Fan out: `{"kind": "schedule"}` for all who are due (with "before", an RFC 3339 time: due until then), `{"kind": "rebuild"}` for
        everyone, due or not. Returns the number of owners asked for. Raises UnknownDuty."""
        kind, before = event.get("kind"), event.get("before")
        if kind == "schedule":
            return self.scheduling.due(moment(before) if before else None)
        if kind == "rebuild":
            return self.scheduling.everyone()
        raise UnknownDuty

    def do(self, body: str, receipt: str) -> dict[str, int]:
        """Do what one message of the maintenance queue says and return counts for the log.

        A failure shortens the message's own visibility, so that its owner does not wait for hours, and is raised. Raises UnknownDuty.
        """
        try:
            return self._do(body)
        except Exception:
            self.scheduling.maintenance.release(receipt, seconds=limits.RETRY_VISIBILITY_SECONDS)
            raise

    def _tidy(self, owner: str) -> dict[str, int]:
        """Go on with an erasure that waits, then tidy the life that there is."""
        until = self.scheduling.vaults.clock() + limits.ERASING_TIME
        erased = self.erasure.go_on(owner, lambda: self.scheduling.vaults.clock() < until)
        if erased is not None and erased.cleared_at is None:
            return {"erasing": 1}
        tidied = self.tidying.tidy(owner)
        return {name: int(count) for name, count in asdict(tidied).items() if count} if tidied else {}

    def _do(self, body: str) -> dict[str, int]:
        try:
            message = json.loads(body)
            kind, version = message["kind"], message["v"]
        except (ValueError, KeyError, TypeError):
            raise UnknownDuty from None
        if version == MESSAGE and kind == "tidy" and isinstance(message.get("owner"), str) and message["owner"]:
            return self._tidy(message["owner"])
        if version == MESSAGE and kind == "rebuild" and isinstance(message.get("after"), str):
            return {"owners": self.scheduling.everyone(message["after"])}
        raise UnknownDuty
