"""The auditor's look at another person's memory: read-only, and on that person's own list before anything of it is answered.

Whoever has nothing stored, was erased or never was has the same empty page, so that nobody learns who exists.
"""

from dataclasses import dataclass

from shared.crypto.owners import owner_name
from shared.domain.permissions import Caller
from shared.keeping.audit import auditing
from shared.keeping.audit.auditing import AUDITOR, Action
from shared.keeping.memories.filters import Filters
from shared.keeping.memories.listing import Listed, Listing
from shared.observability import concerning


@dataclass(frozen=True, slots=True)
class AuditView:
    """What auditors see."""

    listing: Listing

    def look(
        self, auditor: Caller, user_id: str, reason: str, filters: Filters, limit: int, cursor: str | None
    ) -> Listed:
        """Return a page of the memories of the person whose tokens have that subject, of the auditor's own issuer. Secrets stay masked.

        Every page is one entry of the person's audit list, with the auditor and the reason. It is read first and told only when the entry
        stands, so that no life that begins in between is seen unrecorded. Two steps more than a list. Raises InvalidCursor, TableLost;
        Unavailable when it cannot be recorded.
        """
        owner = owner_name(auditor.issuer, user_id)
        with concerning(owner=owner):
            listed = self.listing.page(owner, filters, limit, cursor)
        vaults = self.listing.vaults
        opened = vaults.open(owner)
        if opened is None:
            return Listed([], None, 0)
        detail = {"by": AUDITOR + auditor.subject, "action": Action.READ.value, "reason": reason}
        auditing.record(vaults, opened.keys, detail)
        return listed
