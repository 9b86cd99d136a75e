"""Which notes are kept, and what becomes of them."""

import pytest

from shared.domain import limits
from shared.domain.errors import Invalid
from shared.domain.memory import Category, Scope, Source
from shared.learning.notes import Note, likeness, merged
from shared.storage import names
from tests.builders import World
from tests.unit.importing.sending import exported, taken_in
from tests.unit.keeping.forgetting.test_forgetting import forget
from tests.unit.keeping.sessions.noting import begin, end, note
from tests.unit.storage.opening import everything_said
from tests.unit.storage.soundness import assert_sound, settle

OWNER_WORD = "zebra"


@pytest.mark.parametrize(
    ("message", "points", "saved", "reason"),
    [
        ("我们决定用 PostgreSQL", (), True, "trigger"),
        ("I prefer tabs over spaces", (), True, "trigger"),
        ("What time is it?", (), False, "no_trigger"),
        ("今天天气怎么样？", (), False, "no_trigger"),
        ("Here is what we found", ("The API is slow on Mondays",), True, "key_points"),
        ("记住这个：花生过敏", (), True, "forced"),
        ("save this: the port is 8443", (), True, "forced"),
        ("我决定用 Redis，不要保存", (), False, "suppressed"),
        ("We decided on Redis. Don't save this.", ("Redis",), False, "suppressed"),
        ("the zebra crossing is closed", (), True, "custom_keyword"),
        ("I prefer the giraffe option", (), False, "excluded"),
        ("my password is hunter2Xy!", (), True, "trigger"),
    ],
)
def test_a_note_is_kept_where_its_words_ask_for_it(
    message: str, points: tuple[str, ...], reason: str, *, saved: bool
) -> None:
    world = World()
    world.choose(custom_keywords={"zh": [], "en": [OWNER_WORD]}, excluded_keywords={"zh": [], "en": ["giraffe"]})
    begin(world)
    noted = note(world, message, *points)
    assert (noted.saved, noted.reason) == (saved, reason)
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert session.notes == int(saved)


def test_each_distinct_key_point_becomes_one_memory_of_the_session() -> None:
    world = World()
    begun = begin(world)
    note(world, "我们决定用 PostgreSQL 做主库", "主库用 PostgreSQL", "端口是 5432", topic="数据库")
    note(world, "主库的端口", "端口是 5432", tags=("#infra",))
    note(world, "I prefer small commits, always.")
    ended = end(world)
    assert (ended.session_id, ended.notes) == (begun.session.id, 3)
    memories = {memory.content: memory for memory in world.memories()}
    assert set(memories) == {"主库用 PostgreSQL", "端口是 5432", "I prefer small commits, always."}
    one = memories["主库用 PostgreSQL"]
    assert (one.scope, one.project, one.source, one.origin.session_id) == (
        Scope.PROJECT,
        "atlas",
        Source.AUTO,
        begun.session.id,
    )
    assert set(one.tags) == {"#数据库", "#infra"}
    assert one.origin.quote == "我们决定用 PostgreSQL 做主库"
    assert memories["I prefer small commits, always."].category is Category.PREFERENCE
    assert world.now.sessions.current(world.owner) is None
    assert world.sks(names.NOTE) == []
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        (
            "Remember this: ",
            "the harbour has many piers and each of them has a number, a keeper and a boat, " * 4 + "all.",
        ),
        ("记住这个：", "港口有很多码头，每个码头都有编号和看守人，" * 9 + "都在"),
    ],
)
def test_what_was_asked_for_to_be_kept_is_kept_though_it_is_longer_than_a_fact(wish: str, text: str) -> None:
    world = World()
    begin(world)
    assert note(world, wish + text).saved
    end(world)
    assert world.texts() == [text]


def test_a_note_that_gives_no_memory_is_counted() -> None:
    world = World()
    begin(world)
    assert note(world, "记住这个：" + "港口有很多码头" * 100).saved
    end(world)
    (task,) = world.now.tasks.list(world.owner, limit=1)[0]
    assert (world.texts(), task.learned["discarded"]) == ([], 1)


def test_notes_that_are_alike_become_one_and_only_those_together_share_their_tags() -> None:
    at = World().clock
    first = Note("We decided to deploy on Monday morning.", at(), ("Deploys are on Monday",), "deploy")
    at.advance(60)
    alike = Note("we decided to deploy on monday morning!", at(), ("Two reviewers",))
    at.advance(3600)
    later = Note("The office moves to Lisbon in May.", at(), (), None, ("#office",))
    notes = merged([later, alike, first])
    assert [(one.key_points, one.tags) for one in notes] == [
        (("Deploys are on Monday", "Two reviewers"), ("#deploy",)),
        ((), ("#office",)),
    ]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("部署日是每周一上午十点", "部署日是每周一上午十点。", True),
        ("部署日是每周一上午十点开始的", "部署日是每周一上午十点开始", True),
        ("部署日是每周一上午十点", "部署日是每周五下午三点", False),
        ("I prefer tabs over spaces", "I prefer  Tabs over spaces.", True),
        ("I prefer tabs over spaces", "I drink tea without sugar", False),
        ("the port is 8443", "the port is 8444", False),
        ("a", "a", True),
        ("a", "b", False),
    ],
)
def test_how_alike_two_notes_are(one: str, other: str, *, alike: bool) -> None:
    assert (likeness(one, other) > limits.NOTES_ALIKE) is alike


def test_words_of_notes_are_sealed_and_secrets_are_cut_out_of_what_becomes_of_them() -> None:
    world = World()
    begin(world, "地图")
    note(world, "My wifi password is hunter2Xy!", topic="家")
    raw = repr(dict(world.table.partition(world.owner))).encode() + world.objects.everything()
    for word in ("hunter2Xy!", "wifi", "地图", "家"):
        assert word.encode() not in raw
    end(world)
    (memory,) = world.memories()
    assert (memory.content, memory.category) == ("My wifi password is ***", Category.CREDENTIAL)
    assert memory.origin.quote == "My wifi password is ***"


def test_what_is_forgotten_leaves_the_open_session_too() -> None:
    world = World()
    begin(world)
    note(world, "记住这个：我对花生过敏")
    note(world, "Remember this: the host is atlas.")
    forget(world, query="花生")
    world.tidy()
    assert "花生" not in everything_said(world)
    end(world)
    assert world.texts() == ["the host is atlas."]
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize(
    "point", ["  ", "\u200b", "我的密码是 ***", "很" * 501], ids=["blank", "unseen", "mask", "long"]
)
def test_a_key_point_that_no_memory_can_say_is_refused_with_its_note(point: str) -> None:
    world = World()
    begin(world)
    with pytest.raises(Invalid) as refused:
        note(world, "记住这个：我喜欢茶", "我喜欢茶", point)
    assert refused.value.details[0]["field"] == "key_info"  # type: ignore[index]
    end(world)
    assert world.texts() == []


@pytest.mark.parametrize(
    ("topic", "tags"),
    [
        ("error handling", ("#error-handling",)),
        ("数据库", ("#数据库",)),
        ("C# and\tF#", ("#C-and-F",)),
        ("# #", ()),
        ("\u202e\u200b", ()),
        ("w" * 63, ("#" + "w" * 63,)),
    ],
)
def test_a_topic_becomes_a_tag_that_an_import_takes(topic: str, tags: tuple[str, ...]) -> None:
    world, elsewhere = World(), World()
    begin(world)
    note(world, "记住这个：我喜欢茶", "我喜欢茶", topic=topic)
    end(world)
    assert [memory.tags for memory in world.memories()] == [tags]
    assert taken_in(elsewhere, *exported(world)).progress["refused"] == 0
    assert [memory.tags for memory in elsewhere.memories()] == [tags]
