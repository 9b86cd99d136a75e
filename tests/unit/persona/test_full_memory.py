"""An owner whose storage is full: no model is asked in vain, a request ends as `quota_exceeded`, and what a model cost is counted."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.memory import Category, Scope
from shared.domain.task import TaskStatus
from shared.keeping.scenes.upkeep import Described
from shared.learning.evolution.naming import RulesNamer
from shared.learning.extractor import Cost
from shared.storage.transactions import Limits
from tests.builders import World
from tests.unit.persona.portraying import asked, fill, persona, preferred, says, task, texts, with_model
from tests.unit.storage.soundness import told

FACT = "I prefer concise answers"
SAYS = says(("communication", "Prefers concise answers", [FACT]))


def leave(world: World, room: int) -> None:
    """Leave the owner so many bytes of room."""
    world.bounds = Limits(int(world.head()["bytes"]) + room, 0)
    world.restart()


def calls(world: World) -> int:
    """What models were asked today."""
    return world.now.overview.usage(world.owner).today.calls


def failed(counts: dict[str, int] | None) -> int:
    assert counts is not None
    return counts.get("failed_steps", 0)


@pytest.mark.parametrize("room", [0, 100])
def test_without_room_no_model_is_asked_and_nothing_fails(room: int, capsys: pytest.CaptureFixture[str]) -> None:
    world, model = with_model(SAYS)
    preferred(world, FACT)
    fill(world)
    leave(world, room)
    for _ in range(3):
        assert failed(world.tidy(hours=1)) == 0
    assert (model.asks, calls(world), world.now.tasks.list(world.owner, limit=5)[0]) == ([], 0, [])
    assert "task_failed" not in capsys.readouterr().out
    leave(world, 1_000_000)
    world.tidy(hours=1)
    assert texts(world) == {"communication": ["Prefers concise answers"]}


def test_what_was_asked_for_ends_as_quota_exceeded_and_may_be_asked_for_again() -> None:
    world, model = with_model(SAYS)
    preferred(world, FACT)
    leave(world, 100)
    ended = asked(world)
    assert (ended.status, ended.error, model.asks) == (TaskStatus.FAILED, "quota_exceeded", [])
    leave(world, 1_000_000)
    assert asked(world).status is TaskStatus.DONE


@pytest.mark.parametrize("by_request", [False, True])
def test_room_that_is_gone_when_the_model_answers_is_counted_and_not_asked_for_again(*, by_request: bool) -> None:
    world, model = with_model(SAYS)
    preferred(world, FACT)
    fill(world, 1 if by_request else limits.PERSONA_NEWS)
    world.tidy() if by_request else None
    leave(world, limits.DOCUMENT_ROOM + 100_000)

    def fills_up() -> None:
        bounds = world.now.commits.bounds
        object.__setattr__(bounds, "quota_bytes", int(world.head()["bytes"]))  # as another writer would

    model.meanwhile = fills_up
    if by_request:
        world.now.portrait.ask(world.owner)
    assert failed(world.tidy()) == 0
    ended = task(world)
    assert (ended.kind, ended.status, ended.error) == ("persona", TaskStatus.FAILED, "quota_exceeded")
    assert (ended.usage, calls(world), len(model.asks)) == ({"calls": 1, "tokens_in": 100, "tokens_out": 20}, 1, 1)
    leave(world, 1_000_000)
    for _ in range(3):
        world.tidy(hours=1)
    assert len(model.asks) == 1
    assert persona(world).statements == ()


class Naming(RulesNamer):
    """A namer that counts how often it is asked, and what happens meanwhile."""

    def __init__(self) -> None:
        self.asked = 0
        self.meanwhile: Callable[[], Any] = lambda: None

    def name(self, patterns: Any, seconds: float) -> Any:
        self.asked += 1
        self.meanwhile()
        return super().name(patterns, seconds)


LIKE = ("Short answers with code", "Short answers with code samples", "Answers short, with code")


def test_no_suggestion_is_looked_for_without_room_and_all_of_them_with_it() -> None:
    namer = Naming()
    world = World(namer=namer)
    preferred(world, *LIKE)
    leave(world, 100)
    for _ in range(3):
        assert failed(world.tidy(hours=1)) == 0
    assert namer.asked == 0
    leave(world, 1_000_000)
    namer.meanwhile = lambda: object.__setattr__(world.now.commits.bounds, "quota_bytes", 1)
    assert failed(world.tidy(hours=1)) == 0
    assert (namer.asked, world.now.suggestions.page(world.owner, None, 5, None)[0]) == (1, [])
    namer.meanwhile = lambda: None
    leave(world, 1_000_000)
    world.tidy(hours=1)
    assert len(world.now.suggestions.page(world.owner, None, 5, None)[0]) == 1


class Describing:
    """A describer that counts how often it is asked, and what happens meanwhile."""

    def __init__(self) -> None:
        self.asked = 0
        self.meanwhile: Callable[[], Any] = lambda: None

    def describe(self, project: str, facts: Any) -> Described:
        self.asked += 1
        self.meanwhile()
        return Described(f"{project} has parts", Cost(1, 10, 5))


def test_no_context_is_described_without_room_and_one_in_vain_is_not_described_again() -> None:
    describer = Describing()
    world = World(describer=describer)
    for number in range(limits.SCENE_NEWS):
        world.add(f"Atlas has part {number}.", scope=Scope.PROJECT, project="atlas", category=Category.KNOWLEDGE)
    leave(world, 100)
    assert failed(world.tidy(hours=1)) == 0
    assert describer.asked == 0
    leave(world, 1_000_000)
    describer.meanwhile = lambda: object.__setattr__(world.now.commits.bounds, "quota_bytes", 1)
    assert failed(world.tidy(hours=1)) == 0
    leave(world, 1_000_000)
    for _ in range(2):
        assert failed(world.tidy(hours=1)) == 0
    assert (describer.asked, calls(world)) == (1, 1)
    assert "has parts" not in str(told(world))


def test_the_coldest_scene_is_archived_though_no_room_is_left() -> None:
    world = World()
    for number in range(limits.SCENES + 1):
        world.add(f"Of project {number}.", scope=Scope.PROJECT, project=f"p{number}")
    leave(world, 0)
    assert failed(world.tidy()) == 0
    assert "archived" in str(told(world))
