"""What tests of texts that rest on memories share: one of each kind, made of given memories, and what is shown of them."""

from collections.abc import Iterable
from typing import Any

from shared.domain.memory import Memory
from shared.domain.times import rfc3339
from shared.recall.context import Moment
from shared.storage import items, names, persona, scenes, suggestions
from shared.storage.basis import Basis, basis_of
from shared.storage.document_commits import DocumentCommits
from shared.storage.persona import Persona, Statement
from shared.storage.suggestions import Decision, Kind, Suggestion
from tests.builders import World
from tests.unit.storage.soundness import opened, told

PROJECT, SUGGESTION = "atlas", "01KJM8Y1S8AYZE4PA0D4YD5EQ4"
TEXTS = {
    "persona": "Says it in the portrait.",
    "suggestion": "Says it as a way of working.",
    "summary": "Says it in the summary.",
    "context": "Says it in the context.",
}
ALL = set(TEXTS)


def memory_of(world: World, memory_id: str) -> Memory:
    """Return a memory as it stands, a retired one too."""
    item = world.table.partition(world.owner)[names.MEMORY + memory_id]
    return items.from_item(opened(world).keys, item).memory


def tell(world: World, ids: Iterable[str], status: Decision = Decision.ACCEPTED, *, tagged: bool = True) -> None:
    """Let a statement, a suggestion, a summary and a context rest on these memories; without tags, as it was before there were any."""
    memories = [memory_of(world, memory_id) for memory_id in ids]
    keys, now = opened(world).keys, world.clock()
    basis = basis_of(keys, memories, now) if tagged else Basis(tuple(one.id for one in memories))
    statement = Statement("traits", TEXTS["persona"], basis.ids)
    portrait = Persona((statement,), 1, None, (), rfc3339(now), "test", basis.said)
    parts: dict[str, Any] = {"agent": None, "project": None, "marks": frozenset({"m"}), "model": "test", "commit": ""}
    parts |= {"kind": Kind.SKILL, "title": TEXTS["suggestion"], "text": TEXTS["suggestion"], "evidence": 3}
    suggestion = Suggestion(SUGGESTION, basis=basis.ids, said=basis.said, status=status, **parts)
    scene = {"project": PROJECT, **scenes.written(scenes.SUMMARY, TEXTS["summary"], basis)}
    scene |= scenes.written(scenes.CONTEXT, TEXTS["context"], basis)
    documents = DocumentCommits(world.now.commits)
    documents.write(world.owner, persona.place, lambda _opened, _standing: portrait.fields())
    place = suggestions.place_of(SUGGESTION)
    documents.write(world.owner, place, lambda _opened, _standing: suggestions.fields(suggestion))
    documents.write(world.owner, lambda one: ("scene", scenes.tag_of(one.keys, PROJECT)), lambda _o, _s: scene)


def shown(world: World) -> set[str]:
    """Return which of the texts are shown; what a context tells is what is read one by one."""
    world.restart()
    portrait, _ = world.now.portrait.get(world.owner)
    listed, _ = world.now.suggestions.page(world.owner, None, 50, None)
    scene = world.now.scenes.get(world.owner, PROJECT)
    said = {*(one.text for one in portrait.statements), *(one.text for one in listed), scene.summary, scene.context}
    found = {kind for kind, text in TEXTS.items() if text in said}
    context = world.now.contexts.context(world.owner, Moment("hello there", project=PROJECT, new_session=True)).text
    assert {kind for kind, text in TEXTS.items() if text in context} == found
    return found


def basis_shown(world: World) -> list[str]:
    """Return the ids that the statement is shown with."""
    portrait, _ = world.now.portrait.get(world.owner)
    return [one for statement in portrait.statements for one in statement.basis]


def stored(world: World) -> str:
    """Return all documents of the owner, opened, as one text."""
    return str(told(world))
