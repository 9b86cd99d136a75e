"""What is told whatever the message is: the scene of the project at hand. Everything but memories belongs here.

Reading goes with the steps of a search: `begin` runs beside the reading of the head, `sections` beside that of the candidates. A source of
more sections begins in the one and returns its `Section` values (shared/recall/framing.py) from the other.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from shared.domain.errors import SealBroken
from shared.domain.naming import ACTIVE_PROJECT, ALL_PROJECTS
from shared.ports import Item
from shared.recall.framing import Line, Section
from shared.storage import basis, names, scenes
from shared.storage.vaults import Opened, Vaults

PROJECTS = 50
"""Projects that are read while the one at hand cannot be asked for: the owner's keys are cold, or the active one is meant for the first
time in this process. A scene that is not among them costs a step more."""
OWNERS = 1_000
"""Owners of whom this process remembers where the scene of their active project lies."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Items of projects that were read with the head. `whole`: there are no others; `asked`: the sort key that was asked for."""

    items: dict[str, Item] = field(default_factory=dict)
    whole: bool = False
    asked: str = ""


class Known:
    """Reads and tells what is known besides memories."""

    def __init__(self, vaults: Vaults) -> None:
        self.vaults = vaults
        self._active: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def begin(self, owner: str, project: str | None) -> Begun:
        """Read what can be read before the owner is opened, in one step. Which project is the active one is not known yet: it is taken
        to be the one of the last time."""
        if project is None or project == ALL_PROJECTS:
            return Begun(whole=True)
        asked = self._expected(owner, project)
        if asked is None:
            page = self.vaults.table.query(owner, names.PROJECT, limit=PROJECTS)
            return Begun({str(item["sk"]): item for item in page.items}, whole=page.after is None)
        return Begun(self.vaults.table.get(owner, [asked]) if asked else {}, asked=asked)

    def _expected(self, owner: str, project: str) -> str | None:
        """Return the sort key to ask for; None: not known, nothing: none."""
        if project == ACTIVE_PROJECT:
            with self._lock:
                return self._active.get(owner)
        keys = self.vaults.warm(owner)
        return scenes.sk_of(keys, project) if keys else None

    def remember(self, opened: Opened, project: str | None) -> None:
        """Keep in mind where the scene of the owner's active project lies."""
        with self._lock:
            self._active[opened.keys.owner] = scenes.sk_of(opened.keys, project) if project else ""
            self._active.move_to_end(opened.keys.owner)
            if len(self._active) > OWNERS:
                self._active.popitem(last=False)

    def sections(self, opened: Opened, project: str | None, begun: Begun) -> list[Section]:
        """Return what is told before the memories, in one step. What does not open is left out, as a memory would be."""
        if project is None or project == ALL_PROJECTS:
            return []
        try:
            return self._scene(opened, project, begun)
        except SealBroken:
            return []

    def _scene(self, opened: Opened, project: str, begun: Begun) -> list[Section]:
        """Return the summary and context of a project; each only while all that it rests on holds."""
        table, owner = self.vaults.table, opened.keys.owner
        sk = scenes.sk_of(opened.keys, project)
        item = begun.items.get(sk)
        if item is None and not begun.whole and begun.asked != sk:
            item = table.get(owner, [sk]).get(sk)
        scene = scenes.read(opened.keys, item) if item else None
        if scene is None:
            return []
        ground = basis.read(self.vaults, opened, scene.bases)
        texts = [scene.text(field, ground) for field in (scenes.SUMMARY, scenes.CONTEXT)]
        called = scene.name if scene.name == project else f"{scene.name} ({project})"
        return [Section("scene", tuple(Line(text) for text in texts if text), called)]
