"""Notes of the operator for agents: read and written with the permission `agents:write`, every change on record first.

They belong to the deployment and not to an owner: whoever the agent works for, it is told them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from shared.domain.errors import Invalid, SealBroken
from shared.domain.ids import ulid_time
from shared.keeping.audit import auditing
from shared.keeping.audit.auditing import Look
from shared.storage import agent_notes, lines, names
from shared.storage.agent_notes import BY, DEPLOYMENT, TEXT
from shared.storage.commit import Commits
from shared.storage.document_commits import END, DocumentCommits, End
from shared.storage.documents import Document
from shared.storage.vaults import Opened
from shared.text.normalise import visible
from shared.text.secrets import find

ACTION: Final = "agent_notes"
NEVER: Final = "0"
"""The ETag of notes that nobody ever wrote."""
CHANGES: Final = 20
"""Changes of an agent's notes that are told."""
LOOKED_AT: Final = 200
"""Entries of the deployment's list that these are looked for in, newest first."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What an agent is told (empty: nothing), since when and by whom, its ETag, and who changed it lately, newest first."""

    agent: str
    text: str = ""
    by: str | None = None
    at: datetime | None = None
    etag: str = NEVER
    changes: tuple[Look, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentNotes:
    """Notes for agents."""

    commits: Commits

    def read(self, agent: str) -> Notes:
        """Return an agent's notes, and who changed them lately. Three steps."""
        return self._shown(agent, agent_notes.read(self.commits.vaults, agent))

    def write(self, agent: str, text: str, by: str, etags: frozenset[str] | None = None) -> Notes:
        """Replace an agent's notes; an empty text takes them away. The change is on record before it is made.

        `etags`: what the caller's If-Match allows; None: any. Raises Invalid, VersionMismatch, Unavailable and what storing raises.
        """
        if text and not visible(text):
            raise Invalid.of("notes", "There is nothing to see in it.")
        if find(text):
            raise Invalid.of("notes", "It holds a credential, and every agent of that name would be told it.")
        vaults = self.commits.vaults
        opened = vaults.open_or_create(DEPLOYMENT)
        auditing.record(vaults, opened.keys, {"by": by, "action": ACTION, "agent": agent})
        allowed = etags and frozenset("" if tag == NEVER else tag for tag in etags)
        change = partial(_changed, text, by)
        document = DocumentCommits(self.commits).write(DEPLOYMENT, partial(_place, agent), change, allowed)
        return self._shown(agent, document)

    def _shown(self, agent: str, document: Document) -> Notes:
        text = agent_notes.text_of(document)
        at = ulid_time(document.latest) if document.latest else None
        changes = tuple(self._changes(agent))
        return Notes(agent, text, document.get(BY), at, document.latest or NEVER, changes)

    def _changes(self, agent: str) -> list[Look]:
        """Return the agent's last changes among the deployment's last entries; what does not open is left out."""
        vaults = self.commits.vaults
        opened = vaults.open(DEPLOYMENT)
        if opened is None:
            return []
        found: list[Look] = []
        for item in vaults.table.query(DEPLOYMENT, names.AUDIT, limit=LOOKED_AT, descending=True).items:
            try:
                look = auditing.read(opened.keys, item)
            except SealBroken:
                continue
            if look.agent == agent:
                found.append(look)
        return found[:CHANGES]


def _place(agent: str, opened: Opened) -> tuple[str, str]:
    return lines.AGENT_NOTES, agent_notes.tag_of(opened.keys, agent)


def _changed(text: str, by: str, _opened: Opened, standing: Document) -> Mapping[str, Any] | End | None:
    if text == agent_notes.text_of(standing):
        return None
    return {TEXT: text, BY: by} if text else END
