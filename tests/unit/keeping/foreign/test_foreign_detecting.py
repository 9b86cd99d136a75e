"""Telling forms by their content, and texts of bytes."""

import json
from pathlib import Path

import pytest

from shared.domain.errors import Invalid, TooLarge
from shared.keeping.foreign.decoding import text_of
from shared.keeping.foreign.detecting import FORMATS, detect
from tests.unit.keeping.foreign.foreign_pages import contents, jsonl, page
from tests.unit.keeping.foreign.test_foreign_cmdcode import ROWS
from tests.unit.keeping.foreign.test_foreign_rows import API, CSV, MEM0, ROW
from tests.unit.keeping.foreign.test_foreign_skill import DAILY, export

DOCS = Path(__file__).parents[4] / "docs"


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("cmdcode", jsonl(*ROWS)),
        ("cmdcode", json.dumps(ROWS, indent=2)),
        ("mao", jsonl(ROW, ROW)),
        ("mao", json.dumps({"code": 0, "data": {"items": [API]}})),
        ("mao", CSV),
        ("mao", CSV.replace(",", ";")),
        ("mao", "id,scope,content,status,\n1,USER,likes tea,ACTIVE,\n"),
        ("mao", "id,scope,content,status\n1,USER\n2,USER,likes tea,ACTIVE\n"),
        ("mao", "id,scope,content,status,project key\n1,USER,likes tea,ACTIVE,\n"),
        ("mao", '"id", "scope", "content"\n1,USER,likes tea\n'.replace(", ", ",")),
        ("mao", "\r\n\r\nscope;content;;\r\nUSER;likes tea;;\r\n"),
        ("mao", "scope,content\n"),
        ("text", "Tea, coffee and milk\nI live in Berlin, and I like it here\nMy dog is called Rex\n"),
        ("mem0", json.dumps({"results": [MEM0, MEM0]})),
        ("mem0", jsonl(MEM0)),
        ("mem0", jsonl(*[MEM0] * 9, {"event": "other"})),
        ("memory_skill", DAILY),
        ("memory_skill", json.dumps(export())),
        ("memory_skill", json.dumps(export(daily_files={}))),
        ("text", "- I like tea\n- I live in Berlin\n"),
        ("text", "[2026-01-29] - I like tea\n"),
        ("text", "1. 喜欢喝茶\n2. 住在柏林\n"),
        ("text", "User prefers concise answers.\n用户对花生过敏\n"),
        ("text", "Ich trinke gern Tee, nie Kaffee\nМеня зовут Анна Петрова\n"),
    ],
)
def test_each_form_is_told_by_what_is_in_it(form: str, data: str) -> None:
    assert detect(data) == form
    assert detect(b"\xef\xbb\xbf" + data.encode()) == form


@pytest.mark.parametrize(
    "data",
    [
        "{}",
        "[]",
        '{"a": 1}',
        '["a", "b"]',
        jsonl({"content": "a", "scope": "USER", "memory": "b"}),
        jsonl(MEM0, ROW),
        jsonl(MEM0, {"a": 1}),
        "name,age\nbob,3\nann,4\n",
        "name, drink\nBob my friend,likes strong tea\n",
        "id,full name,where they live,\n1,Bob is my friend,he lives in Berlin now,\n",
        "name\tfavourite drink\nBob my friend\tlikes strong tea\n",
        "\n\nfull name;favourite drink\n\nBob my friend;likes strong tea\n",
        "import os\nfor x in y:\n    print(x)\n",
        "<html>\n<p>Hello there my friend</p>\n</html>\n",
        "\x00\x01\x02\x03 binary that is none\n",
        '{"memory": "cut of',
        "[" * 100_000,
        "{" * 100_000,
    ],
    ids=lambda data: repr(data)[:30],
)
def test_what_shows_no_form_or_two_is_an_error_that_lists_them(data: str) -> None:
    with pytest.raises(Invalid) as refused:
        detect(data)

    (detail,) = refused.value.details or []
    assert isinstance(detail, dict)
    assert all(form in detail["problem"] for form in ("nacre", *FORMATS))


@pytest.mark.parametrize("data", ["", " \n\n", b"", b"\xef\xbb\xbf\n"])
def test_a_file_with_nothing_in_it_is_called_empty(data: str | bytes) -> None:
    with pytest.raises(Invalid) as refused:
        detect(data)
    assert refused.value.details == [{"field": "data", "problem": "There is nothing in it."}]


CHINESE = (
    "# 2026-01-29 对话记忆\n\n## Session 1 - 10:30:45\n\n### 关键信息\n- 用户希望创建长期记忆功能，检索方式是关键词\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "gbk"])
def test_chinese_files_are_read_in_every_encoding_that_they_come_in(encoding: str) -> None:
    data = CHINESE.encode(encoding)

    assert detect(data) == "memory_skill"
    assert contents(page("memory_skill", data)) == ["用户希望创建长期记忆功能，检索方式是关键词"]


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_both_orders_of_utf_16_are_read(mark: bytes) -> None:
    assert text_of(mark + "茶 tea".encode("utf-16-le" if mark == b"\xff\xfe" else "utf-16-be")) == "茶 tea"


@pytest.mark.parametrize(
    ("data", "at"),
    [
        ("Grüße aus Köln".encode("latin-1"), 2),
        ("größer".encode("cp1252"), 2),
        ("Привет, меня зовут Анна".encode("cp1251"), 0),
        ("私は東京に住んでいます".encode("shift-jis"), 0),
        (b"tea\xff\xff", 3),
        (b"\xff\xfe\x00\xd8\x41\x00", 2),
        (b"\xff\xfe\x41", 2),
        (bytes(range(128, 256)), 0),
        (b"ok \xe4\xb8", 3),
    ],
)
def test_other_encodings_are_an_error_that_names_the_first_wrong_byte(data: bytes, at: int) -> None:
    with pytest.raises(Invalid) as refused:
        text_of(data)

    assert f"Byte {at} " in str(refused.value.details)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(Invalid):
        text_of("half \ud800")


@pytest.mark.parametrize(
    "data", ["x" * 4_000_001, b"x" * 4_000_001, b"\xff" * 100_000_000], ids=["text", "bytes", "100 MB"]
)
def test_what_is_larger_than_a_page_is_refused_unread(data: str | bytes) -> None:
    with pytest.raises(TooLarge):
        text_of(data)


def test_the_documents_speak_of_every_form() -> None:
    said = (DOCS / "portability-formats.md").read_text()

    assert [form for form in FORMATS if f"`{form}`" not in said] == []
