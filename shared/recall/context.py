"""Context: what an agent is told before it answers. Decides whether to recall at all, finds memories, packs them to a budget.

Any failure gives an empty context and a reason: memory must never stop the chat.
"""

from dataclasses import dataclass
from functools import partial

from shared.domain import limits
from shared.domain.errors import NacreError, SealBroken
from shared.domain.memory import Memory, Scope, Status
from shared.domain.naming import ALL_PROJECTS
from shared.ports import Item
from shared.recall.framing import framed
from shared.recall.meaning import Asked
from shared.recall.search import Question, Searcher
from shared.storage import items, names
from shared.storage.preferences import preferences_of
from shared.storage.together import together
from shared.storage.vaults import Opened
from shared.text.intent import Intent, classify
from shared.text.normalise import has_words, language

RECENT = 100
"""Memories looked at, newest first, when there is no query or broad recall fills up."""
GOOD_COVERAGE = 0.5
"""Share of the query's words that the best hit must hold for a weak signal to recall."""
BROAD_BELOW = 3
"""A question about the person, or a forced recall, with fewer hits is filled up with recent and important memories."""
CAPS = {Scope.AGENT: limits.CONTEXT_USER, Scope.PROJECT: limits.CONTEXT_PROJECT, Scope.USER: limits.CONTEXT_USER}


@dataclass(frozen=True, slots=True)
class Moment:
    """What the agent is about to answer."""

    message: str | None = None
    project: str | None = None
    agent: str | None = None
    new_session: bool = True
    token_budget: int = limits.TOKEN_BUDGET_DEFAULT
    force: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The text to put before the agent (empty: nothing), its size in estimated tokens, and why it is as it is."""

    text: str = ""
    tokens: int = 0
    recalled: bool = False
    intent: str = "none"
    memory_ids: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Contexts:
    """The use case of `POST /v1/context`. Two steps with warm keys and index, three when cold; one more counts the access."""

    searcher: Searcher

    def context(self, owner: str, moment: Moment) -> Context:
        """Return the context of a moment; never raises."""
        intent = classify(moment.message or "", moment.new_session)
        kind = "forced" if moment.force else intent.kind if moment.message else "session"
        try:
            return self._context(owner, moment, intent, kind)
        except NacreError as error:
            return Context(intent=kind, reason=error.code)
        except SealBroken:
            return Context(intent=kind, reason="damaged")
        except Exception:  # noqa: BLE001 - the promise of this route: a chat goes on without its memory
            return Context(intent=kind, reason="unavailable")

    def _context(self, owner: str, moment: Moment, intent: Intent, kind: str) -> Context:
        asked = bool(moment.message and has_words(moment.message))
        if not moment.force and asked and intent.recall == "no":
            return Context(intent=kind, reason="not_asked_for")
        newest = partial(self.searcher.vaults.table.by_update, owner, Status.ACTIVE.value, limit=RECENT)
        about_person = intent.identity or (intent.weak_identity and intent.recall == "yes")
        broad = not asked or moment.force or about_person
        meaning = self.searcher.ask(_query(moment)) if asked else None
        *listed, opened = together(*([newest] if broad else []), partial(self.searcher.open, owner, moment.project))
        if opened is None:
            return Context(intent=kind, reason="nothing_known")
        preferences = preferences_of(opened)
        if not preferences.enabled:
            return Context(intent=kind, reason="disabled")
        if not preferences.auto_retrieve and not moment.force:
            return Context(intent=kind, reason="auto_retrieve_off")
        recent = partial(self._recent, opened, listed[0]) if broad else dict
        found = partial(self._found, opened, moment, intent, meaning) if asked else list
        stored, memories = together(recent, found)  # one step, since an identity question may need both
        if broad and len(memories) < (BROAD_BELOW if asked else 1):
            memories = memories + self._broad(opened, moment, stored, {memory.id for memory in memories})
        chosen = _capped(memories)
        if not chosen:
            return Context(intent=kind, reason="nothing_found")
        tongue = preferences.language or language(moment.message or chosen[0].content)
        text, tokens, told = framed(chosen, moment.token_budget, tongue, reveal=preferences.credentials_in_context)
        self.searcher.count(opened.keys, told)
        return Context(text, tokens, bool(told), kind, tuple(told), None if told else "budget_too_small")

    def _found(self, opened: Opened, moment: Moment, intent: Intent, meaning: Asked | None) -> list[Memory]:
        """Return what the message finds; a weak signal recalls only when the best hit is good."""
        question = Question(
            query=_query(moment),
            project=moment.project,
            agent=moment.agent,
            limit=sum(CAPS.values()),
            query_class=intent.query_class,
            caps=CAPS,
        )
        hits = self.searcher.find(opened, question, preferences_of(opened), meaning)
        weak = intent.recall == "if_good" and not moment.force
        if weak and (not hits or max(hit.signals["coverage"] for hit in hits) < GOOD_COVERAGE):
            return []
        return [hit.memory for hit in hits]

    def _recent(self, opened: Opened, newest: list[str]) -> dict[str, Item]:
        """Read the newest memories as the table's index lists them, and those that changed since that index."""
        ids = {key.partition("#")[2] for key in newest} | {i for i, version in opened.changes.items() if version}
        return self.searcher.vaults.table.get(opened.keys.owner, [names.MEMORY + memory_id for memory_id in ids])

    def _broad(self, opened: Opened, moment: Moment, recent: dict[str, Item], known: set[str]) -> list[Memory]:
        """Return the recent memories of the scopes at hand but for the known ones; important ones first where a question stands
        behind it, newest confirmed first where none does."""
        now, days = self.searcher.vaults.clock(), preferences_of(opened).retention_days
        memories: list[Memory] = []
        for sk, item in recent.items():
            if sk.removeprefix(names.MEMORY) in known:
                continue
            try:
                memory = items.from_item(opened.keys, item).memory
            except SealBroken:
                continue
            if memory.status is Status.ACTIVE and not memory.expired(now, days) and _at_hand(memory, moment):
                memories.append(memory)
        memories.sort(key=lambda memory: (memory.updated_at, memory.id), reverse=True)
        if moment.message:
            memories.sort(key=lambda memory: memory.importance, reverse=True)
        return memories


def _at_hand(memory: Memory, moment: Moment) -> bool:
    if memory.scope is Scope.PROJECT:
        return moment.project in {ALL_PROJECTS, memory.project}
    if memory.scope is Scope.AGENT:
        return memory.agent == moment.agent and (
            memory.project is None or moment.project in {ALL_PROJECTS, memory.project}
        )
    return True


def _query(moment: Moment) -> str:
    return (moment.message or "")[: limits.QUERY_CHARACTERS]


def _capped(memories: list[Memory]) -> list[Memory]:
    """Order by scope, agent → project → user, and keep the first few of each."""
    return [
        memory
        for scope, cap in CAPS.items()
        for memory in [memory for memory in memories if memory.scope is scope][:cap]
    ]
