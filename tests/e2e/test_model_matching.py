"""What a model finds and matches, and what the server makes of it: insert, touch, update, refuse (B9-B12; cases 29, 31, 33, 34)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from local.stack import Stack
from tests.e2e.client import MEMORIES, Person
from tests.e2e.faults import refused
from tests.e2e.model import alias_of, answer, asking, counts, fact, offered, rewrites, taught
from tests.scripted_model import Learns, Says, ScriptedModel

RAMEN, NO_RAMEN = "Ann loves ramen", "Ann hates ramen since November"


@pytest.fixture(scope="module")
def stack(model: ScriptedModel) -> Iterator[Stack]:
    with asking(model) as running:
        yield running


def test_a_fact_is_kept_with_its_words_its_place_and_who_found_it(ann: Person, model: ScriptedModel) -> None:
    model.script(
        Learns(
            answer(
                fact("shop 的后端使用 FastAPI", type="project", category="decision", importance=9),
                fact("林小雨在蓝屏咖啡上班", category="contact", importance=6),
                summary="选定了后端框架。",
            )
        )
    )
    task = ann.learn("我们决定 shop 的后端使用 FastAPI。我叫林小雨，在蓝屏咖啡上班。", project="shop", session_id="s-1")
    assert counts(task) == {"inserted": 2}
    assert task["summary"] == "选定了后端框架。"
    place = {memory["content"]: memory for memory in ann.kept()}
    decision = place["shop 的后端使用 FastAPI"]
    assert (decision["scope"], decision["project"], decision["category"]) == ("project", "shop", "decision")
    assert (decision["importance"], decision["source"]) == (9, "auto")
    assert decision["origin"]["quote"] == "我们决定 shop 的后端使用 FastAPI。"
    assert decision["origin"]["model"] == "model-1 extract/1"
    assert (decision["origin"]["task_id"], decision["origin"]["session_id"]) == (task["id"], "s-1")
    assert (place["林小雨在蓝屏咖啡上班"]["scope"], place["林小雨在蓝屏咖啡上班"]["project"]) == ("user", None)


@pytest.mark.case(10)
def test_case_10_a_translated_fact_is_refused_and_one_in_the_persons_language_keeps_its_names(
    ann: Person, model: ScriptedModel
) -> None:
    model.script(Learns(answer(fact("Lin Xiaoyu works at Blue Screen Coffee"), fact("林小雨在蓝屏咖啡上班"))))
    assert counts(ann.learn("我叫林小雨，在蓝屏咖啡上班")) == {"inserted": 1, "discarded": 1}
    assert ann.texts() == ["林小雨在蓝屏咖啡上班"]


@pytest.mark.parametrize("project", [None, "default"])
def test_without_a_real_project_a_projects_fact_is_the_persons(
    ann: Person, model: ScriptedModel, project: str | None
) -> None:
    taught(ann, model, fact("The build runs on Zig", type="project"), project=project)
    (memory,) = ann.kept()
    assert (memory["scope"], memory["project"]) == ("user", None)


@pytest.mark.case(31)
def test_case_31_a_contradiction_leaves_the_new_fact_and_the_old_one_in_its_history(
    ann: Person, model: ScriptedModel
) -> None:
    taught(ann, model, fact(RAMEN, category="preference"))
    model.script(rewrites(RAMEN, NO_RAMEN, category="preference", importance=7))
    assert counts(ann.learn("I hate ramen since November")) == {"updated": 1}
    (memory,) = ann.kept(status="all")
    assert (memory["content"], memory["version"], memory["importance"]) == (NO_RAMEN, 2, 7)
    assert memory["origin"]["quote"] == "I hate ramen since November"
    history = ann.ok("GET", f"{MEMORIES}/{memory['id']}/history")["versions"]
    assert [version["content"] for version in history] == [NO_RAMEN, RAMEN]
    assert ann.found("ramen") == [NO_RAMEN]


@pytest.mark.case(33)
def test_case_33_the_same_in_other_words_is_touched_and_stays_one(ann: Person, model: ScriptedModel) -> None:
    said = "Ann builds TaskPilot with Next.js"
    taught(ann, model, fact(said))
    (before,) = ann.kept()
    model.script(rewrites(said, "TaskPilot is built using Next.js by Ann", action="touch"))
    assert counts(ann.learn("TaskPilot is built using Next.js")) == {"touched": 1}
    (after,) = ann.kept(status="all")
    assert (after["id"], after["content"]) == (before["id"], said)
    assert after["updated_at"] > before["updated_at"]


@pytest.mark.case(34)
def test_case_34_a_similar_sentence_that_says_another_thing_takes_the_olds_place(
    ann: Person, model: ScriptedModel
) -> None:
    taught(ann, model, fact("Ann orders a cortado"))
    model.script(rewrites("Ann orders a cortado", "Ann orders a flat white"))
    assert counts(ann.learn("I order a flat white now")) == {"updated": 1}
    assert ann.texts(status="all") == ["Ann orders a flat white"]
    model.script(Learns(answer(fact("Ann orders a cortado"))))
    assert counts(ann.learn("On Sundays I order a cortado")) == {"inserted": 1}
    assert len(ann.texts()) == 2


@pytest.mark.case(29)
def test_case_29_a_target_that_was_not_offered_discards_its_candidate_whole_and_nothing_else(
    ann: Person, bob: Person, model: ScriptedModel
) -> None:
    taught(ann, model, fact("Ann drinks tea"))
    (mine,), theirs = ann.kept(), bob.add("Bob drinks tea")
    targets = ["m99", "m0", "12", "", mine["id"], theirs["id"], None, 1, ["m1"]]
    model.script(
        Learns(
            answer(
                *(fact(f"Ann drinks tea number {n}", action="update", target=one) for n, one in enumerate(targets)),
                fact(None, action="touch", target="m7"),
                fact("Ann drinks tea from a delete", action="delete", target="m1"),
                fact("Ann drinks milk too"),
            )
        )
    )
    assert counts(ann.learn("I drink tea, and milk too")) == {"inserted": 1, "discarded": len(targets) + 2}
    assert sorted(ann.texts(status="all")) == ["Ann drinks milk too", "Ann drinks tea"]
    assert next(one for one in ann.kept() if one["id"] == mine["id"])["version"] == 1
    assert bob.texts() == ["Bob drinks tea"]


def test_no_real_id_of_a_memory_is_in_any_prompt(ann: Person, model: ScriptedModel) -> None:
    taught(ann, model, fact("Ann drinks tea"))
    (memory,) = ann.kept()
    model.script(rewrites("Ann drinks tea", None, action="touch"))
    assert counts(ann.learn("I drink tea")) == {"touched": 1}
    assert memory["id"].encode() not in model.everything_received()


def test_what_a_person_wrote_or_archived_and_what_lives_elsewhere_is_never_offered(
    ann: Person, model: ScriptedModel
) -> None:
    ann.add("By hand: tea at five")
    taught(ann, model, fact("Tea of project one", type="project"), project="one")
    taught(ann, model, fact("Tea of project two", type="project"), project="two")
    taught(ann, model, fact("Tea for everybody"), fact("Tea put away"))
    away = next(one for one in ann.kept() if one["content"] == "Tea put away")
    ann.ok("PATCH", f"{MEMORIES}/{away['id']}", {"status": "dismissed"})
    model.script(Learns(answer()))
    ann.learn("Tea is what this is about", project="one")
    assert offered(model.requests[-1]) == ["Tea for everybody", "Tea of project one"]
    assert "- Tea put away" in model.requests[-1].user.split("\n")
    assert "By hand" not in model.requests[-1].user
    model.script(Learns(answer()))
    ann.learn("Tea is what this is about, again")
    assert offered(model.requests[-1]) == ["Tea for everybody"]


def test_the_persons_own_memories_come_first_and_the_newest_before_the_others(
    ann: Person, model: ScriptedModel
) -> None:
    for text, kind in (("Tea one", "user"), ("Tea two", "project"), ("Tea three", "user"), ("Tea four", "project")):
        taught(ann, model, fact(text, type=kind), project="one")
    model.script(Learns(answer()))
    ann.learn("Tea again", project="one")
    assert offered(model.requests[-1]) == ["Tea three", "Tea one", "Tea four", "Tea two"]


def test_a_manual_memory_is_neither_rewritten_nor_doubled(ann: Person, model: ScriptedModel) -> None:
    made = ann.add("Ann drinks tea", importance=2, category="preference")
    model.script(
        Learns(
            answer(
                fact("Ann drinks coffee, never tea", action="update", target="m1"),
                fact("  Ann drinks   tea ", importance=9),
            )
        )
    )
    assert counts(ann.learn("I drink tea, not coffee")) == {"touched": 1, "discarded": 1}
    (after,) = ann.kept(status="all")
    assert (after["id"], after["content"], after["source"]) == (made["id"], "Ann drinks tea", "manual")
    assert (after["importance"], after["category"]) == (2, "preference")


def test_a_memory_that_becomes_the_persons_own_after_the_prompt_is_left_alone(
    ann: Person, model: ScriptedModel
) -> None:
    taught(ann, model, fact("Ann drinks tea"), fact("Ann drinks water"))
    ids = {memory["content"]: memory["id"] for memory in ann.kept()}

    def meanwhile(request: Any) -> Learns:
        ann.ok("PATCH", f"{MEMORIES}/{ids['Ann drinks tea']}", {"status": "dismissed"})
        ann.call("DELETE", f"{MEMORIES}/{ids['Ann drinks water']}")
        tea, water = (alias_of(text, request) for text in ("Ann drinks tea", "Ann drinks water"))
        return Learns(
            answer(
                fact("Ann drinks green tea", action="update", target=tea),
                fact("Ann drinks tap water", action="update", target=water),
            )
        )

    model.script(meanwhile)
    assert counts(ann.learn("I drink green tea and tap water")) == {"discarded": 2}
    assert ann.texts(status="all") == ["Ann drinks tea"]


def test_a_dismissed_fact_is_not_learned_again_until_it_is_deleted(ann: Person, model: ScriptedModel) -> None:
    tea = fact("Ann drinks tea")
    taught(ann, model, tea)
    (memory,) = ann.kept()
    ann.ok("PATCH", f"{MEMORIES}/{memory['id']}", {"status": "dismissed"})
    assert counts(taught(ann, model, tea, besides="As ever.")) == {"discarded": 1}
    assert (ann.texts(), ann.texts(status="all")) == ([], ["Ann drinks tea"])
    assert ann.call("DELETE", f"{MEMORIES}/{memory['id']}").status == 204
    assert counts(taught(ann, model, tea, besides="After all.")) == {"inserted": 1}
    assert ann.kept()[0]["id"] != memory["id"]


def test_an_update_into_another_memorys_words_only_touches(ann: Person, model: ScriptedModel) -> None:
    taught(ann, model, fact("Ann drinks tea"), fact("Ann drinks green tea"))
    model.script(rewrites("Ann drinks tea", "Ann drinks green tea"))
    assert counts(ann.learn("I drink green tea")) == {"touched": 1}
    assert sorted(ann.texts()) == ["Ann drinks green tea", "Ann drinks tea"]


def test_an_update_into_dismissed_words_brings_nothing_back(ann: Person, model: ScriptedModel) -> None:
    taught(ann, model, fact("Ann drinks tea"), fact("Ann drinks gin"))
    gin = next(one for one in ann.kept() if one["content"] == "Ann drinks gin")
    ann.ok("PATCH", f"{MEMORIES}/{gin['id']}", {"status": "dismissed"})
    model.script(rewrites("Ann drinks tea", "Ann drinks gin"))
    assert counts(ann.learn("I drink gin and no tea")) == {"touched": 1}
    assert ann.texts() == ["Ann drinks tea"]


@pytest.mark.parametrize("action", [None, "upsert", ["insert"]])
def test_an_unknown_or_missing_action_inserts(ann: Person, model: ScriptedModel, action: Any) -> None:
    one = fact("Ann drinks tea")
    one.pop("action")
    model.script(Says(json.dumps(answer(one if action is None else one | {"action": action}))))
    assert counts(ann.learn("I drink tea")) == {"inserted": 1}


def test_without_a_readable_comparison_doubles_are_still_found_by_their_words(
    ann: Person, model: ScriptedModel
) -> None:
    taught(ann, model, fact("Ann drinks tea"))
    with refused("dynamodb", "Query", times=40) as failed:
        model.script(Learns(answer(fact("Ann drinks tea"), fact("Ann drinks milk"))))
        task = ann.ok("POST", "/v1/conversations", {"messages": [_user("tea, milk")], "trigger": "manual"})
        assert ann.stack.wait_until_idle()
    assert failed
    assert counts(ann.task(task["task_id"])) == {"inserted": 1, "touched": 1}
    assert offered(model.requests[-1]) == []


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
