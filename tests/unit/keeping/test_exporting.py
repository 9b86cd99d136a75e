"""Exports: everything that stands is in them, nothing else, in pages that can be checked."""

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest

from shared.domain import limits
from shared.domain.errors import InvalidCursor
from shared.domain.memory import Category, Scope
from shared.keeping.cursors import CURSOR_CHARACTERS, Cursors
from shared.keeping.exporting.pages import Exporting, Wish, _At
from shared.learning.notes import Note
from shared.ports import Update
from shared.storage import lines as lines_kinds
from shared.storage import names, persona
from shared.storage.document_commits import DocumentCommits
from shared.storage.vaults import Opened
from tests.builders import World
from tests.unit.importing.sending import lines as file_of
from tests.unit.importing.sending import send
from tests.unit.storage.deeds import Summing

SECRET = "hunter2Xy!"


def exporting(world: World) -> Exporting:
    return Exporting(world.now.vaults, Cursors(world.random), world.now.auditing)


def pages(world: World, **wish: Any) -> list[str]:
    """Return the data of all pages."""
    found: list[str] = []
    cursor = None
    while True:
        page = exporting(world).page(world.owner, Wish(**wish), cursor)
        assert page.lines == page.data.count("\n")
        found.append(page.data)
        cursor = page.next_cursor
        if cursor is None:
            return found


def lines(world: World, **wish: Any) -> list[dict[str, Any]]:
    """Return all lines of an export that is whole by its manifest."""
    raw = "".join(pages(world, **wish)).encode().rstrip(b"\n").split(b"\n")
    chain = b""
    for line in raw[:-1]:
        chain = hashlib.sha256(chain + hashlib.sha256(line).digest()).digest()
    told = [json.loads(line) for line in raw]
    assert told[-1]["kind"] == "manifest"
    assert told[-1]["sha256"] == chain.hex()
    kinds = [line["kind"] for line in told[:-1]]
    assert told[-1]["counts"] == {kind: kinds.count(kind) for kind in kinds}
    return told


def memories(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in told if line["kind"] == "memory"]


def suggest(world: World, suggestion_id: str, title: str, basis: str) -> None:
    """Store a suggestion that rests on one memory."""
    fields: dict[str, Any] = {"kind": "skill", "title": title, "text": f"Text of {title}", "basis": [basis]}
    fields |= {"evidence": 3, "status": "accepted", "agent": None, "project": None, "marks": [], "model": None}

    def place(_opened: Opened) -> tuple[str, str]:
        return lines_kinds.SUGGESTION, suggestion_id

    DocumentCommits(world.now.commits).write(world.owner, place, lambda _opened, _standing: fields)


def lived() -> World:
    world = World(extractor=Summing())
    memory = world.add("部署日是星期一", category=Category.DECISION, importance=8, tags=["#部署"], metadata={"a": [1]})
    world.edit(memory.id, content="部署日是星期二")
    world.add(f"My wifi password is {SECRET}")
    world.add("Line one\nline two\u2028three", scope=Scope.PROJECT, project="地图/atlas")
    world.add("Tried pytest, it worked.", scope=Scope.AGENT, agent="coder", category=Category.EXPERIENCE)
    world.delete(world.add("Gone already.").id)
    world.say("Remember this: I prefer tea over coffee.", project="atlas")
    world.work_off()
    world.choose(language="zh")
    return world


def test_everything_that_stands_is_in_it_and_nothing_else() -> None:
    world = lived()
    told = lines(world)
    assert [line["kind"] for line in told if line["kind"] != "memory"] == ["header", "scene", "settings", "manifest"]
    assert sorted(line["content"] for line in memories(told)) == sorted(memory.content for memory in world.memories())
    by_text = {line["content"]: line for line in memories(told)}
    one = by_text["部署日是星期二"]
    assert (one["category"], one["importance"], one["tags"], one["metadata"], one["version"]) == (
        "decision",
        8,
        ["#部署"],
        {"a": [1]},
        2,
    )
    assert by_text["Tried pytest, it worked."]["uri"] == "agent://coder/agent/experience"
    assert one["uri"] == "agent://*/user/decision"
    assert "history" not in one
    (scene,) = [line for line in told if line["kind"] == "scene"]
    assert scene["fields"]["summary"] == "It was about: Remember this: I prefer tea over coffee."
    assert told[-2]["settings"]["language"] == "zh"
    assert "Gone already." not in str(told)


def test_secrets_are_masked_unless_asked_for_and_then_that_is_on_record_first() -> None:
    world = lived()
    assert SECRET not in "".join(pages(world))
    assert world.now.auditing.looks(world.owner, 10, None).entries == []
    told = memories(lines(world, credentials=True))
    assert [line["masked"] for line in told if SECRET in line["content"]] == [False]
    (look,) = world.now.auditing.looks(world.owner, 10, None).entries
    assert (look.action, look.by, look.memory_id) == ("export", "owner", None)


def test_without_content_no_text_is_in_it() -> None:
    world = lived()
    data = "".join(pages(world, content=False, history=True))
    for word in ("部署", "wifi", "Line one", "pytest", "tea"):
        assert word not in data
    assert len(memories(lines(world, content=False))) == len(world.memories())


def test_with_history_each_earlier_version_is_in_it_folded_or_not() -> None:
    world = lived()
    for _ in range(2):
        by_text = {line["content"]: line for line in memories(lines(world, history=True))}
        assert [version["content"] for version in by_text["部署日是星期二"]["history"]] == ["部署日是星期一"]
        assert by_text["My wifi password is ***"]["history"] == []
        world.tidy(hours=2)


def test_a_time_bounds_memories() -> None:
    world = lived()
    at = sorted(memory.created_at for memory in world.memories())[2]
    before, after = memories(lines(world, until=at)), memories(lines(world, since=at))
    assert len(before) == 2
    assert len(before) + len(after) == len(world.memories())


def test_pages_are_small_and_say_together_what_one_says(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lived()
    for number in range(30):
        world.add(f"Fact number {number} " + "长" * 300)
    whole = pages(world)
    monkeypatch.setattr(limits, "EXPORT_BYTES", 4_000)
    parts = pages(world)
    assert (len(whole), len(parts) > 8) == (1, True)
    assert all(len(part.encode()) <= 4_000 for part in parts[:-1])
    assert "".join(parts) == "".join(whole)
    lines(world)


def test_a_page_takes_its_time_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lived()
    monkeypatch.setattr(limits, "EXPORT_TIME", timedelta(seconds=-1))
    assert len(pages(world)) > 5
    lines(world)


def test_what_is_written_meanwhile_is_in_it_or_not_and_what_stays_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lived()
    monkeypatch.setattr(limits, "EXPORT_BYTES", 1_500)
    stays = {memory.content for memory in world.memories()} - {"Tried pytest, it worked."}
    first = exporting(world).page(world.owner, Wish(), None)
    world.delete(next(memory.id for memory in world.memories() if memory.content == "Tried pytest, it worked."))
    world.add("Written meanwhile.")
    data, cursor = first.data, first.next_cursor
    while cursor is not None:
        page = exporting(world).page(world.owner, Wish(), cursor)
        data, cursor = data + page.data, page.next_cursor
    told = {line["content"] for line in map(json.loads, data.rstrip("\n").split("\n")) if line["kind"] == "memory"}
    assert stays <= told <= stays | {"Tried pytest, it worked.", "Written meanwhile."}


def test_a_damaged_memory_is_named_and_the_rest_is_exported() -> None:
    world = lived()
    memory = world.memories()[0]
    world.table.write(world.owner, [Update(names.MEMORY + memory.id, set={"sealed": b"damaged"})])
    told = lines(world)
    assert [line["id"] for line in told if line["kind"] == "damaged"] == [memory.id]
    assert len(memories(told)) == 4


def test_a_text_that_rests_on_a_memory_which_is_gone_is_not_in_it() -> None:
    world = lived()
    world.delete(next(memory.id for memory in world.memories() if "tea" in memory.content))
    assert "tea" not in "".join(pages(world))


def test_of_the_persona_and_suggestions_only_what_stands_is_in_it() -> None:
    world = World()
    tea, rust = world.add("I like tea very much."), world.add("I write Rust at work.")
    commits = DocumentCommits(world.now.commits)
    said = [["traits", "drinks tea", [tea.id]], ["languages", "Rust", [rust.id]]]
    commits.write(world.owner, persona.place, lambda _opened, _standing: {"statements": said, "fact_count": 2})
    for number, basis in enumerate((tea.id, rust.id)):
        suggest(world, f"01ARZ3NDEKTSV4RRFFQ69G5FA{number}", f"title {number}", basis)
    assert "drinks tea" in "".join(pages(world))
    world.delete(tea.id)
    told = lines(world)
    (portrait,) = [line for line in told if line["kind"] == "persona"]
    assert portrait["fields"]["statements"] == [["languages", "Rust", [rust.id]]]
    assert [line["fields"]["title"] for line in told if line["kind"] == "suggestion"] == ["title 1"]


def test_a_cursor_is_of_one_owner_and_one_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lived()
    monkeypatch.setattr(limits, "EXPORT_BYTES", 1_000)
    cursor = exporting(world).page(world.owner, Wish(), None).next_cursor
    assert cursor is not None
    for owner, wish in ((world.owner, Wish(credentials=True)), ("nobody" * 8, Wish())):
        with pytest.raises(InvalidCursor):
            exporting(world).page(owner, wish, cursor)


def test_a_secret_written_after_an_export_began_is_masked_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lived()
    later = next(memory for memory in world.memories() if memory.content == "Tried pytest, it worked.")
    monkeypatch.setattr(limits, "EXPORT_BYTES", 1_000)
    first = exporting(world).page(world.owner, Wish(credentials=True), None)
    world.add("The password: Later5ecret!!")
    world.edit(later.id, content="The api password is An0therSecret!!")
    old = {"kind": "memory", "content": "The password: Brought5ecret!!", "created_at": "2020-01-01T00:00:00Z"}
    send(world, file_of(old))
    world.tidy()
    data, cursor = first.data, first.next_cursor
    while cursor is not None:
        page = exporting(world).page(world.owner, Wish(credentials=True, history=False), cursor)
        data, cursor = data + page.data, page.next_cursor
    told = [json.loads(line) for line in data.rstrip("\n").split("\n")]
    masked = {line["content"] for line in told if line.get("masked")}
    assert masked >= {"The password: ***", "The api password is ***"}
    assert SECRET in data
    assert "5ecret" not in data.replace(SECRET, "")
    assert "An0ther" not in data
    assert len(world.now.auditing.looks(world.owner, 10, None).entries) == 1
    assert "Later5ecret!!" in "".join(pages(world, credentials=True)), "the next one is on record, and tells it"
    assert len(world.now.auditing.looks(world.owner, 10, None).entries) == 2


def test_a_cursor_ends_an_hour_after_its_export_began(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lived()
    monkeypatch.setattr(limits, "EXPORT_BYTES", 1_000)
    cursor = exporting(world).page(world.owner, Wish(credentials=True), None).next_cursor
    world.clock.advance(3_500)
    again = exporting(world).page(world.owner, Wish(credentials=True), cursor).next_cursor
    assert again is not None
    world.clock.advance(101)
    for late in (cursor, again):
        with pytest.raises(InvalidCursor, match="too long ago"):
            exporting(world).page(world.owner, Wish(credentials=True), late)


def test_the_longest_cursor_is_one_that_a_request_may_bring() -> None:
    world = lived()
    opened = world.now.vaults.open(world.owner)
    assert opened is not None
    kinds = ("header", "memory", "scene", "persona", "suggestion", "active", "settings", "damaged")
    at = _At(2**42, 5, "suggestion#" + "Z" * 40, "f" * 64, dict.fromkeys(kinds, 99_999))
    cursor = exporting(world)._answer(opened, Wish(), at, []).next_cursor
    assert cursor is not None
    assert len(cursor) <= CURSOR_CHARACTERS


def test_who_has_nothing_exports_nothing() -> None:
    assert [line["kind"] for line in lines(World())] == ["header", "manifest"]


def test_the_header_says_how_many_notes_of_an_open_session_are_not_in_it() -> None:
    world = World()
    assert lines(world)[0]["open_session"] is None
    world.now.sessions.open(world.owner, None, None)
    assert lines(world)[0]["open_session"] == {"notes": 0}
    world.now.sessions.note(world.owner, Note("Remember this: the port is 8443.", world.clock()))
    told = lines(world, credentials=True)
    assert told[0]["open_session"] == {"notes": 1}
    assert "8443" not in json.dumps(told)
    world.now.sessions.end(world.owner)
    world.work_off()
    told = lines(world)
    assert told[0]["open_session"] is None
    assert [memory["content"] for memory in memories(told)] == ["the port is 8443."]
