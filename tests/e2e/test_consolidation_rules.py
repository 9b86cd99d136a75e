"""Consolidation without a model, over real HTTP: only texts that differ in nothing that says anything become one."""

from typing import Any

import pytest

from tests.e2e.client import Person

ENOUGH = 31
AT_ONCE = 17


def learned(person: Person, *texts: str) -> None:
    for start in range(0, len(texts), AT_ONCE):
        some = texts[start : start + AT_ONCE]
        assert person.learn(*some)["learned"]["inserted"] == len(some)


def consolidations(person: Person) -> list[dict[str, Any]]:
    return [
        task for task in person.ok("GET", "/v1/tasks", query={"limit": 200})["tasks"] if task["kind"] == "consolidation"
    ]


@pytest.mark.parametrize(
    ("wish", "novel", "texts", "left"),
    [
        (
            "请记住：",
            "我读过第 {} 本小说",
            ("我喜欢喝绿茶", "我非常喜欢喝绿茶。", "我不喜欢喝绿茶"),
            ["我不喜欢喝绿茶", "我非常喜欢喝绿茶。"],
        ),
        (
            "Remember this: ",
            "I have read novel number {}",
            ("I like green tea", "I really like green tea.", "I do not like green tea"),
            ["I do not like green tea", "I really like green tea."],
        ),
    ],
    ids=["zh", "en"],
)
def test_equal_texts_become_one_and_nothing_else_does(
    ann: Person, wish: str, novel: str, texts: tuple[str, ...], left: list[str]
) -> None:
    learned(ann, *(wish + novel.format(number) for number in range(ENOUGH)), *(wish + text for text in texts))
    ann.maintain()
    (task,) = consolidations(ann)
    assert (task["status"], task["consolidation"]["merged"], task["usage"]["calls"]) == ("done", 1, 0)
    kept = ann.texts()
    assert len(kept) == ENOUGH + 2
    told = [text for text in kept if novel.partition("{")[0] not in text]
    assert sorted(told) == left
    ann.ok("POST", f"/v1/tasks/{task['id']}/undo")
    assert len(ann.texts()) == ENOUGH + 3
