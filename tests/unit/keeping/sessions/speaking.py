"""A person who begins sessions, notes and ends them, a second apart."""

from contextlib import suppress
from typing import Any

from shared.domain.errors import NotFound
from shared.keeping.sessions.told import Noted
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


def end_if_open(process: Any, owner: str) -> Any:
    with suppress(NotFound):
        return process.sessions.end(owner)
