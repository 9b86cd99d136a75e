"""Several changes in one transaction with one journal object: independent ones, and ones that are whole together."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.errors import Duplicate, NotFound, VersionMismatch
from shared.domain.ids import ulid
from shared.domain.memory import Memory, Scope, Source, Status
from shared.ports import Condition, Put
from shared.storage import items, lines, names
from shared.storage.transactions import Change, StepDone, batches
from tests.builders import World, plain
from tests.fakes import Crash, Steps
from tests.unit.storage.soundness import assert_counted, assert_sound, opened, rebuilt, records, settle, standing

TEA, GREEN, BOTH = "I drink tea.", "绿茶我也喝", "I drink tea, 绿茶 too."


def stored(world: World, *ids: str) -> list[items.Stored]:
    """Return memories as they stand in the table."""
    sks = [names.MEMORY + memory_id for memory_id in ids]
    found = world.table.get(world.owner, sks)
    return [items.from_item(opened(world).keys, found[sk]) for sk in sks]


def merged(world: World, *sources: str, text: str = BOTH, memory_id: str = "") -> list[Change]:
    """Return the changes that put one memory in place of these."""
    keys, now = opened(world).keys, world.clock()
    before = stored(world, *sources)
    tags = tuple(sorted(tag for one in before for tag in items.held_tags(keys, one.memory)))
    product = replace(
        before[0].memory,
        id=memory_id or ulid(now, world.random),
        version=1,
        content=text,
        source=Source.CONSOLIDATED,
        prior=(),
        sources=sources,
        aliases=tags,
    )
    retired = [
        Change(one, replace(one.memory, status=Status.RETIRED, replaced_by=product.id, retired_at=now))
        for one in before
    ]
    return [Change(None, product), *retired]


def merge(world: World, *sources: str, **more: Any) -> str:
    """Merge them and return the product's id."""
    world.clock.advance(1)
    product, *_ = world.now.commits.commit_together(opened(world).keys, merged(world, *sources, **more), whole=True)
    assert product is not None
    return product.id


def unmerge(world: World, product_id: str) -> None:
    """Take a merge back."""
    world.clock.advance(1)
    (product,) = stored(world, product_id)
    sources = [
        Change(one, replace(one.memory, status=Status.ACTIVE, replaced_by=None, retired_at=None))
        for one in stored(world, *product.memory.sources)
    ]
    world.now.commits.commit_together(opened(world).keys, [Change(product, None), *sources], whole=True)


def two(**more: Any) -> tuple[World, str, str]:
    """Return a world with two memories that are about to become one, and others beside them."""
    world = World()
    first = world.add(TEA, **more).id
    world.add("Deploys need two reviewers.", scope=Scope.PROJECT, project="atlas")
    world.tidy(hours=2)
    return world, first, world.add(GREEN, **more).id


def forget_both(world: World, first: str, second: str) -> None:
    world.clock.advance(1)
    changes = [Change(one, None) for one in stored(world, first, second)]
    world.now.commits.commit_together(opened(world).keys, changes)


@pytest.mark.parametrize("place", [{}, {"scope": Scope.PROJECT, "project": "atlas"}], ids=["a person", "a project"])
def test_a_merge_is_one_object_and_one_transaction_and_hides_its_sources(place: dict[str, Any]) -> None:
    world, first, second = two(**place)
    before = world.head()
    steps = world.warm()
    product = merge(world, first, second)
    assert [call for call in steps.log if call != "MemoryTable.query"] == ["MemoryObjects.put", "MemoryTable.write"]
    assert world.texts() == sorted(["Deploys need two reviewers.", BOTH])
    assert world.found("tea") == [BOTH]
    after = world.head()
    assert (after["memories"] - before["memories"], after["active"] - before["active"]) == (1, -1)
    assert_counted(world)
    for source in (first, second):
        with pytest.raises(NotFound) as refused:
            world.get(source)
        assert refused.value.details == {"replaced_by": product}


def test_the_texts_of_sources_lead_to_the_product_until_it_says_something_else() -> None:
    world, first, second = two()
    product = merge(world, first, second)
    for text in (TEA, GREEN, BOTH):
        with pytest.raises(Duplicate) as refused:
            world.add(text)
        assert refused.value.details == {"id": product}
    world.edit(product, importance=9)
    with pytest.raises(Duplicate):
        world.add(TEA)
    world.edit(product, content="I drink water.")
    assert_counted(world)
    world.add(TEA)
    assert_counted(world)


def test_deleting_a_product_sets_the_texts_of_its_sources_free() -> None:
    world, first, second = two()
    world.delete(merge(world, first, second))
    assert_counted(world)
    assert world.add(TEA).content == TEA


def test_a_product_of_products_takes_over_what_led_to_them() -> None:
    world, first, second = two()
    one = merge(world, first, second)
    third = world.add("Oolong is fine.").id
    two_ = merge(world, one, third, text="I drink tea, 绿茶 and oolong.")
    assert_counted(world)
    with pytest.raises(Duplicate) as refused:
        world.add(GREEN)
    assert refused.value.details == {"id": two_}
    settle(world)
    assert_sound(world)


def test_a_merge_that_meets_another_change_of_a_source_changes_nothing() -> None:
    world, first, second = two()
    changes = merged(world, first, second)
    world.edit(second, importance=9)
    before = world.stored("journal")
    with pytest.raises(VersionMismatch):
        world.now.commits.commit_together(opened(world).keys, changes, whole=True)
    assert world.stored("journal") == before
    assert world.get(first).status is world.get(second).status is Status.ACTIVE


def test_a_product_whose_text_is_another_memorys_is_refused_and_names_it() -> None:
    world, first, second = two()
    other = world.add(BOTH)
    with pytest.raises(Duplicate) as refused:
        merge(world, first, second)
    assert refused.value.details == {"id": other.id}
    assert_counted(world)


def test_a_step_that_was_done_refuses_the_whole_transaction() -> None:
    world, first, second = two()
    done = Put({"sk": "t#done"}, Condition(absent=True))
    world.table.write(world.owner, [done])
    with pytest.raises(StepDone):
        world.now.commits.commit_together(opened(world).keys, merged(world, first, second), whole=True, step=done)
    assert_counted(world)


def test_a_product_may_have_the_text_of_one_of_its_sources() -> None:
    world, first, second = two()
    merge(world, first, second, text=TEA)
    assert_counted(world)
    settle(world)
    assert_sound(world)


def test_taking_a_merge_back_gives_the_state_before() -> None:
    world, first, second = two()
    before = plain(world.memories())
    unmerge(world, merge(world, first, second))
    assert plain(world.memories()) == before
    assert_counted(world)
    settle(world)
    assert_sound(world)
    rebuilt(world)
    assert plain(world.memories()) == before


@pytest.mark.parametrize("folded", [False, True], ids=["lines", "folded"])
def test_a_rebuild_knows_merged_and_retired_memories(*, folded: bool) -> None:
    world, first, second = two()
    product = merge(world, first, second)
    if folded:
        settle(world)
    before, kept = plain(world.memories()), standing(world)
    rebuilt(world)
    assert plain(world.memories()) == before
    assert standing(world) == kept
    assert_counted(world)
    with pytest.raises(Duplicate) as refused:
        world.add(TEA)
    assert refused.value.details == {"id": product}
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("wiped", [False, True], ids=["repaired", "rebuilt"])
@pytest.mark.parametrize("undone", [False, True], ids=["merge", "undo"])
def test_a_merge_or_its_undo_that_dies_anywhere_is_done_whole_or_not_at_all(
    when: Any, *, wiped: bool, undone: bool
) -> None:
    before, after = sorted([TEA, GREEN]), [BOTH]
    if undone:
        before, after = after, before
    for at in (1, 2):
        world, first, second = two()
        product = merge(world, first, second) if undone else ""
        world.restart(Steps(at=at, when=when))
        with pytest.raises(Crash):
            unmerge(world, product) if undone else merge(world, first, second)
        world.restart()
        assert_counted(world)
        seen = world.texts(scope=Scope.USER)
        assert seen in (before, after)
        if wiped:
            rebuilt(world)
            assert world.texts(scope=Scope.USER) in (before, after)
            seen = world.texts(scope=Scope.USER)
        settle(world)
        assert_sound(world)
        assert world.texts(scope=Scope.USER) == seen
        rebuilt(world)
        assert world.texts(scope=Scope.USER) == seen


def dead(world: World, deed: Callable[[], Any]) -> None:
    """Do it in a process that dies with its line in the journal and nothing in the table."""

    class AtTheTable(Steps):
        def run(self, name: str, call: Any) -> Any:
            if name == "MemoryTable.write":
                self.at = len(self.log) + 1
            return super().run(name, call)

    world.restart(AtTheTable())
    with pytest.raises(Crash):
        deed()
    world.restart()


@pytest.mark.parametrize("wiped", [False, True], ids=["repaired", "rebuilt"])
def test_what_a_dead_merge_left_does_no_harm_to_a_source_that_was_edited_since(*, wiped: bool) -> None:
    world, first, second = two()
    dead(world, lambda: merge(world, first, second))
    world.edit(second, content="绿茶我不喝")
    if wiped:
        rebuilt(world)
    settle(world)
    assert_sound(world)
    assert world.texts(scope=Scope.USER) == sorted([TEA, "绿茶我不喝"])


@pytest.mark.parametrize("wiped", [False, True], ids=["repaired", "rebuilt"])
def test_what_a_dead_merge_left_does_no_harm_to_a_source_that_was_deleted_since(*, wiped: bool) -> None:
    world, first, second = two()
    dead(world, lambda: merge(world, first, second))
    world.delete(second)
    if wiped:
        rebuilt(world)
    settle(world)
    assert_sound(world)
    assert world.texts(scope=Scope.USER) == [TEA]


@pytest.mark.parametrize("wiped", [False, True], ids=["repaired", "rebuilt"])
def test_of_two_attempts_at_one_merge_the_one_that_was_applied_stands(*, wiped: bool) -> None:
    world, first, second = two()
    product = ulid(world.clock(), world.random)
    dead(world, lambda: merge(world, first, second, memory_id=product))
    merge(world, first, second, memory_id=product)
    if wiped:
        rebuilt(world)
    settle(world)
    assert_sound(world)
    assert world.texts(scope=Scope.USER) == [BOTH]
    world.delete(product)
    rebuilt(world)
    assert world.texts(scope=Scope.USER) == []


def test_a_line_of_a_whole_object_is_never_replayed_for_itself() -> None:
    world, first, second = two()
    dead(world, lambda: merge(world, first, second))
    assert any(record.kind == lines.WHOLE for record in records(world))
    tidied = world.tidy(hours=0.5)
    assert tidied is not None
    assert world.texts(scope=Scope.USER) == sorted([TEA, GREEN])
    assert not any(record.kind == lines.WHOLE for record in records(world))


def test_independent_deletions_take_one_object_and_one_transaction() -> None:
    world, first, second = two()
    steps = world.warm()
    forget_both(world, first, second)
    assert [call for call in steps.log if call.endswith(("put", "write"))] == ["MemoryObjects.put", "MemoryTable.write"]
    assert_counted(world)
    assert world.texts(scope=Scope.USER) == []
    settle(world)
    assert_sound(world)


def test_independent_changes_of_a_dead_writer_come_true_one_by_one() -> None:
    world, first, second = two()
    dead(world, lambda: forget_both(world, first, second))
    world.edit(second, importance=9)
    settle(world)
    assert_sound(world)
    assert world.texts(scope=Scope.USER) == [GREEN]


def test_a_purged_source_takes_its_text_from_nobody_who_wrote_it_since() -> None:
    """The tombstone of a retired memory says nothing of a text: it had lost it before."""
    world, first, _ = two()
    (one,) = stored(world, first)
    dropped = Change(one, replace(one.memory, status=Status.RETIRED, retired_at=world.clock()))
    world.now.commits.commit_together(opened(world).keys, [dropped])
    world.add(TEA)
    world.clock.advance(1)
    world.now.commits.commit_together(opened(world).keys, [Change(one, None) for one in stored(world, first)])
    rebuilt(world)
    assert TEA in world.texts()
    settle(world)
    assert_sound(world)


def test_many_changes_are_cut_to_what_one_transaction_takes() -> None:
    world = World()
    made = [world.add(f"Fact number {number}.").id for number in range(45)]
    changes = [Change(one, None) for one in stored(world, *made)]
    keys = opened(world).keys
    cut = list(batches(keys, changes))
    assert [len(batch) for batch in cut] == [23, 22]
    for batch in cut:
        world.now.commits.commit_together(keys, batch)
    assert world.memories() == []
    assert_counted(world)


def test_a_memory_says_what_it_was_made_of_through_the_seal() -> None:
    world, first, second = two()
    product = world.get(merge(world, first, second))
    assert product.sources == (first, second)
    retired: Memory = standing(world)[first]
    assert (retired.replaced_by, retired.version) == (product.id, 2)
    assert retired.retired_at is not None


def test_an_empty_object_in_the_journal_keeps_repair_from_nothing() -> None:
    world, first, second = two()
    merge(world, first, second)
    world.objects.put(f"o/{world.owner}/1/journal/{ulid(world.clock(), world.random)}", b"")
    world.tidy(hours=2)
    assert world.texts(scope=Scope.USER) == [BOTH]
    assert_counted(world)
