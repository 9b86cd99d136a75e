"""The port's writes and conditions in DynamoDB's own words. Builds requests; sends none.

Attribute names always stand as placeholders, so that no name can collide with DynamoDB's 573 reserved words.
"""

from collections.abc import Mapping
from typing import Any, Final

from shared.ports import Check, Condition, Delete, Item, Put, Update, Value, Write

PARTITION: Final = "o#"


def key(owner: str, sk: str) -> dict[str, Any]:
    """Return an item's key."""
    return {"pk": {"S": PARTITION + owner}, "sk": {"S": sk}}


def typed(value: Value) -> dict[str, Any]:
    """Return one value with DynamoDB's type."""
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, int):
        return {"N": str(int(value))}
    return {"B": value}


def stored(owner: str, item: Mapping[str, Value]) -> dict[str, Any]:
    """Return an item as it is stored, with its key."""
    return {"pk": {"S": PARTITION + owner}, **{name: typed(value) for name, value in item.items()}}


def read(raw: Mapping[str, Any]) -> Item:
    """Return a stored item without its partition key."""
    return {name: _plain(value) for name, value in raw.items() if name != "pk"}


def _plain(value: Mapping[str, Any]) -> Value:
    [(kind, content)] = value.items()
    if kind == "N":
        return int(content)
    return bytes(content) if kind == "B" else str(content)


class Words:
    """Collects the placeholders of one request."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def name(self, attribute: str) -> str:
        """Return the placeholder of an attribute's name."""
        return self.names.setdefault(attribute, f"#n{len(self.names)}")

    def value(self, value: Value) -> str:
        """Return a placeholder for a value."""
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = typed(value)
        return placeholder

    def request(self) -> dict[str, Any]:
        """Return the request's parts that explain the placeholders."""
        request: dict[str, Any] = {}
        if self.names:
            request["ExpressionAttributeNames"] = {placeholder: name for name, placeholder in self.names.items()}
        if self.values:
            request["ExpressionAttributeValues"] = self.values
        return request


def condition_words(condition: Condition, words: Words) -> str:
    """Return the condition as an expression; all of its parts must hold. Empty when it asks for nothing."""
    parts: list[str] = []
    if condition.absent:
        parts.append(f"attribute_not_exists({words.name('sk')})")
    if condition.exists:
        parts.append(f"attribute_exists({words.name('sk')})")
    for attribute, value in condition.equals.items():
        name = words.name(attribute)
        parts.append(f"attribute_not_exists({name})" if value is None else f"{name} = {words.value(value)}")
    parts += [f"{words.name(name)} <= {words.value(most)}" for name, most in condition.at_most.items()]
    if condition.absent_or_expired is not None:
        moment = words.value(condition.absent_or_expired)
        parts.append(f"(attribute_not_exists({words.name('sk')}) OR {words.name('ttl')} <= {moment})")
    return " AND ".join(parts)


def update_words(update: Update, words: Words) -> str:
    """Return what an update changes as an expression."""
    sets = [f"{words.name(name)} = {words.value(value)}" for name, value in update.set.items()]
    for name, value in update.set_once.items():
        placeholder = words.name(name)
        sets.append(f"{placeholder} = if_not_exists({placeholder}, {words.value(value)})")
    adds = [f"{words.name(name)} {words.value(value)}" for name, value in update.add.items()]
    removes = [words.name(name) for name in update.remove]
    clauses = [("SET", sets), ("ADD", adds), ("REMOVE", removes)]
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts)


def write_request(table: str, owner: str, write: Write) -> tuple[str, dict[str, Any]]:
    """Return the name that a transaction gives this write (Put, Update, Delete, ConditionCheck) and its request."""
    words = Words()
    request: dict[str, Any] = {"TableName": table}
    if isinstance(write, Put):
        kind = "Put"
        request["Item"] = stored(owner, write.item)
    else:
        kind = {Update: "Update", Delete: "Delete", Check: "ConditionCheck"}[type(write)]
        request["Key"] = key(owner, write.sk)
    if isinstance(write, Update):
        request["UpdateExpression"] = update_words(write, words)
    condition = condition_words(write.condition, words) if write.condition is not None else ""
    if condition:
        request["ConditionExpression"] = condition
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return kind, request | words.request()


def same_outcome(write: Write, standing: Item | None) -> bool:
    """Tell whether the standing item is what this write leaves, so that an attempt whose answer was lost was the one done.

    An update that adds cannot be told from its absence, nor can one that sets once: for these the answer is no.
    """
    if isinstance(write, Put):
        return standing == write.item
    if isinstance(write, Delete):
        return standing is None
    if isinstance(write, Check) or write.add or write.set_once or standing is None:
        return False
    return all(standing.get(name) == value for name, value in write.set.items()) and not any(
        name in standing for name in write.remove
    )
