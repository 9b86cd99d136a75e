"""What repeats becomes a suggestion, once, for those whom it concerns."""

import pytest

from shared.domain import limits
from shared.domain.errors import Unavailable
from shared.domain.memory import Category, Scope
from shared.learning import standing_facts
from shared.learning.evolution.patterns import patterns
from shared.storage.suggestions import Decision, Kind
from tests.builders import World
from tests.fakes import Steps
from tests.unit.consolidation.merging import Proposing, fill, learned
from tests.unit.evolution.suggesting import DEPLOY, REVIEW, SMALL, decide, experienced, preferred, suggested
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, died, opened, rebuilt, settle, told

TIMEOUT = (
    "接口超时 → 先看慢查询日志，再加索引 → 响应恢复正常",
    "接口响应超时 → 查慢查询日志后给字段加索引 → 恢复正常",
    "订单接口超时 → 根据慢查询日志加了索引 → 响应正常",
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


@pytest.mark.parametrize(
    "texts",
    [
        ("I prefer eating apples at breakfast", "I prefer eating pears at breakfast", "I prefer eating grapes at breakfast"),
        ("喜欢早餐吃苹果", "喜欢早餐吃梨", "喜欢早餐吃香蕉"),
        ("I prefer semicolons in TypeScript", "I prefer no semicolons in TypeScript", "never semicolons in TypeScript"),
        ("I prefer an indent of 2 spaces", "I prefer an indent of 4 spaces", "I prefer an indent of 8 spaces"),
        ("喜欢编辑器用暗色主题", "喜欢编辑器用亮色主题", "喜欢编辑器用彩色主题"),
        ("Prefers Postgres for project alpha", "Prefers MySQL for project beta", "Prefers Redis for project gamma"),
        ("Alice likes strong coffee", "Carla likes strong coffee", "Dmitri likes strong coffee"),
    ],
)  # fmt: skip
def test_other_objects_in_the_same_sentence_are_no_pattern(texts: tuple[str, ...]) -> None:
    world = World()
    preferred(world, *texts)
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


def test_what_repeats_after_a_dismissal_of_something_else_is_suggested() -> None:
    world = World()
    experienced(world, *DEPLOY)
    world.tidy()
    decide(world, Decision.DISMISSED)
    experienced(world, *TIMEOUT)
    world.tidy(hours=2)
    assert [one.text for one in suggested(world, Decision.PROPOSED)] == [TIMEOUT[2]]


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


@pytest.mark.no_cover
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


def test_a_pattern_is_known_by_the_words_that_most_of_it_share() -> None:
    world = World()
    (pattern,) = patterns(experienced(world, *DEPLOY))
    assert pattern.words >= {"stagi", "migra", "rolle", "deplo"}
    assert len(pattern.marks(opened(world).keys)) == len(pattern.words)


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
