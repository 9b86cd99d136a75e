"""The table in DynamoDB: the port `Table` over one boto3 client. Knows no word of what it stores.

Conditions come back with the items that stood in the way, so no refused write needs another read. A write whose answer was
lost is repeated: a transaction under its token, a single write by looking whether what stands is what it wrote.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from shared.adapters.dynamodb_words import PARTITION, Words, key, read, same_outcome, write_request
from shared.adapters.faults import LOST, THROTTLED, Sleep, code, pause, retried, translated
from shared.adapters.item_sizes import check_writes
from shared.domain.errors import Busy, Refused, Unavailable
from shared.domain.ids import Random
from shared.ports import Check, Due, Item, Page, Update, Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ATTEMPTS: Final = 10
LOST_ATTEMPTS: Final = 2
"""Times that a call without an answer is made here; the SDK repeats each of them on its own."""
READ_BATCH: Final = 100
READ_THREADS: Final = 8
_CONDITION: Final = "ConditionalCheckFailed"
_CANCELLED: Final = "TransactionCanceledException"
_CONTENDED: Final = THROTTLED | {
    "TransactionConflict",
    "TransactionConflictException",
    "TransactionInProgressException",
}


class DynamoTable:
    """`sleep` waits between attempts; `random` gives jitter and the tokens of transactions."""

    def __init__(self, client: "DynamoDBClient", table_name: str, sleep: Sleep, random: Random) -> None:
        self._client = client
        self._table = table_name
        self._sleep = sleep
        self._random = random

    def get(self, owner: str, sks: Sequence[str]) -> dict[str, Item]:
        wanted = list(dict.fromkeys(sks))
        batches = [wanted[start : start + READ_BATCH] for start in range(0, len(wanted), READ_BATCH)]
        if len(batches) > 1:
            # copy_context: what measures or traces a request must see its parallel reads as its own.
            futures = [self._pool.submit(copy_context().run, self._read, owner, batch) for batch in batches]
            return {sk: item for future in futures for sk, item in future.result().items()}
        return self._read(owner, batches[0]) if batches else {}

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(READ_THREADS, thread_name_prefix="table")

    def _read(self, owner: str, sks: Sequence[str]) -> dict[str, Item]:
        found: dict[str, Item] = {}
        keys = [key(owner, sk) for sk in sks]
        for attempt in range(ATTEMPTS):
            asked = {"RequestItems": {self._table: {"Keys": keys, "ConsistentRead": True}}}
            answer = self._patiently("BatchGetItem", self._client.batch_get_item, asked)
            items = [read(raw) for raw in answer["Responses"].get(self._table, [])]
            found |= {str(item["sk"]): item for item in items}
            keys = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
            if not keys:
                return found
            self._sleep(pause(attempt, self._random))
        raise Busy

    def query(
        self,
        owner: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> Page:
        if limit is not None and limit < 1:
            raise ValueError("a page holds one item at least")
        if after is not None and not after.startswith(prefix):
            # DynamoDB refuses to start outside of the queried range.
            if (after < prefix) == descending:
                return Page([], None)
            after = None
        words = Words()
        where = f"{words.name('pk')} = {words.value(PARTITION + owner)}"
        if prefix:
            where += f" AND begins_with({words.name('sk')}, {words.value(prefix)})"
        request: dict[str, Any] = {"ConsistentRead": True, "ScanIndexForward": not descending}
        if limit is not None:
            request["Limit"] = limit
        if after is not None:
            request["ExclusiveStartKey"] = key(owner, after)
        answer = self._query(where, words, request)
        last = answer.get("LastEvaluatedKey")
        return Page([read(raw) for raw in answer["Items"]], str(last["sk"]["S"]) if last else None)

    def by_update(
        self, owner: str, status: str, *, before: str | None = None, after: str | None = None, limit: int
    ) -> list[str]:
        if before is not None and after is not None and before <= after:
            return []
        words = Words()
        where = f"{words.name('owner_status')} = {words.value(f'{owner}#{status}')}"
        if before is not None and after is not None:
            where += f" AND {words.name('updated')} BETWEEN {words.value(after)} AND {words.value(before)}"
        elif before is not None:
            where += f" AND {words.name('updated')} < {words.value(before)}"
        elif after is not None:
            where += f" AND {words.name('updated')} >= {words.value(after)}"
        found: list[str] = []
        # BETWEEN includes its end, so one more is asked for than is wanted.
        for raw in self._pages("by_update", where, words, limit + 1, descending=True):
            updated = str(raw["updated"]["S"])
            if updated != before:
                found.append(updated)
            if len(found) == limit:
                break
        return found

    def due(self, shard: int, *, before: str, limit: int) -> list[Due]:
        words = Words()
        where = f"{words.name('due_shard')} = {words.value(f'due#{shard}')}"
        where += f" AND {words.name('due_at')} < {words.value(before)}"
        found: list[Due] = []
        for raw in self._pages("due", where, words, limit, descending=False):
            owner = str(raw["pk"]["S"]).removeprefix(PARTITION)
            found.append(Due(owner, str(raw["due_at"]["S"]), str(raw["sk"]["S"])))
            if len(found) == limit:
                break
        return found

    def _pages(self, index: str, where: str, words: Words, limit: int, *, descending: bool) -> Iterator[dict[str, Any]]:
        request: dict[str, Any] = {"IndexName": index, "ScanIndexForward": not descending, "Limit": limit}
        while True:
            answer = self._query(where, words, request)
            yield from answer["Items"]
            last = answer.get("LastEvaluatedKey")
            if not last:
                return
            request["ExclusiveStartKey"] = last

    def _query(self, where: str, words: Words, request: dict[str, Any]) -> dict[str, Any]:
        whole = {"TableName": self._table, "KeyConditionExpression": where, **words.request(), **request}
        answer: dict[str, Any] = self._patiently("Query", self._client.query, whole)
        return answer

    def write(self, owner: str, writes: Sequence[Write]) -> None:
        check_writes(list(writes))
        if len(writes) == 1 and not isinstance(writes[0], Check):
            self._single(owner, writes[0])
        elif writes:
            self._transaction(owner, writes)

    def update(self, owner: str, change: Update) -> Item:
        """After a lost answer a repeated update that adds counts twice, or is Refused if it has a condition."""
        check_writes([change])
        return self._single(owner, change, returned=True)

    def _single(self, owner: str, write: Write, *, returned: bool = False) -> Item:
        kind, request = write_request(self._table, owner, write)
        senders: dict[str, Callable[..., Any]] = {
            "Put": self._client.put_item,
            "Update": self._client.update_item,
            "Delete": self._client.delete_item,
        }
        if returned:
            request["ReturnValues"] = "ALL_NEW"

        def refused(fault: ClientError, *, repeated: bool) -> dict[str, Any]:
            raw: dict[str, Any] = fault.response.get("Item", {})  # type: ignore[assignment] # not in the stub
            standing = read(raw) if raw else None
            if repeated and same_outcome(write, standing):
                return {"Attributes": raw}
            raise Refused({0: standing}) from None

        answer = self._patiently(f"{kind}Item", senders[kind], request, refused)
        return read(answer.get("Attributes", {}))

    def _transaction(self, owner: str, writes: Sequence[Write]) -> None:
        requests = [write_request(self._table, owner, write) for write in writes]
        items: list[Any] = [{kind: request} for kind, request in requests]
        # One token for all attempts: what was done although its answer was lost is not done again, and counts as done.
        token = self._random(16).hex()

        def refused(fault: ClientError, *, repeated: bool) -> dict[str, Any]:  # noqa: ARG001 - the token settles repeats
            raise Refused(
                {
                    position: read(reason["Item"]) if reason.get("Item") else None
                    for position, reason in enumerate(_reasons(fault))
                    if reason.get("Code") == _CONDITION
                }
            ) from None

        request = {"TransactItems": items, "ClientRequestToken": token}
        self._patiently("TransactWriteItems", self._client.transact_write_items, request, refused)

    def _patiently(
        self,
        call: str,
        send: Callable[..., Any],
        request: dict[str, Any],
        refused: Callable[..., dict[str, Any]] | None = None,
    ) -> Any:
        """Make the call until it is answered; contention and lost answers are waited out, a refusal goes to `refused`."""
        lost = 0
        for attempt in range(ATTEMPTS):
            try:
                return send(**request)
            except LOST:
                lost += 1
                if lost == LOST_ATTEMPTS:
                    raise Unavailable from None
            except ClientError as fault:
                codes = _codes(fault)
                if refused is not None and codes & {_CONDITION, f"{_CONDITION}Exception"}:
                    return refused(fault, repeated=lost > 0 or retried(fault))
                if not codes & _CONTENDED:
                    raise translated(call, fault) from None
            except BotoCoreError as fault:
                raise translated(call, fault) from None
            self._sleep(pause(attempt, self._random))
        raise Busy


def _reasons(fault: ClientError) -> Sequence[dict[str, Any]]:
    reasons: Sequence[dict[str, Any]] = fault.response.get("CancellationReasons", [])  # type: ignore[assignment]
    return reasons


def _codes(fault: ClientError) -> set[str]:
    if code(fault) == _CANCELLED:
        return {str(reason.get("Code")) for reason in _reasons(fault)}
    return {code(fault)}
