"""What of a proposal is refused: the whole of it, for one wrong operation, in both languages."""

from pathlib import Path

import pytest

from shared.learning.consolidation.judging import Merge, Refusal, Refused, judge
from shared.learning.consolidation.proposals import Op, Proposal

LINES = {
    "m1": "The user drinks green tea every morning",
    "m2": "The user drinks tea with milk",
    "m3": "用户住在杭州，公司在滨江",
    "m4": "用户 2031 年搬到杭州",
    "m5": "Project Atlas runs on port 8080",
    "m6": "The user does not eat pork",
    "m7": "The user eats no pork at home",
    "m8": "The user's sister Ann is a doctor in Berlin",
}


def merge(*sources: str, content: str) -> Proposal:
    return Proposal(Op.MERGE, sources, content)


def drop(*sources: str) -> Proposal:
    return Proposal(Op.DROP, sources)


@pytest.mark.parametrize(
    "proposal",
    [
        merge("m1", "m2", content="The user drinks green tea with milk every morning"),
        merge("m3", "m4", content="用户 2031 年搬到杭州，公司在滨江"),
        merge("m6", "m7", content="The user eats no pork"),
    ],
    ids=lambda proposal: proposal.content,
)
def test_a_sound_merge_is_taken_as_it_is(proposal: Proposal) -> None:
    assert judge([proposal, Proposal(Op.KEEP, ("m5", "m8"))], LINES) == [Merge(proposal.sources, proposal.content)]


def test_nothing_at_all_is_a_good_answer_and_lines_that_nobody_names_are_kept() -> None:
    assert judge([], LINES) == []
    assert judge([Proposal(Op.KEEP, tuple(LINES))], LINES) == []


def test_a_line_that_another_one_says_may_be_dropped() -> None:
    lines = LINES | {"m9": "The user drinks green tea"}
    assert judge([drop("m9")], lines) == [Merge(("m9",), None)]
    both = "The user drinks green tea with milk every morning"
    assert judge([merge("m1", "m2", content=both), drop("m9")], lines)[1] == Merge(("m9",), None)


@pytest.mark.parametrize(
    ("proposals", "refusal"),
    [
        ([merge("m1", "m99", content="The user drinks green tea")], Refusal.UNKNOWN),
        ([drop("01J8XZ5QK3V9W8R7T6Y5A4B3C2")], Refusal.UNKNOWN),
        ([merge("m1", "m2", content="The user drinks green tea with milk"), drop("m1")], Refusal.TWICE),
        ([merge("m1", "m1", content="The user drinks green tea")], Refusal.TWICE),
        ([merge("m1", content="The user drinks green tea every morning")], Refusal.SOURCES),
        ([merge("m1", "m2", content="")], Refusal.EMPTY),
        ([merge("m1", "m2", content="。。。")], Refusal.EMPTY),
        ([merge("m1", "m2", content="The user drinks green tea " * 12)], Refusal.TOO_LONG),
        ([merge("m3", "m4", content="用户住在杭州" * 21)], Refusal.TOO_LONG),
        ([merge("m1", "m2", content="No information worth remembering was found")], Refusal.NO_FACT),
        ([merge("m3", "m4", content="作为一个AI助手，我无法合并")], Refusal.NO_FACT),
        ([merge("m1", "m2", content="The user drinks\x00green tea")], Refusal.NO_FACT),
        ([merge("m1", "m2", content="用户每天早上喝无糖绿茶")], Refusal.LANGUAGE),
        ([merge("m1", "m2", content="The user drinks 3 cups of green tea")], Refusal.INVENTED),
        ([merge("m1", "m2", content="The user drinks green Lipton tea")], Refusal.INVENTED),
        ([merge("m1", "m2", content="The user drinks green coffee")], Refusal.INVENTED),
        ([merge("m3", "m4", content="用户 2030 年搬到杭州")], Refusal.INVENTED),
        ([merge("m3", "m4", content="用户 2031 年搬到苏州")], Refusal.INVENTED),
        ([merge("m3", "m4", content="张伟 2031 年搬到杭州")], Refusal.INVENTED),
        ([merge("m6", "m7", content="The user eats pork at home")], Refusal.NEGATION),
        ([merge("m1", "m5", content="The user drinks green tea every morning")], Refusal.UNRELATED),
        ([merge("m1", "m2", content="The user's sister Ann is a doctor in Berlin")], Refusal.INVENTED),
        ([drop("m5")], Refusal.UNSAID),
        ([drop("m3")], Refusal.UNSAID),
        ([drop("m6")], Refusal.UNSAID),
        ([drop(*LINES)], Refusal.TOO_MUCH),
        ([merge(*LINES, content="The user drinks green tea every morning")], Refusal.TOO_MUCH),
        ([drop("m1", "m2", "m3", "m4", "m5")], Refusal.TOO_MUCH),
    ],
    ids=lambda part: part if isinstance(part, Refusal) else "",
)
def test_one_wrong_operation_refuses_all(proposals: list[Proposal], refusal: Refusal) -> None:
    sound = [] if any({"m6", "m7"} & set(one.sources) for one in proposals) else [
        merge("m6", "m7", content="The user eats no pork")
    ]  # fmt: skip
    lines = LINES if refusal is not Refusal.NEGATION else {"m6": LINES["m6"], "m7": LINES["m7"]}
    with pytest.raises(Refused) as refused:
        judge([*(sound if refusal is not Refusal.TOO_MUCH else []), *proposals], lines)
    assert refused.value.refusal is refusal


@pytest.mark.parametrize(
    ("first", "second", "content"),
    [
        ("Alice manages the user", "Bob manages the billing team", "Alice manages the billing team"),
        ("Bob manages the billing team", "Alice manages the user", "Alice manages the billing team"),
        ("用户的猫叫小白", "用户的狗叫大黄", "用户的狗叫小白"),
        ("The user drinks tea every morning", "The user plays chess on Wednesdays", "The user drinks tea every morning on Wednesdays"),
        ("The user plays chess on Wednesdays", "The user drinks tea every morning", "The user drinks tea every morning on Wednesdays"),
        ("Production runs on port 8080", "Staging runs on port 9090", "Production runs on port 9090"),
        ("Staging runs on port 9090", "Production runs on port 8080", "Production runs on port 9090"),
    ],
)  # fmt: skip
def test_two_facts_are_not_mixed_into_a_third(first: str, second: str, content: str) -> None:
    with pytest.raises(Refused) as refused:
        judge([merge("m1", "m2", content=content)], {"m1": first, "m2": second})
    assert refused.value.refusal is Refusal.UNRELATED


@pytest.mark.parametrize(
    ("first", "second", "content"),
    [
        ("Ann's manager is Bob", "Ann's manager is Carla now", "Ann's manager is Carla now"),
        ("数据库用 MySQL 5", "数据库现在用 PostgreSQL 16", "数据库现在用 PostgreSQL 16"),
    ],
)
def test_a_newer_state_replaces_the_older_one_and_not_the_other_way(first: str, second: str, content: str) -> None:
    wanted = merge("m1", "m2", content=content)
    assert judge([wanted], {"m1": first, "m2": second}) == [Merge(("m1", "m2"), content)]
    with pytest.raises(Refused):
        judge([wanted], {"m1": second, "m2": first})


@pytest.mark.parametrize(
    ("stays", "goes"),
    [
        ("The user's brother lives in Berlin", "The user's sister lives in Berlin"),
        ("Bob owns billing and invoices", "Alice owns billing and invoices"),
        ("用户的爸爸对花生过敏", "用户的妈妈对花生过敏"),
        ("Orders are kept in MySQL since spring", "Orders are kept in PostgreSQL since spring"),
    ],
)
def test_what_is_of_somebody_else_is_not_dropped(stays: str, goes: str) -> None:
    with pytest.raises(Refused, match="consolidation_unsaid"):
        judge([drop("m2")], {"m1": stays, "m2": goes})


def test_a_text_that_another_line_or_another_product_has_is_refused() -> None:
    lines = LINES | {"m9": "The user drinks green tea"}
    with pytest.raises(Refused, match="consolidation_known_text"):
        judge([merge("m1", "m2", content="the user drinks  green tea")], lines)
    twice = [merge("m1", "m2", content="The user drinks tea"), merge("m9", "m6", content="The user drinks tea")]
    with pytest.raises(Refused):
        judge(twice, lines)


def test_at_most_ten_lines_become_one() -> None:
    lines = {f"m{number}": "The user drinks tea" + "!" * number for number in range(1, 31)}
    eleven = tuple(lines)[:11]
    with pytest.raises(Refused, match="consolidation_sources"):
        judge([merge(*eleven, content="The user drinks tea")], lines)
    assert judge([merge(*eleven[:10], content="The user drinks tea")], lines)


def test_half_may_go_and_one_more_may_not() -> None:
    lines = {f"m{number}": "The user drinks green tea" for number in range(1, 8)} | {"m8": "The user drinks green tea"}
    assert len(judge([drop("m1", "m2", "m3", "m4")], lines)) == 4
    with pytest.raises(Refused, match="consolidation_too_much"):
        judge([drop("m1", "m2", "m3", "m4", "m5")], lines)


def test_no_refusal_tells_of_words() -> None:
    with pytest.raises(Refused) as refused:
        judge([merge("m1", "m2", content="The user drinks green Lipton tea")], LINES)
    assert str(refused.value) == "consolidation_invented"


def test_every_refusal_is_explained() -> None:
    page = (Path(__file__).parents[3] / "docs/decisions/consolidation.md").read_text(encoding="utf-8")
    assert {refusal.value for refusal in Refusal if f"`{refusal.value}`" not in page} == set()
