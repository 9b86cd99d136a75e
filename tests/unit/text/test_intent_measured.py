"""How well messages are judged on the labelled set, and that any text is, in time that grows with its length."""

import sys
import time
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.intent import BOUND, KINDS, LANGUAGES, RECALLED, SPLITS, Score, labelled, score
from shared.text import clauses
from shared.text.intent import REASONS, decide


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_judged_with_a_known_reason(text: str, new_session: bool) -> None:
    made = decide(text, new_session=new_session)
    assert made.reason in REASONS
    assert (made.kind == "none") == (made.signals == ())
    assert not made.broad or made.kind == "strong"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("split", SPLITS)
def test_precision_and_recall_hold_on_the_labelled_messages(split: str, language: str) -> None:
    some = [line for line in labelled() if (line["split"], line["language"]) == (split, language)]
    one = score(some, RECALLED)
    assert min(one.precision, one.recall) >= BOUND


def test_the_labelled_set_is_large_and_holds_every_kind_in_both_languages() -> None:
    everything = labelled()
    assert len(everything) >= 240
    assert len({line["text"] for line in everything}) == len(everything)
    for language in LANGUAGES:
        for split in SPLITS:
            some = [line["kind"] for line in everything if (line["split"], line["language"]) == (split, language)]
            assert min(some.count(kind) for kind in KINDS) >= 7
            assert 0.4 < sum(kind in RECALLED for kind in some) / len(some) < 0.6


def test_the_measure_counts_misses_and_false_alarms() -> None:
    some = [line for line in labelled() if line["kind"] in {"weak", "none"}][:60]
    nothing = decide("", new_session=False)
    assert score(some, RECALLED, lambda _: nothing).recall == 0
    assert score(some, RECALLED, lambda _: nothing._replace(kind="weak")).missed == 0
    assert Score(3, 1, 0)[:2] == (3, 1)
    assert (Score(3, 1, 3).precision, Score(3, 1, 3).recall, Score(3, 1, 3).f1) == (0.75, 0.5, 0.6)


@given(st.text(max_size=200))
def test_the_normal_form_is_words_with_one_space_around(text: str) -> None:
    form = clauses.normal(text)
    assert form.startswith(" ^ | ")
    assert form.endswith(" | ")
    assert form.split() == form[1:-1].split(" ")
    assert "| |" not in form


HOSTILE = [
    "在",
    "这是",
    "here is ",
    "\n",
    "“a",
    '"',
    "```\n",
    "<file ",
    "a.",
    "it ",
    "last time ",
    "    x\n",
    "'a ",
    "ﷺ",
    "~~~\n",
    " ",
]


def calls(text: str) -> int:
    """How many functions of Python and of C run while a message is judged."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        decide(text, new_session=False)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_steps_of_a_judgement_do_not_grow_with_a_long_message(piece: str) -> None:
    decide("warm up", new_session=False)
    short, long = (piece * (size // len(piece)) for size in (25_000, 200_000))
    assert calls(long) <= calls(short) * 1.1 + 100


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_of_a_judgement_grows_less_than_its_message(piece: str) -> None:
    def least(size: int) -> float:
        spent = []
        for _ in range(5):
            started = time.process_time()
            decide(piece * (size // len(piece)), new_session=False)
            spent.append(time.process_time() - started)
        return min(spent)

    decide("warm up", new_session=False)
    assert least(200_000) < 8 * least(25_000) + 0.02
