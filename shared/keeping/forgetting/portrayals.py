"""Scenes that go with their project, and with everything; and the persona, which goes with everything. They may hold what a person wrote,
which rests on no memory. What was written after the request stays."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.ids import ulid_time
from shared.keeping.forgetting.selection import Selection
from shared.keeping.scenes.scenes import activate
from shared.ports import Item
from shared.storage import documents, lines, names, persona, scenes
from shared.storage.commit import Commits
from shared.storage.document_commits import END, DocumentCommits, End
from shared.storage.documents import PROJECT, Document
from shared.storage.partition import each_item
from shared.storage.vaults import Opened, Vaults


@dataclass(frozen=True, slots=True)
class Portrayed:
    """A project's item: its scene's document, which of its fields were written before the request, and whether a scene is `shown` of it."""

    tag: str
    document: Document
    old: frozenset[str]
    memories: int
    shown: bool

    @property
    def ends(self) -> bool:
        """Whether it holds something, and nothing that came after the request."""
        return bool(self.old) and len(self.old) == len(self.document.fields) and self.memories <= 0

    @property
    def texts(self) -> dict[str, None]:
        """The fields that take away what was written before, of a scene that goes on."""
        written = (scenes.NAME, *scenes.RESTS_ON)
        return dict.fromkeys(name for name in written if name in self.old and self.document.get(name) is not None)

    def place(self, _opened: Opened) -> tuple[str, str]:
        """Return where it lies, for whoever writes it."""
        return lines.SCENE, self.tag

    def changed(self, _opened: Opened, standing: Document) -> Mapping[str, object] | End | None:
        """Return what is to be written; nothing where somebody writes as well: the next visit looks again."""
        if standing.latest != self.document.latest:
            return None
        return END if self.ends else {PROJECT: self.document.get(PROJECT), **self.texts}


def portrayed(vaults: Vaults, keys: OwnerKeys, selection: Selection) -> Iterator[Portrayed]:
    """Yield the scenes that go. One that does not open stays."""
    if not selection.takes_scenes:
        return
    found: list[Item] = list(each_item(vaults.table, keys.owner, names.PROJECT)) if selection.project is None else []
    if selection.project is not None:
        found = list(vaults.table.get(keys.owner, [scenes.sk_of(keys, selection.project)]).values())
    for item in found:
        try:
            document, shown = scenes.from_item(keys, item), scenes.read(keys, item) is not None
        except SealBroken:
            continue
        old = frozenset(
            name for name, (_, commit) in document.fields.items() if ulid_time(commit) <= selection.asked_at
        )
        if "sealed" in item and (old or not document.fields):
            yield Portrayed(
                str(item["sk"]).removeprefix(names.PROJECT), document, old, int(item.get("memories", 0)), shown
            )


def counted(vaults: Vaults, keys: OwnerKeys, selection: Selection) -> int:
    """Return how many scenes go."""
    return sum(1 for one in portrayed(vaults, keys, selection) if one.shown)


def left(vaults: Vaults, keys: OwnerKeys, selection: Selection) -> bool:
    """Tell whether anything of them is left to be taken away."""
    return any(one.ends or one.texts for one in portrayed(vaults, keys, selection))


def take(commits: Commits, opened: Opened, selection: Selection) -> bool:
    """Take them away, once their memories are gone; tell whether anything was. Raises Busy."""
    vaults, keys, writing = commits.vaults, opened.keys, DocumentCommits(commits)
    done = False
    for one in portrayed(vaults, keys, selection):
        if one.ends:
            _rest(writing, keys, one.tag)
        if one.ends or one.texts:
            writing.write(keys.owner, one.place, one.changed)
            done = True
    return _unportray(writing, vaults, keys, selection) or done


def _rest(writing: DocumentCommits, keys: OwnerKeys, tag: str) -> None:
    """Let no project be the active one, if it is that one."""
    active = scenes.active_project(writing.commits.vaults.open(keys.owner, [names.ACTIVE]))
    if active is not None and scenes.tag_of(keys, active) == tag:
        activate(writing, keys.owner, None, instead_of=active)


def _unportray(writing: DocumentCommits, vaults: Vaults, keys: OwnerKeys, selection: Selection) -> bool:
    """End the persona with everything, if it was written before."""
    if selection.project is not None or not selection.takes_scenes:
        return False
    item = vaults.table.get(keys.owner, [names.PERSONA]).get(names.PERSONA)
    try:
        document = documents.from_item(keys, lines.PERSONA, lines.PERSONA, item)
    except SealBroken:
        return False
    if not document or ulid_time(document.latest) > selection.asked_at:
        return False
    writing.write(
        keys.owner,
        persona.place,
        lambda _opened, standing: END if standing.latest == document.latest else None,
    )
    return True
