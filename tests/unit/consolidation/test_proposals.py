"""Reading what a model proposes, whatever it wraps it in."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.learning.consolidation.proposals import SCHEMA, Op, Proposal, Unreadable, read

MERGE = {"op": "merge", "sources": ["m1", "m2"], "content": "用户喜欢喝茶"}
KEEP = {"op": "keep", "sources": ["m3"], "content": ""}
DROP = {"op": "drop", "sources": ["m4"], "content": ""}
WANTED = [
    Proposal(Op.MERGE, ("m1", "m2"), "用户喜欢喝茶"),
    Proposal(Op.KEEP, ("m3",)),
    Proposal(Op.DROP, ("m4",)),
]


def told(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        told({"operations": [MERGE, KEEP, DROP]}),
        told([MERGE, KEEP, DROP]),
        told({"result": {"ops": [MERGE, KEEP, DROP]}}),
        told({"operations": told([MERGE, KEEP, DROP])}),
        f"Here you are:\n```json\n{told({'operations': [MERGE, KEEP, DROP]})}\n```\nDone.",
        f"<think>First {told([DROP])}</think>{told({'operations': [MERGE, KEEP, DROP]})}",
        told(
            [
                {"Operation": "MERGE", "sourceIds": "m1, M2", "text": "用户喜欢喝茶"},
                {"action": "保留", "source": ["[m3]"]},
                {"type": "delete", "ids": ["m4:"]},
            ]
        ),
        told({"merge": [{"sources": ["m1", "m2"], "content": "用户喜欢喝茶"}], "keep": ["m3"], "drop": ["m4"]}),
    ],
)
def test_an_answer_is_found_in_every_wrapping(text: str) -> None:
    assert read(text) == WANTED


@pytest.mark.parametrize("text", ["[]", '{"operations": []}', '```json\n{"operations": []}\n```'])
def test_nothing_to_do_is_an_answer(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot do that.",
        "null",
        told({"operations": [MERGE, {"op": "explode", "sources": ["m3"]}]}),
        told({"operations": [MERGE, "m3"]}),
        told({"operations": [{"op": "merge", "content": "no sources"}]}),
        told({"operations": [MERGE, KEEP]})[:-20],
        "<think>" + told([MERGE]),
        told(SCHEMA),
        "[" * 3_000,
    ],
)
def test_what_is_no_complete_answer_is_none(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


@given(st.text())
def test_any_text_is_an_answer_or_unreadable(text: str) -> None:
    try:
        assert isinstance(read(text), list)
    except Unreadable:
        return


def test_the_schema_names_what_is_read() -> None:
    operation = SCHEMA["properties"]["operations"]["items"]
    assert set(operation["properties"]) == {"op", "sources", "content"}
    assert read(told({"operations": [dict.fromkeys(operation["required"], "keep") | {"sources": ["m1"]}]}))
