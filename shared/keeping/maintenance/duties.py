"""What the maintenance function is asked to do: by the schedule, by an operator, by a message."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.domain import limits
from shared.keeping.maintenance.due_owners import Scheduling
from shared.keeping.maintenance.tidying import Tidying
from shared.observability import concerning
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

    def ask(self, event: Mapping[str, Any]) -> dict[str, int]:
        """Ask for the maintenance of owners: `{"kind": "schedule"}` of those who are due, `{"kind": "rebuild"}` of everyone, due or not,
        who comes after the owner "after" where that is given; with "owner" of that one.

        Returns how many owners were asked for, and how far that got. Raises UnknownDuty.
        """
        kind, owner, after = (event.get(name) for name in ("kind", "owner", "after"))
        if any(value is not None and not (isinstance(value, str) and value) for value in (owner, after)):
            raise UnknownDuty
        if kind == "schedule":
            return self.scheduling.due()
        if kind == "rebuild" and owner:
            return self.scheduling.one(owner)
        if kind == "rebuild":
            return self.scheduling.everyone(after or "")
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

    def _tidy(self, owner: str, *, compare: bool, noticed: bool) -> dict[str, int]:
        """Go on with an erasure that waits, then tidy the life that there is."""
        until = self.scheduling.vaults.clock() + limits.ERASING_TIME
        erased = self.erasure.go_on(owner, lambda: self.scheduling.vaults.clock() < until)
        if erased is not None and erased.cleared_at is None:
            return {"erasing": 1}
        return self.tidying.tidy(owner, compare=compare, noticed=noticed) or {}

    def _do(self, body: str) -> dict[str, int]:
        try:
            message = json.loads(body)
            kind, version = message["kind"], message["v"]
        except (ValueError, KeyError, TypeError):
            raise UnknownDuty from None
        if version != MESSAGE:
            raise UnknownDuty
        if kind != "tidy":
            return self.ask(message)
        if not isinstance(message.get("owner"), str) or not message["owner"]:
            raise UnknownDuty
        compare, noticed = bool(message.get("compare")), bool(message.get("noticed"))
        with concerning(owner=message["owner"]):
            return self._tidy(message["owner"], compare=compare, noticed=noticed)
