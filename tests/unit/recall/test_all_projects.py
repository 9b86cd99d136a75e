"""Searching all projects, however many there are."""

from functools import partial

from shared.domain.memory import Scope
from shared.ports import Page
from shared.recall.search import Question
from tests.builders import World
from tests.fakes import MemoryTable


class ShortPages(MemoryTable):
    """A table whose pages of projects hold one: a page of DynamoDB holds more than a test should make."""

    def query(
        self,
        owner: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> Page:
        ask = partial(super().query, owner, prefix, after=after, descending=descending)
        return ask(limit=1 if prefix == "s#" else limit)


def test_every_project_is_searched_also_those_beyond_the_first_page() -> None:
    world = World()
    for number in range(3):
        world.add(f"Project {number} is written in Zig", scope=Scope.PROJECT, project=f"p{number}")
    world.table.__class__ = ShortPages
    found = world.now.searcher.search(world.owner, Question("Zig", project="*"))
    assert {hit.memory.project for hit in found.hits} == {"p0", "p1", "p2"}
