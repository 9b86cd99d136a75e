"""Sorted views of moto's tables: one partition of a table or of an index is read without walking the rest.

A view follows the items that moto holds and never holds data of its own; `touch` after every write keeps it true.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from sortedcontainers import SortedDict  # type: ignore[import-untyped]

from local.emulation.metering import METER, item_size, read_units

PAGE_BYTES = 1024 * 1024
Position = tuple[Any, ...]
_PLAIN_KEYS = frozenset({"S", "N"})


class _Top:
    """Sorts after every other value."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


_TOP = _Top()


class _Index(NamedTuple):
    name: str
    hash_attribute: str
    range_attribute: str | None
    projected: frozenset[str] | None

    def image(self, attributes: dict[str, Any]) -> dict[str, Any] | None:
        """The projected attributes of an item, or None when the index leaves it out."""
        if self.hash_attribute not in attributes:
            return None
        if self.range_attribute is not None and self.range_attribute not in attributes:
            return None
        if self.projected is None:
            return dict(attributes)
        return {name: value for name, value in attributes.items() if name in self.projected}


def _indexes_of(table: Any) -> dict[str, _Index]:
    found = {}
    for index in table.all_indexes():
        hashes = [key["AttributeName"] for key in index.schema if key["KeyType"] == "HASH"]
        ranges = [key["AttributeName"] for key in index.schema if key["KeyType"] == "RANGE"]
        if len(hashes) != 1 or len(ranges) > 1:
            continue
        kind = (index.projection or {}).get("ProjectionType", "ALL")
        kept = None
        if kind != "ALL":
            extra = index.projection.get("NonKeyAttributes", []) if kind == "INCLUDE" else []
            kept = frozenset([*table.table_key_attrs, *hashes, *ranges, *extra])
        found[index.name] = _Index(index.name, hashes[0], ranges[0] if ranges else None, kept)
    return found


class TableView:
    """The sorted partitions of one table with a sort key, and of its indexes."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.indexes = _indexes_of(table)
        self._partitions: dict[tuple[str | None, Any], SortedDict] = {}
        self._places: dict[tuple[str | None, Any, Any], tuple[Any, Position]] = {}
        for hash_key, partition in list(table.items.items()):
            for range_key in partition:
                self.touch(hash_key, range_key)

    def _move(self, name: str | None, key: tuple[Any, Any], place: tuple[Any, Position] | None) -> None:
        old = self._places.get((name, *key))
        if old == place:
            return
        if old is not None:
            partition = self._partitions[name, old[0]]
            del partition[old[1]], self._places[(name, *key)]
            if not partition:
                del self._partitions[name, old[0]]
        if place is not None:
            if (name, place[0]) not in self._partitions:
                self._partitions[name, place[0]] = SortedDict()
            self._partitions[name, place[0]][place[1]] = key
            self._places[(name, *key)] = place

    def touch(self, hash_key: Any, range_key: Any) -> None:
        """Note that the item of this key was put, changed or deleted."""
        item = self.table.items.get(hash_key, {}).get(range_key)
        key = (hash_key, range_key)
        own = None if item is None else (hash_key.cast_value, (range_key.cast_value,))
        self._move(None, key, own)
        for index in self.indexes.values():
            place = None
            if item is not None and index.image(item.attrs) is not None:
                ranges = [item.attrs[index.range_attribute].cast_value] if index.range_attribute else []
                position = (*ranges, hash_key.cast_value, range_key.cast_value)
                place = (item.attrs[index.hash_attribute].cast_value, position)
            self._move(index.name, key, place)

    def read(self, name: str | None, value: Any, bounds: "Bounds", *, forward: bool) -> Iterator[Any]:
        """Items of one partition within bounds, in order."""
        partition = self._partitions.get((name, value))
        if partition is None or bounds.empty():
            return
        inclusive = (bounds.low_included, bounds.high_included)
        for position in partition.irange(bounds.low, bounds.high, inclusive, reverse=not forward):
            hash_key, range_key = partition[position]
            yield self.table.items[hash_key][range_key]


class Bounds(NamedTuple):
    """A stretch of sort positions; None is open."""

    low: Position | None = None
    high: Position | None = None
    low_included: bool = True
    high_included: bool = True

    def empty(self) -> bool:
        """Whether nothing can lie between."""
        if self.low is None or self.high is None:
            return False
        if self.low == self.high:
            return not (self.low_included and self.high_included)
        return not self.low < self.high

    def after(self, position: Position, *, forward: bool) -> "Bounds":
        """What is left of these bounds once `position` has been read."""
        if forward:
            if self.low is None or self.low <= position:
                return self._replace(low=position, low_included=False)
        elif self.high is None or position <= self.high:
            return self._replace(high=position, high_included=False)
        return self


def _next_prefix(prefix: str) -> str | None:
    """The smallest string greater than all that begin with `prefix`."""
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            step = 0xE000 if last + 1 == 0xD800 else last + 1
            return prefix[:-1] + chr(step)
        prefix = prefix[:-1]
    return None


def _bounds(comparison: str | None, values: list[Any]) -> Bounds:
    first = values[0] if values else None
    makers: dict[str | None, Callable[[], Bounds]] = {
        None: Bounds,
        "=": lambda: Bounds((first,), (first, _TOP)),
        "<": lambda: Bounds(None, (first,), True, False),
        "<=": lambda: Bounds(None, (first, _TOP)),
        ">": lambda: Bounds((first, _TOP)),
        ">=": lambda: Bounds((first,)),
        "BETWEEN": lambda: Bounds((first,), (values[1], _TOP)),
        "BEGINS_WITH": lambda: _prefixed(first),
    }
    return makers[comparison.upper() if comparison else None]()


def _prefixed(prefix: Any) -> Bounds:
    end = _next_prefix(prefix)
    return Bounds((prefix,), None if end is None else (end,), True, False)


_VIEWS: WeakKeyDictionary[Any, TableView] = WeakKeyDictionary()


def view_of(table: Any) -> TableView:
    """The view of a table, made on first use and again when its indexes were changed."""
    view = _VIEWS.get(table)
    if view is None or len(view.indexes) > len(table.all_indexes()):
        view = _VIEWS[table] = TableView(table)
    return view


def touch(table: Any, hash_key: Any, range_key: Any) -> None:
    """Tell the table's view of a write; tables without sort key have none."""
    if table.range_key_attr is not None and table in _VIEWS:
        _VIEWS[table].touch(hash_key, range_key)


def _start(table: Any, index: _Index | None, value: Any, key: dict[str, Any]) -> Position:
    names = [table.range_key_attr]
    if index is not None:
        names = [*([index.range_attribute] if index.range_attribute else []), *table.table_key_attrs]
    owner = index.hash_attribute if index else table.hash_key_attr
    if set(key) != {owner, *names} or DynamoType(key[owner]).cast_value != value:
        raise MockValidationException("The provided starting key is invalid")
    return tuple(DynamoType(key[name]).cast_value for name in names)


def _plain(table: Any, index: _Index | None) -> bool:
    names = {table.hash_key_attr, table.range_key_attr}
    if index is not None:
        names |= {index.hash_attribute, index.range_attribute}
    kinds = {entry["AttributeName"]: entry["AttributeType"] for entry in table.attr}
    return all(kinds.get(name) in _PLAIN_KEYS for name in names if name)


def readable(table: Any, index_name: str | None) -> bool:
    """Whether `read_page` knows this key schema: a sort key, single-attribute text or number keys."""
    if table.range_key_attr is None:
        return False
    if index_name is None:
        return _plain(table, None)
    index = view_of(table).indexes.get(index_name)
    return index is not None and _plain(table, index)


def _shown(item: Any, image: dict[str, Any]) -> Any:
    shown = Item(item.hash_key, item.range_key, {})
    shown.attrs.update(image)
    return shown


def read_page(
    table: Any,
    index_name: str | None,
    value: Any,
    condition: tuple[str | None, list[Any]],
    *,
    limit: int | None,
    start: dict[str, Any] | None,
    forward: bool,
    consistent: bool,
) -> tuple[list[Any], dict[str, Any] | None]:
    """One page of a partition, before filters: the items as the index shows them, and the key to go on from.

    The items are moto's own: read them under the lock, change nothing. `limit` counts items read; a page holds at
    most 1 MB. Like DynamoDB, a page that ends by `limit` gives a key even when nothing follows. Counts read units for
    the calling thread.
    """
    view = view_of(table)
    index = view.indexes[index_name] if index_name else None
    if index is not None and consistent and any(one.name == index_name for one in table.global_indexes):
        raise MockValidationException("Consistent reads are not supported on global secondary indexes")
    bounds = _bounds(*condition)
    if start is not None:
        bounds = bounds.after(_start(table, index, value, start), forward=forward)
    page: list[Any] = []
    size, last = 0, None
    for item in view.read(index_name, value, bounds, forward=forward):
        image = item.attrs if index is None else index.image(item.attrs) or {}
        size_now = size + item_size(image)
        if page and size_now > PAGE_BYTES:
            last = page[-1]
            break
        size = size_now
        page.append(item if index is None else _shown(item, image))
        if len(page) == limit:
            last = page[-1]
            break
    METER.read_units += read_units(size, consistent=consistent)
    key = None if last is None else table._get_last_evaluated_key(last, index_name)
    return page, key
