"""Capacity units by DynamoDB's rules, counted for the AWS call that the current thread is making.

Sources: the DynamoDB developer guide, "Item sizes and formats", "Read consumption", "Write consumption" and
"Global secondary indexes: considerations for write operations".
"""

import math
import threading
from collections.abc import Mapping
from typing import Any

READ_UNIT_BYTES = 4096
WRITE_UNIT_BYTES = 1024
MAX_ITEM_BYTES = 400 * 1024


class Meter(threading.local):
    """Units consumed by this thread since `reset()`; in-process moto answers in the caller's thread."""

    def __init__(self) -> None:
        self.read_units = 0.0
        self.write_units = 0.0

    def reset(self) -> None:
        """Start counting a new call."""
        self.read_units = 0.0
        self.write_units = 0.0


METER = Meter()


def _number_size(value: str) -> int:
    mantissa = value.lower().split("e")[0]
    digits = mantissa.lstrip("+-").replace(".", "").strip("0")
    return math.ceil(len(digits) / 2) + 1 + mantissa.startswith("-")


def value_size(kind: str, value: Any) -> int:
    """Bytes of one attribute value as DynamoDB counts them; nested values may be moto's typed objects."""
    if kind == "N":
        return _number_size(str(value))
    if kind in {"BOOL", "NULL"}:
        return 1
    if kind == "L":
        return 3 + sum(1 + value_size(item.type, item.value) for item in value)
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + value_size(item.type, item.value) for name, item in value.items())
    if kind in {"SS", "NS", "BS"}:
        return sum(value_size(kind[0], item) for item in value)
    if kind == "B" and isinstance(value, str):
        return len(value) * 3 // 4 - value[-2:].count("=")
    return len(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


def item_size(attributes: Mapping[str, Any]) -> int:
    """Bytes of one item: names in UTF-8 plus values. `attributes` maps names to moto's typed values."""
    return sum(len(name.encode()) + value_size(item.type, item.value) for name, item in attributes.items())


def read_units(size: int, *, consistent: bool, transactional: bool = False) -> float:
    """Units of reading `size` bytes: 4 KB each, at least one, half when eventually consistent, double in transactions."""
    units = max(1, math.ceil(size / READ_UNIT_BYTES))
    return units * 2.0 if transactional else units * (1.0 if consistent else 0.5)


def write_units(before: int, after: int) -> int:
    """Units of one write: the larger of both images, 1 KB each, at least one."""
    return max(1, math.ceil(max(before, after) / WRITE_UNIT_BYTES))


def index_write_units(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, keys: list[str]) -> int:
    """Units that one index costs for one write: `before` and `after` are projected images, None when not indexed.

    A changed index key is a deletion and an insertion; an unchanged projection costs nothing.
    """
    if before == after:
        return 0
    sizes = [write_units(0, item_size(image)) for image in (before, after) if image is not None]
    if before is not None and after is not None and all(before.get(key) == after.get(key) for key in keys):
        return max(sizes)
    return sum(sizes)
