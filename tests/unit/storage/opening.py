"""Opens everything that is stored of an owner, old versions too, with the owner's own keys: what it says is what could ever be read."""

import json

from shared.crypto.keyring import OwnerKeys
from shared.learning.accepting import CONVERSATION
from shared.recall.index import Index
from shared.recall.indexes import INDEX
from shared.storage import bodies, documents, lines, names, objects
from tests.builders import World
from tests.unit.storage.soundness import opened


def everything_said(world: World) -> str:
    """Return all words of the bucket and the table, opened. An index is hashed words and so says nothing; see `indexed_ids`."""
    keys = opened(world).keys
    said = [
        _object(keys, key, body) for key in world.objects.everything_named() for body in world.objects.versions(key)
    ]
    said += [_item(keys, sk, dict(item)) for sk, item in world.table.partition(world.owner).items()]
    return "\n".join(said)


def indexed_ids(world: World) -> set[str]:
    """Return the ids in every version of every index object."""
    keys, found = opened(world).keys, set()
    prefix = names.index(world.owner, keys.epoch)
    for key in world.objects.everything_named():
        if key.startswith(prefix):
            for body in world.objects.versions(key):
                found |= set(Index.open(objects.unseal(keys, INDEX, key.removeprefix(prefix), body or b"")).ids())
    return found


def _object(keys: OwnerKeys, key: str, body: bytes | None) -> str:
    folder, _, name = key.removeprefix(names.life(keys.owner, keys.epoch)).partition("/")
    if body is None or folder not in {"journal", "conversations"}:
        return ""
    if folder == "conversations":
        return _json(bodies.unpack(objects.unseal(keys, CONVERSATION, name, body), limit=4_000_000))
    told = [line for line in lines.decode(body) if line.kind != lines.TOMBSTONE]
    plain = [keys.unseal(line.kind, line.id, line.version, line.generation, line.sealed) for line in told]
    return "\n".join(_json(bodies.unpack(one, limit=4_000_000)) for one in plain)


def _item(keys: OwnerKeys, sk: str, item: dict[str, object]) -> str:
    said = []
    sealed, generation = item.get("sealed"), item.get("gen", 0)
    if isinstance(sealed, bytes):
        said.append(_open(keys, sk, item, sealed))
    if isinstance(item.get("selection"), bytes):
        task_id = sk.removeprefix(names.TASK)
        said.append(_json(bodies.unpack(keys.unseal("selection", task_id, 1, int(str(generation)), item["selection"]))))  # type: ignore[arg-type]
    body = item.get(documents.SEALED)
    if isinstance(body, bytes):
        for kind in lines.DOCUMENTS:
            for document_id in (sk.partition("#")[2], kind):
                try:
                    plain = keys.unseal(kind, document_id, 1, int(str(item[documents.GENERATION])), body)
                except Exception:  # noqa: BLE001, S112 - one of them is the place
                    continue
                said.append(_json(bodies.unpack(plain)))
    return "\n".join(said)


def _open(keys: OwnerKeys, sk: str, item: dict[str, object], sealed: bytes) -> str:
    generation, version = int(str(item.get("gen", 0))), int(str(item.get("version", 1)))
    if sk.startswith(names.MEMORY):
        place = (lines.MEMORY, sk.removeprefix(names.MEMORY), version)
    elif sk == names.SETTINGS:
        place = (lines.SETTINGS, lines.SETTINGS, version)
    elif sk.startswith(names.TASK):
        place = ("task", sk.removeprefix(names.TASK), int(str(item["run"])))
    elif sk.startswith(names.AUDIT):
        place = ("audit", sk.removeprefix(names.AUDIT), 1)
    elif sk == names.SESSION:
        place = ("session", str(item["id"]), 1)
    elif sk.startswith(names.NOTE):
        place = ("note", sk.removeprefix(names.NOTE), 1)
    else:
        place = ("project", sk.removeprefix(names.PROJECT), 1)
    return _json(bodies.unpack(keys.unseal(*place, generation, sealed)))


def _json(body: dict[str, object]) -> str:
    return json.dumps(body, ensure_ascii=False)
