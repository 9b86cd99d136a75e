"""Reading what models answer: every shape from the field, and what must be asked for again."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.learning.answers.answers import Problem, Unreadable, schema
from tests.unit.learning.answers.answering import contents, reading


@pytest.mark.case(18)
@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"facts":["likes tea"]}\n```',
        '```\n{"facts":["likes tea"]}\n```',
        '```json\n{"facts":["likes tea"]}',
        '~~~\n{"facts":["likes tea"]}\n~~~',
        'Sure! Here it is:\n\n```JSON\n{"facts":["likes tea"]}\n```\nI left out [1] and {other} things.',
        '\ufeff{"facts":["likes tea"]}',
        "```json{'facts':['likes tea',],}```",
    ],
)
def test_fences_and_prose_around_the_answer_cost_no_fact(text: str) -> None:
    assert contents(text) == ["likes tea"]


@pytest.mark.case(21)
@pytest.mark.parametrize(
    "text",
    [
        '<think>{"facts":["WRONG"]}</think>{"facts":["right"]}',
        '<thinking>\n{"facts":["WRONG"]}\n</thinking>\n\n```json\n{"facts":["right"]}\n```',
        'think>{"facts":["WRONG"]}</think>{"facts":["right"]}',
        'think>{"facts":["WRONG"]} think>{"facts":["right"]}',
        'so: {"facts":["WRONG"]}\n</think>\n{"facts":["right"]}',
        '<think>{"facts":["WRONG</think>{"facts":["right"]}',
        '<think>a<think>b</think>{"facts":["WRONG"]}</think>{"facts":["right"]}',
        '{"facts":["right"]}<think>or {"facts":["WRONG"]}',
        '[THINK]{"facts":["WRONG"]}[/THINK]{"facts":["right"]}',
        '◁think▷{"facts":["WRONG"]}◁/think▷{"facts":["right"]}',
        '<|begin_of_thought|>{"facts":["WRONG"]}<|end_of_thought|>{"facts":["right"]}',
    ],
)
def test_a_draft_in_the_reasoning_is_never_taken(text: str) -> None:
    assert contents(text) == ["right"]


@settings(max_examples=60, deadline=None)
@given(st.text(), st.sampled_from(["<think>", "think>", "<thinking>", ""]))
def test_whatever_the_reasoning_holds_only_what_follows_it_is_read(draft: str, opening: str) -> None:
    text = f'{opening}WRONG {draft} {{"facts":["WRONG"]}}</think>{{"facts":["right"]}}'

    assert contents(text) == ["right"]


def test_a_tag_inside_a_fact_is_only_a_word() -> None:
    assert contents('{"facts":["uses <think> tags"]}') == ["uses <think> tags"]
    assert contents('<think>hm</think>{"facts":["strips </think> tags"]}') == ["strips </think> tags"]


@pytest.mark.case(22)
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", Problem.EMPTY),
        (" \n\u200b", Problem.EMPTY),
        ("\ufeff", Problem.EMPTY),
        ('""', Problem.EMPTY),
        ("```\n``", Problem.EMPTY),
        ("<think>let me see", Problem.THINKING),
        ('<think>{"facts":["WRONG"]}', Problem.THINKING),
        ('{"facts":["WRONG"]}</think>', Problem.THINKING),
        ("I see nothing.", Problem.NO_JSON),
        ("- likes tea\n- hates rain", Problem.NO_JSON),
        ('{"properties":{"facts":{"type":"array"}}}', Problem.SCHEMA),
        ('{"type":"object","properties":{"summary":{"type":"string"}}}', Problem.SCHEMA),
        ('{"facts":{"type":"array","items":{}}}', Problem.SCHEMA),
        ('{"summary":"x"}', Problem.SHAPE),
        ('{"answer":42}', Problem.SHAPE),
        ('{"data":' * 9 + '{"facts":["likes tea"]}' + "}" * 9, Problem.SHAPE),
        ('{"summary":"x","facts":[{"content":"likes t', Problem.CUT),
        ('{"summary":"long', Problem.CUT),
        ("{" * 100, Problem.CUT),
        ('{"facts":["a" oops,"b"]}', Problem.CUT),
        ("I see [nothing] here", Problem.CUT),
        ("x" * 2_000_001, Problem.TOO_LONG),
    ],
)
def test_what_cannot_be_read_is_asked_for_again_without_repeating_it(text: str, problem: Problem) -> None:
    with pytest.raises(Unreadable) as raised:
        reading(text)

    assert raised.value.problem is problem
    assert str(raised.value) == problem.value


@pytest.mark.case(25)
def test_the_schema_itself_is_no_answer() -> None:
    with pytest.raises(Unreadable) as raised:
        reading(json.dumps(schema()))

    assert raised.value.problem is Problem.SCHEMA
    assert contents(json.dumps(schema()) + '\n{"facts":["likes tea"]}') == ["likes tea"]


@pytest.mark.case(24)
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('["likes tea"]', ["likes tea"]),
        ('{"facts":"likes tea"}', ["likes tea"]),
        ('{"facts":[{"likes tea":true}]}', ["likes tea"]),
        ('{"facts":{"likes tea":true}}', ["likes tea"]),
        ('{"facts":{"content":"likes tea"}}', ["likes tea"]),
        ('{"facts":{"1":"likes tea","2":"hates rain"}}', ["likes tea", "hates rain"]),
        ('{"memory":["likes tea"]}', ["likes tea"]),
        ('{"Facts":[{"Fact":"likes tea"}]}', ["likes tea"]),
        ('{"facts":[{"text":"likes tea"},{"memory":"hates rain"}]}', ["likes tea", "hates rain"]),
        ('{"content":"likes tea"}\n{"content":"hates rain"}', ["likes tea", "hates rain"]),
        ('[{"summary":"","facts":["likes tea"]}]', ["likes tea"]),
        ('"{\\"facts\\":[\\"likes tea\\"]}"', ["likes tea"]),
        ('{"facts":"[\\"likes tea\\"]"}', ["likes tea"]),
        ('{"facts":["{\\"content\\":\\"likes tea\\"}"]}', ["likes tea"]),
        ('{"name":"remember","arguments":"{\\"facts\\":[\\"likes tea\\"]}"}', ["likes tea"]),
        ('{"tool_calls":[{"function":{"name":"f","arguments":{"facts":["likes tea"]}}}]}', ["likes tea"]),
        ('{"facts":["draft"]} no: {"facts":["likes tea"]}', ["likes tea"]),
        ('{"facts":["a b"],"facts":["likes tea"]}', ["likes tea"]),
        ("{'facts': ['it\\'s nice', 'isn't it',],}", ["it's nice", "isn't it"]),
        ('{facts: [/* one */ "likes tea" // two\n, # three\n]}', ["likes tea"]),
        ('{"facts":["likes tea"\n"hates rain"]}', ["likes tea", "hates rain"]),
        ('{"facts":["likes "green" tea, and "black" tea"]}', ['likes "green" tea, and "black" tea']),
        ("｛“facts”：［“喜欢“绿茶”，也喝水”，“住在上海”］｝", ["喜欢“绿茶”，也喝水", "住在上海"]),
        ('{"facts":["one line\nand another"]}', ["one line\nand another"]),
        ('{"facts":["ok \\ud83d\\ude00","half \\ud83d"]}', ["ok 😀"]),
        ('{"facts":["likes tea", 5, null, ["x"], {"y":1}]}', ["likes tea"]),
        ('{"facts":["likes tea","hates ra', ["likes tea"]),
        ('{"facts":[{"content":"likes tea"},{"content":"hates rain","category":"pref', ["likes tea"]),
        ('{"facts":[{"content":"likes tea" oops},{"content":"hates rain"}]}', ["hates rain"]),
        ("null", []),
        ("{}", []),
        ("[]", []),
        ("```json\nnull\n```", []),
        ('{"facts":null}', []),
        ('{"facts":[]}', []),
        ("Nothing to note: []", []),
    ],
)
def test_every_shape_that_can_be_understood_is_understood(text: str, facts: list[str]) -> None:
    assert contents(text) == facts


def test_a_cut_answer_says_that_it_is_cut() -> None:
    assert reading('{"summary":"s","facts":["likes tea","hat').cut
    assert not reading('{"summary":"s","facts":["likes tea"]}').cut
