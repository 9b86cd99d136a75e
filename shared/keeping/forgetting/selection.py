"""Which memories a person means. Pure: every part that is given must hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from shared.domain.ids import ulid_time
from shared.domain.memory import Category, Memory, Scope, Source
from shared.domain.times import moment, rfc3339
from shared.learning.notes import NOTES
from shared.learning.placeholders import Placeholders, shown
from shared.text import han, scripts


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be forgotten. `since` ≤ created < `until`; `importance_below` excludes its own number; `words` must all stand in the
    text, the quote or the tags as they are shown, whatever their case and width; a secret is meant by all of it or not at all, for who can
    ask for a part of one finds out the rest. What was said or written after `asked_at` is never meant."""

    asked_at: datetime
    ids: frozenset[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    scope: Scope | None = None
    project: str | None = None
    agent: str | None = None
    category: Category | None = None
    importance_below: int | None = None
    words: tuple[str, ...] = ()

    def wants(self, memory: Memory) -> bool:
        """Tell whether a memory is meant."""
        place = (memory.scope, memory.project, memory.agent, memory.category, memory.importance)
        return (
            came_at(memory) <= self.asked_at
            and (self.ids is None or memory.id in self.ids)
            and self._at(memory.created_at)
            and self._of(*place)
            and self._says(memory)
        )

    def wants_planned(self, told: Mapping[str, Any], at: datetime) -> bool:
        """Tell whether a memory is meant that a dry run at that time would have made; its words are not looked at."""
        place = (told["scope"], told["project"], told["agent"], told["category"], told["importance"])
        return self.ids is None and at <= self.asked_at and self._at(at) and self._of(*place)

    def wants_unread(self, memory_id: str) -> bool | None:
        """Tell whether a memory of which only the id is known is meant; None where what it says would have to be known."""
        if ulid_time(memory_id) > self.asked_at or (self.ids is not None and memory_id not in self.ids):
            return False
        parts = (self.since, self.until, self.scope, self.project, self.agent, self.category, self.importance_below)
        return True if all(part is None for part in parts) and not self.words else None

    @property
    def asks_of_memories(self) -> bool:
        """Whether it asks for what something said does not have before it is a memory."""
        return any(part is not None for part in (self.scope, self.agent, self.category, self.importance_below))

    @property
    def takes_scenes(self) -> bool:
        """Whether it means a project as a whole, or everything."""
        other = (self.ids, self.since, self.until, self.words or None)
        return not self.asks_of_memories and all(part is None for part in other)

    def wants_said(self, texts: Sequence[str], project: str | None, at: datetime) -> bool:
        """Tell whether something said, which may become memories yet, is meant by its words, its project and its time alone."""
        return (
            self.ids is None
            and not self.asks_of_memories
            and at <= self.asked_at
            and self._at(at)
            and (self.project is None or self.project == project)
            and self._are_said(texts)
        )

    def finds(self, text: str, secrets: Iterable[str] = ()) -> bool:
        """Tell whether all words stand in a text without its secrets, or are secrets of it; where there are none, they do."""
        if not self.words:
            return True
        whole = {tuple(folded(secret).split()) for secret in secrets}
        said = folded(text)
        return self.words in whole or all(word in said or (word,) in whole for word in self.words)

    def _at(self, created_at: datetime) -> bool:
        return (self.since is None or created_at >= self.since) and (self.until is None or created_at < self.until)

    def _of(self, scope: str, project: str | None, agent: str | None, category: str, importance: int) -> bool:
        exact = ((self.scope, scope), (self.project, project), (self.agent, agent), (self.category, category))
        known = all(wanted is None or wanted == given for wanted, given in exact)
        return known and (self.importance_below is None or importance < self.importance_below)

    def _says(self, memory: Memory) -> bool:
        shown_of_it = (memory.content, memory.origin.quote or "", *memory.tags)
        return not self.words or self.finds(" ".join(shown_of_it), (value for _, value in memory.secrets))

    def _are_said(self, texts: Sequence[str]) -> bool:
        if not self.words:
            return True
        hidden = Placeholders.of(texts)
        return self.finds(shown("\n".join(hidden.texts)), hidden.values.values())

    def to_body(self) -> dict[str, Any]:
        """Return what is sealed of a selection."""
        body = {
            "asked_at": rfc3339(self.asked_at),
            "ids": sorted(self.ids) if self.ids is not None else None,
            "since": rfc3339(self.since) if self.since else None,
            "until": rfc3339(self.until) if self.until else None,
            "scope": self.scope,
            "project": self.project,
            "agent": self.agent,
            "category": self.category,
            "importance_below": self.importance_below,
            "words": list(self.words) or None,
        }
        return {name: value for name, value in body.items() if value is not None}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Read what `to_body` wrote."""
        return cls(
            asked_at=moment(body["asked_at"]),
            ids=frozenset(body["ids"]) if "ids" in body else None,
            since=moment(body["since"]) if "since" in body else None,
            until=moment(body["until"]) if "until" in body else None,
            scope=Scope(body["scope"]) if "scope" in body else None,
            project=body.get("project"),
            agent=body.get("agent"),
            category=Category(body["category"]) if "category" in body else None,
            importance_below=body.get("importance_below"),
            words=words_of(" ".join(body.get("words", ()))),
        )


def came_at(memory: Memory) -> datetime:
    """Return when what a memory says came in. Learning takes its time, and whoever asks in between means what was said before; a file's
    own times say nothing of when it was brought here."""
    origin = memory.origin
    begun = ulid_time(origin.task_id) if origin.task_id else memory.created_at
    if memory.source is Source.IMPORTED:
        return begun
    noted = origin.at if origin.model == NOTES and origin.at is not None else begun
    return min(memory.created_at, begun, noted)


def folded(text: str) -> str:
    """Return the text as words are compared, the way search does: without case, width, accents and invisible signs, and in simplified
    characters."""
    return han.simplified(scripts.folded(text))


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value but the names of its fields, sign by sign as it was said."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from strings(one)


def words_of(query: str) -> tuple[str, ...]:
    """Return the words of a query, which white space parts."""
    return tuple(folded(query).split())
