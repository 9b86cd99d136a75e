"""What the operator says to the agent at hand, as the first section of its context.

Read beside everything else that a context reads, and kept for a minute: a change is told to every agent within it. Whatever fails there
costs the context only its notes.
"""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime
from functools import cache, partial
from threading import Lock

from shared.domain import limits
from shared.domain.errors import NacreError, SealBroken
from shared.observability import warn
from shared.recall.framing import Line, Section
from shared.storage import agent_notes
from shared.storage.vaults import Vaults

AGENTS = 1_000
"""Agents whose notes a process keeps."""
THREADS = 8


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads of its own: opening the deployment waits for calls of the common ones, and must not take their place meanwhile."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="noted")


class Noted:
    """Reads the notes of agents."""

    def __init__(self, vaults: Vaults) -> None:
        self.vaults = vaults
        self._kept: OrderedDict[str, tuple[str, datetime]] = OrderedDict()
        self._lock = Lock()

    def begin(self, agent: str | None) -> Callable[[], list[Section]]:
        """Begin to read an agent's notes, and return what waits for them. Three steps when nothing is warm, none within a minute."""
        if agent is None:
            return list
        kept = self._fresh(agent)
        if kept is not None:
            return partial(_sections, kept)
        return _pool().submit(copy_context().run, self._read, agent).result

    def _read(self, agent: str) -> list[Section]:
        try:
            text = agent_notes.text_of(agent_notes.read(self.vaults, agent))
        except (NacreError, SealBroken) as error:
            warn("notes_failed", error=type(error).__name__)
            return []
        self._keep(agent, text)
        return _sections(text)

    def _fresh(self, agent: str) -> str | None:
        with self._lock:
            text, since = self._kept.get(agent, ("", None))
        return text if since is not None and self.vaults.clock() - since < limits.AGENT_NOTES_CACHED else None

    def _keep(self, agent: str, text: str) -> None:
        with self._lock:
            self._kept[agent] = (text, self.vaults.clock())
            self._kept.move_to_end(agent)
            if len(self._kept) > AGENTS:
                self._kept.popitem(last=False)


def _sections(text: str) -> list[Section]:
    return [Section("notes", (Line(text),))] if text else []
