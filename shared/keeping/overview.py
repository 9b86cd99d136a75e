"""What an owner has, counted: storage against quota, and the projects that have memories."""

from dataclasses import dataclass
from datetime import datetime

from shared.domain.task import SPENT
from shared.keeping.cursors import Cursors
from shared.keeping.scenes.scenes import opened_scenes
from shared.ports import Item
from shared.storage import basis, names, scenes
from shared.storage.commit import Commits

KIND = "project"


@dataclass(frozen=True, slots=True)
class Usage:
    """Exact bytes and counts; `active_limit` 0: none."""

    used_bytes: int
    limit_bytes: int
    journal_bytes: int
    index_bytes: int
    table_bytes: int
    memories: int
    active: int
    active_limit: int
    today: "Today"


@dataclass(frozen=True, slots=True)
class Today:
    """What was done since midnight (UTC); `conversation_limit` 0: none."""

    conversations: int
    conversation_limit: int
    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Project:
    """A project by name, with how many memories it has, when it was last used, and what was last said about it while that holds."""

    name: str
    memories: int
    last_at: datetime
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Projects:
    """A page of projects in no telling order; `damaged` of its names did not open."""

    projects: list[Project]
    next_cursor: str | None
    damaged: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of owners."""

    commits: Commits
    cursors: Cursors
    daily_limit: int

    def usage(self, owner: str) -> Usage:
        """Return what the owner's head counts; zeros for who never stored anything. One step."""
        day = names.usage(self.commits.vaults.clock())
        opened = self.commits.vaults.open(owner, [day])
        today: Item = opened.items.get(day, {}) if opened else {}
        head: Item = opened.head if opened else {}
        used, journal, index = (int(head.get(name, 0)) for name in ("bytes", "journal_bytes", "index_bytes"))
        bounds = self.commits.bounds
        return Usage(
            used_bytes=used,
            limit_bytes=bounds.quota_bytes,
            journal_bytes=journal,
            index_bytes=index,
            table_bytes=used - journal - index,
            memories=int(head.get("memories", 0)),
            active=int(head.get("active", 0)),
            active_limit=bounds.active,
            today=Today(
                conversations=int(today.get("conversations", 0)),
                conversation_limit=self.daily_limit,
                **{name: int(today.get(name, 0)) for name in SPENT},
            ),
        )

    def projects(self, owner: str, limit: int, cursor: str | None) -> Projects:
        """Return projects that have memories or a summary. A page may hold fewer than `limit`. Raises InvalidCursor."""
        opened = self.commits.vaults.open(owner, [names.SETTINGS])
        if opened is None:
            self.cursors.refuse(cursor)
            return Projects([], None, 0)
        after = self.cursors.read(opened.keys, KIND, cursor)
        page = self.commits.vaults.table.query(owner, names.PROJECT, after=after, limit=limit)
        found, damaged = opened_scenes(opened.keys, page.items)
        ground = basis.read(self.commits.vaults, opened, [rests for one in found for rests in one.bases])
        projects = [Project(one.project, one.memories, one.last_at, one.text(scenes.SUMMARY, ground)) for one in found]
        shown = [project for project in projects if project.memories > 0 or project.summary is not None]
        return Projects(shown, self.cursors.write(opened.keys, KIND, page.after), damaged)
