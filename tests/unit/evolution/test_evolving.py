"""What repeats becomes a suggestion, for those whom it concerns; a dismissed one never comes back; accepted ones are told."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from shared.domain import limits
from shared.domain.asking import Answer, Ask, ModelDown
from shared.domain.errors import InvalidCursor, NotFound, Unavailable, VersionMismatch
from shared.domain.memory import Category, Memory, Scope
from shared.learning import standing_facts
from shared.learning.consolidation.merging import merged
from shared.learning.consolidation.records import Planned
from shared.learning.evolution import evolving
from shared.learning.evolution.naming import ModelNamer
from shared.learning.evolution.patterns import patterns
from shared.learning.prompts.evolve import wording
from shared.ports import Update
from shared.recall.context import Moment
from shared.storage import items, lines, names
from shared.storage.suggestions import Decision, Kind, Suggestion
from tests.builders import World
from tests.fakes import Steps
from tests.unit.consolidation.merging import Proposing, fill, learned
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, died, opened, rebuilt, records, settle, told

DEPLOY = (
    "Staging deploy failed with a migration error → rolled back and reran the migrations by hand → deploy succeeded",
    "The deploy to staging failed on a migration → rollback, then migrations rerun by hand → the deploy went through",
    "A migration error broke the staging deploy → rolled the release back, reran migrations → worked",
)
TIMEOUT = (
    "接口超时 → 先看慢查询日志，再加索引 → 响应恢复正常",
    "接口响应超时 → 查慢查询日志后给字段加索引 → 恢复正常",
    "订单接口超时 → 根据慢查询日志加了索引 → 响应正常",
)
SMALL = (
    "I prefer small pull requests with one change each",
    "Prefers pull requests that are small, one change in each",
    "Likes small pull requests: one change per request",
)
REVIEW = (
    "喜欢提交粒度小的代码评审，每次只改一件事",
    "偏好小粒度的代码评审，一次只改一件事",
    "代码评审喜欢小粒度，每次只改一件事",
)
APART = (
    "I prefer tabs over spaces",
    "I prefer tea over coffee",
    "I prefer dark themes in the editor",
    "喜欢用深色主题",
    "喜欢用四个空格缩进",
    "喜欢用 TypeScript 写代码",
    "Build failed with a type error → fixed the annotation → build passed",
    "Docker image too large → used a slim base image → half the size",
    "生产环境部署失败，磁盘不足 → 清理旧镜像 → 部署成功",
    "镜像太大 → 换成精简基础镜像 → 体积减半",
)
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


def experienced(world: World, *texts: str, agent: str = "pilot") -> list[Memory]:
    return [world.add(text, scope=Scope.AGENT, agent=agent, category=Category.EXPERIENCE) for text in texts]


def preferred(world: World, *texts: str) -> list[Memory]:
    return [world.add(text, category=Category.PREFERENCE) for text in texts]


def suggested(world: World, status: Decision | None = None) -> list[Suggestion]:
    world.restart()
    return world.now.suggestions.page(world.owner, status, 50, None)[0]


def decide(world: World, status: Decision) -> Suggestion:
    (one,) = suggested(world)
    world.clock.advance(1)
    return world.now.suggestions.decide(world.owner, one.id, status, None)


def context(world: World, agent: str | None = None) -> str:
    world.restart()
    moment = Moment(message="so be it", project=None, agent=agent, new_session=False)
    return world.now.contexts.context(world.owner, moment).text


@pytest.mark.parametrize(
    ("texts", "kind", "agent"),
    [(DEPLOY, "workflow", "pilot"), (TIMEOUT, "workflow", "pilot"), (SMALL, "skill", None), (REVIEW, "skill", None)],
)
def test_three_that_are_alike_are_suggested_in_their_own_words(
    texts: tuple[str, ...], kind: str, agent: str | None
) -> None:
    world = World()
    write = experienced if agent else preferred
    made = write(world, *texts[:2])
    world.tidy()
    assert suggested(world) == []
    made += write(world, texts[2])
    world.tidy()
    (one,) = suggested(world)
    assert (one.kind, one.agent, one.status, one.evidence) == (Kind(kind), agent, Decision.PROPOSED, 3)
    assert one.basis == tuple(memory.id for memory in reversed(made))
    assert (one.text, one.title) == (texts[2], texts[2].partition(" →")[0])
    settle(world)
    assert_sound(world)
    before = suggested(world)
    rebuilt(world)
    assert suggested(world) == before
    world.tidy(hours=2)
    assert suggested(world) == before


def test_what_only_shares_a_few_words_is_no_pattern() -> None:
    world = World()
    preferred(world, *APART[:6])
    experienced(world, *APART[6:])
    experienced(world, DEPLOY[0])
    preferred(world, SMALL[0], REVIEW[0])
    world.tidy()
    assert suggested(world) == []


def test_one_place_does_not_count_for_another() -> None:
    world = World()
    experienced(world, DEPLOY[0], DEPLOY[1])
    experienced(world, DEPLOY[2], agent="copilot")
    for text, project in zip(REVIEW, "aab", strict=True):
        world.add(text, category=Category.PREFERENCE, scope=Scope.PROJECT, project=project)
    world.tidy()
    assert suggested(world) == []


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


def test_what_repeats_after_a_dismissal_of_something_else_is_suggested() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.tidy()
    decide(world, Decision.DISMISSED)
    experienced(world, *TIMEOUT)
    world.tidy(hours=2)
    assert [one.text for one in suggested(world, Decision.PROPOSED)] == [TIMEOUT[2]]


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


def test_no_more_than_fifty_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SUGGESTIONS", 1)
    world = World()
    experienced(world, *DEPLOY)
    preferred(world, *SMALL)
    world.tidy()
    assert len(suggested(world)) == 1
    decide(world, Decision.DISMISSED)
    world.add("Something new.")
    world.tidy(hours=1)
    assert len(suggested(world)) == 2


def test_while_memory_is_off_nothing_is_suggested() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.choose(enabled=False)
    world.tidy()
    assert suggested(world) == []


def test_what_repeated_while_memory_was_off_is_suggested_when_it_is_on_again() -> None:
    world = World()
    experienced(world, DEPLOY[0])
    world.tidy()
    world.choose(enabled=False)
    experienced(world, *DEPLOY[1:])
    world.tidy()
    world.choose(enabled=True)
    world.tidy()
    assert len(suggested(world)) == 1


def test_what_came_in_while_there_was_no_time_is_suggested_by_the_next_visit() -> None:
    proposer = Proposing()
    world = World(proposer=proposer)
    fill(world, category=Category.KNOWLEDGE)
    experienced(world, DEPLOY[0])
    world.tidy()
    experienced(world, *DEPLOY[1:])
    learned(world, "Something new")
    proposer.meanwhile = lambda: world.clock.advance(600)
    world.clock.advance(days=1)
    world.tidy()
    assert suggested(world) == []
    proposer.meanwhile = None
    world.tidy()
    assert len(suggested(world)) == 1


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


def test_killing_it_at_every_step_makes_the_same_suggestions() -> None:
    def begun() -> World:
        world = World()
        experienced(world, *DEPLOY)
        world.tidy()
        decide(world, Decision.ACCEPTED)
        world.delete(world.memories()[0].id)
        preferred(world, *SMALL)
        return world

    def seen(world: World) -> list[tuple[str, str]]:
        return sorted((one.status.value, one.text) for one in suggested(world))

    world = begun()
    steps = world.restart()
    world.tidy()
    whole = seen(world)
    assert [status for status, _ in whole] == ["accepted", "proposed"]
    for at in range(1, steps.count + 1, 2):
        world = begun()
        died(world, Steps(at=at, when="after"), world.tidy)
        world.tidy(hours=LEASE_AND_MORE)
        assert seen(world) == whole, at
        settle(world)
        assert_sound(world)


def test_a_second_run_changes_nothing() -> None:
    world = World()
    experienced(world, *DEPLOY)
    settle(world)
    before = (told(world), world.head()["commits"])
    assert world.tidy(hours=3) == {}
    assert (told(world), world.head()["commits"]) == before


def test_nothing_of_a_suggestion_is_readable_at_rest() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.tidy()
    (item,) = [item for sk, item in world.table.partition(world.owner).items() if sk.startswith(names.SUGGESTION)]
    assert set(item) <= {"sk", "document", "document_gen", "document_commit"}
    assert "pilot" not in str(item)


def test_a_pattern_is_known_by_the_words_that_most_of_it_share() -> None:
    world = World()
    (pattern,) = patterns(experienced(world, *DEPLOY))
    assert pattern.words >= {"stagi", "migra", "rolle", "deplo"}
    assert len(pattern.marks(opened(world).keys)) == len(pattern.words)


def test_both_prompts_frame_what_they_show() -> None:
    for tongue in ("en", "zh"):
        assert wording(tongue).count("{{boundary}}") == 1


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


def test_patterns_are_found_beyond_one_page_of_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing_facts, "LISTED", 4)
    world = World()
    experienced(world, *DEPLOY)
    for number in range(9):
        world.add(f"Kiln {number} stands in hall {number}.")
    world.build()
    world.tidy()
    assert [one.kind for one in suggested(world)] == [Kind.WORKFLOW]


def test_where_nothing_came_that_could_repeat_memories_are_not_read_anew() -> None:
    world = World()
    experienced(world, *DEPLOY)
    settle(world)
    world.add("The kiln is hot.")
    steps = world.restart()
    world.tidy(hours=2)
    assert "MemoryTable.by_update" not in steps.log
    experienced(world, "Something else was tried → it worked")
    steps = world.restart()
    world.tidy(hours=2)
    assert "MemoryTable.by_update" in steps.log


def test_a_step_that_fails_looks_again_at_the_next_visit() -> None:
    world = World()
    world.add("The kiln is hot.")
    world.tidy()
    experienced(world, *DEPLOY)
    counted = World()
    counted.add("The kiln is hot.")
    counted.tidy()
    experienced(counted, *DEPLOY)
    steps = counted.restart()
    counted.tidy()
    at = steps.log.index("MemoryTable.by_update") + 1
    world.restart(Steps(at=at, error=Unavailable))
    assert (world.tidy() or {})["failed_steps"] == 1
    assert suggested(world) == []
    world.tidy(hours=1)
    assert len(suggested(world)) == 1
