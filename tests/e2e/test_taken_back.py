"""What a person says is not to be kept, over real HTTP: how far it reaches, and that nothing of it is left in any stored byte."""

import pytest

from local.demo import remains
from tests.e2e.client import Person, assistant

SESSIONS, CURRENT = "/v1/sessions", "/v1/sessions/current"
KEPT, GONE = ("We decided to use Postgres.", "我们决定主库用 Redis"), ("I decided to quit in May.", "我决定五月辞职")


def noted(person: Person, message: str, **more: object) -> dict[str, object]:
    answer: dict[str, object] = person.ok("POST", f"{CURRENT}/notes", {"user_message": message}, **more)
    return answer


def learned(person: Person) -> list[str]:
    ended = person.ok("POST", f"{CURRENT}/finalize", {})
    if ended["task_id"]:
        person.task(ended["task_id"])
    return person.texts()


@pytest.mark.parametrize("at", [0, 1], ids=["English", "Chinese"])
@pytest.mark.parametrize("wish", ["Actually, don't save that.", "刚才那条不要保存", "等等，剛才那條別存"])
def test_the_note_before_is_taken_back_and_no_other(ann: Person, at: int, wish: str) -> None:
    ann.ok("POST", SESSIONS, {})
    assert noted(ann, KEPT[at])["saved"]
    assert noted(ann, GONE[at])["saved"]
    answer = noted(ann, wish)
    assert (answer["saved"], answer["reason"], answer["finalized"]) == (False, "suppressed", None)
    assert ann.ok("GET", CURRENT)["notes"] == 1
    assert learned(ann) == [KEPT[at]]


@pytest.mark.parametrize("wish", ["Don't save this conversation.", "不要保存这次对话", "这次会话的内容都别记"])
def test_a_ban_on_the_conversation_drops_the_session(ann: Person, wish: str) -> None:
    before = ann.add("I drink tea.")["content"]
    ann.ok("POST", SESSIONS, {})
    for message in (*KEPT, *GONE):
        noted(ann, message)
    answer = noted(ann, wish)
    finalized = answer["finalized"]
    assert isinstance(finalized, dict)
    assert (answer["saved"], finalized["notes"], finalized["task_id"]) == (False, 4, None)
    assert ann.ok("GET", CURRENT)["status"] == "none"
    assert ann.call("POST", f"{CURRENT}/finalize", {}).status == 404
    assert ann.stack.run_maintenance()["idle"]
    assert ann.texts() == [before]


@pytest.mark.parametrize("wish", ["Don't save this conversation.", "不要保存这次对话", "don't save that", "别记那个"])
def test_a_wish_that_is_sent_again_takes_nothing_more(ann: Person, wish: str) -> None:
    ann.ok("POST", SESSIONS, {})
    noted(ann, GONE[0])
    key = {"headers": {"idempotency-key": "once"}}
    first = noted(ann, wish, **key)
    ann.ok("POST", SESSIONS, {})
    noted(ann, KEPT[0])
    assert noted(ann, wish, **key) == first
    assert learned(ann) == [KEPT[0]]


@pytest.mark.parametrize(
    "other", ["Don't save the session token in local storage.", "这次聊天不错，继续", "我选了 MySQL，这条别存"]
)
def test_a_word_about_something_else_takes_nothing_back(ann: Person, other: str) -> None:
    ann.ok("POST", SESSIONS, {})
    noted(ann, KEPT[0])
    noted(ann, other)
    assert learned(ann) == [KEPT[0]]


@pytest.mark.parametrize(
    "wish", ["Actually, don't save that note, thanks.", "等等，刚才那条别记了", "Thanks. Don't save this chat."]
)
def test_in_a_conversation_that_is_handed_in_whole_the_wish_reaches_all_of_it(ann: Person, wish: str) -> None:
    ann.learn(f"Please remember: {GONE[0]}", assistant("I will."), f"记住：{GONE[1]}", assistant("好的。"), wish)
    assert ann.texts() == []


def test_what_was_learned_before_is_out_of_its_reach(ann: Person) -> None:
    ann.ok("POST", SESSIONS, {})
    noted(ann, KEPT[0])
    learned(ann)
    assert noted(ann, "Don't save this conversation.")["finalized"] is None
    assert ann.texts() == [KEPT[0]]


def test_nothing_that_was_taken_back_is_in_the_clear_or_told_later(ann: Person) -> None:
    marked = "我决定把夜莺养在阁楼"
    ann.ok("POST", SESSIONS, {})
    noted(ann, marked)
    noted(ann, "don't save that")
    assert learned(ann) == []
    assert "夜莺" not in ann.context("我的鸟养在哪里？", force=True)["text"]
    assert "夜莺" not in str(ann.ok("GET", "/v1/export", query={"history": "true"}))
    assert (
        remains.search([*remains.bucket(ann.stack), *remains.table(ann.stack), *remains.queues(ann.stack)], [marked])
        == []
    )
