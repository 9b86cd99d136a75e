"""One owner's rows of the table, read as a whole: what opens, what does not, and what the head must count of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.ids import ulid_time
from shared.domain.memory import Memory, Scope, Status
from shared.domain.task import TaskStatus
from shared.ports import Item, Table
from shared.storage import items, names, sizes
from shared.storage.items import Stored
from shared.storage.partition import each_item

DOCUMENTS = (names.PROJECT, names.SUGGESTION, names.AGENT_NOTES)


@dataclass(slots=True)
class Rows:
    """What an owner's partition holds. `quiet`: nobody wrote while it was read, so its parts belong together."""

    head: Item
    quiet: bool = False
    memories: dict[str, Stored] = field(default_factory=dict)
    broken: dict[str, Item] = field(default_factory=dict)
    """Items of memories that do not open, by memory id."""
    dedups: dict[str, str] = field(default_factory=dict)
    """Memory ids by the tag that leads to each."""
    documents: dict[str, Item] = field(default_factory=dict)
    """Projects, suggestions, persona, active project and notes for agents, by sort key."""
    settings: Item | None = None
    tasks: dict[str, Item] = field(default_factory=dict)
    bytes: int = 0
    """What memories, dedup items, sessions and tasks count for."""

    @property
    def lacking(self) -> int:
        """How many memories fewer there are than the head counts."""
        return int(self.head.get("memories", 0)) - len(self.memories) - len(self.broken)

    def counters(self, journal_bytes: int) -> dict[str, int]:
        """Return what the head must say."""
        statuses = Counter(stored.memory.status for stored in self.memories.values())
        statuses += Counter(status for item in self.broken.values() if (status := _status(item)) is not None)
        return {
            "memories": len(self.memories) + len(self.broken),
            "active": statuses[Status.ACTIVE],
            "retired": statuses[Status.RETIRED],
            "journal_bytes": journal_bytes,
            "bytes": self.bytes + journal_bytes + int(self.head.get("index_bytes", 0)),
        }

    def projects(self, keys: OwnerKeys) -> dict[str, list[Memory]]:
        """Return the memories that each project counts, by its tag."""
        found: dict[str, list[Memory]] = {}
        for stored in self.memories.values():
            memory = stored.memory
            if memory.scope is Scope.PROJECT and memory.project is not None and memory.status is not Status.RETIRED:
                tag = items.scope_tag(keys, memory.scope, memory.project, memory.agent)
                found.setdefault(tag, []).append(memory)
        return found


def read(table: Table, keys: OwnerKeys) -> Rows | None:
    """Read an owner's rows; None when the head is gone. Dedup items come first: whoever is named by one and has no item when memories
    are read is gone, or was lost."""
    owner = keys.owner
    head = table.get(owner, [names.HEAD]).get(names.HEAD)
    if head is None:
        return None
    rows = Rows(head)
    for item in each_item(table, owner, names.DEDUP):
        rows.dedups[str(item["sk"]).removeprefix(names.DEDUP)] = str(item.get("memory", ""))
        rows.bytes += sizes.item_bytes(owner, item)
    for item in each_item(table, owner, names.MEMORY):
        memory_id = str(item["sk"]).removeprefix(names.MEMORY)
        rows.bytes += sizes.item_bytes(owner, item) + sizes.ACCESS_ALLOWANCE
        try:
            rows.memories[memory_id] = items.from_item(keys, item)
        except SealBroken:
            rows.broken[memory_id] = item
    for prefix in DOCUMENTS:
        rows.documents |= {str(item["sk"]): item for item in each_item(table, owner, prefix)}
    rows.tasks = {str(item["sk"]): item for item in each_item(table, owner, names.TASK)}
    single = table.get(owner, [names.HEAD, names.SETTINGS, names.PERSONA, names.ACTIVE, names.SESSION])
    rows.settings = single.get(names.SETTINGS)
    rows.documents |= {sk: item for sk, item in single.items() if sk in (names.PERSONA, names.ACTIVE)}
    waiting = [task for task in rows.tasks.values() if task.get("status") != TaskStatus.DONE.value]
    rows.bytes += sum(_number(item, "size") for item in [*waiting, single.get(names.SESSION, {})])
    after = single.get(names.HEAD, {})
    rows.quiet = all(after.get(name) == head.get(name) for name in ("epoch", "gen", "commits", "bytes"))
    return rows


def newest(memories: list[Memory]) -> str:
    """Return the id of the memory that was made last."""
    return max((memory.id for memory in memories), key=ulid_time)


def _status(item: Mapping[str, object]) -> Status | None:
    try:
        return Status(str(item.get("status")))
    except ValueError:
        return None


def _number(item: Item, name: str) -> int:
    value = item.get(name, 0)
    return value if isinstance(value, int) else 0
