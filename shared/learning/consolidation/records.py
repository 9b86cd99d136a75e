"""The task of a consolidation as an item of the table: first its plan, then what became of it.

Sealed are the plan's texts, and only until it is carried out; afterwards ids are left, for the owner to see and for undo.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.ids import Random
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.learning import tasks
from shared.ports import Item
from shared.storage import bodies, names

RUN = 1


@dataclass(frozen=True, slots=True)
class Planned:
    """One merge of a plan: sources with the versions that were judged, and the new memory; a drop has none."""

    sources: tuple[tuple[str, int], ...]
    product: str | None
    content: str | None

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(memory_id for memory_id, _ in self.sources)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a consolidation does, or did, to one scope."""

    scope: str
    project: str | None
    model: str
    merges: tuple[Planned, ...]


def sealed(keys: OwnerKeys, task_id: str, plan: Plan, random: Random, *, texts: bool) -> dict[str, Any]:
    """Return the attributes that hold the plan; without `texts` only ids."""
    body = asdict(plan)
    if not texts:
        for merge in body["merges"]:
            merge["content"] = None
    packed = keys.seal(tasks.RESULT, task_id, RUN, bodies.pack(body), random)
    return {"gen": keys.generation, "sealed": packed}


def plan_of(keys: OwnerKeys, item: Item) -> Plan:
    """Read the plan of a task's item. Raises SealBroken."""
    result = tasks.result_of(keys, item)
    merges = (
        Planned(tuple((str(i), int(v)) for i, v in one["sources"]), one["product"], one["content"])
        for one in result.get("merges", ())
    )
    return Plan(str(result.get("scope", "")), result.get("project"), str(result.get("model", "")), tuple(merges))


def new_item(task_id: str, now: datetime, status: TaskStatus, spent: Mapping[str, int]) -> Item:
    """Return the item of a consolidation that begins, or that failed at once."""
    item: Item = {
        "sk": names.TASK + task_id,
        "kind": tasks.CONSOLIDATION,
        "status": status.value,
        "run": RUN,
        "attempts": 1,
    }
    item |= {"created_at": rfc3339(now), "updated_at": rfc3339(now), "applied": 0}
    return item | {name: count for name, count in spent.items() if count}


def numbers(item: Item, name: str) -> list[int]:
    """Return the places of merges that an attribute lists."""
    return [int(number) for number in str(item.get(name, "")).split()]


def listed(places: Iterable[int]) -> str:
    """Return places of merges as an attribute."""
    return " ".join(str(place) for place in places)
