"""Learning with a model at its limits: full memories, days that are used up, what is counted; and dry runs, which change nothing."""

from collections.abc import Iterator
from typing import Any

import pytest

from local.stack import Stack
from tests.e2e.client import LONG_ENOUGH, Person
from tests.e2e.faults import held_messages
from tests.e2e.model import alias_of, answer, asking, counts, fact, taught
from tests.e2e.storage import items_of, objects
from tests.scripted_model import Learns, Received, Says, ScriptedModel

LIMITS = {"ACTIVE_LIMIT": "4", "DAILY_CONVERSATION_LIMIT": "6"}


@pytest.fixture(scope="module")
def stack(model: ScriptedModel) -> Iterator[Stack]:
    with asking(model, **LIMITS) as running:
        yield running


def test_beyond_the_limit_the_oldest_learned_of_the_same_group_makes_room(ann: Person, model: ScriptedModel) -> None:
    ann.add("By hand: tea")
    taught(ann, model, fact("Tea of the project", type="project"), project="one")
    taught(ann, model, fact("Tea one"))
    taught(ann, model, fact("Tea two"))
    model.script(Learns(answer(fact("Tea three", importance=9))))
    assert counts(ann.learn("Tea three it is")) == {"inserted": 1, "archived": 1}
    assert sorted(ann.texts()) == ["By hand: tea", "Tea of the project", "Tea three", "Tea two"]
    assert ann.texts(status="archived") == ["Tea one"]
    assert ann.found("tea one")[0] == "Tea one"


def test_what_is_touched_in_the_same_answer_does_not_make_room(ann: Person, model: ScriptedModel) -> None:
    taught(ann, model, *(fact(f"Tea number {n}") for n in (1, 2, 3, 4)))
    oldest = min(ann.kept(), key=lambda one: (one["updated_at"], one["id"]))["content"]

    def confirms(request: Received) -> Learns:
        known = alias_of(oldest, request)
        return Learns(answer(fact(None, action="touch", target=known), fact("Tea number five")))

    model.script(confirms)
    assert counts(ann.learn("Tea number five, and the first again")) == {
        "inserted": 1,
        "touched": 1,
        "archived": 1,
    }
    assert oldest in ann.texts()
    assert len(ann.texts()) == 4


def test_room_is_made_for_what_came_while_the_model_was_asked(ann: Person, model: ScriptedModel) -> None:
    taught(ann, model, fact("Tea one"), fact("Tea two"))

    def meanwhile(_: Received) -> Learns:
        ann.add("By hand three")
        ann.add("By hand four")
        return Learns(answer(fact("Tea five")))

    model.script(meanwhile)
    assert counts(ann.learn("Tea five it is")) == {"inserted": 1, "archived": 1}
    assert {"Tea five", "By hand three", "By hand four"} < set(ann.texts())


def test_an_archived_fact_is_active_again_when_it_is_learned_again(ann: Person, model: ScriptedModel) -> None:
    taught(ann, model, *(fact(f"Tea number {n}") for n in (1, 2, 3, 4)))
    taught(ann, model, fact("Tea number five"))
    (away,) = ann.texts(status="archived")
    assert counts(taught(ann, model, fact(away), besides="As before.")) == {"updated": 1, "archived": 1}
    assert away in ann.texts()


def test_where_nothing_learned_can_make_room_a_fact_is_given_up_and_counted(ann: Person, model: ScriptedModel) -> None:
    for number in range(4):
        ann.add(f"By hand {number}")
    assert counts(taught(ann, model, fact("Tea one"))) == {"discarded": 1}
    assert len(ann.texts(status="all")) == 4


def test_calls_and_tokens_are_on_the_task_and_in_the_owners_day(ann: Person, bob: Person, model: ScriptedModel) -> None:
    model.script(
        Learns(answer(fact("Tea one")), usage=(1_200, 80)),
        Learns(answer(), usage=(900, 7)),
        Learns(answer(), usage=None),
    )
    tasks = [ann.learn(f"Tea one, said {n}") for n in range(3)]
    assert [task["usage"] for task in tasks] == [
        {"calls": 1, "tokens_in": 1_200, "tokens_out": 80},
        {"calls": 1, "tokens_in": 900, "tokens_out": 7},
        {"calls": 1, "tokens_in": 0, "tokens_out": 0},
    ]
    assert ann.ok("GET", "/v1/usage")["today"] == {
        "conversations": 3,
        "conversation_limit": 6,
        "calls": 3,
        "tokens_in": 2_100,
        "tokens_out": 87,
    }
    assert bob.ok("GET", "/v1/usage")["today"]["calls"] == 0


def test_the_days_limit_counts_what_was_accepted_and_nothing_that_was_skipped_or_refused(
    ann: Person, model: ScriptedModel
) -> None:
    asked = len(model.requests)
    for number in range(3):
        assert ann.hand_in(f"{LONG_ENOUGH} {number}", trigger="session_end").json["reason"] == "auto_capture_off"
    assert ann.hand_in(" ").status == 422
    with held_messages():
        accepted = [ann.hand_in(f"Tea number {n}") for n in range(6)]
        assert [one.status for one in accepted] == [202] * 6
        refused = ann.hand_in("Tea number seven")
    assert (refused.status, refused.code) == (429, "daily_limit_reached")
    assert refused.json["error"]["details"]["limit"] == 6
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert len(ann.ok("GET", "/v1/tasks")["tasks"]) == 6
    assert ann.hand_in(f"{LONG_ENOUGH}", trigger="session_end").status == 200
    assert ann.ok("GET", "/v1/usage")["today"]["conversations"] == 6
    assert len(model.requests) == asked


def standing(ann: Person) -> dict[str, Any]:
    """Everything that a dry run must leave as it was."""
    usage = ann.ok("GET", "/v1/usage")
    stored = items_of(ann.stack, ann.sub)
    kept = ("m#", "d#", "s#", "head#")
    return {
        "memories": ann.kept(status="all"),
        "usage": {name: usage[name] for name in ("used_bytes", "journal_bytes", "memories", "active")},
        "items": {one["sk"]["S"]: one for one in stored if one["sk"]["S"].startswith(kept)},
        "objects": objects(ann.stack, ann.sub),
        "projects": ann.ok("GET", "/v1/projects"),
    }


def test_a_dry_run_tells_every_action_and_changes_nothing(ann: Person, model: ScriptedModel) -> None:
    taught(ann, model, *(fact(f"Tea number {n}", type="project") for n in (1, 2, 3, 4)), project="one")
    before = standing(ann)
    ids = {memory["content"]: memory["id"] for memory in ann.kept()}
    oldest = min(
        (one for one in ann.kept() if one["content"][-1] in "14"), key=lambda one: (one["updated_at"], one["id"])
    )

    def plans(request: Received) -> Learns:
        name = next(word.strip(".") for word in request.user.split() if word.startswith("NACRE_SECRET"))
        return Learns(
            answer(
                fact(None, action="touch", target=alias_of("Tea number 2", request)),
                fact("Tea number 3 is green", action="update", target=alias_of("Tea number 3", request), importance=7),
                fact(f"The password of the tea shop is {name}", type="project", category="credential", importance=10),
                fact("Tea number 9 of nobody", action="update", target="m42"),
                summary="Tea was talked about.",
            )
        )

    model.script(plans)
    said = "Tea number 3 is green now. The password of the tea shop is Quokka!7719-x."
    task = ann.learn(said, project="one", dry_run=True)
    assert (task["status"], task["dry_run"], task["memory_ids"]) == ("done", True, [])
    assert counts(task) == {"discarded": 1}
    told = {(one["action"], one["content"], one["memory_id"]) for one in task["would_learn"]}
    assert told == {
        ("touch", "Tea number 2", ids["Tea number 2"]),
        ("update", "Tea number 3 is green", ids["Tea number 3"]),
        ("archive", oldest["content"], oldest["id"]),
        ("insert", "The password of the tea shop is ***", None),
    }
    (new,) = [one for one in task["would_learn"] if one["action"] == "insert"]
    assert (new["scope"], new["project"], new["category"], new["importance"]) == ("project", "one", "credential", 10)
    assert task["summary"] == "Tea was talked about."
    assert task["usage"]["calls"] == 1
    assert standing(ann) == before
    assert ann.found("password") == []


def test_a_dry_run_and_the_real_one_are_two_conversations(ann: Person, model: ScriptedModel) -> None:
    model.script(*[Learns(answer(fact("Tea one")))] * 2)
    dry = ann.learn("Tea one it is", dry_run=True)
    assert ann.texts() == []
    real = ann.learn("Tea one it is")
    assert dry["id"] != real["id"]
    assert counts(real) == {"inserted": 1}
    again = ann.hand_in("Tea one it is", dry_run=True)
    assert again.json["task_id"] == dry["id"]
    assert again.headers["idempotency-replayed"] == "true"


def test_a_task_that_failed_as_a_dry_run_is_retried_as_one(ann: Person, model: ScriptedModel) -> None:
    model.script(Says("no"), Says("no"), Learns(answer(fact("Tea one"))))
    task = ann.learn("Tea one it is", dry_run=True)
    assert (task["status"], task["error"], task["would_learn"]) == ("failed", "model_unreadable", None)
    assert ann.call("POST", f"/v1/tasks/{task['id']}/retry").status == 202
    task = ann.task(task["id"])
    assert [one["content"] for one in task["would_learn"]] == ["Tea one"]
    assert ann.texts(status="all") == []
    assert not [key for key in objects(ann.stack, ann.sub) if "/conversations/" in key]
