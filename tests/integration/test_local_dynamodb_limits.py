"""Limits, sizes, units and projections of the local stack's DynamoDB."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.dynamodb.models import dynamodb_backends

from local.emulation.metering import METER, item_size
from tests.integration.local_table import TABLE, Client, Clock, key, querying, refusal, store, text, updating, within


@pytest.fixture
def table() -> Iterator[Client]:
    with store() as client:
        yield client


def test_an_item_of_400_kb_fits_and_one_byte_more_does_not(table: Client) -> None:
    overhead = len("pk") + len("o") + len("sk") + len("a") + len("body")
    full = {**key("a"), "body": {"B": b"x" * (400 * 1024 - overhead)}}
    table.put_item(TableName=TABLE, Item=full)
    longer = {**key("a"), "body": {"B": b"x" * (400 * 1024 - overhead + 1)}}
    assert refusal(lambda: table.put_item(TableName=TABLE, Item=longer)) == "ValidationException"
    assert table.get_item(TableName=TABLE, Key=key("a"))["Item"] == full


def test_an_update_that_makes_an_item_too_large_changes_nothing(table: Client) -> None:
    table.put_item(TableName=TABLE, Item={**key("a"), "n": {"N": "1"}})
    change = {":b": {"B": b"x" * 410_000}, ":one": {"N": "1"}}
    assert (
        refusal(
            lambda: table.update_item(
                TableName=TABLE,
                Key=key("a"),
                UpdateExpression="SET b = :b ADD n :one",
                ExpressionAttributeValues=change,
            )
        )
        == "ValidationException"
    )
    assert table.get_item(TableName=TABLE, Key=key("a"))["Item"]["n"] == {"N": "1"}


def test_batch_writes_take_25_items_and_no_key_twice(table: Client) -> None:
    def write(count: int, *more: dict[str, Any]) -> Any:
        puts = [{"PutRequest": {"Item": key(str(place))}} for place in range(count)]
        return table.batch_write_item(RequestItems={TABLE: [*puts, *more]})

    write(25)
    assert refusal(lambda: write(26)) == "ValidationException"
    assert refusal(lambda: write(2, {"DeleteRequest": {"Key": key("1")}})) == "ValidationException"


def test_transactions_take_100_items_once_each_and_four_megabytes(table: Client) -> None:
    def transact(items: list[dict[str, Any]]) -> Any:
        return table.transact_write_items(TransactItems=[within("Put", {"Item": item}, old=False) for item in items])

    transact([key(str(place)) for place in range(100)])
    assert refusal(lambda: transact([key(str(place)) for place in range(101)])) == "ValidationException"
    assert refusal(lambda: transact([key("same"), key("same")])) == "ValidationException"
    large = [{**key(f"large-{place}"), "b": {"B": b"x" * 380_000}} for place in range(12)]
    assert refusal(lambda: transact(large)) == "ValidationException"
    assert "Item" not in table.get_item(TableName=TABLE, Key=key("large-0"))


def test_batch_reads_take_100_keys(table: Client) -> None:
    def read(count: int) -> Any:
        return table.batch_get_item(RequestItems={TABLE: {"Keys": [key(str(place)) for place in range(count)]}})

    assert read(100)["Responses"] == {TABLE: []}
    assert refusal(lambda: read(101)) == "ValidationException"


def test_a_transaction_sent_again_under_its_token_is_not_done_again_until_ten_minutes_later() -> None:
    clock = Clock()
    with store(clock=clock) as table:
        part = within("Update", updating(key("head"), {}, "add"), old=False)

        def add(amount: str = "1") -> Any:
            part["Update"]["ExpressionAttributeValues"][":one"] = {"N": amount}
            return table.transact_write_items(TransactItems=[part], ClientRequestToken="token")

        add()
        add()
        assert table.get_item(TableName=TABLE, Key=key("head"))["Item"]["n"] == {"N": "1"}
        assert refusal(lambda: add("2")) == "IdempotentParameterMismatchException"
        clock.now += 600
        add()
        assert table.get_item(TableName=TABLE, Key=key("head"))["Item"]["n"] == {"N": "2"}


def test_a_cursor_of_another_partition_is_refused(table: Client) -> None:
    table.put_item(TableName=TABLE, Item=key("a"))
    query = querying(False, ("", {}), True, False)
    foreign = {"ExclusiveStartKey": key("a", "p")}
    assert refusal(lambda: table.query(TableName=TABLE, **query, **foreign)) == "ValidationException"


def metered(work: Callable[[], Any]) -> tuple[float, float]:
    METER.reset()
    work()
    return METER.read_units, METER.write_units


def test_units_follow_item_sizes_consistency_transactions_and_indexes(table: Client) -> None:
    large = {**key("a"), "b": {"B": b"x" * 5000}}
    indexed = {**key("i"), "group": text("g"), "moment": text("1")}
    assert metered(lambda: table.put_item(TableName=TABLE, Item=large)) == (0, 5)
    assert metered(lambda: table.put_item(TableName=TABLE, Item=indexed)) == (0, 2)
    moved = updating(key("i"), {}, "move")
    assert metered(lambda: table.update_item(TableName=TABLE, **moved)) == (0, 3)
    assert metered(lambda: table.update_item(TableName=TABLE, **updating(key("i"), {}, "add"))) == (0, 1)
    assert metered(lambda: table.get_item(TableName=TABLE, Key=key("a"))) == (1, 0)
    assert metered(lambda: table.get_item(TableName=TABLE, Key=key("a"), ConsistentRead=True)) == (2, 0)
    keys: dict[str, Any] = {"Keys": [key("a"), key("i"), key("none")]}
    assert metered(lambda: table.batch_get_item(RequestItems={TABLE: keys})) == (2, 0)
    gets: list[Any] = [{"Get": {"TableName": TABLE, "Key": key("a")}}]
    assert metered(lambda: table.transact_get_items(TransactItems=gets)) == (4, 0)
    query = querying(False, ("", {}), True, False)
    assert metered(lambda: table.query(TableName=TABLE, **query)) == (1, 0)
    parts: list[Any] = [within("Update", updating(key("a"), {}, "add"), old=False)]
    assert metered(lambda: table.transact_write_items(TransactItems=parts)) == (0, 10)
    assert metered(lambda: table.delete_item(TableName=TABLE, Key=key("none"))) == (0, 1)


SIZES = [
    ({"S": "a中"}, 4),
    ({"B": b"1234"}, 4),
    ({"N": "0"}, 1),
    ({"N": "-12.50"}, 4),
    ({"N": "123000"}, 3),
    ({"BOOL": True}, 1),
    ({"NULL": True}, 1),
    ({"SS": ["ab", "c"]}, 3),
    ({"NS": ["1", "22"]}, 4),
    ({"BS": [b"1", b"22"]}, 3),
    ({"L": [{"S": "ab"}, {"N": "1"}]}, 3 + (1 + 2) + (1 + 2)),
    ({"M": {"key": {"S": "ab"}}}, 3 + 1 + 3 + 2),
]


@pytest.mark.parametrize(("value", "size"), SIZES, ids=str)
def test_sizes_follow_the_developer_guide(table: Client, value: dict[str, Any], size: int) -> None:
    item = {**key("a"), "v": value}
    table.put_item(TableName=TABLE, Item=item)
    assert table.get_item(TableName=TABLE, Key=key("a"))["Item"] == item
    kept = dynamodb_backends["123456789012"]["us-east-1"].tables[TABLE].all_items()[0]
    assert item_size(kept.attrs) == len("pk") + len("o") + len("sk") + len("a") + len("v") + size


def other_table(client: Client, keys: dict[str, str], *indexes: dict[str, Any]) -> None:
    """Create a table named "other"; `keys` maps attribute names to types, hash key first."""
    kinds = ["HASH", "RANGE"]
    declared = {**keys, **{name: "S" for index in indexes for name in index["names"]}}
    made = [
        {
            "IndexName": index["name"],
            "KeySchema": [
                {"AttributeName": name, "KeyType": kind} for name, kind in zip(index["names"], kinds, strict=False)
            ],
            "Projection": index["projection"],
        }
        for index in indexes
    ]
    client.create_table(
        TableName="other",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in zip(keys, kinds, strict=False)],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in declared.items()],
        **({"GlobalSecondaryIndexes": made} if made else {}),
    )


def test_number_keys_are_ordered_as_numbers(table: Client) -> None:
    other_table(table, {"pk": "S", "n": "N"})
    for number in ("10", "9", "-1", "2.5"):
        table.put_item(TableName="other", Item={"pk": text("o"), "n": {"N": number}})
    page = table.query(TableName="other", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": text("o")})
    assert [item["n"]["N"] for item in page["Items"]] == ["-1", "2.5", "9", "10"]


def test_tables_with_binary_keys_or_without_sort_key_still_answer(table: Client) -> None:
    other_table(table, {"pk": "S"})
    item = {"pk": text("o"), "v": text("1")}
    table.put_item(TableName="other", Item=item)
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": text("o")}}
    assert table.query(TableName="other", **query)["Items"] == [item]
    update = {"UpdateExpression": "SET v = :v", "ConditionExpression": "v = :w"}
    values = {":v": text("2"), ":w": text("none")}
    with pytest.raises(ClientError):
        table.update_item(TableName="other", Key={"pk": text("o")}, ExpressionAttributeValues=values, **update)
    assert table.get_item(TableName="other", Key={"pk": text("o")})["Item"] == item
    table.delete_table(TableName="other")
    other_table(table, {"pk": "S", "b": "B"})
    table.put_item(TableName="other", Item={"pk": text("o"), "b": {"B": b"\x00"}})
    assert table.query(TableName="other", **query)["Items"] == [{"pk": text("o"), "b": {"B": b"\x00"}}]


def test_indexes_show_what_they_project(table: Client) -> None:
    chosen = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["kept"]}
    other_table(
        table,
        {"pk": "S", "sk": "S"},
        {"name": "some", "names": ["group"], "projection": chosen},
        {"name": "all", "names": ["group"], "projection": {"ProjectionType": "ALL"}},
    )
    item = {**key("a"), "group": text("g"), "kept": text("k"), "left": text("l")}
    table.put_item(TableName="other", Item=item)
    query = {
        "KeyConditionExpression": "#g = :g",
        "ExpressionAttributeNames": {"#g": "group"},
        "ExpressionAttributeValues": {":g": text("g")},
    }
    some = table.query(TableName="other", IndexName="some", **query)["Items"]
    assert some == [{name: value for name, value in item.items() if name != "left"}]
    assert table.query(TableName="other", IndexName="all", **query)["Items"] == [item]


def test_an_index_cannot_be_read_consistently_and_an_unknown_one_not_at_all(table: Client) -> None:
    query = querying(True, ("", {}), True, False)
    assert refusal(lambda: table.query(TableName=TABLE, ConsistentRead=True, **query)) == "ValidationException"
    unknown = {**query, "IndexName": "none"}
    assert refusal(lambda: table.query(TableName=TABLE, **unknown)) == "ResourceNotFoundException"


def test_an_index_that_is_added_later_is_filled(table: Client) -> None:
    table.put_item(TableName=TABLE, Item={**key("a"), "new": text("n")})
    assert table.query(TableName=TABLE, **querying(False, ("", {}), True, False))["Count"] == 1
    schema = [{"AttributeName": "new", "KeyType": "HASH"}]
    added = {"IndexName": "later", "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
    table.update_table(
        TableName=TABLE,
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "group", "moment", "new")
        ],
        GlobalSecondaryIndexUpdates=[{"Create": added}],
    )
    query = {"KeyConditionExpression": "#n = :n", "ExpressionAttributeNames": {"#n": "new"}}
    values = {":n": text("n")}
    assert table.query(TableName=TABLE, IndexName="later", ExpressionAttributeValues=values, **query)["Count"] == 1


def test_a_page_ends_at_one_megabyte(table: Client) -> None:
    for place in range(4):
        table.put_item(TableName=TABLE, Item={**key(str(place)), "b": {"B": b"x" * 300_000}})
    first = table.query(TableName=TABLE, **querying(False, ("", {}), True, False))
    assert (first["Count"], first["LastEvaluatedKey"]) == (3, key("2"))
