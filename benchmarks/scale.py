"""How what one owner costs grows with the number of memories: fills the running local stack and takes one line of figures per size."""

import base64
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.dynamo_type import Item as Stored

from benchmarks import processor
from benchmarks.facts import queries
from benchmarks.filling import conversations, fill
from benchmarks.operations import Row
from benchmarks.requests import Person
from local.emulation.dynamodb import LOCK
from local.emulation.partitions import touch
from local.resources import REGION
from local.stack import Stack
from shared import bootstrap, config
from shared.adapters.dynamodb_words import stored
from shared.bootstrap import recall
from shared.domain.memory import Memory
from shared.ports import Item
from shared.recall.building import Builder
from shared.recall.index import Where
from shared.recall.indexes import Indexes
from shared.text.tokens import query_terms

AT_ONCE: Final = 40
"""Memories per journal object: the journal of a year is benchmarks.growth's business."""
HEADER: Final = (
    f"{'memories':>9}{'search: steps':>15}{'read units':>12}{'list: steps':>13}{'read units':>12}{'add: units':>12}"
    f"{'handler p50':>13}{'p95 ms':>8}{'index p50':>11}{'p95 ms':>8}{'index MB':>10}{'open ms':>9}{'build s':>9}"
)


@dataclass(frozen=True, slots=True)
class Indexed:
    """An owner's index: bytes sealed, processor seconds to build it, milliseconds to open it and, ascending, of each search in it."""

    size: int
    memories: int
    built: float
    opened: float
    searched: Sequence[float]


@dataclass(frozen=True, slots=True)
class Grown:
    """The figures of one size."""

    size: int
    index: Indexed
    spent: processor.Spent
    rows: Sequence[Row]

    def __str__(self) -> str:
        """The line of the table."""
        warm = {row.operation: row for row in self.rows if row.state == "warm"}
        cold = next(row for row in self.rows if (row.operation, row.state) == ("search", "cold"))
        found, listed, added = warm["search"], warm["list"], warm["add"]
        times = [processor.percentile(self.spent.process, share) for share in (0.5, 0.95)]
        inside = [processor.percentile(self.index.searched, share) for share in (0.5, 0.95)]
        return (
            f"{self.size:>9}{f'{found.answered} / {cold.answered}':>15}{found.measured.cost.read_units:>12.0f}"
            f"{listed.answered:>13}{listed.measured.cost.read_units:>12.0f}{added.measured.cost.write_units:>12.0f}"
            f"{times[0]:>13.1f}{times[1]:>8.1f}{inside[0]:>11.2f}{inside[1]:>8.2f}"
            f"{self.index.size / 1e6:>10.2f}{self.index.opened:>9.0f}{self.index.built:>9.1f}"
        )


def filled(stack: Stack, size: int) -> tuple[Person, list[str]]:
    """Return somebody with so many memories, and their texts. They go into the emulated table itself: the same items as by requests,
    which would take the largest an hour."""
    person = Person(stack, f"owner-of-{size}")
    texts: list[str] = []

    def told() -> Iterator[list[Memory]]:
        for memories in conversations(random.Random(size), size, datetime.now(UTC), at_once=AT_ONCE):
            texts.extend(memory.content for memory in memories)
            yield memories

    fill(bootstrap.vaults(), person.owner, told(), emulated)
    return person, texts


def emulated(owner: str, made: Sequence[Item]) -> None:
    """Store items in the table of the running local stack, past DynamoDB's API."""
    table = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].get_table(config.storage().table_name)
    for item in made:
        raw = stored(owner, item)
        texts = {name: {"B": base64.b64encode(value["B"]).decode()} for name, value in raw.items() if "B" in value}
        keys = DynamoType(raw[table.hash_key_attr]), DynamoType(raw[table.range_key_attr])
        with LOCK:
            table.items[keys[0]][keys[1]] = Stored(*keys, raw | texts)
            touch(table, *keys)


def indexed(person: Person, texts: Sequence[str]) -> Indexed:
    """Build the owner's index, open it and search in it."""
    started = time.process_time()
    built = Builder(recall.indexes()).build(person.owner)
    seconds = time.process_time() - started
    if built is None:
        raise RuntimeError("nothing was indexed")
    indexes = Indexes(bootstrap.vaults())
    owner = indexes.vaults.open(person.owner, changes=True, beside=partial(indexes.fetch, person.owner))
    if owner is None:
        raise RuntimeError("nobody is there")
    started = time.process_time()
    index = indexes.read(owner)
    opened = (time.process_time() - started) * 1e3
    searched = []
    for query in queries(texts, random.Random(5)):
        started = time.process_time()
        index.search(query_terms(query, now=datetime.now(UTC)), where=Where(statuses=frozenset({0, 2}))).candidates()
        searched.append((time.process_time() - started) * 1e3)
    return Indexed(built.size, built.memories, seconds, opened, sorted(searched))
