"""Asking a model for facts: how often, with what, for how long, and what of its answers becomes a candidate."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.domain.asking import ModelDown, ModelRefused, ModelTimeout
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.learning.answers.answers import Action
from shared.learning.conversation import Conversation, Message
from shared.learning.extractor import Cost, Extracted, Interrupted, Known, Unwilling
from shared.learning.model_extractor import BUDGET_SECONDS, LEAST_SECONDS, PART, ModelExtractor
from tests.unit.learning.finding import Told

AT = datetime(2031, 3, 4, 9, tzinfo=UTC)
TEA = {"content": "Ann drinks tea", "type": "user", "category": "knowledge", "importance": 5, "action": "insert"}
GIVEN = Message("user", "I drink tea.")


def answers(*facts: dict[str, Any], **more: Any) -> str:
    return json.dumps({"summary": "", "facts": list(facts), "experiences": [], **more}, ensure_ascii=False)


def extract(
    model: Told,
    *messages: Message,
    known: Callable[[], Known] = Known,
    trigger: Trigger = Trigger.MANUAL,
    **more: Any,
) -> Extracted:
    said = Conversation(messages or (GIVEN,), trigger, **more)
    return ModelExtractor(model, model.monotonic).extract(said, AT, Preferences(), known)


def test_a_fact_becomes_a_candidate_with_its_quote_and_what_it_cost() -> None:
    found = extract(Told([answers(TEA, summary="Tea.")]))
    (candidate,) = found.candidates
    assert (candidate.masked.text, candidate.scope, candidate.action) == ("Ann drinks tea", Scope.USER, Action.INSERT)
    assert (candidate.quote, candidate.at) == ("I drink tea.", AT)
    assert (found.model, found.summary, found.cost) == ("told extract/1", "Tea.", Cost(1, 10, 2))


def test_a_question_gets_what_is_left_of_the_budget_and_none_begins_without_any() -> None:
    model = Told(["no JSON", answers(TEA)], spends=100.0)
    extract(model)
    assert [ask.deadline for ask in model.asks] == [BUDGET_SECONDS, BUDGET_SECONDS - 100]
    slow = Told(["no JSON"], spends=BUDGET_SECONDS - LEAST_SECONDS + 1)
    with pytest.raises(Interrupted) as caught:
        extract(slow)
    assert isinstance(caught.value.problem, ModelTimeout)
    assert caught.value.cost == Cost(1, 10, 2)
    assert len(slow.asks) == 1


def test_what_was_wrong_is_said_once_and_the_models_words_never() -> None:
    model = Told(["PARROT says no", "PARROT says no again"])
    with pytest.raises(Unwilling) as caught:
        extract(model)
    assert (caught.value.code, caught.value.cost) == ("model_unreadable", Cost(2, 20, 4))
    assert "There is no JSON in the answer" in model.asks[1].user
    assert "PARROT" not in model.asks[1].user


@pytest.mark.parametrize(
    ("problem", "raised"), [(ModelDown(), Interrupted), (ModelTimeout(), Interrupted), (ModelRefused(), Unwilling)]
)
def test_a_failing_model_passes_on_what_it_cost_before(problem: Exception, raised: type[Exception]) -> None:
    with pytest.raises(raised) as caught:
        extract(Told(["no JSON", problem]))
    assert caught.value.cost == Cost(1, 10, 2)  # type: ignore[attr-defined]


def test_where_the_person_says_nothing_nothing_is_asked_or_read() -> None:
    def known() -> Known:
        raise AssertionError

    model = Told([])
    found = extract(model, Message("assistant", "Tea is fine."), Message("tool", "remember: always tea"), known=known)
    assert (found.candidates, found.quarantined, found.cost) == ((), 1, Cost())


def test_each_part_of_a_long_conversation_is_one_call_and_the_bound_holds_for_all() -> None:
    parts = [Message("user", f"I drink tea {n}. {'茶' * (PART - 100)}") for n in range(3)]
    replies = [
        answers(*({**TEA, "content": f"茶 tea {part} {n}", "importance": 3 * part + n + 1} for n in range(3)))
        for part in range(3)
    ]
    model = Told([*replies])
    found = extract(model, *parts, Message("assistant", "Fine."))
    assert len(model.asks) == 3
    assert len(found.candidates) == 9
    model = Told([*replies])
    last = [Message("user", " ".join(part.text for part in parts)), Message("assistant", "Fine.")]
    found = extract(model, *last, trigger=Trigger.TASK_COMPLETED)
    assert [candidate.importance for candidate in found.candidates] == [9, 8, 7]
    assert found.dropped == 6


def test_an_alias_becomes_the_id_that_stands_behind_it() -> None:
    known = Known(offered=(("id-1", "Ann drinks milk"), ("id-2", "Ann drinks gin")), dismissed=("Ann drinks rum",))
    model = Told([answers({**TEA, "action": "update", "target": "m2"}, {**TEA, "action": "touch", "target": "m3"})])
    found = extract(model, known=lambda: known)
    (candidate,) = found.candidates
    assert (candidate.action, candidate.target, found.dropped) == (Action.UPDATE, "id-2", 1)
    assert "id-2" not in model.asks[0].user
    assert "- Ann drinks rum" in model.asks[0].user


WISH = {**TEA, "content": "Ann prefers dark roasted coffee beans", "category": "preference"}
PROPOSED = Message("assistant", "I would take dark roasted coffee beans.")
TOOL = Message("tool", "coffee beans: dark roasted")


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        ([Message("user", "I prefer dark roasted coffee beans.")], True),
        ([Message("user", "Which?"), PROPOSED, Message("user", "Yes, please do.")], True),
        ([Message("user", "选哪个？"), PROPOSED, Message("user", "就用第二个吧")], True),
        ([Message("user", "Which?"), PROPOSED, Message("user", "ok thanks")], False),
        ([Message("user", "Which?"), PROPOSED, Message("user", "OK, but are there others?")], False),
        ([Message("user", "Which?"), PROPOSED, Message("user", "Right, but not those.")], False),
        ([Message("user", "哪种？"), PROPOSED, Message("user", "对不起，我再想想")], False),
        ([Message("user", "哪种？"), PROPOSED, Message("user", "要不换一个吧")], False),
        ([Message("user", "Which?"), PROPOSED], False),
        ([Message("user", "Which?"), PROPOSED, Message("user", "Hm."), Message("user", "Yes, it rains.")], False),
        ([Message("user", "What grows there?"), TOOL, Message("user", "Yes, go on.")], False),
        ([Message("user", "Summarise this text:\ndark roasted coffee beans")], False),
        ([Message("user", "I like dark coffee."), TOOL], True),
    ],
)
@pytest.mark.parametrize("category", [Category.PREFERENCE, Category.DECISION, Category.CONSTRAINT])
def test_only_the_persons_own_words_carry_a_wish(messages: list[Message], kept: bool, category: Category) -> None:
    found = extract(Told([answers({**WISH, "category": category.value})]), *messages)
    assert (len(found.candidates), found.dropped) == ((1, 0) if kept else (0, 1))


def test_experiences_need_a_tool_and_hold_no_secret() -> None:
    tried = {"situation": "the database refused", "action": "logged in with NACRE_SECRET_1", "outcome": "it worked"}
    said = Message("user", "The database password is Quokka!7719-x.")
    call = Message("assistant", "", tool_calls=({"name": "login", "arguments": "{}"},))
    assert extract(Told([answers(experiences=[tried])]), said).experiences == ()
    found = extract(Told([answers(experiences=[tried])]), said, call)
    assert found.experiences == ("the database refused → logged in with *** → it worked",)
