"""Lists of memories that people paste, and times in the forms that they and other tools write."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from shared.keeping.foreign.times import when
from tests.unit.keeping.foreign.foreign_pages import NOW, SHANGHAI, contents, one, page, refusals, wrong

JANUARY = datetime(2026, 1, 29, tzinfo=UTC)


def test_the_list_that_claude_asks_other_assistants_for_is_read() -> None:
    found = page(
        "text",
        "Here is everything I know about you:\n\n```\n## Instructions\n[2026-01-29] - Always answer in German\n"
        "[unknown] - Never uses emoji\n\n## Preferences\n[2026-02-01] - Tea over coffee\n```\n\n"
        "That is the complete set of what I have stored.\n",
        zone=UTC,
    )

    assert contents(found) == ["Always answer in German", "Never uses emoji", "Tea over coffee"]
    assert [record.created_at for record in found.records] == [JANUARY, NOW, datetime(2026, 2, 1, tzinfo=UTC)]
    assert [record.category for record in found.records] == ["constraint", "constraint", "preference"]
    assert refusals(found) == [(12, "unknown_kind", None)]


def test_lines_that_chatgpt_shows_as_its_memories_are_one_each() -> None:
    found = page("text", "User prefers concise answers.\n\nUser is allergic to peanuts.\r\n我对花生过敏\n")

    assert contents(found) == ["User prefers concise answers.", "User is allergic to peanuts.", "我对花生过敏"]
    assert [record.line for record in found.records] == [1, 3, 4]
    assert [(record.category, record.importance) for record in found.records][:2] == [
        ("preference", 6),
        ("knowledge", 5),
    ]


@pytest.mark.parametrize("title", ["Saved memories", "已保存的记忆", "已儲存的記憶", "Memory", "# Memories"])
def test_the_title_of_the_page_that_a_list_was_copied_from_is_no_memory(title: str) -> None:
    found = page("text", f"{title}\n\nUser likes tea in the morning.\n我对花生过敏\n")

    assert contents(found) == ["User likes tea in the morning.", "我对花生过敏"]
    assert refusals(found) == []


@pytest.mark.parametrize(
    "sign",
    [
        "- ",
        "* ",
        "+ ",
        "• ",
        "•",
        "· ",
        "– ",
        "—",
        "1. ",
        "2) ",
        "3、",
        "(4) ",
        "（5）",
        "⑥",
        "12．",
        "  - ",
        "- [ ] ",
        "- [x] ",
        "▪ ",
    ],
)
def test_every_sign_that_lists_are_made_with_is_left_out(sign: str) -> None:
    assert one("text", f"{sign}住在柏林 since 2019\n").content == "住在柏林 since 2019"


@pytest.mark.parametrize(
    "line",
    [
        "[2026-01-29] - Likes tea",
        "- [2026-01-29] Likes tea",
        "【2026年1月29日】Likes tea",
        "(2026-01-29) Likes tea",
        "（2026/1/29）：Likes tea",
        "[Jan 29, 2026] Likes tea",
        "1. [29th of January 2026] - Likes tea",
        "2026-01-29: Likes tea",
        "2026年1月29日：Likes tea",
        "2026.1.29 - Likes tea",
        "- Likes tea [2026-01-29]",
        "Likes tea 【2026年1月29日】",
    ],
)
def test_a_date_in_any_usual_place_is_when_it_was_kept(line: str) -> None:
    record = one("text", line, zone=UTC)

    assert (record.content, record.created_at) == ("Likes tea", JANUARY)


@pytest.mark.parametrize(
    "text",
    [
        "[work] I use FastAPI",
        "(Berlin) I live there",
        "The deadline is (2026-10-01)",
        "[13/13/2026] I moved",
        "[1] I moved",
        "2026. I moved",
        "-5 degrees are fine for me",
        "3.5 GHz is what my laptop has",
        "2026-01-29-001 is the number of it",
    ],
)
def test_brackets_and_numbers_that_are_no_sign_stay_in_the_text(text: str) -> None:
    record = one("text", text)

    assert (record.content, record.created_at) == (text, NOW)


def test_indented_lines_go_on_with_a_memory_and_indented_signs_begin_another() -> None:
    found = page("text", "- Likes tea\n  of every kind\n\tand cake\n  - Green above all\n- **City**: Berlin\n")

    assert contents(found) == ["Likes tea\nof every kind\nand cake", "Green above all", "City: Berlin"]


def test_headings_sort_what_follows_in_until_the_next_one() -> None:
    found = page("text", "**偏好**\n- 茶\n联系方式：\n- 安娜 030-1234\n# 其他\n- 柏林\n- Projects:\n- Nacre\n")

    assert [(record.content, record.category) for record in found.records] == [
        ("茶", "preference"),
        ("安娜 030-1234", "contact"),
        ("柏林", "knowledge"),
        ("Nacre", "knowledge"),
    ]


def test_a_bold_line_with_a_sign_is_a_memory() -> None:
    assert one("text", "- **Allergic to peanuts**\n").content == "Allergic to peanuts"


def test_few_signs_among_plain_lines_make_no_list() -> None:
    found = page("text", "I live in Berlin\nI like tea\n- I like cake\n")

    assert contents(found) == ["I live in Berlin", "I like tea", "I like cake"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("- " + "长" * 501, "too_long"),
        ("- password: ***", "masked_credential"),
        ("- ", "invalid"),
        ("- \u200b", "invalid"),
    ],
)
def test_a_line_that_can_be_no_memory_is_refused_alone(line: str, reason: str) -> None:
    found = page("text", f"- Likes tea\n{line}\n- Likes cake\n")

    assert contents(found) == ["Likes tea", "Likes cake"]
    assert [(at, why) for at, why, _ in refusals(found)] == [(2, reason)]


def test_a_memory_that_grows_beyond_the_limit_is_refused_once() -> None:
    found = page("text", "- Likes tea\n" + "  and more of it\n" * 500 + "- Likes cake\n")

    assert contents(found) == ["Likes cake"]
    assert refusals(found) == [(1, "too_long", "content")]


@pytest.mark.parametrize("data", ["", "\n\n", "---\n```\n", "# Heading\n", "Preferences:\n"])
def test_a_text_without_any_memory_is_refused(data: str) -> None:
    assert wrong("text", data)["field"] == "data"


@pytest.mark.parametrize(
    "said",
    [
        "2026-05-17 14:30:22",
        "2026-05-17T14:30:22",
        "2026-05-17T06:30:22Z",
        "2026-05-17T06:30:22.000+00:00",
        "2026-05-17 15:30:22+09:00",
        "2026/5/17 14:30:22",
        "2026.05.17 14:30:22",
        "2026年5月17日 14:30:22",
        "May 17, 2026 14:30:22",
        "17 May 2026 14:30:22",
        "17th of may 2026 14:30:22",
        " 2026-05-17 14:30:22 ",
        1778999422,
        1778999422000,
        1778999422.0,
        "1778999422",
        "1778999422000",
    ],
)
def test_one_moment_is_read_in_every_form(said: object) -> None:
    assert when(said, SHANGHAI) == datetime(2026, 5, 17, 6, 30, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2026-05-17", datetime(2026, 5, 16, 16, tzinfo=UTC)),
        ("2026-05", datetime(2026, 4, 30, 16, tzinfo=UTC)),
        ("May 2026", datetime(2026, 4, 30, 16, tzinfo=UTC)),
        ("2026年5月", datetime(2026, 4, 30, 16, tzinfo=UTC)),
        ("sept. 1, 2026", datetime(2026, 8, 31, 16, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_day_begins_at_midnight_and_a_month_with_its_first_day(said: object, moment: datetime) -> None:
    assert when(said, SHANGHAI) == moment


def test_of_an_hour_that_a_clock_had_twice_the_first_is_meant() -> None:
    assert when("2026-10-25 02:30:00", ZoneInfo("Europe/Berlin")) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("said", [None, ""])
def test_no_time_is_none(said: Any) -> None:
    assert when(said, UTC) is None


@pytest.mark.parametrize(
    "said",
    [
        *(
            "soon",
            "2026-13-01",
            "2026-02-30",
            "0000-00-00 00:00:00",
            "2026-05-17 25:00",
            "17/5/2026",
            "May 32, 2026",
            "Mayo 5, 2026x",
        ),
        *("٢٠٢٦-٠٥-١٧", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00", "1" * 65, "9" * 16, "Foo 1, 2026"),
        *(-1, 1e300, float("inf"), float("nan"), 10**30, True, [1], {"a": 1}),
    ],
)
def test_what_is_no_time_is_an_error(said: Any) -> None:
    with pytest.raises(ValueError, match="no time"):
        when(said, UTC)


def test_masks_are_no_marks_of_bold_and_what_holds_one_is_refused() -> None:
    found = page("text", "- My *** and *** are kept\n- The password is ***\n- **Bold** words are words\n")
    assert contents(found) == ["Bold words are words"]
    assert len(refusals(found)) == 2
