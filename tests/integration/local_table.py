"""A table like the template's, for tests of the local stack's DynamoDB, and requests to make of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from local.emulation import dynamodb as strict
from local.emulation.patches import Patches

TABLE = "table"
Client = Any


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@cache
def new_client() -> Client:
    """Clients are slow to make; data lives in moto and ends with each store."""
    return boto3.client("dynamodb", "us-east-1", aws_access_key_id="test", aws_secret_access_key="test")


@contextmanager
def store(*, patched: bool = True, clock: Clock | None = None) -> Iterator[Client]:
    patches = Patches()
    if patched:
        strict.install(patches, clock or Clock())
    try:
        with mock_aws():
            client = new_client()
            names = ("pk", "sk", "group", "moment")
            client.create_table(
                TableName=TABLE,
                BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
                GlobalSecondaryIndexes=[
                    {
                        "IndexName": "by_moment",
                        "KeySchema": [
                            {"AttributeName": "group", "KeyType": "HASH"},
                            {"AttributeName": "moment", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                ],
            )
            yield client
    finally:
        patches.undo()


def text(value: str) -> dict[str, str]:
    return {"S": value}


def key(sk: str, pk: str = "o") -> dict[str, Any]:
    return {"pk": text(pk), "sk": text(sk)}


def updating(where: dict[str, Any], condition: dict[str, Any], change: str) -> dict[str, Any]:
    values = {**condition.get("ExpressionAttributeValues", {})}
    names = {}
    expression = {"add": "ADD n :one", "move": "SET #m = :m, #g = :g", "drop": "REMOVE #m"}[change]
    if change == "add":
        values[":one"] = {"N": "1"}
    if change == "move":
        values |= {":m": text("9"), ":g": text("g")}
        names = {"#m": "moment", "#g": "group"}
    if change == "drop":
        names = {"#m": "moment"}
    made = {"Key": where, "UpdateExpression": expression, **condition}
    made |= {"ExpressionAttributeValues": values} if values else {}
    return made | ({"ExpressionAttributeNames": names} if names else {})


def within(transaction: str, one: dict[str, Any], *, old: bool) -> dict[str, Any]:
    wish = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"} if old else {}
    return {transaction: {"TableName": TABLE, **one, **wish}}


def querying(index: bool, sort: tuple[str, dict[str, Any]], forward: bool, filtered: bool) -> dict[str, Any]:
    names = ("group", "moment") if index else ("pk", "sk")
    made: dict[str, Any] = {
        "KeyConditionExpression": "#h = :h" + sort[0].format(sort="#r"),
        "ExpressionAttributeNames": {"#h": names[0], **({"#r": names[1]} if sort[0] else {})},
        "ExpressionAttributeValues": {":h": text("g" if index else "o"), **sort[1]},
        "ScanIndexForward": forward,
    }
    if index:
        made["IndexName"] = "by_moment"
    elif filtered:
        made["FilterExpression"] = "n = :n"
        made["ExpressionAttributeValues"][":n"] = {"N": "1"}
    return made


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        work()
    return str(caught.value.response["Error"]["Code"])
