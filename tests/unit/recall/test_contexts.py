"""What an agent is told: gated by intent, capped by scope, in time, and never an error."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.errors import Unavailable
from shared.domain.memory import Category, Scope
from shared.domain.naming import ACTIVE_PROJECT
from shared.recall import known
from shared.recall.context import Context, Contexts, Moment
from tests.builders import World
from tests.fakes import Steps
from tests.unit.storage.deeds import Summing


@pytest.fixture(autouse=True)
def named_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")


def context(world: World, message: str | None = None, **more: Any) -> Context:
    world.clock.advance(1)
    return world.now.contexts.context(world.owner, Moment(message, **more))


def filled() -> World:
    world = World()
    for n in range(20):
        world.add(f"Deploy rule {n} of the person.", importance=1 + n % 9)
        world.add(f"Deploy rule {n} of atlas.", scope=Scope.PROJECT, project="atlas")
        world.add(f"Deploy rule {n} of the coder.", scope=Scope.AGENT, agent="coder")
        world.add(f"Deploy rule {n} of borealis.", scope=Scope.PROJECT, project="borealis")
    world.build()
    return world


@pytest.mark.parametrize("message", ["What are our deploy rules?", None])
def test_each_scope_has_its_share_in_its_order_and_other_projects_none(message: str | None) -> None:
    found = context(filled(), message, project="atlas", agent="coder", token_budget=8_000)
    lines = [line for line in found.text.split("\n") if line.startswith("- ")]
    kinds = ["coder" if "coder" in line else "atlas" if "atlas" in line else "person" for line in lines]
    assert kinds == ["coder"] * 8 + ["atlas"] * 12 + ["person"] * 8
    assert "borealis" not in found.text
    assert len(found.memory_ids) == 28


def test_a_message_that_asks_for_nothing_recalls_nothing_unless_it_is_forced() -> None:
    world = filled()
    assert context(world, "ok thanks", new_session=False).reason == "not_asked_for"
    assert context(world, "deploy", new_session=False, force=True).recalled


@pytest.mark.parametrize("message", ["👍", "？", " "])
def test_a_message_without_a_word_brings_the_newest_at_the_beginning_and_nothing_later(message: str) -> None:
    world = World()
    world.add("The older one.", importance=9)
    world.add("The newer one.", importance=1)
    text = context(world, message).text
    assert 0 < text.index("newer") < text.index("older")
    assert context(world, message, new_session=False).reason == "not_asked_for"


def test_a_question_about_the_person_is_filled_up_with_what_is_important() -> None:
    world = World()
    world.add("I am allergic to peanuts.", importance=9)
    world.add("I live in Kyoto.", importance=5)
    dismissed = world.add("I am a secret agent.", importance=10)
    world.dismiss(dismissed.id)
    found = context(world, "What do you know about me?")
    assert found.text.index("peanuts") < found.text.index("Kyoto")
    assert "secret agent" not in found.text


def test_a_session_begins_with_the_newest_and_what_the_index_of_the_table_does_not_know_yet() -> None:
    world = World()
    world.add("The older one.")
    world.table.lag()
    world.add("The newer one.")
    found = context(world)
    assert found.intent == "session"
    assert found.text.index("newer") < found.text.index("older")


@pytest.mark.parametrize(
    ("settings", "reason"), [({"enabled": False}, "disabled"), ({"auto_retrieve": False}, "auto_retrieve_off")]
)
def test_settings_switch_it_off(settings: dict[str, bool], reason: str) -> None:
    world = filled()
    world.choose(**settings)
    assert context(world, "What are our deploy rules?").reason == reason
    forced = context(world, "What are our deploy rules?", force=True)
    assert forced.recalled == (reason == "auto_retrieve_off")


def test_a_budget_too_small_and_a_person_unknown_are_said() -> None:
    assert context(World(), "What are our deploy rules?").reason == "nothing_known"
    assert context(filled(), "What are our deploy rules?", token_budget=10).reason == "budget_too_small"
    world = World()
    world.delete(world.add("It is gone.").id)
    assert context(world, "What are our deploy rules?").reason == "nothing_found"


def test_the_language_follows_the_settings_then_the_message() -> None:
    world = filled()
    assert "About the person" in context(world, "What are our deploy rules?").text
    assert "关于此人" in context(world, "我们的 deploy 规则是什么？", force=True).text
    world.choose(language="zh")
    assert "关于此人" in context(world, "What are our deploy rules?").text


@pytest.mark.parametrize("error", [Unavailable, ZeroDivisionError])
def test_whatever_fails_the_chat_goes_on_without_its_memory(error: type[Exception]) -> None:
    world = filled()
    steps = world.restart()
    assert context(world, "What are our deploy rules?").recalled
    for at in range(1, steps.count + 1):
        world.restart(Steps(at=at, error=error))
        found = context(world, "What are our deploy rules?")
        assert found.recalled or found.reason in {"unavailable", "nothing_found"}


def test_a_lost_table_and_damaged_settings_give_a_reason_instead_of_a_context() -> None:
    world = filled()
    item = world.table.partition(world.owner)["head"]
    world.table.wipe()
    assert context(world, "What are our deploy rules?").reason == "rebuilding"
    assert item["memories"] == 80
    world = filled()
    world.choose(language="zh")
    world.table._items[world.owner]["z"]["sealed"] = b"x"
    assert context(world, "What are our deploy rules?").reason == "damaged"


@pytest.mark.parametrize(
    ("message", "force"),
    [("Suggest something for dinner", True), ("What food should I avoid?", False), ("我不能吃什么？", False)],
)
def test_a_forced_recall_and_a_question_about_the_person_never_come_back_empty_handed(
    message: str, force: bool
) -> None:
    world = World()
    world.add("I am allergic to peanuts", importance=9)
    assert "peanuts" in context(world, message, force=force).text


@pytest.mark.parametrize("message", ["继续", "接着上次的来吧", "Continue from last time", "昨天做到哪了"])
def test_who_only_goes_on_is_told_the_newest_whatever_memory_holds_those_words(message: str) -> None:
    world = World()
    world.add("The older one.", importance=9)
    world.add("The newer one.", scope=Scope.PROJECT, project="atlas")
    world.add("Another's.", scope=Scope.PROJECT, project="borealis")
    found = context(world, message, new_session=False, project="atlas")
    assert found.intent == "strong"
    assert found.text.index("newer") < found.text.index("older")
    assert "Another" not in found.text
    world.add("Went on with the deploy: 继续, continue from last time, 上次, 做到一半.")
    told = context(world, message, new_session=False, project="atlas").text
    assert "deploy" in told
    assert "newer" in told  # whoever says 继续 does not mean the memory that holds it


def test_a_strong_signal_with_words_of_its_own_is_told_only_what_fits_them() -> None:
    world = World()
    world.add("I live in Kyoto.", importance=9)
    message = "Please continue explaining the parser of the query language and its error recovery"
    assert context(world, message).reason == "nothing_found"


@pytest.mark.parametrize("question_first", [True, False])
def test_a_question_before_or_after_a_long_paste_is_looked_for(question_first: bool) -> None:
    world = World()
    world.add("The greenhouse key hangs behind the blue door.")
    parts = ["Where does the greenhouse key hang?", "2026-03-01 INFO tick\n" * 400]
    found = context(world, "\n".join(parts if question_first else reversed(parts)))
    assert "blue door" in found.text


def test_who_only_asks_to_be_served_is_told_nothing_that_does_not_fit() -> None:
    world = World()
    world.add("I am allergic to peanuts", importance=9)
    world.add("I prefer window seats", category=Category.PREFERENCE)
    assert context(world, "Help me pack for the trip").reason == "nothing_found"
    assert context(world, "帮我订一张机票").reason == "nothing_found"


def test_days_are_those_of_the_owners_time_zone() -> None:
    world = World()
    world.clock.advance(9 * 3600)
    world.add("The pier is long.")
    assert "- 2026-03-01 The pier is long." in context(world).text
    world.choose(time_zone="Asia/Shanghai")
    assert "- 2026-03-02 The pier is long." in context(world).text


# Why.


def test_the_decision_is_told_with_the_words_that_made_it() -> None:
    found = context(filled(), "上次的 deploy 规则是什么", new_session=False)
    assert (found.intent, found.recalled) == ("strong", True)
    assert "上次" in "".join(found.decision.signals)
    assert context(filled(), "deploy", new_session=False).decision.reason == "no_signal"


@pytest.mark.parametrize(("language", "word"), [("zh", "暗号"), ("en", "codeword")])
def test_the_owners_words_ask_for_memories_or_keep_them_out(language: str, word: str) -> None:
    world = filled()
    message = f"deploy {word}"
    assert not context(world, message, new_session=False).recalled
    world.choose(custom_keywords={language: [word]})
    found = context(world, message, new_session=False)
    assert (found.intent, found.decision.reason, found.recalled) == ("strong", "signal_custom", True)
    assert found.decision.signals == (word,)
    world.choose(custom_keywords={}, excluded_keywords={language: [word]})
    found = context(world, message)
    assert (found.intent, found.reason, found.text) == ("excluded", "not_asked_for", "")


# The scene of the project at hand.

SUMMARY = "It was about: We decided to use Redis for the cache."


@pytest.fixture
def told_of() -> World:
    """Somebody who talked about atlas and about borealis."""
    world = World(extractor=Summing())
    for text, project in (
        ("We decided to use Redis for the cache.", "atlas"),
        ("I prefer small commits, always.", "borealis"),
    ):
        world.say(text, project=project)
        world.work_off()
    return world


@pytest.mark.parametrize(
    "message", ["ok thanks", "换个话题，聊聊天气", "What did we decide last time about Redis?", None]
)
@pytest.mark.parametrize("warm", [True, False])
def test_the_scene_is_told_whatever_the_message_is(told_of: World, message: str | None, warm: bool) -> None:
    told_of.restart()
    if warm:
        context(told_of)
    found = context(told_of, message, project="atlas", new_session=False)
    assert f"- {SUMMARY}" in found.text.split("\n")
    assert "small commits" not in found.text.partition("\n- 20")[0]
    assert found.recalled == (found.reason is None)


def test_a_message_that_asks_for_nothing_is_told_the_scene_and_why_there_is_no_more(told_of: World) -> None:
    found = context(told_of, "ok thanks", project="atlas", new_session=False)
    assert (found.recalled, found.memory_ids, found.reason) == (False, (), "not_asked_for")
    assert found.tokens > 0


@pytest.mark.parametrize("project", [None, "*", "nowhere"])
def test_no_scene_is_told_where_no_one_project_is_at_hand(told_of: World, project: str | None) -> None:
    assert "It was about" not in context(told_of, "ok thanks", project=project, new_session=False).text


def test_a_scene_that_was_renamed_is_told_with_the_key_that_its_memories_are_told_under(told_of: World) -> None:
    told_of.now.scenes.change(told_of.owner, "atlas", {"name": "商城"}, None)
    told = context(told_of, "What did we decide about Redis?", project="atlas").text.split("\n")
    assert "The project 商城 (atlas) so far:" in told
    assert "About project atlas:" in told


@pytest.mark.parametrize("warm", [True, False])
def test_a_summary_goes_with_what_it_rests_on(told_of: World, warm: bool) -> None:
    rested_on = told_of.hits("Redis", project="atlas")[0]
    told_of.dismiss(rested_on.id)
    if not warm:
        told_of.restart()
    assert "Redis" not in context(told_of, "ok thanks", project="atlas", new_session=False).text
    told_of.restore(rested_on.id)
    assert SUMMARY in context(told_of, "ok thanks", project="atlas", new_session=False).text
    told_of.delete(rested_on.id)
    assert "Redis" not in context(told_of, "ok thanks", project="atlas", new_session=False).text


def test_the_active_project_is_at_hand_where_none_is_named_and_follows_every_switch(told_of: World) -> None:
    def scene() -> str:
        text = context(told_of, "ok thanks", project=ACTIVE_PROJECT, new_session=False).text
        return "atlas" if "Redis" in text else "borealis" if "small commits" in text else ""

    assert scene() == ""
    for project in ("atlas", "atlas", "borealis", None, "atlas"):
        told_of.now.scenes.switch(told_of.owner, project)
        assert [scene(), scene()] == [project or ""] * 2


def test_where_the_active_project_is_known_only_its_scene_is_read(told_of: World) -> None:
    told_of.now.scenes.switch(told_of.owner, "atlas")
    steps = told_of.warm()
    for queries in (3, 2, 2):  # change rows and head, suggestions, and at first the projects
        before = steps.count
        assert SUMMARY in context(told_of, "ok thanks", project=ACTIVE_PROJECT, new_session=False).text
        assert steps.log[before:].count("MemoryTable.query") == queries
    told_of.now.scenes.switch(told_of.owner, None)
    for gets in (2, 1):  # settings and active project, and once more the scene of the last one
        before = steps.count
        context(told_of, "ok thanks", project=ACTIVE_PROJECT, new_session=False)
        assert steps.log[before:].count("MemoryTable.get") == gets


def test_among_very_many_projects_a_cold_start_finds_the_scene_too(
    told_of: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "PROJECTS", 1)
    for project in ("atlas", "borealis"):
        told_of.restart()
        assert "It was about" in context(told_of, "ok thanks", project=project, new_session=False).text


def test_a_scene_that_does_not_open_is_left_out_and_the_memories_stay(told_of: World) -> None:
    for sk, item in told_of.table._items[told_of.owner].items():
        if sk.startswith("s#"):
            item["document"] = b"x"
    found = context(told_of, "What did we decide last time about Redis?", project="atlas")
    assert found.recalled
    assert "It was about" not in found.text


# In time.


class Held:
    """A table some of whose calls do not come back before `go` is set."""

    def __init__(self, table: Any, names: set[str]) -> None:
        self._table, self._names = table, names
        self.go = threading.Event()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._table, name)
        if name not in self._names:
            return call

        def held(*args: Any, **more: Any) -> Any:
            self.go.wait()
            return call(*args, **more)

        return held


@pytest.fixture
def holding() -> Iterator[Any]:
    """Replaces the table of a world's process by one that holds some calls back, until the test is over."""
    tables: list[Held] = []

    def hold(world: World, *names: str) -> Held:
        tables.append(Held(world.now.vaults.table, set(names)))
        world.now.vaults.table = tables[-1]
        return tables[-1]

    yield hold
    for table in tables:
        table.go.set()


@pytest.mark.parametrize("call", ["query", "get"])
@pytest.mark.parametrize("message", ["What are our deploy rules?", None])
def test_a_store_that_does_not_answer_in_time_leaves_the_context_empty(
    holding: Any, call: str, message: str | None
) -> None:
    world = filled()
    table = holding(world, call)
    found = Contexts(world.now.searcher, seconds=0.01).context(world.owner, Moment(message))
    assert (found.text, found.recalled, found.reason) == ("", False, "timeout")
    assert found.intent == ("strong" if message else "session")
    table.go.set()
    assert context(world, message).recalled


def test_a_count_that_does_not_end_in_time_holds_no_text_back(holding: Any) -> None:
    world = filled()
    holding(world, "write")
    moments = iter([0.0, 0.0, 59.99])
    found = Contexts(world.now.searcher, seconds=60, monotonic=lambda: next(moments)).context(
        world.owner, Moment("What are our deploy rules?")
    )
    assert found.recalled
