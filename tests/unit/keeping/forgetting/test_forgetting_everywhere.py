"""Once a forget is done, nothing of it is left in any kind of place, whatever it was asked by."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.domain.memory import Category, Scope
from shared.domain.task import TaskStatus, Trigger
from shared.learning.conversation import Conversation, Message
from shared.storage.suggestions import Decision
from tests.builders import World, conversation
from tests.unit.evolution.suggesting import suggested
from tests.unit.importing.sending import lines, send
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, status, would_go
from tests.unit.keeping.sessions.speaking import begin, note
from tests.unit.storage.deeds import Summing
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import assert_sound, settle

WORD, THEME = "花生", "I prefer the dark theme in every editor I own"
REPEATED = (
    "花生 tests failed, so run them again in docker",
    "花生 tests failed, so run them again in Docker!",
    "花生 tests failed so run them again in docker now",
)


def said_everywhere() -> World:
    """Return a world in which a word stands in versions, a scene, the persona, an accepted suggestion, tasks, a dry run, notes of an open
    session, a conversation that waits, an import that waits, and the index."""
    world = World(extractor=Summing())
    for text in REPEATED:
        world.add(text, category=Category.PREFERENCE)
    world.edit(world.add("I work as a backend engineer for 花生 Ltd").id, importance=9)
    world.say("Remember: I prefer 花生 butter on bread.", project="atlas")
    world.work_off()
    world.now.portrait.ask(world.owner)
    world.tidy()
    (suggestion,) = suggested(world)
    world.now.suggestions.decide(world.owner, suggestion.id, Decision.ACCEPTED, None)
    assert any(WORD in one.text for one in world.now.portrait.get(world.owner)[0].statements)
    world.now.accepting.accept(world.owner, conversation("Please remember that 花生 is dry.", dry_run=True))
    world.work_off()
    begin(world)
    note(world, "记住这个：我对花生过敏", "花生 it is", topic="花生")
    world.say("Please remember that 花生 is bad for me.")
    world.build()
    send(world, lines("花生 in a file", "Something else in a file"))
    return world


@pytest.mark.parametrize(
    "wish",
    [{"query": WORD}, {"all": True}, {"last_days": 2}, {"since": datetime(2026, 3, 1, tzinfo=UTC)}],
    ids=["words", "all", "days", "time"],
)
def test_nothing_is_left_in_any_kind_of_place(wish: dict[str, Any]) -> None:
    world = said_everywhere()
    under_way = world.work.receive()
    assert everything_said(world).count(WORD) > 20
    task_id = forget(world, **wish)
    for _ in range(3):
        world.tidy()
    assert status(world, task_id)[0] is TaskStatus.DONE
    assert WORD not in everything_said(world)
    for message in under_way:
        world.deliver(message)
    settle(world)
    assert WORD not in everything_said(world)
    assert world.texts() == (["Something else in a file"] if "query" in wish else [])
    assert_sound(world)


@pytest.mark.parametrize("wish", [{"query": "花生"}, {"query": "花生过敏"}], ids=str)
@pytest.mark.parametrize(
    "call",
    [
        {"name": "order", "input": {"without": ["花生过敏"]}},
        {"function": {"name": "order", "arguments": '{"without": "\\u82b1\\u751f\\u8fc7\\u654f"}'}},
        {"function": {"name": "花生过敏", "arguments": "[" * 5000}},
    ],
    ids=["values", "escaped", "name"],
)
def test_what_only_a_tool_was_told_is_taken_out_of_what_waits(call: dict[str, Any], wish: dict[str, Any]) -> None:
    world = World()
    said = (Message("user", THEME), Message("assistant", "I order.", tool_calls=(call,)))
    world.now.accepting.accept(world.owner, Conversation(said, Trigger.MANUAL))
    task_id = forget(world, **wish)
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"conversations": 1})
    assert "order" not in everything_said(world)
    world.work_off()
    assert world.texts() == [THEME]


SIGNS = r'We decided to mount C:\nut for "butter"'


@pytest.mark.parametrize(
    "wish",
    [
        {"query": r"c:\nut"},
        {"query": '"butter"'},
        {"project": "atlas"},
        {"scope": Scope.PROJECT},
        {"importance_below": 10},
        {"category": Category.DECISION},
    ],
    ids=str,
)
def test_what_a_dry_run_would_have_learned_is_forgotten_as_what_was_learned(wish: dict[str, Any]) -> None:
    world = World()
    heard = conversation(SIGNS, dry_run=True, project="atlas")
    world.now.accepting.accept(world.owner, heard)
    world.work_off()
    other = world.now.accepting.accept(world.owner, conversation("Remember that I prefer tea.", dry_run=True)).task_id
    world.work_off()
    assert "butter" in everything_said(world)
    forget(world, **wish)
    forgotten(world)
    assert "butter" not in everything_said(world)
    kept = world.now.tasks.get(world.owner, other or "").would_learn
    assert bool(kept) is ("importance_below" not in wish)


def test_a_dry_run_that_told_a_memory_again_tells_it_no_more_than_the_memory() -> None:
    world = World()
    told = world.add(THEME)
    world.clock.advance(24 * 3600)
    world.now.accepting.accept(world.owner, conversation(f"Remember: {THEME}", dry_run=True))
    world.work_off()
    forget(world, ids=[told.id])
    forgotten(world)
    assert THEME not in everything_said(world)


def test_a_summary_of_what_taught_nothing_goes_with_its_project() -> None:
    world = World(extractor=Summing())
    world.say("What is the weather like in Lisbon?", project="atlas")
    world.work_off()
    assert "Lisbon" in everything_said(world)
    forget(world, project="atlas")
    forgotten(world)
    assert "Lisbon" not in everything_said(world)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我對後端的數據庫過敏", "数据库 后端"),
        ("我对后端的数据库过敏", "後端"),
        ("我对花\u200b生过敏", "花生"),
        ("Lunch is at the Café Noir", "cafe noir"),
        ("Lunch is at the Cafe\u0301 Noir", "CAFÉ"),
    ],
)
def test_words_are_compared_as_search_compares_them(text: str, query: str) -> None:
    world = World()
    world.add(text)
    world.add(THEME)
    assert would_go(world, query=query) == [text]
    forget(world, query=query)
    forgotten(world)
    assert world.texts() == [THEME]
