"""What tests of the persona share: a model that answers by the texts it was shown, and worlds with enough facts."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from shared.domain import limits
from shared.domain.asking import Answer, Ask
from shared.domain.memory import Category, Memory, Scope
from shared.domain.task import Task
from shared.learning.persona.portraying import ModelPortrayer
from shared.storage.persona import Persona
from tests.builders import World

Reply = Callable[[dict[str, str]], str]
"""Makes an answer of what was shown: aliases by text."""
ENGLISH = (
    "I work as a backend engineer",
    "I prefer TypeScript for data code",
    "Keep answers short",
    "We deploy to Docker",
)
CHINESE = ("我是一名后端工程师", "我喜欢用 TypeScript 写数据处理", "回答要简洁", "服务用 Docker 部署")


@dataclass
class Model:
    """A model that answers with what `replies` make of its prompt, or raises; the last reply stands for all further ones."""

    replies: list[Reply | Exception]
    asks: list[Ask] = field(default_factory=list)
    meanwhile: Callable[[], Any] | None = None
    stop: str = "end"

    def ask(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        if self.meanwhile is not None:
            self.meanwhile()
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return Answer(reply(self.shown()), self.stop, 100, 20, "model-1")  # type: ignore[arg-type]

    def shown(self) -> dict[str, str]:
        """The aliases of the last prompt, by text."""
        lines = [line.partition("): ") for line in self.asks[-1].user.split("\n")]
        return {text: head.split(" ")[0] for head, found, text in lines if found}


def says(*statements: tuple[str, str, Iterable[str]]) -> Reply:
    """A reply of statements (part, text, the texts they rest on); what was not shown stands as it is."""

    def reply(shown: dict[str, str]) -> str:
        told = [
            {"part": part, "text": text, "facts": [shown.get(one, one) for one in basis]}
            for part, text, basis in statements
        ]
        return json.dumps({"statements": told}, ensure_ascii=False)

    return reply


def told(text: str) -> Reply:
    """A reply that is this text, whatever was shown."""
    return lambda _shown: text


def with_model(*replies: Reply | Exception, **more: Any) -> tuple[World, Model]:
    model = Model(list(replies))
    return World(portrayer=ModelPortrayer(model), **more), model


def fill(world: World, count: int = limits.PERSONA_NEWS, **more: Any) -> list[Memory]:
    """Add so many facts that say nothing of the person."""
    return [world.add(f"Kiln {number} stands in hall {number}.", **more) for number in range(count)]


def preferred(world: World, *texts: str, **more: Any) -> list[Memory]:
    return [world.add(text, category=Category.PREFERENCE, **more) for text in texts]


def persona(world: World) -> Persona:
    world.restart()
    return world.now.portrait.get(world.owner)[0]


def texts(world: World) -> dict[str, list[str]]:
    """The texts that are shown, by part."""
    found: dict[str, list[str]] = {}
    for one in persona(world).statements:
        found.setdefault(one.part, []).append(one.text)
    return found


def task(world: World) -> Task:
    """The last task."""
    return world.now.tasks.list(world.owner, limit=1)[0][0]


def asked(world: World) -> Task:
    """Ask for a refresh, let maintenance do it, and return its task."""
    task_id = world.now.portrait.ask(world.owner).task_id
    world.tidy()
    return world.now.tasks.get(world.owner, task_id)


PROJECT: dict[str, Any] = {"scope": Scope.PROJECT, "project": "atlas"}
