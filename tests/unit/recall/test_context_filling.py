"""What fills up a context, and which memories of very many are told: chosen within the scopes at hand, and among what has not ended."""

from datetime import timedelta
from typing import Any

import pytest

from shared.domain.memory import Category, Scope
from shared.recall.context import Context, Moment
from shared.storage import names
from tests.builders import World


@pytest.fixture(autouse=True)
def named_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")


def context(world: World, message: str | None = None, **more: Any) -> Context:
    world.clock.advance(1)
    return world.now.contexts.context(world.owner, Moment(message, **more))


def busy(many: int) -> World:
    """Somebody who told little of themselves and of alpha, and then much of beta."""
    world = World()
    world.add("I am allergic to peanuts.", category=Category.CONSTRAINT, importance=10)
    world.add("I live in Kyoto.")
    world.add("Alpha ships on Mondays.", scope=Scope.PROJECT, project="alpha")
    world.add("Alpha's pilot flies by night.", scope=Scope.AGENT, agent="pilot")
    for n in range(many):
        world.add(f"Beta's step {n}.", scope=Scope.PROJECT, project="beta", importance=9)
        world.add(f"Beta's trick {n}.", scope=Scope.AGENT, agent="other", importance=9)
    return world


@pytest.mark.parametrize("state", ["changed", "indexed", "lost", "corrupt", "indexed, then changed"])
@pytest.mark.parametrize(
    ("message", "more"),
    [
        (None, {}),
        ("继续", {}),
        ("what do you know about me", {}),
        ("hello", {"force": True}),
        (None, {"project": "alpha", "agent": "pilot"}),
        ("继续", {"project": "alpha", "agent": "pilot"}),
        ("hello", {"project": "*", "agent": "pilot", "force": True}),
    ],
)
def test_however_busy_another_project_is_the_scopes_at_hand_are_told(
    state: str, message: str | None, more: dict[str, Any]
) -> None:
    world = busy(55)
    if state != "changed":
        world.build()
        world.restart()
    key = names.index(world.owner, 1, str(world.head().get("index")))
    if state == "lost":
        world.objects.erase(key)
    elif state == "corrupt":
        world.objects.put(key, bytes(300))
    elif state == "indexed, then changed":
        world.add("Beta is done.", scope=Scope.PROJECT, project="beta")
        world.delete(world.add("It is gone.").id)
    told = context(world, message, **more, token_budget=8_000)
    assert ("peanuts" in told.text, "Kyoto" in told.text) == (True, True)
    assert ("Mondays" in told.text, "by night" in told.text) == (more.get("project") == "alpha", "agent" in more)
    assert ("Beta" in told.text) == (more.get("project") == "*")
    assert "trick" not in told.text


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize(("many", "few"), [("user", "project"), ("project", "user"), ("user", "agent")])
def test_a_scope_with_few_memories_keeps_its_share_beside_one_with_very_many_better_ones(
    many: str, few: str, built: bool
) -> None:
    places: dict[str, dict[str, Any]] = {
        "user": {},
        "project": {"scope": Scope.PROJECT, "project": "alpha"},
        "agent": {"scope": Scope.AGENT, "agent": "pilot"},
    }
    world = World()
    for n in range(3):
        world.add(f"The nightly report pipeline number {n} runs before the office opens.", **places[few])
    for n in range(104):
        world.add(f"report {n}", **places[many])
    if built:
        world.build()
    found = context(world, "what about our report", project="alpha", agent="pilot", token_budget=8_000)
    assert found.text.count("pipeline") == 3
    assert found.text.count("- 2026-03-01 report ") == {"user": 8, "project": 12}[many]


@pytest.mark.parametrize("built", [False, True])
def test_what_has_ended_hides_nothing(built: bool) -> None:
    world = World()
    ends = world.clock() + timedelta(hours=1)
    living = world.add("I have met the walrus in the harbour of a small town, and it was asleep.")
    for n in range(105):
        world.add(f"walrus {n}", expires_at=ends, importance=9)
    if built:
        world.build()
    assert living not in world.hits("walrus")
    world.clock.advance(3_600)
    world.restart()
    assert [hit.id for hit in world.hits("walrus")] == [living.id]
    for message in ("where is the walrus", "what do you know about me", None):
        assert context(world, message).memory_ids == (living.id,)


def test_what_fills_up_is_of_the_present_state_whatever_the_index_says() -> None:
    world = busy(1)
    gone, moved, ended = (world.add(f"Harbour {n}", importance=10) for n in range(3))
    world.build()
    world.dismiss(gone.id)
    world.edit(moved.id, importance=1)
    assert ended.id in context(world, "what do you know about me").memory_ids
    found = context(world, "what do you know about me").memory_ids
    assert gone.id not in found
    assert found[-1] == moved.id
    world.choose(retention_days=1)
    world.clock.advance(2 * 86_400)
    fresh = world.add("It rains.")
    assert context(world).memory_ids == (fresh.id,)


GOING_ON = "Continue the work on the harbour pages of the other house, and then"
PREFERENCE: dict[str, Any] = {"category": Category.PREFERENCE}


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("message", ["帮我写一个数据处理函数", "Help me write a function", "implement a REST API"])
@pytest.mark.parametrize("preference", ["我偏好使用 TypeScript", "I prefer TypeScript for new code"])
def test_who_wants_code_is_told_how_they_like_it(preference: str, message: str, built: bool) -> None:
    world = World()
    liked = world.add(preference, **PREFERENCE)
    never = world.add("Never commit on Fridays", category=Category.CONSTRAINT, importance=3)
    for n in range(3):
        world.add(f"The lamp on floor {n + 5} is broken", importance=10)
        world.add(f"I prefer tea of kind {n}", importance=2, **PREFERENCE)
    world.add("I prefer Perl in beta", scope=Scope.PROJECT, project="beta", **PREFERENCE)
    newest = world.add("I prefer tea from Kyoto", importance=2, **PREFERENCE)
    if built:
        world.build()
    assert context(world, message).memory_ids == (liked.id, never.id, newest.id)
    assert context(world, message, new_session=False).memory_ids == ()
    assert context(world, f"{GOING_ON}: {message}", new_session=False).memory_ids == (
        liked.id,
        never.id,
        newest.id,
    )


@pytest.mark.parametrize("built", [False, True])
def test_what_fills_up_by_importance_has_passwords_last(built: bool) -> None:
    world = World()
    secret = world.add("My vault password is fake-99-salad")
    name = world.add("I am Fay", importance=4)
    if built:
        world.build()
    assert context(world, "who am I?").memory_ids == (name.id, secret.id)


def test_who_goes_on_with_code_is_told_of_it_and_how_they_like_it() -> None:
    world = World()
    plan = world.add("后端接口的重构方案：先拆订单模块")
    liked = world.add("我偏好使用 TypeScript", **PREFERENCE)
    world.add("今晚下雨")
    assert context(world, "继续上次的后端接口重构").memory_ids == (plan.id, liked.id)


def test_who_wants_code_and_is_told_enough_is_told_no_more() -> None:
    world = World()
    world.add("I prefer TypeScript", **PREFERENCE)
    found = {world.add(f"The parser of version {n} is in module p{n}").id for n in range(3)}
    assert set(context(world, "write a function for the parser").memory_ids) == found


@pytest.mark.parametrize(
    "message",
    [
        "继续",
        "接着上次的来",
        "繼續",
        "let's continue",
        "ok, please continue",
        "Okay so let's just carry on from where we left off",
    ],
)
def test_who_only_goes_on_means_the_newest_and_no_memory_that_holds_that_word(message: str) -> None:
    world = World()
    world.add("我继续在读博士，上次体检是三月")
    world.add("The continue button left of the form carries on")
    for n in range(8):
        world.add(f"Step {n} of the release")
    told = context(world, message, new_session=False)
    assert "Step 7" in told.text
    assert "Step 1" in told.text
    assert "博士" not in told.text


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("继续上次的后端接口重构", "后端接口"),
        ("接着上次的后端来", "后端接口"),
        ("Let's continue with the billing migration", "billing migration"),
    ],
)
def test_who_goes_on_with_something_is_told_of_that_alone(message: str, meant: str) -> None:
    world = World()
    world.add("后端接口的重构方案：先拆订单模块")
    world.add("The billing migration moves invoices to Stripe")
    world.add("我继续在读博士，上次体检是三月")
    world.add("The continue button must be blue")
    told = context(world, message, new_session=False)
    assert [meant in line for line in told.text.splitlines() if line.startswith("- ")] == [True]
