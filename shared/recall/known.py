"""What is told whatever the message is: the scene of the project at hand. Everything but memories belongs here.

Reading goes with the steps of a search: `begin` runs beside the reading of the head, `sections` beside that of the candidates. A source of
more sections begins in the one and returns its `Section` values (shared/recall/framing.py) from the other.
"""

from dataclasses import dataclass, field

from shared.domain.errors import SealBroken
from shared.domain.naming import ACTIVE_PROJECT, ALL_PROJECTS
from shared.ports import Item
from shared.recall.framing import Line, Section
from shared.storage import basis, names, scenes
from shared.storage.vaults import Opened, Vaults

PROJECTS = 50
"""Projects that are read while the one at hand cannot be asked for: the owner's keys are cold, or the active one is meant. A scene that
is not among them costs a step more."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Items of projects that were read with the head. `whole`: there are no others; `asked`: the sort key that was asked for."""

    items: dict[str, Item] = field(default_factory=dict)
    whole: bool = False
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """Reads and tells what is known besides memories."""

    vaults: Vaults

    def begin(self, owner: str, project: str | None) -> Begun:
        """Read what can be read before the owner is opened, in one step. Which project is the active one is not known yet."""
        if project is None or project == ALL_PROJECTS:
            return Begun(whole=True)
        keys = self.vaults.warm(owner)
        if keys is None or project == ACTIVE_PROJECT:
            page = self.vaults.table.query(owner, names.PROJECT, limit=PROJECTS)
            return Begun({str(item["sk"]): item for item in page.items}, whole=page.after is None)
        asked = scenes.sk_of(keys, project)
        return Begun(self.vaults.table.get(owner, [asked]), asked=asked)

    def sections(self, opened: Opened, project: str | None, begun: Begun) -> list[Section]:
        """Return what is told before the memories, in one step. What does not open is left out, as a memory would be."""
        if project is None or project == ALL_PROJECTS:
            return []
        try:
            return self._scene(opened, project, begun)
        except SealBroken:
            return []

    def _scene(self, opened: Opened, project: str, begun: Begun) -> list[Section]:
        """Return the summary and context of a project; each only while all memories that it rests on stand."""
        table, owner = self.vaults.table, opened.keys.owner
        sk = scenes.sk_of(opened.keys, project)
        item = begun.items.get(sk)
        if item is None and not begun.whole and begun.asked != sk:
            item = table.get(owner, [sk]).get(sk)
        scene = scenes.read(opened.keys, item) if item else None
        if scene is None or scene.archived:
            return []
        found = table.get(owner, basis.sks(scene.rests_on))
        stand = basis.standing(opened, found, scene.rests_on, self.vaults.clock())
        texts = [scene.text(field, stand) for field in (scenes.SUMMARY, scenes.CONTEXT)]
        return [Section("scene", tuple(Line(text) for text in texts if text), scene.name)]
