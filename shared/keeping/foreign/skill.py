"""Memory Skill: its export (one JSON document that holds the daily files) and the daily Markdown files themselves. Pure.

A daily file begins with `# 2026-01-29 对话记忆`; each `## Session 1 - 10:30:45` in it has a topic, key points and tags. A key point is one
memory; the topic stands for a session that has none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shared.domain import limits
from shared.domain.errors import Invalid
from shared.domain.memory import DEFAULT_PROJECT, Scope
from shared.keeping.foreign import terms
from shared.keeping.foreign.occasion import RECORDS, Occasion, Sent, taken, too_many, unlike
from shared.keeping.foreign.rows import UNSOUND, document, lines, looks_like_json, sound
from shared.keeping.foreign.times import when
from shared.keeping.importing.records import Reason, Record, Refusal
from shared.text.pattern import Pattern
from shared.text.secrets import find

SESSION: Final = Pattern(
    r"##[ \t]+Session(?:[ \t]+\d{1,9})?[ \t]+-[ \t]+(?P<time>\d{1,2}:\d\d(?::\d\d)?)[ \t]*", re.ASCII
)
_DAY: Final = Pattern(r"#[ \t]+(?P<day>\d{4}-\d\d-\d\d)(?:[ \t].*)?", re.ASCII)
_PART: Final = Pattern(r"###[ \t]+(?P<name>\S.*)")
_RULE: Final = "---"
_POINT: Final = "- "
_TOPIC, _POINTS, _TAGS = "topic", "points", "tags"
_PARTS: Final = {
    "主题": _TOPIC,
    "topic": _TOPIC,
    "关键信息": _POINTS,
    "key info": _POINTS,
    "key information": _POINTS,
    "标签": _TAGS,
    "tags": _TAGS,
}
_TOPIC_CHARACTERS: Final = 200
_PATH_PARTS: Final = Pattern(r"[^\\/]+")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the memories of an export belong."""

    scope: Scope = Scope.USER
    project: str | None = None


@dataclass(slots=True)
class _Session:
    """A session as far as it was read. `at` is its day and time as they are written; lines are numbered."""

    at: str = ""
    part: str | None = None
    topic: list[tuple[int, str]] = field(default_factory=list)
    points: list[tuple[int, str]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def take(self, number: int, line: str) -> bool:
        """Take a line into the part that it stands in; tell whether there is one for it."""
        if self.part == _TOPIC:
            self.topic.append((number, line.strip()))
        elif self.part == _TAGS:
            self.tags += line.split(maxsplit=terms.WORDS)[: terms.WORDS - len(self.tags)]
        elif self.part == _POINTS and line.startswith(_POINT):
            self.points.append((number, line.removeprefix(_POINT).strip()))
        elif self.part == _POINTS and self.points:
            first, begun = self.points[-1]
            if len(begun) <= 2 * limits.CONTENT_FULL_WIDTH:
                self.points[-1] = (first, f"{begun}\n{line.strip()}")
        else:
            return False
        if len(self.points) + len(self.topic) > RECORDS:
            raise too_many()
        return True


def is_export(found: Any) -> bool:
    """Tell whether a document is one of its exports."""
    return isinstance(found, dict) and isinstance(found.get("index"), dict) and "daily_files" in found


def read(text: str, occasion: Occasion) -> Iterator[Record | Refusal]:
    """Yield the memories of an export or of daily files. Raises Invalid for a document that is no export."""
    if not looks_like_json(text):
        yield from _daily(text, "", _Place(), occasion.after, occasion)
        return
    found = document(text)
    if not is_export(found):
        raise Invalid.of("data", "It is no export of Memory Skill.")
    place, number = _place(found.get("source")), occasion.after
    files = found["daily_files"] if isinstance(found["daily_files"], dict) else {}
    if len(files) > RECORDS:
        raise too_many()
    for day, daily in files.items():
        if isinstance(daily, str) and sound([day, daily]):
            yield from _daily(daily, day, place, number, occasion)
            number += daily.count("\n") + 1
        else:
            number += 1
            yield Refusal(number, Reason.INVALID, "daily_files")
    entries = found["index"].get("entries")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or entry.get("date") is UNSOUND or not _told(entry, files):
            number += 1
            yield Refusal(number, Reason.NO_CONTENT)


def _told(entry: Mapping[str, Any], files: Mapping[str, Any]) -> bool:
    day = entry.get("date")
    return isinstance(day, str) and day in files


def _place(source: object) -> _Place:
    """Return the project that an export was made in, by the last part of its path; the global one belongs to the user."""
    if not isinstance(source, dict) or source.get("location") == "global":
        return _Place()
    path = source.get("project_path")
    parts = _PATH_PARTS.findall(path) if isinstance(path, str) else []
    return _Place(Scope.PROJECT, parts[-1]) if parts and parts[-1] != DEFAULT_PROJECT else _Place()


def _daily(text: str, day: str, place: _Place, after: int, occasion: Occasion) -> Iterator[Record | Refusal]:
    session = None
    for number, line in lines(text):
        begins, headed = SESSION.fullmatch(line), _DAY.fullmatch(line)
        part = _PART.fullmatch(line) if session else None
        if headed or begins:
            yield from _memories(session, place, occasion)
            day = headed["day"] if headed else day
            session = _Session(f"{day} {begins['time']}".strip()) if begins else None
        elif session and part:
            session.part = _PARTS.get(part["name"].strip().casefold())
        elif not line.strip() or line.strip() == _RULE:
            continue
        elif session is None or not session.take(after + number, line):
            yield Refusal(after + number, Reason.UNKNOWN_KIND)
    yield from _memories(session, place, occasion)


def _memories(session: _Session | None, place: _Place, occasion: Occasion) -> Iterator[Record | Refusal]:
    """Yield the memories of a session that is read to its end."""
    if session is None:
        return
    for number, content in session.points or session.topic:
        yield taken(number, (content, session, place), _sent, occasion)


def _sent(row: tuple[str, _Session, _Place], occasion: Occasion) -> Sent:
    content, session, place = row
    try:
        created_at = when(session.at, occasion.zone) if " " in session.at else None
    except ValueError:
        raise unlike("created_at") from None
    topic = session.topic[0][1][:_TOPIC_CHARACTERS] if session.topic and session.points else ""
    return {
        "content": content,
        "scope": place.scope,
        "project": place.project,
        "tags": terms.tags(session.tags),
        "metadata": {"topic": topic} if topic and not find(topic) else None,
        "created_at": created_at,
        **terms.judged(content, terms.category(session.tags)),
    }
