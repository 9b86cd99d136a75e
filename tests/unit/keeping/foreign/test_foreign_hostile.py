"""Hostile pages of every form: bounded time, refusals line by line, and never another error than the documented ones."""

import json
import random
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain import limits
from shared.domain.errors import Invalid, TooLarge
from shared.keeping.foreign.detecting import FORMATS, detect
from shared.keeping.importing.nacre import Read
from shared.keeping.importing.records import Reason, Record
from tests.unit.keeping.foreign.foreign_pages import NOW, contents, jsonl, page, refusals, wrong
from tests.unit.keeping.foreign.test_foreign_cmdcode import KEYS, ROWS
from tests.unit.keeping.foreign.test_foreign_rows import CSV, MEM0, ROW
from tests.unit.keeping.foreign.test_foreign_skill import DAILY, export

LIST = "# Preferences\n- [2026-01-29] - Likes tea\n1. 住在柏林【2026年1月29日】\n  and Potsdam\n\nProjects:\n• Nacre\n"
FILES = {
    "cmdcode": [jsonl(*ROWS), json.dumps(ROWS, indent=1)],
    "mao": [jsonl(ROW, ROW), json.dumps([ROW]), CSV * 3],
    "memory_skill": [DAILY, json.dumps(export(), ensure_ascii=False)],
    "mem0": [jsonl(MEM0, MEM0), json.dumps({"results": [MEM0, {**MEM0, "payload": {"data": "茶"}}]})],
    "text": [LIST, "User likes tea\n用户住在柏林\n"],
}
PIECES = [
    *(
        "\x00",
        "\ud800",
        "\u2028",
        "\u202e",
        "\ufeff",
        "\r",
        "\n",
        "\n\n",
        '"',
        "'",
        ",",
        "{",
        "}",
        "[",
        "]",
        ":",
        "\\u0000",
        "\\ud800",
    ),
    *(
        "NaN",
        "1e999",
        "-1",
        "9" * 40,
        "null",
        "true",
        "[" * 200,
        '{"a":' * 200,
        "***",
        "password: hunter2hunter2",
        "#",
        "##",
        "### 标签\n",
    ),
    *(
        "## Session 1 - 10:00:00\n",
        "# 9999-99-99\n",
        "- ",
        "  ",
        "\t",
        "[2026-13-01]",
        "2026-01-29",
        "0001-01-01",
        "9999-12-31T23:59:59-23:59",
    ),
    *(
        "长" * 501,
        "x" * 2100,
        '"memory":',
        '"memory":"b",',
        '"content":5,',
        '"encrypted":{},',
        "user_id",
        "NULL",
        "\\N",
        "PROJECT",
        "é",
        "😀",
    ),
]
ENCODINGS = ["utf-8", "utf-16", "gb18030", "latin-1", "utf-8-sig"]


def holds(found: Read) -> None:
    """Check what every page that was read keeps to."""
    numbers = [record.line for record in found.records] + [refusal.line for refusal in found.refused]
    assert all(isinstance(record, Record) and record.created_at <= record.updated_at <= NOW for record in found.records)
    assert all(refusal.reason in set(Reason) for refusal in found.refused)
    assert len({record.line for record in found.records}) == len(found.records)
    assert found.thread.lines >= max(numbers, default=0)
    assert all(Record.from_body(record.to_body()) == record for record in found.records)


def mutated(rng: random.Random, data: str) -> str | bytes:
    for _ in range(rng.randint(1, 6)):
        at, to = sorted(rng.randint(0, len(data)) for _ in range(2))
        way = rng.randint(0, 4)
        if way == 0:
            data = data[:at] + rng.choice(PIECES) + data[at:]
        elif way == 1:
            data = data[:at] + data[min(to, at + 20) :]
        elif way == 2:
            data = data[:at] + rng.choice(PIECES) + data[at + 1 :]
        elif way == 3:
            data = data[:to] + data[at:to] + data[to:]
        else:
            data = data[:at] + chr(rng.choice([*range(256), rng.randint(0, 0x10FFFF)])) + data[at + 1 :]
    if rng.random() < 0.3:
        coded = bytearray(data.encode(rng.choice(ENCODINGS), "ignore"))
        if coded and rng.random() < 0.5:
            coded[rng.randrange(len(coded))] = rng.randrange(256)
        return bytes(coded)
    return data


@pytest.mark.no_cover
@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=1_000, deadline=None)
@given(seed=st.integers(min_value=0, max_value=2**64))
def test_a_mutated_file_is_read_record_by_record_or_refused_as_documented(form: str, seed: int) -> None:
    rng = random.Random(seed)
    data = mutated(rng, rng.choice(FILES[form]))

    with suppress(Invalid):
        holds(page(form, data, before=rng.choice([0, 1000]), **(KEYS if form == "cmdcode" else {})))
    with suppress(Invalid):
        assert detect(data) in FORMATS


@pytest.mark.parametrize("form", FORMATS)
@given(data=st.one_of(st.text(max_size=400), st.binary(max_size=400)))
def test_anything_at_all_is_read_or_refused_as_documented(form: str, data: str | bytes) -> None:
    with suppress(Invalid):
        holds(page(form, data, **(KEYS if form == "cmdcode" else {})))
    with suppress(Invalid):
        detect(data)


NAMES = st.sampled_from([*ROW, *MEM0, *ROWS[0], "payload", "state"])
PLAIN = st.none() | st.booleans() | st.floats() | st.integers() | st.text()
VALUES = st.recursive(PLAIN, lambda below: st.lists(below) | st.dictionaries(NAMES, below), max_leaves=20)


@pytest.mark.no_cover
@given(values=st.lists(VALUES, min_size=8, max_size=8))
@pytest.mark.parametrize("form", ["mao", "mem0", "cmdcode"])
def test_a_row_with_any_values_in_its_fields_is_taken_or_refused(form: str, values: list[object]) -> None:
    whole = {"mao": ROW, "mem0": MEM0, "cmdcode": ROWS[0]}[form]
    row = dict(zip(random.Random(len(str(values))).sample(sorted(whole), min(8, len(whole))), values, strict=False))

    for data in (jsonl(whole, {**whole, **row}), json.dumps([whole, {**whole, **row}])):
        with suppress(Invalid):
            holds(page(form, data, **(KEYS if form == "cmdcode" else {})))


def filled(unit: str) -> str:
    return unit * (limits.IMPORT_BYTES // len(unit.encode()))


BOMBS: list[tuple[str, str, Callable[[], str]]] = [
    ("text", "a million bullets", lambda: filled("- a\n")),
    ("text", "a million empty lines", lambda: filled("\n")),
    ("text", "one line", lambda: filled("x")),
    ("text", "spaces", lambda: "- " + filled(" ")[:-10] + "x"),
    ("text", "brackets", lambda: filled("[")),
    ("text", "bracket lines", lambda: filled("[2026-01-2" * 20 + "\n")),
    ("text", "stars", lambda: filled("**" * 900 + "\n")),
    ("text", "further lines", lambda: "- a\n" + filled("  b\n")[:-4]),
    ("text", "headings", lambda: filled("# a\n")),
    ("text", "digits", lambda: filled("1" * 1900 + "\n")),
    ("memory_skill", "a million points", lambda: "## Session 1 - 10:00:00\n### 关键信息\n" + filled("- a\n")[:-100]),
    ("memory_skill", "a million topics", lambda: "## Session 1 - 10:00:00\n### 主题\n" + filled("a\n")[:-100]),
    ("memory_skill", "one point", lambda: "## Session 1 - 10:00:00\n### 关键信息\n- a\n" + filled("b\n")[:-100]),
    ("memory_skill", "tags", lambda: "## Session 1 - 10:00:00\n### 关键信息\n- a\n### 标签\n" + filled("#a ")[:-100]),
    ("memory_skill", "sessions", lambda: filled("## Session 1 - 10:00:00\n")),
    ("memory_skill", "sharps", lambda: filled("#")),
    ("memory_skill", "files", lambda: json.dumps(export(daily_files={str(n): "" for n in range(200_000)}))),
    ("mem0", "deep", lambda: filled("[")),
    ("mem0", "deep objects", lambda: filled('{"a":')),
    ("mem0", "objects", lambda: "[" + filled("{},")[:-3] + "{}]"),
    ("mem0", "numbers", lambda: "[" + filled("1,")[:-3] + "1]"),
    ("mem0", "digits", lambda: '[{"memory":"a","n":' + filled("9")[:-100] + "}]"),
    ("mem0", "names", lambda: '[{"memory":"a"' + "".join(f',"{n}":1' for n in range(300_000)) + "}]"),
    ("mem0", "lines", lambda: filled("{}\n")),
    ("mem0", "rows", lambda: filled('{"memory":"a"}\n')),
    ("mao", "columns", lambda: filled("a,")),
    ("mao", "cells", lambda: "content,scope\n" + filled(",")[:-100]),
    ("mao", "rows", lambda: "content,scope\n" + filled("a,USER\n")[:-100]),
    ("mao", "quotes", lambda: "content,scope\n" + filled('"')[:-100]),
    ("mao", "open quotes", lambda: "content,scope\n" + filled('"\n')[:-100]),
    ("cmdcode", "wrong facts", lambda: filled(jsonl({**ROWS[0], "encrypted": {"iv": "", "data": "", "mac": ""}}))),
    ("cmdcode", "one fact", lambda: jsonl({**ROWS[0], "encrypted": {**ROWS[0]["encrypted"], "data": "A" * 3_900_000}})),
]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("form", "bomb"), [(form, bomb) for form, _, bomb in BOMBS], ids=[f"{form}: {name}" for form, name, _ in BOMBS]
)
def test_the_largest_page_of_the_worst_is_over_in_bounded_time(form: str, bomb: Callable[[], str]) -> None:
    data = bomb()
    begun = time.process_time()

    with suppress(Invalid):
        holds(page(form, data, **(KEYS if form == "cmdcode" else {})))
    with suppress(Invalid):
        detect(data)

    assert len(data.encode()) <= limits.IMPORT_BYTES
    assert time.process_time() - begun < 20


def test_more_records_than_a_page_may_have_refuse_it() -> None:
    assert "10000" in wrong("text", "- a\n" * 10_001)["problem"]
    assert "50000" in wrong("text", "\n" * 50_001)["problem"]
    assert len(page("text", "- tea\n" * 10_000).records) == 10_000


def test_a_hundred_megabytes_are_refused_before_anything_is_read() -> None:
    with pytest.raises(TooLarge):
        page("text", "x" * 100_000_000)


def test_nul_and_direction_signs_within_a_text_stay_a_text() -> None:
    found = page("text", "- tea\x00 and\u202e cake\n- \x00\n")

    assert contents(found) == ["tea\x00 and\u202e cake"]
    assert refusals(found) == [(2, "invalid", "content")]


def test_lines_end_at_line_feeds_only() -> None:
    assert contents(page("text", "- tea\u2028- cake\u0085- pie\n- jam\n")) == ["tea\u2028- cake\u0085- pie", "jam"]
