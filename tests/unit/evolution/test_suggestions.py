"""A suggestion after it was made: told where it was accepted, decided once, and gone or said anew when its memories go."""

from dataclasses import replace

import pytest

from shared.domain.errors import InvalidCursor, NotFound, VersionMismatch
from shared.domain.memory import Category, Scope
from shared.learning.consolidation.merging import merged
from shared.learning.consolidation.records import Planned
from shared.ports import Update
from shared.recall.context import Moment
from shared.storage import items, lines, names
from shared.storage.suggestions import Decision, Kind
from tests.builders import World
from tests.unit.evolution.suggesting import DEPLOY, REVIEW, SMALL, decide, experienced, preferred, suggested
from tests.unit.storage.soundness import assert_sound, opened, rebuilt, records, settle, told


def context(world: World, agent: str | None = None) -> str:
    world.restart()
    moment = Moment(message="so be it", project=None, agent=agent, new_session=False)
    return world.now.contexts.context(world.owner, moment).text


def test_an_accepted_one_is_told_to_its_own_agent_only_and_a_proposed_one_to_nobody() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.tidy()
    assert "accepted" not in context(world, agent="pilot")
    decide(world, Decision.ACCEPTED)
    assert "Ways of working that the person accepted:\n- A migration error broke" in context(world, agent="pilot")
    assert context(world, agent="copilot") == ""
    assert context(world) == ""
    decide(world, Decision.DISMISSED)
    assert context(world, agent="pilot") == ""


def test_one_of_the_person_is_told_to_everybody_and_one_of_a_project_in_it_only() -> None:
    world = World()
    preferred(world, *SMALL)
    for text in REVIEW:
        world.add(text, category=Category.PREFERENCE, scope=Scope.PROJECT, project="atlas")
    world.tidy()
    for one in suggested(world):
        world.now.suggestions.decide(world.owner, one.id, Decision.ACCEPTED, None)
    assert "small pull requests" in context(world, agent="copilot")
    assert "代码评审" not in context(world, agent="copilot")
    told_of = world.now.contexts.context(
        world.owner, Moment(message="so be it", new_session=False, project="atlas")
    ).text
    assert "代码评审" in told_of


def test_a_dismissed_pattern_never_comes_back_however_often_it_is_met_again() -> None:
    world = World()
    made = experienced(world, *DEPLOY)
    world.tidy()
    decide(world, Decision.DISMISSED)
    again = (
        "Once more the staging deploy failed with a migration error → rolled back, reran migrations by hand → succeeded"
    )
    experienced(world, again)
    world.tidy(hours=2)
    assert [one.status for one in suggested(world)] == [Decision.DISMISSED]
    for memory in made:
        world.delete(memory.id)
    world.tidy(hours=2)
    assert suggested(world) == []
    experienced(world, *(f"{text}!" for text in DEPLOY))
    world.tidy(hours=2)
    assert suggested(world) == []
    rebuilt(world)
    world.tidy(hours=2)
    assert suggested(world) == []
    assert "rolled" not in str([record.body for record in records(world) if record.kind == lines.SUGGESTION])


def test_a_proposed_one_goes_when_one_of_its_memories_does_and_is_hidden_at_once() -> None:
    world = World()
    made = experienced(world, *DEPLOY)
    world.tidy()
    (one,) = suggested(world)
    world.delete(made[2].id)
    assert suggested(world) == []
    with pytest.raises(NotFound):
        world.now.suggestions.decide(world.owner, one.id, Decision.ACCEPTED, None)
    world.tidy(hours=2)
    world.tidy(hours=2)
    assert not told(world).get(names.SUGGESTION + one.id)
    assert "broke" not in str([record.body for record in records(world)])
    settle(world)
    assert_sound(world)


def test_what_still_repeats_without_a_deleted_memory_is_suggested_anew_though_nothing_else_is_learned() -> None:
    world = World()
    made = experienced(world, *DEPLOY, f"{DEPLOY[0]}!")
    world.tidy()
    (one,) = suggested(world)
    world.delete(made[3].id)
    world.tidy()
    world.tidy(hours=2)
    (anew,) = suggested(world)
    assert (anew.id != one.id, anew.evidence) == (True, 3)
    assert made[3].id not in anew.basis


def test_an_accepted_one_is_said_anew_in_the_words_of_what_stands_and_goes_when_there_is_one_left() -> None:
    world = World()
    made = experienced(world, *DEPLOY)
    world.tidy()
    decide(world, Decision.ACCEPTED)
    world.delete(made[2].id)
    assert suggested(world) == []
    assert context(world, agent="pilot") == ""
    world.tidy(hours=2)
    (one,) = suggested(world)
    assert (one.text, one.status, one.evidence) == (DEPLOY[1], Decision.ACCEPTED, 2)
    assert "rollback, then" in context(world, agent="pilot")
    world.dismiss(made[1].id)
    world.tidy(hours=2)
    assert suggested(world) == []
    settle(world)
    assert_sound(world)


def test_it_follows_a_consolidation() -> None:
    world = World()
    preferred(world, *SMALL)
    world.tidy()
    decide(world, Decision.ACCEPTED)
    keys, partition = opened(world).keys, world.table.partition(world.owner)
    stored = [items.from_item(keys, item) for sk, item in partition.items() if sk.startswith(names.MEMORY)]
    product = "01KJMV71S8AYZE4PA0D4YD5EQ4"
    plan = Planned(tuple((one.memory.id, one.memory.version) for one in stored), product, "Prefers small pull requests")
    changes = merged(keys, plan, stored, world.clock(), stored[0].memory.origin)
    assert changes is not None
    world.now.commits.commit_together(keys, changes, whole=True)
    world.tidy()
    assert [(one.basis, one.status) for one in suggested(world)] == [((product,), Decision.ACCEPTED)]
    world.tidy(hours=24 * 9)
    assert [one.status for one in suggested(world)] == [Decision.ACCEPTED]


def test_a_decision_guards_versions_and_other_peoples_are_not_found() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.tidy()
    (one,) = suggested(world)
    with pytest.raises(VersionMismatch):
        world.now.suggestions.decide(world.owner, one.id, Decision.ACCEPTED, frozenset({"another"}))
    accepted = world.now.suggestions.decide(world.owner, one.id, Decision.ACCEPTED, frozenset({one.commit}))
    assert accepted == replace(one, status=Decision.ACCEPTED, commit=accepted.commit)
    for owner, wrong in (("b" * 52, one.id), (world.owner, "no id"), (world.owner, "01KJMV71S8AYZE4PA0D4YD5EQ4")):
        with pytest.raises(NotFound):
            world.now.suggestions.decide(owner, wrong, Decision.ACCEPTED, None)
    assert world.table.partition("b" * 52) == {}


def test_a_list_has_pages_by_status_the_newest_first() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.tidy()
    preferred(world, *SMALL)
    world.tidy(hours=1)
    first, cursor = world.now.suggestions.page(world.owner, None, 1, None)
    second, last = world.now.suggestions.page(world.owner, None, 1, cursor)
    assert [one.kind for one in first + second] == [Kind.SKILL, Kind.WORKFLOW]
    assert last is None or world.now.suggestions.page(world.owner, None, 1, last)[0] == []
    with pytest.raises(InvalidCursor):
        world.now.suggestions.page(world.owner, Decision.ACCEPTED, 1, cursor)
    with pytest.raises(InvalidCursor):
        world.now.suggestions.page("b" * 52, None, 1, cursor)
    assert world.now.suggestions.page("b" * 52, None, 1, None) == ([], None)


def test_what_is_decided_while_it_is_cleared_stays_decided() -> None:
    world = World()
    made = experienced(world, *DEPLOY)
    world.tidy()
    decide(world, Decision.ACCEPTED)
    writer = world.process()
    world.delete(made[2].id)
    (stored,) = world.sks(names.SUGGESTION)
    with pytest.raises(NotFound):
        writer.suggestions.decide(world.owner, stored, Decision.DISMISSED, None)
    world.tidy(hours=2)
    assert [one.status for one in suggested(world)] == [Decision.ACCEPTED]


def test_nothing_of_a_suggestion_is_readable_at_rest() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.tidy()
    (item,) = [item for sk, item in world.table.partition(world.owner).items() if sk.startswith(names.SUGGESTION)]
    assert set(item) <= {"sk", "document", "document_gen", "document_commit"}
    assert "pilot" not in str(item)


def test_one_that_does_not_open_is_left_out_and_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    experienced(world, *DEPLOY)
    preferred(world, *SMALL)
    world.tidy()
    sk = names.SUGGESTION + suggested(world)[0].id
    sealed = bytes(world.table.partition(world.owner)[sk]["document"])  # type: ignore[arg-type]
    world.table.write(world.owner, [Update(sk, set={"document": sealed[:-1] + bytes([sealed[-1] ^ 1])})])
    assert len(suggested(world)) == 1
    assert '"event":"damaged"' in capsys.readouterr().out
    assert (world.tidy(hours=1) or {}).get("failed_steps") is None
