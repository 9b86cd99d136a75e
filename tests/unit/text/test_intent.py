"""Whether a message needs memories."""

import pytest

from shared.text import intent_words
from shared.text.intent import SIGNALS, decide

STRONG = [
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
]


@pytest.mark.parametrize("text", STRONG)
@pytest.mark.parametrize("new_session", [True, False])
def test_strong_signals_recall_in_any_session(text: str, new_session: bool) -> None:
    made = decide(text, new_session=new_session)
    assert (made.kind, made.recall) == ("strong", "yes")


@pytest.mark.parametrize(
    "text",
    [
        *("换个话题，上次的电影叫什么", "新问题：怎么读文件", "另外，帮我看看天气", "顺便问一下月亮多远"),
        *(
            "change topic: what did we discuss last time",
            "New question, do you remember me",
            "By the way, what is a monad",
        ),
    ],
)
@pytest.mark.parametrize("new_session", [True, False])
def test_exclusions_win_over_every_signal_after_them(text: str, new_session: bool) -> None:
    made = decide(text, new_session=new_session)
    assert (made.kind, made.recall, made.broad) == ("excluded", "no", False)
    assert made.reason in {"topic_change", "aside"}


@pytest.mark.parametrize("text", ["继续昨天的工作，另外帮我看看天气", "continue the plan, and by the way: thanks"])
def test_an_aside_after_a_signal_takes_nothing_back(text: str) -> None:
    assert decide(text, new_session=False).kind == "strong"


@pytest.mark.parametrize(
    "text",
    [
        "顺便问一下你记得我吗",
        "顺便问一下，我老婆叫什么",
        "By the way, what's my wife's name?",
        "Incidentally, where do I work?",
    ],
)
def test_a_question_about_the_person_counts_after_an_aside(text: str) -> None:
    made = decide(text, new_session=False)
    assert (made.kind, made.reason, made.broad) == ("strong", "signal_person", True)
    assert decide(f"change the topic. {text}", new_session=False).reason == "topic_change"


@pytest.mark.parametrize(
    "text",
    [
        *("帮我订个我爱吃的外卖", "还按原来的配色吧", "老地方订个位", "那本书叫什么来着"),
        *("Do you remember the name of that library?", "What was the name of that book I liked?"),
        *("What were the action items from Monday's meeting?", "use my preferred stack", "What's on my todo list?"),
        *("Help me prepare for my interview tomorrow.", "Write a letter to my landlord", "is my parcel here yet"),
        *("上次世界杯我们看的是哪场", "怎么处理上次那个报错", "之前定的股价提醒阈值是多少"),
    ],
)
def test_what_only_somebody_who_knows_the_person_can_answer_recalls(text: str) -> None:
    assert decide(text, new_session=False).recall != "no"


@pytest.mark.parametrize(
    "text",
    [
        *("世界杯上次是谁夺冠", "人工智能之前的发展历史", "Excel 里如何计算上个月的总额", "怎么查看昨天的日志 linux"),
        *("它山之石是什么意思", "CSS 怎么实现那个毛玻璃效果", "昨天美股为什么大跌"),
        *(
            "What happened yesterday in 1969?",
            "What should I do if my car won't start?",
            "How do I undo yesterday's commit?",
        ),
        *("How does the project pattern work in Gradle?", "How do companies usually style their code?"),
        *(
            "When did they last win the cup?",
            "Does Rust drop its values in order",
            "How do I remember the order of planets?",
        ),
    ],
)
def test_questions_about_the_world_lean_on_nothing_whatever_time_they_name(text: str) -> None:
    assert decide(text, new_session=False).recall == "no"


@pytest.mark.parametrize(
    "text", ["我们上次聊得差不多了，换个话题吧", "咱们换个话题", "Last time was fun. Now let's change the subject"]
)
def test_a_change_of_topic_holds_wherever_it_stands(text: str) -> None:
    assert decide(text, new_session=True).reason == "topic_change"


@pytest.mark.parametrize(
    "text", ["我们的另外一个项目", "我们的部署出现了新问题", "add a new question to our app's quiz"]
)
def test_words_of_another_topic_inside_a_clause_change_no_topic(text: str) -> None:
    assert decide(text, new_session=False).kind != "excluded"


@pytest.mark.parametrize(
    "text",
    ["把那个改一下", "刚才的结果", "它跑得很慢", "try again", "make it faster", "is that right", "OK, make it faster"],
)
def test_weak_signals_recall_if_the_best_hit_is_good(text: str) -> None:
    made = decide(text, new_session=False)
    assert (made.kind, made.recall, made.reason) == ("weak", "if_good", "signal_pointer")


@pytest.mark.parametrize("text", ["Python 怎么读文件", "帮我写一个数据处理函数", "write a csv parser", "翻译成英文"])
def test_without_a_signal_only_a_new_session_recalls(text: str) -> None:
    first, later = decide(text, new_session=True), decide(text, new_session=False)
    assert (first.kind, first.recall, first.reason) == ("none", "yes", "session_start")
    assert (later.kind, later.recall, later.reason) == ("none", "no", "no_signal")


@pytest.mark.parametrize(
    "text",
    [
        *("以前端为例讲讲组件化", "当前目录下有哪些文件", "目前天气怎么样", "在部署之前检查什么", "其它浏览器支持吗"),
        *(
            "写一个函数，它接收两个参数",
            "Python 里 continue 语句和 break 的区别",
            "把“继续”按钮改成红色",
            "我们的太阳系",
        ),
        *("write a function that sorts a list", "I have a list, how do I sort it", "what time is it in Tokyo"),
        *("what happens after the last time limit", "git rebase --continue", "select a previous sibling in CSS"),
        *(
            'translate "continue" into Spanish',
            "import my_style.css, see /our/code/last_time.py",
            "my job failed in k8s",
        ),
        *("```\ncontinue; // 继续上次\n```", "`yesterday`", "2026-01-02 10:00 INFO 继续上次的任务\n这是什么错误"),
        *(
            "    continue  # as before\nexplain",
            "Translate this: we continue our project as before",
            "> as before\nwhy",
        ),
    ],
)
def test_what_only_looks_like_a_signal_is_none(text: str) -> None:
    made = decide(text, new_session=False)
    assert (made.kind, made.signals) == ("none", ())


@pytest.mark.parametrize(
    "text", ["繼續昨天的重構", "ＣＯＮＴＩＮＵＥ", "CONTINUE", "继\u200b续", "“继续”", "we’re done? continue."]
)
def test_script_width_case_and_quotation_marks_around_everything_hide_no_signal(text: str) -> None:
    made = decide(text, new_session=False)
    assert (made.kind, made.reason) == ("strong", "signal_continuation")


@pytest.mark.case(6)
@pytest.mark.parametrize("text", ["请continue那个重构", "把itgc照last time的样子重跑", "按my style写"])
def test_english_signals_glued_to_chinese_are_found(text: str) -> None:
    assert decide(text, new_session=False).kind == "strong"


@pytest.mark.case(7)
@pytest.mark.parametrize(
    "text", ["Пароль меняем раз в квартал", "กินข้าวแล้ว", "비밀번호", "كلمة المرور", "सीमा", "סיסמה", "😀"]
)
def test_other_scripts_carry_no_signal_and_hide_none_beside_them(text: str) -> None:
    assert decide(text, new_session=False).reason == "no_signal"
    assert decide(f"{text} 上次", new_session=False).reason == "signal_time"
    assert decide(f"{text}: as we discussed", new_session=False).reason == "signal_continuation"


def test_a_question_after_a_long_paste_is_read() -> None:
    paste = "```\n" + "for x in xs: pass\n" * 5_000 + "```\n"
    assert decide(paste + "how does this differ from last time", new_session=False).signals == ("last time",)
    assert (
        decide("word " * 20_000 + "as we discussed", new_session=False).signals
        == ("we discussed", "as we discussed")[:1]
    )


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
        ("```\nx = 1\n```\n看一下", "code"),
    ],
)
def test_the_class_of_a_message_steers_the_weights(text: str, query_class: str) -> None:
    assert decide(text, new_session=True).query_class == query_class


def test_words_of_oneself_allow_recent_memories_to_fill_up() -> None:
    assert decide("推荐我一家餐厅", new_session=True).weak_identity
    assert decide("suggest me a place", new_session=True).weak_identity
    assert not decide("推荐一家餐厅", new_session=True).weak_identity
    assert not decide("team meeting", new_session=True).weak_identity
    assert not decide("帮我写一个数据处理函数", new_session=True).weak_identity


def test_a_blank_message_carries_no_signal() -> None:
    assert decide("", new_session=True) == ("none", "session_start", (), "general", False, False)
    assert decide("？", new_session=False).recall == "no"


@pytest.mark.parametrize(
    ("text", "reason", "signals"),
    [
        ("我是谁", "signal_person", ("我是谁",)),
        ("继续", "signal_continuation", ("继续",)),
        ("昨天和上次", "signal_time", ("昨天", "上次")),
        ("I usually test", "signal_preference", ("i usually",)),
        ("在我们的服务里", "signal_project", ("我们的",)),
        ("那个报错了", "signal_pointer", ("那个",)),
        ("新问题：几点了", "topic_change", ("新问题",)),
        ("btw, hi", "aside", ("btw",)),
    ],
)
def test_a_decision_says_why_in_words_of_the_table(text: str, reason: str, signals: tuple[str, ...]) -> None:
    made = decide(text, new_session=True)
    assert (made.reason, made.signals) == (reason, signals)


def test_a_decision_names_a_few_words_only() -> None:
    everything = "，".join(intent_words.tables().identity.phrases[:20])
    assert len(decide(everything, new_session=True).signals) == SIGNALS


@pytest.mark.parametrize(
    "message",
    [
        "can we change the deploy day?",
        "let's switch to PostgreSQL as we discussed",
        "let's change the button colour like last time",
        "moving on to the next task of our project",
        "we need something different for our landing page",
        "the bug is unrelated to our last change",
        "this has nothing to do with this project, does it?",
        "change the subject line of the email we wrote yesterday",
        "don't change the topic, where were we",
        "let's not change the subject. what did we decide yesterday?",
        "不要换个话题，继续",
        "先别换话题，我们刚才说到哪了",
        "别跑题，继续上次的方案",
        "删除项目里无关的文件",
        "我们项目有个新问题：登录失败",
        "上次的修复引入了一个新的问题",
        "publish to another topic in our project",
        "what's the next topic we planned?",
    ],
)
def test_a_change_of_something_else_is_no_change_of_topic(message: str) -> None:
    assert decide(message, new_session=False).kind in {"strong", "weak"}
