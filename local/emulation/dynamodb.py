"""moto's DynamoDB as a store: one request at a time, rollback by item, quick partitions, the real limits, metering."""

import base64
import copy
import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.dynamodb import models, responses
from moto.dynamodb.exceptions import (
    ConditionalCheckFailed,
    ItemSizeTooLarge,
    ItemSizeToUpdateTooLarge,
    MockValidationException,
)
from moto.dynamodb.models import dynamo_type
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_json_dump

from local.emulation.metering import (
    MAX_ITEM_BYTES,
    METER,
    index_write_units,
    item_size,
    read_units,
    write_units,
)
from local.emulation.partitions import read_page, readable, touch, view_of
from local.emulation.patches import Patches

LOCK = threading.RLock()
TRANSACTION_BYTES = 4 * 1024 * 1024
TRANSACTION_ITEMS = 100
BATCH_WRITES = 25
TOKEN_SECONDS = 600
ITEM_ANSWERS = frozenset(
    {"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem"}
)
Backend = models.DynamoDBBackend
Handler = responses.DynamoHandler
_transaction = threading.local()


class _TablesByReference:
    """Stands for the module `copy` inside moto's backend: tables are handed on, everything else is copied."""

    @staticmethod
    def deepcopy(value: Any, *rest: Any) -> Any:
        """Copy a value unless it is a table."""
        return value if isinstance(value, Table) else copy.deepcopy(value, *rest)


class _Spot:
    """One item's place in a table, with the image it had when the spot was taken."""

    def __init__(self, table: Any, attributes: dict[str, Any]) -> None:
        self.table = table
        self.hash_key = DynamoType(attributes[table.hash_key_attr])
        self.range_key = DynamoType(attributes[table.range_key_attr]) if table.range_key_attr else None
        self.before = copy.deepcopy(self.item())

    def item(self) -> Any:
        """The item as it stands, or None."""
        if self.range_key is None:
            return self.table.items.get(self.hash_key)
        return self.table.items.get(self.hash_key, {}).get(self.range_key)

    def restore(self) -> None:
        """Put the first image back."""
        if self.before is None:
            self.table.delete_item(self.hash_key, self.range_key)
        elif self.range_key is None:
            self.table.items[self.hash_key] = copy.deepcopy(self.before)
        else:
            self.table.items[self.hash_key][self.range_key] = copy.deepcopy(self.before)
        touch(self.table, self.hash_key, self.range_key)

    def sizes(self) -> tuple[int, int]:
        """Bytes before and now."""
        now = self.item()
        return (item_size(self.before.attrs) if self.before else 0, item_size(now.attrs) if now else 0)

    def count(self, *, factor: int = 1) -> None:
        """Add this write's units, table and indexes, to the calling thread's meter."""
        METER.write_units += factor * write_units(*self.sizes())
        if self.range_key is None:
            return
        now = self.item()
        for index in view_of(self.table).indexes.values():
            images = [index.image(one.attrs) if one else None for one in (self.before, now)]
            keys = [name for name in (index.hash_attribute, index.range_attribute) if name]
            METER.write_units += index_write_units(images[0], images[1], keys)


class _TransactionTooLarge(MockValidationException):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__("Transaction size has exceeded the maximum allowed size of 4 MB")


def _refuse(problem: type[Exception], *, when: bool) -> None:
    if when:
        raise problem


def _writing(original: Callable[..., Any], too_large: type[Exception]) -> Callable[..., Any]:
    """Wrap a backend method whose third argument names the item: undo on failure, refuse large items, meter."""

    def write(self: Any, table_name: str, attributes: dict[str, Any], *rest: Any, **named: Any) -> Any:
        table = self.get_table(table_name)
        if any(name not in attributes for name in table.table_key_attrs):
            return original(self, table_name, attributes, *rest, **named)
        spot = _Spot(table, attributes)
        alone = not getattr(_transaction, "open", False)
        try:
            answer = original(self, table_name, attributes, *rest, **named)
            touch(table, spot.hash_key, spot.range_key)
            _refuse(too_large, when=spot.sizes()[1] > MAX_ITEM_BYTES)
        except Exception as problem:
            spot.restore()
            if alone and isinstance(problem, ConditionalCheckFailed):
                METER.write_units += write_units(spot.sizes()[0], 0)
            raise
        if alone:
            spot.count()
        return answer

    return write


def _key_of(table: Any, operation: dict[str, Any]) -> dict[str, Any]:
    attributes = operation.get("Item") or operation.get("Key") or {}
    return {name: attributes[name] for name in table.table_key_attrs if name in attributes}


def _transact(original: Callable[..., Any]) -> Callable[..., Any]:
    def transact(self: Any, transact_items: list[dict[str, Any]]) -> None:
        spots = []
        for entry in transact_items:
            operation = next(iter(entry.values()))
            table = self.get_table(operation["TableName"])
            key = _key_of(table, operation)
            if len(key) == len(table.table_key_attrs):
                spots.append(_Spot(table, key))
        _transaction.open = True
        try:
            original(self, transact_items)
            too_large = sum(max(spot.sizes()) for spot in spots) > TRANSACTION_BYTES
            _refuse(_TransactionTooLarge, when=too_large)
        except Exception:
            for spot in spots:
                spot.restore()
                METER.write_units += 2 * write_units(spot.sizes()[0], 0)
            raise
        finally:
            _transaction.open = False
        for spot in spots:
            spot.count(factor=2)

    return transact


class _Tokens:
    """Client request tokens of finished transactions, remembered for ten minutes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[float, str]] = {}

    def known(self, token: str, digest: str) -> bool:
        """Whether this very request was done already; raises when the token stood for another request."""
        now = self._clock()
        self._seen = {name: entry for name, entry in self._seen.items() if entry[0] > now}
        if token not in self._seen:
            return False
        if self._seen[token][1] != digest:
            problem = "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException"
            raise JsonRESTError(problem, "The token was used with other parameters")
        return True

    def remember(self, token: str, digest: str) -> None:
        """Note a finished request."""
        self._seen[token] = (self._clock() + TOKEN_SECONDS, digest)


def _answer_transaction(original: Callable[..., Any], tokens: _Tokens) -> Callable[..., Any]:
    def transact_write_items(self: Any) -> Any:
        token = self.body.get("ClientRequestToken")
        digest = hashlib.sha256(dynamo_json_dump(self.body["TransactItems"]).encode()).hexdigest()
        if token and not 1 <= len(token) <= 36:
            raise MockValidationException("ClientRequestToken must have 1 to 36 characters")
        if token and tokens.known(token, digest):
            return responses.ActionResult({})
        answer = original(self)
        if token:
            tokens.remember(token, digest)
        return answer

    return transact_write_items


def _answer_batch_write(original: Callable[..., Any]) -> Callable[..., Any]:
    def batch_write_item(self: Any) -> Any:
        keys = []
        for name, requests in self.body["RequestItems"].items():
            table = self.dynamodb_backend.get_table(name)
            keys += [(name, dynamo_json_dump(_key_of(table, next(iter(one.values()))))) for one in requests]
        if not 1 <= len(keys) <= BATCH_WRITES:
            raise MockValidationException("Too many items requested for the BatchWriteItem call")
        if len(set(keys)) < len(keys):
            raise MockValidationException("Provided list of item keys contains duplicates")
        return original(self)

    return batch_write_item


def _count_read(table: Any, key: dict[str, Any], **how: bool) -> None:
    names = table.table_key_attrs
    item = table.get_item(*(DynamoType(key[name]) for name in names)) if all(name in key for name in names) else None
    METER.read_units += read_units(item_size(item.attrs) if item else 0, **how)


def _answer_get(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_item(self: Any) -> Any:
        answer = original(self)
        table = self.dynamodb_backend.get_table(self.body["TableName"])
        _count_read(table, self.body["Key"], consistent=self.body.get("ConsistentRead", False))
        return answer

    return get_item


def _answer_batch_get(original: Callable[..., Any]) -> Callable[..., Any]:
    def batch_get_item(self: Any) -> Any:
        answer = original(self)
        for name, request in self.body["RequestItems"].items():
            table = self.dynamodb_backend.get_table(name)
            for key in request["Keys"]:
                _count_read(table, key, consistent=request.get("ConsistentRead", False))
        return answer

    return batch_get_item


def _contains_duplicates(_: Any, keys: list[Any]) -> bool:
    return len({dynamo_json_dump(key) for key in keys}) < len(keys)


def _answer_transact_get(original: Callable[..., Any]) -> Callable[..., Any]:
    def transact_get_items(self: Any) -> Any:
        answer = original(self)
        for entry in self.body["TransactItems"]:
            table = self.dynamodb_backend.get_table(entry["Get"]["TableName"])
            _count_read(table, entry["Get"]["Key"], consistent=True, transactional=True)
        return answer

    return transact_get_items


def _query(original: Callable[..., Any]) -> Callable[..., Any]:
    def query(  # noqa: PLR0917  (moto's own signature)
        self: Any,
        hash_key: Any,
        range_comparison: str | None,
        range_objs: list[Any],
        limit: int | None,
        exclusive_start_key: dict[str, Any] | None,
        scan_index_forward: bool,
        projection_expressions: Any,
        index_name: str | None = None,
        consistent_read: bool = False,
        filter_expression: Any = None,
        **named: Any,
    ) -> tuple[list[Any], int, dict[str, Any] | None]:
        legacy = set(named) - {"hash_key_conditions", "range_key_conditions"}
        if legacy or not readable(self, index_name):
            arguments = (limit, exclusive_start_key, scan_index_forward, projection_expressions, index_name)
            rest = (consistent_read, filter_expression)
            answer: tuple[list[Any], int, dict[str, Any] | None]
            answer = original(self, hash_key, range_comparison, range_objs, *arguments, *rest, **named)
            return answer
        condition = (range_comparison, [value.cast_value for value in range_objs or []])
        page, last = read_page(
            self,
            index_name,
            hash_key.cast_value,
            condition,
            limit=limit,
            start=exclusive_start_key,
            forward=scan_index_forward is not False,
            consistent=bool(consistent_read),
        )
        kept = [item for item in page if filter_expression is None or filter_expression.expr(item)]
        if projection_expressions:
            kept = [item.project(projection_expressions) for item in kept]
        return kept, len(page), last

    return query


def _binary(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _plain_answers(original: Callable[..., Any]) -> Callable[..., Any]:
    def execute_result(self: Any, context: Any) -> Any:
        if context.operation_model.name not in ITEM_ANSWERS:
            return original(self, context)
        return 200, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(self.result, default=_binary)

    return execute_result


def _one_at_a_time(original: Callable[..., Any]) -> Callable[..., Any]:
    def call_action(self: Any) -> Any:
        with LOCK:
            return original(self)

    return call_action


def install(patches: Patches, clock: Callable[[], float]) -> None:
    """Make moto's DynamoDB atomic, quick, bounded and metered."""
    reason = "moto lets threads interleave within one request: several winners of one condition"
    patches.replace(Handler, "call_action", _one_at_a_time(Handler.call_action), reason)
    reason = "moto copies whole tables for each transaction; single items are put back here instead"
    patches.replace(models, "copy", _TablesByReference(), reason)
    patches.replace(Backend, "transact_write_items", _transact(Backend.transact_write_items), reason)
    reason = "moto leaves half-made items after failed updates and misjudges 400 KB; writes are metered here"
    patches.replace(Backend, "put_item", _writing(Backend.put_item, ItemSizeTooLarge), reason)
    patches.replace(Backend, "update_item", _writing(Backend.update_item, ItemSizeToUpdateTooLarge), reason)
    patches.replace(Backend, "delete_item", _writing(Backend.delete_item, ItemSizeTooLarge), reason)
    reason = "moto sums all sizes anew for each attribute and counts base64 instead of bytes"
    patches.replace(dynamo_type.LimitedSizeDict, "__setitem__", dict.__setitem__, reason)
    reason = "moto walks the whole table for one page of one partition"
    patches.replace(Table, "query", _query(Table.query), reason)
    reason = "moto looks for ten attribute types in every value it writes out: 0.6 ms an item"
    answers = responses.DynamoResult
    patches.replace(answers, "execute_result", _plain_answers(answers.execute_result), reason)
    reason = "moto forgets ClientRequestToken"
    tokens = _Tokens(clock)
    answer = _answer_transaction(Handler.transact_write_items, tokens)
    patches.replace(Handler, "transact_write_items", answer, reason)
    reason = "moto takes any number of writes in a batch and a put and a deletion of one key"
    patches.replace(Handler, "batch_write_item", _answer_batch_write(Handler.batch_write_item), reason)
    reason = "reads are metered where item sizes are known"
    patches.replace(Handler, "get_item", _answer_get(Handler.get_item), reason)
    patches.replace(Handler, "batch_get_item", _answer_batch_get(Handler.batch_get_item), reason)
    reason_keys = "moto compares every key of a batch with every other"
    patches.replace(Handler, "_contains_duplicates", _contains_duplicates, reason_keys)
    patches.replace(Handler, "transact_get_items", _answer_transact_get(Handler.transact_get_items), reason)
    reason = "moto allows 25 items in TransactGetItems, DynamoDB 100"
    patches.replace(responses, "TRANSACTION_MAX_ITEMS", TRANSACTION_ITEMS, reason)
