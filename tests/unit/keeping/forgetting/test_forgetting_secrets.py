"""A secret is forgotten by who names all of it; to anybody else a request to forget says nothing of it."""

from string import ascii_letters, digits, punctuation
from typing import Any

import pytest

from shared.domain.memory import Category
from tests.builders import World
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, selected, would_go
from tests.unit.keeping.sessions.speaking import begin, note
from tests.unit.storage.opening import everything_said

SECRET = "Zq7!kd92Lm"
TOLD = f"The database password is {SECRET}"
PARTS = [SECRET[:-1], SECRET[1:], SECRET[3], f"is {SECRET[:6]}", f"{SECRET}x"]


def counts(world: World, query: str) -> tuple[int, int]:
    preview = world.now.forgetting.preview(world.owner, selected(world, query=query))
    return preview.count, preview.earlier_count


def test_asking_sign_by_sign_tells_nothing_of_a_secret() -> None:
    world = World()
    world.add(TOLD)
    shown = "The database password is ***".casefold()
    unlike = [sign for sign in ascii_letters + digits + punctuation if sign.casefold() not in shown]
    assert {counts(world, sign) for sign in unlike} == {(0, 0)}
    assert {counts(world, SECRET[start:end]) for start in range(8) for end in range(start + 2, 10)} == {(0, 0)}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("edited", [False, True], ids=["as it stands", "an earlier version"])
def test_a_part_of_a_secret_means_no_memory(part: str, *, edited: bool) -> None:
    world = World()
    memory = world.add(TOLD)
    if edited:
        world.edit(memory.id, content="There is no database")
    assert counts(world, part) == (0, 0)
    forget(world, query=part)
    forgotten(world)
    assert SECRET in everything_said(world)


@pytest.mark.parametrize("query", [SECRET, f"database {SECRET}", f" {SECRET.upper()} "])
def test_who_names_a_whole_secret_means_what_holds_it(query: str) -> None:
    world = World()
    world.add(TOLD)
    changed = world.add(f"My old token: {SECRET}, of the database")
    world.edit(changed.id, content="There is no token")
    assert counts(world, query) == (1, 1)
    forget(world, query=query)
    forgotten(world)
    assert SECRET not in everything_said(world)
    assert world.texts() == ["There is no token"]


def test_a_text_that_is_a_secret_as_a_whole_is_meant_by_all_its_words_in_their_order() -> None:
    world = World()
    (memory,) = [world.add("my dog is called rex, rex", category=Category.CREDENTIAL)]
    assert "rex" not in memory.content
    for query in ("rex", "dog", "my dog is called", "rex, rex my dog is called", "my dog is called rex,"):
        assert counts(world, query) == (0, 0), query
    assert would_go(world, query="my dog is  called REX, rex") == [memory.content]


@pytest.mark.parametrize("kept", ["note", "conversation"])
@pytest.mark.parametrize(("query", "left"), [*((part, True) for part in PARTS), (SECRET, False)])
def test_what_waits_to_be_learned_is_meant_by_a_whole_secret_only(kept: str, query: str, *, left: bool) -> None:
    world = World()
    if kept == "note":
        begin(world)
        note(world, TOLD)
    else:
        world.say(f"{TOLD}. Use it well.", f"I said {SECRET} again")
    forget(world, query=query)
    forgotten(world)
    assert (SECRET in everything_said(world)) is left


@pytest.mark.parametrize("wish", [{"query": "password"}, {"query": "***"}], ids=str)
def test_what_is_shown_of_a_memory_with_a_secret_means_it(wish: dict[str, Any]) -> None:
    world = World()
    world.add(TOLD)
    assert would_go(world, **wish) == ["The database password is ***"]
