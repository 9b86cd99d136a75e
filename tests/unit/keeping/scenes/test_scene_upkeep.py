"""What maintenance does for scenes: contexts from enough new facts, texts that fall or follow a consolidation, and nothing twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.asking import ModelDown
from shared.domain.ids import ulid
from shared.domain.memory import Memory, Origin, Scope
from shared.keeping.scenes.scenes import Seen, Which
from shared.keeping.scenes.upkeep import Described
from shared.learning.consolidation.merging import merged
from shared.learning.consolidation.records import Planned
from shared.learning.extractor import Cost
from shared.storage import lines, scenes
from tests.builders import World
from tests.fakes import Steps
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, died, opened, rebuilt, records, settle, told


@dataclass
class Describing:
    """Says which facts it was shown, and keeps them."""

    shown: list[list[str]] = field(default_factory=list)
    refuses: bool = False
    down: bool = False

    def describe(self, project: str, facts: Sequence[Memory]) -> Described:
        if self.down:
            raise ModelDown
        self.shown.append([fact.content for fact in facts])
        text = None if self.refuses else f"{project}: {'; '.join(fact.content for fact in facts)}"
        return Described(text, Cost(1, 100, 20))


def grown(describer: Describing | None, facts: int = limits.SCENE_NEWS) -> World:
    world = World(describer=describer)
    for number in range(facts):
        add(world, f"Atlas has part {number}.")
    return world


def add(world: World, text: str, **more: Any) -> Memory:
    return world.add(text, scope=Scope.PROJECT, project="atlas", **more)


def seen(world: World) -> Seen:
    world.restart()
    return world.now.scenes.get(world.owner, "atlas")


def test_a_context_is_written_from_ten_new_facts_the_newest_first_and_not_again_without_ten_more() -> None:
    describer = Describing()
    world = grown(describer, limits.SCENE_NEWS - 1)
    world.tidy()
    assert (seen(world).context, describer.shown) == (None, [])
    add(world, "Atlas has part 9.")
    world.tidy()
    assert (seen(world).context or "").startswith("atlas: Atlas has part 9.; Atlas has part 8.")
    add(world, "Atlas has one part more.")
    world.tidy(hours=2)
    assert len(describer.shown) == 1
    for number in range(limits.SCENE_NEWS - 1):
        add(world, f"Atlas has a later part {number}.")
    world.tidy(hours=2)
    assert len(describer.shown) == 2
    assert len(describer.shown[1]) == 2 * limits.SCENE_NEWS
    settle(world)
    assert_sound(world)
    before = seen(world).context
    rebuilt(world)
    assert seen(world).context == before


def test_no_more_than_the_newest_facts_are_shown_and_never_a_credential_or_a_dismissed_one() -> None:
    describer = Describing()
    world = grown(describer, limits.SCENE_FACTS + 3)
    add(world, "The staging password is swordfish1.")
    world.dismiss(add(world, "Atlas is of no use.").id)
    add(world, "Soon over.", expires_at=world.clock() + timedelta(minutes=1))
    world.clock.advance(120)
    world.tidy()
    (shown,) = describer.shown
    assert len(shown) == limits.SCENE_FACTS - 2
    assert not any(word in text for text in shown for word in ("password", "no use", "Soon"))


def test_what_a_model_costs_is_counted_for_the_owners_day() -> None:
    world = grown(Describing())
    world.tidy()
    today = world.now.overview.usage(world.owner).today
    assert (today.calls, today.tokens_in, today.tokens_out) == (1, 100, 20)


def test_without_a_model_there_is_no_context() -> None:
    world = grown(None, 20)
    world.tidy()
    assert seen(world).context is None


def test_while_memory_is_off_no_model_is_shown_anything() -> None:
    describer = Describing()
    world = grown(describer)
    world.choose(enabled=False)
    world.tidy()
    assert describer.shown == []
    world.choose(enabled=True)
    world.tidy()
    assert len(describer.shown) == 1


def test_a_secret_in_a_context_is_masked_and_too_much_of_it_cut() -> None:
    world = World(describer=Describing())
    for number in range(limits.SCENE_NEWS):
        add(world, f"{number} " + "长" * 400)
    world.tidy()
    context = seen(world).context or ""
    assert 2_000 < len(context.encode()) <= limits.SCENE_TEXT_BYTES


def test_a_refused_answer_is_not_asked_for_again_before_there_is_more() -> None:
    describer = Describing(refuses=True)
    world = grown(describer)
    assert (world.tidy() or {})["scenes_refused"] == 1
    world.tidy(hours=2)
    assert (len(describer.shown), seen(world).context) == (1, None)


def test_a_model_that_is_down_keeps_nothing_else_from_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    describer = Describing(down=True)
    world = World(describer=describer)
    for number in range(limits.SCENES + 1):
        world.add(f"Of project {number}.", scope=Scope.PROJECT, project=f"p{number}")
    for number in range(limits.SCENE_NEWS):
        add(world, f"Atlas has part {number}.")
    counts = world.tidy(hours=2) or {}
    assert counts["failed_steps"] == 1
    assert len(world.now.scenes.page(world.owner, Which.ARCHIVED, 50, None).scenes) == 2
    describer.down = False
    world.tidy(hours=1)
    assert seen(world).context


def test_a_deleted_fact_takes_the_context_away_at_once_and_a_new_one_is_written_without_it() -> None:
    describer = Describing()
    world = grown(describer, limits.SCENE_NEWS + 1)
    secret = add(world, "Atlas will be sold in May.")
    world.tidy()
    assert "sold" in (seen(world).context or "")
    world.delete(secret.id)
    assert seen(world).context is None
    world.tidy(hours=2)
    assert "part 3" in (seen(world).context or "")
    world.tidy(hours=2)
    assert "sold" not in str([record.body for record in records(world)])


def test_a_dismissed_facts_context_leaves_the_folded_journal_too() -> None:
    world = World(extractor=Summing())
    world.say("We decided to use Redis for the cache.", project="atlas")
    world.work_off()
    world.tidy(hours=2)
    (memory,) = world.memories()
    world.dismiss(memory.id)
    world.tidy(hours=2)
    world.tidy(hours=2)
    assert [record.document().get(scenes.SUMMARY) for record in records(world) if record.kind == lines.SCENE] == [None]
    settle(world)
    assert_sound(world)


def test_a_context_by_hand_is_left_alone_until_it_is_taken_back() -> None:
    describer = Describing()
    world = grown(describer, 3)
    world.now.scenes.change(world.owner, "atlas", {"context": "By hand."}, None)
    for number in range(20):
        add(world, f"Atlas has a later part {number}.")
    world.tidy()
    assert (seen(world).context, describer.shown) == ("By hand.", [])
    world.now.scenes.change(world.owner, "atlas", {"context": None}, None)
    add(world, "And one more.")
    world.tidy(hours=2)
    assert "later part" in (seen(world).context or "")


@pytest.mark.no_cover
def test_killing_maintenance_at_every_step_writes_the_same_scenes() -> None:
    def begun() -> World:
        world = grown(Describing())
        for number in range(limits.SCENES + 1):
            world.add(f"Of project {number}.", scope=Scope.PROJECT, project=f"p{number}")
        world.delete(world.memories()[-1].id)
        return world

    def end(world: World) -> dict[str, dict[str, object]]:
        settle(world)
        assert_sound(world)
        at = {scenes.CONTEXT_AT, scenes.ARCHIVED}
        return {
            sk: {n: v if n not in at else bool(v) for n, (v, _) in one.fields.items()}
            for sk, one in told(world).items()
        }

    world = begun()
    steps = world.restart()
    world.tidy()
    whole = end(world)
    assert opened(world).keys
    for at in range(1, steps.count + 1, 3):
        world = begun()
        died(world, Steps(at=at, when="after"), world.tidy)
        world.tidy(hours=LEASE_AND_MORE)
        assert end(world).keys() == whole.keys(), at


def test_a_second_run_changes_nothing() -> None:
    world = grown(Describing())
    for number in range(limits.SCENES + 1):
        world.add(f"Of project {number}.", scope=Scope.PROJECT, project=f"p{number}")
    settle(world)
    before = told(world), world.stored("journal")
    world.tidy(hours=2)
    assert (told(world), world.stored("journal")) == before


def test_texts_follow_their_memories_into_a_consolidation() -> None:
    world = World(describer=Describing())
    same = [add(world, "Atlas uses Redis."), add(world, "Atlas uses the Redis.")]
    for number in range(limits.SCENE_NEWS):
        add(world, f"Atlas has part {number}.")
    world.tidy()
    before = seen(world).context
    assert before
    sources = [world.now.memories.read(world.owner, memory.id)[1] for memory in same]
    keys, now = opened(world).keys, world.clock()
    product = ulid(now, world.random)
    plan = Planned(tuple((memory.id, memory.version) for memory in same), product, "Atlas uses Redis.")
    changes = merged(keys, plan, sources, now, Origin())
    assert changes
    world.now.commits.commit_together(keys, changes, whole=True)
    assert seen(world).context == before
    world.tidy(hours=2)
    assert seen(world).context == before
    world.clock.advance(days=9)
    world.tidy()
    (scene,) = [document for document in told(world).values() if document.get(scenes.CONTEXT)]
    assert product in scene.get(scenes.CONTEXT_BASIS)
    assert not {memory.id for memory in same} & set(scene.get(scenes.CONTEXT_BASIS))
    assert seen(world).context == before
    world.dismiss(product)
    assert seen(world).context is None
    settle(world)
    assert_sound(world)
