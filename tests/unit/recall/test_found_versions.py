"""Two versions of a fact in one answer: the current one first, scores that fall, and an explanation that still adds up."""

import pytest

from shared.recall.search import Found, Question
from tests.builders import World

OLD, NEW = (
    "The harbour server of the shop listens on port 8080",
    "The harbour server of the shop listens on port 9090 today",
)
"""The older is the better text: it is shorter."""


@pytest.fixture
def found() -> Found:
    world = World()
    world.add("The harbour of Lyon opens on Tuesdays")
    world.add(OLD)
    world.clock.advance(30 * 86_400)
    world.add(NEW)
    return world.now.searcher.search(world.owner, Question("harbour server port", explain=True))


def test_the_current_one_is_first_and_scores_fall(found: Found) -> None:
    assert [hit.memory.content for hit in found.hits][:2] == [NEW, OLD]
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_what_an_exchange_gave_and_took_counts_as_recency(found: Found) -> None:
    for hit in found.hits:
        assert hit.why is not None
        assert sum(hit.why.added.values()) == pytest.approx(hit.score, rel=1e-12)
    new, old, other = (dict(hit.why.added) if hit.why else {} for hit in found.hits)
    assert new["text"] < old["text"]
    assert new["recency"] > old["recency"]
    assert other["text"] < new["text"]
