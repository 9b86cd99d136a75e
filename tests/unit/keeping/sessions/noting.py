"""A person's hand on sessions, as tests use it."""

from typing import Any

from shared.keeping.sessions.sessions import Noted
from shared.learning.notes import Note
from tests.builders import World


def begin(world: World, project: str | None = "atlas", agent: str | None = None) -> Any:
    world.clock.advance(1)
    return world.now.sessions.open(world.owner, project, agent)


def note(world: World, message: str, *points: str, **more: Any) -> Noted:
    world.clock.advance(1)
    return world.now.sessions.note(world.owner, Note(message, world.clock(), points, **more))


def end(world: World, **more: Any) -> Any:
    world.clock.advance(1)
    ended = world.now.sessions.end(world.owner, **more)
    world.work_off()
    return ended
