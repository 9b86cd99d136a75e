"""Use cases of the admin function."""

from functools import cache

from shared import config
from shared.bootstrap import commits, random, vaults
from shared.keeping.audit.agent_notes import AgentNotes
from shared.keeping.audit.view import AuditView
from shared.keeping.cursors import Cursors
from shared.keeping.memories.listing import Listing


def permission_claim() -> str:
    """The claim of a token that grants permissions."""
    return config.permission_claim()


@cache
def audit_view() -> AuditView:
    return AuditView(Listing(vaults(), Cursors(random)))


@cache
def agent_notes() -> AgentNotes:
    return AgentNotes(commits())
