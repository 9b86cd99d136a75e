"""What a dry run counts and shows: also what is no memory yet, and nothing that is over."""

from datetime import timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.memory import Category, Scope
from shared.domain.task import TaskStatus
from shared.keeping.forgetting.asking import Preview
from shared.storage import names
from tests.builders import World
from tests.unit.keeping.forgetting.test_forgetting import forget, forgotten, selected, status
from tests.unit.keeping.forgetting.test_forgetting_what_waits import DATABASE, THEME, handed_over
from tests.unit.keeping.sessions.speaking import begin, note


def preview(world: World, **wish: Any) -> Preview:
    world.clock.advance(1)
    return world.now.forgetting.preview(world.owner, selected(world, **wish))


def with_notes() -> World:
    """Return a world with an open session of a project, one that was handed over, and a conversation that waits."""
    world = World()
    world.say(DATABASE, THEME)
    handed_over(world, DATABASE, THEME)
    begin(world, "atlas")
    note(world, "We decided to use Postgres for invoices")
    note(world, "I prefer green tea")
    return world


@pytest.mark.parametrize(
    ("wish", "notes", "conversations"),
    [
        ({"query": "postgres"}, 2, 1),
        ({"project": "atlas"}, 4, 0),
        ({"all": True}, 4, 1),
        ({"query": "nothing of it"}, 0, 0),
        ({"category": Category.DECISION}, 0, 0),
        ({"scope": Scope.USER, "query": "postgres"}, 0, 0),
    ],
    ids=str,
)
def test_notes_and_conversations_are_counted_before_and_after(
    wish: dict[str, Any], notes: int, conversations: int
) -> None:
    world = with_notes()
    shown = preview(world, **wish)
    assert (shown.count, shown.notes, shown.conversations, shown.complete) == (0, notes, conversations, True)
    task_id = forget(world, **wish)
    forgotten(world)
    counted = {name: count for name, count in (("notes", notes), ("conversations", conversations)) if count}
    assert status(world, task_id) == (TaskStatus.DONE, counted)


def test_a_dry_run_without_time_for_what_waits_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    world = with_notes()
    monkeypatch.setattr(limits, "DELETING_TIME", timedelta(seconds=-1))
    assert not preview(world, all=True).complete


@pytest.mark.parametrize("retained", [False, True], ids=["its own end", "retention_days"])
def test_what_is_over_is_neither_counted_nor_shown_and_goes_all_the_same(*, retained: bool) -> None:
    world = World()
    ends = None if retained else world.clock() + timedelta(days=2)
    short = world.add("short lived one", expires_at=ends)
    world.edit(short.id, content="short lived two")
    if retained:
        world.choose(retention_days=2)
    assert (preview(world, query="lived one").earlier_count, preview(world, query="lived two").count) == (1, 1)
    world.clock.advance(3 * 86_400)
    shown = [preview(world, query=words) for words in ("lived one", "lived two")]
    assert [(one.count, one.memories, one.earlier_count, one.earlier) for one in shown] == [(0, [], 0, [])] * 2
    forget(world, query="lived")
    forgotten(world)
    assert not [sk for sk in world.table.partition(world.owner) if sk.startswith(names.MEMORY)]
