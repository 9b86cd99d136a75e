"""Which words speak of a change, and what a question wants to hear, in folded text."""

import time

import pytest

from shared.recall import changes


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("my manager is dmitri now", "my manager is dmitri"),
        ("as of this spring, we use pnpm", ", we use pnpm"),
        ("since june my bank is coastline", "my bank is coastline"),
        ("the standup has been moved to 10:15", "the standup 10:15"),
        ("现在我住在上海", "我住在上海"),
        ("车现在停在门口", "车停在门口"),
        ("部署日改到周四了", "部署日周四"),
        ("从下周起发票寄给孙会计", "发票寄给孙会计"),
        ("代码改进很大", "代码改进很大"),
        ("the known movement", "the known movement"),
    ],
)
def test_words_of_change_are_left_out(text: str, rest: str) -> None:
    assert changes.without(text).split() == rest.split()
    assert changes.speaks_of_change(text) == (text != rest)


@pytest.mark.parametrize(
    ("text", "replaces"),
    [
        ("the retro moved to 16:30", True),
        ("we no longer use vault", True),
        ("the parking code was changed by them to 9052", True),
        ("my manager is dmitri now", False),
        ("peter changed his brakes", False),
        ("数据库换成了postgresql", True),
        ("小美不再吃素", True),
        ("现在我住在上海", False),
        ("代码改进很大", False),
    ],
)
def test_a_text_that_names_what_took_the_place_of_something_is_known(text: str, replaces: bool) -> None:
    assert changes.replaces(text) == replaces


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("where is the server?", "the server runs debian", True),
        ("where is the server?", "the server is in oslo", False),
        ("when is the retro?", "the retro was long", True),
        ("when is the retro?", "the retro is on monday", False),
        ("服务器在哪里？", "服务器现在是虚拟机", True),
        ("服务器在哪里？", "服务器在北京", False),
        ("有几个人？", "换成看板了", True),
        ("有几个人？", "有九个人", False),
        ("who is it?", "nobody", False),
    ],
)
def test_a_text_without_a_place_or_a_number_does_not_answer_who_asks_for_one(
    question: str, text: str, missing: bool
) -> None:
    assert changes.missing(question, text) == missing


@pytest.mark.parametrize("piece", ["has ", "we ", "moved ", "since this ", "从一", "改", "now ", "1", "moved x "])
def test_no_text_takes_long(piece: str) -> None:
    text = piece * 2_000
    started = time.process_time()
    changes.without(text)
    changes.speaks_of_change(text)
    changes.replaces(text)
    changes.missing("where", text)
    assert time.process_time() - started < 1.0
