"""Questions, small talk and orders."""

import pytest

from shared.text.questions import clauses, is_order, is_question, is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        *(
            "你喜欢什么？",
            "我们用哪个数据库",
            "这样可以吗",
            "那后端呢",
            "为什么报错",
            "怎么配置 Redis",
            "请问如何部署",
            "是不是该换了",
            "我该选择什么框架",
        ),
        *(
            "What do you think?",
            "how do I configure it",
            "do you like tea",
            "should we use Go",
            "Is this ok",
            "why is the build red",
            "ok so what is next",
            "which one",
        ),
    ],
)
def test_questions_are_known_by_mark_particle_or_opening(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "我们决定使用 FastAPI",
            "我喜欢什么都试试",
            "没什么特别的",
            "我知道怎么做",
            "我叫林小雨",
            "API 前缀是 /api/v2",
        ),
        *(
            "I prefer tabs",
            "We use Go",
            "What a day",
            "whatever works is fine",
            "When we deploy, we always tag the release",
            "It is done",
        ),
    ],
)
def test_statements_are_no_questions(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "谢谢",
        "好的，谢谢！",
        "ok thanks",
        "OK",
        "Thanks a lot!",
        "你好",
        "嗯嗯",
        "明白了",
        "bye",
        "got it, thank you",
        "好的好的",
        "哈哈哈",
        "okay",
        "拜拜",
        "继续",
    ],
)
def test_small_talk_is_only_greeting_thanks_or_assent(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text", ["好的，我们决定使用 FastAPI", "thanks, I prefer tabs", "okra", "你好世界项目", "I like tea", ""]
)
def test_a_fact_behind_a_courtesy_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "帮我写一个数据处理函数",
            "请把这段翻译成英文",
            "给我看看日志",
            "解释一下",
            "你帮我查一下",
            "我想让你重构它",
            "好的，继续",
            "麻烦改一下",
        ),
        *(
            "please write a parser",
            "write tests",
            "Fix the bug",
            "can you help me",
            "now use tabs",
            "I want you to choose one",
            "let's see",
            "ok, run it",
            "remember to commit",
        ),
    ],
)
def test_orders_are_known(text: str) -> None:
    assert is_order(text)


@pytest.mark.parametrize(
    "text",
    [
        "我们决定使用 FastAPI",
        "我喜欢 TypeScript",
        "写代码是我的爱好",
        "builds TaskPilot with Next.js",
        "orders a cortado",
        "Tests are in pytest",
        "We use Go",
        "love ramen",
    ],
)
def test_facts_are_no_orders(text: str) -> None:
    assert not is_order(text)


def test_clauses_are_cut_at_commas_of_both_scripts() -> None:
    assert clauses("use tabs please, I prefer tabs；真的，是") == ["use tabs please", "I prefer tabs", "真的", "是"]
