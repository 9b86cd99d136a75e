"""Search terms: every script is found, names and dates too, and no character is an operator."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.tokens import ASKING, LONG_QUERY, NAME, SINGLE, Query, query_terms, terms

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)  # a Wednesday


def meets(memory: str, query: str) -> bool:
    """Whether the query asks for anything that the memory is indexed under."""
    return not terms(memory).counts.keys().isdisjoint(query_terms(query, now=NOW).weights)


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("我对花生过敏", "花生过敏"),
        ("我对花生过敏", "过敏"),
        ("今天下雨了", "雨"),
        ("配置飞书插件", "飞书插件配置"),
        ("重跑gen-itgc后50条", "itgc"),
        ("重跑gen-itgc后50条", "gen-itgc"),
        ("重跑gen-itgc后50条", "重跑"),
        ("Пароль меняем раз в квартал", "пароль"),
        ("Пароль меняем раз в квартал", "ПАРОЛИ"),
        ("Ёлка стоит", "елка"),
        ("กินข้าวแล้ว", "ข้าว"),
        ("กินข้าวแล้ว", "กินข้าว"),
        ("ຂ້ອຍກິນເຂົ້າ", "ກິນ"),
        ("ខ្ញុំស្រឡាញ់ភ្នំពេញ", "ភ្នំពេញ"),
        ("ကျွန်တော်ရန်ကုန်မှာနေတယ်", "ရန်ကုန်"),
        ("서울에서 비가 온다", "서울"),
        ("서울에서 비가 온다", "비"),
        ("데이터베이스를 바꿨다", "데이터베이스"),
        ("मुझे हिंदी पसंद है", "हिंदी"),
        ("كِتَابٌ جديد", "كتاب"),
        ("قرأت الكتاب أمس", "الكتاب"),
        ("שָׁלוֹם עולם", "שלום"),
        ("食べましたカレー", "カレー"),
        ("ﾃﾞｰﾀﾍﾞｰｽを使う", "データベース"),
        ("Ελλάδα είναι ωραία", "ΕΛΛΑΔΑ"),
        ("Երեւան քաղաք", "Երեւան"),
        ("თბილისი ლამაზია", "თბილისი"),
        ("we meet at the café", "cafe"),
        ("we meet at the cafe", "CAFÉ"),
        ("we meet at the cafe\u0301", "café"),
        ("Straße in Łódź", "strasse lodz"),
        ("party 🎉 tonight", "🎉"),
        ("ＦＡＳＴＡＰＩ を使う", "fastapi"),
        ("pass\u200bword policy", "password"),
        ("she went home", "where did she go"),
        ("the children's books", "child"),
        ("he’s got allergies", "an allergy"),
        ("use getUserName here", "user"),
        ("use getUserName here", "getusername"),
        ("parse HTTPServer logs", "server"),
        ("rename max_token_count", "max_token_count"),
        ("rename max_token_count", "token"),
        ("runs on v3.11 now", "3.11"),
        ("runs on v3.11 now", "v3.11"),
        ("runs on python3.11", "python3.11"),
        ("wrote it in C++", "c++"),
        ("wrote it in C#", "C#"),
        ("moved to .NET", ".net"),
        ("mail bob.smith@mail.example", "bob.smith@mail.example"),
        ("mail bob.smith@mail.example", "bob"),
        ("see https://docs.example/setup", "docs.example"),
        ("repo acme/nacre-web", "acme/nacre-web"),
        ("项目用FastAPI框架", "fastapi"),
    ],
)
def test_a_memory_in_any_script_is_found_by_a_part_of_it(memory: str, query: str) -> None:
    assert meets(memory, query)


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("wrote it in C++", "c#"),
        ("the cat sat", "what is it"),
        ("我喜欢喝茶", "的了是在"),
        ("hello", "？"),
        ("hello", "   "),
        ("hello", '" * NEAR() -'),
    ],
)
def test_signs_and_empty_words_find_nothing(memory: str, query: str) -> None:
    assert not meets(memory, query)


def test_words_of_a_query_language_are_only_words() -> None:
    asked = query_terms('title:tea OR "green NOT" tea* NEAR(2)', now=NOW).weights
    assert asked["tea"] == asked["titl"] == asked["green"] == asked["near"] == 1.0
    assert not any(set(term) & set('*":()') for term in asked)


def test_devanagari_vowel_signs_are_not_cut_off() -> None:
    assert terms("पानी").counts.keys() != terms("पन").counts.keys()


def test_thai_words_of_other_tones_are_other_words() -> None:
    assert terms("ข้าว").counts.keys() != terms("ขาว").counts.keys()


def test_a_term_asked_twice_counts_once() -> None:
    once, twice = query_terms("green tea", now=NOW).weights, query_terms("green tea. Green tea!", now=NOW).weights
    assert once.items() <= twice.items()
    assert set(twice) - set(once) == {"teagreen"}


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        ("dark mode", "darkmode"),
        ("time zone", "timezone"),
        ("user names", "username"),
        ("code base", "codebase"),
        ("change log", "changelog"),
        ("house keys", "housekeys"),
        ("city hall", "cityhall"),
        ("Node.js 20", "nodejs"),
        ("Vue.js", "vuejs"),
        ("multi-tenant", "multitenant"),
        ("re-use", "reuse"),
        ("web site", "website"),
        ("log in", "login"),
        ("logged in", "login"),
        ("set up", "setup"),
        ("backing up", "backup"),
        ("take over", "takeover"),
    ],
)
def test_a_compound_is_found_however_it_is_written(apart: str, together: str) -> None:
    assert meets(f"They use {apart} here", together)
    assert meets(f"They use {together} here", apart)


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("May is my colleague", "who is May?"),
        ("I met Will at the station", "Will's number"),
        ("Will lives in Oslo", "Where does Will live?"),
        ("we hired May last year", "May"),
        ("我和May一起开会", "May是谁"),
        ("She works in IT", "who is in IT"),
        ("Our office in the US is closed", "US holidays"),
        ("advice of the WHO", "what did the WHO advise"),
    ],
)
def test_names_that_read_like_stop_words_are_found(memory: str, query: str) -> None:
    names = query_terms(query, now=NOW).whole & {"may", "will", "it", "us", "who"}
    assert names
    assert names <= terms(memory).counts.keys()


@pytest.mark.parametrize(
    "text",
    [
        *("May I ask", "Will you come", "I moved in May", "due on 3 May", "May 5 is a holiday", "it may rain"),
        *(
            "reading The Hobbit",
            "so It's late",
            "DO NOT USE IT EVER, WHO ASKED",
            "he said No Way and The End",
            "do NOT",
        ),
    ],
)
def test_capitals_of_sentences_titles_months_and_shouting_make_no_names(text: str) -> None:
    assert not {"may", "will", "it", "who", "the", "not", "do", "and"} & terms(text).counts.keys()


@pytest.mark.parametrize(("memory", "query"), [("Brad came", "bread"), ("a clan", "clean"), ("a plant", "planet")])
def test_a_word_is_not_taken_for_a_compound_of_scraps(memory: str, query: str) -> None:
    assert not meets(memory, query)


def test_a_preposition_makes_no_noun_of_the_word_before_it() -> None:
    assert "livein" not in terms("I live in Kyoto").counts


def test_repeated_words_of_a_memory_are_counted() -> None:
    found = terms("tea and tea 茶茶")
    assert found.counts["tea"] == 2
    assert found.counts["茶"] == 2
    assert found.length == 3


def test_single_characters_weigh_as_much_as_words_and_pieces_of_other_scripts_and_neighbours_less() -> None:
    asked = query_terms("green tea 绿茶 서울특별시", now=NOW).weights
    assert asked["green"] == asked["绿茶"] == asked["茶"] == asked["서울특별시"] == 1.0
    assert 0 < asked["greentea"] < asked["서"] == asked["서울"] < 1


def test_pasted_text_is_known_by_its_many_words_and_trusts_single_characters_less() -> None:
    pasted = query_terms(" ".join(f"word{n}" for n in range(LONG_QUERY)) + " 绿茶", now=NOW)
    assert pasted.long
    assert pasted.weights["茶"] < query_terms("绿茶", now=NOW).weights["茶"]
    assert not query_terms(" ".join(f"word{n}" for n in range(LONG_QUERY)), now=NOW).long


def test_a_chinese_question_of_two_lines_is_no_pasted_text() -> None:
    question = "请帮我找一下上个月我们和供应商开会时讨论的付款条件到底是怎么约定的"
    asked = query_terms(question, now=NOW)
    assert not asked.long
    assert asked.weights["款"] == SINGLE
    assert query_terms(
        question + "还有去年冬天他们对交货期限以及违约金额提出过哪些意见后来为何又改口以及最终双方签字盖章的版本",
        now=NOW,
    ).long


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
        ("the deploy yesterday", "the deploy"),
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
    [("昨天", "@d05-19"), ("前天", "@d05-18"), ("大前天", "@d05-17"), ("day before yesterday", "@d05-18")],
)
def test_one_day_back_is_no_other_day_back(query: str, day: str) -> None:
    assert [marker for marker in query_terms(query, now=NOW).weights if marker.startswith("@d")] == [day]


@pytest.mark.parametrize(
    "query",
    [
        "you may go",
        "version 1.2.3",
        "chapter 13-45",
        "端口是5个月饼",
        "13月",
        "may I ask",
        "周五开会",
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


def test_names_inside_a_sentence_weigh_double_and_words_about_the_answer_half() -> None:
    asked = query_terms("What kind of tea does Ada drink?", now=NOW).weights
    assert asked["ada"] == 2 * asked["tea"] == 4 * asked["kind"]
    assert query_terms("Ada drinks", now=NOW).weights["ada"] == 1.0


@pytest.mark.parametrize("query", ["when do we deploy", "什么时候发布", "which day is the demo"])
def test_asking_when_prefers_memories_that_speak_of_a_time(query: str) -> None:
    asked = query_terms(query, now=NOW).weights
    assert asked.keys() & terms("the deploy is every friday").counts.keys()
    assert "@when" not in terms("the deploy is done by hand").counts


def test_markers_of_dates_do_not_make_a_memory_longer() -> None:
    assert terms("green tea", at=NOW).length == terms("green tea").length == 2


def test_a_text_of_200_kilobytes_is_analysed() -> None:
    for piece in ("花生过敏", "abc-", "aA", "ข้าว", "don't ", "1.", "@", "a" * 50, "é", "한국", "🎉", "\ud83d", "5月"):
        assert terms(piece * (200_000 // len(piece)), at=NOW).length >= 0


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000 + " a-b",
        "a-" * 100_000,
        "aB" * 100_000 + "-",
        "may" + " " * 200_000 + "x",
        "2020" + " " * 200_000,
        "1" * 200_000,
        "v1." * 60_000,
        "十" * 200_000,
        "一" * 200_000 + "天前",
        "十" * 3_000 + "天前",
        "the past " * 20_000,
        "a couple of " * 20_000,
        "上上个" * 60_000,
        "12/" * 60_000,
        "route " * 30_000 + "1998",
        "最近" * 100_000,
        "May " * 50_000,
        "us US " * 30_000,
    ],
)
def test_no_text_makes_the_patterns_walk_back_and_forth(text: str) -> None:
    assert terms(text, at=NOW).counts
    assert query_terms(f"{text} tea", now=NOW).weights["tea"] == 1.0


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_is_only_text_and_finds_itself(text: str) -> None:
    found = terms(text, at=NOW)
    asked: Query = query_terms(text, now=NOW)
    assert all(count > 0 for count in found.counts.values())
    assert all(0 < weight <= NAME for weight in asked.weights.values())
    assert asked.whole <= found.counts.keys()
    assert {asked.weights[term] for term in asked.whole} <= {ASKING, 1.0, NAME}


@given(st.text(max_size=40), st.text(max_size=40))
def test_words_of_a_text_stay_findable_inside_a_longer_one(text: str, before: str) -> None:
    whole = query_terms(text, now=NOW).whole
    assert whole <= terms(f"{before}\n{text}").counts.keys()


def test_importing_tokens_does_not_import_the_stemmer_or_numpy() -> None:
    program = "import sys, shared.text.tokens; sys.exit(bool({'snowballstemmer', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0  # noqa: S603


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("I am allergic to peanuts", "allergies"),
        ("My decision was to choose PostgreSQL", "what did we decide"),
        ("The db is in Frankfurt", "database"),
        ("They went on a road trip", "roadtrip"),
        ("her first roadtrip", "road trip"),
        ("a letter from grandma", "grandmother"),
        ("He was injured in March", "injury"),
        ("We have three cats", "3"),
        ("the prod cluster", "production"),
        ("runs on k8s", "Kubernetes"),
        ("Her favourite colour is green", "favorite color"),
    ],
)
def test_words_that_no_stemmer_joins_find_each_other(memory: str, query: str) -> None:
    assert meets(memory, query)
