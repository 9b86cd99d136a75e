"""The step of maintenance that makes suggestions of patterns.

A pattern that was suggested is known again by its marks, whatever became of it: one that its owner dismissed does not come back. A pattern
that a model found not worth it is shown to it again only with a newer memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.asking import ModelUnavailable
from shared.domain.errors import QuotaExceeded
from shared.domain.ids import ulid
from shared.keeping.maintenance.visits import Visit
from shared.learning import standing_facts, tasks
from shared.learning.evolution.naming import PATTERNS_AT_ONCE, Named, Namer, Naming
from shared.learning.evolution.patterns import REPEATING, Pattern, patterns
from shared.observability import warn
from shared.ports import Update
from shared.storage import names, suggestions
from shared.storage.basis import basis_of
from shared.storage.commit import Commits
from shared.storage.document_commits import DocumentCommits
from shared.storage.documents import Document
from shared.storage.suggestions import Decision, Suggestion, fields, place_of
from shared.storage.vaults import Opened

SEEN, DECLINED = "patterns_seen", "patterns_declined"
"""Of maintenance's own memory: the head's count of commits when patterns were last looked for, absent while that is not done; and tags of
those not worth a suggestion."""
DECLINED_KEPT = 100
_TAG = 12


@dataclass(frozen=True, slots=True)
class Evolution:
    """Proposes ways of working to an owner."""

    commits: Commits
    namer: Namer
    name: str = "evolution"

    def run(self, visit: Visit) -> Mapping[str, int]:
        commits = int(visit.opened.head["commits"])
        if not visit.preferences.enabled:
            visit.note(patterns_seen=None)
            return {}
        if visit.state.get(SEEN) == commits:
            return {}
        if SEEN in visit.state and not visit.resumed and not standing_facts.changed(visit, REPEATING):
            visit.note(patterns_seen=commits)
            return {}
        visit.note(patterns_seen=None)
        if not self.commits.has_room(visit.opened.head, limits.DOCUMENT_ROOM):
            return {"no_room": 1}
        visit.check_time()
        known = list(suggestions.all_of(visit.vaults, visit.opened.keys))
        room = max(0, limits.SUGGESTIONS - sum(one.status is not Decision.DISMISSED for one in known))
        new = self._new(visit, known)
        shown = new[: min(room, PATTERNS_AT_ONCE)]
        counts: dict[str, int] = {}
        if shown:
            try:
                naming = self.namer.name(shown, visit.time_left())
            except ModelUnavailable as problem:
                warn("evolution_model_unavailable", error=problem.code)
                visit.look_again(visit.vaults.clock() + limits.STEP_AGAIN)
                return {"unavailable": 1}
            try:
                counts = self._keep(visit, shown, naming)
            except QuotaExceeded:  # what is left of them is looked for again when there is room
                return {"no_room": 1}
        if len(shown) == len(new):
            visit.note(patterns_seen=commits)
        elif len(shown) < room:
            visit.look_again(visit.vaults.clock())
        return counts

    def _new(self, visit: Visit, known: Sequence[Suggestion]) -> list[Pattern]:
        """Return the patterns that are not known and were not declined as they are."""
        keys, declined = visit.opened.keys, str(visit.state.get(DECLINED, "")).split()
        found = patterns(standing_facts.newest(visit, limits.PATTERN_MEMORIES))
        new = [one for one in found if _tag(keys, one) not in declined]
        return [one for one in new if not any(old.is_like(one.agent, one.project, one.marks(keys)) for old in known)]

    def _keep(self, visit: Visit, shown: Sequence[Pattern], naming: Naming) -> dict[str, int]:
        """Propose what was put into words, and remember what was not."""
        self._spent(visit, naming)
        for one in naming.named:
            self._propose(visit, one, naming.model)
        named = [one.pattern for one in naming.named]
        declined = [_tag(visit.opened.keys, pattern) for pattern in shown if pattern not in named]
        if declined:
            kept = [*str(visit.state.get(DECLINED, "")).split(), *declined][-DECLINED_KEPT:]
            visit.note(patterns_declined=" ".join(kept))
        return {"proposed": len(named), "refused": naming.refused}

    def _propose(self, visit: Visit, named: Named, model: str) -> None:
        vaults, pattern = self.commits.vaults, named.pattern
        rests = basis_of(visit.opened.keys, pattern.memories[: limits.PATTERN_BASIS], vaults.clock())
        suggestion = Suggestion(
            id=ulid(vaults.clock(), vaults.random),
            kind=named.kind,
            title=named.title,
            text=named.text,
            basis=rests.ids,
            evidence=len(pattern.memories),
            status=Decision.PROPOSED,
            agent=pattern.agent,
            project=pattern.project,
            marks=pattern.marks(visit.opened.keys),
            model=model,
            commit="",
            said=rests.said,
        )

        def proposed(_opened: Opened, standing: Document) -> Mapping[str, object] | None:
            return None if standing else fields(suggestion)

        DocumentCommits(self.commits).write(visit.owner, place_of(suggestion.id), proposed)

    def _spent(self, visit: Visit, naming: Naming) -> None:
        """Count what the model cost for the owner's day."""
        counts = {name: count for name, count in asdict(naming.cost).items() if count}
        if counts:
            now = visit.vaults.clock()
            spent = Update(names.usage(now), set={"ttl": tasks.ttl(now)}, add=counts)
            visit.vaults.table.write(visit.owner, [spent])


def _tag(keys: OwnerKeys, pattern: Pattern) -> str:
    """Return the tag of a pattern with just these memories."""
    return keys.tag("declined pattern", *sorted(memory.id for memory in pattern.memories))[:_TAG]
