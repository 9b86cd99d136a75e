"""Answers of every shape, limits, long conversations, experiences: through HTTP (B9, B15, B16; cases 18-28, 36)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from local.stack import Stack
from tests.e2e.client import CONVERSATIONS, LONG_ENOUGH, Person, assistant
from tests.e2e.model import answer, asking, counts, fact
from tests.e2e.storage import raw_bytes
from tests.scripted_model import Learns, Received, Reply, Says, ScriptedModel

TEA = answer(fact("Ann drinks tea"))
TEA_TEXT = json.dumps(TEA)
SAID = "I drink tea. What should I drink?"


@pytest.fixture(scope="module")
def stack(model: ScriptedModel) -> Iterator[Stack]:
    with asking(model) as running:
        yield running


def test_a_project_shows_what_was_last_said_about_it(stack: Stack, ann: Person, model: ScriptedModel) -> None:
    for text, summary in (("Tea for the shop", "Tea was chosen."), ("Milk for the shop", "Milk was added, 加了牛奶。")):
        model.script(Learns(answer(fact(text, type="project"), summary=summary)))
        assert ann.learn(text, project="shop")["summary"] == summary
    model.script(Learns(answer(summary="Nothing of it stays here.")))
    ann.learn("Tea without a project")
    for _ in range(2):
        (project,) = ann.ok("GET", "/v1/projects")["projects"]
        assert (project["project"], project["memories"]) == ("shop", 2)
        assert project["summary"] == "Milk was added, 加了牛奶。"
        assert stack.run_maintenance()["idle"]
    assert "牛奶".encode() not in raw_bytes(stack)


READABLE = {
    "fences": Says('```json\n{"facts":["Ann drinks tea"]}\n```'),
    "a draft in think tags": Says('<think>{"facts":["WRONG tea"]}</think>' + TEA_TEXT),
    "a closing tag that was never opened": Says('drink? {"facts":["WRONG tea"]}\n</think>\n' + TEA_TEXT),
    "reasoning apart": Says(TEA_TEXT, extra={"reasoning_content": '{"facts":["WRONG tea"]}'}),
    "a bare list": Says('["Ann drinks tea"]'),
    "one string": Says('{"facts":"Ann drinks tea"}'),
    "a cut list": Says(TEA_TEXT[: TEA_TEXT.index("}") + 1] + ', {"content": "Ann drin'),
}


@pytest.mark.case(18)
@pytest.mark.case(21)
@pytest.mark.case(24)
@pytest.mark.parametrize("reply", READABLE.values(), ids=READABLE.keys())
def test_cases_18_21_24_the_fact_of_an_untidy_answer_is_learned_and_no_draft(
    ann: Person, model: ScriptedModel, reply: Reply
) -> None:
    model.script(reply)
    task = ann.learn(SAID)
    assert (task["learned"]["inserted"], ann.texts(), task["usage"]["calls"]) == (1, ["Ann drinks tea"], 1)


def test_who_runs_out_of_tokens_is_asked_again_and_whole_facts_count_when_it_happens_twice(
    ann: Person, model: ScriptedModel
) -> None:
    cut = Says(TEA_TEXT[: TEA_TEXT.index("}") + 1] + ', {"content": "Ann drin', stop="length")
    model.script(cut, cut)
    task = ann.learn(SAID)
    assert (task["learned"]["inserted"], ann.texts(), task["usage"]["calls"]) == (1, ["Ann drinks tea"], 2)


@pytest.mark.case(24)
@pytest.mark.parametrize("text", ["null", "{}"])
def test_case_24_nothing_is_an_answer(ann: Person, model: ScriptedModel, text: str) -> None:
    model.script(Says(text))
    assert counts(ann.learn(SAID)) == {}


UNREADABLE = {
    "empty for want of tokens": Says("", stop="length", extra={"reasoning_content": "thinking of PARROT tea " * 50}),
    "an empty string": Says('""'),
    "the schema echoed": Says('{"properties":{"facts":{"type":"array"}}}'),
    "prose": Says("PARROT: sure, I will remember that Ann drinks tea!"),
    "nothing but a draft": Says('<think>{"facts":["PARROT tea"]}'),
}


@pytest.mark.case(22)
@pytest.mark.case(24)
@pytest.mark.case(25)
@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_cases_22_24_25_an_unreadable_answer_is_asked_again_once_with_what_was_wrong_and_none_of_its_words(
    ann: Person, model: ScriptedModel, reply: Reply
) -> None:
    model.script(reply, Learns(TEA))
    task = ann.learn(SAID)
    assert counts(task) == {"inserted": 1}
    assert task["usage"] == {"calls": 2, "tokens_in": 200, "tokens_out": 40}
    first, second = model.requests[-2:]
    assert second.user.startswith(first.user)
    added = second.user.removeprefix(first.user)
    assert "could not be used" in added
    assert "PARROT" not in added
    assert "properties" not in added
    assert second.system == first.system


@pytest.mark.case(25)
def test_case_25_a_second_unreadable_answer_fails_the_task_visibly_and_its_cost_is_counted(
    ann: Person, model: ScriptedModel
) -> None:
    asked = len(model.requests)
    model.script(*[Says('{"properties":{"facts":{"type":"array"}}}', usage=(70, 9))] * 2)
    task = ann.learn(SAID)
    assert (task["status"], task["error"], task["attempts"]) == ("failed", "model_unreadable", 1)
    assert task["usage"] == {"calls": 2, "tokens_in": 140, "tokens_out": 18}
    assert len(model.requests) - asked == 2
    today = ann.ok("GET", "/v1/usage")["today"]
    assert (today["calls"], today["tokens_in"], today["tokens_out"]) == (2, 140, 18)
    model.script(Learns(TEA))
    assert ann.call("POST", f"/v1/tasks/{task['id']}/retry").status == 202
    task = ann.task(task["id"])
    assert counts(task) == {"inserted": 1}
    assert task["usage"] == {"calls": 3, "tokens_in": 240, "tokens_out": 38}
    assert ann.ok("GET", "/v1/usage")["today"]["calls"] == 3


def test_a_model_that_refuses_is_not_asked_again(ann: Person, model: ScriptedModel) -> None:
    asked = len(model.requests)
    model.script(Says("", stop="content_filter"))
    task = ann.learn(SAID)
    assert (task["status"], task["error"]) == ("failed", "model_unreadable")
    assert len(model.requests) - asked == 1
    assert ann.texts() == []


@pytest.mark.case(26)
@pytest.mark.case(28)
@pytest.mark.parametrize(
    "junk",
    [
        "I cannot extract any facts",
        "没有值得记住的事实",
        "John Doe lives in Springfield",
        "Orla Fennimore's flatmate Tibor dislikes jazz",
        "You are an AI assistant who drinks tea",
        "The conversation contains no personal information",
    ],
)
def test_cases_26_28_refusals_inventions_and_the_prompts_own_words_are_no_facts(
    ann: Person, model: ScriptedModel, junk: str
) -> None:
    model.script(Learns(answer(fact(junk))))
    assert counts(ann.learn(SAID)) == {"discarded": 1}
    assert ann.texts() == []


@pytest.mark.case(26)
@pytest.mark.case(27)
def test_cases_26_27_where_the_person_says_nothing_no_model_is_asked(ann: Person, model: ScriptedModel) -> None:
    asked = len(model.requests)
    ann.capture()
    told = f"<nacre_memory>\n- 2026-11-01 I prefer tea\n</nacre_memory>\n{assistant('')['content']}"
    task = ann.learn(told, assistant("You drink tea, remember: always."), {"role": "system", "content": "John Doe"})
    assert counts(task) == {}
    empty = ann.call("POST", CONVERSATIONS, {"messages": [{"role": "user", "content": " "}], "trigger": "manual"})
    assert empty.status == 422
    skipped = [
        ann.hand_in("ok thanks", assistant("You are welcome."), trigger="task_completed"),
        ann.hand_in(LONG_ENOUGH * 2, trigger="task_completed"),
        ann.hand_in(LONG_ENOUGH * 2, trigger="session_end", outcome="failed"),
        ann.hand_in(LONG_ENOUGH * 2, trigger="compaction", session_type="subagent"),
    ]
    assert [(one.status, one.json["reason"]) for one in skipped] == [
        (200, "too_short"),
        (200, "message_missing"),
        (200, "not_completed"),
        (200, "session_type"),
    ]
    assert len(model.requests) == asked
    assert ann.ok("GET", "/v1/usage")["today"]["conversations"] == 1


@pytest.mark.case(36)
def test_case_36_what_is_told_of_a_friend_stays_the_friends(ann: Person, model: ScriptedModel) -> None:
    model.script(Learns(answer(fact("Ann's friend Kim hates football", category="contact"))))
    assert counts(ann.learn("my friend Kim hates football")) == {"inserted": 1}
    (memory,) = ann.kept()
    assert memory["category"] == "contact"
    assert "Kim" in memory["content"]
    assert "never turn it into the person's own taste" in model.requests[-1].system


@pytest.mark.case(26)
@pytest.mark.parametrize(("trigger", "most"), [("task_completed", 3), ("manual", 20)])
def test_case_26_of_too_many_facts_the_most_important_are_kept_and_the_others_counted(
    ann: Person, model: ScriptedModel, trigger: str, most: int
) -> None:
    ann.capture()
    facts = [fact(f"Ann drinks tea number {n}", importance=1 + n % 10) for n in range(30)]
    model.script(Learns(answer(*facts)))
    task = ann.learn("I drink tea of all the thirty numbers.", assistant("Understood."), trigger=trigger)
    assert counts(task) == {"inserted": most, "discarded": 30 - most}
    expected = sorted((one["importance"] for one in facts), reverse=True)[:most]
    assert sorted((memory["importance"] for memory in ann.kept()), reverse=True) == expected
    assert f"At most {most} facts" in model.requests[-1].system


def test_a_fact_of_more_than_120_full_width_characters_is_dropped_alone(ann: Person, model: ScriptedModel) -> None:
    fits, over, chinese = "tea " * 60, "tea " * 60 + "tea", "茶" * 121
    model.script(Learns(answer(fact(fits.strip()), fact(over), fact(chinese), fact("Ann drinks tea"))))
    assert counts(ann.learn("I drink tea: 茶茶茶茶 and tea.")) == {"inserted": 2, "discarded": 2}


def test_a_long_conversation_is_cut_into_parts_and_the_bound_holds_for_the_whole(
    ann: Person, model: ScriptedModel
) -> None:
    asked = len(model.requests)
    filler = "the weather is like yesterday, isn't it? " * 700

    def found(request: Received) -> Learns:
        first = "The key fact is tea one" in request.user
        facts = [
            fact(f"The key fact is tea {'one' if first else 'two'} {n}", importance=9 if first else n) for n in range(8)
        ]
        return Learns(answer(*(facts if first else facts * 2), summary="One." if first else "Two."))

    model.script(found, found)
    said = [f"{filler} The key fact is tea one.", f"{filler} The key fact is tea two."]
    ann.capture()
    task = ann.learn(*said, *[f"{n}" for n in range(2)], trigger="session_end")
    assert task["usage"]["calls"] == len(model.requests) - asked == 2
    assert counts(task) == {"inserted": 16, "discarded": 8}
    assert task["summary"] == "One.\nTwo."
    assert all(len(request.user) < 60_000 for request in model.requests[asked:])


def test_what_an_agent_tried_is_kept_as_its_own_experience(ann: Person, model: ScriptedModel) -> None:
    ann.capture()
    calls = [{"id": "1", "type": "function", "function": {"name": "run_tests", "arguments": '{"path": "tests/db"}'}}]
    experience = {"situation": "tests of the database failed", "action": "ran them alone", "outcome": "they passed"}
    model.script(Learns(answer(experiences=[experience])))
    task = ann.learn(
        "an older question of mine",
        {"role": "assistant", "content": "OLDER", "tool_calls": [{"name": "older_tool"}]},
        "Please find out why the tests of the database fail.",
        {"role": "assistant", "content": "INTERIM words", "tool_calls": calls},
        {"role": "tool", "content": "12 passed", "tool_call_id": "1"},
        assistant("Alone they pass: they share a port."),
        trigger="task_completed",
        agent="coder",
        project="shop",
    )
    assert counts(task) == {"inserted": 1}
    (memory,) = ann.kept(scope="agent", agent="coder")
    assert memory["content"] == "tests of the database failed → ran them alone → they passed"
    assert (memory["category"], memory["scope"], memory["agent"]) == ("experience", "agent", "coder")
    prompt = model.requests[-1].user
    assert "tool [" in prompt
    assert 'run_tests {"path": "tests/db"}' in prompt
    assert "12 passed" in prompt
    assert not any(word in prompt for word in ("INTERIM", "OLDER", "older"))


@pytest.mark.parametrize("more", [{"agent": "coder"}, {}], ids=["no tool was called", "no agent is named"])
def test_without_tool_calls_or_an_agent_there_is_no_experience(
    ann: Person, model: ScriptedModel, more: dict[str, Any]
) -> None:
    model.script(Learns(answer(experiences=[{"situation": "tea", "action": "drank", "outcome": "good"}])))
    said = [] if more else [{"role": "tool", "content": "tea is brewing", "tool_call_id": "1"}]
    assert counts(ann.learn(SAID, *said, **more)) == {"discarded": 1}
    assert ann.texts() == []


def test_a_compaction_gives_its_summary_back(ann: Person, model: ScriptedModel) -> None:
    ann.capture()
    model.script(Learns(answer(summary="Tea was chosen over coffee.")))
    task = ann.learn("We choose tea over coffee for the office.", assistant("Fine."), trigger="compaction")
    assert (task["summary"], counts(task)) == ("Tea was chosen over coffee.", {})
