"""Traditional and simplified characters are one word to a search, and the table is OpenCC's."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.han import simplified
from shared.text.tokens import query_terms, terms
from tests.unit.text.opencc import TABLE, made

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("traditional", "simple"),
    [
        ("後端", "后端"),
        ("資料庫備份", "资料库备份"),
        ("裡面和裏面", "里面和里面"),
        ("臺灣與台灣", "台湾与台湾"),
        ("著名的祕密", "着名的秘密"),
        ("什麼時候發佈", "什么时候发布"),
    ],
)
def test_traditional_characters_and_variants_become_simplified_ones(traditional: str, simple: str) -> None:
    assert simplified(traditional) == simple


@pytest.mark.parametrize(
    ("one", "other"), [("後端", "后端"), ("數據庫連接", "数据库连接"), ("對花生過敏", "对花生过敏")]
)
def test_each_way_of_writing_finds_the_other(one: str, other: str) -> None:
    for asked, held in ((one, other), (other, one)):
        assert query_terms(asked, now=NOW).weights.keys() <= terms(held).counts.keys()


@pytest.mark.parametrize(
    ("one", "other"), [("上週五", "上周五"), ("三個月前", "三个月前"), ("什麼時候開會", "什么时候开会")]
)
def test_dates_and_questions_for_a_time_are_understood_in_both(one: str, other: str) -> None:
    assert query_terms(one, now=NOW) == query_terms(other, now=NOW)


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_changes_twice_and_no_sign_is_lost(text: str) -> None:
    once = simplified(text)
    assert len(once) == len(text)
    assert simplified(once) == once


def test_other_scripts_stay_as_they_are() -> None:
    assert simplified("café 東 Пароль ひらがな 서울") == "café 东 Пароль ひらがな 서울"


def test_the_table_is_what_opencc_says() -> None:
    assert TABLE.read_text("utf-8") == made()
