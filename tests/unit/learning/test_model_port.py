"""What stands on both sides of the port to a model keeps its words to itself."""

import pytest

from shared.domain.errors import Unavailable
from shared.learning import model
from shared.learning.model import Answer, Ask, ModelUnavailable


def test_neither_question_nor_answer_shows_its_words_when_printed() -> None:
    asked = Ask("you learn", "I live in Aarhus", {"title": "Facts"}, max_tokens=100, deadline=30.0)
    answered = Answer("lives in Aarhus", "end", 10, 5, "m")

    assert repr(asked) == "Ask(max_tokens=100, deadline=30.0)"
    assert repr(answered) == "Answer(stop='end', tokens_in=10, tokens_out=5, model='m')"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (model.ModelThrottled, "model_throttled"),
        (model.ModelTimeout, "model_timeout"),
        (model.ModelDown, "model_down"),
        (model.ModelRefused, "model_rejected"),
    ],
)
def test_each_way_to_fail_has_a_code_that_an_owner_sees(error: type[ModelUnavailable], code: str) -> None:
    assert error().code == code
    assert issubclass(error, Unavailable)
