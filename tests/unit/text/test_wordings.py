"""The two wishes, keep this and keep nothing, and the end of a talk: in wordings that people use."""

import pytest

from shared.learning.notes import takes_back
from shared.text.endings import ends, sums_up
from shared.text.requests import forces, says_more, without_request
from shared.text.rules import extract, only_request
from shared.text.silence import suppresses, without_suppression
from tests.unit.text import wordings, wordings_of_ends, wordings_of_silence


@pytest.mark.parametrize("text", [*wordings.REVIEWED_NOT_TO_KEEP, *wordings.NOT_TO_KEEP, *wordings.LATER_NOT_TO_KEEP])
def test_a_wish_that_nothing_be_kept_is_heard_and_wins_over_every_other(text: str) -> None:
    assert suppresses(text)
    assert not forces(text)
    assert not forces(f"Remember this: {text}")


@pytest.mark.parametrize("text", [*wordings.REVIEWED_TO_KEEP, *wordings.TO_KEEP, *wordings.LATER_TO_KEEP])
def test_a_request_to_keep_is_heard(text: str) -> None:
    assert forces(text)
    assert not suppresses(text)
    assert says_more(text)


@pytest.mark.parametrize("text", [*wordings.REVIEWED_OTHER, *wordings.OTHER, *wordings.LATER_OTHER])
def test_questions_and_orders_about_files_and_buttons_ask_for_nothing_to_be_kept(text: str) -> None:
    assert not forces(text)


@pytest.mark.parametrize("text", [*wordings.MAY_BE_LEARNED, *wordings.LATER_MAY_BE_LEARNED])
def test_statements_about_oneself_or_a_system_are_no_wish(text: str) -> None:
    assert not suppresses(text)
    assert not forces(text)


@pytest.mark.parametrize("text", wordings_of_silence.UNUSUAL_NOT_TO_KEEP)
def test_a_wish_that_nothing_be_kept_is_heard_in_unusual_words(text: str) -> None:
    assert suppresses(text) in {"message", "conversation"}
    assert not forces(text)


@pytest.mark.parametrize("text", wordings_of_silence.LOOK_ALIKES)
def test_what_only_looks_like_a_wish_that_nothing_be_kept_is_none(text: str) -> None:
    assert not suppresses(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Strike that from the record.",
            "This is just between us.",
            "This shouldn't end up in your notes.",
            "I'd rather this wasn't remembered",
        ),
        *(
            "for your ears only",
            "No memory of this please",
            "Let this not be on file",
            "就当没听见",
            "这个不要写到我的档案里",
            "别把這個寫進去",
        ),
        *("麻烦把这段从记忆里删掉", "把我刚才说的忘了吧", "这事你知我知就好", "我不希望这段话被保存"),
    ],
)
def test_such_a_wish_alone_speaks_of_what_was_said_before(text: str) -> None:
    assert suppresses(text) == "message"
    assert only_request(text)


@pytest.mark.parametrize("text", [*wordings_of_ends.REVIEWED_ENDS, *wordings_of_ends.ENDS])
def test_a_goodbye_and_the_wish_to_sum_up_end_a_talk(text: str) -> None:
    assert ends(text) or sums_up(text)


@pytest.mark.parametrize("text", [*wordings_of_ends.GOES_ON, "thanks " * 80, ""])
def test_a_message_that_says_more_ends_nothing(text: str) -> None:
    assert not ends(text)
    assert not sums_up(text)


@pytest.mark.parametrize(
    "text",
    [
        "记住这个",
        "save this",
        "Remember this.",
        "remember that",
        "请记住",
        "保存这个！",
        "记住：",
        "note: ",
        "save this 🙏",
        "記住這個，謝謝",
        "remember",
        "please remember!",
        "don't forget",
        "Never forget it.",
        "remember me",
        "记得",
        "别忘了",
        "別忘了這件事",
        "记住我",
    ],
)
def test_a_request_alone_says_nothing_that_could_be_kept(text: str) -> None:
    assert forces(text)
    assert not says_more(text)


def test_what_is_left_of_a_wish_is_small_talk_or_nothing() -> None:
    assert without_suppression("Please don’t save this, thanks") == "Please , thanks"
    assert without_suppression("我喜欢茶") == "我喜欢茶"


@pytest.mark.parametrize(
    ("text", "reach"),
    [
        ("不要保存", "message"),
        ("这个别记住", "message"),
        ("请勿保存这个", "message"),
        ("don't save this", "message"),
        ("Please do not remember that.", "message"),
        ("don’t save", "message"),
        ("不要保存这次对话", "conversation"),
        ("don't save this conversation", "conversation"),
        ("这次聊天别存", "conversation"),
        ("don't save this session to your memory", "conversation"),
        ("Never store the session token in local storage", ""),
        ("Don't save the session token", "sentence"),
        ("We never keep this session open", ""),
        ("不要保存会话令牌", "message"),
        ("这次聊天不错，我决定用 Redis", ""),
        ("nothing from this conversation should be saved", "message"),
        ("don't save passwords in plain text", "sentence"),
        ("不要保存明文密码", "sentence"),
        ("禁止保存明文密码", ""),
        ("不要把这个记住。", "message"),
        ("不要把我的工资记下来", "message"),
        ("不要把它记下来", "message"),
        ("别把日志存下来", "sentence"),
        ("請不要把圖片保存下來", "sentence"),
        ("不要把用户密码存下来", "sentence"),
        ("保存到数据库", ""),
        ("I don't like tea", ""),
    ],
)
def test_a_request_to_keep_nothing_has_a_reach(text: str, reach: str) -> None:
    assert suppresses(text) == reach


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("记住这个：我对花生过敏", "我对花生过敏"),
        ("请记住，我叫林小雨", "我叫林小雨"),
        ("帮我记一下：下周三交稿", "下周三交稿"),
        ("save this: I use vim", "I use vim"),
        ("Please remember that I am allergic to peanuts", "I am allergic to peanuts"),
        ("remember this", ""),
        ("记住这个", ""),
        ("别忘了我喜欢绿茶", "我喜欢绿茶"),
        ("請別忘了，我喜歡綠茶", "我喜歡綠茶"),
        ("你要记得我对花生过敏", "我对花生过敏"),
        ("不要忘记：周五发版", "周五发版"),
        ("Remember the door code is blue", "the door code is blue"),
        ("don't forget our office has no lift", "our office has no lift"),
        ("Could you please remember that I prefer tabs?", "I prefer tabs"),
        ("别忘了记住这个：我不吃辣", "我不吃辣"),
    ],
)
def test_a_request_to_keep_is_taken_off_and_the_rest_stays_as_it_was(text: str, rest: str) -> None:
    assert forces(text)
    assert without_request(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        *("不要记住这个", "don't save this", "I remember the sea", "记得吃饭", "save the file to disk", "我记住了"),
        *("你记得我喜欢什么", "记得我吗", "记得我们上次定的方案吧，按那个来", "别忘了保存进度", "他让我别忘了我的钥匙"),
        *("Can you remember what the password is", "remember how the parser is built", "remember the milk"),
        *("remember me checkbox is broken", "Implement remember me", "Do you remember I like tea?"),
    ],
)
def test_other_speech_forces_nothing(text: str) -> None:
    assert not forces(text)


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        *(
            (text, "last")
            for text in ("别把这个存下来", "别把刚才说的存下来", "不要把它记下来", "千万别把那件事记下来")
        ),
        *((text, "last") for text in ("请不要把上一条笔记保存下来", "不要把这条消息存到记忆里", "別把這個存下來")),
        *(
            (text, "")
            for text in (
                "别把日志存下来",
                "别把这个文件存下来",
                "不要把用户密码存下来",
                "别把临时文件保存",
                "不要把日志記下來",
            )
        ),
        *((text, "all") for text in ("不要把这次对话保存下来", "别把聊天内容记下来")),
    ],
)
def test_a_thing_that_is_not_to_be_kept_takes_no_note_back(text: str, takes: str) -> None:
    assert takes_back(text) == takes


def test_what_was_decided_beside_a_thing_that_is_not_to_be_kept_is_learned() -> None:
    decided = "We decided to use ELK for logging."
    for other in ("别把日志存下来", "别把这个文件存下来", "请不要把图片保存下来"):
        found = extract([decided, other], has_project=False, limit=9, manual=True)
        assert [fact.content for fact in found.candidates] == [decided]
