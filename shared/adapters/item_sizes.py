"""How large DynamoDB counts an item, so that limits fail before the call and the same way everywhere.

Source: "DynamoDB item sizes and formats" in the Developer Guide. Knows no client and no table.
"""

from collections.abc import Mapping
from typing import Final

from shared.ports import Check, Condition, Put, Update, Value, Write

ITEM_BYTES: Final = 400 * 1024
PAGE_BYTES: Final = 1024 * 1024
TRANSACTION_BYTES: Final = 4 * 1024 * 1024
TRANSACTION_WRITES: Final = 100
KEY_OVERHEAD: Final = 64
"""Bytes counted for the partition key: `pk`, "o#" and 52 characters of an owner, rounded up."""


def value_bytes(value: Value) -> int:
    """Return the counted bytes of one value; a number costs about a byte per two digits and one more."""
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, int):
        return (len(str(abs(value))) + 1) // 2 + 2
    return len(value)


def item_bytes(item: Mapping[str, Value]) -> int:
    """Return the counted bytes of an item: names in UTF-8 and values, with its partition key."""
    return KEY_OVERHEAD + sum(len(name.encode()) + value_bytes(value) for name, value in item.items())


def write_bytes(write: Write) -> int:
    """Return the bytes that a write carries; what an update leaves standing is not known here."""
    if isinstance(write, Put):
        return item_bytes(write.item)
    if isinstance(write, Update):
        return item_bytes({"sk": write.sk, **write.set, **write.set_once, **write.add})
    return item_bytes({"sk": write.sk})


def check_writes(writes: list[Write]) -> None:
    """Raise ValueError, naming no value, for writes that DynamoDB would refuse whatever is stored."""
    if len(writes) > TRANSACTION_WRITES:
        raise ValueError(f"{len(writes)} writes in one transaction; {TRANSACTION_WRITES} are possible")
    if len({write.sk for write in writes}) < len(writes):
        raise ValueError("two writes of one transaction name the same item")
    sizes = [write_bytes(write) for write in writes]
    if max(sizes, default=0) > ITEM_BYTES:
        raise ValueError(f"an item of {max(sizes)} bytes; {ITEM_BYTES} are possible")
    if sum(sizes) > TRANSACTION_BYTES:
        raise ValueError(f"a transaction of {sum(sizes)} bytes; {TRANSACTION_BYTES} are possible")
    for write in writes:
        if isinstance(write, Update):
            _check_update(write)
        if isinstance(write, Check) and write.condition == Condition():
            raise ValueError("a check that asks for nothing")
        if not write.sk:
            raise ValueError("an item without a sort key")


def _check_update(update: Update) -> None:
    touched = [*update.set, *update.set_once, *update.add, *update.remove]
    if not touched:
        raise ValueError("an update that changes nothing")
    if len(set(touched)) < len(touched) or "sk" in touched:
        raise ValueError("an update names one attribute twice, or the sort key")
