"""What a model is shown of the memories, so that it can match and need not repeat.

Offered are automatic, active memories of the affected scopes; manual and imported ones never, dismissed ones as text only. Failing
to read them costs the matching, not the learning: exact doubles are found by their tags all the same.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice

from shared.domain import limits
from shared.domain.errors import NacreError, SealBroken
from shared.domain.memory import Memory, Scope, Source, Status
from shared.learning.conversation import Conversation
from shared.learning.extractor import Known
from shared.storage import items, names
from shared.storage.partition import latest_updates
from shared.storage.preferences import retention_days
from shared.storage.together import together
from shared.storage.vaults import Opened, Vaults

AUTOMATIC = frozenset({Source.AUTO, Source.CONSOLIDATED})
LISTED = 400
PAGES = 5
"""So many pages of LISTED memories are looked at per status, newest first, as long as the person's own do not fill the set."""
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
        active.sort(key=lambda memory: memory.scope is not Scope.USER)
        return Known(
            tuple((memory.id, memory.content) for memory in active[: limits.COMPARISON_SET]),
            tuple(memory.content for memory in dismissed[:DISMISSED]),
        )

    def _memories(self, opened: Opened, conversation: Conversation, status: Status) -> list[Memory]:
        found: list[Memory] = []
        now, days = self.vaults.clock(), retention_days(opened)
        pages = latest_updates(self.vaults.table, opened.keys.owner, status.value, limit=LISTED)
        for listed in islice(pages, PAGES):
            standing = [one for one in self._opened(opened, listed, status) if not one.expired(now, days)]
            found += [one for one in standing if _affected(one, conversation)]
            own = sum(memory.scope is Scope.USER for memory in found)
            if own >= limits.COMPARISON_SET:
                break
        return sorted(found, key=lambda memory: (memory.updated_at, memory.id), reverse=True)

    def _opened(self, opened: Opened, listed: Sequence[str], status: Status) -> Iterator[Memory]:
        """Yield those that have the status still, active ones only where they are automatic; damaged ones are left out."""
        found = self.vaults.table.get(opened.keys.owner, [names.MEMORY + key.rpartition("#")[2] for key in listed])
        for item in found.values():
            with suppress(SealBroken):
                memory = items.from_item(opened.keys, item).memory
                if memory.status is status and (status is not Status.ACTIVE or memory.source in AUTOMATIC):
                    yield memory


def _affected(memory: Memory, conversation: Conversation) -> bool:
    """Tell whether a conversation may learn into the scope of this memory."""
    if memory.scope is Scope.PROJECT:
        return memory.project is not None and memory.project == conversation.real_project()
    return memory.scope is Scope.USER
