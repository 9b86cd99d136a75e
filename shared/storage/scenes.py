"""What was last said about a project, in one summary: a line of the task's journal object, and a part of the project's item.

A project's latest summary is the one of the latest commit. Knows nothing of how summaries are made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.ids import Random
from shared.domain.memory import Scope
from shared.domain.times import rfc3339
from shared.ports import Condition, Item, Update, Value
from shared.storage import bodies, items, lines, names

VERSION = 1
"""Of every line: summaries have no versions, a later one takes the place of an earlier one."""
SEALED, GENERATION, COMMIT = "scene", "scene_gen", "scene_commit"


@dataclass(frozen=True, slots=True)
class Scene:
    """A project's name, its summary, and the task and moment that it comes from."""

    name: str
    summary: str
    task_id: str
    at: datetime


def tag_of(keys: OwnerKeys, project: str) -> str:
    """Return the id of a project's line, which is the tag of its item."""
    return items.scope_tag(keys, Scope.PROJECT, project, None)


def seal(keys: OwnerKeys, scene: Scene, random: Random) -> lines.Line:
    """Return the line of a summary, sealed with the owner's current key."""
    body = {"name": scene.name, "summary": scene.summary, "task_id": scene.task_id, "at": rfc3339(scene.at)}
    return line_of(keys, tag_of(keys, scene.name), body, random)


def line_of(keys: OwnerKeys, tag: str, body: Mapping[str, Any], random: Random) -> lines.Line:
    """Return the line of a body that was opened or is new."""
    sealed = keys.seal(lines.SCENE, tag, VERSION, bodies.pack(dict(body)), random)
    return lines.Line(lines.SCENE, tag, VERSION, keys.generation, sealed)


def opened(keys: OwnerKeys, line: lines.Line) -> dict[str, Any]:
    """Open a line. Raises SealBroken."""
    return bodies.unpack(keys.unseal(lines.SCENE, line.id, line.version, line.generation, line.sealed))


def columns(line: lines.Line, commit: str) -> dict[str, Value]:
    """Return what a project's item holds of a line."""
    return {SEALED: line.sealed, GENERATION: line.generation, COMMIT: commit}


def commit_of(item: Item | None) -> str:
    """Return the commit of the summary that an item holds; empty where it holds none."""
    return str(item.get(COMMIT, "")) if item else ""


def summary_of(keys: OwnerKeys, item: Item) -> str | None:
    """Return the summary that a project's item holds. Raises SealBroken."""
    if COMMIT not in item:
        return None
    sealed, tag = item.get(SEALED), str(item["sk"]).removeprefix(names.PROJECT)
    if not isinstance(sealed, bytes):
        raise SealBroken
    summary = opened(keys, lines.Line(lines.SCENE, tag, VERSION, int(item[GENERATION]), sealed)).get("summary")
    return summary if isinstance(summary, str) else None


def applied(
    keys: OwnerKeys, line: lines.Line, commit: str, standing: Item | None, now: datetime, random: Random
) -> Update | None:
    """Return the write that puts a line into its project's item; None where that one has the summary of a later commit already."""
    known = commit_of(standing)
    if known >= commit:
        return None
    name = keys.seal("project", line.id, 1, bodies.pack({"name": opened(keys, line)["name"]}), random)
    return Update(
        names.PROJECT + line.id,
        set=columns(line, commit),
        set_once={"sealed": name, "gen": keys.generation, "last_at": rfc3339(now), "memories": 0},
        condition=Condition(equals={COMMIT: known or None}),
    )
