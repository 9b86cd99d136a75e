"""The account as a whole: erasing it. Its keys are destroyed before the answer; maintenance removes what they sealed."""

from contextlib import suppress
from dataclasses import dataclass

from shared.domain.errors import ConfirmationNeeded, Unavailable
from shared.ports import Queue
from shared.storage.erasure import Erasure, Receipt


@dataclass(frozen=True, slots=True)
class Account:
    """Owners' accounts."""

    erasure: Erasure
    maintenance: Queue

    def erase(self, owner: str, *, confirm: bool) -> Receipt | None:
        """Erase the owner; None when nothing was ever stored. From the answer on nothing of this life opens, and the same person may
        start anew as soon as everything is removed. Asked again it answers with the receipt as it then stands.

        Raises ConfirmationNeeded; Unavailable when it cannot be done now: it may be half done then, goes on by itself, and may be
        asked for again.
        """
        if not confirm:
            raise ConfirmationNeeded
        receipt = self.erasure.begin(owner)
        if receipt is not None and receipt.cleared_at is None:
            message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
            with suppress(Unavailable):  # the schedule finds it too
                self.maintenance.send(owner, message, deduplication=f"{owner[:40]}-erase-{receipt.epoch}")
        return receipt

    def receipt(self, owner: str) -> Receipt | None:
        """Return the receipt of the owner's last erasure; None when there was none."""
        return self.erasure.receipt(owner)

    def genuine(self, owner: str, receipt: Receipt) -> bool:
        """Tell whether this deployment signed that receipt for that owner."""
        return self.erasure.genuine(owner, receipt)
