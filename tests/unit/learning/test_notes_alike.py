"""Which notes say the same, and what becomes of those that do."""

import pytest

from shared.learning.alike import alike
from shared.learning.notes import Note, merged
from tests.builders import World


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
    ("one", "other", "same"),
    [
        ("部署日是每周一上午十点", "部署日是每周一上午十点。", True),
        ("部署日是每周一上午十点开始的", "部署日是每周一上午十点开始", True),
        ("部署日是每周一上午十点", "部署日是每周五下午三点", False),
        ("I prefer tabs over spaces", "I prefer  Tabs over spaces.", True),
        ("I prefer tabs over spaces", "I drink tea without sugar", False),
        ("the port is 8443", "the port is 8444", False),
        ("a", "a", True),
        ("a", "b", False),
        ("We decided to use Redis for the session cache", "We decided to use Redis for the product cache", False),
        ("我们决定订单服务用 PostgreSQL 数据库", "我们决定支付服务用 PostgreSQL 数据库", False),
        ("I prefer that Alice reviews every change of mine", "I prefer that Clara reviews every change of mine", False),
        ("Alice prefers that Clara reviews the change", "Clara prefers that Alice reviews the change", False),
        ("We decided to use the Redis cache", "So, we decided to use Redis cache!", True),
        ("We decided to use Redis for the cache", "We decided to use Redis for the cache here", True),
        ("We decided to use Redis for the cache", "We decided not to use Redis for the cache", False),
        ("We decided we use the Java client library", "We decided we use the JavaScript client library", False),
        ("我们决定使用 Redis 做缓存服务", "我们决定不使用 Redis 做缓存服务", False),
        ("我们的发布日定在每周二和周三下午", "我们的发布日定在每周二和周三下午四点", False),
        ("The team meets every Monday in room nine", "The team meets every Monday in room ten", False),
        ("请把评审安排在周一上午", "把评审安排在周一上午吧", True),
    ],
)
def test_which_notes_say_the_same(one: str, other: str, *, same: bool) -> None:
    assert (alike(one, other), alike(other, one)) == (same, same)


def test_of_two_notes_of_which_one_holds_the_other_the_longer_stays() -> None:
    at = World().clock
    longer = Note("We decided to use Redis for the cache here", at())
    at.advance(60)
    (one,) = merged([longer, Note("We decided to use Redis for the cache", at())])
    assert (one.message, one.at) == (longer.message, at())


def test_decisions_about_different_things_are_all_kept() -> None:
    world = World()
    told = ["We decided to use Redis for the session cache", "We decided to use Redis for the product cache"]
    for message in told:
        world.now.sessions.note(world.owner, Note(message, world.clock()))
    world.now.sessions.end(world.owner)
    world.work_off()
    assert world.texts() == sorted(told)
