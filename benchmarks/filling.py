"""Fills one owner's store by the storage code itself: what learning would leave behind, without thousands of requests.

Each conversation is one journal object, as a task's plan is, and one transaction that puts its items; then the head counts them.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from benchmarks.facts import facts
from shared.domain.ids import ulid
from shared.domain.memory import Category, Memory, Origin, Scope, Source, Status
from shared.ports import Item, Put, Update
from shared.storage import items, lines, names, sizes
from shared.storage.transactions import project_update
from shared.storage.vaults import Vaults

A_DAY: Final = 50
A_CONVERSATION: Final = 5
PROJECTS: Final = ("atlas", "billing", "记账小程序", "garden", "论文", "infra")
_IN_A_TRANSACTION: Final = 40
"""Memories; each takes two of the hundred writes that DynamoDB allows."""
_CATEGORIES: Final = [category for category in Category if category is not Category.CREDENTIAL]
LEAD_INS: Final = (("One more thing: ", ". Can you plan with that?"), ("对了，", "，麻烦你记一下。"))


def conversations(
    rng: random.Random, count: int, end: datetime, *, texts: Iterable[str] | None = None, at_once: int = A_CONVERSATION
) -> Iterator[list[Memory]]:
    """Yield `count` learned memories, `at_once` per conversation, fifty a day, the last ones at `end`; facts are made up unless given.

    Two of five conversations belong to one of six projects; each memory has a quote around its fact, as extraction leaves it.
    """
    told = islice(facts(rng) if texts is None else texts, count)
    made = 0
    while some := list(islice(told, at_once)):
        made += len(some)
        at = end - timedelta(days=(count - made) / A_DAY)
        at = at.replace(microsecond=at.microsecond // 1_000 * 1_000)
        task, session = ulid(at, rng.randbytes), f"session-{rng.getrandbits(48):x}"
        project = rng.choice(PROJECTS) if rng.random() < 0.4 else None
        yield [_learned(rng, text, at, project, task, session) for text in some]


def _learned(rng: random.Random, text: str, at: datetime, project: str | None, task: str, session: str) -> Memory:
    before, after = LEAD_INS[text[-1] >= "\u4e00"]
    return Memory(
        id=ulid(at, rng.randbytes),
        version=1,
        content=text,
        scope=Scope.PROJECT if project else Scope.USER,
        project=project,
        category=rng.choice(_CATEGORIES),
        importance=rng.randint(3, 9),
        source=Source.AUTO,
        status=Status.ACTIVE,
        created_at=at,
        updated_at=at,
        origin=Origin(task, session, at, f"{before}{text}{after}"[:200], "rules"),
    )


def fill(
    vaults: Vaults,
    owner: str,
    learned: Iterable[list[Memory]],
    put: Callable[[str, Sequence[Item]], None] | None = None,
) -> int:
    """Put the memories of conversations into journal and table of an owner and count them in the head; return how many.

    `put` stores items of an owner; by transactions of the vaults' table unless another is given.
    """
    keys = vaults.open_or_create(owner).keys
    store = put or _by_transactions(vaults)
    counters: Counter[str] = Counter()
    projects: Counter[tuple[str, str]] = Counter()
    for memories in learned:
        commit = ulid(memories[0].created_at, vaults.random)
        sealed = [items.seal(keys, memory, vaults.random) for memory in memories]
        body = lines.encode(one.line for one in sealed)
        vaults.objects.put(names.journal(owner, keys.epoch, commit), body, if_absent=True)
        counters.update({"journal_bytes": len(body), "bytes": len(body)})
        for one in sealed:
            pair = items.to_item(keys, one, commit), items.dedup_item(one.tag, one.memory.id)
            store(owner, pair)
            counted = sum(sizes.item_bytes(owner, item) for item in pair) + sizes.ACCESS_ALLOWANCE
            counters.update({"memories": 1, "active": 1, "bytes": counted})
            if one.memory.project:
                projects[one.scope, one.memory.project] += 1
    store(owner, ())
    now = vaults.clock()
    last = [project_update(keys, tag, name, count, now, vaults.random) for (tag, name), count in projects.items()]
    vaults.table.write(owner, [*last, Update(names.HEAD, add={**counters, "commits": 1})])
    return counters["memories"]


def _by_transactions(vaults: Vaults) -> Callable[[str, Sequence[Item]], None]:
    """Return what collects items and writes them many at a time; none at all means that the rest is to be written."""
    waiting: list[Item] = []

    def store(owner: str, made: Sequence[Item]) -> None:
        waiting.extend(made)
        while waiting and (not made or len(waiting) >= 2 * _IN_A_TRANSACTION):
            vaults.table.write(owner, [Put(item) for item in waiting[: 2 * _IN_A_TRANSACTION]])
            del waiting[: 2 * _IN_A_TRANSACTION]

    return store
