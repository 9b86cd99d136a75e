"""The operations that tests of crashes kill: what stands before each, how it is begun, and how whoever asked for it asks again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.domain.errors import Duplicate, NacreError, NotFound
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.learning.conversation import Conversation
from shared.learning.extractor import Extracted, Known, RulesExtractor
from shared.storage import lines
from shared.storage.document_commits import END, DocumentCommits
from shared.storage.vaults import Opened
from tests.builders import Draft, World, conversation
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import (
    LEASE_AND_MORE,
    assert_sound,
    rebuilt,
    settle,
    visible,
)

WORDS = ("deploy", "PostgreSQL", "中文", "password", "coffee")
FIRST, SECOND, OTHER = "The deploy day is Monday.", "The deploy day is Friday.", "I drink my coffee black."


def nothing(_world: World, _memory_id: str) -> None:
    """Prepare nothing."""


@dataclass(frozen=True)
class Deed:
    """One operation: what stands before it, how it is begun, and how whoever asked for it asks again."""

    name: str
    do: Callable[[World, str], Any]
    prepare: Callable[[World, str], Any] = nothing
    again: Callable[[World, str], Any] | None = None


def _without(error: type[NacreError], do: Callable[[World, str], Any]) -> Callable[[World, str], Any]:
    """Return the deed where that refusal means that it was done before."""

    def again(world: World, memory_id: str) -> None:
        try:
            do(world, memory_id)
        except error:
            return

    return again


def add(world: World, _: str) -> None:
    world.add(
        "用户偏好：以后都用中文回答",
        scope=Scope.PROJECT,
        project="atlas",
        category=Category.PREFERENCE,
        tags=["#tongue"],
    )


def add_under_a_key(world: World, _: str) -> None:
    world.now.memories.add(world.owner, Draft("My wifi password is swordfish1."), "key-1")


def learn(world: World, _: str) -> None:
    world.work_off()


def learn_after_the_visibility(world: World, _: str) -> None:
    world.clock.advance(world.work.visibility.total_seconds() + 1)
    world.work_off()


def said(world: World, _: str) -> None:
    texts = (
        "We decided to use PostgreSQL for the backend.",
        "我喜欢用 TypeScript",
        "My wifi password is swordfish1.",
        OTHER,
    )
    world.say(*texts, project="atlas")


class Summing:
    """The rules, with a summary that tells which conversation it is of."""

    def __init__(self) -> None:
        self.rules = RulesExtractor()

    def extract(
        self, conversation: Conversation, received_at: datetime, preferences: Preferences, known: Callable[[], Known]
    ) -> Extracted:
        found = self.rules.extract(conversation, received_at, preferences, known)
        return replace(found, summary=f"It was about: {conversation.messages[0].text}")


def summed_up(world: World, memory_id: str) -> None:
    """A project with a summary, folded already, and a conversation that will give it another."""
    world.extractor = Summing()
    world.restart()
    world.say("We decided to use Redis for the cache.", project="atlas")
    world.work_off()
    world.tidy(hours=2)
    said(world, memory_id)


def accept(world: World, _: str) -> None:
    heard = conversation("We decided to use PostgreSQL for the backend.", project="atlas")
    world.now.accepting.accept(world.owner, heard)


def tidy(world: World, _: str) -> None:
    world.now.tidying.tidy(world.owner)


def tidy_after_the_lease(world: World, _: str) -> None:
    world.tidy(hours=LEASE_AND_MORE)


def much_to_fold(world: World, memory_id: str) -> None:
    """Folded objects, a deleted memory inside of one, lines to fold, a dead writer's line and an index to build."""
    gone = world.add("The old password hint is swordfish.")
    said(world, memory_id)
    world.work_off()
    world.choose(language="zh")
    world.tidy(hours=2)
    world.edit(memory_id, content=SECOND)
    world.delete(gone.id)
    world.choose(max_results=20)
    world.restart(Steps(at=5))
    with pytest.raises(Crash):
        world.add("Coffee is brewed at nine.")
    world.restart()
    world.clock.advance(3 * 3600)


def over(world: World, _: str) -> None:
    """Memories whose time is over, folded already: one of the person, one of a project."""
    world.add("The door code changes on Friday.", expires_at=world.clock() + timedelta(days=2))
    world.add("中文资料五月归档", scope=Scope.PROJECT, project="atlas", expires_at=world.clock() + timedelta(days=2))
    world.tidy(hours=2)
    world.clock.advance(days=2)


def wiped(world: World, memory_id: str) -> None:
    much_to_fold(world, memory_id)
    world.table.wipe()


def edit(world: World, memory_id: str) -> None:
    world.edit(memory_id, content=SECOND, importance=9)


def dismiss(world: World, memory_id: str) -> None:
    world.dismiss(memory_id)


def restore(world: World, memory_id: str) -> None:
    world.restore(memory_id)


def delete(world: World, memory_id: str) -> None:
    world.delete(memory_id)


def chosen(world: World, _: str) -> None:
    world.choose(language="en")


def choose(world: World, _: str) -> None:
    world.choose(language="zh", max_results=7)


def build(world: World, _: str) -> None:
    world.build()


def portray(world: World, _: str) -> None:
    DocumentCommits(world.now.commits).write(world.owner, persona, lambda _opened, _standing: {"traits": "likes tea"})


def portrayed(world: World, _: str) -> None:
    """A portrait that is folded, and a later part of it that is not."""
    documents = DocumentCommits(world.now.commits)
    documents.write(world.owner, persona, lambda _opened, _standing: {"traits": "likes coffee", "role": "nurse"})
    world.tidy(hours=2)
    documents.write(world.owner, persona, lambda _opened, _standing: {"traits": "likes milk"})


def unportray(world: World, _: str) -> None:
    DocumentCommits(world.now.commits).write(world.owner, persona, lambda _opened, _standing: END)


def persona(_opened: Opened) -> tuple[str, str]:
    return lines.PERSONA, lines.PERSONA


DEEDS = [
    Deed("add", add, again=_without(Duplicate, add)),
    Deed("add under a key", add_under_a_key),
    Deed("edit", edit),
    Deed("dismiss", dismiss),
    Deed("restore", restore, prepare=dismiss),
    Deed("delete", delete, again=_without(NotFound, delete)),
    Deed("settings", choose, prepare=chosen),
    Deed("portray", portray, prepare=portrayed),
    Deed("end a portrait", unportray, prepare=portrayed),
    Deed("accept", accept),
    Deed("learn", learn, prepare=said, again=learn_after_the_visibility),
    Deed("sum up", learn, prepare=summed_up, again=learn_after_the_visibility),
    Deed("build", build, prepare=edit),
    Deed("tidy", tidy, prepare=much_to_fold, again=tidy_after_the_lease),
    Deed("end what is over", tidy, prepare=over, again=tidy_after_the_lease),
    Deed("rebuild", tidy, prepare=wiped, again=tidy_after_the_lease),
]


def prepared(deed: Deed) -> tuple[World, str]:
    """Return a world in which only the deed is left to do: a memory, two more, one of them settled long ago."""
    world = World()
    memory_id = world.add(FIRST).id
    world.add("Deploys need two reviewers.", scope=Scope.PROJECT, project="atlas")
    world.tidy(hours=2)
    world.add(OTHER)
    deed.prepare(world, memory_id)
    return world, memory_id


def end(world: World) -> dict[str, Any]:
    settle(world)
    assert_sound(world)
    seen = visible(world, WORDS)
    rebuilt(world)
    assert visible(world, WORDS) | {"tasks": seen["tasks"]} == seen
    return seen
