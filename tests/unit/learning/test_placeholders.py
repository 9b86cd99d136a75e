"""Secrets leave a text before a model sees it, and come back only where they belong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.learning.placeholders import Placeholders, shown
from shared.text import secrets

PASSWORD, TOKEN = "Tiger#2291", "sk-test-4f9A8b7C6d5E4f3A2b1C0d9E8f7A6b5C"
SAID = (f"数据库密码是 {PASSWORD}，别忘了", f"my api key: {TOKEN}", f"再用 {PASSWORD} 登录测试库")
HIDDEN = Placeholders.of(SAID)


@pytest.mark.case(47)
def test_no_secret_is_left_in_what_a_model_sees_and_the_words_around_it_stay() -> None:
    assert HIDDEN.texts == (
        "数据库密码是 NACRE_SECRET_1，别忘了",
        "my api key: NACRE_SECRET_2",
        "再用 NACRE_SECRET_1 登录测试库",
    )


def test_text_without_secrets_stays_as_it_is() -> None:
    texts = ("the password policy changed", "密码策略改了", "")

    assert Placeholders.of(texts).texts == texts
    assert Placeholders.of(()).texts == ()


def test_a_short_value_is_not_cut_out_of_longer_words() -> None:
    hidden = Placeholders.of(["门禁密码是 8461", "订单 184610 和 8461 号，8461。"])

    assert hidden.texts == ("门禁密码是 NACRE_SECRET_1", "订单 184610 和 NACRE_SECRET_1 号，NACRE_SECRET_1。")


@pytest.mark.parametrize(
    ("fact", "masked"),
    [
        ("数据库密码是 NACRE_SECRET_1", "数据库密码是 ***"),
        ("the key `NACRE\\_SECRET\\_2` opens the api", "the key `***` opens the api"),
        ("测试库用 nacre_secret_1 登录", "测试库用 *** 登录"),
        ("测试库用【NACRE SECRET 1】登录", "测试库用【***】登录"),
        ("NACRE-SECRET-1 and NACRE_SECRET_2 are both his", "*** and *** are both his"),
    ],
)
def test_a_placeholder_gives_back_its_value_even_where_detection_would_not_find_it(fact: str, masked: str) -> None:
    restored = HIDDEN.restore(fact)

    assert restored.ok
    assert restored.masked.text == masked
    assert {value for _, value in restored.masked.values} <= {PASSWORD, TOKEN}
    assert secrets.unmask(restored.masked) == restored.text


def test_detection_finds_in_a_restored_fact_exactly_what_was_put_back() -> None:
    restored = HIDDEN.restore("数据库密码是 NACRE_SECRET_1")

    assert secrets.mask(restored.text) == restored.masked


@pytest.mark.parametrize(
    "fact",
    [
        "数据库密码是 NACRE_SECRET_3",
        "数据库密码是 NACRE_SECRET_11",
        "数据库密码是 NACRE_SECRET_0",
        "数据库密码是 NACRE_SECRET",
        "数据库密码是 NACRE_SECRET_1A",
        "数据库密码是 NACRE_密码_1",
        "数据库密码是 ＮＡＣＲＥ＿ＳＥＣＲＥＴ＿１",
        "数据库密码是 NACRE_SECRET_XAB12_1",
        "NACRE_SECRET_1 或 NACRE_SECRET_9",
        "数据库密码是 ***",
        "数据库密码是 Lion#3382",
        "the password is hunter2x",
    ],
)
def test_invented_and_mangled_placeholders_and_invented_secrets_spoil_a_fact(fact: str) -> None:
    restored = HIDDEN.restore(fact)

    assert not restored.ok
    assert PASSWORD not in restored.text
    assert (restored.masked.text, restored.masked.values) == (fact, [])


def test_a_fact_that_dropped_its_placeholder_never_gets_a_secret() -> None:
    assert HIDDEN.restore("用户有一个数据库").masked.values == []
    assert not HIDDEN.restore("用户有一个数据库密码", credential=True).ok
    assert HIDDEN.restore("数据库密码是 NACRE_SECRET_1", credential=True).ok


def test_a_secret_that_the_model_saw_because_nothing_gave_it_away_is_masked_once_it_does() -> None:
    restored = Placeholders.of(["新的是 Lion#3382 这个"]).restore("密码是 Lion#3382")

    assert restored.ok
    assert restored.masked.values == [(4, "Lion#3382")]


@pytest.mark.parametrize("typed", ["NACRE_SECRET_1", "nacre secret 1", "ＮＡＣＲＥ＿ＳＥＣＲＥＴ＿１"])
def test_a_placeholder_that_the_user_typed_stands_for_nothing(typed: str) -> None:
    hidden = Placeholders.of([f"what is {typed}?", f"密码是 {PASSWORD}"])
    (name,) = hidden.values

    assert name != "NACRE_SECRET_1"
    assert hidden.restore(f"密码是 {name}").masked.values == [(4, PASSWORD)]
    assert hidden.restore(f"密码是 {name.lower()}").ok
    assert not hidden.restore(f"密码是 {typed}").ok


def test_a_summary_shows_masks_only() -> None:
    assert HIDDEN.hidden(f"set NACRE_SECRET_1 and {PASSWORD}; NACRE_SECRET_9") == "set *** and ***; ***"
    assert shown("密码是 NACRE_SECRET_1") == "密码是 ***"


def test_neither_form_shows_a_secret_when_it_is_printed() -> None:
    printed = repr(HIDDEN) + repr(HIDDEN.restore("数据库密码是 NACRE_SECRET_1"))

    assert PASSWORD not in printed
    assert TOKEN not in printed


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=4))
def test_restoring_what_was_hidden_gives_the_very_same_text(texts: list[str]) -> None:
    told = [*texts, *SAID]
    hidden = Placeholders.of(told)
    back = [hidden.restore(text) for text in hidden.texts]

    assert [one.text for one in back if one.ok] == [text for text, one in zip(told, back, strict=True) if one.ok]
    assert all(one.ok for one in back[-len(SAID) :])


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80))
def test_no_fact_of_any_form_gets_a_value_without_a_placeholder(fact: str) -> None:
    restored = Placeholders.of(SAID).restore(fact)

    assert PASSWORD not in restored.text
    assert TOKEN not in restored.text
