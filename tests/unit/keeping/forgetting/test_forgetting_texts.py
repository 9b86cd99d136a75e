"""Forgetting by words looks into documents too: persona, scenes, suggestions; each text is counted once, and what is not meant stays."""

from typing import Any, Literal

import pytest

from shared.domain.errors import VersionMismatch
from shared.domain.memory import Category, Scope
from shared.domain.task import TaskStatus
from shared.models.forgetting import ForgetIn, ForgetOut
from shared.storage import scenes
from shared.storage.document_commits import DocumentCommits
from shared.storage.suggestions import Decision
from tests.builders import World
from tests.fakes import Crash, Steps
from tests.unit.keeping.resting import ALL, PROJECT, SUGGESTION, TEXTS, memory_of, shown, stored, tell
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, records, settle

WORDS = "SAYS it"
EVERYTHING = {"portrait": "persona", "summary": "summary", "the context": "context", "way of working": "suggestion"}


def told_world() -> tuple[World, str]:
    """A world in which a text of each kind rests on a memory that has none of their words."""
    world = World()
    one = world.add("I write Zig at work", category=Category.PREFERENCE).id
    tell(world, [one])
    assert shown(world) == ALL
    return world, one


def preview(world: World, **wish: Any) -> ForgetOut:
    sent = ForgetIn.model_validate(wish)
    found = world.now.forgetting.preview(world.owner, world.now.forgetting.selection(world.owner, sent))
    return ForgetOut.of(found)


def ask(world: World, **wish: Any) -> str:
    world.clock.advance(1)
    sent = ForgetIn.model_validate(wish)
    selection = world.now.forgetting.selection(world.owner, sent)
    return world.now.forgetting.ask(world.owner, selection, confirm=True).task_id


def forget(world: World, **wish: Any) -> dict[str, int]:
    """Forget, and return what the receipt counts."""
    task_id = ask(world, **wish)
    for _ in range(3):
        world.tidy()
    task = world.now.tasks.get(world.owner, task_id)
    assert task.status is TaskStatus.DONE
    return dict(task.progress)


@pytest.mark.parametrize(("query", "kind"), EVERYTHING.items(), ids=EVERYTHING.values())
def test_a_text_that_holds_the_words_goes_and_is_counted_and_the_others_stay(query: str, kind: str) -> None:
    world, one = told_world()
    seen = preview(world, query=query, dry_run=True)
    assert (seen.count, seen.text_count, [str(text.kind) for text in seen.texts or []]) == (0, 1, [kind])
    assert shown(world) == ALL
    assert forget(world, query=query)["texts"] == 1
    assert shown(world) == ALL - {kind}
    assert TEXTS[kind] not in stored(world)
    assert preview(world, query=query, dry_run=True).text_count == 0
    settle(world)
    journaled = str(
        [record.document() for record in records(world) if record.kind in {"persona", "scene", "suggestion"}]
    )
    assert TEXTS[kind] not in journaled
    assert memory_of(world, one).content == "I write Zig at work"
    assert_sound(world)


def test_all_of_them_go_by_words_in_any_case() -> None:
    world, _ = told_world()
    assert preview(world, query=WORDS, dry_run=True).text_count == 4
    assert forget(world, query=WORDS)["texts"] == 4
    assert shown(world) == set()
    assert "Says it" not in stored(world)


WHOSE: dict[str, tuple[dict[str, Any], int]] = {
    "of the person": ({"scope": Scope.USER}, 2),
    "of a project": ({"project": PROJECT}, 2),
    "of projects": ({"scope": Scope.PROJECT}, 2),
    "of another project": ({"project": "other"}, 0),
    "of an agent": ({"agent": "pilot"}, 0),
    "of a category": ({"category": Category.PREFERENCE}, 0),
    "of a time": ({"last_days": 30}, 0),
    "by ids": ({"ids": ["01KJMV71S8AYZE4PA0D4YD5EQ9"]}, 0),
    "of low importance": ({"importance_below": 9}, 0),
}


@pytest.mark.parametrize(("parts", "count"), WHOSE.values(), ids=WHOSE)
def test_other_parts_say_whose_texts_are_meant_or_that_none_are(parts: dict[str, Any], count: int) -> None:
    world, _ = told_world()
    assert preview(world, query=WORDS, dry_run=True, **parts).text_count == count
    assert forget(world, query=WORDS, **parts).get("texts", 0) == count


def test_without_words_no_text_is_meant_by_itself() -> None:
    world, _ = told_world()
    assert preview(world, importance_below=2, dry_run=True).text_count == 0
    assert forget(world, importance_below=2).get("texts", 0) == 0
    assert shown(world) == ALL


def test_what_a_person_wrote_into_a_scene_is_meant_too_but_not_what_is_written_later() -> None:
    world, _ = told_world()
    world.now.scenes.change(world.owner, PROJECT, {"summary": "By hand about Kestrel"}, None)
    task_id = ask(world, query="Kestrel")
    world.clock.advance(1)
    world.now.scenes.change(world.owner, PROJECT, {"context": "Written later about Kestrel"}, None)
    for _ in range(3):
        world.tidy()
    assert world.now.tasks.get(world.owner, task_id).progress["texts"] == 1
    scene = world.now.scenes.get(world.owner, PROJECT)
    assert (scene.summary, scene.context) == (None, "Written later about Kestrel")


def test_of_a_dismissed_suggestion_the_marks_stay_and_an_accepted_one_ends() -> None:
    world, _ = told_world()
    world.now.suggestions.decide(world.owner, SUGGESTION, Decision.DISMISSED, None)
    assert forget(world, query="way of working")["texts"] == 1
    assert TEXTS["suggestion"] not in stored(world)
    assert "'marks': (['m']" in stored(world)


def test_a_dry_run_counts_what_is_hidden_already_and_does_not_show_it() -> None:
    world, one = told_world()
    world.delete(one)
    seen = preview(world, query=WORDS, dry_run=True)
    assert (seen.text_count, seen.texts) == (4, [])


def test_the_old_words_of_an_edited_memory_are_found_before_maintenance_has_looked() -> None:
    world, one = told_world()
    world.edit(one, content="I write Haskell at work")
    assert forget(world, query=WORDS)["texts"] == 4
    assert "Says it" not in stored(world)


def test_beyond_the_quota_too() -> None:
    world, _ = told_world()
    world.bounds = type(world.bounds)(int(world.head()["bytes"]), 0)
    world.restart()
    assert forget(world, query=WORDS)["texts"] == 4


def test_a_writer_who_is_there_first_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _ = told_world()
    commit, refused = DocumentCommits._commit, list[int]()

    def first(self: DocumentCommits, *given: Any, **more: Any) -> None:
        if not refused:
            refused.append(1)
            raise VersionMismatch
        commit(self, *given, **more)

    monkeypatch.setattr(DocumentCommits, "_commit", first)  # the race cannot be timed from outside
    assert forget(world, query=WORDS)["texts"] == 4


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_anywhere_counts_each_text_once(when: Literal["before", "after"]) -> None:
    at, died = 1, True
    while died:
        world, _ = told_world()
        task_id = ask(world, query=WORDS)
        world.restart(Steps(at, when))
        try:
            world.tidy()
            died = False
        except Crash:
            pass
        world.restart()
        for _ in range(4):
            world.tidy(hours=LEASE_AND_MORE)
        task = world.now.tasks.get(world.owner, task_id)
        assert (task.status, task.progress.get("texts")) == (TaskStatus.DONE, 4), at
        assert "Says it" not in stored(world)
        at += 2


def test_a_scene_that_lost_its_context_is_described_anew() -> None:
    world, _ = told_world()
    forget(world, query="the context")
    (scene,) = [world.now.scenes.get(world.owner, PROJECT).scene]
    assert scene.document.get(scenes.CONTEXT_AT) is None
