"""A credential comes in as the text of a memory or not at all: no name, topic or tag can carry one past the mask."""

import json
from typing import Any

import pytest

from shared.domain.errors import Invalid
from shared.keeping.importing.course import Mode
from shared.learning.notes import Note
from tests.builders import World, conversation
from tests.unit.importing.sending import exported, lines, said, taken_in

PASSWORD = "hunter2Xy!9"
SECRETS = [f"my password is {PASSWORD}", f"密码是{PASSWORD}", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"]


def session(world: World, **more: Any) -> None:
    world.now.sessions.open(world.owner, more.get("project"), more.get("agent"))


def note(world: World, **more: Any) -> None:
    world.now.sessions.note(world.owner, Note("记住这个：我喜欢茶", world.clock(), **more))


def hand_in(world: World, **more: Any) -> None:
    world.now.accepting.accept(world.owner, conversation("记住：我喜欢茶", **more))


@pytest.mark.parametrize("masked", ["password: ***", "password: ＊＊＊", "密码：＊*＊", "password: *\u200b**"])
def test_a_mask_of_any_width_overwrites_no_secret(masked: str) -> None:
    world = World()
    memory = world.add(f"password: {PASSWORD}")
    with pytest.raises(Invalid):
        world.edit(memory.id, content=masked)
    task = taken_in(world, lines(said(masked, id=memory.id)), mode=Mode.OVERWRITE)
    assert task.report == [{"line": 1, "reason": "masked_credential"}]
    assert world.texts() == [f"password: {PASSWORD}"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    ("door", "field"),
    [
        (session, "project"),
        (session, "agent"),
        (note, "topic"),
        (hand_in, "project"),
        (hand_in, "agent"),
        (hand_in, "session_id"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_name_with_a_credential_is_refused_and_nothing_changes(door: Any, field: str, secret: str) -> None:
    world = World()
    world.add("Something")
    before = world.table.partition(world.owner)
    with pytest.raises(Invalid) as refused:
        door(world, **{field: secret})
    assert PASSWORD not in str(refused.value.details)
    assert [detail["field"] for detail in refused.value.details] == [field]  # type: ignore[index, union-attr]
    assert world.table.partition(world.owner) == before
    assert world.stored("conversations") == []


@pytest.mark.parametrize("secret", SECRETS)
def test_a_tag_with_a_credential_is_refused_however_its_words_are_joined(secret: str) -> None:
    world = World()
    tag = "#" + secret.replace(" ", "_")
    with pytest.raises(Invalid):
        note(world, tags=(tag,))
    with pytest.raises(Invalid):
        world.add("Something", tags=[tag])
    note(world, tags=("#my_favourite_tea", "#密码学"))


@pytest.mark.parametrize("secret", SECRETS)
def test_an_imported_session_whose_name_is_a_credential_is_left_out(secret: str) -> None:
    world = World()
    line = said("We drink tea.", origin={"session_id": secret, "quote": f"quoted: {secret}", "model": secret})
    taken_in(world, lines(line, said("Of a session.", origin={"session_id": "monday"})))
    assert [memory.origin.session_id for memory in world.memories()] in (["monday", None], [None, "monday"])
    assert secret not in "".join(exported(world, credentials=False))
    assert PASSWORD not in json.dumps("".join(exported(world, credentials=False)))
