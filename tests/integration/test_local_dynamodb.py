"""The local stack's DynamoDB against plain moto, among threads, at its limits, and by its meter."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.integration.local_table import TABLE, Client, key, querying, store, text, updating, within

Operation = tuple[str, dict[str, Any]]


@pytest.fixture
def table() -> Iterator[Client]:
    with store() as client:
        yield client


def run(client: Client, operation: Operation) -> Any:
    """What an operation answers, or the error with everything a caller can see."""
    name, arguments = operation
    try:
        answer = getattr(client, name)(**arguments)
    except ClientError as error:
        return {name: value for name, value in error.response.items() if name != "ResponseMetadata"}
    return {name: value for name, value in answer.items() if name not in {"ResponseMetadata", "ConsumedCapacity"}}


SORT_KEYS = st.sampled_from(["a", "ab", "abc", "b", "中", "中文", "\U0001f600", "z"])
OWNERS = st.sampled_from(["o", "p"])
KEYS = st.builds(key, SORT_KEYS, OWNERS)
INDEXED = st.fixed_dictionaries(
    {}, optional={"group": st.sampled_from(["g", "h"]).map(text), "moment": st.sampled_from("123").map(text)}
)
BODIES = st.fixed_dictionaries({"n": st.integers(-3, 3).map(lambda number: {"N": str(number)})})
ITEMS = st.builds(lambda where, index, body: {**where, **index, **body}, KEYS, INDEXED, BODIES)
CONDITIONS = st.sampled_from(
    [
        {},
        {"ConditionExpression": "attribute_exists(pk)"},
        {"ConditionExpression": "attribute_not_exists(pk)"},
        {"ConditionExpression": "n = :c", "ExpressionAttributeValues": {":c": {"N": "1"}}},
    ]
)


PUTS = st.builds(lambda item, condition: {"Item": item, **condition}, ITEMS, CONDITIONS)
DELETES = st.builds(lambda where, condition: {"Key": where, **condition}, KEYS, CONDITIONS)
UPDATES = st.builds(updating, KEYS, CONDITIONS, st.sampled_from(["add", "move", "drop"]))


PARTS = st.one_of(
    st.builds(lambda one, old: within("Put", one, old=old), PUTS, st.booleans()),
    st.builds(lambda one, old: within("Delete", one, old=old), DELETES, st.booleans()),
    st.builds(lambda one, old: within("Update", one, old=old), UPDATES, st.booleans()),
    st.builds(
        lambda one, old: within("ConditionCheck", one, old=old),
        DELETES.filter(lambda one: "ConditionExpression" in one),
        st.booleans(),
    ),
)
SORTED_BY = st.sampled_from(
    [
        ("", {}),
        (" AND {sort} = :s", {":s": text("ab")}),
        (" AND {sort} < :s", {":s": text("b")}),
        (" AND {sort} <= :s", {":s": text("b")}),
        (" AND {sort} > :s", {":s": text("ab")}),
        (" AND {sort} >= :s", {":s": text("2")}),
        (" AND {sort} BETWEEN :s AND :e", {":s": text("1"), ":e": text("b")}),
        (" AND begins_with({sort}, :s)", {":s": text("a")}),
        (" AND begins_with({sort}, :s)", {":s": text("中")}),
        (" AND begins_with({sort}, :s)", {":s": text("\U0001f600")}),
    ]
)


QUERIES = st.builds(querying, st.booleans(), SORTED_BY, st.booleans(), st.booleans())
OPERATIONS = st.one_of(
    PUTS.map(lambda one: ("put_item", {"TableName": TABLE, **one})),
    DELETES.map(lambda one: ("delete_item", {"TableName": TABLE, "ReturnValues": "ALL_OLD", **one})),
    UPDATES.map(lambda one: ("update_item", {"TableName": TABLE, "ReturnValues": "ALL_NEW", **one})),
    st.lists(PARTS, min_size=1, max_size=4).map(lambda parts: ("transact_write_items", {"TransactItems": parts})),
    KEYS.map(lambda where: ("get_item", {"TableName": TABLE, "Key": where})),
    st.lists(KEYS, min_size=1, max_size=4, unique_by=json.dumps).map(
        lambda keys: ("batch_get_item", {"RequestItems": {TABLE: {"Keys": keys}}})
    ),
    QUERIES.map(lambda one: ("query", {"TableName": TABLE, **one})),
)


@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(st.lists(OPERATIONS, min_size=1, max_size=14))
def test_every_operation_answers_as_plain_moto_does(operations: list[Operation]) -> None:
    with store(patched=False) as plain:
        expected = [run(plain, operation) for operation in operations]
    with store() as ours:
        assert [run(ours, operation) for operation in operations] == expected


@settings(max_examples=25, deadline=None, database=None, derandomize=True)
@given(st.lists(ITEMS, min_size=1, max_size=12), QUERIES, st.integers(1, 4))
def test_pages_of_any_size_join_to_the_whole_answer(
    items: list[dict[str, Any]], query: dict[str, Any], limit: int
) -> None:
    with store() as client:
        for item in items:
            client.put_item(TableName=TABLE, Item=item)
        whole = client.query(TableName=TABLE, **query)["Items"]
        joined: list[dict[str, Any]] = []
        start: dict[str, Any] = {}
        while True:
            page = client.query(TableName=TABLE, Limit=limit, **query, **start)
            assert page["ScannedCount"] <= limit
            joined += page["Items"]
            if "LastEvaluatedKey" not in page:
                break
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        assert joined == whole


def together(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Run the work on many threads that start at once; exceptions count as results."""
    gate = threading.Barrier(count)
    results: list[Any] = [None] * count

    def one(place: int) -> None:
        gate.wait()
        try:
            results[place] = work(place)
        except ClientError as error:
            results[place] = error.response["Error"]["Code"]

    threads = [threading.Thread(target=one, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_of_twenty_threads_exactly_one_wins_each_condition(table: Client) -> None:
    def claim(place: int) -> Any:
        item = {**key("prize"), "winner": text(str(place))}
        return table.put_item(TableName=TABLE, Item=item, ConditionExpression="attribute_not_exists(pk)")

    for _ in range(5):
        assert together(20, claim).count("ConditionalCheckFailedException") == 19
        table.delete_item(TableName=TABLE, Key=key("prize"))


def test_transactions_of_many_threads_add_up_and_leave_nothing_of_the_refused(table: Client) -> None:
    def commit(place: int) -> Any:
        return table.transact_write_items(
            TransactItems=[
                within(
                    "Put", {"Item": key(f"m-{place}"), "ConditionExpression": "attribute_not_exists(pk)"}, old=False
                ),
                within(
                    "Put", {"Item": key(f"d-{place % 5}"), "ConditionExpression": "attribute_not_exists(pk)"}, old=False
                ),
                within("Update", updating(key("head"), {}, "add"), old=False),
            ]
        )

    results = together(20, commit)
    assert results.count("TransactionCanceledException") == 15
    assert table.get_item(TableName=TABLE, Key=key("head"))["Item"]["n"] == {"N": "5"}
    assert (
        table.query(
            **{"TableName": TABLE, **querying(False, (" AND begins_with({sort}, :s)", {":s": text("m-")}), True, False)}
        )["Count"]
        == 5
    )


def test_undoing_leaves_moto_as_it_was() -> None:
    from moto.dynamodb.models.table import Table

    before = Table.query
    with store():
        assert Table.query is not before
    assert Table.query is before
