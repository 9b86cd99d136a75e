"""What fills up a context whose message finds too few memories: the newest, or the most important, of the scopes at hand.

They are chosen from the columns of the index, each scope by itself, so that however busy another project is, it takes nobody's place. What
has changed since the index was built is for the caller to add.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from shared.domain.memory import Category, Memory
from shared.recall.candidates import Rows, Share, Where, best, tagged
from shared.recall.entries import CATEGORIES, unpacked_ids
from shared.recall.index import Index
from shared.text.stack_names import named

_LATER: Final = 2.0**32
"""More than any time, so that importance comes first."""
_CREDENTIAL: Final = CATEGORIES.index(Category.CREDENTIAL)
"""Nobody who asks who they are means their passwords: as fillers they come last."""


@dataclass(frozen=True, slots=True)
class Filling:
    """Wanted where fewer than `below` memories are found. The newest confirmed come first; with `by_importance`, important ones before
    them; with `stack_first`, those that name a language or tool before all others. `categories`: only these, none named: all; at `most`
    so many."""

    below: int
    by_importance: bool = False
    stack_first: bool = False
    categories: frozenset[Category] = frozenset()
    most: int | None = None

    def ordered(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return those of these memories that fill up, in their order."""
        wanted = [memory for memory in memories if not self.categories or memory.category in self.categories]
        return sorted(wanted, key=self._worth, reverse=True)[: self.most]

    def _worth(self, memory: Memory) -> tuple[bool, int, datetime, str]:
        of_stack = self.stack_first and bool(named(memory.content))
        weight = 0 if memory.category is Category.CREDENTIAL else memory.importance
        return of_stack, weight if self.by_importance else 0, memory.updated_at, memory.id


def chosen(filling: Filling, index: Index, where: Where, shares: Sequence[Share], masked: Collection[str]) -> list[str]:
    """Return the ids of what may fill up: so many of each scope as `shares` say."""
    columns = index.columns
    categories = frozenset(map(CATEGORIES.index, filling.categories)) or None
    allowed = replace(where, categories=categories).rows(columns)
    allowed[index.rows(masked)] = False
    found: list[Rows] = [np.zeros(0, np.int64)]
    for tags, most in shares:
        rows = np.flatnonzero(allowed & tagged(columns, tags))
        worth = columns.updated[rows].astype(np.float64)
        if filling.by_importance:
            worth += columns.importance[rows] * (columns.categories[rows] != _CREDENTIAL) * _LATER
        found.append(best(worth, columns.updated, rows, most))
    return unpacked_ids(columns.ids[np.concatenate(found)])
