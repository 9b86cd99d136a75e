"""Memory Skill's daily files, alone and within its export."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.keeping.foreign.foreign_pages import contents, one, page, refusals, wrong

DAILY = """# 2026-01-29 对话记忆

## Session 1 - 10:30:45

### 主题
Memory Skill 设计讨论

### 关键信息
- 用户希望创建长期记忆功能
- 检索：关键词 + 大模型二次筛选

### 标签
#skill #memory #design

---

## Session - 22:05

### 关键信息
- We decided to use FastAPI

### 标签
#decision

---
"""


def export(**more: Any) -> dict[str, Any]:
    return {
        "version": "1.0",
        "exported_at": "2026-02-01T09:00:00.123456",
        "source": {"location": "project", "project_path": "/home/wei/code/shop"},
        "statistics": {"total_memories": 2},
        "index": {
            "version": "1.0",
            "entries": [{"id": "2026-01-29-001", "date": "2026-01-29", "session": 1, "summary": "x"}],
        },
        "daily_files": {"2026-01-29": DAILY},
        **more,
    }


def test_each_key_point_of_a_daily_file_is_a_memory_with_time_tags_and_topic() -> None:
    found = page("memory_skill", DAILY)

    assert found.refused == []
    assert contents(found) == ["用户希望创建长期记忆功能", "检索：关键词 + 大模型二次筛选", "We decided to use FastAPI"]
    first, _, third = found.records
    assert first.created_at == datetime(2026, 1, 29, 2, 30, 45, tzinfo=UTC)
    assert first.tags == ("#skill", "#memory", "#design")
    assert first.metadata == '{"topic":"Memory Skill 设计讨论"}'
    assert (first.line, third.line) == (9, 20)
    assert third.created_at == datetime(2026, 1, 29, 14, 5, tzinfo=UTC)
    assert (third.category, third.importance, third.metadata) == ("decision", 5, "{}")


def test_an_export_puts_its_memories_into_its_project() -> None:
    found = page("memory_skill", json.dumps(export(), ensure_ascii=False, indent=2))

    assert found.refused == []
    assert {(record.scope, record.project) for record in found.records} == {("project", "shop")}
    assert len(found.records) == 3


@pytest.mark.parametrize(
    ("source", "scope", "project"),
    [
        ({"location": "global", "project_path": None}, "user", None),
        ({"location": "project", "project_path": "C:\\Users\\wei\\网店\\"}, "project", "网店"),
        ({"location": "project", "project_path": "/"}, "user", None),
        ({"location": "project", "project_path": "/home/default"}, "user", None),
        ({"location": "project"}, "user", None),
        (None, "user", None),
    ],
)
def test_the_place_of_an_export_is_told_by_its_source(source: Any, scope: str, project: str | None) -> None:
    found = page("memory_skill", json.dumps(export(source=source)))

    assert {(record.scope, record.project) for record in found.records} == {(scope, project)}


def test_lines_of_an_export_are_counted_over_all_its_files() -> None:
    files = {"2026-01-29": DAILY, "2026-01-30": "## Session 1 - 08:00:00\n### 关键信息\n- 住在柏林\n"}
    found = page("memory_skill", json.dumps(export(daily_files=files)), before=1000)

    lines = [record.line for record in found.records]
    assert len(set(lines)) == len(lines) == 4
    assert found.records[3].created_at == datetime(2026, 1, 30, tzinfo=UTC)
    assert found.thread.lines >= max(lines)


def test_days_that_only_the_index_knows_have_no_content() -> None:
    found = page("memory_skill", json.dumps(export(daily_files={})))

    assert found.records == []
    assert refusals(found) == [(1, "no_content", None)]


def test_an_export_of_the_index_alone_tells_what_is_missing() -> None:
    assert refusals(page("memory_skill", json.dumps(export(daily_files=None)))) == [(1, "no_content", None)]


def test_a_session_without_key_points_is_remembered_by_its_topic() -> None:
    record = one("memory_skill", "# 2026-01-29\n## Session 1 - 10:00:00\n### Topic\nMoving to Berlin\n")

    assert (record.content, record.metadata) == ("Moving to Berlin", "{}")


def test_a_key_point_of_several_lines_stays_one() -> None:
    record = one("memory_skill", "## Session 1 - 10:00:00\n### Key info\n- 喜欢:\n  茶\n  and coffee\n")

    assert record.content == "喜欢:\n茶\nand coffee"


@pytest.mark.parametrize("day", ["# 2026-13-45", "# 2026-02-30"])
def test_a_day_that_never_was_refuses_its_points(day: str) -> None:
    found = page("memory_skill", f"{day}\n## Session 1 - 10:00:00\n### 关键信息\n- 住在柏林\n")

    assert refusals(found) == [(4, "invalid", "created_at")]


def test_without_a_day_the_memory_is_of_now() -> None:
    assert one("memory_skill", "## Session 1 - 10:00:00\n### 关键信息\n- 住在柏林\n").created_at.year == 2026


def test_lines_outside_of_what_it_writes_are_refused_one_by_one() -> None:
    found = page("memory_skill", DAILY + "### 其他\nsomething\n# 2026-01-30\nloose\n")

    assert len(found.records) == 3
    assert refusals(found) == [(27, "unknown_kind", None), (29, "unknown_kind", None)]


def test_a_secret_in_topic_or_tags_is_dropped_and_the_points_stay() -> None:
    topic, tag = "密码是 MyP@ssw0rd123", "#ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    text = f"## Session 1 - 10:00:00\n### 主题\n{topic}\n### 关键信息\n- 住在柏林\n### 标签\n{tag} #ok\n"
    record = one("memory_skill", text)

    assert (record.metadata, record.tags) == ("{}", ("#ok",))


def test_tags_that_are_none_are_left_out_and_twenty_are_kept() -> None:
    tags = " ".join(["plain", "#a#b", "#" + "x" * 70, *(f"#t{number}" for number in range(30))])
    record = one("memory_skill", f"## Session 1 - 10:00:00\n### 关键信息\n- 住在柏林\n### 标签\n{tags}\n")

    assert record.tags == ("#plain", *(f"#t{number}" for number in range(19)))


@pytest.mark.parametrize("files", [{"2026-01-29": 5}, {"2026-01-29": "half \ud800"}])
def test_a_daily_file_that_is_no_text_is_refused_and_the_next_is_read(files: dict[str, Any]) -> None:
    found = page("memory_skill", json.dumps(export(daily_files={**files, "2026-01-30": DAILY})))

    assert refusals(found) == [(1, "invalid", "daily_files")]
    assert len(found.records) == 3


@pytest.mark.parametrize("data", ["{}", "[]", '{"index": {}}', '{"index": 5, "daily_files": {}}', "", "only words\n"])
def test_what_is_no_export_and_no_daily_file_is_refused(data: str) -> None:
    assert wrong("memory_skill", data)["field"] == "data"


def test_an_export_with_names_twice_is_refused_as_a_whole() -> None:
    assert wrong("memory_skill", '{"index": {}, "index": {}, "daily_files": {}}')["field"] == "data"
