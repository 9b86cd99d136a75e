"""Whether a message needs memories."""

import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.intent import BOUND, KINDS, LANGUAGES, RECALLED, SPLITS, Score, labelled, score
from shared.text import clauses, intent_words
from shared.text.intent import REASONS, SIGNALS, CustomWords, decide
from shared.text.keywords import Words

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


@pytest.mark.parametrize("phrase", [phrase.strip("^| ") for phrase in intent_words.tables().identity.phrases])
def test_every_identity_phrase_asks_for_persona_and_broad_recall(phrase: str) -> None:
    made = decide(phrase, new_session=False)
    assert (made.kind, made.broad, made.reason) == ("strong", True, "signal_person")
    assert decide(phrase.upper().replace("'", "’") + "?", new_session=False).broad


def test_there_are_more_than_forty_three_identity_phrases_in_each_language() -> None:
    phrases = set(intent_words.tables().identity.phrases)
    assert len({phrase for phrase in phrases if phrase.isascii()}) >= 43
    assert len({phrase for phrase in phrases if not phrase.isascii()}) >= 43


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


def words(*, zh: tuple[str, ...] = (), en: tuple[str, ...] = ()) -> Words:
    return Words(zh, en)


def test_custom_words_of_the_owner_are_strong_signals() -> None:
    own = CustomWords(custom=words(zh=("灰度",), en=("Zebra",)))
    for text in ("灰度比例是多少", "where is the ZEBRA"):
        assert decide(text, new_session=False).kind == "none"
        assert decide(text, new_session=False, custom=own)[:2] == ("strong", "signal_custom")
    assert decide("where is the ZEBRA", new_session=False, custom=own).signals == ("Zebra",)
    assert decide("zebras", new_session=False, custom=own).kind == "none"


def test_excluded_words_of_the_owner_suppress_every_signal() -> None:
    own = CustomWords(custom=words(zh=("灰度",)), excluded=words(zh=("薪水",), en=("salary",)))
    for text in ("继续昨天的薪水计算", "who am I and what is my salary", "灰度和薪水"):
        made = decide(text, new_session=True, custom=own)
        assert (made.kind, made.reason, made.recall, made.broad) == ("excluded", "excluded_word", "no", False)


def test_words_of_the_owner_are_not_looked_for_in_code_and_quotations() -> None:
    own = CustomWords(custom=words(en=("zebra",)), excluded=words(en=("salary",)))
    assert decide("what is `zebra`", new_session=False, custom=own).kind == "none"
    assert decide("```\nsalary = 1\n```\ncontinue", new_session=False, custom=own).kind == "strong"


def test_a_question_about_the_person_with_a_custom_word_stays_broad() -> None:
    own = CustomWords(custom=words(en=("zebra",)))
    assert decide("do you remember me and the zebra", new_session=False, custom=own).broad


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


def test_the_tables_hold_no_phrase_twice_and_only_phrases_that_can_be_found() -> None:
    tables = intent_words.tables()
    named = [
        *tables.strong.values(),
        tables.identity,
        tables.personal,
        tables.pointers,
        tables.topic_change,
        tables.aside,
    ]
    for table in [*named, tables.look_alikes, tables.impersonal, tables.wordings]:
        assert len(set(table.phrases)) == len(table.phrases)
        for phrase in table.phrases:
            shown = clauses.normal(phrase.replace("^", "").replace("|", "，").replace("…", ""))
            assert phrase.count("…") <= 1
            assert intent_words.Phrases([phrase]).anywhere(shown), phrase


def test_the_layer_that_lambda_gets_holds_the_tables(tmp_path: Path) -> None:
    shared = Path(intent_words.__file__).parents[1]
    subprocess.run(["make", "-s", "-C", str(shared), "build-SharedLayer", f"ARTIFACTS_DIR={tmp_path}"], check=True)  # noqa: S603, S607
    copied = tmp_path / "python" / "shared" / "text" / "data" / "intent.json"
    assert copied.read_bytes() == (shared / "text" / "data" / "intent.json").read_bytes()


def test_a_gap_in_a_phrase_ends_at_the_clause_and_at_another_person() -> None:
    table = intent_words.Phrases(["我…什么", "what … do i"])
    assert [hit.phrase for hit in table.found(" ^ | 我平时爱喝什么 | ")] == ["我…什么"]
    assert [hit.phrase for hit in table.found(" ^ | what kind of tea do i like | ")] == ["what … do i"]
    assert not table.anywhere(" ^ | 我来了 | 什么 | ")
    assert not table.anywhere(" ^ | 我和你说什么 | ")
    assert not table.anywhere(" ^ | what now | do i like | ")
    assert not table.anywhere(f" ^ | what {'very ' * 20}good do i like | ")
    assert table.without(" ^ | so what do i say | ").split() == ["^", "|", "so", "~", "say", "|"]


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
