"""Scenes go with their project and with everything, the persona with everything, though a person wrote them; what came later stays."""

from contextlib import suppress
from typing import Any

import pytest

from shared.domain.memory import Scope
from shared.domain.task import TaskStatus
from shared.keeping.scenes.scenes import Which
from shared.storage import names, persona, scenes
from shared.storage.document_commits import DocumentCommits
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, selected, status
from tests.unit.keeping.sessions.speaking import begin, end, end_if_open, note
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, rebuilt, settle

BY_HAND = "花生 is served in this project."


def described(world: World, project: str, text: str = BY_HAND) -> None:
    world.clock.advance(1)
    world.now.scenes.switch(world.owner, project)
    world.clock.advance(1)
    world.now.scenes.change(world.owner, project, {"summary": text, "name": f"{project} 花生"}, None)


def portrayed() -> World:
    """Return a world with two scenes by hand, one of them with a memory, and a persona that rests on nothing."""
    world = World()
    described(world, "atlas")
    world.add("The atlas is large", scope=Scope.PROJECT, project="atlas")
    described(world, "zed")
    statements = [[persona.TRAITS, "Likes 花生", []]]
    documents = DocumentCommits(world.now.commits)
    documents.write(world.owner, persona.place, lambda _opened, _standing: {persona.STATEMENTS: statements})
    return world


def left(world: World) -> list[str]:
    return sorted(seen.scene.project for seen in world.now.scenes.page(world.owner, Which.ALL, 50, None).scenes)


def active(world: World) -> str | None:
    return scenes.active_project(world.now.vaults.open(world.owner, [names.ACTIVE]))


@pytest.mark.parametrize(
    ("wish", "count", "stays"),
    [
        ({"project": "zed"}, 1, ["atlas"]),
        ({"project": "atlas"}, 1, ["zed"]),
        ({"all": True}, 2, []),
        ({"project": "zed", "query": "花生"}, 0, ["atlas", "zed"]),
        ({"scope": Scope.PROJECT}, 0, ["atlas", "zed"]),
        ({"project": "nothing"}, 0, ["atlas", "zed"]),
    ],
    ids=str,
)
def test_scenes_go_with_their_project_and_with_everything(wish: dict[str, Any], count: int, stays: list[str]) -> None:
    world = portrayed()
    assert world.now.forgetting.preview(world.owner, selected(world, **wish)).scenes == count
    task_id = forget(world, **wish)
    forgotten(world)
    assert left(world) == stays
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert status(world, task_id)[1].get("scenes", 0) == count
    assert active(world) == ("zed" if "zed" in stays else None)
    assert ("花生" in everything_said(world)) is bool(stays)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert left(world) == stays


def test_what_is_written_after_the_request_stays() -> None:
    world = portrayed()
    forget(world, all=True)
    described(world, "zed", "Tea is served.")
    world.add("Another atlas", scope=Scope.PROJECT, project="atlas")
    forgotten(world)
    found = {seen.scene.project: seen for seen in world.now.scenes.page(world.owner, Which.ALL, 50, None).scenes}
    assert {project: seen.summary for project, seen in found.items()} == {"atlas": None, "zed": "Tea is served."}
    assert (found["atlas"].scene.name, found["zed"].scene.name) == ("atlas", "zed 花生")
    assert active(world) == "zed"
    assert world.texts() == ["Another atlas"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_whoever_dies_the_scenes_go_and_are_counted_once(when: str) -> None:
    world = portrayed()
    forget(world, all=True)
    steps = world.restart()
    world.tidy()
    for at in range(1, steps.count + 1, 3):
        world = portrayed()
        task_id = forget(world, all=True)
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.tidy()
        world.restart()
        for _ in range(3):
            world.tidy(hours=LEASE_AND_MORE)
        assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1, "scenes": 2}), at
        assert left(world) == [], at
        assert "花生" not in everything_said(world), at


@pytest.mark.parametrize("handed_over", [False, True], ids=["open session", "waiting"])
def test_deleting_a_scene_takes_what_was_noted_of_its_project(*, handed_over: bool) -> None:
    world = portrayed()
    begin(world, "zed")
    note(world, "We decided to use 花生 in Zed")
    if handed_over:
        world.now.sessions.end(world.owner)
    world.clock.advance(1)
    assert world.now.scene_deletion.delete(world.owner, "zed", confirm=True).done
    end_if_open(world.now, world.owner)
    world.work_off()
    world.work_off()
    assert left(world) == ["atlas"]
    assert world.texts() == ["The atlas is large"]
    settle(world)
    assert_sound(world)


def test_deleting_a_scene_leaves_notes_of_other_projects() -> None:
    world = portrayed()
    begin(world, "atlas")
    note(world, "We decided to use tea in Atlas")
    world.now.scene_deletion.delete(world.owner, "zed", confirm=True)
    end(world)
    assert "We decided to use tea in Atlas" in world.texts()
