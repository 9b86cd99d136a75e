"""Any text at all is read or asked for again, in bounded time, and nothing is invented."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.answers_fuzz import invented, mutated
from shared.learning.answers import loose_json
from shared.learning.answers.answers import Reading, Unreadable
from tests.unit.learning.answers.answering import contents, reading

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), _JSON) | st.lists(_JSON), st.booleans(), st.sampled_from([None, 2]))
def test_whatever_is_json_is_read_as_json_reads_it(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    (found,) = loose_json.find(text)

    assert (found.value, found.whole, found.end) == (value, True, len(text))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("{}[]\"'“”\\:,：， a1/*#`<>\n")), max_size=200))
def test_any_text_at_all_is_read_or_asked_for_again(text: str) -> None:
    found = Reading()
    with suppress(Unreadable):
        found = reading(text)

    assert invented(text, found) == []


def test_damaged_answers_are_read_or_asked_for_again_and_nothing_is_invented() -> None:
    ends = {"read": 0, "again": 0}
    for text in mutated(seed=7, answers=2_000):
        try:
            found = reading(text)
        except Unreadable:
            ends["again"] += 1
        else:
            ends["read"] += 1
            assert invented(text, found) == []

    assert min(ends.values()) > 200


def test_the_check_for_inventions_can_fail() -> None:
    assert invented('{"facts":["tea"]}', reading('{"facts":["coffee"]}')) == ["coffee"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '{"a" b' * 20_000,
        '{"' * 120_000,
        '{"facts":["' + 'x"y' * 20_000,
        "think>" * 20_000,
        "{#" * 120_000,
    ],
)
def test_a_flood_of_signs_is_read_in_bounded_time(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(Unreadable):
        reading(text)

    assert time.process_time() - begun < 20


def test_a_megabyte_of_answer_is_read() -> None:
    text = json.dumps({"summary": "s" * 1_000_000, "facts": ["likes tea"]})

    assert contents(text) == ["likes tea"]
