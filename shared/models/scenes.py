"""Scenes as they travel."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, StrictBool, StrictStr

from shared.domain import limits
from shared.domain.memory import DEFAULT_PROJECT
from shared.domain.times import rfc3339
from shared.keeping.scenes.deletion import Deleted
from shared.keeping.scenes.scenes import Page, Seen
from shared.models.forms import Change, Given, Name, Project, Shown
from shared.storage.scenes import LONG_AGO

Prose = Annotated[StrictStr, Field(max_length=limits.SCENE_TEXT_BYTES)]


class SceneOut(Shown):
    """What is known about one project. Texts are shown only while every memory that they rest on stands."""

    project: str = Field(description="its key, which memories name")
    name: str = Field(description="what it is shown as; the key until it is renamed")
    summary: str | None = Field(description="what was last said about it, by a model or by its owner")
    context: str | None = Field(description="what its newest facts say together, by a model or by its owner")
    memories: int = Field(description="of every status")
    last_at: str | None = Field(description="when a memory was last added, or it was talked about or switched to")
    archived: bool = Field(
        description="it made room for others: not packed into a context unless asked for by its project"
    )
    active: bool = Field(description="it is meant where a request names no project")

    @classmethod
    def of(cls, seen: Seen) -> Self:
        return cls(**_fields(seen))


class SceneDetailOut(SceneOut):
    """A scene with its newest memories."""

    memory_ids: list[str] = Field(
        description="of its newest 500 memories, newest first; dismissed and expired ones left out"
    )

    @classmethod
    def of(cls, seen: Seen) -> Self:
        return cls(**_fields(seen), memory_ids=list(seen.memory_ids))


class ScenesOut(Shown):
    """A page of scenes; it may hold fewer than asked for and still have a cursor."""

    scenes: list[SceneOut]
    next_cursor: str | None = Field(description="null: this was the last page")
    damaged: int = Field(description="scenes whose seal did not open; they are left out")

    @classmethod
    def of(cls, page: Page) -> Self:
        return cls(scenes=[SceneOut.of(one) for one in page.scenes], next_cursor=page.next_cursor, damaged=page.damaged)


class ScenePatch(Change):
    """What to change of a scene. The project's key stays: `name` is what is shown."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "商城后端"}, {"archived": True}]})

    name: Name | None = Field(default=None, description="what is shown; null: the key again")
    summary: Prose | None = Field(default=None, description="2,048 bytes of UTF-8; secrets are masked; null: none")
    context: Prose | None = Field(default=None, description="2,048 bytes of UTF-8; secrets are masked; null: none")
    archived: StrictBool = Field(
        default=False, description="true: archive it, unless it is active; false: bring it back"
    )


class SwitchIn(Given):
    """Which project is active from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"project": "shop-api"}, {"project": None}]})

    project: Project | None = Field(
        description="a project's key, or a name that only its scene is shown under; a new one makes a scene; null or default: none"
    )


class SwitchOut(SceneOut):
    """The active scene; for `default`, which is no project, one with nothing in it."""

    is_new: bool = Field(description="whether the scene was made just now")

    @classmethod
    def switched(cls, seen: Seen | None, *, is_new: bool) -> Self:
        if seen is None:
            empty = {
                "summary": None,
                "context": None,
                "memories": 0,
                "last_at": None,
                "archived": False,
                "active": True,
            }
            return cls(project=DEFAULT_PROJECT, name=DEFAULT_PROJECT, is_new=False, **empty)
        return cls(**_fields(seen), is_new=is_new)


class SceneDeletedOut(Shown):
    """What a deletion did. 202: there was more than fits into one request; send it again."""

    deleted: int = Field(description="memories deleted by this request")
    remaining: int = Field(description="memories still there")
    done: bool = Field(description="whether the scene is gone with all of its memories")

    @classmethod
    def of(cls, deleted: Deleted) -> Self:
        return cls(deleted=deleted.memories, remaining=deleted.remaining, done=deleted.done)


def _fields(seen: Seen) -> dict[str, object]:
    scene = seen.scene
    return {
        "project": scene.project,
        "name": scene.name,
        "summary": seen.summary,
        "context": seen.context,
        "memories": scene.memories,
        "last_at": None if scene.last_at == LONG_AGO else rfc3339(scene.last_at),
        "archived": scene.archived,
        "active": seen.active,
    }
