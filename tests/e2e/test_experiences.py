"""From conversations with tool calls to a way of working that an agent is told: with a scripted model, in both languages (B15, D28)."""

from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.e2e.client import Person, assistant
from tests.e2e.model import answer, asking, counts
from tests.e2e.test_maintenance import night_shift
from tests.e2e.test_persona import AGENTS, SUGGESTIONS
from tests.scripted_model import Learns, ScriptedModel

ASKED = {"en": "Please deploy the release to staging, try {}.", "zh": "请把第 {} 个版本部署到预发布环境，谢谢。"}
TITLE = {"en": "Rerun migrations after a failed staging deploy", "zh": "接口超时先查慢查询日志"}


@pytest.fixture(scope="module")
def talking() -> Iterator[tuple[Stack, ScriptedModel]]:
    with ScriptedModel() as model, asking(model) as running:
        yield running, model


@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_what_an_agent_tried_three_times_becomes_a_suggestion_that_it_follows_once_accepted(
    talking: tuple[Stack, ScriptedModel], tongue: str
) -> None:
    stack, model = talking
    ann = Person(stack)
    ann.capture()
    for number, text in enumerate(AGENTS[tongue]):
        situation, action, outcome = text.split(" → ")
        model.script(Learns(answer(experiences=[{"situation": situation, "action": action, "outcome": outcome}])))
        task = ann.learn(
            ASKED[tongue].format(number),
            {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "run", "arguments": "{}"}]},
            {"role": "tool", "content": f"exit {number}", "tool_call_id": "1"},
            assistant("Done."),
            trigger="task_completed",
            agent="pilot",
        )
        assert counts(task) == {"inserted": 1}
    assert ann.kept(agent="copilot") == []
    text = AGENTS[tongue][0]
    named = {"pattern": "p1", "kind": "workflow", "title": TITLE[tongue], "text": text}
    model.script(Learns({"suggestions": [named]}))
    night_shift(stack)
    (one,) = ann.ok("GET", SUGGESTIONS)["suggestions"]
    assert (one["title"], one["status"], one["evidence"], one["agent"]) == (TITLE[tongue], "proposed", 3, "pilot")
    assert {memory["id"] for memory in ann.kept(agent="pilot")} == set(one["memory_ids"])
    told = {"new_session": False, "agent": "pilot"}
    assert TITLE[tongue] not in ann.context("so be it", **told)["text"]
    ann.ok("PATCH", f"{SUGGESTIONS}/{one['id']}", {"status": "accepted"})
    assert text in ann.context("so be it", **told)["text"]
    assert text not in ann.context("so be it", new_session=False, agent="copilot")["text"]
    ann.ok("DELETE", f"/v1/memories/{one['memory_ids'][0]}")
    assert text not in ann.context("so be it", **told)["text"], "its words may be those of the memory that went"
