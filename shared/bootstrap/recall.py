"""Use cases of the recall function. Apart from the others, since only functions with the search layer can import them."""

from functools import cache

from shared import config
from shared.bootstrap import maintenance_queue, vaults
from shared.bootstrap.embeddings import meaning
from shared.recall.context import Contexts
from shared.recall.days import ByDay
from shared.recall.indexes import Indexes
from shared.recall.search import Searcher


@cache
def indexes() -> Indexes:
    return Indexes(vaults())


@cache
def searcher() -> Searcher:
    return Searcher(indexes(), maintenance_queue(), meaning())


@cache
def by_day() -> ByDay:
    return ByDay(searcher())


@cache
def contexts() -> Contexts:
    return Contexts(searcher(), config.context_seconds())
