"""How many bytes an item takes, by DynamoDB's own rules (names and values in UTF-8, numbers by their digits).

The access columns change without a commit, so they count as a fixed allowance; change rows, tasks and the head are not counted.
"""

from shared.ports import Item, Value

ACCESS_COLUMNS = frozenset({"reads", "read_at"})
ACCESS_ALLOWANCE = len("reads") + 3 + len("read_at") + len("2026-01-01T00:00:00.000Z")


def item_bytes(owner: str, item: Item) -> int:
    """Return the counted size of one item with its keys."""
    size = len("pk") + len("o#") + len(owner)
    size += sum(len(name.encode()) + _value(value) for name, value in item.items() if name not in ACCESS_COLUMNS)
    return size


def _value(value: Value) -> int:
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, str):
        return len(value.encode())
    return (len(str(abs(value)).rstrip("0")) + 1) // 2 + 1
