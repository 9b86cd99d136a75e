"""Imports whoever dies and whatever else happens meanwhile: each record exactly once, nothing of others lost, nothing left in the clear."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from shared.domain.errors import Duplicate, NacreError, NotFound, SealBroken
from shared.domain.memory import Category, Scope, Status
from shared.domain.task import TaskStatus
from shared.keeping.forgetting.selection import Selection
from shared.keeping.importing.course import Mode
from shared.ports import Delete
from shared.storage.erasure import Erasure
from tests.builders import Draft, Process, World, plain
from tests.fakes import Crash, Steps
from tests.unit.importing.sending import Page, counted, exported, lines, said, send
from tests.unit.storage.deeds import Summing
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import LEASE_AND_MORE, assert_sound, rebuilt, settle

STANDING, TEA = "I stand here.", "I drink tea."


def file() -> list[str]:
    """Return an export in two pages: memories, one of which a scene rests on, and settings."""
    world = World(owner="b" * 52, extractor=Summing())
    world.add(TEA, category=Category.PREFERENCE)
    world.add("We deploy on Monday.", scope=Scope.PROJECT, project="atlas")
    world.say("Remember: I prefer butter on bread.", project="atlas")
    world.work_off()
    world.choose(max_results=7)
    (page,) = exported(world)
    told = page.splitlines(keepends=True)
    return ["".join(told[:3]), "".join(told[3:])]


FILE = file()


def stood() -> World:
    world = World()
    world.clock.advance(days=1)
    world.add(TEA, importance=2)
    world.add(STANDING)
    return world


COUNTS = {
    Mode.MERGE: {"imported": 2, "kept": 1, "documents": 2},
    Mode.OVERWRITE: {"imported": 2, "overwritten": 1, "documents": 2},
    Mode.REPLACE: {"imported": 2, "overwritten": 1, "forgotten": 1, "documents": 2},
}


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("mode", list(Mode))
def test_dying_at_any_step_of_maintenance_it_is_done_later_and_counted_once(mode: Mode, when: str) -> None:
    world = stood()
    send(world, *FILE, mode=mode)
    steps = world.restart()
    world.tidy()
    expected = plain(world.memories())
    for at in range(1, steps.count + 1, 3):
        world = stood()
        task_id = send(world, *FILE, mode=mode).task_id
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.tidy()
        world.restart()
        for _ in range(3):
            world.tidy(hours=LEASE_AND_MORE)
        task = world.now.tasks.get(world.owner, task_id)
        assert (task.status, counted(task)) == (TaskStatus.DONE, COUNTS[mode]), at
        assert plain(world.memories()) == expected, at
        assert world.now.scenes.get(world.owner, "atlas").summary is not None
        assert b"/imports/" not in world.objects.everything()


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_of_replacing_a_full_account_all_of_the_file_is_active_in_the_end(when: str) -> None:
    def full() -> World:
        world = World(active=6)
        world.clock.advance(days=1)
        for number in range(6):
            world.add(f"Old {number}.")
        return world

    file = lines("Old 5.", *(f"New {number}." for number in range(5)))
    world = full()
    send(world, file, mode=Mode.REPLACE)
    steps = world.restart()
    for _ in range(2):
        world.tidy()
    for at in range(1, steps.count + 1):
        world = full()
        task_id = send(world, file, mode=Mode.REPLACE).task_id
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            for _ in range(2):
                world.tidy()
        assert {f"Old {n}." for n in range(6)} <= set(everything(world)) or {f"New {n}." for n in range(5)} <= set(
            everything(world)
        ), at
        world.restart()
        for _ in range(3):
            world.tidy(hours=LEASE_AND_MORE)
        task = world.now.tasks.get(world.owner, task_id)
        assert (task.status, counted(task)) == (TaskStatus.DONE, {"imported": 5, "kept": 1, "forgotten": 5}), at
        assert world.texts(status=Status.ACTIVE) == sorted(["Old 5.", *(f"New {n}." for n in range(5))]), at
    settle(world)
    assert_sound(world)


def everything(world: World) -> list[str]:
    """Return the texts of all memories as a new process sees them."""
    world.restart()
    return world.texts()


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_a_file_that_says_nothing_here_forgets_nothing(when: str) -> None:
    def asked() -> tuple[World, str]:
        world = stood()
        world.choose(retention_days=300)
        file = lines(*(said(f"Old {n}.", created_at="2020-01-01T00:00:00Z") for n in range(3)))
        return world, send(world, file, mode=Mode.REPLACE).task_id

    world, _ = asked()
    steps = world.restart()
    world.tidy()
    for at in range(1, steps.count + 1):
        world, task_id = asked()
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.tidy()
        world.restart()
        for _ in range(2):
            world.tidy(hours=LEASE_AND_MORE)
        task = world.now.tasks.get(world.owner, task_id)
        assert [one["line"] for one in task.report or ()] == [1, 2, 3], at
        assert (task.error, counted(task), world.texts()) == ("nothing_taken_in", {"refused": 3}, [TEA, STANDING]), at
        assert b"/imports/" not in world.objects.everything()


def test_the_last_of_these_is_sound_and_can_be_rebuilt() -> None:
    world = stood()
    send(world, *FILE, mode=Mode.REPLACE)
    world.restart(Steps(at=30, when="after"))
    with suppress(Crash):
        world.tidy()
    world.restart()
    settle(world)
    assert_sound(world)
    before = plain(world.memories())
    rebuilt(world)
    assert plain(world.memories()) == before


@pytest.mark.no_cover
@pytest.mark.parametrize("when", ["before", "after"])
def test_dying_at_any_step_of_a_request_it_can_be_sent_again(when: str) -> None:
    world = stood()
    begun = world.now.importing.receive(world.owner, Page(FILE[0], last=False))
    steps = world.restart()
    world.now.importing.receive(world.owner, Page(FILE[1], begun.task_id))
    for at in range(1, steps.count + 1):
        world = stood()
        begun = world.now.importing.receive(world.owner, Page(FILE[0], last=False))
        world.restart(Steps(at=at, when=when))  # type: ignore[arg-type]
        with suppress(Crash):
            world.now.importing.receive(world.owner, Page(FILE[1], begun.task_id))
        world.restart()
        again = world.now.importing.receive(world.owner, Page(FILE[1], begun.task_id))
        assert (again.pages, again.complete) == (2, True)
        world.tidy()
        assert counted(world.now.tasks.get(world.owner, begun.task_id)) == COUNTS[Mode.MERGE]
        assert b"/imports/" not in world.objects.everything()


class Between(Steps):
    """Before one of the calls something else happens."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        super().__init__()
        self._turn, self._act = at, act

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        if self.count + 1 == self._turn:
            self._turn = 0
            self._act()
        return super().run(name, call)


@pytest.mark.no_cover
@pytest.mark.parametrize("mode", list(Mode))
def test_what_others_write_between_two_steps_is_neither_lost_nor_in_the_way(mode: Mode) -> None:
    world = stood()
    send(world, *FILE, mode=mode)
    steps = world.restart()
    world.tidy()
    for at in range(1, steps.count + 1, 2):
        world = stood()
        task_id = send(world, *FILE, mode=mode).task_id
        world.restart(Between(at, partial(written, world, world.process())))
        world.tidy()
        world.restart()
        for _ in range(2):
            world.tidy(hours=LEASE_AND_MORE)
        assert world.now.tasks.get(world.owner, task_id).status is TaskStatus.DONE, at
        texts = world.texts()
        assert {"We like it here.", "I prefer butter on bread.", TEA, "We deploy on Monday."} <= set(texts), at
        assert len(set(texts)) == len(texts) == (4 if mode is Mode.REPLACE else 5), at


def written(world: World, process: Process) -> None:
    world.clock.advance(1)
    for content in ("We like it here.", "I prefer butter on bread."):
        with suppress(Duplicate):
            process.memories.add(world.owner, Draft(content))


def test_twenty_people_who_add_at_once_lose_nothing_to_an_import() -> None:
    world = World()
    send(world, lines(*(f"Fact {n}." for n in range(60))))
    processes = [world.process() for _ in range(20)]

    def add(number: int) -> None:
        for fact in (f"Fact {3 * number}.", f"Own fact {number}."):
            with suppress(Duplicate):
                processes[number].memories.add(world.owner, Draft(fact))

    with ThreadPoolExecutor(21) as pool:
        done = [pool.submit(add, number) for number in range(20)]
        tidied = pool.submit(world.now.tidying.tidy, world.owner)
        assert [one.result() for one in done] == [None] * 20
        tidied.result()
    world.tidy(hours=LEASE_AND_MORE)
    assert world.texts() == sorted([*(f"Fact {n}." for n in range(60)), *(f"Own fact {n}." for n in range(20))])
    settle(world)
    assert_sound(world)


def forget_all(world: World) -> str:
    world.clock.advance(1)
    return world.now.forgetting.ask(world.owner, Selection(world.clock()), confirm=True).task_id


def test_a_forget_takes_what_an_import_still_holds_and_is_not_done_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.domain.limits.IMPORT_AT_ONCE", 100)
    world = World()
    send(world, lines(*(f"花生 {n}." for n in range(150))))
    task_id = forget_all(world)
    world.tidy()
    assert world.now.tasks.get(world.owner, task_id).status is not TaskStatus.DONE
    for _ in range(2):
        world.tidy(hours=LEASE_AND_MORE)
    assert world.now.tasks.get(world.owner, task_id).status is TaskStatus.DONE
    assert world.texts() == []
    assert "花生" not in everything_said(world)
    assert b"/imports/" not in world.objects.everything()


def test_a_forget_waits_for_no_import_without_its_last_page_and_reaches_what_it_brings() -> None:
    world = World()
    begun = send_first(world, "Before.")
    task_id = forget_all(world)
    world.tidy()
    assert world.now.tasks.get(world.owner, task_id).status is TaskStatus.DONE
    world.now.importing.receive(world.owner, Page(lines("More."), begun))
    later = send_first(world, "After.")
    world.now.importing.receive(world.owner, Page(lines("Last."), later))
    for _ in range(3):
        world.tidy()
    assert world.texts() == ["After.", "Last."]


def send_first(world: World, text: str) -> str:
    world.clock.advance(1)
    old = said(text, created_at="2026-01-01T00:00:00Z")
    return world.now.importing.receive(world.owner, Page(lines(old), last=False)).task_id


def test_the_same_page_sent_by_two_at_once_is_one() -> None:
    world = World()
    begun = world.now.importing.receive(world.owner, Page(lines("A."), last=False))
    page = Page(lines("B."), begun.task_id)
    steps = world.restart()
    world.process().importing.receive(world.owner, page)
    for at in range(1, steps.count + 8):
        world = World()
        begun = world.now.importing.receive(world.owner, Page(lines("A."), last=False))
        page = Page(lines("B."), begun.task_id)
        other = world.process()
        world.restart(Between(at, partial(other.importing.receive, world.owner, page)))
        assert world.now.importing.receive(world.owner, page).pages == 2
        world.restart()
        world.tidy()
        assert world.texts() == ["A.", "B."], at


def test_pages_that_were_changed_or_lost_fail_their_import_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for harm in (lambda body: body[:-1] + b"x", lambda _body: b"", None):
        world = World()
        harmed, sound = send(world, lines("A."), lines("C.")), send(world, lines("B."))
        key, _ = [key for key in world.objects.everything_named() if f"/imports/{harmed.task_id}/" in key]
        body = world.objects.versions(key)[0] or b""
        if harm:
            world.objects.put(key, harm(body))
        else:
            world.objects.delete_marker(key)
        world.tidy()
        task = world.now.tasks.get(world.owner, harmed.task_id)
        assert (task.status, task.error) == (TaskStatus.FAILED, "damaged")
        assert len(world.texts()) == 1 + counted(task).get("imported", 0) < 3
        assert '"damaged"' in capsys.readouterr().out
        assert world.now.tasks.get(world.owner, sound.task_id).status is TaskStatus.DONE


def test_a_lost_table_loses_an_import_under_way_and_nothing_else() -> None:
    world = stood()
    send(world, *FILE)
    before = world.texts()
    for sk in list(world.table.partition(world.owner)):
        world.table.write(world.owner, [Delete(sk)])
    world.tidy()
    world.tidy(hours=2)
    assert world.texts() == before
    assert b"/imports/" not in world.objects.everything()
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize("at", [1, 5, 12, 20, 30])
def test_an_erasure_in_between_leaves_nothing_and_nothing_comes_back(at: int) -> None:
    world = stood()
    begun = send(world, *FILE, mode=Mode.REPLACE)
    erasing = world.process()

    def erase() -> None:
        Erasure(erasing.vaults).begin(world.owner)
        Erasure(erasing.vaults).go_on(world.owner, lambda: True)

    world.restart(Between(at, erase))
    with suppress(NacreError, SealBroken):
        world.tidy()
    world.restart()
    for _ in range(3):
        world.clock.advance(3600)
        Erasure(world.now.vaults).go_on(world.owner, lambda: True)
    assert world.memories() == []
    assert b"/imports/" not in world.objects.everything()
    assert b"/journal/" not in world.objects.everything()
    world.add("A new life.")
    with pytest.raises(NotFound):
        world.now.importing.receive(world.owner, Page(FILE[1], begun.task_id))
    world.tidy()
    assert world.texts() == ["A new life."]


def test_no_word_of_a_file_lies_anywhere_but_under_a_seal(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    canary = said(
        "CANARY secret is hunter2Xy!",
        scope="project",
        project="CANARYproject",
        tags=["#CANARYtag"],
        metadata={"CANARYname": "CANARY"},
        origin={"quote": "CANARY quote", "session_id": "CANARYsession"},
    )
    wrong = said("CANARY", importance="CANARY") | {"CANARYfield": "CANARY"}
    scene = {"kind": "scene", "fields": {"project": "CANARYproject", "summary": "CANARY summary"}}
    begun = world.now.importing.receive(
        world.owner, Page(lines(canary, wrong, scene), last=False, project="CANARYplace", scope=Scope.PROJECT)
    )
    for _ in range(2):
        stored = world.objects.everything() + repr(world.table.partition(world.owner)).encode()
        stored += repr([one.body for one in world.maintenance.messages]).encode()
        assert b"CANARY" not in stored
        assert b"hunter2" not in stored
        world.now.importing.receive(
            world.owner, Page(lines("CANARY more."), begun.task_id, project="CANARYplace", scope=Scope.PROJECT)
        )
        world.tidy()
    out = capsys.readouterr()
    assert "CANARY" not in out.out + out.err
    assert {memory.project for memory in world.memories()} == {"CANARYplace"}
