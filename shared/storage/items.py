"""A memory as an item of the table, and back.

Sealed fields decide: a column that disagrees with what is sealed is refused, so that flipping one unmasks or revives nothing.
"""

from dataclasses import dataclass, replace
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.ids import Random
from shared.domain.memory import Memory, Status, from_body, to_body, without_access
from shared.domain.times import moment, rfc3339
from shared.ports import Item
from shared.storage import bodies, lines, names, sizes
from shared.text.normalise import normalise
from shared.text.secrets import Masked, unmask


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory as it stands in the table, with the bytes that it counts for (without its dedup item)."""

    memory: Memory
    size: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """A memory sealed once: the same bytes go into the journal's line and the table's item."""

    memory: Memory
    line: lines.Line
    scope: str
    tag: str

    @property
    def tags(self) -> frozenset[str]:
        """The tags of the texts that lead to this memory."""
        return _held(self.memory, self.tag)


def full_text(memory: Memory) -> str:
    """Return the content with its secrets in place."""
    return unmask(Masked(memory.content, list(memory.secrets)))


def scope_tag(keys: OwnerKeys, scope: str, project: str | None, agent: str | None) -> str:
    """Return the tag of one scope: equal for memories that live in the same place, and saying nothing of its name."""
    return keys.tag("scope", scope, project or "", agent or "")


def dedup_tag(keys: OwnerKeys, memory: Memory) -> str:
    """Return the tag that equal texts of one scope share."""
    return keys.tag("dedup", memory.scope, memory.project or "", memory.agent or "", normalise(full_text(memory)))


def held_tags(keys: OwnerKeys, memory: Memory) -> frozenset[str]:
    """Return the tags of the texts that lead to a memory: its own and its aliases. None lead to a retired one."""
    return _held(memory, dedup_tag(keys, memory))


def _held(memory: Memory, own: str) -> frozenset[str]:
    return frozenset() if memory.status is Status.RETIRED else frozenset({own, *memory.aliases})


def seal(keys: OwnerKeys, memory: Memory, random: Random) -> Sealed:
    """Seal a memory with the owner's current key."""
    kept = without_access(memory)
    sealed = keys.seal(lines.MEMORY, memory.id, memory.version, bodies.pack(to_body(kept)), random)
    line = lines.Line(lines.MEMORY, memory.id, memory.version, keys.generation, sealed)
    scope = scope_tag(keys, memory.scope, memory.project, memory.agent)
    return Sealed(kept, line, scope, dedup_tag(keys, memory))


def to_item(keys: OwnerKeys, sealed: Sealed, commit: str) -> Item:
    """Return the item of a sealed memory, without the access columns."""
    memory = sealed.memory
    return {
        "sk": names.MEMORY + memory.id,
        "version": memory.version,
        "gen": sealed.line.generation,
        "commit": commit,
        "sealed": sealed.line.sealed,
        "status": memory.status.value,
        "source": memory.source.value,
        "scope": sealed.scope,
        "owner_status": f"{keys.owner}#{memory.status.value}",
        "updated": updated_key(memory),
    }


def updated_key(memory: Memory) -> str:
    """Return what the `by_update` index sorts by: the time, then the id, so that equal times stay apart."""
    return f"{rfc3339(memory.updated_at)}#{memory.id}"


def from_item(keys: OwnerKeys, item: Item) -> Stored:
    """Open an item. Raises SealBroken when it does not open or its columns disagree with what is sealed."""
    try:
        return _from_item(keys, item)
    except (KeyError, TypeError, ValueError):
        raise SealBroken from None


def _from_item(keys: OwnerKeys, item: Item) -> Stored:
    memory_id = str(item["sk"]).removeprefix(names.MEMORY)
    line = lines.Line(lines.MEMORY, memory_id, int(item["version"]), int(item["gen"]), bytes(_sealed(item)))
    memory = from_line(keys, line)
    expected = to_item(keys, _columns(keys, memory, line), str(item["commit"]))
    if any(item.get(name) != value for name, value in expected.items()):
        raise SealBroken
    read_at = item.get("read_at")
    memory = replace(
        memory,
        commit=str(item["commit"]),
        access_count=int(item.get("reads", 0)),
        last_accessed_at=moment(str(read_at)) if read_at else None,
    )
    return Stored(memory, sizes.item_bytes(keys.owner, item), keys.epoch)


def from_line(keys: OwnerKeys, line: lines.Line) -> Memory:
    """Open a memory's journal line. Raises SealBroken."""
    body = bodies.unpack(keys.unseal(lines.MEMORY, line.id, line.version, line.generation, line.sealed))
    return read_body(line.id, line.version, body)


def read_body(memory_id: str, version: int, body: dict[str, Any]) -> Memory:
    """Read an opened body. Raises SealBroken when it is not one of a memory."""
    try:
        return from_body(memory_id, version, body)
    except (KeyError, TypeError, ValueError):
        raise SealBroken from None


def dedup_item(tag: str, memory_id: str) -> Item:
    """Return the item that makes a text unique within its scope."""
    return {"sk": names.DEDUP + tag, "memory": memory_id}


def counted(keys: OwnerKeys, sealed: Sealed, commit: str) -> int:
    """Return the bytes that a memory counts for in the table, without its dedup item."""
    return sizes.item_bytes(keys.owner, to_item(keys, sealed, commit))


def _columns(keys: OwnerKeys, memory: Memory, line: lines.Line) -> Sealed:
    return Sealed(memory, line, scope_tag(keys, memory.scope, memory.project, memory.agent), "")


def _sealed(item: Item) -> bytes:
    sealed = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    return sealed
