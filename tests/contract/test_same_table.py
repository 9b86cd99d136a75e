"""The fake and the adapter, side by side: whatever is done to both, they answer the same."""

import itertools
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.domain.errors import Refused
from shared.ports import Check, Condition, Delete, Item, Put, Table, Update, Write
from tests.contract.aws import Aws
from tests.fakes import MemoryTable

OWNERS = (f"owner{number}" for number in itertools.count())
"""Every example has an owner of its own, so that one account serves all."""
KEYS = ["head", "head#1", "m#1", "m#2"]
sks = st.sampled_from(KEYS)
counts = st.integers(-2, 2)
attributes = st.fixed_dictionaries(
    {}, optional={"version": counts, "ttl": counts, "text": st.sampled_from(["", "花", "x"])}
)
conditions = st.builds(
    Condition,
    absent=st.booleans(),
    exists=st.booleans(),
    equals=st.fixed_dictionaries({}, optional={"version": st.none() | counts, "text": st.none() | st.just("花")}),
    at_most=st.fixed_dictionaries({}, optional={"version": counts}),
    absent_or_expired=st.none() | counts,
)
maybe = st.none() | conditions
changes = st.fixed_dictionaries(
    {"set": st.fixed_dictionaries({"text": st.sampled_from(["a", "b"])})},
    optional={
        "set_once": st.fixed_dictionaries({"ttl": counts}),
        "add": st.fixed_dictionaries({"version": counts}),
        "remove": st.just(["other"]),
    },
)
writes = (
    st.builds(lambda sk, item, condition: Put({"sk": sk, **item}, condition), sks, attributes, maybe)
    | st.builds(lambda sk, parts, condition: Update(sk, **parts, condition=condition), sks, changes, maybe)
    | st.builds(Delete, sks, maybe)
    | st.builds(Check, sks, conditions.filter(lambda condition: condition != Condition()))
)
transactions = st.lists(writes, min_size=1, max_size=3, unique_by=lambda write: write.sk)


def outcome(table: Table, owner: str, transaction: list[Write]) -> Any:
    try:
        if len(transaction) == 1 and isinstance(transaction[0], Update):
            return table.update(owner, transaction[0])
        table.write(owner, transaction)
    except Refused as refused:
        return refused.items
    return None


def pages(
    table: Table, owner: str, prefix: str, *, limit: int, descending: bool
) -> list[tuple[list[Item], str | None]]:
    found: list[tuple[list[Item], str | None]] = []
    after: str | None = None
    while not found or after is not None:
        page = table.query(owner, prefix, after=after, limit=limit, descending=descending)
        found.append((page.items, page.after))
        after = page.after
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(transactions, max_size=10), st.sampled_from(["", "head", "m#", "x"]), st.integers(1, 4), st.booleans())
def test_fake_and_adapter_answer_the_same(
    aws: Aws, history: list[list[Write]], prefix: str, limit: int, descending: bool
) -> None:
    fake, owner = MemoryTable(), next(OWNERS)
    for transaction in history:
        assert outcome(aws.table, owner, transaction) == outcome(fake, owner, transaction)
    assert aws.table.get(owner, KEYS) == fake.get(owner, KEYS)
    real = pages(aws.table, owner, prefix, limit=limit, descending=descending)
    assert real == pages(fake, owner, prefix, limit=limit, descending=descending)
