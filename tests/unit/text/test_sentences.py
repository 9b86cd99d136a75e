"""Cutting text into sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.sentences import spans, split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我喜欢茶。我们用 FastAPI！真的？是的", ["我喜欢茶。", "我们用 FastAPI！", "真的？", "是的"]),
        ("I like tea. We use Go! Really? Yes", ["I like tea.", "We use Go!", "Really?", "Yes"]),
        ("第一；第二；第三", ["第一；", "第二；", "第三"]),
        ("one\ntwo\r\nthree\u2028four", ["one", "two", "three", "four"]),
        ("我用 Python 3.11 和 Node v20.1.0。好用", ["我用 Python 3.11 和 Node v20.1.0。", "好用"]),
        (
            "See https://example.com/a?b=c.d&e=f for it. Then go.",
            ["See https://example.com/a?b=c.d&e=f for it.", "Then go."],
        ),
        ("Use linters, e.g. ruff, i.e. the fast one. Fine.", ["Use linters, e.g. ruff, i.e. the fast one.", "Fine."]),
        (
            "Dr. Smith met Mr. Lee at 5 p.m. on Monday. It rained.",
            ["Dr. Smith met Mr. Lee at 5 p.m. on Monday.", "It rained."],
        ),
        ("It costs 3.50 dollars. ok", ["It costs 3.50 dollars.", "ok"]),
        ("他说：“你好。我走了。”然后离开了。", ["他说：“你好。我走了。”", "然后离开了。"]),
        ('She said "I use tabs. Always." Then she left.', ['She said "I use tabs. Always."', "Then she left."]),
        ("我用 config.py 文件。", ["我用 config.py 文件。"]),
        ("我喜欢 vim.我也用 emacs", ["我喜欢 vim.", "我也用 emacs"]),
        ("1. Use tabs\n2. Use Go", ["1. Use tabs", "2. Use Go"]),
        ("嗯…… 好吧", ["嗯……", "好吧"]),
        ("wait... what now", ["wait... what now"]),
        ("（我喜欢茶。真的。）", ["（我喜欢茶。真的。）"]),
        ("See no. 5 please. Done.", ["See no. 5 please.", "Done."]),
        ("We met Acme Inc. in May. Good.", ["We met Acme Inc. in May.", "Good."]),
        ("She is from the U.S. He is not.", ["She is from the U.S.", "He is not."]),
        ("（见文档。详情略）我喜欢茶", ["（见文档。详情略）我喜欢茶"]),
        ("版本 3.新功能", ["版本 3.新功能"]),
        ("   \n  ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_quotation_that_never_closes_swallows_nothing() -> None:
    assert split("他说：“你好。我走了。然后呢") == ["他说：“你好。", "我走了。", "然后呢"]


def test_a_long_quotation_is_cut_like_any_text() -> None:
    assert len(split("“" + "这是一句话。" * 100 + "”")) == 100


@given(st.text(alphabet=st.sampled_from("我你 aB1.!?。！？；…\n\"'“”（）()，,`e.g\u3000\u2028"), max_size=80))
def test_sentences_are_exact_pieces_in_order_and_lose_only_white_space(text: str) -> None:
    at = 0
    for start, end in spans(text):
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()
    assert split(text) == [text[start:end] for start, end in spans(text)]
