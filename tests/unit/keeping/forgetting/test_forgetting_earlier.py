"""Forgetting by words what a memory said before: its history loses those versions, the memory stays, and nothing brings them back."""

from datetime import datetime
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import NotFound
from shared.domain.ids import ulid
from shared.domain.memory import Category, Memory, Scope, Status
from shared.domain.task import TaskStatus
from shared.keeping.cursors import Cursors
from shared.keeping.exporting.pages import Exporting
from shared.keeping.exporting.pages import Wish as ExportWish
from shared.keeping.forgetting import earlier
from shared.keeping.forgetting.asking import Preview
from shared.keeping.memories.as_of import AsOf
from shared.keeping.memories.filters import Filters
from shared.ports import Put
from shared.storage import lines, names, scenes
from shared.storage.basis import Basis
from shared.storage.document_commits import DocumentCommits
from shared.storage.documents import PROJECT
from shared.storage.journal import Journal, JournalObject
from shared.storage.persona import Persona, Statement, place
from shared.storage.suggestions import Decision, Kind, Suggestion, fields, place_of
from tests.builders import World
from tests.unit.consolidation.merging import BOTH, GREEN, TEA, consolidations, only, two_and_more
from tests.unit.keeping.forgetting.test_forgetting import OTHER, forget, forgotten, selected, status
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import assert_sound, rebuilt, settle

ENGLISH = ("Wilhelmina", "Ann works at Wilhelmina.", "Ann works at Bolt.", "Ann works at Bolt, in sales.")
CHINESE = ("威廉敏娜", "安在威廉敏娜上班", "安在博尔特上班", "安在博尔特上班，做销售")


def preview(world: World, **wish: Any) -> Preview:
    return world.now.forgetting.preview(world.owner, selected(world, **wish))


def history(world: World, memory_id: str) -> list[tuple[int, str]]:
    return [(one.version, one.content) for one in world.now.edits.history(world.owner, memory_id)]


def exported(world: World) -> str:
    exporting = Exporting(world.now.vaults, Cursors(world.random), world.now.auditing)
    return exporting.page(world.owner, ExportWish(history=True), None).data


def stood(world: World, at: datetime) -> list[str]:
    page = AsOf(world.now.vaults, Cursors(world.random)).page(world.owner, Filters(status=None), at, 50, None)
    return sorted(memory.content for memory in page.memories)


def edited(world: World, *texts: str, hours: float = 0) -> Memory:
    """Return a memory that said one text after the other; with `hours` each version is folded before the next one."""
    memory = world.add(texts[0])
    for text in texts[1:]:
        if hours:
            world.tidy(hours=hours)
        memory = world.edit(memory.id, content=text)
    if hours:
        world.tidy(hours=hours)
    return memory


@pytest.mark.parametrize("said", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("hours", [0, 0.3, 2])
def test_the_versions_that_say_it_go_and_the_memory_stays_with_the_others(
    said: tuple[str, str, str, str], hours: float
) -> None:
    word, before, after, now = said
    world = World()
    memory = edited(world, after, before, f"{before} {OTHER}", now, hours=hours)
    whole = world.add(f"{word} {OTHER}")
    world.tidy()
    shown = preview(world, query=word)
    assert (shown.count, shown.earlier_count, shown.damaged, shown.complete) == (1, 2, 0, True)
    assert [one.id for one in shown.memories] == [whole.id]
    versions = [(memory.id, 3, f"{before} {OTHER}"), (memory.id, 2, before)]
    assert [(one.id, one.version, one.content) for one in shown.earlier] == versions
    assert history(world, memory.id) == [(4, now), (3, f"{before} {OTHER}"), (2, before), (1, after)]

    task_id = forget(world, query=word)
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1, "earlier": 2})
    assert word not in everything_said(world)
    assert history(world, memory.id) == [(4, now), (1, after)]
    assert world.texts() == [now]
    assert world.found(word) == []
    assert preview(world, query=word).earlier_count == 0
    for version in (2, 3):
        with pytest.raises(NotFound):
            world.now.edits.revert(world.owner, memory.id, version, None)
    assert word not in exported(world)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert (world.texts(), history(world, memory.id)) == ([now], [(4, now), (1, after)])
    assert world.now.edits.revert(world.owner, memory.id, 1, None).content == after
    settle(world)
    assert_sound(world)
    assert word not in everything_said(world)


@pytest.mark.parametrize("hours", [0, 2])
def test_a_memory_survives_the_loss_of_its_first_version_and_of_the_table(hours: float) -> None:
    world = World()
    memory = edited(world, ENGLISH[1], ENGLISH[2], hours=hours)
    forget(world, query="WILHELMINA")
    forgotten(world)
    rebuilt(world)
    assert history(world, memory.id) == [(2, ENGLISH[2])]
    assert ENGLISH[0] not in everything_said(world)
    world.edit(memory.id, content=ENGLISH[3])
    world.delete(memory.id)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert world.texts() == []


def test_a_list_of_what_was_true_leaves_out_what_is_forgotten() -> None:
    world = World()
    memory = edited(world, ENGLISH[1], ENGLISH[2], ENGLISH[3])
    first, second, third = (one.updated_at for one in reversed(world.now.edits.history(world.owner, memory.id)))
    assert stood(world, first) == [ENGLISH[1]]
    forget(world, query=ENGLISH[0])
    forgotten(world)
    assert [stood(world, at) for at in (first, second, third)] == [[], [ENGLISH[2]], [ENGLISH[3]]]


def test_only_words_look_into_the_past_and_every_other_part_is_asked_of_what_stood_then() -> None:
    world = World()
    memory = world.add(ENGLISH[1], category=Category.CONTACT, importance=2)
    world.edit(memory.id, content=ENGLISH[2], category=Category.KNOWLEDGE, importance=7)
    away = world.add(ENGLISH[1], scope=Scope.PROJECT, project="atlas")
    world.edit(away.id, content=ENGLISH[2])
    for wish in ({"category": Category.CONTACT}, {"importance_below": 3}):
        assert preview(world, **wish).earlier_count == 0
        forget(world, **wish)
        forgotten(world)
    assert len(history(world, memory.id)) == 2
    counts: list[tuple[dict[str, Any], int]] = [
        ({"query": "wilhelmina ann"}, 2),
        ({"query": "wilhelmina bolt"}, 0),
        ({"query": "wilhelmina", "category": Category.CONTACT}, 1),
        ({"query": "wilhelmina", "importance_below": 3}, 1),
        ({"query": "wilhelmina", "project": "atlas"}, 1),
        ({"query": "wilhelmina", "ids": [away.id]}, 1),
        ({"query": "wilhelmina", "until": world.get(memory.id).created_at}, 0),
    ]
    for named, count in counts:
        assert preview(world, **named).earlier_count == count, named
    forget(world, query="wilhelmina", project="atlas")
    forgotten(world)
    assert [len(history(world, one.id)) for one in (memory, away)] == [2, 1]


def test_what_a_tag_or_a_secret_said_before_is_meant_too_and_a_dry_run_shows_no_secret() -> None:
    world = World()
    tagged = world.add("Something about work.", tags=["#Wilhelmina"])
    world.edit(tagged.id, tags=["#bolt"])
    secret = world.add("The wifi password is wilhelmina1887.")
    assert secret.secrets
    world.edit(secret.id, content="The wifi has no password any more.")
    shown = preview(world, query="wilhelmina")
    assert {one.id for one in shown.earlier} == {tagged.id, secret.id}
    assert all("1887" not in one.content for one in shown.earlier)
    task_id = forget(world, query="wilhelmina")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 2})
    assert "1887" not in everything_said(world)


def test_versions_older_than_the_history_shows_go_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FOLD_BYTES", 200)  # every folded object is closed: none is opened to be folded again
    world = World()
    memory = edited(world, ENGLISH[1], *(f"It is version {number}." for number in range(2, 30)), hours=1.1)
    assert ENGLISH[1] not in [content for _, content in history(world, memory.id)]
    assert ENGLISH[1] in everything_said(world)
    task_id = forget(world, query=ENGLISH[0])
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1})
    assert ENGLISH[0] not in everything_said(world)
    assert len(history(world, memory.id)) == limits.HISTORY_VERSIONS + 1


def test_what_a_merged_away_memory_said_before_goes_and_the_merge_stays() -> None:
    world, _, _ = two_and_more()
    (tea,) = [memory for memory in world.memories() if memory.content == TEA]
    world.edit(tea.id, content="Wilhelmina drinks tea")
    world.edit(tea.id, content=TEA)
    world.tidy()
    assert BOTH in world.texts()
    assert [one.id for one in preview(world, query="wilhelmina").earlier] == [tea.id]
    task_id = forget(world, query="wilhelmina")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1})
    assert "Wilhelmina" not in everything_said(world)
    assert BOTH in world.texts()
    world.now.undoing.undo(world.owner, only(consolidations(world)).id)
    assert {TEA, GREEN} <= set(world.texts())
    settle(world)
    assert_sound(world)


def told_of(world: World, memory: Memory, word: str) -> None:
    """Tell of a memory in its project's scene, in the persona and in an accepted suggestion, beside what rests on another one."""
    documents, other = (
        DocumentCommits(world.now.commits),
        world.add("Likes short answers.", category=Category.PREFERENCE),
    )
    statements = [Statement("role", f"Works at {word}", (memory.id,)), Statement("focus_areas", "Tea", (other.id,))]
    persona = Persona(tuple(statements), fact_count=2, refreshed_at="2026-03-01T09:00:00.000Z").fields()
    documents.write(world.owner, place, lambda _opened, _standing: persona)
    scene = {PROJECT: "atlas", **scenes.written(scenes.CONTEXT, f"About {word}", Basis((memory.id,)))}
    documents.write(world.owner, lambda opened: (lines.SCENE, scenes.tag_of(opened.keys, "atlas")), lambda *_: scene)
    marks, nobody = frozenset({"mark"}), None
    suggestion = Suggestion(
        ulid(world.clock(), world.random),
        Kind.SKILL,
        word,
        f"Ask {word}",
        (memory.id,),
        1,
        Decision.ACCEPTED,
        nobody,
        nobody,
        marks,
        nobody,
        "",
    )
    documents.write(world.owner, place_of(suggestion.id), lambda *_: fields(suggestion))


@pytest.mark.parametrize("minutes", [0, 20, 90])
@pytest.mark.parametrize("said", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_texts_that_rest_on_the_memory_may_be_made_of_what_it_said_and_go_too(
    minutes: int, said: tuple[str, str, str, str]
) -> None:
    word, before, after, _ = said
    world = World()
    memory = world.add(before, scope=Scope.PROJECT, project="atlas")
    told_of(world, memory, word)
    world.tidy(hours=minutes / 60)
    world.edit(memory.id, content=after)
    world.build()
    task_id = forget(world, query=word)
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1, "texts": 3})
    assert word not in everything_said(world)
    assert world.texts() == sorted([after, "Likes short answers."])
    assert [one.text for one in world.now.portrait.get(world.owner)[0].statements] == ["Tea"]
    assert len(world.stored("index")) == 1
    settle(world)
    assert_sound(world)


def test_many_are_forgotten_a_plan_at_a_time_and_each_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier, "AT_ONCE", 3)
    world = World()
    for number in range(8):
        edited(world, f"Wilhelmina {number}", f"Bolt {number}")
    world.tidy(hours=2)
    task_id = forget(world, query="wilhelmina")
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 8})
    assert "Wilhelmina" not in everything_said(world)


def test_what_does_not_open_is_counted_and_a_row_whose_line_does_is_meant_as_well() -> None:
    world = World()
    memory = edited(world, ENGLISH[1], ENGLISH[2])
    other = edited(world, f"{ENGLISH[1]} Too.", OTHER)
    world.tidy()
    flipped = world.table.partition(world.owner)[names.MEMORY + memory.id]
    world.table.write(world.owner, [Put(dict(flipped) | {"version": 9})])
    first, *_ = world.stored("journal")
    world.objects.put(f"o/{world.owner}/1/journal/" + "0" * 26, b"damaged\n")
    shown = preview(world, query=ENGLISH[0])
    assert (shown.damaged, [one.id for one in shown.earlier]) == (2, [other.id])
    task_id = forget(world, query=ENGLISH[0])
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 2, "damaged": 1})
    assert first not in world.stored("journal")
    rebuilt(world)
    assert history(world, memory.id) == [(2, ENGLISH[2])]


def test_a_dry_run_that_has_no_time_left_for_the_past_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    edited(world, ENGLISH[1], ENGLISH[2])
    listing = Journal.listing

    def slow(journal: Journal) -> list[JournalObject]:
        world.clock.advance(16)
        return listing(journal)

    monkeypatch.setattr(Journal, "listing", slow)
    shown = preview(world, query=ENGLISH[0])
    assert (shown.earlier_count, shown.complete) == (0, False)
    monkeypatch.undo()
    monkeypatch.setattr(limits, "DELETING_TIME", -limits.DELETING_TIME)
    shown = preview(world, query="Bolt")
    assert (shown.count, shown.complete) == (0, False)


def test_dismissed_and_archived_ones_lose_them_too_and_stay_what_they_are() -> None:
    world = World()
    memory = edited(world, ENGLISH[1], ENGLISH[2])
    world.dismiss(memory.id)
    task_id = forget(world, query=ENGLISH[0])
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"earlier": 1})
    assert [one.content for one in world.memories(status=Status.DISMISSED)] == [ENGLISH[2]]
    assert len(history(world, memory.id)) == 2


def test_who_says_it_again_after_the_request_is_taken_at_the_words_of_now() -> None:
    world = World()
    memory = edited(world, ENGLISH[1], ENGLISH[2])
    task_id = forget(world, query=ENGLISH[0])
    world.now.edits.revert(world.owner, memory.id, 1, None)
    forgotten(world)
    assert status(world, task_id) == (TaskStatus.DONE, {"forgotten": 1})
    assert ENGLISH[0] not in everything_said(world)
