"""Files of other tools through the same pages: records like all others, and nothing kept of what opens them."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from shared.domain.errors import Invalid
from shared.domain.memory import Scope, Status
from shared.keeping.foreign.detecting import FORMATS
from shared.keeping.importing.course import Mode
from shared.models.portability import ImportIn
from tests.builders import World
from tests.unit.importing.sending import Page, counted, lines, said, taken_in
from tests.unit.storage.soundness import assert_sound, settle

VECTORS: dict[str, Any] = json.loads(Path("tests/vectors/cmdcode.json").read_text(encoding="utf-8"))


def test_the_api_names_all_forms_that_are_read() -> None:
    assert set(get_args(ImportIn.model_fields["format"].annotation)) == {"auto", "nacre", *FORMATS}


def test_a_pasted_list_comes_in_like_any_file_page_by_page() -> None:
    world = World()
    task = taken_in(
        world,
        "- I drink my coffee black.\n- 我对花生过敏\n",
        f"- I drink tea.\n- {'long ' * 300}\n",
        scope=Scope.PROJECT,
        project="atlas",
    )
    assert world.texts() == ["I drink my coffee black.", "I drink tea.", "我对花生过敏"]
    assert counted(task) == {"imported": 3, "refused": 1}
    assert task.report == [{"line": 4, "reason": "too_long", "field": "content"}]
    assert {memory.project for memory in world.memories()} == {"atlas"}
    settle(world)
    assert_sound(world)


def test_a_file_of_another_tool_may_replace_what_stands() -> None:
    world = World()
    world.add("Gone.")
    rows = [{"id": "1", "memory": "Likes tea", "user_id": "ann", "created_at": "2025-07-01T10:00:00Z"}]
    task = taken_in(world, json.dumps({"results": rows}), mode=Mode.REPLACE)
    assert (counted(task), world.texts()) == ({"imported": 1, "forgotten": 1}, ["Likes tea"])


def test_what_opens_a_file_of_cmdcode_is_kept_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    key, user, data = (
        VECTORS["master_key"],
        VECTORS["user_id"],
        "".join(json.dumps(one) + "\n" for one in VECTORS["rows"]),
    )
    with pytest.raises(Invalid):
        world.now.importing.receive(world.owner, Page(data, master_key=key + "x", user_id=user))
    assert world.table.partition(world.owner) == {}
    begun = world.now.importing.receive(world.owner, Page(data, master_key=key, user_id=user))
    stored = world.objects.everything() + repr(world.table.partition(world.owner)).encode()
    stored += repr([one.body for one in world.maintenance.messages]).encode()
    assert key.encode() not in stored
    assert user.encode() not in stored
    world.tidy()
    task = world.now.tasks.get(world.owner, begun.task_id)
    assert counted(task)["imported"] >= 1
    out = capsys.readouterr()
    assert key not in out.out + out.err
    sent = ImportIn(data=data, master_key=key, user_id=user)
    assert key not in json.dumps(sent.request())


def test_pages_of_one_import_have_one_form() -> None:
    world = World()
    begun = world.now.importing.receive(world.owner, Page(lines(said("A.")), last=False))
    with pytest.raises(Invalid):
        world.now.importing.receive(world.owner, Page("- B.\n- C.\n", begun.task_id))
    with pytest.raises(Invalid):
        world.now.importing.receive(world.owner, Page("- B.\n- C.\n", begun.task_id, format="text"))


@pytest.mark.parametrize("mode", Mode)
def test_no_list_of_another_tool_revives_what_was_dismissed_here(mode: Mode) -> None:
    world = World()
    world.dismiss(world.add("I drink tea.", importance=9).id)
    world.clock.advance(1)
    taken_in(world, "- I drink tea.\n- I drink coffee.\n", format="text", mode=mode, visits=3)
    assert {memory.content: memory.status for memory in world.memories()} == {
        "I drink tea.": Status.DISMISSED,
        "I drink coffee.": Status.ACTIVE,
    }
