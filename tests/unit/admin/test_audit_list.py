"""The owner's audit list: what is on it, in what order, in pages, of one action, over an erasure."""

from typing import Literal

import pytest

from shared.crypto.owners import owner_name
from shared.domain.errors import InvalidCursor
from shared.domain.permissions import Caller
from shared.keeping.audit.auditing import Action, Look, Looks
from shared.keeping.audit.view import AuditView
from shared.keeping.memories.filters import Filters
from shared.storage.erasure import Erasure
from tests.builders import World
from tests.fakes import Crash, Steps

ISSUER, AUDITOR, ANN = "https://issuer.example", Caller("https://issuer.example", "olga"), "ann"
SECRET = "password: hunter2Xy!"
WHY = "ticket 4711: a complaint"


def of_ann() -> World:
    """The world of whoever has the subject `ann`."""
    return World(owner=owner_name(ISSUER, ANN))


def looked(world: World, user_id: str = ANN, *, limit: int = 50, cursor: str | None = None) -> list[str]:
    world.clock.advance(1)
    view = AuditView(world.now.listing)
    page = view.look(AUDITOR, user_id, WHY, Filters(status=None), limit, cursor)
    return [memory.content for memory in page.memories]


def listed(world: World, limit: int = 50, action: Action | None = None) -> list[Look]:
    """All pages of the list."""
    found: list[Look] = []
    cursor = None
    while True:
        page = world.now.auditing.looks(world.owner, limit, cursor, action)
        assert len(page.entries) <= limit
        found += page.entries
        cursor = page.next_cursor
        if cursor is None:
            return found


def erased(world: World) -> None:
    """End the life, until nothing is left of it."""
    world.clock.advance(1)
    erasure = Erasure(world.now.vaults)
    assert erasure.begin(world.owner) is not None
    erasure.go_on(world.owner, lambda: True)


def test_an_auditor_sees_all_that_is_kept_with_secrets_masked_and_is_on_the_persons_list() -> None:
    world = of_ann()
    world.add(SECRET)
    world.dismiss(world.add("I drink tea.").id)
    world.choose(credentials_in_context=True)
    assert looked(world) == ["I drink tea.", "password: ***"]
    look = listed(world)[0]
    assert (look.by, look.action, look.reason, look.memory_id) == ("auditor:olga", "read", WHY, None)
    assert look.at == world.clock()


def test_every_page_of_an_auditor_is_an_entry() -> None:
    world = of_ann()
    for number in range(3):
        world.add(f"fact {number}")
    view = AuditView(world.now.listing)
    first = view.look(AUDITOR, ANN, WHY, Filters(), 2, None)
    second = view.look(AUDITOR, ANN, WHY, Filters(), 2, first.next_cursor)
    assert len(first.memories + second.memories) == 3
    assert [look.action for look in listed(world)] == ["read", "read"]


def test_who_never_was_and_who_is_erased_and_who_has_nothing_look_the_same_and_nothing_is_made() -> None:
    world = of_ann()
    assert looked(world) == []
    assert world.table.owners() == []
    world.delete(world.add("I drink tea.").id)
    empty = AuditView(world.now.listing).look(AUDITOR, ANN, WHY, Filters(), 50, None)
    nobody = AuditView(world.now.listing).look(AUDITOR, "nobody", WHY, Filters(), 50, None)
    assert empty == nobody
    world.add("I drink coffee.")
    erased(world)
    gone = AuditView(world.now.listing).look(AUDITOR, ANN, WHY, Filters(), 50, None)
    assert gone == nobody
    assert world.table.owners() == [world.owner]


def test_the_same_subject_of_another_issuer_is_another_person() -> None:
    world = of_ann()
    world.add("I drink tea.")
    view = AuditView(world.now.listing)
    stranger = Caller("https://other.example", "olga")
    assert view.look(stranger, ANN, WHY, Filters(), 50, None).memories == []
    assert listed(world) == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_look_that_cannot_be_recorded_shows_nothing_wherever_it_dies(when: Literal["before", "after"]) -> None:
    world = of_ann()
    world.add("I drink tea.")
    steps = world.warm()
    assert looked(world) == ["I drink tea."]
    calls = steps.count
    for at in range(1, calls + 1):
        before = len(listed(world))
        world.warm(Steps(at=at, when=when))
        with pytest.raises(Crash):
            looked(world)
        world.restart()
        assert len(listed(world)) - before == (at == calls and when == "after")


def test_the_list_names_reveals_exports_and_the_switch_and_the_switch_once() -> None:
    world = of_ann()
    made = world.add(SECRET).id
    world.now.auditing.reveal(world.owner, made)
    world.clock.advance(1)
    world.now.auditing.reveal(world.owner, f"credential:{made}")
    world.clock.advance(1)
    world.now.auditing.exported(world.owner)
    world.choose(credentials_in_context=True)
    world.choose(credentials_in_context=True, language="zh")
    world.choose(credentials_in_context=False)
    told = [(look.action, look.by, look.memory_id) for look in listed(world)]
    assert told == [
        ("credentials_in_context", "owner", None),
        ("export", "owner", None),
        ("reveal", "owner", made),
        ("reveal", "owner", made),
    ]


def test_the_switch_is_on_record_before_it_holds_also_for_who_is_new() -> None:
    counted = Steps()
    first = World()
    first.restart(counted)
    first.choose(credentials_in_context=True)
    calls = counted.count
    assert [look.action for look in listed(first)] == ["credentials_in_context"]
    for at in range(1, calls + 1):
        world = World()
        world.restart(Steps(at=at))
        with pytest.raises(Crash):
            world.choose(credentials_in_context=True)
        world.restart()
        holds = world.now.choices.read(world.owner).credentials_in_context
        assert not holds or [look.action for look in listed(world)] == ["credentials_in_context"]


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_hold_every_entry_once_newest_first_and_the_erasure_last(limit: int) -> None:
    world = of_ann()
    world.add("I drink tea.")
    looked(world)
    erased(world)
    made = world.add(SECRET).id
    for _ in range(2):
        looked(world)
        world.clock.advance(1)
        world.now.auditing.reveal(world.owner, made)
    actions = [look.action for look in listed(world, limit)]
    assert actions == ["reveal", "read", "reveal", "read", "erase"]
    times = [look.at for look in listed(world, limit)]
    assert times == sorted(times, reverse=True)
    assert [look.action for look in listed(world, limit, Action.READ)] == ["read", "read"]
    assert [look.action for look in listed(world, limit, Action.REVEAL)] == ["reveal", "reveal"]
    assert [look.action for look in listed(world, limit, Action.ERASE)] == ["erase"]
    assert listed(world, limit, Action.EXPORT) == []


def test_after_an_erasure_it_is_all_that_the_list_says_and_by_whom() -> None:
    world = of_ann()
    world.add("I drink tea.")
    looked(world)
    erased(world)
    (look,) = listed(world)
    assert (look.action, look.by, look.id, look.reason) == ("erase", "owner", "erasure-1", None)
    assert listed(world, action=Action.READ) == []


def test_a_cursor_is_of_one_action_and_of_one_owner() -> None:
    world = of_ann()
    made = world.add(SECRET).id
    for _ in range(2):
        world.clock.advance(1)
        world.now.auditing.reveal(world.owner, made)
    cursor = world.now.auditing.looks(world.owner, 1, None, Action.REVEAL).next_cursor
    assert cursor is not None
    for owner, action in ((world.owner, None), (world.owner, Action.READ), ("b" * 52, Action.REVEAL)):
        with pytest.raises(InvalidCursor):
            world.now.auditing.looks(owner, 1, cursor, action)
    assert isinstance(world.now.auditing.looks(world.owner, 1, cursor, Action.REVEAL), Looks)


def test_damaged_entries_are_counted_under_every_action() -> None:
    world = of_ann()
    made = world.add(SECRET).id
    world.now.auditing.reveal(world.owner, made)
    looked(world)
    sk = next(sk for sk in world.table.partition(world.owner) if sk.startswith("a#"))
    world.table._items[world.owner][sk]["sealed"] = b"x"
    for action in (None, Action.READ):
        page = world.now.auditing.looks(world.owner, 50, None, action)
        assert ([look.action for look in page.entries], page.damaged) == (["read"], 1)


def test_nothing_of_a_look_stands_unsealed() -> None:
    world = of_ann()
    world.add("I drink tea.")
    looked(world)
    raw = world.table.everything() + world.objects.everything()
    assert b"olga" not in raw
    assert WHY.encode() not in raw
