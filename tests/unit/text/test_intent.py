"""Whether a message needs memories."""

import pytest

from shared.text import intent_words
from shared.text.intent import Intent, classify


@pytest.mark.parametrize(
    "text",
    [
        *(
            "继续昨天的 API 重构工作",
            "上次那个方案",
            "之前定的端口",
            "昨天说到哪了",
            "我们讨论过缓存",
            "你记得端口吗",
            "我喜欢简洁的代码",
            "我习惯用 tabs",
            "按照我的风格写",
        ),
        *("这个项目怎么部署", "我们的接口前缀", "当前进度", "项目里用的什么库"),
        *(
            "continue the refactoring",
            "what we said last time",
            "as of yesterday",
            "I prefer tabs",
            "in my style please",
            "how does this project deploy",
            "where in our codebase",
        ),
    ],
)
@pytest.mark.parametrize("new_session", [True, False])
def test_strong_signals_recall_in_any_session(text: str, new_session: bool) -> None:
    found = classify(text, new_session)
    assert (found.kind, found.recall) == ("strong", "yes")


@pytest.mark.parametrize(
    "text",
    [
        *("换个话题，上次的电影叫什么", "新问题：怎么读文件", "另外，帮我看看天气", "顺便问一下你记得我吗"),
        *(
            "change topic: what did we discuss last time",
            "New question, do you remember me",
            "By the way, what is a monad",
        ),
    ],
)
@pytest.mark.parametrize("new_session", [True, False])
def test_exclusions_win_over_every_signal(text: str, new_session: bool) -> None:
    found = classify(text, new_session)
    assert (found.kind, found.recall, found.identity) == ("excluded", "no", False)


def test_the_other_one_is_no_change_of_topic() -> None:
    assert classify("我们的另外一个项目", new_session=False).kind == "strong"


@pytest.mark.parametrize(
    "text", ["把那个改一下", "刚才的结果", "它跑得很慢", "try again", "make it faster", "is that right"]
)
def test_weak_signals_recall_if_the_best_hit_is_good(text: str) -> None:
    assert classify(text, new_session=False)[0::3] == ("weak", "if_good")


@pytest.mark.parametrize("text", ["Python 怎么读文件", "帮我写一个数据处理函数", "write a csv parser", "翻译成英文"])
def test_without_a_signal_only_a_new_session_recalls(text: str) -> None:
    assert classify(text, new_session=True)[0::3] == ("none", "yes")
    assert classify(text, new_session=False)[0::3] == ("none", "no")


@pytest.mark.parametrize("phrase", [*intent_words.IDENTITY_ZH, *intent_words.IDENTITY_EN])
def test_every_identity_phrase_asks_for_persona_and_broad_recall(phrase: str) -> None:
    assert classify(f"{phrase}", new_session=False)[:2] == ("strong", True)
    assert classify(phrase.upper().replace("'", "’") + "?", new_session=False).identity


def test_there_are_more_than_forty_three_identity_phrases_in_each_language() -> None:
    assert len(set(intent_words.IDENTITY_ZH)) >= 43
    assert len(set(intent_words.IDENTITY_EN)) >= 43


@pytest.mark.parametrize(
    ("text", "query_class"),
    [
        ("我喜欢什么口味", "preference"),
        ("what editor do I prefer", "preference"),
        ("上次怎么解决内存泄漏的", "experience"),
        ("how did we fix the login bug", "experience"),
        ("帮我写一个数据处理函数", "code"),
        ("refactor this function", "code"),
        ("端口是多少", "knowledge"),
        ("what is our port", "knowledge"),
        ("早上好", "general"),
        ("good morning", "general"),
    ],
)
def test_the_class_of_a_message_steers_the_weights(text: str, query_class: str) -> None:
    assert classify(text, new_session=True).query_class == query_class


def test_words_of_oneself_allow_recent_memories_to_fill_up() -> None:
    assert classify("推荐我一家餐厅", new_session=True).weak_identity
    assert classify("suggest me a place", new_session=True).weak_identity
    assert not classify("推荐一家餐厅", new_session=True).weak_identity
    assert not classify("team meeting", new_session=True).weak_identity


def test_a_blank_message_at_the_start_recalls_without_a_query() -> None:
    assert classify("", new_session=True) == Intent("none", False, "general", "yes", False)
    assert classify("？", new_session=False).recall == "no"
