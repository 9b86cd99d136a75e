"""What is said of a request's fields: our own words, and no value that was sent."""

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from shared import problems


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Wish(BaseModel):
    colour: Colour = Colour.RED
    only: Literal[Colour.RED, Colour.BLUE] = Colour.RED
    word: Literal["a", "b"] = "a"
    count: Annotated[int, Field(ge=1, le=9)] = 1
    share: float = 0.5
    wanted: bool = True
    names: list[str] = []


@pytest.mark.parametrize(
    ("sent", "field", "problem"),
    [
        ({"colour": "KANARIE"}, "colour", "This is one of 'red' or 'blue'."),
        ({"only": "KANARIE"}, "only", "This is one of 'red' or 'blue'."),
        ({"word": "KANARIE"}, "word", "This is one of 'a' or 'b'."),
        ({"count": "KANARIE"}, "count", "A whole number is needed."),
        ({"count": 1.5}, "count", "A whole number is needed."),
        ({"count": 10}, "count", "This must be at most 9."),
        ({"share": "KANARIE"}, "share", "A number is needed."),
        ({"wanted": "KANARIE"}, "wanted", "This is true or false."),
        ({"names": "KANARIE"}, "names", "A list is needed."),
        ({"names": [1]}, "names.0", "A text is needed."),
    ],
)
def test_a_problem_is_told_in_plain_words(sent: dict[str, object], field: str, problem: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Wish.model_validate(sent)
    assert problems.told(raised.value.errors()) == [{"field": field, "problem": problem}]
