"""Files in pages: checked at each request, whole by their manifest, each page once, nothing taken in before the last one."""

from dataclasses import replace

import pytest

from shared.domain import limits
from shared.domain.errors import (
    ConfirmationNeeded,
    DamagedFile,
    IdempotencyKeyReused,
    IdempotencyKeySpent,
    Invalid,
    NotFound,
    NotPossibleNow,
    QuotaExceeded,
    TooLarge,
)
from shared.domain.memory import Scope
from shared.domain.task import TaskStatus
from shared.keeping.idempotency import mark
from shared.keeping.importing.course import Mode
from shared.keeping.importing.receiving import Received
from shared.ports import Delete
from shared.storage import names
from tests.builders import World
from tests.unit.importing.sending import Page, counted, exported, lines, said, send, taken_in
from tests.unit.storage.soundness import assert_sound, settle


def receive(world: World, page: Page, key: str | None = None) -> Received:
    world.clock.advance(1)
    request = {"data": page.data, "last": page.last}
    return world.now.importing.receive(world.owner, page, mark("POST /v1/import", key, request, world.clock()))


def three(world: World) -> list[str]:
    """Return an export of three memories, cut after each line."""
    for text in ("A.", "B.", "C."):
        world.add(text)
    return exported(world)[0].splitlines(keepends=True)


def task_of(world: World, received: Received) -> tuple[TaskStatus, str | None]:
    task = world.now.tasks.get(world.owner, received.task_id)
    return task.status, task.error


def pages_stored(world: World) -> int:
    return sum("/imports/" in key for key in world.objects.keys())  # noqa: SIM118 - no mapping


def test_nothing_is_taken_in_before_the_last_page() -> None:
    world, other = World(), World(owner="b" * 52)
    first, *rest = three(world)
    begun = receive(other, Page(first, last=False))
    assert (begun.pages, begun.lines, begun.complete) == (1, 1, False)
    for page in rest[:-1]:
        receive(other, Page(page, begun.task_id, last=False))
        other.tidy()
    assert other.texts() == []
    assert task_of(other, begun) == (TaskStatus.QUEUED, None)
    assert receive(other, Page(rest[-1], begun.task_id)).complete
    other.tidy()
    assert other.texts() == ["A.", "B.", "C."]
    assert task_of(other, begun) == (TaskStatus.DONE, None)
    assert pages_stored(other) == 0


def test_the_same_page_sent_twice_is_one_even_when_all_is_over() -> None:
    world = World()
    first = receive(world, Page(lines("A."), last=False))
    again = receive(world, Page(lines("A."), first.task_id, last=False))
    assert again == first
    second = receive(world, Page(lines("B."), first.task_id))
    assert receive(world, Page(lines("B."), first.task_id)) == second
    world.tidy()
    over = receive(world, Page(lines("B."), first.task_id))
    assert (over.status, over.pages, over.complete) == (TaskStatus.DONE, 2, True)
    assert world.texts() == ["A.", "B."]


def test_a_late_copy_of_any_page_is_the_same_page() -> None:
    world, other = World(), World(owner="b" * 52)
    told = three(world)
    first, second, third, rest = told[0], told[1], told[2], "".join(told[3:])
    begun = receive(other, Page(first, last=False))
    for page in (second, third):
        before = receive(other, Page(page, begun.task_id, last=False))
    for late in (first, second, third):
        assert receive(other, Page(late, begun.task_id, last=late == second)) == before
        other.tidy()
    ended = receive(other, Page(rest, begun.task_id))
    assert (ended.pages, ended.complete) == (4, True)
    assert receive(other, Page(second, begun.task_id, last=False)) == ended
    other.tidy()
    assert task_of(other, begun) == (TaskStatus.DONE, None)
    assert other.texts() == ["A.", "B.", "C."]
    with pytest.raises(NotPossibleNow):
        receive(other, Page(second, begun.task_id, last=False))
    assert other.texts() == ["A.", "B.", "C."]


def test_a_first_page_under_a_key_is_one_import() -> None:
    world = World()
    first = receive(world, Page(lines("A.")), "key")
    again = receive(world, Page(lines("A.")), "key")
    assert (again, first.replayed, again.replayed) == (first, False, True)
    world.tidy()
    late = receive(world, Page(lines("A.")), "key")
    assert (late.status, late.replayed) == (TaskStatus.DONE, True)
    world.table.write(world.owner, [Delete(names.TASK + first.task_id)])
    with pytest.raises(IdempotencyKeySpent):
        receive(world, Page(lines("A.")), "key")
    with pytest.raises(IdempotencyKeyReused):
        receive(world, Page(lines("B.")), "key")
    world.tidy()
    assert world.texts() == ["A."]


def test_a_line_that_was_lost_changed_or_moved_ends_the_import() -> None:
    file = three(World())
    for wrong in (
        [*file[:1], *file[2:]],
        [file[0], file[1].replace("A.", "X."), *file[2:]],
        [file[0], file[2], file[1], *file[3:]],
        [*file[:-1], file[-1].replace('"memory":3', '"memory":4')],
        [*file, lines("After the end.")],
    ):
        world = World(owner="b" * 52)
        world.add("Mine.")
        begun = receive(world, Page(wrong[0], last=False))
        with pytest.raises(DamagedFile):
            receive(world, Page("".join(wrong[1:]), begun.task_id))
        assert task_of(world, begun) == (TaskStatus.FAILED, "damaged_file")
        assert pages_stored(world) == 0
        with pytest.raises(NotPossibleNow):
            receive(world, Page(file[1], begun.task_id))
        world.tidy()
        assert world.texts() == ["Mine."]
        settle(world)
        assert_sound(world)


def test_replacing_asks_for_a_confirmation_and_for_the_end_of_a_file_that_has_a_beginning() -> None:
    world = World()
    file = three(world)
    with pytest.raises(ConfirmationNeeded):
        receive(world, Page("".join(file), mode=Mode.REPLACE, confirm=False))
    with pytest.raises(DamagedFile):
        receive(world, Page("".join(file[:2]), mode=Mode.REPLACE))
    assert world.sks("t#") == []
    assert pages_stored(world) == 0
    task = taken_in(world, lines("A."), mode=Mode.REPLACE)
    assert counted(task) == {"kept": 1, "forgotten": 2}


@pytest.mark.parametrize(
    "data",
    [
        "",
        "1,2\n3",
        "[1, 2]\n{}\n",
        '{"nacre": 1}\n',
        '{"kind":"header","nacre":2}\n',
        '{"kind":"nothing"}\n',
        "\x00\n",
        "123",
    ],
)
def test_what_is_no_file_of_ours_is_refused_at_once_and_changes_nothing(data: str) -> None:
    world = World()
    for wanted in ("auto", "nacre"):
        with pytest.raises(Invalid):
            receive(world, Page(data, format=wanted))
    assert world.table.partition(world.owner) == {}
    assert world.objects.everything() == b""


def test_a_file_of_ours_is_known_by_its_other_lines_where_the_first_one_is_damaged() -> None:
    world = World()
    task = taken_in(world, "{" + lines("A.", "B."))
    assert (counted(task), world.texts()) == ({"imported": 1, "refused": 1}, ["B."])


def test_a_header_in_the_middle_is_refused_and_the_import_can_go_on() -> None:
    world = World()
    file = three(world)
    begun = receive(world, Page("".join(file[:2]), last=False))
    with pytest.raises(Invalid):
        receive(world, Page(file[0], begun.task_id, last=False))
    assert receive(world, Page("".join(file[2:]), begun.task_id)).lines == len(file)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"mode": Mode.OVERWRITE}, "mode"), ({"scope": Scope.USER}, "mode"), ({"format": "text"}, "format")],
)
def test_what_is_asked_for_is_the_same_with_each_page(change: dict[str, object], field: str) -> None:
    world = World()
    begun = receive(world, Page(lines("A."), last=False))
    with pytest.raises(Invalid) as refused:
        receive(world, replace(Page(lines("B."), begun.task_id), **change))  # type: ignore[arg-type]
    assert isinstance(refused.value.details, list)
    assert refused.value.details[0]["field"] == field


@pytest.mark.parametrize(
    "page",
    [
        Page(lines("A."), scope=Scope.AGENT),
        Page(lines("A."), scope=Scope.PROJECT),
        Page(lines("A."), project="atlas"),
        Page(lines("A."), scope=Scope.USER, project="atlas"),
        Page(lines("A."), scope=Scope.PROJECT, project="default"),
    ],
)
def test_a_place_that_is_none_is_refused(page: Page) -> None:
    with pytest.raises(Invalid):
        receive(World(), page)


def test_an_import_that_is_not_there_or_not_ones_own_is_not_found() -> None:
    world = World()
    begun = receive(world, Page(lines("A."), last=False))
    told = world.say("Please remember that I prefer tea.")
    world.owner = "b" * 52
    for import_id in (begun.task_id, "0" * 26, "nothing"):
        with pytest.raises(NotFound):
            receive(world, Page(lines("B."), import_id))
    world.owner = "a" * 52
    with pytest.raises(NotFound):
        receive(world, Page(lines("B."), told))


def used(world: World) -> int:
    return int(world.head()["bytes"])


def test_an_import_whose_last_page_never_comes_is_given_up_after_a_day() -> None:
    world = World()
    world.add("Mine.")
    before = used(world)
    begun = receive(world, Page(lines("A."), last=False))
    assert used(world) > before
    world.tidy(hours=23)
    assert task_of(world, begun) == (TaskStatus.QUEUED, None)
    world.tidy(hours=2)
    assert task_of(world, begun) == (TaskStatus.FAILED, "incomplete")
    assert (pages_stored(world), world.texts()) == (0, ["Mine."])
    settle(world)
    assert_sound(world)


def test_pages_count_against_the_quota_and_are_given_back() -> None:
    world = World(quota=20_000)
    page = lines(*(world.random(60).hex() for _ in range(100)))
    begun = receive(world, Page(page, last=False))
    receive(world, Page(lines("A.") + page, begun.task_id, last=False))
    with pytest.raises(QuotaExceeded):
        receive(world, Page(lines("B.") + page, begun.task_id, last=False))
    assert 10_000 < used(world) <= 20_000
    world.tidy(hours=25)
    assert task_of(world, begun) == (TaskStatus.FAILED, "incomplete")
    assert pages_stored(world) == 0
    assert used(world) < 1_000


def test_a_page_with_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMPORT_RECORDS", 10)
    with pytest.raises(Invalid):
        receive(World(), Page(lines(*"ABCDEFGHIJK")))


def test_a_page_with_too_many_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMPORT_BYTES", 60)
    world = World()
    assert receive(world, Page(lines("花" * 8))).lines == 1
    for data in (lines("花" * 20), lines("x" * 61)):
        with pytest.raises(TooLarge):
            receive(world, Page(data))


def test_more_pages_than_allowed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMPORT_PAGES", 2)
    with pytest.raises(NotPossibleNow):
        send(World(), lines("A."), lines("B."), lines("C."))


def test_the_report_names_the_first_refused_lines_over_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMPORT_REPORT", 3)
    world = World()
    task = taken_in(
        world, lines("A.", said("B.", importance=11)), lines("***", "***", said("C.", scope="all")), lines("D.")
    )
    assert task.report == [
        {"line": 2, "reason": "invalid", "field": "importance"},
        {"line": 3, "reason": "masked_credential"},
        {"line": 4, "reason": "masked_credential"},
    ]
    assert counted(task) == {"imported": 2, "refused": 4}


def test_pages_whose_request_died_are_removed() -> None:
    world = World()
    receive(world, Page(lines("Mine.")))
    world.tidy()
    key = f"o/{world.owner}/1/imports/{world.now.tasks.list(world.owner, limit=1)[0][0].id}/left"
    world.objects.put(key, b"left")
    world.tidy()
    assert pages_stored(world) == 0
