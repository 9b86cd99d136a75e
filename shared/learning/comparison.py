"""What a model is shown of the memories, so that it can match and need not repeat (B10).

Offered are automatic, active memories of the affected scopes; manual and imported ones never, dismissed ones as text only. Failing
to read them costs the matching, not the learning: exact doubles are found by their tags all the same.
"""

from dataclasses import dataclass
from functools import partial

from shared.domain import limits
from shared.domain.errors import NacreError, SealBroken
from shared.domain.memory import Memory, Scope, Source, Status
from shared.learning.conversation import Conversation
from shared.learning.extractor import Known
from shared.storage import items, names
from shared.storage.together import together
from shared.storage.vaults import Opened, Vaults

AUTOMATIC = frozenset({Source.AUTO, Source.CONSOLIDATED})
LISTED = 400
"""Memories looked at per status, newest first."""
DISMISSED = 100


@dataclass(frozen=True, slots=True)
class Comparison:
    """Reads the comparison set."""

    vaults: Vaults

    def known(self, opened: Opened, conversation: Conversation) -> Known:
        """Return at most COMPARISON_SET memories to match with, the person's before the project's, newest first, and what is dismissed."""
        try:
            active, dismissed = together(
                partial(self._memories, opened, conversation, Status.ACTIVE),
                partial(self._memories, opened, conversation, Status.DISMISSED),
            )
        except (NacreError, SealBroken):
            return Known()
        offered = [memory for memory in active if memory.source in AUTOMATIC]
        offered.sort(key=lambda memory: memory.scope is not Scope.USER)
        return Known(
            tuple((memory.id, memory.content) for memory in offered[: limits.COMPARISON_SET]),
            tuple(memory.content for memory in dismissed[:DISMISSED]),
        )

    def _memories(self, opened: Opened, conversation: Conversation, status: Status) -> list[Memory]:
        table, owner = self.vaults.table, opened.keys.owner
        listed = table.by_update(owner, status.value, limit=LISTED)
        found = table.get(owner, [names.MEMORY + key.rpartition("#")[2] for key in listed])
        memories: list[Memory] = []
        for item in found.values():
            try:
                memory = items.from_item(opened.keys, item).memory
            except SealBroken:
                continue
            if memory.status is status and _affected(memory, conversation):
                memories.append(memory)
        return sorted(memories, key=lambda memory: (memory.updated_at, memory.id), reverse=True)


def _affected(memory: Memory, conversation: Conversation) -> bool:
    """Tell whether a conversation may learn into the scope of this memory."""
    if memory.scope is Scope.PROJECT:
        return memory.project is not None and memory.project == conversation.real_project()
    return memory.scope is Scope.USER
