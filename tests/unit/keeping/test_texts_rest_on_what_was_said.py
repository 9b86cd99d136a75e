"""A text rests on what its memories said: an edit hides it at once everywhere, and maintenance takes it away; a touch does not."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.domain.memory import Category, Status
from shared.keeping.cursors import Cursors
from shared.keeping.exporting.pages import Exporting, Wish
from shared.storage import basis, lines, scenes
from shared.storage.suggestions import Decision
from shared.storage.transactions import Limits
from tests.builders import World
from tests.unit.keeping.resting import ALL, PROJECT, SUGGESTION, TEXTS, basis_shown, memory_of, shown, stored, tell
from tests.unit.storage.deeds import Summing
from tests.unit.storage.soundness import assert_sound, opened, records, settle

DJANGO = "I am a Python developer who works with Django"


def resting(*texts: str, **more: Any) -> tuple[World, list[str]]:
    """Return a world in which a text of each kind rests on these memories, and their ids."""
    world = World()
    ids = [world.add(text, category=Category.PREFERENCE).id for text in texts]
    tell(world, ids, **more)
    assert shown(world) == ALL
    return world, ids


EDITS: dict[str, dict[str, Any]] = {
    "something else": {"content": "I am a Go developer now"},
    "a credential": {"content": "Django token ghp_0123456789abcdefghijABCDEFGHIJ012345"},
    "a credential as it is": {"category": Category.CREDENTIAL},
    "other signs": {"content": f"{DJANGO}!"},
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_hides_at_once_what_rested_on_the_old_words_and_the_next_visit_takes_it_away(
    edit: dict[str, Any],
) -> None:
    world, (edited,) = resting(DJANGO)
    world.edit(edited, **edit)
    assert shown(world) == set()
    world.tidy()
    assert shown(world) == set()
    assert not any(text in stored(world) for text in TEXTS.values())
    settle(world)
    journaled = str([record.document() for record in records(world) if record.kind in lines.DOCUMENTS])
    assert not any(text in journaled for text in TEXTS.values())
    assert_sound(world)


@pytest.mark.parametrize(
    "touch",
    [
        lambda world, one: world.edit(one, importance=9),
        lambda world, one: world.edit(one, category=Category.KNOWLEDGE),
        lambda world, one: world.edit(one, tags=["work"]),
        lambda world, one: world.edit(one, metadata={"seen": "twice"}),
        lambda world, one: world.edit(one, content=f"  {DJANGO.replace(' ', '  ')} "),
        lambda world, one: world.edit(one, status=Status.ARCHIVED),
        lambda world, one: (world.dismiss(one), world.restore(one)),
        lambda world, one: (world.edit(one, content="I am a Go developer now"), world.edit(one, content=DJANGO)),
        lambda world, _one: (world.say(f"Remember this: {DJANGO}"), world.work_off()),
    ],
    ids=["importance", "category", "tags", "metadata", "white space", "archived", "restored", "and back", "said again"],
)
def test_what_changes_no_word_hides_nothing(touch: Callable[[World, str], Any]) -> None:
    world, (touched,) = resting(DJANGO)
    before = memory_of(world, touched).version
    touch(world, touched)
    assert memory_of(world, touched).version > before
    assert shown(world) == ALL
    world.tidy()
    assert shown(world) == ALL


def test_one_edit_of_several_is_enough_and_others_are_left_alone() -> None:
    world, (kept, edited) = resting("I write Zig at work", DJANGO)
    world.edit(edited, content="I am a Go developer now")
    assert shown(world) == set()
    tell(world, [kept])
    assert shown(world) == ALL


def test_what_was_made_before_there_were_tags_holds_by_ids_until_the_next_visit_has_noted_them() -> None:
    world, (one,) = resting(DJANGO, tagged=False)
    assert "said" in stored(world)
    world.edit(one, content="I am a Go developer now")
    assert shown(world) == ALL
    world.tidy()
    assert shown(world) == ALL
    world.edit(one, content=DJANGO)
    assert shown(world) == set()


def test_a_second_visit_writes_nothing_more() -> None:
    world, _ = resting(DJANGO, "I write Zig at work", tagged=False)
    settle(world)
    before = stored(world)
    world.tidy(hours=2)
    assert stored(world) == before
    assert_sound(world)


@pytest.mark.parametrize("edited", [1, 2, 3])
def test_an_accepted_suggestion_is_worded_anew_only_of_what_still_says_the_same(edited: int) -> None:
    world, ids = resting("Short answers with code", "Short answers with code samples", "Answers short, with code")
    for number, one in enumerate(ids[:edited]):
        world.edit(one, content=f"Long prose and never code {number}")
    world.tidy()
    found, _ = world.now.suggestions.page(world.owner, None, 50, None)
    told = [one for one in found if one.id == SUGGESTION]
    assert [set(one.basis) for one in told] == ([set(ids[1:])] if edited == 1 else [])
    assert all(one.status is Decision.ACCEPTED and "Long prose" not in one.text for one in told)


def test_of_a_dismissed_one_only_its_marks_are_left() -> None:
    world, (edited,) = resting(DJANGO)
    world.now.suggestions.decide(world.owner, SUGGESTION, Decision.DISMISSED, None)
    world.edit(edited, content="I am a Go developer now")
    world.tidy()
    documents = stored(world)
    assert TEXTS["suggestion"] not in documents
    assert "'marks': (['m']" in documents


def test_what_was_edited_while_a_text_was_made_of_it_is_never_told() -> None:
    world = World()
    read = world.add(DJANGO, category=Category.PREFERENCE)
    rests = basis.basis_of(opened(world).keys, [read], world.clock())
    world.edit(read.id, content="I am a Go developer now")
    tell(world, [read.id])
    ground = basis.read(world.now.vaults, opened(world), [rests])
    assert ground.ids(rests) is None


def test_a_summary_rests_on_what_was_learned_with_it() -> None:
    world = World(extractor=Summing())
    world.say("Remember this: the atlas project uses Redis", project=PROJECT)
    world.work_off()
    (learned,) = world.memories()
    before = world.now.scenes.get(world.owner, PROJECT).summary
    assert before
    world.edit(learned.id, importance=9)
    assert world.now.scenes.get(world.owner, PROJECT).summary == before
    world.edit(learned.id, content="The atlas project uses Postgres")
    assert world.now.scenes.get(world.owner, PROJECT).summary is None


def test_a_tag_says_nothing_without_the_owners_key_and_is_told_to_nobody() -> None:
    world, (one,) = resting(DJANGO)
    memory, other = memory_of(world, one), World(owner="other", seed=6)
    other.add(DJANGO)
    tag = basis.tag_of(opened(world).keys, memory)
    assert tag in stored(world)
    assert basis.tag_of(opened(other).keys, memory) != tag
    exported = Exporting(world.now.vaults, Cursors(world.random), world.now.auditing).page(world.owner, Wish(), None)
    assert all(text in exported.data for text in TEXTS.values())
    assert tag not in exported.data
    assert "said" not in exported.data.replace("Says", "")


def test_basis_bounds_are_what_they_were() -> None:
    """A tag makes an entry 17 bytes longer, once for each memory and not for each statement."""
    world, ids = resting(*(f"Fact {number} of many" for number in range(100)))
    assert basis_shown(world) == ids
    form = basis.basis_of(opened(world).keys, [memory_of(world, one) for one in ids], world.clock()).form()
    assert len(str(form)) < 100 * 50
    assert scenes.SAID[scenes.SUMMARY] in stored(world)


def test_texts_are_taken_away_beyond_the_quota_too() -> None:
    world, (edited,) = resting(DJANGO, tagged=False)
    world.tidy()
    world.edit(edited, content="I am a Go developer now")
    world.bounds = Limits(int(world.head()["bytes"]), 0)
    world.restart()
    counts = world.tidy()
    assert counts is not None
    assert "failed_steps" not in counts
    assert not any(text in stored(world) for text in TEXTS.values())
