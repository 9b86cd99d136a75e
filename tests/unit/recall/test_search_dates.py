"""Dates in queries and memories: what is asked for, in both languages, and what only looks like a date."""

from datetime import UTC, datetime

import pytest

from shared.text.tokens import LONG_QUERY, query_terms, terms

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)  # a Wednesday


def test_pasted_text_keeps_the_dates_it_names() -> None:
    pasted = query_terms(" ".join(f"word{n}" for n in range(LONG_QUERY + 1)) + " on 3 May 2026", now=NOW)
    assert pasted.long
    assert "@d05-03" in pasted.weights


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("what did we decide in May 2026", datetime(2026, 5, 3, tzinfo=UTC)),
        ("what happened on May 3rd", datetime(2026, 5, 3, tzinfo=UTC)),
        ("what happened on 3 May, 2026", datetime(2026, 5, 3, tzinfo=UTC)),
        ("the meeting of 2026-05-03", datetime(2026, 5, 3, tzinfo=UTC)),
        ("2026年5月3日的会议", datetime(2026, 5, 3, tzinfo=UTC)),
        ("5月3号说了什么", datetime(2026, 5, 3, tzinfo=UTC)),
        ("what did I say yesterday", datetime(2026, 5, 19, tzinfo=UTC)),
        ("昨天说的那个库", datetime(2026, 5, 19, tzinfo=UTC)),
        ("前天的决定", datetime(2026, 5, 18, tzinfo=UTC)),
        ("3 days ago", datetime(2026, 5, 17, tzinfo=UTC)),
        ("今天做了什么", datetime(2026, 5, 20, tzinfo=UTC)),
        ("what did we do last week", datetime(2026, 5, 11, tzinfo=UTC)),
        ("上周的计划", datetime(2026, 5, 17, tzinfo=UTC)),
        ("this week", datetime(2026, 5, 18, tzinfo=UTC)),
        ("last month", datetime(2026, 4, 2, tzinfo=UTC)),
        ("上个月", datetime(2026, 4, 30, tzinfo=UTC)),
        ("decisions of last year", datetime(2025, 7, 1, tzinfo=UTC)),
        ("去年的目标", datetime(2025, 7, 1, tzinfo=UTC)),
        ("goals for 2025", datetime(2025, 7, 1, tzinfo=UTC)),
        ("2025年的目标", datetime(2025, 7, 1, tzinfo=UTC)),
        ("二〇二五年的目标", datetime(2025, 7, 1, tzinfo=UTC)),
        ("四月二十五号说了什么", datetime(2026, 4, 25, tzinfo=UTC)),
        ("十月三日的决定", datetime(2025, 10, 3, tzinfo=UTC)),
        ("三天前说的", datetime(2026, 5, 17, tzinfo=UTC)),
        ("two weeks ago", datetime(2026, 5, 10, tzinfo=UTC)),
        ("两周前的计划", datetime(2026, 5, 4, tzinfo=UTC)),
        ("what we said a month ago", datetime(2026, 4, 1, tzinfo=UTC)),
        ("三个月前", datetime(2026, 2, 28, tzinfo=UTC)),
        ("12 months ago", datetime(2025, 5, 9, tzinfo=UTC)),
        ("两年前", datetime(2024, 5, 9, tzinfo=UTC)),
        ("what broke last friday", datetime(2026, 5, 15, tzinfo=UTC)),
        ("last Wednesday", datetime(2026, 5, 13, tzinfo=UTC)),
        ("上周五的会", datetime(2026, 5, 15, tzinfo=UTC)),
        ("上个星期天", datetime(2026, 5, 17, tzinfo=UTC)),
        ("本周一", datetime(2026, 5, 18, tzinfo=UTC)),
        ("last weekend", datetime(2026, 5, 16, tzinfo=UTC)),
        ("上周末去哪了", datetime(2026, 5, 17, tzinfo=UTC)),
        ("last summer", datetime(2025, 8, 31, tzinfo=UTC)),
        ("last winter", datetime(2026, 2, 1, tzinfo=UTC)),
        ("this winter", datetime(2025, 12, 1, tzinfo=UTC)),
        ("the fall of 2023", datetime(2023, 9, 1, tzinfo=UTC)),
        ("去年夏天去了哪里", datetime(2025, 6, 1, tzinfo=UTC)),
        ("2023年冬季", datetime(2024, 1, 9, tzinfo=UTC)),
        ("上上周的会", datetime(2026, 5, 4, tzinfo=UTC)),
        ("上上周五的会", datetime(2026, 5, 8, tzinfo=UTC)),
        ("上上周末", datetime(2026, 5, 9, tzinfo=UTC)),
        ("上上个月", datetime(2026, 3, 9, tzinfo=UTC)),
        ("the week before last", datetime(2026, 5, 4, tzinfo=UTC)),
        ("the month before last", datetime(2026, 3, 9, tzinfo=UTC)),
        ("大前年", datetime(2023, 3, 9, tzinfo=UTC)),
        ("half a year ago", datetime(2025, 11, 9, tzinfo=UTC)),
        ("半年前", datetime(2025, 11, 9, tzinfo=UTC)),
        ("半个月前", datetime(2026, 5, 5, tzinfo=UTC)),
        ("ten days ago", datetime(2026, 5, 10, tzinfo=UTC)),
        ("十二天前", datetime(2026, 5, 8, tzinfo=UTC)),
        ("a couple of weeks ago", datetime(2026, 5, 9, tzinfo=UTC)),
        ("a few days ago", datetime(2026, 5, 17, tzinfo=UTC)),
        ("几周前", datetime(2026, 4, 30, tzinfo=UTC)),
        ("the other day", datetime(2026, 5, 17, tzinfo=UTC)),
        ("20小时前", datetime(2026, 5, 19, tzinfo=UTC)),
        ("half an hour ago", datetime(2026, 5, 20, tzinfo=UTC)),
        ("in the past week", datetime(2026, 5, 13, tzinfo=UTC)),
        ("过去一周", datetime(2026, 5, 13, tzinfo=UTC)),
        ("the last few weeks", datetime(2026, 4, 20, tzinfo=UTC)),
        ("最近三天", datetime(2026, 5, 17, tzinfo=UTC)),
        ("过去一年", datetime(2025, 6, 17, tzinfo=UTC)),
        ("past three years", datetime(2023, 6, 17, tzinfo=UTC)),
        ("the dinner of 25/12/2025", datetime(2025, 12, 25, tzinfo=UTC)),
        ("the dinner of 12/25/2025", datetime(2025, 12, 25, tzinfo=UTC)),
        ("03.04.2025", datetime(2025, 4, 3, tzinfo=UTC)),
        ("03.04.2025", datetime(2025, 3, 4, tzinfo=UTC)),
        ("November plans", datetime(2025, 11, 4, tzinfo=UTC)),
        ("plans for this May?", datetime(2026, 5, 4, tzinfo=UTC)),
        ("the goals for 2025.", datetime(2025, 11, 4, tzinfo=UTC)),
        ("2025目标", datetime(2025, 11, 4, tzinfo=UTC)),
    ],
)
def test_a_question_that_names_a_date_asks_for_memories_of_that_date(query: str, day: datetime) -> None:
    asked = query_terms(query, now=NOW).weights.keys()
    assert asked & terms("tea", at=day).counts.keys()
    assert not asked & terms("tea", at=datetime(1999, 9, 9, tzinfo=UTC)).counts.keys()


@pytest.mark.parametrize(
    ("query", "other"),
    [
        ("上上周", datetime(2026, 5, 13, tzinfo=UTC)),
        ("上上个月", datetime(2026, 4, 13, tzinfo=UTC)),
        ("大前年", datetime(2024, 5, 13, tzinfo=UTC)),
        ("half a year ago", datetime(2025, 5, 20, tzinfo=UTC)),
    ],
)
def test_a_time_further_back_is_not_the_nearer_one(query: str, other: datetime) -> None:
    assert not query_terms(query, now=NOW).weights.keys() & terms("tea", at=other).counts.keys()


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("three days ago", ""),
        ("what broke 2 months ago", "what broke"),
        ("上周我做了什么", "我做了什么"),
        ("the deploy ten days ago", "the deploy"),
        ("where we were last summer", "summer"),
        ("去年夏天", "夏天"),
        ("the release of May 3", "the release of 3"),
    ],
)
def test_words_of_a_time_counted_from_now_are_not_searched_for(query: str, topic: str) -> None:
    asked = query_terms(query, now=NOW).weights
    assert {term for term in asked if term[0] != "@"} == query_terms(topic, now=NOW).weights.keys()


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("昨天", "@2026-05-19"),
        ("yesterday", "@2026-05-19"),
        ("前天", "@2026-05-18"),
        ("大前天", "@2026-05-17"),
        ("day before yesterday", "@2026-05-18"),
        ("上周五", "@2026-05-15"),
        ("what did we decide on Monday", "@2026-05-18"),
        ("星期三定了什么", "@2026-05-13"),
    ],
)
def test_one_day_is_no_other_day_of_its_month_or_of_another_year(query: str, day: str) -> None:
    assert [marker for marker in query_terms(query, now=NOW).weights if marker.startswith("@")] == [day]


def test_last_week_is_no_week_of_the_year_before() -> None:
    asked = query_terms("last week", now=NOW).weights.keys()
    assert not asked & terms("tea", at=datetime(2025, 5, 13, tzinfo=UTC)).counts.keys()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("yesterday", "Yesterday is her favourite song"),
        ("昨天", "她最喜欢的歌是《昨天》"),
        ("the Monday standup", "Standup is on Monday at ten"),
        ("周五开会", "我们周五开会"),
    ],
)
def test_a_text_that_holds_the_name_of_a_day_is_still_found(query: str, text: str) -> None:
    weights = query_terms(query, now=NOW).weights
    held = [term for term in weights if term in terms(text).counts]
    assert held
    if query not in {"yesterday", "昨天"}:  # a weekday may be any week's: its words say more than its last day
        assert max(weights[term] for term in held) > max(w for term, w in weights.items() if term[0] == "@")


@pytest.mark.parametrize(
    "query",
    [
        "you may go",
        "version 1.2.3",
        "chapter 13-45",
        "端口是5个月饼",
        "13月",
        "may I ask",
        "每周五开会",
        "下周一的计划",
        "周一到周五",
        "next Monday",
        "every friday",
        "星期一天气",
        "一个月",
        "第二个周末",
        "summer jobs",
        "on fridays",
        "this may take a while",
        "$2000",
        "2000 users",
        "2000 RMB",
        "2000px",
        "route 1998",
        "2000个用户",
        "端口2000",
        "我花了2000",
        "两年前端经验",
        "提前两天",
        "最近一次",
    ],
)
def test_what_only_looks_like_a_date_asks_for_none(query: str) -> None:
    assert not [term for term in query_terms(query, now=NOW).weights if term.startswith("@")]


@pytest.mark.parametrize(
    ("now", "month"),
    [
        (datetime(2026, 8, 31, tzinfo=UTC), 2025),
        (datetime(2026, 9, 1, tzinfo=UTC), 2026),
        (datetime(2027, 1, 1, tzinfo=UTC), 2026),
    ],
)
def test_last_summer_is_the_last_that_is_over(now: datetime, month: int) -> None:
    assert [term for term in query_terms("last summer", now=now).weights if term[0] == "@"] == [
        f"@{month}-06",
        f"@{month}-07",
        f"@{month}-08",
    ]


@pytest.mark.parametrize("query", ["when do we deploy", "什么时候发布", "which day is the demo"])
def test_asking_when_prefers_memories_that_speak_of_a_time(query: str) -> None:
    asked = query_terms(query, now=NOW).weights
    assert asked.keys() & terms("the deploy is every friday").counts.keys()
    assert "@when" not in terms("the deploy is done by hand").counts


def test_markers_of_dates_do_not_make_a_memory_longer() -> None:
    assert terms("green tea", at=NOW).length == terms("green tea").length == 2
