"""What maintenance does for scenes: takes away texts whose memories are gone, archives the coldest, lets contexts be written anew."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from shared.domain import limits
from shared.domain.errors import QuotaExceeded, SealBroken
from shared.domain.ids import first_ulid
from shared.domain.memory import Category, Memory, Status
from shared.domain.times import moment, rfc3339
from shared.keeping.maintenance.visits import Visit
from shared.keeping.scenes.scenes import archive, coldest, latest_first, opened_scenes, rewrite
from shared.learning import tasks
from shared.learning.extractor import Cost
from shared.ports import Item, Update
from shared.storage import basis, items, names, scenes
from shared.storage.commit import Commits
from shared.storage.document_commits import DocumentCommits
from shared.storage.partition import each_item
from shared.storage.scenes import CONTEXT, CONTEXT_AT, CONTEXT_BASIS, Scene


@dataclass(frozen=True, slots=True)
class Described:
    """What a model made of facts: a text, None where its answer is not to be kept; and what it cost."""

    text: str | None
    cost: Cost


class Describer(Protocol):
    """Says in a few sentences what facts of a project say together. Nothing in it is from elsewhere."""

    def describe(self, project: str, facts: Sequence[Memory]) -> Described:
        """Return the description of a project by facts without secrets. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class SceneClearing:
    """Takes out of scenes what rests on memories that stand no more or say something else, and lets the rest follow a consolidation."""

    commits: Commits
    name: str = "scene_clearing"

    def run(self, visit: Visit) -> Mapping[str, int]:
        documents, counts = DocumentCommits(self.commits), {"mended": 0, "damaged": 0}
        found, counts["damaged"] = opened_scenes(
            visit.opened.keys, each_item(visit.vaults.table, visit.owner, names.PROJECT)
        )
        bases = [rests for scene in found for rests in scene.bases]
        ground = basis.read_to_keep(visit.vaults, visit.opened, bases, visit.unsaid)
        for scene in found:
            fields = scene.mended(ground)
            if fields:
                visit.check_time(counts)
                counts["mended"] += rewrite(documents, visit.owner, scene, fields, beyond_quota=True)
        return counts


@dataclass(frozen=True, slots=True)
class SceneUpkeep:
    """Archives the coldest scenes beyond the limit, and lets the contexts of the others be written where enough is new.

    Without a describer there is no context: rules invent no prose. While memory is switched off, or no room is left, none is written.
    """

    commits: Commits
    describer: Describer | None = None
    name: str = "scenes"

    def run(self, visit: Visit) -> Mapping[str, int]:
        documents, counts = DocumentCommits(self.commits), {"archived": 0, "described": 0, "refused": 0}
        read_at = visit.vaults.clock()
        active = scenes.active_project(visit.vaults.open(visit.owner, [names.ACTIVE]))
        found, _ = opened_scenes(visit.opened.keys, each_item(visit.vaults.table, visit.owner, names.PROJECT))
        cold = coldest(found, active)
        for scene in cold:
            visit.check_time(counts)
            counts["archived"] += archive(documents, visit.owner, scene, read_at)
        room = self.commits.has_room(visit.opened.head, limits.DOCUMENT_ROOM)
        if self.describer is not None and visit.preferences.enabled and room:
            warm = [scene for scene in found if not scene.archived and scene not in cold]
            for scene, facts in _with_news(visit, warm):
                visit.check_time(counts)
                described = self._describe(visit, self.describer, scene, facts)
                counts["described" if described else "refused"] += 1
        return counts

    def _describe(self, visit: Visit, describer: Describer, scene: Scene, facts: Sequence[Memory]) -> bool:
        """Let a context be written and keep it; return whether there is one. A refused answer is not asked for again before more is new."""
        read_at = rfc3339(visit.vaults.clock())
        described = describer.describe(scene.project, facts)
        self._spent(visit, described.cost)
        rests = basis.basis_of(visit.opened.keys, facts, visit.vaults.clock())
        kept = scenes.written(CONTEXT, described.text, rests) if described.text else {}
        documents = DocumentCommits(self.commits)
        try:
            rewrite(documents, visit.owner, scene, kept | {CONTEXT_AT: read_at})
        except QuotaExceeded:
            rewrite(documents, visit.owner, scene, {CONTEXT_AT: read_at}, beyond_quota=True)
            return False
        return bool(kept)

    def _spent(self, visit: Visit, cost: Cost) -> None:
        """Count what the model cost for the owner's day."""
        now = visit.vaults.clock()
        counts = {"calls": cost.calls, "tokens_in": cost.tokens_in, "tokens_out": cost.tokens_out}
        visit.vaults.table.write(visit.owner, [Update(names.usage(now), set={"ttl": tasks.ttl(now)}, add=counts)])


def _with_news(visit: Visit, found: Sequence[Scene]) -> list[tuple[Scene, list[Memory]]]:
    """Return the scenes of which enough is new since their context was written, each with its newest facts. A context by the owner's own
    hand, which rests on nothing, is left alone."""
    able = [one for one in found if one.memories >= limits.SCENE_NEWS and _moved(one) and not _by_hand(one)]
    tags = {scenes.tag_of(visit.opened.keys, scene.project): scene for scene in able}
    wanted = {tag: min(scene.memories, limits.SCENE_FACTS) for tag, scene in tags.items()}
    newest = scenes.newest(latest_first(visit.vaults, visit.owner), wanted) if wanted else {}
    told = [(tags[tag], list(_facts(visit, these))) for tag, these in newest.items()]
    return [(scene, facts) for scene, facts in told if _news(scene, facts) >= limits.SCENE_NEWS]


def _facts(visit: Visit, found: Sequence[Item]) -> Iterator[Memory]:
    """Yield the memories that a model may be shown: active, without a secret, not over."""
    for item in found:
        with suppress(SealBroken):
            memory = items.from_item(visit.opened.keys, item).memory
            secret = memory.category is Category.CREDENTIAL or memory.secrets
            over = memory.expired(visit.now, visit.preferences.retention_days)
            if memory.status is Status.ACTIVE and not secret and not over:
                yield memory


def _moved(scene: Scene) -> bool:
    written = scene.document.get(CONTEXT_AT)
    return written is None or scene.last_at > moment(written)


def _by_hand(scene: Scene) -> bool:
    return bool(scene.document.get(CONTEXT)) and not scene.document.get(CONTEXT_BASIS)


def _news(scene: Scene, facts: Sequence[Memory]) -> int:
    written = scene.document.get(CONTEXT_AT)
    return sum(written is None or fact.id >= first_ulid(moment(written)) for fact in facts)
