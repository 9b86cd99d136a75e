"""A model puts patterns into words: once, without ids, and only in words that the memories have."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from shared.domain.asking import Answer, Ask, ModelDown
from shared.learning.evolution import evolving
from shared.learning.evolution.naming import ModelNamer
from shared.learning.prompts.evolve import wording
from shared.storage import names
from tests.builders import World
from tests.unit.evolution.suggesting import DEPLOY, REVIEW, SMALL, experienced, preferred, suggested
from tests.unit.storage.soundness import told

Reply = Callable[[list[str]], object]
"""Makes an answer of the aliases that were shown."""


@dataclass
class Model:
    """A model that answers what `reply` makes of the patterns it is shown."""

    reply: Reply | Exception
    asks: list[Ask] = field(default_factory=list)
    meanwhile: Callable[[], object] | None = None

    def ask(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        if self.meanwhile is not None:
            self.meanwhile()
        if isinstance(self.reply, Exception):
            raise self.reply
        aliases = dict.fromkeys(line.partition(": ")[0] for line in ask.user.split("\n") if line[:1] == "p")
        made = self.reply(list(aliases))
        return Answer(made if isinstance(made, str) else json.dumps(made), "end", 50, 9, "model-1")


def names_all(title: str, text: str, kind: str = "workflow") -> Reply:
    def reply(aliases: list[str]) -> object:
        return {"suggestions": [{"pattern": one, "kind": kind, "title": title, "text": text} for one in aliases]}

    return reply


GOOD = names_all(
    "Staging deploy fails on a migration", "Roll back, then rerun the migrations by hand; the deploy succeeded."
)


def test_a_model_puts_patterns_into_words_once_and_sees_no_id() -> None:
    model = Model(GOOD)
    world = World(namer=ModelNamer(model))
    made = experienced(world, *DEPLOY)
    world.tidy()
    (one,) = suggested(world)
    assert (one.title, one.text[:9], one.model) == (
        "Staging deploy fails on a migration",
        "Roll back",
        "model-1 evolve/1",
    )
    assert not any(memory.id in model.asks[0].user for memory in made)
    assert world.now.overview.usage(world.owner).today.calls == 1
    experienced(world, "A migration error broke the staging deploy → rolled the release back again → worked")
    world.tidy(hours=2)
    assert len(model.asks) == 1


@pytest.mark.parametrize(
    "reply",
    [
        lambda _aliases: "I cannot help with that.",
        lambda _aliases: "x" * 100_000,
        lambda _aliases: "x" * 2_000_001,
        lambda _aliases: {"suggestions": []},
        lambda _aliases: {
            "suggestions": [{"pattern": "p9", "kind": "workflow", "title": "Staging", "text": "Staging"}]
        },
        lambda _aliases: {"suggestions": [{"pattern": "p1", "kind": "spell", "title": "Staging", "text": "Staging"}]},
        lambda _aliases: {"suggestions": [{"pattern": "p1", "kind": "skill", "title": 7, "text": None}]},
        names_all("", "Rerun the migrations by hand."),
        names_all("Staging deploy", "migration " * 60),
        names_all("Staging " * 20, "Rerun the migrations by hand."),
        names_all("Staging deploy", "Use Kubernetes to rerun the migrations."),
        names_all("Staging deploy", "From now on you must always rerun the migrations by hand."),
        names_all("Staging deploy", "Rerun the migrations by hand with password: hunter2-9f8e7d6c"),
        names_all("Staging deploy", "Buy a bigger boat and sail away."),
        names_all("Staging deploy", "重新执行迁移。"),
    ],
)
def test_an_answer_that_may_not_be_kept_makes_no_suggestion_and_is_not_asked_for_again(reply: Reply) -> None:
    model = Model(reply)
    world = World(namer=ModelNamer(model))
    experienced(world, *DEPLOY)
    world.tidy()
    assert suggested(world) == []
    world.add("Something else.")
    world.tidy(hours=2)
    assert len(model.asks) == 1
    model.reply = GOOD
    experienced(world, "Staging deploy failed with a migration error → reran the migrations by hand → deploy succeeded")
    world.tidy(hours=2)
    assert len(suggested(world)) == 1


def test_the_first_suggestion_for_a_pattern_counts() -> None:
    model = Model(
        lambda aliases: {"suggestions": [_named(aliases[0], "Staging deploy"), _named(aliases[0], "Migrations")]}
    )
    world = World(namer=ModelNamer(model))
    experienced(world, *DEPLOY)
    world.tidy()
    assert [one.title for one in suggested(world)] == ["Staging deploy"]


def _named(alias: str, title: str) -> dict[str, str]:
    return {
        "pattern": f"[{alias.upper()}]",
        "kind": "workflow",
        "title": title,
        "text": "Rerun the migrations by hand.",
    }


def test_more_patterns_than_are_shown_at_once_wait_for_the_next_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evolving, "PATTERNS_AT_ONCE", 1)
    model = Model(lambda _aliases: {"suggestions": []})
    world = World(namer=ModelNamer(model))
    experienced(world, *DEPLOY)
    preferred(world, *SMALL, *REVIEW)
    for _ in range(5):
        world.tidy(hours=1)
    assert len(model.asks) == 3
    assert len({ask.user for ask in model.asks}) == 3


def test_a_model_that_cannot_be_reached_is_asked_at_the_next_visit() -> None:
    model = Model(ModelDown())
    world = World(namer=ModelNamer(model))
    experienced(world, *DEPLOY)
    counts = world.tidy() or {}
    assert (counts["evolution_unavailable"], counts.get("failed_steps")) == (1, None)
    model.reply = GOOD
    world.tidy(hours=1)
    assert len(suggested(world)) == 1


def test_a_memory_deleted_while_the_model_thinks_takes_the_suggestion_with_it() -> None:
    model = Model(GOOD)
    world = World(namer=ModelNamer(model))
    made = experienced(world, *DEPLOY)
    writer = world.process()
    model.meanwhile = lambda: writer.edits.delete(world.owner, made[0].id, None)
    world.tidy()
    assert suggested(world) == []
    world.tidy(hours=2)
    assert all(not one for sk, one in told(world).items() if sk.startswith(names.SUGGESTION))


def test_both_prompts_frame_what_they_show() -> None:
    for tongue in ("en", "zh"):
        assert wording(tongue).count("{{boundary}}") == 1
