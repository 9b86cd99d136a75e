"""A dry run with the rules: it tells what would be learned and changes nothing."""

from tests.e2e.client import Person
from tests.e2e.storage import objects

SAID = "We decided to use PostgreSQL for the shop. 我喜欢用深色主题写代码"


def test_a_dry_run_with_the_rules_tells_what_would_be_learned_and_learns_nothing(ann: Person) -> None:
    task = ann.learn(SAID, project="shop", dry_run=True)
    assert (task["status"], task["dry_run"], task["summary"]) == ("done", True, None)
    assert {one["content"] for one in task["would_learn"]} == {
        "We decided to use PostgreSQL for the shop.",
        "我喜欢用深色主题写代码",
    }
    assert {one["action"] for one in task["would_learn"]} == {"insert"}
    assert (ann.texts(status="all"), ann.found("PostgreSQL")) == ([], [])
    assert ann.ok("GET", "/v1/usage")["used_bytes"] == 0
    assert not [key for key in objects(ann.stack, ann.sub) if "/journal/" in key or "/conversations/" in key]
    real = ann.learn(SAID, project="shop")
    assert (real["id"] != task["id"], real["learned"]["inserted"]) == (True, 2)
    told = ann.learn(SAID, "Hi!", project="shop", dry_run=True)["would_learn"]
    assert {one["action"] for one in told} == {"touch"}
