"""Search: two steps with warm keys and index, three when cold, and one more to count the access (docs/architecture.md)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

import numpy as np

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Invalid, Refused, SealBroken, Unavailable
from shared.domain.memory import Category, Memory, Scope, Status
from shared.domain.naming import ALL_PROJECTS
from shared.domain.settings import Preferences
from shared.domain.times import epoch_seconds, rfc3339, zone
from shared.observability import warn
from shared.ports import Condition, Item, Queue, Update
from shared.recall.candidates import Share
from shared.recall.entries import CATEGORIES, STATUSES, Entry
from shared.recall.explaining import Explaining, Why
from shared.recall.feedback import fed
from shared.recall.index import Candidates, Index, Search, Where
from shared.recall.indexes import Indexes, Instead, NoIndex, entry_of, searchable, tag_bytes
from shared.recall.meaning import Asked, Meaning, blended, levelled
from shared.recall.ranking import PRESETS, Preset, QueryClass, Ranking, rank, signals
from shared.recall.versions import BESIDE, Find, newer_first
from shared.recall.versions import Question as Asking
from shared.storage import items, names, scenes
from shared.storage.builds import ask_for_build
from shared.storage.partition import each_item
from shared.storage.preferences import preferences_or_default
from shared.storage.together import each, together
from shared.storage.vaults import Opened
from shared.text.normalise import visible
from shared.text.tokens import Terms, query_terms

SPARE = 2
"""So many times the memories that are wanted of a scope are looked at, since some are known already, have ended or do not open."""
Reason = Literal["disabled", "only_newest"]
DAY = 86_400
"""Seconds: a span counted back from now has no hour more or less where clocks were changed."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for. `project` "*" means every project, ACTIVE_PROJECT the active one, None no project; memories of other agents
    are never found."""

    query: str
    project: str | None = None
    agent: str | None = None
    categories: frozenset[Category] = frozenset()
    limit: int | None = None
    preset: str = "default"
    query_class: QueryClass = "general"
    caps: Mapping[Scope, int] = field(default_factory=dict)
    """How many memories of a scope at most; scopes without a cap have only the limit."""
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that was found, with its score and every signal of the ranking; `why` where the question asked to explain."""

    memory: Memory
    score: float
    signals: dict[str, float] = field(default_factory=dict)
    why: Why | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a question: best first. `reason`: why nothing was looked for ("disabled"), or not among all ("only_newest")."""

    hits: tuple[Hit, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """What one search has read: items of candidates, and memories that the index does not know."""

    items: dict[str, Item]
    changed: dict[str, Memory]
    moved: set[str]
    """Memories that are gone or not of the version that the index knows: it says nothing of them."""

    def memory(self, keys: OwnerKeys, memory_id: str) -> Memory | None:
        """Open a memory that was read; None when it is gone or damaged."""
        item = self.items.get(names.MEMORY + memory_id)
        return self.changed.get(memory_id) or (_opened_or_none(keys, item) if item else None)


class Searcher:
    """The use case of `POST /v1/search`, and what `POST /v1/context` stands on."""

    def __init__(self, indexes: Indexes, maintenance: Queue, meaning: Meaning | None = None) -> None:
        self.indexes, self.vaults, self.maintenance, self.meaning = indexes, indexes.vaults, maintenance, meaning

    def search(self, owner: str, question: Question) -> Found:
        """Find memories and count that they were found. Nothing when the owner switched recall off, or when the query
        holds no word. Raises Invalid for a blank query, SealBroken."""
        if not visible(question.query):
            raise Invalid(details=[{"field": "query", "problem": "There is nothing to see in it."}])
        asked = self.ask(question.query)
        opened = self.open(owner, question.project)
        if opened is None:
            return Found()
        preferences = preferences_or_default(opened)
        if not preferences.enabled:
            return Found(reason="disabled")
        meant = replace(question, project=scenes.chosen(question.project, opened))
        hits = self.find(opened, meant, preferences, asked)
        self.count(opened.keys, [hit.memory.id for hit in hits])
        return Found(hits, "only_newest" if self.indexes.partial(opened) else None)

    def ask(self, query: str) -> Asked | None:
        """Begin to look up what a query means, beside all that is read; None without embeddings."""
        return self.meaning.ask(query) if self.meaning else None

    def open(self, owner: str, project: str | None = None, more: Sequence[str] = ()) -> Opened | None:
        """Read head, change rows, settings and the active project, `more` items by sort key, and the index when it is not warm."""
        wanted = [names.SETTINGS, names.ACTIVE, *more]
        opened = self.vaults.open(owner, wanted, changes=True, beside=partial(self.indexes.fetch, owner))
        if opened is not None and project == ALL_PROJECTS:
            return replace(opened, items=opened.items | self._projects(owner))
        return opened

    def _projects(self, owner: str) -> dict[str, Item]:
        return {str(item["sk"]): item for item in each_item(self.vaults.table, owner, names.PROJECT)}

    def find(
        self,
        opened: Opened,
        question: Question,
        preferences: Preferences,
        asked: Asked | None = None,
        index: Index | None = None,
    ) -> tuple[Hit, ...]:
        """Rank what the owner has for a question; by words alone unless it was `asked` what it means; who has the `index` gives it."""
        now = self.vaults.clock().astimezone(zone(preferences.time_zone))
        preset = PRESETS[question.preset]
        limit = question.limit or min(preferences.max_results, preset.limit)
        wanted = replace(question, limit=limit + BESIDE if preset.newer_first else limit)
        query = query_terms(question.query, now=now)
        if not query.weights:
            return ()
        scopes = self.scopes(opened, question.project, question.agent)
        where = _where(question, scopes, preferences, preset, now)
        index = self.index(opened) if index is None else index
        vector = asked.vector(index) if asked else None
        trust = self.meaning.embedder.trust if self.meaning and vector is not None else None
        near = partial(Search.candidates, k=limits.CANDIDATES, shares=shares(scopes, question.caps))
        near = partial(near, vector=vector, floor=trust.floor if trust else 0.0)
        first = near(index.search(query, where=where, masked=opened.changes))
        read = self._read(opened, first, index)
        entries = [_entry(opened, memory, now) for memory in read.changed.values()]
        masked = {*opened.changes, *read.moved}
        fresh: dict[str, Any] = {"changed": entries, "cache": self.indexes.terms, "owner": _life(opened)}
        found = near(index.search(query, where=where, masked=masked), among=first, **fresh) if read.moved else first
        if vector is None and preset.feedback and found.ids:
            best = read.memory(opened.keys, found.ids[0])
            held = [self._terms(opened, memory, now) for memory in read.changed.values()]
            more = fed(query, self._terms(opened, best, now), index, preset.feedback, masked, held) if best else None
            found = found.plus(index.search(more, masked=masked).scores(found, **fresh)) if more else found
        if trust:
            preset, found = blended(preset, trust), levelled(index, found, trust)
        ranking = self._ranked(found, read, scopes, preset, now, question.query_class)
        explaining = Explaining(question.query, ranking, now) if question.explain else None
        hits = self._winners(opened, found, read, ranking, wanted, explaining, now, preferences.retention_days)
        return tuple(_newer_first(Asking(question.query, query, index), hits) if preset.newer_first else hits)[:limit]

    def _terms(self, opened: Opened, memory: Memory, now: datetime) -> Terms:
        return self.indexes.terms.terms(_life(opened), _entry(opened, memory, now))

    def count(self, keys: OwnerKeys, ids: Sequence[str]) -> None:
        """Count an access of each memory, at once; only of those that still are there. Errors are ignored: a count is no promise."""
        now = rfc3339(self.vaults.clock())

        def touch(memory_id: str) -> None:
            change = Update(
                names.MEMORY + memory_id, set={"read_at": now}, add={"reads": 1}, condition=Condition(exists=True)
            )
            try:
                self.vaults.table.write(keys.owner, [change])
            except (Refused, Unavailable):
                return

        each(touch, ids)

    def scopes(self, opened: Opened, project: str | None, agent: str | None) -> dict[bytes, Scope]:
        """Return the tags of the scopes to search: the person's, the project's, the named agent's."""
        keys = opened.keys
        tags = {items.scope_tag(keys, Scope.USER, None, None): Scope.USER}
        if project == ALL_PROJECTS:
            projects = [sk.removeprefix(names.PROJECT) for sk in opened.items if sk.startswith(names.PROJECT)]
            tags |= dict.fromkeys(projects, Scope.PROJECT)
        elif project is not None:
            tags[items.scope_tag(keys, Scope.PROJECT, project, None)] = Scope.PROJECT
        if agent is not None:
            tags[items.scope_tag(keys, Scope.AGENT, None, agent)] = Scope.AGENT
            if project not in {None, ALL_PROJECTS}:
                tags[items.scope_tag(keys, Scope.AGENT, project, agent)] = Scope.AGENT
        return {tag_bytes(tag): scope for tag, scope in tags.items()}

    def changed(self, opened: Opened) -> list[Memory]:
        """Read the memories that the index does not know in their present state, in one step."""
        wanted = [names.MEMORY + memory_id for memory_id, version in opened.changes.items() if version]
        found = self.vaults.table.get(opened.keys.owner, wanted) if wanted else {}
        return [memory for item in found.values() if (memory := _opened_or_none(opened.keys, item)) is not None]

    def index(self, opened: Opened) -> Index:
        """Return the owner's index; without one, a build is asked for and the table itself is searched."""
        try:
            return self.indexes.read(opened)
        except NoIndex as lack:
            instead: Instead
            _, instead = together(partial(self.ask_for_build, opened), partial(self.indexes.instead, opened))
            warn("index_fallback", reason=lack.reason, memories=len(instead.index), whole=int(instead.whole))
            return instead.index

    def ask_for_build(self, opened: Opened) -> None:
        """Ask maintenance for an index; the next search asks again where this one cannot."""
        ask_for_build(self.maintenance, opened.keys.owner, opened.head)

    def _read(self, opened: Opened, first: Candidates, index: Index) -> _Read:
        """Read candidates and changed memories at once; one whose version is not the indexed one counts as changed.

        Many changes need a new index, and so do vectors of another model: it is asked for in the same step.
        """
        changed = [memory_id for memory_id, version in opened.changes.items() if version]
        wanted = [names.MEMORY + memory_id for memory_id in {*first.ids, *changed}]
        many = len(opened.changes) >= limits.CHANGE_ROWS
        other = self.meaning is not None and len(index) > 0 and index.columns.model != self.meaning.mark
        asking = [partial(self.ask_for_build, opened)] if many or other else []
        *_, found = together(*asking, partial(self.vaults.table.get, opened.keys.owner, wanted))
        versions = dict(zip(first.ids, first.versions.tolist(), strict=True))
        fresh: dict[str, Memory] = {}
        moved = set(first.ids) - {sk.removeprefix(names.MEMORY) for sk in found}
        for sk, item in found.items():
            memory_id = sk.removeprefix(names.MEMORY)
            if versions.get(memory_id) != item.get("version"):
                moved.add(memory_id)
                memory = _opened_or_none(opened.keys, item)
                if memory is not None and searchable(memory):
                    fresh[memory_id] = memory
        return _Read(found, fresh, moved)

    def _ranked(
        self,
        found: Candidates,
        read: _Read,
        scopes: Mapping[bytes, Scope],
        preset: Preset,
        now: datetime,
        query_class: QueryClass,
    ) -> Ranking:
        counted = [read.items.get(names.MEMORY + memory_id, {}).get("reads", 0) for memory_id in found.ids]
        reads = [count if isinstance(count, int) else 0 for count in counted]
        known = replace(signals(found, scopes), accesses=np.array(reads, np.float64))
        return rank(known, preset, now=now.timestamp(), query_class=query_class, limit=len(found.ids))

    def _winners(
        self,
        opened: Opened,
        found: Candidates,
        read: _Read,
        ranking: Ranking,
        wanted: Question,
        explaining: Explaining | None,
        now: datetime,
        retention_days: int,
    ) -> list[Hit]:
        """Open memories in their order until enough are found; an expired or damaged one is passed over, and one too many of its scope."""
        hits: list[Hit] = []
        taken: Counter[Scope] = Counter()
        for place, row in enumerate(ranking.order):
            memory_id = found.ids[row]
            memory = read.memory(opened.keys, memory_id)
            if memory is None or memory.expired(now, retention_days):
                continue
            if memory.scope in wanted.caps and taken[memory.scope] >= wanted.caps[memory.scope]:
                continue
            taken[memory.scope] += 1
            why = explaining.why(place, self._terms(opened, memory, now).counts.keys()) if explaining else None
            hits.append(Hit(memory, ranking.scores[place], ranking.explain(place), why))
            if len(hits) == wanted.limit:
                break
        return hits


def _newer_first(asking: Asking, hits: Sequence[Hit]) -> list[Hit]:
    finds = [Find(hit.memory.content, hit.memory.updated_at.timestamp(), hit.score) for hit in hits]
    return [_in_place(hits[at], hit.score) for at, hit in zip(newer_first(asking, finds), hits, strict=True)]


def _in_place(hit: Hit, score: float) -> Hit:
    """The hit with the score of the place that it comes to; what being newer or outdated gave or took counts as recency."""
    if hit.score == score:
        return hit
    why = hit.why and hit.why.plus("recency", score - hit.score)
    return replace(hit, score=score, why=why)


def _where(
    question: Question, scopes: Mapping[bytes, Scope], preferences: Preferences, preset: Preset, now: datetime
) -> Where:
    oldest = None
    days = min((d for d in (preferences.search_days, preset.days) if d > 0), default=-1)
    if days > 0:
        oldest = max(0, epoch_seconds(now) - days * DAY)
    return replace(
        lasting(preferences, now),
        scopes=frozenset(scopes),
        statuses=frozenset({STATUSES.index(Status.ACTIVE), STATUSES.index(Status.ARCHIVED)}),
        categories=frozenset(CATEGORIES.index(c) for c in question.categories) if question.categories else None,
        created_from=oldest,
    )


def shares(scopes: Mapping[bytes, Scope], caps: Mapping[Scope, int]) -> list[Share]:
    """Return the tags of each scope that has a cap, and how many of its memories are to be looked at: some more than are wanted."""
    tags: dict[Scope, set[bytes]] = {scope: set() for scope in caps}
    for tag, scope in scopes.items():
        if scope in caps:
            tags[scope].add(tag)
    return [(tags[scope], SPARE * cap) for scope, cap in caps.items()]


def lasting(preferences: Preferences, now: datetime) -> Where:
    """Return which memories have not ended."""
    kept = preferences.retention_days
    return Where(
        updated_from=max(0, epoch_seconds(now) - kept * DAY) if kept >= 0 else None, living_at=epoch_seconds(now)
    )


def _opened_or_none(keys: OwnerKeys, item: Item) -> Memory | None:
    try:
        return items.from_item(keys, item).memory
    except SealBroken:
        return None


def _entry(opened: Opened, memory: Memory, now: datetime) -> Entry:
    """What the index would know of a memory; `now` is in its owner's time zone."""
    return entry_of(opened.keys, memory, now.tzinfo or UTC)


def _life(opened: Opened) -> str:
    return f"{opened.keys.owner}/{opened.keys.epoch}"
