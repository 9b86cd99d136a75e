"""Rows of Mao and of mem0, in every shape that these write them in."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.keeping.foreign.foreign_pages import contents, jsonl, one, page, refusals, wrong

COLUMNS = "id,user_id,scope,project_key,content,source,status,dedup_hash,origin_session_id,created_at,updated_at"
ROW: dict[str, Any] = {
    "id": 11,
    "user_id": 7,
    "scope": "PROJECT",
    "project_key": "mao",
    "content": "该仓库测试用 Vitest",
    "source": "AUTO",
    "status": "ACTIVE",
    "dedup_hash": "0" * 40,
    "origin_session_id": 55,
    "created_at": "2026-10-02 10:00:00",
    "updated_at": "2026-10-03 10:00:00",
}
API = {
    "id": 11,
    "scope": "PROJECT",
    "projectKey": "mao",
    "content": "该仓库测试用 Vitest",
    "source": "AUTO",
    "status": "ACTIVE",
    "originSessionId": "55",
    "createdAt": "2026-10-02T02:00:00.000Z",
    "updatedAt": "2026-10-03T02:00:00.000Z",
}
CSV = f"{COLUMNS}\n11,7,PROJECT,mao,该仓库测试用 Vitest,AUTO,ACTIVE,{'0' * 40},55,2026-10-02 10:00:00,2026-10-03 10:00:00\n"
MEM0: dict[str, Any] = {
    "id": "3c90c3cc",
    "memory": "Likes to play cricket",
    "hash": "a" * 32,
    "user_id": "alex",
    "run_id": "run-1",
    "metadata": {"where": "chat"},
    "categories": ["user_preferences", "sports and games"],
    "created_at": "2024-07-20T01:30:36.275141-07:00",
    "updated_at": "2024-07-21T01:30:36.275141-07:00",
}


@pytest.mark.parametrize(
    "data",
    [
        jsonl(ROW),
        json.dumps([ROW]),
        json.dumps([ROW], indent=2),
        json.dumps({"code": 0, "data": {"list": [API], "total": 1}}),
        json.dumps({"select * from memory_item": [ROW]}),
        CSV,
        CSV.replace(",", ";"),
        CSV.replace(",", "\t").replace("\n", "\r\n"),
    ],
    ids=["lines", "array", "pretty", "api", "tool", "comma", "semicolon", "tab"],
)
def test_mao_is_read_from_its_table_and_its_api(data: str) -> None:
    record = one("mao", data)

    assert (record.content, record.scope, record.project) == ("该仓库测试用 Vitest", "project", "mao")
    assert (record.status, record.origin.session_id) == ("active", "55")
    assert record.created_at == datetime(2026, 10, 2, 2, tzinfo=UTC)
    assert record.updated_at == datetime(2026, 10, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("key", ["", None, "default"])
def test_mao_keeps_for_the_user_what_has_no_real_project(key: str | None) -> None:
    record = one("mao", jsonl({**ROW, "project_key": key}))

    assert (record.scope, record.project) == ("user", None)


def test_what_a_person_refused_in_mao_stays_refused() -> None:
    assert one("mao", jsonl({**ROW, "status": "DISMISSED"})).status == "dismissed"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": "TEAM"}, "scope"),
        ({"scope": 5}, "scope"),
        ({"status": "GONE"}, "status"),
        ({"created_at": "soon"}, "created_at"),
        ({"updated_at": [1]}, "updated_at"),
        ({"project_key": "x" * 129}, "project"),
        ({"content": 7}, "content"),
        ({"origin_session_id": "x" * 129}, "origin"),
    ],
)
def test_a_row_of_mao_with_a_wrong_field_is_refused_alone(change: dict[str, Any], field: str) -> None:
    found = page("mao", jsonl(ROW, {**ROW, **change}))

    assert refusals(found) == [(2, "invalid", field)]
    assert len(found.records) == 1


def test_a_table_keeps_commas_quotes_and_line_ends_within_cells_and_reads_nulls() -> None:
    data = f'{COLUMNS}\n1,7,USER,,"他说 ""好"",\n然后走了",MANUAL,ACTIVE,x,NULL,2026-10-02 10:00:00,\\N\n2,7,USER,,茶,MANUAL,,x,,,\n'
    found = page("mao", data)

    assert contents(found) == ['他说 "好",\n然后走了', "茶"]
    assert [record.line for record in found.records] == [3, 4]
    assert found.records[0].origin.session_id is None


def test_rows_of_a_table_with_too_many_or_too_few_cells_are_refused_alone() -> None:
    data = CSV + "1,2,3\n" + "," * 5000 + "\n" + CSV.splitlines()[1] + "\n" + '"' + "x" * 200_000 + "\n"
    found = page("mao", data)

    assert [record.line for record in found.records] == [2, 5]
    assert {reason for _, reason, _ in refusals(found)} == {"invalid"}


@pytest.mark.parametrize(
    "data",
    [
        "id,scope,content,status,\n1,USER,likes tea,ACTIVE,\n2,USER,likes dogs,ACTIVE\n,,,,\n",
        "\n\nid,scope,content,status\n1,USER,likes tea,ACTIVE,,,\n\n2,USER,likes dogs,ACTIVE\n",
        "id,scope,content,project key\r\n1,USER,likes tea,\r\n2,USER,likes dogs,\r\n",
    ],
)
def test_empty_cells_at_an_end_and_unknown_columns_are_no_matter(data: str) -> None:
    found = page("mao", data)
    assert (contents(found), refusals(found)) == (["likes tea", "likes dogs"], [])


@pytest.mark.parametrize("first", ["content,scope,content", "scope," * 300, "\n", '"' + "x" * 200_000])
def test_a_table_whose_first_line_does_not_name_its_columns_is_refused(first: str) -> None:
    assert wrong("mao", first + "\n" + "a,b,c\n")["field"] == "data"


@pytest.mark.parametrize(
    "data",
    [
        json.dumps({"results": [MEM0], "relations": [{"source": "a"}]}),
        json.dumps({"count": 1, "next": None, "previous": None, "results": [MEM0]}),
        json.dumps([MEM0]),
        jsonl(MEM0),
        json.dumps(
            {("runId" if name == "run_id" else name.replace("_at", "At")): value for name, value in MEM0.items()}
        ),
        jsonl({"id": "3c", "payload": {**MEM0, "data": MEM0["memory"]}}),
    ],
    ids=["open source", "platform", "platform v1", "lines", "camel case", "points"],
)
def test_mem0_is_read_as_get_all_answers_and_as_its_store_holds_it(data: str) -> None:
    record = one("mem0", data)

    assert (record.content, record.scope, record.agent) == ("Likes to play cricket", "user", None)
    assert (record.category, record.importance) == ("preference", 5)
    assert record.tags == ("#user_preferences", "#sports_and_games")
    assert record.metadata == '{"where":"chat"}'
    assert record.origin.session_id == "run-1"
    assert record.created_at == datetime(2024, 7, 20, 8, 30, 36, 275_000, tzinfo=UTC)
    assert record.updated_at == datetime(2024, 7, 21, 8, 30, 36, 275_000, tzinfo=UTC)


def test_what_mem0_keeps_for_an_agent_belongs_to_that_agent() -> None:
    record = one("mem0", jsonl({**MEM0, "agent_id": "reviewer"}))

    assert (record.scope, record.agent) == ("agent", "reviewer")


def test_a_category_in_the_metadata_of_mem0_counts_too() -> None:
    record = one("mem0", jsonl({"memory": "Anna is the project lead", "metadata": {"category": "contacts"}}))

    assert (record.category, record.tags) == ("contact", ("#contacts",))


def test_without_a_category_the_words_of_the_text_say_it() -> None:
    found = page(
        "mem0", jsonl({"memory": "我们决定使用 FastAPI"}, {"memory": "Prefers short answers"}, {"memory": "住在柏林"})
    )

    assert [(record.category, record.importance) for record in found.records] == [
        ("decision", 8),
        ("preference", 6),
        ("knowledge", 5),
    ]


def test_metadata_that_says_whose_a_thing_is_is_left_out() -> None:
    record = one("mem0", jsonl({**MEM0, "metadata": {"user_id": "mallory", "Owner": "x", "where": "chat"}}))

    assert record.metadata == '{"where":"chat"}'


@pytest.mark.parametrize(("state", "status"), [("active", "active"), ("paused", "archived"), ("archived", "archived")])
def test_states_of_openmemory_become_ours(state: str, status: str) -> None:
    backup = {"user": {"id": "u"}, "apps": [{"id": "a"}], "memories": [{"content": "Likes tea", "state": state}]}

    assert one("mem0", json.dumps(backup)).status == status


def test_what_openmemory_deleted_stays_deleted() -> None:
    found = page("mem0", jsonl({"content": "Likes tea", "state": "active"}, {"content": "Gone", "state": "deleted"}))

    assert refusals(found) == [(2, "invalid", "state")]


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"memory": "x" * 1001}, "too_long", "content"),
        ({"memory": "password: ***"}, "masked_credential", None),
        ({"metadata": "text"}, "invalid", "metadata"),
        ({"metadata": {"note": "x" * 5000}}, "invalid", "metadata"),
        ({"metadata": {"password": "MyP@ssw0rd123"}}, "invalid", "metadata"),
        ({"agent_id": 5}, "invalid", "agent"),
        ({"expiration_date": "2026-01-01"}, "expired", None),
        ({"expiration_date": "never"}, "invalid", "expires_at"),
        ({"created_at": "1969-12-31T00:00:00Z"}, "invalid", "created_at"),
    ],
)
def test_a_memory_of_mem0_that_cannot_be_one_here_is_refused_alone(
    change: dict[str, Any], reason: str, field: str | None
) -> None:
    found = page("mem0", jsonl(MEM0, {**MEM0, **change}))

    assert refusals(found) == [(2, reason, field)]
    assert len(found.records) == 1


def test_an_end_of_mem0_is_taken_over() -> None:
    assert one("mem0", jsonl({**MEM0, "expiration_date": "2027-01-01"})).expires_at == datetime(
        2026, 12, 31, 16, tzinfo=UTC
    )


def test_a_document_refuses_what_no_memory_may_hold_object_by_object() -> None:
    broken = [
        '{"memory": "twice", "memory": "twice"}',
        '{"memory": "number", "metadata": {"n": NaN}}',
        '{"memory": "number", "metadata": {"n": 123456789012345678901234567890}}',
        '{"memory": "number", "metadata": {"n": 1e999}}',
        '{"memory": "half \\ud800"}',
        f'{{"memory": "deep", "metadata": {{"n": {"[" * 40}{"]" * 40}}}}}',
        "5",
        '{"other": "x"}',
    ]
    found = page("mem0", f"[{json.dumps(MEM0)},{','.join(broken)}]")

    assert len(found.records) == 1
    assert refusals(found) == [
        *((line, "invalid", None) for line in range(2, 8)),
        (8, "unknown_kind", None),
        (9, "unknown_kind", None),
    ]


def test_lines_refuse_what_no_memory_may_hold_line_by_line() -> None:
    found = page(
        "mem0", jsonl(MEM0) + '{"memory":"a","memory":"b"}\n\nno json\n[1]\n' + "[" * 100_000 + "\n" + jsonl(MEM0)
    )

    assert [record.line for record in found.records] == [1, 7]
    assert refusals(found) == [
        (2, "invalid", None),
        (4, "not_json", None),
        (5, "unknown_kind", None),
        (6, "invalid", None),
    ]


def test_lines_of_further_pages_are_numbered_on() -> None:
    found = page("mem0", jsonl(MEM0, MEM0), before=100)

    assert [record.line for record in found.records] == [101, 102]
    assert found.thread.lines == 102


@pytest.mark.parametrize("form", ["mem0", "mao"])
@pytest.mark.parametrize("data", ["", "{}", "[]", '[{"a":1}]', "[[]]", "{", "nothing of it\n"])
def test_a_page_that_holds_nothing_of_its_form_is_refused(form: str, data: str) -> None:
    assert wrong(form, data)["field"] == "data"
