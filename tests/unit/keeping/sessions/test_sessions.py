"""Sessions: notes are kept as they are made, and become memories once, whoever dies and however many ask."""

import json

import pytest

from shared.domain import limits
from shared.domain.errors import Invalid, NotFound, NotPossibleNow
from shared.domain.memory import Category, Scope, Source
from shared.domain.naming import ACTIVE_PROJECT
from shared.learning.notes import Note, body_of, note_of
from shared.ports import Delete, Update
from shared.storage import names
from tests.builders import World
from tests.unit.importing.sending import exported, taken_in
from tests.unit.keeping.forgetting.test_forgetting import forget
from tests.unit.keeping.sessions.speaking import begin, end, note
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
        ("记住这个", (), False, "nothing_said"),
        ("save this 🙏", (), False, "nothing_said"),
        ("Remember this. Thanks!", (), False, "nothing_said"),
        ("记住这个", ("花生过敏",), True, "forced"),
        ("Here is what we found", ("Do not save this: secret plan",), False, "suppressed"),
        ("Here is what we found", ("The giraffe is late", "The port is 8443"), False, "excluded"),
        ("No need to save this, my salary is 95000", (), False, "suppressed"),
        ("這個不用記，我打算離職", (), False, "suppressed"),
        ("How do I save this file in vim?", (), False, "no_trigger"),
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


def test_a_secret_of_ones_own_is_no_secret_of_the_project() -> None:
    world = World()
    begin(world)
    note(world, "Two passwords", "My wifi password is fake-99-salad", "The staging database password is fake-77-soup")
    end(world)
    places = {memory.content.split()[0]: memory.scope for memory in world.memories()}
    assert places == {"My": Scope.USER, "The": Scope.PROJECT}


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


def test_a_note_that_only_asked_to_be_kept_makes_no_empty_memory() -> None:
    """As one that an earlier version took in."""
    world = World()
    begin(world)
    kept = note_of(body_of(Note("记住这个", world.clock())))
    session = world.now.sessions.current(world.owner)
    opened = world.now.vaults.open(world.owner, [])
    assert session is not None
    assert opened is not None
    assert world.now.sessions._keep(opened, session, kept)
    end(world)
    (task,) = world.now.tasks.list(world.owner, limit=1)[0]
    assert (world.texts(), task.learned["discarded"]) == ([], 1)


@pytest.mark.parametrize(
    "wish",
    [
        "刚才那条不要保存",
        "don't save that",
        "Don't save what I just said.",
        "上一条别存",
        "Please don't save this. Thanks!",
        "Actually, don't save that.",
        "sorry, please don't store that last message",
        "等等，刚才那条消息别记了",
        "別存這個",
    ],
)
def test_a_wish_that_the_note_before_is_not_kept_takes_it_back(wish: str) -> None:
    world = World()
    begin(world)
    note(world, "We decided to use Postgres.")
    note(world, "我决定下周去北京")
    refused = note(world, wish)
    assert (refused.saved, refused.reason) == (False, "suppressed")
    assert "北京" not in everything_said(world)
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert session.notes == 1
    end(world)
    assert world.texts() == ["We decided to use Postgres."]
    settle(world)
    assert_sound(world)


@pytest.mark.parametrize(
    "wish",
    [
        "不要保存这次对话",
        "Don't save this conversation",
        "这个会话的内容都不要保存",
        "Nothing from this session should be saved.",
    ],
)
def test_a_wish_that_nothing_of_it_is_kept_drops_the_session(wish: str) -> None:
    world = World()
    begin(world)
    note(world, "We decided to use Postgres.")
    refused = note(world, wish)
    assert (refused.saved, refused.ended and refused.ended.task_id) == (False, None)
    assert world.now.sessions.current(world.owner) is None
    assert world.sks(names.NOTE) == []
    settle(world)
    assert_sound(world)


def test_a_wish_about_itself_leaves_the_note_before() -> None:
    world = World()
    begin(world)
    note(world, "We decided to use Postgres.")
    note(world, "I chose Redis for the cache, don't save this.")
    note(world, "Don't save the session token in local storage")
    note(world, "不要保存会话令牌")
    end(world)
    assert world.texts() == ["We decided to use Postgres."]


def test_words_that_were_excluded_after_a_note_keep_its_key_points_out() -> None:
    world = World()
    begin(world)
    note(world, "Here is what we found", "The giraffe is late", "The port is 8443")
    world.choose(excluded_keywords={"zh": [], "en": ["giraffe"]})
    end(world)
    assert world.texts() == []


@pytest.mark.parametrize("message", ["谢谢，拜拜", "好的", "done, thanks!", "汇总记忆", "summarise my notes"])
def test_a_goodbye_or_the_wish_to_sum_up_ends_the_session(message: str) -> None:
    world = World()
    begin(world)
    note(world, "记住这个：我对花生过敏")
    noted = note(world, message)
    world.work_off()
    assert (noted.saved, noted.reason) == (False, "ended")
    assert noted.ended is not None
    assert world.texts() == ["我对花生过敏"]
    assert note(world, message).ended is None


def test_opening_one_ends_the_last_and_tells_of_recent_memories() -> None:
    world = World()
    begin(world, None)
    note(world, "Remember this: I drink tea.")
    world.add("Deploys need two reviewers.", scope=Scope.PROJECT, project="atlas")
    world.add("Not of this project.", scope=Scope.PROJECT, project="borealis")
    world.add("I am allergic to peanuts.")
    begun = begin(world, "atlas")
    assert begun.ended is not None
    assert begun.ended.notes == 1
    assert [memory.content for memory in begun.digest] == ["I am allergic to peanuts.", "Deploys need two reviewers."]
    world.work_off()
    assert "I drink tea." in world.texts()


def test_without_a_session_a_note_begins_one_of_the_active_project() -> None:
    world = World()
    assert note(world, "Nothing worth keeping here").session_id is None
    assert world.now.sessions.current(world.owner) is None
    noted = note(world, "Remember this: the port is 8443.")
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert (session.id, session.notes, session.project) == (noted.session_id, 1, None)
    assert begin(world, ACTIVE_PROJECT).session.project is None


def test_after_half_an_hour_of_silence_it_ends_by_itself_at_the_next_note_or_by_maintenance() -> None:
    world = World()
    first = begin(world)
    note(world, "Remember this: the port is 8443.")
    world.tidy(hours=0.2)
    assert world.now.sessions.current(world.owner) is not None
    world.tidy(hours=0.6)
    assert world.now.sessions.current(world.owner) is None
    world.work_off()
    assert world.texts() == ["the port is 8443."]
    second = begin(world)
    note(world, "Remember this: the host is atlas.")
    world.clock.advance(3600)
    noted = note(world, "Remember this: the user is nacre.")
    world.work_off()
    assert noted.session_id not in {first.session.id, second.session.id}
    assert "the host is atlas." in world.texts()


def test_notes_can_be_dropped_and_an_end_without_a_session_is_refused() -> None:
    world = World()
    begin(world)
    note(world, "Remember this: the port is 8443.")
    used = world.head()["bytes"]
    ended = end(world, discard=True)
    assert (ended.notes, ended.task_id) == (1, None)
    assert world.texts() == []
    assert world.head()["bytes"] < used
    with pytest.raises(NotFound):
        end(world)


def test_switched_off_nothing_is_noted_and_a_session_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.choose(enabled=False)
    assert note(world, "Remember this: the port is 8443.").reason == "disabled"
    world.choose(enabled=True)
    monkeypatch.setattr(limits, "NOTES", 2)
    for number in range(2):
        note(world, f"Remember this: the port is {number}.")
    with pytest.raises(NotPossibleNow):
        note(world, "Remember this: one more.")


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


def test_a_damaged_note_keeps_none_of_the_others_out() -> None:
    world = World()
    begin(world)
    note(world, "Remember this: the port is 8443.")
    note(world, "Remember this: the host is atlas.")
    sk = names.NOTE + world.sks(names.NOTE)[0]
    world.table.write(world.owner, [Update(sk, set={"sealed": b"damaged"})])
    assert end(world).notes == 2
    assert world.texts() == ["the host is atlas."]


def test_a_note_that_somebody_took_away_holds_no_session_open(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    begun = begin(world)
    note(world, "Remember this: the port is 8443.")
    note(world, "Remember this: the host is atlas.")
    world.table.write(world.owner, [Delete(names.NOTE + world.sks(names.NOTE)[0])])
    assert end(world).notes == 2
    assert world.texts() == ["the host is atlas."]
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"damaged"' in line]
    assert [line["session"] for line in told] == [begun.session.id]
    settle(world)
    assert_sound(world)


def test_a_session_that_does_not_open_is_told_of_and_keeps_its_notes(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    begun = begin(world)
    note(world, "Remember this: the port is 8443.")
    world.table.write(world.owner, [Update(names.SESSION, set={"sealed": b"damaged"})])
    assert note(world, "记住这个：我对花生过敏").saved
    session = world.now.sessions.current(world.owner)
    assert session is not None
    assert (session.notes, session.project) == (2, None)
    assert begin(world).ended.notes == 2
    world.work_off()
    assert world.texts() == ["the port is 8443.", "我对花生过敏"]
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"damaged"' in line]
    assert {line["session"] for line in told} == {begun.session.id}


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
