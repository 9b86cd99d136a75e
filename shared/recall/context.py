"""Context: what an agent is told before it answers. Decides whether to recall at all, finds memories, packs them to a budget.

Any failure gives an empty context and a reason, within a second: memory must never stop the chat.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Busy, KeysBroken, SealBroken, TableLost
from shared.domain.memory import Category, Memory, Scope, Status
from shared.domain.naming import ACTIVE_PROJECT, ALL_PROJECTS
from shared.domain.settings import Preferences
from shared.domain.times import zone
from shared.observability import warn
from shared.ports import Item
from shared.recall import portrayed
from shared.recall.deadline import Deadline
from shared.recall.entries import STATUSES
from shared.recall.filling import Filling, chosen
from shared.recall.framing import Section, memory_sections, packed
from shared.recall.index import Index
from shared.recall.known import Known
from shared.recall.meaning import Asked
from shared.recall.noted import Noted
from shared.recall.search import Question, Searcher, lasting, shares
from shared.storage import items, names, scenes
from shared.storage.preferences import preferences_of
from shared.storage.together import together
from shared.storage.vaults import Opened
from shared.text.going_on import topic
from shared.text.intent import CustomWords, Decision, Kind, decide
from shared.text.keywords import words_of
from shared.text.normalise import full_width_length, has_words, language

SUGGESTED = 100
"""Suggestions looked at for accepted ones, newest first; those that were dismissed or ended are among them."""
GOOD_COVERAGE = 0.4
"""Share of the query's words that the best hit must hold for a weak signal to recall (docs/decisions/context.md)."""
Intent = Literal[Kind, "session", "forced"]
"""What a message is taken for; a context without a message is a session's, and one that is forced is that."""
Reason = Literal[
    "not_asked_for",
    "nothing_known",
    "nothing_found",
    "budget_too_small",
    "timeout",
    "disabled",
    "auto_retrieve_off",
    "damaged",
    "unavailable",
    "rebuilding",
    "busy",
]
"""Why a context tells no memories."""
NEWEST = Filling(below=1)
"""Where there is nothing to look for, or a message only goes on."""
BROAD = Filling(below=3, by_importance=True)
"""A question about the person, or a forced recall, with fewer hits is filled up with recent and important memories."""
CODE = Filling(
    below=3,
    by_importance=True,
    stack_first=True,
    categories=frozenset({Category.PREFERENCE, Category.CONSTRAINT}),
    most=3,
)
"""Who wants code written wants it in their own way, though they seldom say so in the words in which they once told it."""
GOES_ON = frozenset({"signal_continuation", "signal_time", "signal_project"})
SHORT = 15
"""Full-width signs of a message that only goes on ("let's continue", 接着上次的来): no memory holds its words, the newest are meant."""
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

    @property
    def asked(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.message and has_words(self.message))

    @property
    def query(self) -> str:
        """What is looked for: of a long message its beginning and its end, for a question follows a paste as often as it precedes it."""
        message, half = self.message or "", limits.QUERY_CHARACTERS // 2
        return message if len(message) <= 2 * half else f"{message[:half]} {message[1 - half :]}"

    def decided(self, owners_words: CustomWords | None = None) -> Decision:
        """Judge the message."""
        return decide(self.message or "", new_session=self.new_session, custom=owners_words)

    def looked_for(self, decision: Decision) -> str:
        """What is looked for of a message that goes on with something: its topic, for no memory is meant that holds 继续 itself."""
        return topic(self.query) if decision.reason in GOES_ON - {"signal_project"} else self.query

    def recalls(self, decision: Decision) -> bool:
        """Whether memories are looked for."""
        return self.force or not self.message or decision.recall != "no"

    def fillings(self, decision: Decision) -> tuple[Filling, ...]:
        """What joins the finds where they are too few, one after the other; none: as many as there are will do."""
        if not self.asked:
            return (NEWEST,)
        if self.force or decision.broad or (decision.weak_identity and decision.recall == "yes"):
            return (BROAD,)
        code = (CODE,) if decision.query_class == "code" and decision.recall == "yes" else ()
        short = full_width_length(self.message or "") <= SHORT
        if decision.reason in GOES_ON and (short or not has_words(self.looked_for(decision))):
            return (NEWEST, *code)
        return code


@dataclass(frozen=True, slots=True)
class Context:
    """The text to put before the agent (empty: nothing), its size in estimated tokens, and why it is as it is.

    `intent` is what the message was taken for and `decision` why; `reason` says why there are no memories in the text.
    """

    decision: Decision
    intent: Intent
    text: str = ""
    tokens: int = 0
    memory_ids: tuple[str, ...] = ()
    reason: Reason | None = None

    @property
    def recalled(self) -> bool:
        return bool(self.memory_ids)


class Contexts:
    """The use case of `POST /v1/context`. Two steps with warm keys and index, three when cold; one more counts the access.

    `seconds` are for everything: with 0.9, an answer is there within a second.
    """

    def __init__(self, searcher: Searcher, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.searcher, self.known, self.noted = searcher, Known(searcher.vaults), Noted(searcher.vaults)
        self.seconds, self.monotonic = seconds, monotonic

    def context(self, owner: str, moment: Moment) -> Context:
        """Return the context of a moment; never raises. What is not there in time counts as failed, with the reason `timeout`."""
        deadline = Deadline(self.seconds, self.monotonic)
        empty = _empty(moment, moment.decided())
        try:
            context, keys = deadline.wait(partial(self._context, owner, moment, empty))
        except Exception as error:  # noqa: BLE001 - the promise of this route: a chat goes on without its memory
            reason = _reason(error)
            warn("context_failed", reason=reason, error=type(error).__name__)
            return replace(empty, reason=reason)
        if keys and context.memory_ids:
            with suppress(Exception):  # a count is no promise, and the text is there
                deadline.wait(partial(self.searcher.count, keys, context.memory_ids))
        return context

    def _context(self, owner: str, moment: Moment, empty: Context) -> tuple[Context, OwnerKeys | None]:
        notes = self.noted.begin(moment.agent)
        query = moment.looked_for(empty.decision) if moment.asked and moment.recalls(empty.decision) else ""
        meaning = self.searcher.ask(query) if has_words(query) else None
        beginning = partial(self.known.begin, owner, moment.project)
        suggested = partial(self.searcher.vaults.table.query, owner, names.SUGGESTION, limit=SUGGESTED, descending=True)
        opening = partial(self.searcher.open, owner, moment.project, [names.PERSONA])
        begun, suggestions, opened = together(beginning, suggested, opening)
        if opened is None:
            return replace(_told(empty, moment, Preferences(), notes(), []), reason="nothing_known"), None
        preferences = preferences_of(opened)
        if not preferences.enabled:
            return replace(empty, reason="disabled"), None
        if not preferences.auto_retrieve and not moment.force:
            return replace(empty, reason="auto_retrieve_off"), None
        if moment.project == ACTIVE_PROJECT:
            self.known.remember(opened, scenes.active_project(opened))
        moment = replace(moment, project=scenes.chosen(moment.project, opened))
        judged = _empty(moment, moment.decided(_owners_words(preferences)))
        scene = partial(self.known.sections, opened, moment.project, begun)
        vaults, items_of = self.searcher.vaults, suggestions.items
        person = partial(portrayed.sections, vaults, opened, moment.project, moment.agent, items_of)
        remembering = partial(self._memories, opened, moment, judged.decision, meaning)
        told, known, memories = together(scene, person, remembering)
        return _told(judged, moment, preferences, notes() + told + known, memories), opened.keys

    def _memories(self, opened: Opened, moment: Moment, decision: Decision, meaning: Asked | None) -> list[Memory]:
        """Return what the message finds, and what fills it up, at most so many of each scope."""
        if not moment.recalls(decision):
            return []
        index = self.searcher.index(opened)
        fillings = moment.fillings(decision)
        more = partial(self._more, opened, moment, fillings, index) if fillings else dict
        found = partial(self._found, opened, moment, decision, meaning, index) if moment.asked else list
        stored, memories = together(more, found)  # one step, since an identity question may need both
        for filling in fillings:
            if len(memories) < filling.below:
                known = {memory.id for memory in memories}
                memories = memories + self._filled(opened, moment, filling, stored, known)
        return _capped(memories)

    def _found(
        self, opened: Opened, moment: Moment, decision: Decision, meaning: Asked | None, index: Index
    ) -> list[Memory]:
        """Return what the message finds; a weak signal recalls only when the best hit is good."""
        question = Question(
            query=moment.looked_for(decision),
            project=moment.project,
            agent=moment.agent,
            limit=sum(CAPS.values()),
            query_class=decision.query_class,
            caps=CAPS,
        )
        hits = self.searcher.find(opened, question, preferences_of(opened), meaning, index)
        weak = decision.recall == "if_good" and not moment.force
        if weak and (not hits or max(hit.signals["coverage"] for hit in hits) < GOOD_COVERAGE):
            return []
        return [hit.memory for hit in hits]

    def _more(self, opened: Opened, moment: Moment, fillings: Sequence[Filling], index: Index) -> dict[str, Item]:
        """Read what may fill up: what the index says of the scopes at hand, and all that changed since it was built."""
        scopes = self.searcher.scopes(opened, moment.project, moment.agent)
        where = replace(
            lasting(preferences_of(opened), self.searcher.vaults.clock()),
            statuses=frozenset({STATUSES.index(Status.ACTIVE)}),
        )
        ids = {i for i, version in opened.changes.items() if version}
        for filling in fillings:
            ids.update(chosen(filling, index, where, shares(scopes, CAPS), opened.changes))
        return self.searcher.vaults.table.get(opened.keys.owner, [names.MEMORY + memory_id for memory_id in ids])

    def _filled(
        self, opened: Opened, moment: Moment, filling: Filling, stored: dict[str, Item], known: set[str]
    ) -> list[Memory]:
        """Return the stored memories of the scopes at hand but for the known ones, in the order that they fill up in."""
        now, days = self.searcher.vaults.clock(), preferences_of(opened).retention_days
        memories: list[Memory] = []
        for sk, item in stored.items():
            if sk.removeprefix(names.MEMORY) in known:
                continue
            try:
                memory = items.from_item(opened.keys, item).memory
            except SealBroken:
                continue
            if memory.status is Status.ACTIVE and not memory.expired(now, days) and _at_hand(memory, moment):
                memories.append(memory)
        return filling.ordered(memories)


def _at_hand(memory: Memory, moment: Moment) -> bool:
    if memory.scope is Scope.PROJECT:
        return moment.project in {ALL_PROJECTS, memory.project}
    if memory.scope is Scope.AGENT:
        return memory.agent == moment.agent and (
            memory.project is None or moment.project in {ALL_PROJECTS, memory.project}
        )
    return True


def _reason(error: Exception) -> Reason:
    known: dict[type[Exception], Reason] = {
        TimeoutError: "timeout",
        SealBroken: "damaged",
        KeysBroken: "damaged",
        TableLost: "rebuilding",
        Busy: "busy",
    }
    return known.get(type(error), "unavailable")


def _empty(moment: Moment, decision: Decision) -> Context:
    kind: Intent = "forced" if moment.force else decision.kind if moment.message else "session"
    return Context(decision, kind)


def _owners_words(preferences: Preferences) -> CustomWords:
    return CustomWords(words_of(preferences.custom_keywords.items()), words_of(preferences.excluded_keywords.items()))


def _told(
    judged: Context, moment: Moment, preferences: Preferences, sections: list[Section], memories: list[Memory]
) -> Context:
    """Pack what is known, and say why no memory is told where none is."""
    sections = sections + memory_sections(
        memories, zone(preferences.time_zone), reveal=preferences.credentials_in_context
    )
    said = moment.message or " ".join(line.text for section in sections for line in section.lines[:1])
    text, tokens, told = packed(sections, moment.token_budget, preferences.language or language(said))
    reason: Reason | None = None
    if not told:
        missing: Reason = "nothing_found" if moment.recalls(judged.decision) else "not_asked_for"
        reason = "budget_too_small" if memories else missing
    return replace(judged, text=text, tokens=tokens, memory_ids=tuple(told), reason=reason)


def _capped(memories: list[Memory]) -> list[Memory]:
    """Order by scope, agent → project → user, and keep the first few of each."""
    return [
        memory
        for scope, cap in CAPS.items()
        for memory in [memory for memory in memories if memory.scope is scope][:cap]
    ]
