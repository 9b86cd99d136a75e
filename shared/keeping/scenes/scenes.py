"""A person's scenes: listed, read, renamed, archived, switched to. Deleting one stands in deletion.py.

A scene is shown with what was said of its project only while all that this rests on stands (shared/storage/basis.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import Busy, Invalid, NotFound, NotPossibleNow, SealBroken
from shared.domain.memory import DEFAULT_PROJECT
from shared.domain.naming import ALL_PROJECTS
from shared.domain.times import rfc3339
from shared.keeping.cursors import Cursors
from shared.observability import alarm
from shared.ports import Item
from shared.storage import basis, lines, names, scenes
from shared.storage.builds import ask_for_comparison
from shared.storage.commit import Commits
from shared.storage.document_commits import TRIES, DocumentCommits
from shared.storage.documents import PROJECT, Document
from shared.storage.partition import each_item, pages
from shared.storage.scenes import ARCHIVED, CONTEXT, NAME, RESTS_ON, SUMMARY, USED_AT, Scene
from shared.storage.vaults import Opened, Vaults
from shared.text.secrets import find

_LIST = "scenes"
_ACTIVE = (lines.ACTIVE, lines.ACTIVE)
_WANTED = (names.ACTIVE, names.SETTINGS)
"""Read with the owner: the active project, and how long memories are kept."""


AT_ONCE = 3
"""Scenes that a switch archives at most; more are left to maintenance."""


class Which(StrEnum):
    """Which scenes a list has."""

    ACTIVE = "active"
    """Those that are not archived."""
    ARCHIVED = "archived"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Seen:
    """A scene as its owner sees it: its texts while they hold; `active`: it is meant where no project is named."""

    scene: Scene
    summary: str | None = None
    context: str | None = None
    active: bool = False
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of scenes in no telling order; `damaged` did not open."""

    scenes: list[Seen]
    next_cursor: str | None
    damaged: int


@dataclass(frozen=True, slots=True)
class Scenes:
    """Scenes of owners."""

    commits: Commits
    cursors: Cursors

    @property
    def _vaults(self) -> Vaults:
        return self.commits.vaults

    @property
    def _documents(self) -> DocumentCommits:
        return DocumentCommits(self.commits)

    def page(self, owner: str, which: Which, limit: int, cursor: str | None) -> Page:
        """Return scenes; a page may hold fewer than `limit`. Three steps. Raises InvalidCursor, TableLost."""
        opened = self._vaults.open(owner, _WANTED)
        if opened is None:
            self.cursors.refuse(cursor)
            return Page([], None, 0)
        purpose = f"{_LIST} {which}"
        after = self.cursors.read(opened.keys, purpose, cursor)
        page = self._vaults.table.query(owner, names.PROJECT, after=after, limit=limit)
        found, damaged = opened_scenes(opened.keys, page.items)
        wanted = [one for one in found if which is Which.ALL or one.archived == (which is Which.ARCHIVED)]
        return Page(self._seen(opened, wanted), self.cursors.write(opened.keys, purpose, page.after), damaged)

    def get(self, owner: str, project: str) -> Seen:
        """Return a scene with the ids of its newest memories that stand. Raises NotFound, SealBroken."""
        opened, scene = self.read(owner, project)
        tag = scenes.tag_of(opened.keys, project)
        wanted = {tag: min(scene.memories, limits.SCENE_MEMORIES)}
        found = {str(item["sk"]): item for item in scenes.newest(latest_first(self._vaults, owner), wanted)[tag]}
        ids = [sk.removeprefix(names.MEMORY) for sk in found]
        stand = basis.living(opened, found, ids, self._vaults.clock())
        (seen,) = self._seen(opened, [scene], tuple(memory_id for memory_id in ids if memory_id in stand))
        return seen

    def read(self, owner: str, project: str) -> tuple[Opened, Scene]:
        """Return the opened owner with a scene as it stands. Raises NotFound, SealBroken."""
        opened = self._vaults.open(owner, _WANTED)
        if opened is None or project == DEFAULT_PROJECT:
            raise NotFound
        sk = scenes.sk_of(opened.keys, project)
        item = self._vaults.table.get(owner, [sk]).get(sk)
        try:
            scene = scenes.read(opened.keys, item) if item else None
        except SealBroken:
            ask_for_comparison(self.commits.maintenance, owner, self._vaults.clock())
            raise
        if scene is None:
            raise NotFound
        return opened, scene

    def change(self, owner: str, project: str, sent: Mapping[str, Any], etags: frozenset[str] | None) -> Seen:
        """Change what was sent of name (None: the project's key), summary, context (None: none) and archived; return the scene.

        Raises NotFound, Invalid, NotPossibleNow (the active scene is not archived), VersionMismatch, QuotaExceeded, TableLost, Busy.
        """
        opened, scene = self.read(owner, project)
        fields, now = _texts(sent), rfc3339(self._vaults.clock())
        if sent.get("archived") and scenes.active_project(opened) == project:
            raise NotPossibleNow("It is the active project. Switch to another one first.")
        used = {} if scene.archived or sent.get("archived") else {USED_AT: now}
        if "archived" in sent and sent["archived"] != scene.archived:
            fields |= {ARCHIVED: now} if sent["archived"] else {ARCHIVED: False, USED_AT: now}

        def changed(_opened: Opened, standing: Document) -> Mapping[str, Any] | None:
            if scene.document and not standing:
                raise NotFound
            news = any(standing.get(name) != value for name, value in fields.items())
            return {PROJECT: project, **used, **fields} if news else None

        self._documents.write(owner, place_of(project), changed, etags)
        return self.get(owner, project)

    def switch(self, owner: str, project: str | None) -> tuple[Seen | None, bool]:
        """Make a project the active one, by its key or by a name that only its scene has; return its scene and whether that is new.

        None or `default`: no project is active, and there is no scene. An archived scene comes back; the coldest beyond the limit is
        archived. Raises Invalid, QuotaExceeded, TableLost, Busy.
        """
        if project is None or project == DEFAULT_PROJECT:
            if self._vaults.open(owner) is not None:
                activate(self._documents, owner, None)
            return None, False
        read_at = self._vaults.clock()
        key, active, standing = self._meant(owner, project)
        new = False
        for _ in range(TRIES):
            new = self._use(owner, key, rested=active == key) or new
            activate(self._documents, owner, key)
            try:
                seen = self.get(owner, key)  # a deletion may have ended it in between
            except NotFound:
                continue
            others = [one for one in standing if one.project != key]
            for cold in coldest([*others, seen.scene], key)[:AT_ONCE]:
                archive(self._documents, owner, cold, read_at)
            return seen, new
        raise Busy

    def _meant(self, owner: str, project: str) -> tuple[str, str | None, list[Scene]]:
        """Return the key of the project that is meant, the active one, and all scenes."""
        opened = self._vaults.open(owner, _WANTED)
        if opened is None:
            return _key(project), None, []
        found, _ = opened_scenes(opened.keys, each_item(self._vaults.table, owner, names.PROJECT))
        active = scenes.active_project(opened)
        if any(scene.project == project for scene in found):
            return project, active, found
        called = [scene.project for scene in found if scene.name == project]
        if len(called) > 1:
            raise Invalid.of("project", "Several scenes are shown under this name; send the project's own key.")
        return called[0] if called else _key(project), active, found

    def _use(self, owner: str, project: str, *, rested: bool) -> bool:
        """Make the scene where there is none, and say that it is used; return whether it is new. Nothing where it is in use already."""
        now, new = self._vaults.clock(), False

        def used(opened: Opened, standing: Document) -> Mapping[str, Any] | None:
            nonlocal new
            sk = scenes.sk_of(opened.keys, project)
            item = self._vaults.table.get(owner, [sk]).get(sk)
            scene = scenes.read(opened.keys, item) if item else None
            new = scene is None
            if rested and standing and scene is not None and not scene.archived:
                return None
            return {PROJECT: project, USED_AT: rfc3339(now), ARCHIVED: False}

        self._documents.write(owner, place_of(project), used)
        return new

    def _seen(self, opened: Opened, found: Iterable[Scene], memory_ids: tuple[str, ...] = ()) -> list[Seen]:
        found, active = list(found), scenes.active_project(opened)
        ground = basis.read(self._vaults, opened, [rests for one in found for rests in one.bases])
        return [
            Seen(one, one.text(SUMMARY, ground), one.text(CONTEXT, ground), one.project == active, memory_ids)
            for one in found
        ]


def opened_scenes(keys: OwnerKeys, found: Iterable[Item]) -> tuple[list[Scene], int]:
    """Return the scenes of projects' items, and how many do not open."""
    opened: list[Scene] = []
    damaged = 0
    for item in found:
        try:
            scene = scenes.read(keys, item)
        except SealBroken:
            damaged += 1
            alarm("damaged", project=str(item["sk"]).removeprefix(names.PROJECT))
            continue
        opened += [scene] if scene else []
    return opened, damaged


def latest_first(vaults: Vaults, owner: str) -> Iterator[list[Item]]:
    """Yield pages of all memories' items, the latest made first."""
    return pages(vaults.table, owner, names.MEMORY, descending=True)


def coldest(found: Iterable[Scene], active: str | None) -> list[Scene]:
    """Return the scenes to archive, so that no more than the limit are left: the longest unused ones, never the active one."""
    warm = [scene for scene in found if not scene.archived]
    able = sorted(
        (scene for scene in warm if scene.project != active), key=lambda scene: (scene.last_at, scene.project)
    )
    return able[: max(0, len(warm) - limits.SCENES)]


def rewrite(
    commits: DocumentCommits, owner: str, scene: Scene, fields: Mapping[str, Any], *, beyond_quota: bool = False
) -> bool:
    """Set fields of a scene as it was read; return whether that was done. One that was changed since is left to the next visit."""
    done = False

    def rewritten(_opened: Opened, standing: Document) -> Mapping[str, Any] | None:
        nonlocal done
        done = standing.latest == scene.document.latest
        return {PROJECT: scene.project, **fields} if done else None

    commits.write(owner, place_of(scene.project), rewritten, beyond_quota=beyond_quota)
    return done


def archive(commits: DocumentCommits, owner: str, scene: Scene, now: datetime) -> bool:
    """Archive a scene as of the moment it was read, unless it was changed since. Once it is used again, it is not archived any more."""
    return rewrite(commits, owner, scene, {ARCHIVED: rfc3339(now)}, beyond_quota=True)


def activate(commits: DocumentCommits, owner: str, project: str | None, instead_of: str | None = None) -> None:
    """Make that project the active one; with `instead_of`, only if that one is."""

    def named(_opened: Opened, standing: Document) -> Mapping[str, Any] | None:
        other = instead_of is not None and standing.get(PROJECT) != instead_of
        return None if other else {PROJECT: project}

    commits.write(owner, lambda _opened: _ACTIVE, named)


def place_of(project: str) -> Callable[[Opened], tuple[str, str]]:
    """Return where the scene of a project lies, for whoever writes it."""
    return lambda opened: (lines.SCENE, scenes.tag_of(opened.keys, project))


def _key(project: str) -> str:
    """Return the name as the key of a new project."""
    if find(project):
        raise Invalid.of("project", "The name holds a credential.")
    return project


def _texts(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the texts that were sent."""
    fields: dict[str, Any] = {}
    if "name" in sent:
        if sent["name"] and find(sent["name"]):
            raise Invalid.of("name", "The name holds a credential.")
        if sent["name"] in (DEFAULT_PROJECT, ALL_PROJECTS):
            raise Invalid.of("name", "No project is called default or *, which mean none and all. Choose another name.")
        fields[NAME] = sent["name"]
    for field in RESTS_ON:
        if field in sent:
            text = sent[field] or ""
            if len(text.encode()) > limits.SCENE_TEXT_BYTES:
                raise Invalid.of(field, f"It may take {limits.SCENE_TEXT_BYTES} bytes of UTF-8.")
            fields |= scenes.written(field, text)
    return fields
