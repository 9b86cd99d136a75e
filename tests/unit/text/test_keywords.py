"""Keyword triggers in both languages, and the owner's own words."""

import pytest

from shared.text.keywords import (
    TRIGGERS,
    Words,
    durable,
    holds,
    triggers,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "kind", "category"),
    [
        *[(f"我们{word} FastAPI", "decision", "decision") for word in ("决定", "选择", "采用", "确定")],
        *[
            (f"we {word} FastAPI", "decision", "decision")
            for word in ("decide", "decided", "choose", "chose", "adopt", "adopted", "select", "selected")
        ],
        *[(f"我们使用 {name}", "usage", "decision") for name in ("FastAPI", "Go")],
        *[(f"the team {word} Go", "usage", "decision") for word in ("use", "uses", "using", "used")],
        *[(f"这是我{word}的", "preference", "preference") for word in ("喜欢", "习惯", "偏好", "讨厌")],
        *[(f"我的代码{word}是函数式", "preference", "preference") for word in ("风格", "方式")],
        *[(f"I {word} tabs", "preference", "preference") for word in ("prefer", "like", "preferred", "hate")],
        *[(f"my coding {word} is functional", "preference", "preference") for word in ("habit", "style", "way")],
        *[(f"数据库{word}在这里", "configuration", "knowledge") for word in ("配置", "设置", "规范", "约定", "命名")],
        *[
            (f"our {word} is snake case", "configuration", "knowledge")
            for word in ("config", "setting", "convention", "naming")
        ],
        *[(f"{word}：写测试", "plan", "event") for word in ("下一步", "待办", "TODO", "计划")],
        *[(f"{word}: write tests", "plan", "event") for word in ("next step", "todo", "plan")],
        *[(f"这点很{word}", "important", "knowledge") for word in ("重要", "关键", "核心")],
        *[(f"{word}这一点", "important", "knowledge") for word in ("记住", "注意")],
        *[(f"the {word} point is speed", "important", "knowledge") for word in ("important", "key", "core")],
        *[(f"{word} the deadline", "important", "knowledge") for word in ("remember", "note")],
        ("金额必须用整数分表示", "constraint", "constraint"),
        ("amounts must be integers", "constraint", "constraint"),
    ],
)
def test_every_listed_word_triggers_its_kind(text: str, kind: str, category: str) -> None:
    found = triggers(text)
    assert (found[0].kind, found[0].category) == (kind, category)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "it looks like rain",
            "something like this",
            "by the way",
            "no way",
            "the API key is lost",
            "primary key",
            "an 8 core machine",
            "core dump",
        ),
        *(
            "this is a use case",
            "no use",
            "notebook",
            "SELECT name FROM t",
            "likely",
            "reuse",
            "keyboard",
            "you must be joking",
        ),
        *("我不确定", "你确定吗", "关键词太多", "使用说明在哪", "天气很好", "the sky is blue"),
    ],
)
def test_look_alikes_trigger_nothing(text: str) -> None:
    assert triggers(text) == []


def test_important_things_weigh_eight_and_constraints_ten() -> None:
    assert {trigger.kind: trigger.importance for trigger in TRIGGERS} == {
        "constraint": 10, "decision": 8, "usage": 8, "preference": 6, "configuration": 7, "plan": 5, "important": 8,
    }  # fmt: skip


def test_a_preference_for_using_something_is_a_preference() -> None:
    assert triggers("我喜欢使用 TypeScript")[0].kind == "preference"
    assert triggers("I prefer to use tabs")[0].kind == "preference"


def test_the_owners_words_match_whole_in_english_and_anywhere_in_chinese() -> None:
    own = words_of({"zh": ["咖啡"], "en": ["Kubernetes", "c++"], "fr": ["thé"]}.items())
    assert own == Words(("咖啡",), ("Kubernetes", "c++"))
    assert holds("蓝屏咖啡的菜单", own)
    assert holds("KUBERNETES rocks", own)
    assert holds("写 c++ 的人", own)
    assert not holds("kubernetesque thé", own)
    assert not holds("anything", Words(("",), (" ",)))
    assert not holds("anything", Words())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("always use type hints", True), ("以后都用中文回答", True), ("use type hints", False), ("用中文回答", False)],
)
def test_words_for_every_time_to_come_make_an_order_last(text: str, expected: bool) -> None:
    assert durable(text) is expected
