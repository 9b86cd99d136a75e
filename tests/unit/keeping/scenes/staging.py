"""What tests of scenes share: a person's hand on them, and looks at what there is."""

from typing import Any

from shared.domain.memory import Scope
from shared.keeping.scenes.scenes import Seen, Which
from shared.storage import names, scenes
from tests.builders import World

DECIDED = "We decided to use Redis for the cache."


def switch(world: World, project: str | None) -> tuple[Seen | None, bool]:
    world.clock.advance(1)
    return world.now.scenes.switch(world.owner, project)


def made(world: World, project: str) -> Seen:
    seen, _ = switch(world, project)
    assert seen is not None
    return seen


def change(world: World, project: str, etags: frozenset[str] | None = None, **sent: Any) -> Seen:
    world.clock.advance(1)
    return world.now.scenes.change(world.owner, project, sent, etags)


def listed(world: World, which: Which = Which.ACTIVE) -> dict[str, Seen]:
    page = world.now.scenes.page(world.owner, which, 200, None)
    assert (page.next_cursor, page.damaged) == (None, 0)
    return {seen.scene.project: seen for seen in page.scenes}


def in_project(world: World, text: str, project: str = "atlas") -> str:
    return world.add(text, scope=Scope.PROJECT, project=project).id


def active(world: World) -> str | None:
    return scenes.active_project(world.process().vaults.open(world.owner, [names.ACTIVE]))


def summed(world: World, text: str = DECIDED, project: str | None = "atlas") -> None:
    world.say(text, project=project)
    world.work_off()
