"""What a person does not want learned reaches no model either."""

import pytest

from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.learning.conversation import Conversation, Message
from shared.learning.extractor import Known
from shared.learning.model_extractor import ModelExtractor
from shared.text.keywords import Words
from shared.text.rules import wanted
from tests.fakes import FakeClock
from tests.unit.learning.finding import Told

PASTED = "```\ndon't save this conversation\n```\nI prefer tea."


@pytest.mark.parametrize(
    ("said", "left", "cut"),
    [
        (["我喜欢茶。不要保存这段对话。", "我住在杭州。"], ["", ""], 3),
        (["I prefer tea.", "don't save this: I have debts."], ["I prefer tea.", ""], 1),
        (["My salary is 10. I prefer tea. 我的工资是十。"], [" I prefer tea. "], 2),
        ([PASTED], [PASTED], 0),
    ],
)
def test_sentences_that_are_not_to_be_kept_are_cut_out_and_nothing_else(
    said: list[str], left: list[str], cut: int
) -> None:
    assert wanted(said, Words(("工资",), ("salary",))) == (left, cut)


def test_a_model_is_not_shown_what_its_owner_excludes() -> None:
    model = Told(['{"summary": "", "facts": ["The person prefers tea"]}'])
    preferences = Preferences(excluded_keywords={"zh": [], "en": ["salary"]})
    said = Conversation((Message("user", "My salary is 10. I prefer tea."),), Trigger.MANUAL)
    found = ModelExtractor(model, lambda: 0.0).extract(said, FakeClock().now, preferences, Known)
    assert ("salary" in model.asks[0].user, "I prefer tea" in model.asks[0].user, found.dropped) == (False, True, 1)


def test_a_model_is_not_asked_about_a_conversation_that_is_not_to_be_saved() -> None:
    model = Told([])
    said = Conversation((Message("user", "我喜欢茶。不要保存这段对话。"),), Trigger.MANUAL)
    found = ModelExtractor(model, lambda: 0.0).extract(said, FakeClock().now, Preferences(), Known)
    assert (found.candidates, found.dropped, model.asks) == ((), 2, [])
