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


def test_names_inside_a_sentence_weigh_double_and_words_about_the_answer_half() -> None:
    asked = query_terms("What kind of tea does Ada drink?", now=NOW).weights
    assert asked["ada"] == 2 * asked["tea"] == 4 * asked["kind"]
    assert query_terms("Ada drinks", now=NOW).weights["ada"] == 1.0


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
