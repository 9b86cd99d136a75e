"""The persona: what is known of an owner as a person, as a document (shared/storage/documents.py) of statements.

Fields: `statements` (each part, text and the ids of the memories that it rests on), `fact_count` (facts that it was made from),
`last_scene` with `last_scene_basis` (the project that was spoken of last), `said` (what each of all those memories said, by id),
`refreshed_at` (RFC 3339: when those facts were read), `model`. A statement is shown only while every memory that it rests on stands and
says what it said (shared/storage/basis.py).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from shared.domain import limits
from shared.storage import lines
from shared.storage.basis import Basis, Ground, Said, stored
from shared.storage.documents import Document
from shared.storage.vaults import Opened

TRAITS = "traits"
STRUCTURED: Final = (
    "role",
    "experience",
    "languages",
    "frameworks",
    "databases",
    "tools",
    "code_style",
    "focus_areas",
    "work_hours",
    "active_projects",
    "communication",
    "constraints",
    "credential_habits",
)
PARTS: Final = (TRAITS, *STRUCTURED)
"""What a statement is about, as it is told."""
STATEMENTS, FACT_COUNT, REFRESHED_AT, MODEL = "statements", "fact_count", "refreshed_at", "model"
LAST_SCENE, LAST_SCENE_BASIS = "last_scene", "last_scene_basis"
SAID = "said"


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is known, with the ids of the memories that it rests on."""

    part: str
    text: str
    basis: tuple[str, ...]

    @property
    def words(self) -> tuple[str, str]:
        """What makes it the same as another one."""
        return self.part, " ".join(self.text.split()).casefold().rstrip(".。!！;；")


@dataclass(frozen=True, slots=True)
class Persona:
    """The portrait of an owner; `refreshed_at` is None where there never was one."""

    statements: tuple[Statement, ...] = ()
    fact_count: int = 0
    last_scene: str | None = None
    last_scene_basis: tuple[str, ...] = ()
    refreshed_at: str | None = None
    model: str | None = None
    said: Mapping[str, Said] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Document) -> "Persona":
        statements = document.get(STATEMENTS) or ()
        return cls(
            tuple(Statement(part, text, tuple(basis)) for part, text, basis in statements),
            int(document.get(FACT_COUNT) or 0),
            document.get(LAST_SCENE),
            tuple(document.get(LAST_SCENE_BASIS) or ()),
            document.get(REFRESHED_AT),
            document.get(MODEL),
            stored((), document.get(SAID)).said,
        )

    @property
    def rests_on(self) -> frozenset[str]:
        """The ids of all memories that it rests on."""
        return frozenset(self.last_scene_basis).union(*(one.basis for one in self.statements))

    @property
    def bases(self) -> list[Basis]:
        """What its statements and the project that was spoken of last rest on."""
        return [Basis(ids, self.said) for ids in (*(one.basis for one in self.statements), self.last_scene_basis)]

    def shown(self, ground: Ground) -> "Persona":
        """Return what of it may be shown on this ground, with the ids of the memories that say it now."""
        scene = ground.ids(Basis(self.last_scene_basis, self.said))
        found = ((one, ground.ids(Basis(one.basis, self.said))) for one in self.statements)
        return replace(
            self,
            statements=tuple(replace(one, basis=ids) for one, ids in found if ids is not None),
            last_scene=None if scene is None else self.last_scene,
            last_scene_basis=scene or (),
            said={},
        )

    def kept(self, ground: Ground) -> "Persona":
        """Return it without what does not hold on this ground, as it is to be stored from now on."""
        scene = ground.kept(Basis(self.last_scene_basis, self.said))
        found = [(one, ground.kept(Basis(one.basis, self.said))) for one in self.statements]
        rests = [*(basis for _, basis in found if basis), *([scene] if scene else [])]
        return replace(
            self,
            statements=tuple(replace(one, basis=basis.ids) for one, basis in found if basis),
            last_scene=None if scene is None else self.last_scene,
            last_scene_basis=scene.ids if scene else (),
            said={memory_id: said for basis in rests for memory_id, said in basis.said.items()},
        )

    def fields(self) -> dict[str, Any]:
        """Return the document's fields."""
        return {
            STATEMENTS: [[one.part, one.text, list(one.basis)] for one in self.statements],
            FACT_COUNT: self.fact_count,
            LAST_SCENE: self.last_scene,
            LAST_SCENE_BASIS: list(self.last_scene_basis),
            SAID: Basis(tuple(sorted(self.rests_on)), self.said).form(),
            REFRESHED_AT: self.refreshed_at,
            MODEL: self.model,
        }


def place(_opened: Opened) -> tuple[str, str]:
    """Return where it lies, for whoever writes it."""
    return lines.PERSONA, lines.PERSONA


def within_bounds(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements, no two the same, as long as they take PERSONA_BYTES and rest on PERSONA_BASIS memories at most. One that is too
    much leaves its place to a smaller one."""
    said: set[tuple[str, str]] = set()
    basis: set[str] = set()
    size = 0
    for one in statements:
        grown = size + len(one.text.encode())
        if one.words in said or grown > limits.PERSONA_BYTES or len(basis.union(one.basis)) > limits.PERSONA_BASIS:
            continue
        said.add(one.words)
        basis.update(one.basis)
        size = grown
        yield one
