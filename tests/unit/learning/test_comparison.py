"""What a model is shown of the memories: at most so many, newest first, the person's own before a project's (B10)."""

from functools import partial

import pytest

from shared.domain import limits
from shared.domain.errors import Unavailable
from shared.domain.memory import Scope
from shared.learning import comparison
from shared.learning.comparison import Comparison
from shared.learning.extractor import Candidate, Known
from shared.ports import Update
from tests.builders import World, conversation
from tests.fakes import Steps
from tests.unit.learning.finding import Finder, finds


def learned(world: World, finder: Finder, texts: list[str], **more: str) -> None:
    """Learn these texts one after the other."""
    scope = Scope.PROJECT if "project" in more else Scope.USER
    for text in texts:
        finder.coming.append(partial(_one, finds(text, scope=scope)))
        world.say(text, **more)
    world.work_off()


def _one(candidate: Candidate, _: Known) -> list[Candidate]:
    return [candidate]


def known(world: World, project: str | None = None) -> Known:
    opened = world.now.vaults.open(world.owner)
    assert opened is not None
    return Comparison(world.now.vaults).known(opened, conversation("hello", project=project))


@pytest.fixture
def finder() -> Finder:
    return Finder()


@pytest.fixture
def world(finder: Finder) -> World:
    return World(extractor=finder)


def test_the_set_is_bounded_and_the_persons_own_fill_it_first(
    world: World, finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits.COMPARISON_SET == 200
    monkeypatch.setattr(limits, "COMPARISON_SET", 12)
    learned(world, finder, [f"own {n}" for n in range(3)])
    learned(world, finder, [f"project {n}" for n in range(limits.COMPARISON_SET)], project="p")
    texts = [text for _, text in known(world, "p").offered]
    assert len(texts) == limits.COMPARISON_SET
    assert texts[:4] == ["own 2", "own 1", "own 0", f"project {limits.COMPARISON_SET - 1}"]
    assert "project 3" in texts
    assert "project 2" not in texts


def test_the_persons_own_are_found_behind_a_page_of_others(
    world: World, finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "LISTED", 2)
    learned(world, finder, ["own"])
    learned(world, finder, ["other 1", "other 2", "other 3"], project="another")
    assert [text for _, text in known(world, "p").offered] == ["own"]


def test_imported_and_manual_ones_are_not_offered_and_damaged_ones_hide_no_other(world: World, finder: Finder) -> None:
    world.add("by hand")
    learned(world, finder, ["damaged", "whole"])
    broken = next(memory.id for memory in world.memories() if memory.content == "damaged")
    world.table.write(world.owner, [Update(f"m#{broken}", set={"sealed": b"damaged"})])
    assert [text for _, text in known(world).offered] == ["whole"]


def test_what_cannot_be_read_is_an_empty_set(world: World, finder: Finder) -> None:
    learned(world, finder, ["own"])
    assert known(world).offered
    opened = world.now.vaults.open(world.owner)
    assert opened is not None
    failing = world.process(Steps(at=1, error=Unavailable))
    assert Comparison(failing.vaults).known(opened, conversation("hello")) == Known()
