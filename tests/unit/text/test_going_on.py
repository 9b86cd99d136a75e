"""What a message that goes on with something speaks of."""

import pytest

from shared.text.going_on import topic


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("继续上次的后端接口重构", "后端接口重构"),
        ("繼續上次的後端", "後端"),
        ("继续做登录页", "登录页"),
        ("继续昨天的工作", "昨天的工作"),
        ("carry on with the invoice parser", "invoice parser"),
        ("what did we decide about caching last time?", "what did we decide about caching"),
        ("getUserName 的重构，接着写", "getUserName 的重构"),
        ("继续", ""),
        ("上次说到哪了？", ""),
        ("ok, go on!", ""),
        ("", ""),
    ],
)
def test_the_topic_is_what_is_left_without_the_words_that_lean_on_what_was_before(message: str, expected: str) -> None:
    assert topic(message) == expected
